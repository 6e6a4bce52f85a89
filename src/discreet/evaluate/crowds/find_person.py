"""``find``: the crowd in which somebody hides, given what others know about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.engines import UNKNOWN, Source, open_source
from discreet.errors import MissingColumnError, UsageError
from discreet.evaluate.classes import CountedClasses, read_classes
from discreet.evaluate.crowds.matching import Fact, Mask, Matches, match_both, match_released
from discreet.evaluate.crowds.report import FoundPerson, LearntColumn, LearntValue
from discreet.evaluate.inputs import EvaluationInput, join_given
from discreet.evaluate.released_as import with_mapping
from discreet.evaluate.sensitive import SensitiveColumn
from discreet.runtime.integer_codes import add_up, distinct
from discreet.schema import parts_of

__all__ = ["find"]

_MOST_UNCHANGED = 12
"""Most columns released unchanged that are reported."""


def find(
    data: Any,
    known: Mapping[str, Any],
    *,
    original: Any = None,
    quasi_identifiers: str | Sequence[str] | Mapping[str, Any] | None = None,
    mapping: Any = None,
    sensitive: str | Sequence[str] | Mapping[str, Any] | None = None,
    types: Mapping[str, Any] | None = None,
    unknown: str | None = None,
    person: str | None = None,
) -> FoundPerson:
    """Look for a person as a neighbour would: count who matches what is known, and what that tells.

    With the ``original`` table the result is for the owner of the data: it has exact counts of original rows, or
    people. Without it, it says what everybody who has the release can find.

    Parameters
    ----------
    data
        The released table: a path, a frame of any kind, or a :class:`discreet.Release`. Or several tables that are
        linked by ``person``, that of people first, as in ``{"people": people, "visits": visits}``.
    known
        What is known about the person: the value of each column. A list means one of several values, and text such as
        ``"[30, 39]"`` or ``">= 65"`` a range. None means that the value is missing.
    original
        The table the release was made from.
    quasi_identifiers
        The columns that were made coarser, as a list or as a mapping to the hierarchies of the release; by default the
        columns that are known. A release knows its own.
    mapping
        The mapping of the release, which defines the released values; an alternative to hierarchies.
    sensitive
        The columns nobody should learn. A release knows its own.
    types
        The types of columns that would be inferred wrongly.
    unknown
        What marks a suppressed sensitive value, by default ``"*"`` where a sensitive column has it. With ``""`` nothing
        does.
    person
        The column that says whose row it is, where people may have several rows. People are counted in the tables that
        have the column, and rows in others. A release knows its own.

    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [31, 34, 38, 52], "ill": ["flu", "flu", "hiv", "flu"]})
    >>> safe = people.with_columns(age=pl.Series(["[31, 38]", "[31, 38]", "[31, 38]", "52"]))
    >>> person = find(safe, {"age": 34}, original=people, sensitive="ill")
    >>> person.before, person.after, round(person.learnt[0].certainty, 2)
    (1, 3, 0.67)
    >>> find(safe, {"age": 52}, sensitive="ill").sentences[-1]
    'All of them have ill = flu: that is learnt for certain.'

    """
    (data, original), quasi_identifiers = join_given((data, original), quasi_identifiers, person)
    facts = _facts(known)
    names = [fact.column for fact in facts]
    job = getattr(data, "job", None)
    roles = with_mapping(quasi_identifiers, mapping)
    if not roles and not job:
        roles = names
    table = open_source(getattr(data, "frame", data) if job else data)
    first = None if original is None else open_source(original)
    _check_columns(names, table, first)
    given = EvaluationInput.make(data, roles, sensitive, types)
    whose = _Whose.of(person, job or {}, table, first)
    after = whose.read(table, names)
    before = None if first is None else whose.read(first, names)
    matches = [_match(fact, i, before, after, given) for i, fact in enumerate(facts)]
    crowds = _Crowds(matches)
    with_role = {part for name in (*given.names, *given.secrets) for part in parts_of(name, table.columns)}
    unchanged = [column for column in table.columns if column not in {*names, *with_role, *whose.columns}]
    learnt = [column for column in (*given.secrets, *unchanged[:_MOST_UNCHANGED]) if column not in names]
    hiding = given.hiding(None, None)
    found = []
    for column in learnt:
        own = whose.read(table, names, [column])
        secret = column in given.secrets
        mark = hiding.mark(own, column, unknown) if secret else UNKNOWN
        both = None if first is None or column not in first.columns else whose.read(first, names, [column])
        read = SensitiveColumn(column, unknown=mark)
        told = LearntColumn(column, secret, crowds.values(read, both, own))
        surest = told.surest()
        found.append(told if surest is None else replace(told, usual=crowds.usual(read, own, surest.value)))
    notes = []
    if len(unchanged) > _MOST_UNCHANGED:
        notes.append(f"{len(unchanged) - _MOST_UNCHANGED} further columns are released unchanged and not shown here.")
    if whose.counted and after.owners is None:
        notes.append("In the release rows are counted, as it does not say whose they are; a person may have several.")
    return FoundPerson(
        known={fact.column: fact.text for fact in facts},
        before=None if before is None else _size(before, crowds.before(before)),
        after=_size(after, crowds.after(after)),
        rows=int(after.count.sum()),
        unit_before="row" if before is None or before.owners is None else whose.unit,
        unit_after="row" if after.owners is None else whose.unit,
        several_rows=whose.counted,
        learnt=tuple(each for each in found if each.values),
        notes=tuple(notes),
    )


class _Whose(NamedTuple):
    """Whether people are counted, and the columns that say whose rows they are."""

    person: str | None
    columns: tuple[str, ...]
    counted: bool
    unit: str

    @classmethod
    def of(cls, person: str | None, job: Mapping[str, Any], table: Source, original: Source | None) -> _Whose:
        """Take the column that was given, or else that of the release."""
        there = {*table.columns, *([] if original is None else original.columns)}
        if person is not None and person not in there:
            raise MissingColumnError(person, sorted(there))
        known = [str(job[role]) for role in ("person", "household") if job.get(role)]
        column = person or next((name for name in known if name in there), None)
        unit = "household" if column is not None and column == job.get("household") else "person"
        return cls(column, tuple(name for name in {*known, column} if name is not None), bool(person or known), unit)

    def read(self, table: Source, names: Sequence[str], sensitive: Sequence[str] = ()) -> CountedClasses:
        """Count a table, in people if it has the column."""
        return read_classes(table, names, sensitive, person=self.person if self.person in table.columns else None)


def _size(classes: CountedClasses, crowd: Mask) -> int:
    """Return the rows of a crowd, or the people who have any of them."""
    if classes.owners is None:
        return int(classes.sizes[crowd].sum())
    return int(distinct(classes.owners.person[crowd[classes.group]]).size)


def _facts(known: Any) -> list[Fact]:
    if not isinstance(known, Mapping) or not known:
        raise UsageError(
            "Say what is known about the person, as a value for each column, such as age=34.", topic="find"
        )
    return [Fact(str(column), value) for column, value in known.items()]


def _check_columns(names: Sequence[str], table: Source, original: Source | None) -> None:
    for name in names:
        if name in table.columns:
            continue
        if original is not None and name in original.columns:
            raise UsageError(
                f"Column '{name}' is not in the release, so knowing it does not help to find anybody there; leave it "
                "out.",
                column=name,
                topic="find",
            )
        raise MissingColumnError(name, table.columns)
    if original is not None:
        for name in names:
            if name not in original.columns:
                raise MissingColumnError(name, original.columns)


def _match(
    fact: Fact, index: int, before: CountedClasses | None, after: CountedClasses, given: EvaluationInput
) -> Matches:
    column = fact.column
    hierarchy, kind = given.hierarchies.get(column), given.types.get(column)
    if before is None:
        return match_released(fact, after.values[column], hierarchy, kind)
    rows = add_up(before.codes[index], before.sizes, before.width(column))
    return match_both(fact, before.values[column], rows, after.values[column], hierarchy, kind)


class _Crowds:
    """The classes of both tables that match all facts.

    Classes are read again for every further column; the values of the known columns and their order stay the same.
    """

    def __init__(self, matches: Sequence[Matches]) -> None:
        self._before = [match.before for match in matches]
        self._after = [match.after for match in matches]

    def before(self, classes: CountedClasses) -> Mask:
        """Return which classes of the original table match."""
        return _matching_classes(self._before, classes)

    def after(self, classes: CountedClasses) -> Mask:
        """Return which classes of the release match."""
        return _matching_classes(self._after, classes)

    def usual(self, column: SensitiveColumn, after: CountedClasses, value: str | None) -> float:
        """Return the share of a value in the whole release."""
        return _shares(column, after, np.ones_like(self.after(after))).get(value, 0.0)

    def values(
        self, column: SensitiveColumn, before: CountedClasses | None, after: CountedClasses
    ) -> tuple[LearntValue, ...]:
        """Return the values of a column in both crowds, the most frequent released first."""
        now = _shares(column, after, self.after(after))
        then = None if before is None else _shares(column, before, self.before(before))
        names = [*now, *(name for name in then or () if name not in now)]
        made = [
            LearntValue(
                name,
                None if not then else then.get(name, 0.0),
                None if not now else now.get(name, 0.0),
            )
            for name in names
        ]
        return tuple(sorted(made, key=lambda each: (-(each.after or 0.0), -(each.before or 0.0))))


def _matching_classes(masks: Sequence[Mask | None], classes: CountedClasses) -> Mask:
    fits: NDArray[np.bool_] = np.ones(classes.sizes.size, dtype=np.bool_)
    for mask, codes in zip(masks, classes.codes, strict=True):
        assert mask is not None
        fits &= mask[codes]
    return fits


def _shares(column: SensitiveColumn, classes: CountedClasses, crowd: Mask) -> dict[str | None, float]:
    """Return the share of a crowd that has each value; missing and suppressed values are None."""
    texts = [None if text == column.unknown else text for text in classes.texts(column.name).to_list()]
    names = list(dict.fromkeys(texts))
    there = crowd[classes.group]
    value = np.array([names.index(text) for text in texts], dtype=np.int64)[classes.secret[column.name][there]]
    if classes.owners is None:
        having = add_up(value, classes.count[there], len(names))
        total = int(having.sum())
    else:
        person = classes.owners.person[there]
        having = np.bincount(distinct(person * len(names) + value) % len(names), minlength=len(names))
        total = int(distinct(person).size)
    return {name: number / total for name, number in zip(names, having.tolist(), strict=True) if number}
