"""Shell completion of files, columns of the table, and text forms of parts."""

from __future__ import annotations

import csv
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem
from click.types import StringParamType

if TYPE_CHECKING:
    from discreet.runtime.parts import Family

__all__ = ["completing"]

_FILES = ("FILE", "INPUT", "JOB", "JOB JOB ...", "MAPPING", "HIERARCHY", "ORIGINAL", "RELEASED", "FILE|N", "TABLE")
_FORMS = {
    "MODEL": "PRIVACY",
    "COST": "COSTS",
    "KIND": "SUPPRESSION",
    "[NAME=]SCHEME": "SCHEMES",
    "SOLVER": "SOLVERS",
    "PROFILE": "PROFILES",
}
"""Options by what their value is called in the help, and the family whose text forms they take."""
_BESIDES = {"SCHEMES": ("best",), "SOLVERS": ("auto",)}
"""What options take besides the members of a family."""
_TABLES = ("source", "file", "original")
"""Arguments that name the table whose columns are completed."""


class Columns(StringParamType):
    """Names of columns, separated by commas."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete the last name from the header of the table."""
        before, comma, last = incomplete.rpartition(",")
        named = set(before.split(","))
        columns = [name for name in _columns(ctx) if name.startswith(last) and name not in named]
        return [CompletionItem(f"{before}{comma}{name}") for name in columns]


class Forms(StringParamType):
    """The text form of a part, for all columns or, where that may be, for one (``age=subtree``)."""

    def __init__(self, family: str) -> None:
        self.family = family

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete the examples of a family."""
        word = incomplete.lstrip("'")
        column, equals, begun = word.partition("=") if self.family == "SCHEMES" else ("", "", word)
        if not equals:
            begun = word
        besides = () if equals else _BESIDES.get(self.family, ())
        fitting = [form for form in [*besides, *_forms(self.family)] if form.startswith(begun) and " " not in form]
        before = f"{column}{equals}" if equals else ""
        # bash takes a word as it is, so brackets need quotes; other shells quote by themselves.
        quoted = os.environ.get("_DISCREET_COMPLETE", "").startswith("bash")
        return [CompletionItem(f"'{before}{form}'" if quoted and "(" in form else before + form) for form in fitting]


def _forms(name: str) -> list[str]:
    """Return the text forms of a family, or the names of the risk profiles."""
    if name == "PROFILES":
        from discreet.evaluate import PROFILES

        return list(PROFILES)
    if name == "SOLVERS":
        from discreet.solve import SOLVERS

        return SOLVERS.examples()
    import discreet.problem

    family: Family[Any] = getattr(discreet.problem, name)
    return family.examples() or list(family.members())


class Topics(StringParamType):
    """A topic of ``discreet explain``."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete the names of topics."""
        from discreet.explain import topics

        return [CompletionItem(name, help=each.title) for name, each in topics().items() if name.startswith(incomplete)]


def completing(parameter: click.Parameter) -> click.Parameter:
    """Let a shell complete a parameter by what its value is called in the help."""
    if parameter.type is click.STRING and parameter.metavar is not None:
        if parameter.metavar in _FILES or parameter.metavar == "DIR":
            parameter.type = click.Path(file_okay=parameter.metavar != "DIR")
        elif parameter.metavar in ("COLUMNS", "COLUMN"):
            parameter.type = Columns()
        elif parameter.metavar == "[TOPIC]":
            parameter.type = Topics()
        elif parameter.metavar in _FORMS:
            parameter.type = Forms(_FORMS[parameter.metavar])
    return parameter


def _columns(context: click.Context) -> list[str]:
    """Return the columns of the table that the command names; none where it cannot be read at once."""
    # The arguments are not parsed yet if the option that is completed has no value.
    words = [*(context.params.get(name) for name in _TABLES), *context.args]
    given = next((word for word in words if isinstance(word, str) and Path(word).is_file()), None)
    if given is None:
        return []
    with suppress(OSError, UnicodeDecodeError, csv.Error, StopIteration):
        if Path(given).suffix.lower() in (".csv", ".tsv"):
            with Path(given).open(encoding="utf-8-sig", newline="") as stream:
                head = stream.readline()
            separator = max(",;\t|", key=head.count)
            return next(csv.reader([head], delimiter=separator))
    return _columns_by_engine(given)


def _columns_by_engine(given: str) -> list[str]:
    from discreet.engines import open_source
    from discreet.errors import DiscreetError

    with suppress(DiscreetError):
        return list(open_source(given).columns)
    return []
