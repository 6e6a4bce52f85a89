"""What no partitions that are left can cost less than, added up from what each attribute alone must cost.

Every attribute is looked at by itself: the others are taken as general as they may still get where it matters which
rows are suppressed, and as specific as they may still get where it matters what published rows cost. Its cheapest
partition is then found exactly. These least costs may be added up because each is given a share of its own:

* separable costs have a part for each attribute;
* the squares of discernibility count pairs of rows of one class; a pair that differs in one attribute only is that
  attribute's;
* what a suppressed row costs is divided so that each attribute has at least what it could cost published there, and
  the rest goes to the attributes that are open, most of it to those whose cheapest partitions suppressed the row
  before.

The minority labels of a class have no such parts: there the largest of the bounds is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.counts import Histogram, IntArray
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
    add_up,
    link_groups,
    list_classes,
    most_published,
    number,
    price_blocks,
    sort_by_piece,
    split_squares,
)
from discreet.problem import Classes, Problem
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.solve._choices import Choices, Items, Priced, Script
from discreet.solve._gather import dense

__all__ = ["Bounds", "InterruptedLook", "Look", "kind_of_cost"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_FEW = 1 << 16
"""Keys below this number are looked up in a table."""
_NARROW = 0.05
"""Values must be kept from so many of the pairs that most general blocks allow, to be worth looking at."""
_MORE, _MOST = 1.3, 100.0
"""By what the claim of an attribute grows to tuples that its cheapest partition suppresses, and up to what."""
_CLASSES = 1 << 16
"""So many classes are judged at once."""


class InterruptedLook(Exception):  # noqa: N818
    """There was no time to look at everything."""


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
        self.problem, self.limit = problem, float(problem.limit)
        self.codes = np.stack([each.codes for each in items])
        self.kind = kind_of_cost(problem)
        self.compiled = all(type(model) is KAnonymity for model in problem.privacy)
        self.least = float(problem.smallest_class)
        self.attributes, tuples = len(items), table.tuples
        self.histograms = [] if self.compiled else _watched(problem)
        self.columns = self._columns()
        widest = max(_FEW, 1 << (2 * tuples).bit_length())
        self.table, self.found = np.zeros(widest, dtype=np.int64), np.zeros(widest, dtype=np.int64)
        self.fine = np.zeros((self.attributes, max(each.count for each in items)), dtype=np.int64)
        self.top = np.zeros_like(self.fine)
        self.blocks_priced = 0
        self.interrupted: Callable[[], bool] = lambda: False
        """Asked before each attribute whether to give up looking."""
        self.claims = np.ones((self.attributes, tuples))
        """In what proportion the attributes share what is left to divide of each tuple."""

    def _columns(self) -> Floats:
        """What is added up over tuples: rows, their cost suppressed, moments and offsets, labels, sensitive values."""
        table = self.problem.table
        weight = table.weights.astype(np.float64)
        penalty = weight * (table.n if self.kind == SQUARES else 1)
        parts: list[Floats] = []
        separable = self.problem.cost.separable(table)
        if self.kind == SEPARABLE and separable is not None:
            each = list(zip(table.codes, separable.penalty, separable.moment, separable.offset, strict=True))
            penalty = np.sum([suppressed[codes] for codes, suppressed, _, _ in each], axis=0) * weight
            parts += [moment[codes] * weight for codes, _, moment, _ in each]
            parts += [offset[codes] * weight for codes, _, _, offset in each]
        elif self.kind == MINORITY and table.labels is not None:
            parts += list(dense(table.labels, table.tuples).T.astype(np.float64))
        for histogram in self.histograms:
            parts += list(dense(histogram, table.tuples).T.astype(np.float64))
        return np.stack([weight, penalty, *parts])

    @property
    def one_bound(self) -> bool:
        """Whether the total is the largest of the attributes' bounds rather than their sum."""
        return self.kind == MINORITY

    def look(self, choices: Sequence[Choices], enough: float = np.inf) -> Look:
        """Price what is open; stops as soon as the total reaches ``enough``."""
        open_ = [a for a, choice in enumerate(choices) if not choice.decided]
        exact = len(open_) <= 1
        looked_at = sorted(open_ or [0], key=lambda a: choices[a].items.count)
        cells = _Cells(self, choices, exact)
        total, slack = cells.divide(looked_at)
        claims = cells.claims(looked_at)
        each: list[Priced | None] = [None] * len(choices)
        for a in looked_at:
            if self.interrupted():
                raise InterruptedLook
            room = enough - (0.0 if self.one_bound else total)
            cost, gone = cells.price(a, cells.most[a] + slack * claims[a])
            if self.limit in (0, self.problem.table.n):  # no sum of rows can go over such limits
                cost[gone > self.limit] = np.inf
                gone[:] = 0.0
            priced = choices[a].priced(cost, gone, room)
            self.blocks_priced += cost.size
            each[a] = priced
            total = max(total, priced.least) if self.one_bound else total + priced.least
            if total >= enough or priced.fewest > self.limit:
                total = total if priced.fewest <= self.limit else np.inf
                break
            if self.limit and not exact and np.isfinite(priced.least):
                cells.claim(a, priced.cheapest())
        return Look(total, tuple(each), exact)

    def number(self, keys: Ints, items: Ints, own: Ints, radix: int, span: int) -> tuple[Ints, int]:
        """Number keys without the part of one attribute; see the kernel."""
        numbers = np.empty(keys.size, dtype=np.int64)
        return numbers, int(number(keys, items, own, radix, span, self.table, self.found, numbers))


