"""The equivalence classes of a table: grouped with the sensitive values, and then again without them.

Where people may have several rows, each combination of values also has the people with such a row. A class has as many
people as the union of theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.pipeline.audit.table import AuditedTable
from discreet.pipeline.audit.values import joined, nan_as_null
from discreet.pipeline.audit.weights import MILLION, millionths_of
from discreet.problem import Groups, PrivacyModel
from discreet.runtime.plurals import amount, listed
from discreet.schema import count_missing_marks

__all__ = [
    "KeySetClasses",
    "ReleasedClasses",
    "check_people",
    "described",
    "measure_key_sets",
    "read_classes",
    "secret_columns",
]

_DIRECT = 16
"""People with a value are looked up, rather than sorted, in at most so many cells for each row."""


@dataclass(frozen=True, eq=False)
class ReleasedClasses:
    """The equivalence classes with their sizes and, in long form, their sensitive values.

    Entry ``e`` says that ``count[e]`` rows of class ``group[e]`` have ``values[column][e]`` in each sensitive column.
    ``people`` is the sum of the survey weights of each class, if there are weights. If people are counted and not rows,
    person ``person[i]`` has rows of entry ``entry[i]``, and ``sizes`` are numbers of people.
    """

    keys: pl.DataFrame
    sizes: NDArray[np.int64]
    group: NDArray[np.int64]
    count: NDArray[np.int64]
    values: Mapping[str, pl.Series]
    people: NDArray[np.float64] | None = None
    entry: NDArray[np.int64] | None = None
    person: NDArray[np.int64] | None = None
    owned: NDArray[np.int64] | None = None
    """How many rows of the entry that person has."""
    class_of: NDArray[np.int64] | None = None
    """The class of each person, if nobody has rows of several."""

    @property
    def rows(self) -> int:
        """The number of rows of all classes."""
        return int(self.count.sum())

    @cached_property
    def owners(self) -> int | None:
        """The number of people in all classes; None if rows are counted."""
        return None if self.person is None else int(np.count_nonzero(np.bincount(self.person)))

    @property
    def memberships(self) -> tuple[NDArray[np.int64] | None, NDArray[np.int64] | None]:
        """The pairs of a class and a person in it, possibly repeated; None where nobody is in several classes."""
        if self.entry is None or self.person is None or self.class_of is not None:
            return None, None
        return self.group[self.entry], self.person

    def translated(
        self, columns: Sequence[str], read_back: Callable[[str, pl.Series], pl.Series], secrets: Collection[str]
    ) -> ReleasedClasses:
        """Return the same classes with the values before writing, of some sensitive columns alone.

        Values that were read as different stay different.
        """
        keys = [read_back(column, values) for column, values in zip(columns, self.keys, strict=True)]
        values = {column: read_back(column, self.values[column]) for column in secrets}
        return replace(self, keys=pl.DataFrame(dict(zip(self.keys.columns, keys, strict=True))), values=values)

    def attribute(self, parts: Sequence[str]) -> pl.Series:
        """Return the values of an attribute of one column, or of several combined."""
        if len(parts) == 1:
            return self.values[parts[0]]
        columns = pl.DataFrame({f"p{i}": self.values[part] for i, part in enumerate(parts)})
        return columns.select(joined([pl.col(name) for name in columns.columns])).to_series()

    def sizes_of(self, entries: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the number of rows, or of people, of each class in some entries."""
        if entries.all():
            return self.sizes
        cells, count = self.counted(np.zeros(self.group.size, dtype=np.int64), 1, entries)
        sizes = np.zeros(self.sizes.size, dtype=np.int64)
        sizes[cells] = count
        return sizes

    def counted(
        self, value: NDArray[np.int64], width: int, entries: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Count the values of each class: return ``class * width + value`` of those that occur, and rows or people.

        ``value`` is that of each entry, below ``width``; only some ``entries`` count.
        """
        cell = self.group * width + value
        if self.entry is None or self.person is None:
            cells, index = np.unique(cell[entries], return_inverse=True)
            count = np.zeros(cells.size, dtype=np.int64)
            np.add.at(count, index, self.count[entries])
            return cells, count
        entry, person = _within(self.entry, self.person, entries)
        if self.class_of is not None and self.class_of.size * width <= _DIRECT * entry.size:
            having = np.flatnonzero(_marked(person * width + value[entry], self.class_of.size * width))
            counts = np.bincount(self.class_of[having // width] * width + having % width)
            return (cells := np.flatnonzero(counts)), counts[cells]
        people = int(person.max(initial=0)) + 1
        pairs = np.sort(cell[entry] * people + person)
        of_cell = pairs[_first_of_each(pairs)] // people
        start = np.flatnonzero(_first_of_each(of_cell))
        return of_cell[start], np.diff(np.append(start, of_cell.size))

    def profiles(self) -> NDArray[np.int64]:
        """Return how many people have each profile: their released rows, as many of each class as they have."""
        assert self.entry is not None
        table = pl.DataFrame({"person": self.person, "class": self.group[self.entry], "rows": self.owned})
        rows = table.group_by("person", "class").agg(pl.col("rows").sum()).sort("person", "class")
        texts = rows.select("person", row=pl.format("{}x{}", "rows", "class"))
        profile = texts.group_by("person", maintain_order=True).agg(pl.col("row").str.join(" "))
        return profile.group_by("row").len()["len"].to_numpy().astype(np.int64)

    def with_people(
        self, entry: NDArray[np.int64], person: NDArray[np.int64], owned: NDArray[np.int64]
    ) -> ReleasedClasses:
        """Return the same classes with the people who have rows of each entry; sizes become numbers of people."""
        class_of = np.full(int(person.max(initial=-1)) + 1, -1, dtype=np.int64)
        group = self.group[entry]
        class_of[person] = group
        if np.array_equal(class_of[person], group):
            sizes = np.bincount(class_of[class_of >= 0], minlength=self.sizes.size)
            return replace(self, entry=entry, person=person, owned=owned, sizes=sizes, class_of=class_of)
        known = replace(self, entry=entry, person=person, owned=owned)
        cells, count = known.counted(np.zeros_like(self.group), 1, np.ones(self.group.size, dtype=np.bool_))
        sizes = np.zeros(self.sizes.size, dtype=np.int64)
        sizes[cells] = count
        return replace(known, sizes=sizes)

    def in_classes(self, group: NDArray[np.int64]) -> ReleasedClasses:
        """Return the same entries in other classes: somebody in several that were joined counts once."""
        return replace(self, group=group, class_of=None)

    def totals(self, value: NDArray[np.int64], width: int, entries: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Count the rows, or the people, that have each value in any class."""
        if self.person is not None and self.entry is not None:
            entry, person = _within(self.entry, self.person, entries)
            people = int(person.max(initial=-1)) + 1
            if people * width <= _DIRECT * entry.size:
                having = _marked(person * width + value[entry], people * width)
                return np.asarray(having.reshape(people, width).sum(axis=0))
        one = self.in_classes(np.zeros(self.group.size, dtype=np.int64))
        cells, count = one.counted(value, width, entries)
        total = np.zeros(width, dtype=np.int64)
        total[cells] = count
        return total


def _within(
    entry: NDArray[np.int64], person: NDArray[np.int64], entries: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs of entry and person that are of some entries."""
    if entries.all():
        return entry, person
    known = entries[entry]
    return entry[known], person[known]


def _marked(keys: NDArray[np.int64], span: int) -> NDArray[np.bool_]:
    """Return which numbers below ``span`` are among some keys."""
    there = np.zeros(span, dtype=np.bool_)
    there[keys] = True
    return there


def _first_of_each(ordered: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which of some numbers in order differ from the one before."""
    first = np.ones(ordered.size, dtype=np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    return first


def read_classes(
    table: AuditedTable,
    columns: Sequence[str],
    attributes: Mapping[str, Sequence[str]],
    weights: str | None = None,
    person: str | None = None,
) -> ReleasedClasses:
    """Group a table by its quasi-identifiers and the columns of its sensitive attributes.

    With the column ``person``, people are counted instead of rows.
    """
    keys = {f"q{i}": column for i, column in enumerate(columns)}
    secrets = {f"s{i}": column for i, column in enumerate(secret_columns(attributes))}
    owner = {} if person is None else {"p": person}
    cells = table.groups({**keys, **secrets, **owner}, weights)
    sums = [pl.col("rows").sum()]
    if weights is not None:
        cells = cells.with_columns(millionths=pl.Series(millionths_of(weights, cells), dtype=pl.Float64))
        sums.append(pl.col("millionths").sum())
    if any(cells[name].dtype.is_float() and cells[name].is_nan().any() for name in secrets):
        cells = cells.with_columns(nan_as_null(cells.select(list(secrets))).get_columns())
        cells = cells.group_by([*keys, *secrets, *owner], maintain_order=True).agg(sums)
    if person is not None:
        check_people(person, cells["p"], cells["rows"])
        cells = cells.with_columns(pl.col("p").rank("dense").cast(pl.Int64))
        each = pl.col("rows").alias("r")
        cells = cells.group_by([*keys, *secrets], maintain_order=True).agg("p", each, *sums)
    grouped = cells.group_by(list(keys), maintain_order=True).agg(
        pl.col("rows").alias("count"),
        *secrets,
        *([] if person is None else ["p", "r"]),
        *(each.name.suffix("_sum") for each in sums),
    )
    lengths = grouped["count"].list.len().to_numpy().astype(np.int64)
    classes = ReleasedClasses(
        keys=grouped.select(list(keys)),
        sizes=grouped["rows_sum"].to_numpy().astype(np.int64),
        group=np.repeat(np.arange(lengths.size, dtype=np.int64), lengths),
        count=grouped["count"].explode().to_numpy().astype(np.int64),
        values={column: grouped[name].explode() for name, column in secrets.items()},
        people=None if weights is None else grouped["millionths_sum"].to_numpy() / MILLION,
    )
    if person is None:
        return classes
    people = grouped["p"].explode()
    several = people.list.len().to_numpy().astype(np.int64)
    entry = np.repeat(np.arange(several.size, dtype=np.int64), several)
    owned = grouped["r"].explode().explode().to_numpy().astype(np.int64)
    return classes.with_people(entry, people.explode().to_numpy().astype(np.int64), owned)


def secret_columns(attributes: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the columns of sensitive attributes, each once."""
    return list(dict.fromkeys(part for own in attributes.values() for part in own))


def check_people(column: str, people: pl.Series, rows: pl.Series) -> None:
    """Raise DataError if rows do not say whose they are, or say so by a text that means a missing value."""
    missing = int(rows.filter(people.is_null()).sum())
    if missing:
        raise DataError(
            f"Column '{column}', which says whose row it is, has no value in {amount(missing, 'row')}, so that nobody "
            "can count the people; fill it in, give each of those rows a value of its own, or leave them out.",
            column=column,
            topic="people",
        )
    for mark, number in count_missing_marks(people, rows).items():
        if number > 1:
            raise DataError(
                f"Column '{column}', which says whose row it is, has the text {mark} in {amount(number, 'row')}, which "
                "would count as one person; give each of those rows a value of its own, or leave them out.",
                column=column,
                topic="people",
            )


@dataclass(frozen=True)
class KeySetClasses:
    """The classes that some of the quasi-identifiers form by themselves."""

    columns: tuple[str, ...]
    classes: int
    reached: float
    """What the promise reaches on them: for k the size of the smallest, infinite if there is none."""


def measure_key_sets(model: PrivacyModel, columns: Sequence[str], classes: ReleasedClasses) -> list[KeySetClasses]:
    """Measure a promise on the classes of each of its key sets; empty if it has none."""
    name_of = dict(zip(columns, classes.keys.columns, strict=True))
    keys = classes.keys.with_row_index("class")
    none, entries = np.zeros(0, dtype=np.int64), np.ones(classes.group.size, dtype=np.bool_)
    found = []
    for key_set in model.key_sets(columns):
        joint = keys.group_by([name_of[column] for column in key_set], maintain_order=True).agg("class")["class"]
        number = np.zeros(classes.sizes.size, dtype=np.int64)
        number[joint.explode().to_numpy()] = np.repeat(np.arange(len(joint)), joint.list.len().to_numpy())
        coarser = classes.in_classes(number[classes.group])
        _, sizes = coarser.counted(np.zeros(classes.group.size, dtype=np.int64), 1, entries)
        reached = model.reached(Groups(sizes, none, none, none, none))
        found.append(KeySetClasses(key_set, len(joint), float(reached)))
    return found


def described(found: Sequence[KeySetClasses]) -> str:
    """Return in a few words which of several key sets reaches least; empty if there is only one."""
    if len(found) < 2:
        return ""
    weakest = min(found, key=lambda each: each.reached)
    return f"{amount(len(found), 'key set')}; least by {listed(weakest.columns)}"
