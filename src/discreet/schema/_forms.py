"""Every way to give a hierarchy: an object, text, a file, or lists and mappings from a job file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from discreet.errors import UsageError
from discreet.runtime.text_form import parse_text
from discreet.schema._hierarchy import Hierarchy
from discreet.schema.builders import BUILDERS, Builder
from discreet.schema.builders.auto import auto
from discreet.schema.builders.groups import groups

__all__ = ["as_hierarchy", "builder_name", "hierarchy_for_reports", "hierarchy_from_text"]

_FORM = re.compile(r"\s*([A-Za-z][\w+-]*)\s*(\(.*\))?\s*", re.DOTALL)
_FILE = re.compile(r".*(\.(csv|tsv|txt|xlsx?(#[^/\\]+)?|ods)(\.gz)?|\.gz|[/\\].*)", re.IGNORECASE | re.DOTALL)


def as_hierarchy(given: object, base: Path | None = None) -> Hierarchy | Builder:
    """Return the hierarchy or builder that an object, text, a file, a list or a mapping describes.

    Text and paths are read by :func:`hierarchy_from_text`. Lists and mappings are groups, unless the only key
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
        return Hierarchy.from_csv(_located(Path(given), base))
    if isinstance(given, Mapping):
        name = next(iter(given), None)
        if len(given) == 1 and isinstance(name, str) and name in BUILDERS:
            return _make(name, *_arguments(name, given[name]))
        return groups(given)
    if isinstance(given, Sequence):
        return groups(given)
    raise UsageError(f"A hierarchy is a builder, text, a file, a list or a mapping, not {type(given).__name__}.")


def hierarchy_from_text(text: str, base: Path | None = None) -> Hierarchy | Builder:
    """Return the builder of a text form, or the hierarchy in a file, whose path is relative to ``base``.

    >>> hierarchy_from_text("intervals(5, 10)").text
    'intervals(5, 10)'
    >>> hierarchy_from_text("mask(digits=5)").text
    'mask(digits=5)'
    """
    if builder_name(text) is not None:
        return _make(*parse_text(text))
    if _FILE.fullmatch(text) or (len(text) < 256 and _located(Path(text), base).is_file()):
        return Hierarchy.from_csv(_located(Path(text), base))
    name = text.partition("(")[0].strip()
    if name in BUILDERS:
        parse_text(text)  # which says what is wrong with its brackets
    hint = BUILDERS.proposal(name)
    hint = f"{hint[:-1]}, or name a file." if hint.endswith(".") else hint
    raise UsageError(f"There is no hierarchy '{text}'; {hint}", topic="unknown-name")


def hierarchy_for_reports(given: object) -> str | None:
    """Return how a job gives a hierarchy, for reports: without values of the data, and files by their names.

    >>> hierarchy_for_reports("mask(digits=5)"), hierarchy_for_reports({"low": [1, 2], "high": [3]})
    ('mask(digits=5)', 'groups(3 values)')
    >>> hierarchy_for_reports("zip.csv")
    'zip.csv'
    """
    if given is None or (isinstance(given, str) and builder_name(given) is None):
        return given
    made = as_hierarchy(given)
    return made.shown if isinstance(made, Builder) else made.source or repr(made)


def builder_name(text: str) -> str | None:
    """Return the name of the builder of a text form; None if the text names a file.

    A path with a dot or a slash is no name, so no builder of other packages is looked for, which takes a while.
    """
    match = _FORM.fullmatch(text)
    return match.group(1) if match and match.group(1) in BUILDERS else None


def _located(path: Path, base: Path | None) -> Path:
    return path if base is None else base / path


def _arguments(name: str, given: Any) -> tuple[list[Any], dict[str, Any]]:
    """Return the plain and named arguments a job file gives under the name of a builder."""
    member = BUILDERS.find(name)
    assert member is not None
    if given is None:
        return [], {}
    if isinstance(given, Mapping) and not member.takes_tree:
        return [], dict(given)
    if isinstance(given, list | tuple) and not member.takes_tree:
        return list(given), {}
    return [given], {}


def _make(name: str, arguments: Sequence[Any], options: Mapping[str, Any]) -> Builder:
    member = BUILDERS.find(name)
    assert member is not None
    try:
        return member.from_arguments(*arguments, **options)
    except TypeError:
        example = next(iter(member.examples), member.signature())
        raise UsageError(
            f"The hierarchy '{name}' does not take these arguments; write it as in {example}.", topic="text-form"
        ) from None
