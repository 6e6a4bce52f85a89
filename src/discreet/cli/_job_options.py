"""Jobs from options, for the commands that search: ``anonymize`` and ``pareto``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from discreet.cli._help import option
from discreet.cli._options import (
    check_hierarchies,
    columns,
    job_options,
    level_pairs,
    no_quasi_identifiers,
    once,
    pairs,
)
from discreet.errors import DataError, UsageError
from discreet.job.parameters import PARAMETERS, READING, option_of

__all__ = ["hierarchy_files", "hierarchy_options", "job_fields", "table_options"]

hierarchy_options = job_options(
    option(
        "--hierarchy",
        "forms",
        group="quality",
        multiple=True,
        metavar="NAME=FORM",
        help="How to generalize a column. Repeatable.",
    ),
    option(
        "--hierarchies",
        group="quality",
        metavar="DIR",
        help="A folder with NAME.csv or *_hierarchy_NAME.csv for the columns.",
    ),
)
table_options = job_options(
    *("quasi_identifiers", "identifiers", "sensitive", "person", "household", "pseudonyms", "keep"),
    *("weights", "population", "class_attribute"),
    hierarchy_options,
    *("types", "derive", "cost"),
    option(
        "--weight",
        "cost_weights",
        group="quality",
        multiple=True,
        metavar="NAME=X",
        help="How much a column counts in the cost.",
    ),
    *("priorities", "keep_at_least", "min_levels", "max_levels", "missing", "missing_sensitive"),
    *READING,
    *("time_limit", "threads", "engine", "memory_limit", "spark"),
)
"""What the table is, and how its values may be generalized."""


def job_fields(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options as fields of a job; options that are no parameters of one are left out."""
    source = options["source"]
    quasi, sensitive = columns(options["quasi_identifiers"]), columns(options["sensitive"])
    if not quasi:
        raise no_quasi_identifiers(source)
    given = pairs("--hierarchy", options["forms"])
    check_hierarchies(given, quasi, sensitive)
    folder = options["hierarchies"]
    trees = {**(hierarchy_files([*quasi, *sensitive], folder) if folder is not None else {}), **given}
    fields = {name: _read(name, value) for name, value in options.items() if name in PARAMETERS}
    return {
        **fields,
        "input": source,
        "quasi_identifiers": {name: trees.get(name) for name in once("--qi", quasi)},
        "sensitive": {name: trees.get(name) for name in once("--sensitive", sensitive)},
        "cost": _weighted(options["cost"], options["cost_weights"]),
        "scheme": _schemes(options["scheme"], quasi),
        "order": "keep" if options.get("keep_order") else "random",
    }


def _read(name: str, value: Any) -> Any:
    """Return the value of an option as that of its parameter."""
    kind = PARAMETERS[name].kind
    if kind in ("columns", "roles"):
        return columns(value)
    if kind == "texts":
        return list(value)
    if kind == "texts by column":
        return pairs(option_of(name), value)
    return level_pairs(option_of(name), value) if kind == "levels by column" else value


def hierarchy_files(names: list[str], folder: str) -> dict[str, str]:
    """Find the hierarchy file of each column in a folder: ``NAME.csv``, or as ARX names them."""
    path = Path(folder)
    if not path.is_dir():
        raise DataError(f"--hierarchies: there is no folder '{folder}'.", topic="no-such-file")
    found = {}
    for name in names:
        candidates = [file for file in sorted(path.iterdir()) if _is_hierarchy_of(name, file)]
        if len(candidates) > 1:
            listing = " and ".join(f"'{file.name}'" for file in candidates)
            raise UsageError(f"'{folder}' has several hierarchies for '{name}': {listing}.", column=name)
        if candidates:
            found[name] = str(candidates[0])
    return found


def _is_hierarchy_of(name: str, file: Path) -> bool:
    return file.suffix.lower() == ".csv" and (file.stem == name or file.stem.endswith(f"_hierarchy_{name}"))


def _weighted(cost: str | None, weights: Sequence[str]) -> str | None:
    """Return the text form of a cost with the weights of ``--weight``."""
    if not weights:
        return cost
    from discreet.runtime.text_form import format_text, parse_text

    name, args, options = parse_text(cost or "LM")
    numbers: dict[str, float] = {}
    for column, text in pairs("--weight", weights).items():
        try:
            number = float(text)
        except ValueError:
            raise UsageError(f"--weight of '{column}' must be a number.", column=column) from None
        numbers[column] = int(number) if number.is_integer() else number
    return format_text(name, args, {**options, "weights": {**options.get("weights", {}), **numbers}})


def _schemes(given: Sequence[str], quasi: list[str]) -> str | dict[str, str]:
    """Return one scheme for all columns, or the scheme of each."""
    for_all = [item for item in given if "=" not in item.partition("(")[0]]
    by_column = pairs("--scheme", [item for item in given if item not in for_all])
    if len(for_all) > 1:
        raise UsageError("--scheme is given twice for all columns; write NAME=SCHEME for single ones.")
    for name in by_column:
        if name not in quasi:
            raise UsageError(
                f"--scheme names '{name}', which is not in --qi.", column=name, topic="not-a-quasi-identifier"
            )
    base = for_all[0] if for_all else "full-domain"
    return {name: by_column.get(name, base) for name in quasi} if by_column else base
