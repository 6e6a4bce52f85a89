"""One project: a table, its settings, and how requests change them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError, MissingColumnError, UsageError, did_you_mean
from discreet.pipeline.derive import check_derive
from discreet.report.plain_labels import plain_label
from discreet.runtime.arguments import switch
from discreet.runtime.plurals import listed
from discreet.schema import (
    Builder,
    Domain,
    Hierarchy,
    LevelBuilder,
    Role,
    as_hierarchy,
    as_type,
    make_domain,
    suggest_diversity,
)
from discreet.schema.builders.auto import auto
from discreet.studio._goals import Goals
from discreet.studio._history import History
from discreet.studio._reading import check_reading, reading_facts, with_table
from discreet.studio._settings import Form, Settings
from discreet.studio._spelling import error_message
from discreet.studio._table import Table
from discreet.studio._upload import Limits, admit
from discreet.studio._workspace import ROWS, new_id

__all__ = ["ChangedElsewhereError", "Project", "as_form", "builder"]

_ONE = {Role.CLASS: Role.INSENSITIVE, Role.PERSON: Role.IDENTIFIER, Role.HOUSEHOLD: Role.IDENTIFIER}
"""Roles that one column has, and what the previous column becomes."""
_LONGEST_NAME = 120
_MOST_DOMAINS = 200
"""Hierarchies bound to their columns that are kept in memory, besides one for each column."""


class ChangedElsewhereError(UsageError):
    """The settings are not those that the page shows: another tab changed them."""


class Project:
    """A table with its settings and their history."""

    def __init__(
        self,
        owner: str,
        folder: Path,
        table: Table,
        forms: Mapping[str, Form] | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.id = new_id()
        self.owner = owner
        self.folder = folder
        self.limits = limits or Limits()
        self._tables = {table.reading: table}
        self.created = datetime.now(UTC).isoformat(timespec="seconds")
        self.step = "data"
        self.lock = threading.RLock()
        roles = {facts["name"]: Role(facts["suggested"]) for facts in table.facts}
        goals = _protecting(table, Goals(), [column for column, role in roles.items() if role is Role.SENSITIVE])
        name = table.file.name.partition(".")[0]
        first = Settings(name, roles, hierarchies=dict(forms or {}), goals=goals, reading=table.reading)
        self.history = History(first)
        self._domains: dict[tuple[Any, ...], tuple[Form | None, Domain | DiscreetError]] = {}

    @property
    def settings(self) -> Settings:
        """The current settings."""
        return self.history.settings

    @property
    def table(self) -> Table:
        """The table, as the current settings read it."""
        return self.table_of(self.settings)

    def table_of(self, settings: Settings) -> Table:
        """The table, as some settings read it."""
        with self.lock:
            found = self._tables.get(settings.reading)
            if found is None:
                file = next(iter(self._tables.values())).file
                admit(file, self.limits, settings.reading)
                found = Table(file, self.folder / f"_{len(self._tables)}{ROWS}", settings.reading)
                self._tables[settings.reading] = found
            return found

    def change(self, label: str, settings: Settings) -> None:
        """Replace the settings by new ones; the change can be undone."""
        with self.lock:
            self.history.change(label, settings)

    def undo(self, number: Any = None) -> None:
        """Undo the last change, or the one with a number."""
        with self.lock:
            if number is None:
                self.history.undo()
            else:
                self.history.revert(number)

    def redo(self) -> None:
        """Redo the last change that was undone."""
        with self.lock:
            self.history.redo()

    def check_version(self, version: Any) -> None:
        """Raise ChangedElsewhereError if a page shows other settings than the current ones; None is not checked."""
        if version is not None and version != self.history.version:
            raise ChangedElsewhereError(
                "This project was changed in another tab. Its goals and columns are shown here now: look at them, and "
                "start again."
            )

    def patch(self, fields: Mapping[str, Any]) -> None:
        """Apply the changes of a request, all of them or none."""
        known = ("name", "reading", "roles", "keep", "types", "derive", "pseudonyms", "goals", "step")
        for key in fields:
            if key not in known:
                raise UsageError(f"A project has no '{key}'; {did_you_mean(key, known) or 'see the documentation.'}")
        with self.lock:
            now, labels = self.settings, []
            if "name" in fields:
                now = replace(now, name=_name(fields["name"]))
                labels.append("rename the project")
            if "reading" in fields:
                now = self._with_reading(now, fields["reading"])
                labels.append("change how the table is read")
            if "roles" in fields:
                now, label = self._with_roles(now, fields["roles"])
                labels.append(label)
            if "keep" in fields:
                now, label = self._with_keep(now, fields["keep"])
                labels.append(label)
            if "types" in fields:
                now, label = self._with_types(now, fields["types"])
                labels.append(label)
            if "derive" in fields:
                now, label = self._with_derived(now, fields["derive"])
                labels.append(label)
            if "pseudonyms" in fields:
                now = replace(now, pseudonyms=switch(fields["pseudonyms"], "pseudonyms"))
                labels.append("switch pseudonyms on" if now.pseudonyms else "switch pseudonyms off")
            if "goals" in fields:
                goals, label = now.goals.changed(fields["goals"], list(now.roles))
                now = replace(now, goals=goals)
                labels.append(label)
            if "step" in fields:
                self.step = str(fields["step"])[:20]
            if labels:
                self.change(" and ".join(labels), now)

    def _with_reading(self, now: Settings, given: Any) -> Settings:
        """Read the table in another way; what was decided about its columns stays."""
        before, table = self.table_of(now), self.table_of(replace(now, reading=check_reading(given)))
        after = with_table(now, before, table)
        found = [column for column, role in after.roles.items() if role is Role.SENSITIVE]
        new = [column for column in found if now.roles.get(column) is not Role.SENSITIVE]
        return replace(after, goals=_protecting(table, after.goals, new))

    def _with_derived(self, now: Settings, forms_by_column: Any) -> tuple[Settings, str]:
        """Replace the values of columns before anything else; None leaves a column as it is."""
        given = _by_column(now, forms_by_column, "derived columns")
        chosen = {column: form for column, form in {**now.derive, **given}.items() if form is not None}
        for column, derivation in check_derive(chosen).items():
            for needed in derivation.columns(column):
                if needed not in now.roles:
                    raise MissingColumnError(needed, list(now.roles))
        label = f"replace the values of '{next(iter(given))}'" if len(given) == 1 else "replace values"
        return replace(now, derive=chosen), label

    def _with_roles(self, now: Settings, roles_by_column: Any) -> tuple[Settings, str]:
        given = {column: _role(column, choice) for column, choice in _by_column(now, roles_by_column, "roles").items()}
        roles = {**now.roles, **given}
        for column, role in given.items():
            if role in _ONE:  # at most one column
                others = [other for other, own in roles.items() if own is role and other != column]
                roles |= dict.fromkeys(others, _ONE[role])
        label = f"make '{next(iter(given))}' {next(iter(given.values()))}" if len(given) == 1 else "change roles"
        sensitive = [column for column, role in given.items() if role is Role.SENSITIVE]
        goals = _protecting(self.table_of(now), now.goals, sensitive)
        for column, role in roles.items():
            if now.roles[column] is Role.SENSITIVE and role is not Role.SENSITIVE:
                goals = goals.without(column)
        keep = frozenset(column for column in now.keep if roles[column] is Role.INSENSITIVE)
        return replace(now, roles=roles, goals=goals, keep=keep), label

    def _with_keep(self, now: Settings, decisions: Any) -> tuple[Settings, str]:
        """Confirm, or take back, that columns are released unchanged."""
        given = _by_column(now, decisions, "decisions")
        for column, choice in given.items():
            if not isinstance(choice, bool):
                raise UsageError("The decision to release a column unchanged must be true or false.", column=column)
            if choice and now.roles[column] is not Role.INSENSITIVE:
                raise UsageError(f"'{column}' is not released unchanged; choose “Keep” for it first.", column=column)
        keep = (now.keep | {column for column, choice in given.items() if choice}) - {
            column for column, choice in given.items() if not choice
        }
        label = f"release '{next(iter(given))}' unchanged" if len(given) == 1 else "release columns unchanged"
        return replace(now, keep=keep), label

    def _with_types(self, now: Settings, types_by_column: Any) -> tuple[Settings, str]:
        given = _by_column(now, types_by_column, "types")
        types = dict(now.types)
        for column, choice in given.items():
            if choice is None:
                types.pop(column, None)
            else:
                types[column] = str(as_type(str(choice)))
        label = f"change the type of '{next(iter(given))}'" if len(given) == 1 else "change types"
        return replace(now, types=types), label

    def form(self, column: str) -> Form | None:
        """Hierarchy of a column; None for an automatic one."""
        return self.settings.hierarchies.get(column)

    def domain(self, column: str, *, settings: Settings | None = None) -> Domain:
        """Bind the values of a column to its hierarchy; raises DiscreetError if they do not fit."""
        now = settings or self.settings
        chosen = now.hierarchies.get(column)
        key = (column, id(chosen) if isinstance(chosen, Hierarchy) else chosen, now.types.get(column), now.reading)
        source, bound = self._domains.get(key, (None, None))
        if bound is None or source is not chosen:
            counts = self.table_of(now).counts(column)
            try:
                tree = None if chosen is None else as_form(chosen)
                bound = make_domain(column, counts.values, tree, type=now.types.get(column), rows=counts.rows)
            except DiscreetError as error:
                bound = error
            while len(self._domains) >= _MOST_DOMAINS + len(self.table.columns):
                self._domains.pop(next(iter(self._domains)))
            self._domains[key] = (chosen, bound)  # keeps the tree alive, so that its id stays unique
        if isinstance(bound, DiscreetError):
            raise bound
        return bound

    def tree(self, column: str) -> Hierarchy:
        """Current tree of a column, to be edited or exported."""
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
        """Replace the hierarchy of a column, None for an automatic one; it must fit the values."""
        with self.lock:
            self.table.counts(column)
            kept = {name: tree for name, tree in self.settings.hierarchies.items() if name != column}
            now = replace(self.settings, hierarchies=kept if form is None else {**kept, column: form})
            self.domain(column, settings=now)
            self.change(f"{label} of '{column}'", now)

    def undecided(self, settings: Settings) -> list[str]:
        """Identifying columns that would be released unchanged without a decision of the user."""
        stopping = [facts["name"] for facts in self.table.facts if facts["stops"]]
        return [
            column
            for column in settings.columns(Role.INSENSITIVE)
            if column in stopping and column not in settings.keep
        ]

    def to_dict(self, jobs: list[dict[str, Any]]) -> dict[str, Any]:
        """The project as the page shows it."""
        with self.lock:
            now, undecided = self.settings, self.undecided(self.settings)
            return {
                "id": self.id,
                "name": now.name,
                "file": self.table.file.name,
                "reading": reading_facts(self.table),
                "pseudonyms": now.pseudonyms,
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
                        "derive": now.derive.get(facts["name"]),
                    }
                    for facts in self.table.facts
                ],
                "hierarchies": {
                    column: self.hierarchy_facts(column)
                    for column in self.table.columns
                    if now.roles[column] is Role.QUASI_IDENTIFIER
                    or (now.roles[column] is Role.SENSITIVE and column in now.hierarchies)
                },
                "goals": now.goals.to_dict(),
                "jobs": jobs,
                "version": self.history.version,
                "change": self.history.number,
                "can_undo": self.history.undo_label is not None,
                "can_redo": self.history.redo_label is not None,
                "undo_label": self.history.undo_label,
                "redo_label": self.history.redo_label,
            }

    def hierarchy_facts(self, column: str) -> dict[str, Any]:
        """Summary of the hierarchy of a column."""
        form = self.form(column)
        facts = {
            "form": form if isinstance(form, str) else None,
            "automatic": form is None,
            "edited": isinstance(form, Hierarchy),
        }
        try:
            domain = self.domain(column)
        except DiscreetError as error:
            return {**facts, "depth": 0, "levels": [], "ok": False, "message": error_message(error)}
        levels = [len(names) - (None in names) for names in domain.labels]
        message = None if facts["automatic"] else _idle_levels(domain)
        return {**facts, "depth": domain.height, "levels": levels, "ok": True, "message": message}


def _idle_levels(domain: Domain) -> str | None:
    """Say which levels are the same as the values, as with a limit for top coding above all of them."""
    exact = domain.labels[0]
    idle = [str(level) for level in range(1, domain.height) if domain.labels[level] == exact]
    known = [plain_label(name, domain.type) for name in exact if name is not None]
    if not idle or not known or not domain.type.numeric:
        return None
    which = f"Level {idle[0]} leaves" if len(idle) == 1 else f"Levels {listed(idle)} leave"
    return f"{which} all values as they are. They go from {known[0]} to {known[-1]}; choose other settings."


def _protecting(table: Table, goals: Goals, columns: list[str]) -> Goals:
    """Add a diversity requirement for columns that became sensitive."""
    for column in columns:
        counts = table.counts(column)
        rows = counts.rows[counts.present]
        most = float(rows.max() / rows.sum()) if len(rows) else 0.0
        goals = goals.protecting(column, suggest_diversity(len(rows), most))
    return goals


def _by_column(now: Settings, given: Any, what: str) -> dict[str, Any]:
    """Return choices by column; raise an error if there are none, or a column is not there."""
    if not isinstance(given, dict) or not given:
        raise UsageError(f"The {what} must be a mapping from column to choice.")
    for column in given:
        if column not in now.roles:
            raise MissingColumnError(column, list(now.roles))
    return given


def as_form(form: Form) -> Hierarchy | Builder:
    """The hierarchy or builder of a form; text always names a builder, never a file."""
    return form if isinstance(form, Hierarchy) else builder(form)


def builder(text: str) -> Builder:
    """Parse a builder; file names are refused, as no request may open a file."""
    from discreet.runtime.text_form import parse_text
    from discreet.schema.builders import BUILDERS

    name = parse_text(text)[0]
    if name not in BUILDERS:
        known = sorted(BUILDERS.members())
        hint = did_you_mean(name, known) or f"known are {', '.join(known)}."
        raise UsageError(f"There is no hierarchy '{name}'; {hint}")
    made = as_hierarchy(text)
    if not isinstance(made, Builder):
        raise UsageError("Import a hierarchy as the text of its file, not by a file name.")
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
