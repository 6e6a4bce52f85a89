"""What attacks are run on: the release, what attackers know, and which released row is whose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.counts import FloatArray, IntArray
from discreet.engines import open_source, to_lazy
from discreet.errors import DiscreetError, UsageError
from discreet.evaluate.attacks._base import NotModelled
from discreet.evaluate.candidates import Candidates, ColumnMatch, join_columns
from discreet.evaluate.classes import CountedClasses, read_classes
from discreet.evaluate.inputs import EvaluationInput, Hiding
from discreet.evaluate.row_classes import class_of_rows, draw_rows
from discreet.evaluate.sensitive import MatchedValues, SensitiveColumn, match_values
from discreet.runtime.integer_codes import add_up
from discreet.schema import Type, numbers_of, plain, text_of

if TYPE_CHECKING:
    from discreet.evaluate.attacks._people import AttackedPeople

__all__ = ["AttackTarget", "Belonging", "Outsiders", "candidates_of", "shares"]

_MOST_PAIRS = 20_000_000
"""Most pairs of an original and a released class that are kept."""
_FITTING = 30
"""Rounds of proportional fitting."""


@dataclass(frozen=True, eq=False)
class Belonging:
    """How many people of each original class are in each released class, for the pairs that occur."""

    original: IntArray
    released: IntArray
    people: FloatArray
    exact: bool
    """Whether it is known, rather than fitted to the sizes of overlapping classes."""


@dataclass(frozen=True, eq=False)
class Outsiders:
    """People of another table, counted by class, and the released classes that cover them."""

    classes: CountedClasses
    candidates: Candidates
    values: Mapping[str, MatchedValues]
    """Their sensitive values, for the columns the table has."""
    sizes: IntArray
    """The sizes of the released classes."""

    @cached_property
    def matched(self) -> Belonging:
        """The released classes that cover the people, each person shared out by the sizes of the classes."""
        found = [(some[index], released) for some, index, released in self.candidates.found()]
        original, released = (np.concatenate(each) for each in zip(*found, strict=True))
        share = self.sizes[released].astype(np.float64)
        total = np.bincount(original, weights=share, minlength=self.classes.sizes.size)
        return Belonging(original, released, self.classes.sizes[original] * share / total[original], exact=False)


@dataclass(frozen=True, eq=False)
class AttackTarget:
    """A release under attack. ``before`` are the original people, ``after`` the released classes."""

    original: Any
    released: Any
    """As it was given: a table, or a release."""
    given: EvaluationInput
    before: CountedClasses
    after: CountedClasses
    candidates: Candidates
    """The released classes that cover each original class."""
    columns: Mapping[str, SensitiveColumn]
    values: Mapping[str, MatchedValues]
    """For each sensitive column, its values in both tables."""
    hiding: Hiding
    seed: int
    control_table: Any = None
    population_table: Any = None
    earlier: tuple[Any, ...] = ()
    """Earlier releases of the same or overlapping people."""
    minimality: dict[str, Any] = field(default_factory=dict)
    """The figures of the minimality attack, which are shown in two places."""
    people: AttackedPeople | None = None
    """Who is attacked where people are counted; ``before`` are then drawn rows, one of each person."""
    whose: str | None = None
    """The column that says so."""

    @property
    def everybody(self) -> CountedClasses:
        """All original rows."""
        return self.before if self.people is None else self.people.everybody

    @property
    def of_everybody(self) -> Candidates:
        """The released classes that cover each class of all original rows."""
        return self.candidates if self.people is None else self.people.of_everybody

    def rng(self) -> np.random.Generator:
        """Return a generator of random numbers, the same for the same seed."""
        return np.random.default_rng(self.seed)

    @cached_property
    def overlapping(self) -> bool:
        """Whether several released values may cover the same original value: the recoding is local."""
        return any(match.single is None for match in self.candidates.matches)

    @cached_property
    def covers_people(self) -> bool:
        """Whether most released rows cover somebody of the original table, which means of numbers do not."""
        covering = np.zeros(self.after.sizes.size, dtype=np.bool_)
        for _, _, released in self.of_everybody.found():
            covering[released] = True
        return 2 * float(self.after.sizes[covering].sum()) >= float(self.after.sizes.sum())

    def check_covers_people(self) -> None:
        """Raise NotModelled if the attacker could not find anybody by looking for rows that cover them."""
        if not self.covers_people:
            raise NotModelled("most released rows cover nobody of the original table, as means do; see distance")

    @cached_property
    def k(self) -> int:
        """The least number of people in a class that attackers may rely on: the promise, or what they see."""
        promised = [m.minimum_size for m in self.hiding.models if m.name == "k" and not m.key_sets(self.given.names)]
        return max(promised) if promised else int(self.after.sizes.min())

    @cached_property
    def control(self) -> Outsiders | None:
        """People who are not in the release; None if no table of them was given."""
        return None if self.control_table is None else self._outsiders(self.control_table, "control group")

    @cached_property
    def population(self) -> Outsiders | None:
        """The people the original table was drawn from; None if no table of them was given."""
        return None if self.population_table is None else self._outsiders(self.population_table, "population")

    def _outsiders(self, table: Any, what: str) -> Outsiders:
        source = open_source(table)
        if self.people is not None and self.whose in source.columns:
            rows = to_lazy(table).collect()
            source = open_source(rows[draw_rows(rows, str(self.whose), self.seed)])
        secrets = [name for name in self.columns if name in source.columns]
        try:
            classes = read_classes(source, self.given.names, secrets)
        except DiscreetError as error:
            raise UsageError(f"The {what} cannot be used: {error.message}", topic=error.topic) from None
        candidates = candidates_of(self.candidates, classes)
        values = {name: match_values(classes, self.after, self.columns[name]) for name in secrets}
        return Outsiders(classes, candidates, values, self.after.sizes)

    @cached_property
    def belonging(self) -> Belonging:
        """Which released class the people of each original class are in."""
        known = self._known_belonging()
        if known is not None:
            return known
        if self.candidates.pairs > _MOST_PAIRS:
            raise NotModelled("there are too many classes to tell who is in which")
        found = [(some[index], released) for some, index, released in self.candidates.found()]
        original, released = (np.concatenate(each) for each in zip(*found, strict=True))
        if not original.size:
            raise NotModelled("nobody of the original table matches a released row")
        people = np.ones(original.size)
        alone = not (np.bincount(original) > 1).any()
        for _ in range(1 if alone else _FITTING):
            sides = [(original, self.before.sizes), (released, self.after.sizes)]
            for owner, sizes in sides if self.people is None else reversed(sides):
                total = np.bincount(owner, weights=people, minlength=sizes.size)
                people *= np.divide(sizes, total, out=np.zeros(sizes.size), where=total > 0)[owner]
        return Belonging(original, released, people, exact=alone)

    def _known_belonging(self) -> Belonging | None:
        """Return who is in which class if the release knows; None if it does not, or if it is plain anyway."""
        rows_of = getattr(self.released, "rows_of", None)
        if rows_of is None or not (self.overlapping or (self.candidates.length == 0).any()):
            return None
        try:
            numbers = rows_of(self.original).to_numpy()
            after = self.class_of_rows(self.given.table, self.after)
            if self.people is None:
                before = self.class_of_rows(self.original, self.before)[numbers]
            else:  # of the rows that are attacked
                place = np.minimum(np.searchsorted(self.people.drawn, numbers), self.people.drawn.size - 1)
                kept = self.people.drawn[place] == numbers
                before = self.class_of_rows(self.people.rows, self.before)[place[kept]]
                after = after[kept]
        except (DiscreetError, NotModelled, pl.exceptions.PolarsError):
            return None
        if before.size != after.size:  # another table than the release was made from
            return None
        key, people = np.unique(before * self.after.sizes.size + after, return_counts=True)
        size = self.after.sizes.size
        return Belonging(key // size, key % size, people.astype(np.float64), exact=True)

    def class_of_rows(self, table: Any, classes: CountedClasses) -> IntArray:
        """Return the class of each row of a table, in the order of its rows."""
        try:
            return class_of_rows(table, classes)
        except DiscreetError as error:
            raise NotModelled("the rows have no order, or a quasi-identifier is made of several columns") from error

    def histogram(self, column: str) -> FloatArray:
        """Return how many rows of each released class show each value of a sensitive column."""
        matched = self.values[column]
        group, value, count = matched.released
        size = self.after.sizes.size * matched.values
        if size > _MOST_PAIRS:
            raise NotModelled(f"'{column}' has too many values")
        shown = np.bincount(group * matched.values + value, weights=count, minlength=size)
        return np.asarray(shown.reshape(-1, matched.values), dtype=np.float64)

    def truth(self, column: str) -> FloatArray:
        """Return the share of the people of each original class that has each value of a sensitive column."""
        return shares(self.values[column], self.before.sizes)

    def composition(self, pairs: Belonging, child: IntArray, children: int) -> FloatArray:
        """Return how many people of each released class are in each child, given the child of each pair (or -1)."""
        kept = child >= 0
        key = pairs.released[kept] * children + child[kept]
        size = self.after.sizes.size
        people = np.bincount(key, weights=pairs.people[kept], minlength=size * children)
        return np.asarray(people.reshape(size, children), dtype=np.float64)

    def released_rows(self, column: int) -> IntArray:
        """Return the number of rows with each released value of a quasi-identifier."""
        match = self.candidates.matches[column]
        return add_up(match.value, self.after.sizes, match.spread.low.size)


def candidates_of(candidates: Candidates, people: CountedClasses) -> Candidates:
    """Return the released classes that cover people of another table, which may have further columns."""
    matches = tuple(
        replace(match, leaf=_leaves(match, people.values[name])[people.codes[people.columns.index(name)]])
        for match in candidates.matches
        for name in [match.domain.name]
    )
    return join_columns(matches, people.sizes.size, candidates.order.size)


def shares(matched: MatchedValues, sizes: IntArray) -> FloatArray:
    """Return the share of the people of each class of the first table that has each value of a sensitive column."""
    group, value, count = matched.original
    size = sizes.size * matched.values
    if size > _MOST_PAIRS:
        raise NotModelled(f"'{matched.column}' has too many values")
    found = np.bincount(group * matched.values + value, weights=count, minlength=size).reshape(-1, matched.values)
    return found / sizes[:, np.newaxis]


def _leaves(match: ColumnMatch, values: pl.Series) -> IntArray:
    """Return the leaf of other values of a column: the same text or the nearest number, -1 if there is none."""
    domain = match.domain
    texts = text_of(plain(domain.name, values))
    index = {text: leaf for leaf, text in enumerate(domain.labels[0])}
    leaves = np.array([index.get(text, -1) for text in texts.to_list()], dtype=np.int64)
    unseen = (leaves < 0) & texts.is_not_null().to_numpy()
    if domain.positions is None or not unseen.any():
        return leaves
    known = np.flatnonzero(~np.isnan(domain.positions))
    kind = Type.DATE if domain.type is Type.DATE else Type.DECIMAL
    numbers = numbers_of(domain.name, texts.filter(pl.Series(unseen, dtype=pl.Boolean)), kind).astype(np.float64)
    above = np.clip(np.searchsorted(domain.positions[known], numbers), 1, max(known.size - 1, 1))
    below = domain.positions[known[above - 1]]
    nearer = np.abs(numbers - below) <= np.abs(domain.positions[known[np.minimum(above, known.size - 1)]] - numbers)
    leaves[unseen] = known[np.where(nearer, above - 1, np.minimum(above, known.size - 1))]
    return leaves
