"""A job as text and plain data, without values of the data."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from discreet.errors import UsageError
from discreet.problem import PRIVACY
from discreet.runtime.text_form import outline
from discreet.schema import hierarchy_for_reports

__all__ = [
    "is_counted",
    "job_for_reports",
    "job_text",
    "owner_columns",
    "plain_data",
    "promise_for_reports",
    "pseudonym_columns",
    "scheme_names",
    "text_form",
]

_PAGES = ("protection_page", "internal_page", "purpose", "recipient")
_LOCATIONS = ("input", "tables", "population", "against", "output", "report", "certificate", "mapping", "key")
_NOT_ASKED = (*_LOCATIONS, *_PAGES, "time_limit", "threads", "engine", "memory_limit", "spark")
"""Options for locations of files and engines, which do not change the release."""
_COUNTED = re.compile(r"\(.*\b[0-9,]+ values?\b")


def text_form(choice: Any) -> Any:
    """Return the text form of a part, a hierarchy or a path, or of all in a mapping.

    >>> from discreet.problem import PRIVACY
    >>> text_form(PRIVACY.make("k(5)"))
    'k(5)'
    """
    if isinstance(choice, Mapping):
        return {str(key): text_form(value) for key, value in choice.items()}
    if isinstance(choice, list):
        return choice
    if isinstance(choice, PathLike):
        return fspath(choice)
    if choice is None or isinstance(choice, str | int | float):
        return choice
    return str(getattr(choice, "text", None) or getattr(choice, "source", None) or repr(choice))


def owner_columns(job: Mapping[str, Any]) -> list[str]:
    """Return the columns that say whose rows they are.

    >>> owner_columns({"person": "pid", "household": None})
    ['pid']
    """
    return [str(job[unit]) for unit in ("person", "household") if job.get(unit)]


def pseudonym_columns(job: Mapping[str, Any]) -> list[str]:
    """Return those of them that leave as pseudonyms: all if that was asked for, and what links several tables.

    >>> pseudonym_columns({"person": "pid", "household": "hid", "tables": {"people": None, "visits": None}})
    ['pid']
    """
    return owner_columns(job)[: None if job.get("pseudonyms") else 1 if job.get("tables") else 0]


def scheme_names(job: Mapping[str, Any]) -> str:
    """Return the schemes of a job; "optimal" means optimal among them.

    >>> scheme_names({"scheme": {"age": "ordered", "zip": "subtree", "sex": "ordered"}})
    'ordered and subtree'
    """
    scheme = job["scheme"]
    return " and ".join(dict.fromkeys(map(str, scheme.values()))) if isinstance(scheme, Mapping) else str(scheme)


def job_for_reports(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return a job as reports show it: values of the data that it lists are replaced by their number.

    The seed and the location of the key stay with the owner: with the seed, others could test guesses about the table.
    """
    return {
        **{name: value for name, value in job.items() if name not in ("seed", "key")},
        **{
            role: {
                column: form if is_counted(form) else hierarchy_for_reports(form) for column, form in job[role].items()
            }
            for role in ("quasi_identifiers", "sensitive")
        },
        "privacy": [model if is_counted(model) else promise_for_reports(model) for model in job["privacy"]],
        "cost": job["cost"] if job["cost"] is None or is_counted(job["cost"]) else outline(job["cost"], by_column=True),
    }


def promise_for_reports(text: str) -> str:
    """Return the text form of a promise without values of the data; names of columns, as in key sets, are none.

    >>> promise_for_reports("k(3, on=[age, zip])"), promise_for_reports("l+({Flu: 0.5}, disease)")
    ('k(3, on=[age, zip])', 'l+({1 value}, disease)')
    """
    try:
        return PRIVACY.make(text).shown
    except UsageError:  # a model that was passed as an object and has no text form
        return outline(text)


def is_counted(form: Any) -> bool:
    """Whether a text form was made for reports, with values of the data counted instead of listed.

    >>> is_counted("l+({2 values}, disease)"), is_counted("l+(0.25, disease)")
    (True, False)
    """
    return isinstance(form, str) and _COUNTED.search(form) is not None


def plain_data(value: Any) -> Any:
    """Return a value as JSON has it: numbers of numpy as those of Python, infinity as None."""
    if isinstance(value, dict):
        return {str(key): plain_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_data(item) for item in value]
    if hasattr(value, "tolist"):
        return plain_data(value.tolist())
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def job_text(job: Mapping[str, Any], *, without: Sequence[str] = ()) -> str:
    """Return the canonical text of a job: sorted, without empty options and without locations of files.

    >>> job_text({"privacy": ["k(5)"], "input": "a.csv"}) == job_text({"input": "b.csv", "privacy": ["k(5)"]})
    True
    """
    omitted = (*_NOT_ASKED, *without)
    options = {
        key: _without_folders(value)
        for key, value in job.items()
        if key not in omitted and value not in (None, [], {}, ())
    }
    return json.dumps(options, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)


def _without_folders(value: Any) -> Any:
    """Return files by their names, as folders may be moved."""
    if isinstance(value, Mapping):
        return {str(key): _without_folders(item) for key, item in value.items()}
    if isinstance(value, str) and "/" in value and "(" not in value:
        return Path(value).name
    return value
