"""What no partitions that are left can cost less than, added up from what each attribute alone must cost.

Every attribute is looked at by itself: the others are taken as general as they may still get where it matters which
rows are suppressed, and as specific as they may still get where it matters what published rows cost. Its cheapest
partition is then found exactly. These least costs may be added up because each is given a share of its own:

* separable costs have a part for each attribute;
* the squares of discernibility count pairs of rows of one class; a pair that differs in one attribute only is that
  attribute's;
* what a suppressed row costs is divided so that each attribute has at least what it could cost published there, and
  the rest goes to the attributes that are open.

The minority labels of a class have no such parts: there the largest of the bounds is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.counts import Histogram
from discreet.errors import UnsupportedCombinationError
from discreet.kernels.blocks import (
    FIXED,
    MINORITY,
    MOMENT,
    SEPARABLE,
    SHARE,
    SIZE,
    SQUARES,
    add_keys,
    link_groups,
    list_classes,
    most_published,
    number,
    price_blocks,
    split_squares,
)
from discreet.problem import Classes, Problem
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.solve._choices import Choices, Items, Priced, Script
from discreet.solve._gather import dense

__all__ = ["Bounds", "Look"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_FEW = 1 << 16
"""Keys below this number are looked up in a table."""
_NARROW = 0.05
"""Values must be kept from so many of the pairs that most general blocks allow, to be worth looking at."""
_CLASSES = 1 << 16
"""So many classes are judged at once to begin with."""


@dataclass(frozen=True, eq=False)
class Look:
    """What is known of some choices.

    ``total`` is a number that no partition costs less than; ``each`` holds the priced choices of the attributes that
    were looked at, and None for others; ``exact`` says that the total is the cost of the cheapest partition unless
    that suppresses too much.
    """

    total: float
    each: tuple[Priced | None, ...]
    exact: bool


class Bounds:
    """Finds bounds for choices of all attributes of one problem."""

    def __init__(self, problem: Problem, items: Sequence[Items]) -> None:
        table = problem.table
        self.problem, self.items, self.limit = problem, list(items), float(problem.limit)
        self.weight = table.weights.astype(np.float64)
        self.codes = np.stack([each.codes for each in items])
        tuples, attributes = table.tuples, len(self.items)
        separable = problem.cost.separable(table)
        self.kind = _kind(problem)
        self.moment, self.offset = np.zeros((attributes, tuples)), np.zeros((attributes, tuples))
        if self.kind == SEPARABLE and separable is not None:
            for a, codes in enumerate(table.codes):
                self.moment[a] = separable.moment[a][codes] * self.weight
                self.offset[a] = separable.offset[a][codes] * self.weight
            penalties = [penalty[codes] for penalty, codes in zip(separable.penalty, table.codes, strict=True)]
            self.penalty = np.sum(penalties, axis=0) * self.weight
        else:
            self.penalty = self.weight * (table.n if self.kind == SQUARES else 1)
        self.labels = np.zeros((tuples, 1))
        if self.kind == MINORITY and table.labels is not None:
            self.labels = dense(table.labels, tuples).astype(np.float64)
        self.compiled = all(type(model) is KAnonymity for model in problem.privacy)
        self.least = float(problem.smallest_class)
        self.histograms = [] if self.compiled else self._watched()
        widest = max(_FEW, 1 << (2 * tuples).bit_length())
        self.table, self.found = np.zeros(widest, dtype=np.int64), np.zeros(widest, dtype=np.int64)
        self.fine = np.zeros((attributes, max(each.count for each in items)), dtype=np.int64)
        self.top = np.zeros_like(self.fine)
        self.fine_key, self.top_key = np.zeros(tuples, dtype=np.int64), np.zeros(tuples, dtype=np.int64)
        self.core, self.group = np.zeros((attributes, tuples), dtype=np.int64), np.zeros(tuples, dtype=np.int64)
        self.most = np.zeros((attributes, tuples))
        self.within = np.zeros((tuples + 1, self.labels.shape[1]))
        self.sums, self.reach = np.zeros((tuples + 1, 4)), np.zeros(tuples + 1)
        self.wide = np.zeros(tuples, dtype=np.int64)
        self.identity = np.arange(tuples + 1, dtype=np.int64)
        self.blocks_priced = 0

    def _watched(self) -> list[Histogram]:
        table = self.problem.table
        names = sorted({str(getattr(model, "attribute", "")) for model in self.problem.privacy})
        return [table.sensitive[name] for name in names if name in table.sensitive]

    @property
    def one_bound(self) -> bool:
        """Whether the total is the largest of the attributes' bounds rather than their sum."""
        return self.kind == MINORITY

    def look(self, choices: Sequence[Choices], enough: float = np.inf) -> Look:
        """Price what is open; stops as soon as the total reaches ``enough``."""
        open_ = [a for a, choice in enumerate(choices) if not choice.decided]
        exact = len(open_) <= 1
        looked_at = sorted(open_ or [0], key=lambda a: choices[a].items.count)
        self._number(choices)
        total, slack = self._divide(choices, looked_at)
        each: list[Priced | None] = [None] * len(choices)
        for a in looked_at:
            room = enough - (0.0 if self.one_bound else total)
            priced = self._price(a, choices, self.most[a] + slack / len(looked_at), exact, room)
            each[a] = priced
            total = max(total, priced.least) if self.kind == MINORITY else total + priced.least
            if total >= enough or priced.fewest > self.limit:
                total = total if priced.fewest <= self.limit else np.inf
                break
        return Look(total, tuple(each), exact)

    def _number(self, choices: Sequence[Choices]) -> None:
        """Number the most general and the most specific classes that are possible in all attributes."""
        self.radix_top, self.radix_fine = [np.ones(len(choices) + 1, dtype=np.int64) for _ in range(2)]
        for a, choice in enumerate(choices):
            self.fine[a, : choice.fine.size] = choice.fine
            self.top[a, : choice.top.size] = choice.top
            self.radix_top[a + 1] = self.radix_top[a] * choice.tops
            self.radix_fine[a + 1] = self.radix_fine[a] * choice.fines
        add_keys(self.codes, self.top, self.radix_top, self.top_key)
        if self.kind != SEPARABLE:
            add_keys(self.codes, self.fine, self.radix_fine, self.fine_key)

    def _divide(self, choices: Sequence[Choices], looked_at: Sequence[int]) -> tuple[float, Floats]:
        """Find what is certain without any attribute that is looked at, and what each tuple has left to divide."""
        if self.kind == MINORITY:
            for a in looked_at:
                self._without(a, self.fine_key, self.fine[a], self.radix_fine, self.core[a])
            self.most[:] = 0.0
            return 0.0, self.penalty * len(looked_at)
        if self.kind == SEPARABLE:
            for a, choice in enumerate(choices):
                most_published(self.codes[a], choice.most_rates(), self.moment[a], self.offset[a], self.most[a])
            certain = sum(float(self.most[a].sum()) for a in range(len(choices)) if a not in looked_at)
            return certain, self.penalty - self.most.sum(axis=0)
        count = number(
            self.fine_key, self.codes[0], self.fine[0], 0, int(self.radix_fine[-1]), self.table, self.found, self.group
        )
        alone: Floats = np.bincount(self.group, weights=self.weight, minlength=count).astype(np.float64)
        slack = self.penalty - self.weight * alone[self.group]
        each = alone[self.group]
        self.most[:] = 0.0
        for a in looked_at:
            self._without(a, self.fine_key, self.fine[a], self.radix_fine, self.core[a])
            if not choices[a].decided:
                split_squares(
                    self.codes[a],
                    self.items[a].entries,
                    self.top[a],
                    self.core[a],
                    self.weight,
                    self.within[:, 0],
                    each,
                    self.most[a],
                )
                slack -= self.most[a]
        return float((alone**2).sum()), slack

    def _without(self, a: int, keys: Ints, own: Ints, radix: Ints, numbers: Ints) -> int:
        """Number the classes of all attributes but one."""
        span = int(radix[-1])
        return int(number(keys, self.codes[a], own, int(radix[a]), span, self.table, self.found, numbers))

    def _price(self, a: int, choices: Sequence[Choices], share: Floats, exact: bool, room: float) -> Priced:
        choice = choices[a]
        script = choice.script()
        self.blocks_priced += script.rates.size
        if self.compiled:
            link_starts, links = self._link(a, choices)
            cost, gone = np.empty(script.rates.size), np.empty(script.rates.size)
            price_blocks(
                self.kind,
                self.least,
                script.steps,
                script.starts,
                script.entries,
                self.group,
                link_starts,
                links,
                self.core[a],
                self.weight,
                share,
                self.moment[a],
                self.offset[a],
                self.labels,
                script.rates,
                self.within,
                self.sums,
                self.reach,
                cost,
                gone,
            )
        else:
            groups = self._without(a, self.top_key, self.top[a], self.radix_top, self.group)
            cost, gone = self._judge(a, script, share, groups, exact)
        if self.limit in (0, self.problem.table.n):  # no sum of rows can go over such limits
            cost[gone > self.limit] = np.inf
            gone[:] = 0.0
        return choice.priced(cost, gone, room)

    def _link(self, a: int, choices: Sequence[Choices]) -> tuple[Ints, Ints]:
        """Group the tuples by all other attributes, and say which groups may come together in one class.

        Of one other attribute it is regarded which values may be in one block with each value; of the rest only the
        most general blocks there are.
        """
        windowed = [(choices[b].narrowness, b) for b in range(len(choices)) if b != a and not choices[b].decided]
        narrow, b = max(windowed, default=(0.0, -1))
        groups = self._without(a, self.top_key, self.top[a], self.radix_top, self.group)
        if narrow < _NARROW:
            return self.identity, self.identity
        wide, self.group = self.group, self.wide
        self.wide = wide
        near = choices[b].near()
        pieces = near.shape[0]
        item = self.fine[b][self.codes[b]]
        place = np.full(groups * pieces, -1, dtype=np.int64)
        where = wide * pieces + item
        place[where] = 0
        held = np.flatnonzero(place == 0)
        place[held] = np.arange(held.size)
        self.group[:] = place[where]
        tuples = np.empty(held.size, dtype=np.int64)
        tuples[self.group] = self.identity[:-1]
        starts = np.empty(held.size + 1, dtype=np.int64)
        links = np.empty(int(near.sum(axis=0)[item[tuples]].sum()), dtype=np.int64)
        link_groups(wide, item, tuples, near, place, starts, links)
        return starts, links

    def _judge(self, a: int, script: Script, share: Floats, groups: int, exact: bool) -> tuple[Floats, Floats]:
        """Price blocks through the arrays every privacy model understands."""
        tuples, table = self.problem.table.tuples, self.problem.table
        histogram = np.concatenate(
            [dense(h, tuples) for h in self.histograms] or [np.zeros((tuples, 0), dtype=np.int64)], axis=1
        )
        room = _CLASSES
        while True:
            counts = np.zeros((groups, histogram.shape[1]), dtype=np.int64)
            asked, classes = np.empty(room, dtype=np.int64), np.empty((room, 4))
            counted = np.empty((room, histogram.shape[1]), dtype=np.int64)
            found = list_classes(
                self.kind,
                script.steps,
                script.starts,
                script.entries,
                self.group,
                self.core[a],
                self.weight,
                share,
                self.moment[a],
                self.offset[a],
                self.labels,
                histogram,
                self.within,
                self.sums,
                counts,
                np.empty(groups, dtype=np.int64),
                asked,
                classes,
                counted,
            )
            if found >= 0:
                break
            room = -found
        asked, classes, counted = asked[:found], classes[:found], counted[:found]
        ends = np.cumsum([h.cardinality for h in self.histograms])[:-1]
        named = dict(zip([h.name for h in self.histograms], np.split(counted, ends, axis=1), strict=False))
        seen = Classes(table, np.rint(classes[:, SIZE]).astype(np.int64), sensitive=named)
        lost = self._lost(seen, exact)
        bad = lost >= seen.sizes
        each = np.where(bad, classes[:, SHARE], classes[:, FIXED] + script.rates[asked] * classes[:, MOMENT])
        blocks = script.rates.size
        cost, gone = (np.bincount(asked, weights=numbers, minlength=blocks) for numbers in (each, lost))
        return cost.astype(np.float64), gone.astype(np.float64)

    def _lost(self, classes: Classes, exact: bool) -> Ints:
        """The rows of each class that are suppressed: all or none of a class, the fewest where it may be divided."""
        problem = self.problem
        if exact:
            return np.where(problem.ok(classes), 0, classes.sizes)
        return problem.fewest_removed(classes)


def _kind(problem: Problem) -> int:
    separable = problem.cost.separable(problem.table)
    if separable is not None and separable.block_rate is not None:
        return SEPARABLE
    if problem.cost.compiled == "squares":
        return SQUARES
    if problem.cost.compiled == "minority":
        return MINORITY
    raise UnsupportedCombinationError(
        "The solver partitions",
        f"the cost {problem.cost.name}",
        "it does not say what any block of values costs; choose LM, DM, HDM, CM or entropy",
    )
