"""The roles of columns, checked once against the columns of the data."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

from discreet.errors import Argument, DataError, MissingColumnError, UsageError
from discreet.schema._forms import as_hierarchy
from discreet.schema._hierarchy import Hierarchy
from discreet.schema._types import Type, as_type
from discreet.schema.builders import Builder

__all__ = ["Role", "Schema", "parts_of"]


class Role(StrEnum):
    """What a column is to the people it describes."""

    IDENTIFIER = "identifier"
    """Names a person; never released."""
    QUASI_IDENTIFIER = "quasi-identifier"
    """Could be matched with other sources; generalized."""
    SENSITIVE = "sensitive"
    """What nobody should learn about a person."""
    CLASS = "class"
    """What the released table should still be able to predict."""
    WEIGHTS = "survey weights"
    """How many people of the population a row represents; released as it is."""
    PERSON = "person"
    """Says whose row it is; promises count people, and the column is left out or released as pseudonyms."""
    HOUSEHOLD = "household"
    """Says to which household the person of a row belongs; the same for households."""
    INSENSITIVE = "insensitive"
    """Everything else; released as it is."""


@dataclass(frozen=True)
class Schema:
    """The roles of all columns; ``quasi_identifiers`` maps names to hierarchies, or to None if none is given.

    A sensitive attribute may be several columns together, such as ``disease+stage``; ``parts`` are its columns.
    """

    identifiers: tuple[str, ...]
    quasi_identifiers: Mapping[str, Hierarchy | Builder | None]
    sensitive: tuple[str, ...] = ()
    class_attribute: str | None = None
    insensitive: tuple[str, ...] = ()
    types: Mapping[str, Type] = field(default_factory=dict)
    weights: str | None = None
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    """Columns without a role, or sensitive ones, that somebody confirmed to be released as they are."""
    person: str | None = None
    household: str | None = None
    pseudonyms: tuple[str, ...] = ()
    """The columns that say whose rows they are and leave as pseudonyms; others of these are left out."""

    @property
    def unit(self) -> str | None:
        """The column whose values promises count: the household, else the person; None if they count rows."""
        return self.person if self.household is None else self.household

    @cached_property
    def owners(self) -> tuple[str, ...]:
        """The columns that say whose rows they are."""
        return tuple(column for column in (self.person, self.household) if column is not None)

    @cached_property
    def dropped(self) -> tuple[str, ...]:
        """The columns that are left out."""
        removed = dict.fromkeys([*self.identifiers, *self.owners])
        return tuple(column for column in removed if column not in self.pseudonyms)

    @cached_property
    def sensitive_columns(self) -> tuple[str, ...]:
        """The columns that are sensitive, by themselves or together with others."""
        return tuple(dict.fromkeys(part for name in self.sensitive for part in self.parts.get(name, (name,))))

    @cached_property
    def combined(self) -> dict[str, tuple[str, ...]]:
        """The sensitive attributes that are several columns, with these columns."""
        return {name: parts for name, parts in self.parts.items() if len(parts) > 1}

    @classmethod
    def make(
        cls,
        columns: Iterable[str],
        identifiers: str | Iterable[str] = (),
        quasi_identifiers: str | Iterable[str] | Mapping[str, object] = (),
        sensitive: str | Iterable[str] = (),
        class_attribute: str | None = None,
        types: Mapping[str, Type | str] | None = None,
        *,
        weights: str | None = None,
        keep: str | Iterable[str] = (),
    ) -> Schema:
        """Check the roles against the columns of the data; every column without a role is insensitive.

        A column has one role, except that a quasi-identifier or a sensitive column may be the class attribute too.
        Columns to ``keep`` have no role or are sensitive.

        >>> schema = Schema.make(["name", "age", "illness", "note"], "name", {"age": "flat"}, "illness")
        >>> schema.insensitive, schema.role("age")
        (('note',), <Role.QUASI_IDENTIFIER: 'quasi-identifier'>)
        """
        known = list(columns)
        _refuse_twice(known, "The data has two columns called '{}'; rename one of them.", DataError)
        keys, secrets, confirmed = _names(identifiers), _names(sensitive), _names(keep)
        if isinstance(quasi_identifiers, Mapping):
            given = dict(quasi_identifiers)
            quasi = list(given)
        else:
            quasi = _names(quasi_identifiers)
            given = dict.fromkeys(quasi)
        classes = [] if class_attribute is None else [class_attribute]
        weighed = [] if weights is None else [weights]
        if types is not None and not isinstance(types, Mapping):
            raise UsageError("The types must map column names to types, as in {zip: text}.", topic="parameter")
        parts = {name: parts_of(name, known) for name in secrets if isinstance(name, str)}
        protected = [part for name in secrets for part in parts.get(name, (name,))]
        for column in [*keys, *quasi, *protected, *classes, *weighed, *confirmed, *(types or {})]:
            if not isinstance(column, str):
                raise UsageError(
                    "Columns are named by text; give numbered columns names first, "
                    "as in frame.columns = frame.columns.astype(str)."
                )
            if column not in known:
                raise MissingColumnError(column, known)
        for role, named in (
            (Role.IDENTIFIER, keys),
            (Role.QUASI_IDENTIFIER, quasi),
            (Role.SENSITIVE, secrets),
        ):
            _refuse_twice(named, f"Column '{{}}' is named twice as {role}; name it once.", UsageError)
        protected = list(dict.fromkeys(protected))
        _refuse_two_roles(
            {
                Role.IDENTIFIER: keys,
                Role.QUASI_IDENTIFIER: quasi,
                Role.SENSITIVE: protected,
                Role.CLASS: classes,
                Role.WEIGHTS: weighed,
            }
        )
        if not quasi:
            raise UsageError(
                "There is no quasi-identifier; name at least one column others could know about a person.",
                topic="no-quasi-identifier",
            )
        used = {*keys, *quasi, *protected, *classes, *weighed}
        _refuse_kept(confirmed, used - {*protected})
        hierarchies = {column: None if spec is None else as_hierarchy(spec) for column, spec in given.items()}
        return cls(
            tuple(keys),
            hierarchies,
            tuple(secrets),
            class_attribute,
            tuple(column for column in known if column not in used),
            {column: as_type(choice) for column, choice in (types or {}).items()},
            weights,
            parts,
            tuple(dict.fromkeys(confirmed)),
        )

    def with_owners(
        self, person: str | None = None, household: str | None = None, *, pseudonyms: bool | Sequence[str] = False
    ) -> Schema:
        """Return the schema with the columns that say whose rows they are, which may be identifiers, but nothing else.

        All of them leave as pseudonyms, or none, or the named ones.

        >>> schema = Schema.make(["id", "age", "note"], "id", "age").with_owners("id")
        >>> schema.unit, schema.dropped, schema.role("id")
        ('id', ('id',), <Role.PERSON: 'person'>)
        """
        given = {Role.PERSON: person, Role.HOUSEHOLD: household}
        owners = {role: column for role, column in given.items() if column is not None}
        if pseudonyms and not owners:
            raise UsageError(
                "Pseudonyms stand for people; say which column names them with ",
                Argument("person"),
                ".",
                topic="people",
            )
        known = [*self.identifiers, *self.quasi_identifiers, *self.sensitive_columns, *self.insensitive]
        known += [column for column in (self.class_attribute, self.weights) if column is not None]
        for column in owners.values():
            if column not in known:
                raise MissingColumnError(column, known)
        roles = {column: self.role(column) for column in known}
        taken = {role: [column for column, own in roles.items() if own is role] for role in Role}
        others = {Role.IDENTIFIER, Role.INSENSITIVE}
        _refuse_two_roles(
            {
                **{role: columns for role, columns in taken.items() if role not in others},
                **{role: [column] for role, column in owners.items()},
            }
        )
        _refuse_kept(list(self.keep), set(owners.values()))
        return replace(
            self,
            person=person,
            household=household,
            pseudonyms=tuple(owners.values()) if pseudonyms is True else tuple(pseudonyms or ()),
            insensitive=tuple(column for column in self.insensitive if column not in owners.values()),
        )

    def role(self, column: str) -> Role:
        """Return the role of a column; if it is the class attribute too, its other role."""
        if column in self.owners:
            return Role.PERSON if column == self.person else Role.HOUSEHOLD
        if column in self.identifiers:
            return Role.IDENTIFIER
        if column in self.quasi_identifiers:
            return Role.QUASI_IDENTIFIER
        if column in self.sensitive_columns:
            return Role.SENSITIVE
        if column == self.weights:
            return Role.WEIGHTS
        return Role.CLASS if column == self.class_attribute else Role.INSENSITIVE


def parts_of(name: str, columns: Collection[str]) -> tuple[str, ...]:
    """Return the columns of an attribute: itself, or those between plus signs if no column has that name.

    >>> parts_of("disease+stage", ["age", "disease", "stage"]), parts_of("l+", ["l+"])
    (('disease', 'stage'), ('l+',))
    """
    if name in columns or "+" not in name:
        return (name,)
    parts = tuple(part.strip() for part in name.split("+"))
    return parts if all(parts) and len({*parts}) == len(parts) else (name,)


def _names(given: str | Iterable[str] | None) -> list[str]:
    if isinstance(given, str):
        return [given]
    if given is None:
        return []
    if not isinstance(given, Iterable):
        raise UsageError(f"Columns are given by name or as a list of names, not as {type(given).__name__}.")
    return list(given)


def _refuse_twice(names: list[str], message: str, error: type[DataError] | type[UsageError]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise error(message.format(name), column=name)
        seen.add(name)


def _refuse_kept(confirmed: list[str], used: Collection[str]) -> None:
    """Raise a UsageError if a column to keep has a role other than sensitive."""
    for column in confirmed:
        if column in used:
            raise UsageError(
                f"Column '{column}' has a role and cannot be kept as it is too; choose one.",
                column=column,
                topic="two-roles",
            )


_IN_MESSAGES = {
    Role.CLASS: "the class attribute",
    Role.WEIGHTS: "the survey weights",
    Role.PERSON: "the person",
    Role.HOUSEHOLD: "the household",
}
"""Roles that one column has."""


def _refuse_two_roles(roles: Mapping[Role, list[str]]) -> None:
    taken: dict[str, Role] = {}
    for role, named in roles.items():
        for column in named:
            other = taken.setdefault(column, role)
            if other is role or (role is Role.CLASS and other is not Role.IDENTIFIER):
                continue
            both = [_IN_MESSAGES.get(each, each) for each in (other, role)]
            raise UsageError(
                f"Column '{column}' cannot be both {both[0]} and {both[1]}; choose one role.",
                column=column,
                topic="two-roles",
            )