class _Cells:
    """The cells of some choices: tuples that no partition that is left tells apart."""

    def __init__(self, bounds: Bounds, choices: Sequence[Choices], exact: bool) -> None:
        self.bounds, self.choices, self.exact, self.kind = bounds, choices, exact, bounds.kind
        fine, top = bounds.fine, bounds.top
        for a, choice in enumerate(choices):
            fine[a, : choice.fine.size] = choice.fine
            top[a, : choice.top.size] = choice.top
        self.fine_radix = _radix([choice.fines for choice in choices])
        self.top_radix = _radix([choice.tops for choice in choices])
        keys = np.empty(bounds.codes.shape[1], dtype=np.int64)
        add_keys(bounds.codes, fine, self.fine_radix, keys)
        numbers, self.count = bounds.number(keys, bounds.codes[0], fine[0], 0, int(self.fine_radix[-1]))
        if self.count == keys.size:
            self.codes, columns, self.fine_key = bounds.codes, bounds.columns, keys
            self.numbers: Ints | None = None
        else:
            self.numbers = numbers
            example = np.empty(self.count, dtype=np.int64)
            example[numbers] = np.arange(keys.size)
            self.codes, self.fine_key = bounds.codes.take(example, axis=1), keys[example]
            columns = np.zeros((bounds.columns.shape[0], self.count))
            add_up(numbers, bounds.columns, columns)
        self.weight, self.penalty, rest = columns[0], columns[1], columns[2:]
        parts = len(choices)
        self.moment = self.offset = np.zeros((parts, self.count))
        self.labels = np.zeros((self.count, 1))
        if self.kind == SEPARABLE:
            self.moment, self.offset, rest = rest[:parts], rest[parts : 2 * parts], rest[2 * parts :]
        elif self.kind == MINORITY:
            labels = rest.shape[0] - sum(h.cardinality for h in bounds.histograms)
            self.labels, rest = np.ascontiguousarray(rest[:labels].T), rest[labels:]
        self.histogram = np.ascontiguousarray(rest.T).astype(np.int64)
        self.top_key = np.empty(self.count, dtype=np.int64)
        add_keys(self.codes, top, self.top_radix, self.top_key)
        self.most = np.zeros((parts, self.count))
        self.core = np.zeros((parts, self.count), dtype=np.int64)
        self.within = np.zeros((self.count + 1, self.labels.shape[1]))

    def divide(self, looked_at: Sequence[int]) -> tuple[float, Floats]:
        """Find what is certain without any attribute that is looked at, and what each cell has left to divide."""
        if self.kind == SEPARABLE:
            for a, choice in enumerate(self.choices):
                most_published(self.codes[a], choice.most_rates(), self.moment[a], self.offset[a], self.most[a])
            certain = sum(float(self.most[a].sum()) for a in range(len(self.choices)) if a not in looked_at)
            return certain, self.penalty - self.most.sum(axis=0)
        for a in looked_at:
            self.core[a], _ = self._without(a, self.fine_key, self.bounds.fine, self.fine_radix)
        if self.kind == MINORITY:
            return 0.0, self.penalty * len(looked_at)
        slack = self.penalty - self.weight**2
        for a in looked_at:
            if not self.choices[a].decided:
                entries, _ = self._by_piece(a)
                top = self.bounds.top[a]
                split_squares(self.codes[a], entries, top, self.core[a], self.weight, self.within, self.most[a])
                slack -= self.most[a]
        return float((self.weight**2).sum()), slack

    def claims(self, looked_at: Sequence[int]) -> dict[int, Floats]:
        """Return the share of each attribute that is looked at in what is left to divide."""
        if len(looked_at) == 1 or not self.bounds.limit or self.kind == MINORITY:
            return {a: np.full(self.count, 1.0 / len(looked_at)) for a in looked_at}
        claims = self.bounds.claims
        if self.numbers is not None:
            weight = self.bounds.columns[0]
            added = np.zeros((claims.shape[0], self.count))
            add_up(self.numbers, claims * weight, added)
            claims = added
        total = claims[list(looked_at)].sum(axis=0)
        return {a: claims[a] / total for a in looked_at}

    def claim(self, a: int, blocks: IntArray) -> None:
        """Let an attribute have more of the tuples that its cheapest partition suppresses."""
        group, _ = self._without(a, self.top_key, self.bounds.top, self.top_radix)
        count = int(blocks.max(initial=0)) + 1
        classes = group * count + blocks[self.codes[a]]
        gone = np.bincount(classes, weights=self.weight)[classes] < self.bounds.least
        if self.numbers is not None:
            gone = gone[self.numbers]
        own = self.bounds.claims[a]
        own[gone] = np.minimum(own[gone] * _MORE, _MOST)

    def _without(self, a: int, keys: Ints, ids: Ints, radix: Ints) -> tuple[Ints, int]:
        """Number the classes of all attributes but one."""
        return self.bounds.number(keys, self.codes[a], ids[a], int(radix[a]), int(radix[-1]))

    def _by_piece(self, a: int) -> tuple[Ints, Ints]:
        entries = np.empty(self.count, dtype=np.int64)
        starts = np.empty(self.choices[a].fines + 1, dtype=np.int64)
        sort_by_piece(self.codes[a], self.bounds.fine[a], self.choices[a].fines, entries, starts)
        return entries, starts

    def price(self, a: int, share: Floats) -> tuple[Floats, Floats]:
        """Return what each block of an attribute costs, and how many of its rows are suppressed."""
        script = self.choices[a].script()
        entries, starts = self._by_piece(a)
        if not self.bounds.compiled:
            return self._judge(a, script, entries, starts, share)
        group, link_starts, links = self._link(a)
        cost, gone = np.empty(script.rates.size), np.empty(script.rates.size)
        price_blocks(
            self.kind,
            self.bounds.least,
            script.steps,
            starts,
            entries,
            group,
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
            np.zeros((self.count, 4)),
            np.zeros(self.count),
            cost,
            gone,
        )
        return cost, gone

    def _link(self, a: int) -> tuple[Ints, Ints, Ints]:
        """Group the cells by all other attributes, and say which groups may come together in one class.

        Of one other attribute it is regarded which values may be in one block with each value; of the rest only the
        most general blocks there are.
        """
        windowed = [(c.narrowness, b) for b, c in enumerate(self.choices) if b != a and not c.decided]
        narrow, b = max(windowed, default=(0.0, -1))
        wide, groups = self._without(a, self.top_key, self.bounds.top, self.top_radix)
        if narrow < _NARROW:
            alone = np.arange(groups + 1, dtype=np.int64)
            return wide, alone, alone
        near = self.choices[b].near()
        pieces = near.shape[0]
        piece = self.bounds.fine[b][self.codes[b]]
        place = np.full(groups * pieces, -1, dtype=np.int64)
        where = wide * pieces + piece
        place[where] = 0
        held = np.flatnonzero(place == 0)
        place[held] = np.arange(held.size)
        group = place[where]
        example = np.empty(held.size, dtype=np.int64)
        example[group] = np.arange(self.count)
        starts = np.empty(held.size + 1, dtype=np.int64)
        links = np.empty(int(near.sum(axis=0)[piece[example]].sum()), dtype=np.int64)
        link_groups(wide, piece, example, near, place, starts, links)
        return group, starts, links

    def _judge(self, a: int, script: Script, entries: Ints, starts: Ints, share: Floats) -> tuple[Floats, Floats]:
        """Price blocks through the arrays every privacy model understands."""
        group, groups = self._without(a, self.top_key, self.bounds.top, self.top_radix)
        room, values = max(_CLASSES, groups), self.histogram.shape[1]
        sums, counts = np.zeros((groups, 4)), np.zeros((groups, values), dtype=np.int64)
        alive, place = np.empty(groups, dtype=np.int64), np.zeros(3, dtype=np.int64)
        asked, classes = np.empty(room, dtype=np.int64), np.empty((room, 4))
        counted = np.empty((room, values), dtype=np.int64)
        cost, gone = np.zeros(script.rates.size), np.zeros(script.rates.size)
        while place[0] < script.steps.size:
            found = list_classes(
                self.kind,
                script.steps,
                starts,
                entries,
                group,
                self.core[a],
                self.weight,
                share,
                self.moment[a],
                self.offset[a],
                self.labels,
                self.histogram,
                self.within,
                sums,
                counts,
                alive,
                place,
                asked,
                classes,
                counted,
            )
            lost, each = self._judged(asked[:found], classes[:found], counted[:found], script.rates)
            cost += np.bincount(asked[:found], weights=each, minlength=cost.size)
            gone += np.bincount(asked[:found], weights=lost, minlength=cost.size)
        return cost, gone

    def _judged(self, asked: Ints, classes: Floats, counted: Ints, rates: Floats) -> tuple[Ints, Floats]:
        """Return how many rows of each class are suppressed, and what it costs."""
        watched = self.bounds.histograms
        ends = np.cumsum([h.cardinality for h in watched])[:-1]
        named = dict(zip([h.name for h in watched], np.split(counted, ends, axis=1), strict=False))
        sizes = np.rint(classes[:, SIZE]).astype(np.int64)
        lost = self._lost(Classes(self.bounds.problem.table, sizes, sensitive=named))
        published = classes[:, FIXED] + rates[asked] * classes[:, MOMENT]
        return lost, np.where(lost >= sizes, classes[:, SHARE], published)

    def _lost(self, classes: Classes) -> Ints:
        """The rows of each class that are suppressed: all or none of a class, the fewest where it may be divided."""
        problem = self.bounds.problem
        if self.exact:
            return np.where(problem.ok(classes), 0, classes.sizes)
        return problem.fewest_removed(classes)


def _radix(counts: Sequence[int]) -> Ints:
    """What to multiply block numbers by so that their sum tells all apart; last, what all sums are below.

    Where that is too large for a number, the factors are odd numbers without any pattern, and the last is 0: two
    different combinations then have the same sum with a probability of 2**-64 only.
    """
    radix = [1]
    for count in counts:
        radix.append(radix[-1] * count)
    if radix[-1] < 1 << 62:
        return np.array(radix, dtype=np.int64)
    odd = np.random.default_rng(20260).integers(-(1 << 62), 1 << 62, size=len(counts), dtype=np.int64) * 2 + 1
    return np.append(odd, 0)


def _watched(problem: Problem) -> list[Histogram]:
    """The sensitive attributes that a privacy model looks at."""
    table = problem.table
    names = sorted({str(getattr(model, "attribute", "")) for model in problem.privacy})
    return [table.sensitive[name] for name in names if name in table.sensitive]


def kind_of_cost(problem: Problem) -> int:
    """Return how blocks of values are priced; raises an error where the cost does not tell that."""
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
