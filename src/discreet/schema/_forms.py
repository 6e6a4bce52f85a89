"""Every way to give a hierarchy: an object, text, a file, or lists and mappings from a job file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from discreet.errors import UsageError, did_you_mean
from discreet.schema._hierarchy import Hierarchy
from discreet.schema.builders import BUILDERS, Builder, auto, groups

__all__ = ["as_hierarchy", "hierarchy_from_text", "shown_hierarchy"]

_FORM = re.compile(r"\s*([A-Za-z]+)\s*(\(.*\))?\s*", re.DOTALL)
_FILE = re.compile(r".*(\.(csv|tsv|txt)(\.gz)?|\.gz|[/\\].*)", re.IGNORECASE | re.DOTALL)
_TREES = ("groups", "ordered", "ranges")
_EXAMPLES = {
    "auto": "auto",
    "dates": "dates(month, year)",
    "flat": "flat",
    "groups": "groups({Government: [State, Local], Other: [Private]})",
    "intervals": "intervals(5, 10, 20)",
    "mask": "mask(digits=5)",
    "ordered": "ordered([low, middle, high])",
    "ranges": "ranges([0, 18, 65])",
}


def as_hierarchy(given: object, base: Path | None = None) -> Hierarchy | Builder:
    """Return the hierarchy or builder something stands for.

    Text and paths are read by :func:`hierarchy_from_text`; lists and mappings are groups, unless the only key
    of a mapping is the name of a builder:

    >>> as_hierarchy({"ranges": [0, 18, 65]}).text
    'ranges([0, 18, 65])'
    >>> as_hierarchy({"low": [1, 2], "high": [3]}).text
    "groups({low: ['1', '2'], high: ['3']})"
    """
    if isinstance(given, Hierarchy | Builder):
        return given
    if given is None:
        return auto()
    if isinstance(given, str):
        return hierarchy_from_text(given, base)
    if isinstance(given, PathLike):
        return Hierarchy.from_csv(_found(Path(given), base))
    if isinstance(given, Mapping):
        name = next(iter(given), None)
        if len(given) == 1 and name in BUILDERS:
            return _made(str(name), *_arguments(str(name), given[name]))
        return groups(given)
    if isinstance(given, Sequence):
        return groups(given)
    raise UsageError(f"A hierarchy is a builder, text, a file, a list or a mapping, not {type(given).__name__}.")


def hierarchy_from_text(text: str, base: Path | None = None) -> Hierarchy | Builder:
    """Return what a text form stands for: a builder, or the hierarchy in a file (relative to ``base``).

    >>> hierarchy_from_text("intervals(5, 10)").text
    'intervals(5, 10)'
    >>> hierarchy_from_text("mask(digits=5)").text
    'mask(digits=5)'
    """
    match = _FORM.fullmatch(text)
    if match and match.group(1) in BUILDERS:
        from discreet.problem._text import parse_text

        return _made(*parse_text(text))
    if _FILE.fullmatch(text) or (len(text) < 256 and _found(Path(text), base).is_file()):
        return Hierarchy.from_csv(_found(Path(text), base))
    known = sorted(BUILDERS)
    hint = did_you_mean(match.group(1) if match else text, known) or f"known are {', '.join(known)}, or name a file."
    raise UsageError(f"There is no hierarchy '{text}'; {hint}", topic="unknown-name")


def shown_hierarchy(given: object) -> str | None:
    """Return how a job gives a hierarchy, for reports: without values of the data, and files by their names.

    >>> shown_hierarchy("mask(digits=5)"), shown_hierarchy({"low": [1, 2], "high": [3]}), shown_hierarchy("zip.csv")
    ('mask(digits=5)', 'groups(3 values)', 'zip.csv')
    """
    if given is None:
        return None
    match = _FORM.fullmatch(given) if isinstance(given, str) else None
    if isinstance(given, str) and not (match and match.group(1) in BUILDERS):
        return given
    made = as_hierarchy(given)
    return made.shown if isinstance(made, Builder) else made.source or repr(made)


def _found(path: Path, base: Path | None) -> Path:
    return path if base is None else base / path


def _arguments(name: str, given: Any) -> tuple[list[Any], dict[str, Any]]:
    """Return the plain and named arguments a job file gives under the name of a builder."""
    if given is None:
        return [], {}
    if isinstance(given, Mapping) and name not in _TREES:
        return [], dict(given)
    if isinstance(given, list | tuple) and name not in _TREES:
        return list(given), {}
    return [given], {}


def _made(name: str, arguments: Sequence[Any], options: Mapping[str, Any]) -> Builder:
    try:
        return BUILDERS[name](*arguments, **options)
    except TypeError:
        form = _EXAMPLES.get(name, name)
        raise UsageError(
            f"The hierarchy '{name}' does not take these arguments; write it as in {form}.", topic="text-form"
        ) from None
