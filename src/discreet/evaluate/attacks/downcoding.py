"""Downcoding: replace released values by strictly finer ones (Cohen, USENIX Security 2022)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray
from discreet.evaluate.attacks._base import ATTACKS, Attack, AttackResult, NotModelled
from discreet.evaluate.attacks._cells import ReleasedCells
from discreet.evaluate.attacks._remaining import RemainingCells
from discreet.evaluate.attacks._statistics import independent_attempts
from discreet.evaluate.attacks._target import AttackTarget, Belonging

__all__ = ["DowncodingAttack", "shares_given_rejected_splits"]

_MOST_CELLS = 3_000
"""Most pairs of a class and a column that are attacked; beyond that they are drawn."""
_MOST_CHILDREN = 200
_LARGEST = 120
"""In larger classes it is neglected that all finer parts may be small."""


@ATTACKS.register
@dataclass(frozen=True)
class DowncodingAttack(Attack):
    """Narrows each generalized cell to a strictly finer value: a child in the hierarchy, or half of a range.

    How likely each finer value is, is learned in two ways, and the more successful one is reported: from the classes
    of the release that show it and may hold the same people otherwise, or from what classes with less loss leave of the
    class. In a local recoding by a method that minimizes loss, the attacker also knows that a class could not be split:
    at least two of the finer values occur in it, and none with k or more people on either side. The naive guess is the
    finer value with the most rows in the whole release.
    """

    name: ClassVar[str] = "downcoding"
    examples: ClassVar[tuple[str, ...]] = ("downcoding",)
    title: ClassVar[str] = "What would be finer?"
    summary: ClassVar[str] = "A coarse value is narrowed down, because a finer one was left out for a reason."
    term: ClassVar[str] = "downcoding attack"
    control_is_baseline: ClassVar[bool] = False
    rank: ClassVar[int] = 50
    goal: ClassVar[str] = "narrow a cell to a finer value"
    needs: ClassVar[str] = "the hierarchies, and that loss was minimized"

    def run(self, target: AttackTarget) -> Sequence[AttackResult]:
        """Attack the cells of all columns, or a sample of them."""
        pairs = target.belonging
        columns = [ReleasedCells(match, target.released_rows(i)) for i, match in enumerate(target.candidates.matches)]
        chosen, drawn = _cells_to_attack(target, columns)
        if not any(each.size for each in chosen):
            raise NotModelled("no cell was generalized to more than one value")
        left = RemainingCells.of(target, columns)
        total = _NarrowedCells(target.after.sizes.size)
        for index, some in enumerate(chosen):
            if some.size:
                _attack_column(target, pairs, columns, index, some, left, total)
        asked, best = float(total.cells.sum()), int(total.right.sum(axis=1).argmax())
        strangers = total.control_cells
        remark = (
            f"{asked:,.0f} cells of {sum(each.size for each in chosen):,} pairs of a class and a column were tried."
        )
        return [
            self.result(
                "cell",
                total.right[best].sum() / asked,
                total.naive / asked,
                round(asked),
                control=total.control_right[best] / strangers if strangers else None,
                control_attempts=round(strangers),
                independent=independent_attempts(total.right[best], total.cells) if drawn else None,
                remark=remark,
            )
        ]


class _NarrowedCells:
    """Sums over the attacked cells, by class; two ways to guess are tried."""

    def __init__(self, classes: int) -> None:
        self.right: FloatArray = np.zeros((2, classes))
        self.cells: FloatArray = np.zeros(classes)
        self.naive = 0.0
        self.control_right: FloatArray = np.zeros(2)
        self.control_cells = 0.0


def _cells_to_attack(target: AttackTarget, columns: Sequence[ReleasedCells]) -> tuple[list[IntArray], bool]:
    """Return for each column the classes whose cell is attacked, and whether they are a sample."""
    finer: list[IntArray] = []
    for cells in columns:
        child = np.array([cells.child_of_leaves(value)[1] for value in range(cells.values)], dtype=np.int64)
        finer.append(np.flatnonzero((child[cells.match.value] > 1) & (child[cells.match.value] <= _MOST_CHILDREN)))
    every = sum(each.size for each in finer)
    if every <= _MOST_CELLS:
        return finer, False
    rng = target.rng()
    share = _MOST_CELLS / every
    some = [np.sort(rng.choice(each, max(int(each.size * share), min(each.size, 1)), replace=False)) for each in finer]
    return some, True


def _attack_column(
    target: AttackTarget,
    pairs: Belonging,
    columns: Sequence[ReleasedCells],
    index: int,
    some: IntArray,
    left: RemainingCells | None,
    total: _NarrowedCells,
) -> None:
    """Add up what is guessed right for the cells of some classes in a column."""
    cells = columns[index]
    known = _Knowledge(target, columns, index)
    child = cells.child_of_pairs(pairs, cells.match.leaf)
    width = max(cells.child_of_leaves(value)[1] for value in range(cells.values))
    people = target.composition(pairs, child, width)
    outside = None
    if target.control is not None:
        matched = target.control.matched
        leaf = target.control.candidates.matches[index].leaf
        outside = target.composition(matched, cells.child_of_pairs(matched, leaf), width)
    alone = np.bincount(cells.match.value, minlength=cells.values) == 1
    for c in some.tolist():
        value = int(cells.match.value[c])
        prior = known.prior(value)
        ways = [known.likely(c, value, prior), known.remaining(c, value, prior, left)]
        if target.overlapping or alone[value]:
            ways = [shares_given_rejected_splits(each, int(target.after.sizes[c]), target.k) for each in ways]
        guess = [int(each.argmax()) for each in ways]
        total.right[:, c] += people[c, guess]
        total.naive += float(people[c, int(prior.argmax())])
        total.cells[c] += people[c].sum()
        if outside is not None:
            total.control_right += outside[c, guess]
            total.control_cells += float(outside[c].sum())


class _Knowledge:
    """What the attacker knows about the finer values of a column before reasoning about splits."""

    def __init__(self, target: AttackTarget, columns: Sequence[ReleasedCells], index: int) -> None:
        self.target, self.columns, self.index = target, columns, index
        self.cells = columns[index]
        self._priors: dict[int, FloatArray] = {}
        self._children: dict[int, IntArray] = {}

    def prior(self, value: int) -> FloatArray:
        """Return the share of each child of a released value among all rows of the release."""
        if value not in self._priors:
            leaves, child = self.cells.covered[value], self.cells.children(value)
            found = np.bincount(child, weights=self.cells.weights[leaves])
            self._priors[value] = np.asarray(found / max(found.sum(), 1e-300))
        return self._priors[value]

    def likely(self, c: int, value: int, prior: FloatArray) -> FloatArray:
        """Return the share of each child among people like those of a class, with the prior as one more person."""
        counts = self._among_finer_classes(c, value, prior.size)
        return np.asarray((counts + prior) / (counts.sum() + 1))

    def remaining(self, c: int, value: int, prior: FloatArray, left: RemainingCells | None) -> FloatArray:
        """Return the share of each child in what classes with less loss leave of a class."""
        found = None if left is None else left.of_class(c)
        if found is None:
            return prior
        weights = found.shares[self.index][self.cells.covered[value]]
        return np.asarray(np.bincount(self.cells.children(value), weights=weights, minlength=prior.size))

    def _among_finer_classes(self, c: int, value: int, children: int) -> FloatArray:
        """Return the rows of classes that show a child of the value and may hold the same people otherwise."""
        if value not in self._children:
            table = self.cells.child_of_leaves(value)[0]
            low, high = table[self.cells.lowest], table[self.cells.highest]
            inside = np.where((low == high) & (np.arange(self.cells.values) != value), low, -1)
            self._children[value] = inside[self.cells.match.value]
        child = self._children[value]
        alike: NDArray[np.bool_] = child >= 0
        for other, cells in enumerate(self.columns):
            if other != self.index and alike.any():
                own = int(cells.match.value[c])
                meets = (cells.lowest <= cells.highest[own]) & (cells.highest >= cells.lowest[own])
                alike = alike & meets[cells.match.value]
        rows = self.target.after.sizes[alike]
        return np.asarray(np.bincount(child[alike], weights=rows, minlength=children), dtype=np.float64)


def shares_given_rejected_splits(prior: FloatArray, size: int, k: int) -> FloatArray:
    """Return the expected share of each finer value in a class that no finer value could be split from.

    ``prior`` is the probability of each finer value for one person. A class that was not split has at least two of
    them, and for each either fewer than k people or fewer than k others. In a class of 2k or more, either one value is
    dominant, with all but at most k - 1 people, or all have fewer than k.

    >>> shares_given_rejected_splits(np.array([0.6, 0.4]), 20, 3).round(2).tolist()
    [0.91, 0.09]
    """
    if size < 2 or prior.size < 2:
        return prior
    if size < 2 * k:
        alone = prior**size
        left = 1 - alone.sum()
        return (prior - alone) / left if left > 1e-12 else prior
    others = np.arange(1, k)
    # the probability that exactly `others` people do not have the value
    ways = np.array([float(factorial(size) // (factorial(int(n)) * factorial(size - int(n)))) for n in others])
    with np.errstate(divide="ignore", invalid="ignore"):
        missing = ways * (1 - prior[:, np.newaxis]) ** others * prior[:, np.newaxis] ** (size - others)
    dominant = missing.sum(axis=1)
    all_small = _all_below(prior, size, k)
    total = dominant.sum() + all_small
    if not total > 0:
        return prior
    kept = np.ones(prior.size)
    np.divide((missing * (size - others)).sum(axis=1), dominant * size, where=dominant > 0, out=kept)
    expected = dominant * kept + all_small * prior
    for j in np.flatnonzero(dominant).tolist():  # what the dominant value leaves goes to the others
        share = np.where(np.arange(prior.size) == j, 0.0, prior / max(1 - prior[j], 1e-300))
        expected = expected + dominant[j] * (1 - kept[j]) * share
    return np.asarray(expected / total)


def _all_below(prior: FloatArray, size: int, k: int) -> float:
    """Return the probability that every value has fewer than k of the people."""
    if prior.size * (k - 1) < size or size > _LARGEST:
        return 0.0
    scale = np.array([1 / float(factorial(n)) for n in range(k)])
    product = np.ones(1)
    for share in prior.tolist():
        product = np.convolve(product, scale * share ** np.arange(k))[: size + 1]
    return float(product[size] * factorial(size)) if product.size > size else 0.0
