"""One project: a table, what was said about it, and every change of that, so that it can be taken back."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError, MissingColumnError, UsageError, did_you_mean
from discreet.schema import (
    Builder,
    Domain,
    Hierarchy,
    LevelBuilder,
    Role,
    as_hierarchy,
    as_type,
    auto,
    make_domain,
    suggest_diversity,
)
from discreet.studio._goals import Goals
from discreet.studio._table import Table
from discreet.studio._workspace import new_id

__all__ = ["Form", "Project", "Settings", "as_form", "builder"]

Form = str | Hierarchy
"""A hierarchy: the text form of a builder, or a tree that was edited or brought along."""
_STEPS = 500
"""The changes that can be taken back."""
_LONGEST_NAME = 120


@dataclass(frozen=True)
class Settings:
    """All that was said about a table. It is never changed; a change makes another."""

    name: str
    roles: Mapping[str, Role]
    types: Mapping[str, str] = field(default_factory=dict)
    hierarchies: Mapping[str, Form] = field(default_factory=dict)
    goals: Goals = field(default_factory=Goals)
    keep: frozenset[str] = frozenset()
    """Columns that could tell who somebody is, and are released as they are because somebody decided so."""

    def columns(self, role: Role) -> list[str]:
        """Return the columns of a role, in the order of the table."""
        return [column for column, its in self.roles.items() if its is role]


class Project:
    """A table and the settings it has now, had before and will have again if asked."""

    def __init__(self, owner: str, folder: Path, table: Table, forms: Mapping[str, Form] | None = None) -> None:
        self.id = new_id()
        self.owner = owner
        self.folder = folder
        self.table = table
        self.created = datetime.now(UTC).isoformat(timespec="seconds")
        self.step = "data"
        self.lock = threading.RLock()
        roles = {facts["name"]: Role(facts["suggested"]) for facts in table.facts}
        goals = self._protecting(Goals(), [column for column, role in roles.items() if role is Role.SENSITIVE])
        first = Settings(table.file.name.partition(".")[0], roles, hierarchies=dict(forms or {}), goals=goals)
        self._history: list[tuple[str, Settings]] = [("", first)]
        self._now = 0
        self._domains: dict[tuple[Any, ...], tuple[Form | None, Domain | DiscreetError]] = {}

    @property
    def settings(self) -> Settings:
        """What holds now."""
        return self._history[self._now][1]

    def change(self, label: str, settings: Settings) -> None:
        """Make a change that can be taken back."""
        with self.lock:
            if settings == self.settings:
                return
            del self._history[self._now + 1 :]
            self._history.append((label, settings))
            del self._history[: max(0, len(self._history) - _STEPS)]
            self._now = len(self._history) - 1

    def undo(self) -> None:
        """Take the last change back."""
        with self.lock:
            if not self._now:
                raise UsageError("There is nothing to undo.")
            self._now -= 1

    def redo(self) -> None:
        """Make a change again that was taken back."""
        with self.lock:
            if self._now + 1 >= len(self._history):
                raise UsageError("There is nothing to redo.")
            self._now += 1

    def patch(self, told: Mapping[str, Any]) -> None:
        """Change what a request says, all of it or nothing."""
        known = ("name", "roles", "keep", "types", "goals", "step")
        for key in told:
            if key not in known:
                raise UsageError(f"A project has no '{key}'; {did_you_mean(key, known) or 'see the documentation.'}")
        with self.lock:
            now, labels = self.settings, []
            if "name" in told:
                now = replace(now, name=_name(told["name"]))
                labels.append("rename the project")
            if "roles" in told:
                now, label = self._with_roles(now, told["roles"])
                labels.append(label)
            if "keep" in told:
                now, label = self._with_keep(now, told["keep"])
                labels.append(label)
            if "types" in told:
                now, label = self._with_types(now, told["types"])
                labels.append(label)
            if "goals" in told:
                goals, label = now.goals.changed(told["goals"], self.table.columns)
                now = replace(now, goals=goals)
                labels.append(label)
            if "step" in told:
                self.step = str(told["step"])[:20]
            if labels:
                self.change(" and ".join(labels), now)

    def _with_roles(self, now: Settings, told: Any) -> tuple[Settings, str]:
        given = {column: _role(column, choice) for column, choice in self._by_column(told, "roles").items()}
        roles = {**now.roles, **given}
        for column, role in given.items():
            if role is Role.CLASS:  # there is one at most; the one before becomes an ordinary column
                others = [other for other, its in roles.items() if its is Role.CLASS and other != column]
                roles |= dict.fromkeys(others, Role.INSENSITIVE)
        label = f"make '{next(iter(given))}' {next(iter(given.values()))}" if len(given) == 1 else "change roles"
        goals = self._protecting(now.goals, [column for column, role in given.items() if role is Role.SENSITIVE])
        for column, role in roles.items():
            if now.roles[column] is Role.SENSITIVE and role is not Role.SENSITIVE:
                goals = goals.without(column)
        keep = frozenset(column for column in now.keep if roles[column] is Role.INSENSITIVE)
        return replace(now, roles=roles, goals=goals, keep=keep), label

    def _protecting(self, goals: Goals, columns: list[str]) -> Goals:
        """Add a sensible diversity of columns that became sensitive."""
        for column in columns:
            counts = self.table.counts(column)
            rows = counts.rows[counts.present]
            most = float(rows.max() / rows.sum()) if len(rows) else 0.0
            goals = goals.protecting(column, suggest_diversity(len(rows), most))
        return goals

    def _with_keep(self, now: Settings, told: Any) -> tuple[Settings, str]:
        """Take down for which columns somebody decided that they are released as they are, or that they are not."""
        given = self._by_column(told, "decisions")
        for column, choice in given.items():
            if not isinstance(choice, bool):
                raise UsageError("A decision to release a column as it is is yes or no.", column=column)
            if choice and now.roles[column] is not Role.INSENSITIVE:
                raise UsageError(f"'{column}' is not released as it is; choose “Keep” for it first.", column=column)
        keep = (now.keep | {column for column, choice in given.items() if choice}) - {
            column for column, choice in given.items() if not choice
        }
        label = f"release '{next(iter(given))}' as it is" if len(given) == 1 else "release columns as they are"
        return replace(now, keep=keep), label

    def _with_types(self, now: Settings, told: Any) -> tuple[Settings, str]:
        given = self._by_column(told, "types")
        types = dict(now.types)
        for column, choice in given.items():
            if choice is None:
                types.pop(column, None)
            else:
                types[column] = str(as_type(str(choice)))
        label = f"change the type of '{next(iter(given))}'" if len(given) == 1 else "change types"
        return replace(now, types=types), label

    def _by_column(self, told: Any, what: str) -> dict[str, Any]:
        if not isinstance(told, dict) or not told:
            raise UsageError(f"The {what} are given as a mapping from column to choice.")
        for column in told:
            if column not in self.table.columns:
                raise MissingColumnError(column, self.table.columns)
        return told

    def form(self, column: str) -> Form | None:
        """Return the hierarchy of a column; None is an automatic one."""
        return self.settings.hierarchies.get(column)

    def domain(self, column: str, *, settings: Settings | None = None) -> Domain:
        """Bind the values of a column to its hierarchy, or say what is wrong with it."""
        now = settings or self.settings
        chosen = now.hierarchies.get(column)
        key = (column, id(chosen) if isinstance(chosen, Hierarchy) else chosen, now.types.get(column))
        of, held = self._domains.get(key, (None, None))
        if held is None or of is not chosen:
            counts = self.table.counts(column)
            try:
                made = None if chosen is None else as_form(chosen)
                held = make_domain(column, counts.values, made, type=now.types.get(column), rows=counts.rows)
            except DiscreetError as error:
                held = error
            while len(self._domains) >= 200:
                self._domains.pop(next(iter(self._domains)))
            self._domains[key] = (chosen, held)  # a tree is held, so that no other can have its id
        if isinstance(held, DiscreetError):
            raise held
        return held

    def tree(self, column: str) -> Hierarchy:
        """Return the tree of a column as it is now, to be edited or exported."""
        form = self.form(column)
        if isinstance(form, Hierarchy):
            return form
        counts = self.table.counts(column)
        known, rows = counts.values.filter(counts.present), counts.rows[counts.present]
        chosen = self.settings.types.get(column)
        kind = counts.type if chosen is None else as_type(chosen)
        recipe = auto() if form is None else builder(form)
        if isinstance(recipe, LevelBuilder):
            return recipe.build(known, kind, column, rows=rows)
        return recipe.build(known, kind, column)

    def set_hierarchy(self, column: str, form: Form | None, label: str) -> None:
        """Give a column another hierarchy, None for an automatic one, if it fits the values."""
        with self.lock:
            self.table.counts(column)
            kept = {name: its for name, its in self.settings.hierarchies.items() if name != column}
            now = replace(self.settings, hierarchies=kept if form is None else {**kept, column: form})
            self.domain(column, settings=now)
            self.change(f"{label} of '{column}'", now)

    def undecided(self, settings: Settings) -> list[str]:
        """Return the columns that could tell who somebody is, and nobody decided to release as they are."""
        stopping = [facts["name"] for facts in self.table.facts if facts["stops"]]
        return [
            column
            for column in settings.columns(Role.INSENSITIVE)
            if column in stopping and column not in settings.keep
        ]

    def told(self, jobs: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the project for the page."""
        with self.lock:
            now, undecided = self.settings, self.undecided(self.settings)
            return {
                "id": self.id,
                "name": now.name,
                "file": self.table.file.name,
                "rows": self.table.rows,
                "created": self.created,
                "step": self.step,
                "columns": [
                    {
                        **facts,
                        "type": now.types.get(facts["name"], facts["type"]),
                        "natural_type": facts["type"],
                        "role": str(now.roles[facts["name"]]),
                        "confirmed": facts["name"] in now.keep,
                        "undecided": facts["name"] in undecided,
                        "promised": now.goals.promised_of(facts["name"]),
                    }
                    for facts in self.table.facts
                ],
                "hierarchies": {
                    column: self.hierarchy_facts(column)
                    for column in self.table.columns
                    if now.roles[column] is Role.QUASI_IDENTIFIER
                    or (now.roles[column] is Role.SENSITIVE and column in now.hierarchies)
                },
                "goals": now.goals.told(),
                "jobs": jobs,
                "can_undo": self._now > 0,
                "can_redo": self._now + 1 < len(self._history),
                "undo_label": self._history[self._now][0] if self._now else None,
                "redo_label": self._history[self._now + 1][0] if self._now + 1 < len(self._history) else None,
            }

    def hierarchy_facts(self, column: str) -> dict[str, Any]:
        """Return what is known about the hierarchy of a column, in short."""
        form = self.form(column)
        facts = {
            "form": form if isinstance(form, str) else None,
            "automatic": form is None,
            "edited": isinstance(form, Hierarchy),
        }
        try:
            domain = self.domain(column)
        except DiscreetError as error:
            return {**facts, "depth": 0, "levels": [], "ok": False, "message": error.message}
        levels = [len(names) - (None in names) for names in domain.labels]
        return {**facts, "depth": domain.height, "levels": levels, "ok": True, "message": None}


def as_form(form: Form) -> Hierarchy | Builder:
    """Return the hierarchy or builder of a form; text is the form of a builder and never a file."""
    return form if isinstance(form, Hierarchy) else builder(form)


def builder(text: str) -> Builder:
    """Return the builder a text stands for; the name of a file is refused, for no request may open one."""
    from discreet.problem._text import parse_text
    from discreet.schema.builders import BUILDERS

    name = parse_text(text)[0]
    if name not in BUILDERS:
        known = sorted(BUILDERS)
        hint = did_you_mean(name, known) or f"known are {', '.join(known)}."
        raise UsageError(f"There is no hierarchy '{name}'; {hint}")
    made = as_hierarchy(text)
    if not isinstance(made, Builder):
        raise UsageError("A hierarchy is brought along as the text of its file, not by a name.")
    return made


def _name(given: Any) -> str:
    if not isinstance(given, str) or not given.strip():
        raise UsageError("A project needs a name.")
    return given.strip()[:_LONGEST_NAME]


def _role(column: str, choice: Any) -> Role:
    try:
        return Role(choice)
    except ValueError:
        known = ", ".join(Role)
        raise UsageError(f"The role of a column is one of {known}.", column=column) from None
