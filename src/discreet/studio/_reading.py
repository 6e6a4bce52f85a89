"""How the table of a project is read: what its format lets one choose, and what follows for the settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from discreet.engines import format_of, possible_options, reading, sheet_names
from discreet.errors import UsageError, did_you_mean
from discreet.runtime.table_path import ReadOptions
from discreet.schema import Role
from discreet.studio._settings import Settings
from discreet.studio._table import Table

__all__ = ["check_reading", "first_reading", "reading_facts", "with_table"]

_LIMITS = ("weights", "priorities", "keep_at_least", "min_levels")
_DEFAULT = ReadOptions()


def first_reading(file: Path, given: Any = None) -> ReadOptions:
    """Return how the studio reads a new file: codes that SPSS declares as missing are missing, and never a secret."""
    chosen = {} if given is None else _checked(given)
    codes = "missing" if format_of(file).kind in ("sav", "zsav") else _DEFAULT.missing_codes
    return ReadOptions.make({"missing_codes": codes, **chosen})


def check_reading(given: Any) -> ReadOptions:
    """Return the reading options of a request; those it leaves out have their defaults."""
    return ReadOptions.make(_checked(given))


def _checked(given: Any) -> dict[str, Any]:
    names = [item.name for item in fields(ReadOptions)]
    if not isinstance(given, Mapping):
        raise UsageError('How to read a table is given as a mapping, such as {"na": ["NA"]}.')
    for name in given:
        if name not in names:
            hint = did_you_mean(str(name), names) or f"there are {', '.join(names)}."
            raise UsageError(f"There is no reading option '{name}'; {hint}")
    return dict(given)


def reading_facts(table: Table) -> dict[str, Any]:
    """Return how a table is read, which options its format has, and the sheets of a workbook."""
    layout = format_of(table.file)
    sheets: list[str] = []
    if layout.kind == "xlsx":
        with reading(f"'{table.file.name}'"):
            sheets = sheet_names(table.file)
    options = table.reading
    return {
        **{item.name: getattr(options, item.name) for item in fields(options)},
        "na": list(options.na),
        "possible": list(possible_options(layout)),
        "sheets": sheets,
        "changed": options != first_reading(table.file),
    }


def with_table(settings: Settings, before: Table, table: Table) -> Settings:
    """Return settings for a table that was read again: what was decided about its columns stays.

    A column keeps its role unless that was only suggested; columns that are not there any more lose everything.
    """
    suggested = {facts["name"]: Role(facts["suggested"]) for facts in before.facts}
    roles = {}
    for facts in table.facts:
        name = facts["name"]
        own = settings.roles.get(name)
        roles[name] = Role(facts["suggested"]) if own is None or own is suggested[name] else own
    goals = settings.goals
    for column, role in settings.roles.items():
        if role is Role.SENSITIVE and roles.get(column) is not Role.SENSITIVE:
            goals = goals.without(column)
    limits: dict[str, Any] = {name: _only(getattr(goals, name), roles) for name in _LIMITS}
    goals = replace(goals, **limits)
    kept = {column for column in settings.keep if roles.get(column) is Role.INSENSITIVE}
    return replace(
        settings,
        reading=table.reading,
        roles=roles,
        types=_only(settings.types, roles),
        hierarchies=_only(settings.hierarchies, roles),
        derive=_only(settings.derive, roles),
        goals=goals,
        keep=frozenset(kept),
    )


def _only(choices: Mapping[str, Any], columns: Mapping[str, Role]) -> dict[str, Any]:
    return {column: choice for column, choice in choices.items() if column in columns}
