"""Minimality in local recodings: what follows from the fact that a class was not split."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, FloatArray, IntArray
from discreet.evaluate.attacks._base import NotModelled
from discreet.evaluate.attacks._cells import ReleasedCells
from discreet.evaluate.attacks._target import AttackTarget
from discreet.problem import Classes, PrivacyModel

__all__ = ["SplitFigures", "attack_splits"]

_CLASSES = 200
"""Most classes that are attacked; beyond that they are drawn."""
_DRAWS = 4_000
"""Most deals of the values of a class."""
_DEALT = 40_000
"""About the most values that are dealt for a class, in all draws together."""
_FEWEST = 10
"""Fewest possible deals from which the attacker's confidence is estimated."""
_SPLITS = 24
"""Most splits of a class that are considered."""
_LARGEST = 400


@dataclass
class SplitFigures:
    """Sums over the people of the attacked classes."""

    people: float = 0.0
    right: float = 0.0
    without: float = 0.0
    naive: float = 0.0
    credibility: float = 0.0
    confidence: float = 0.0
    learnt: bool = False
    draws: int = _DRAWS


def attack_splits(target: AttackTarget, table: CountTable, column: str, models: Sequence[PrivacyModel]) -> SplitFigures:
    """Attack the classes of a local recoding that could have been split.

    The attacker knows everybody's quasi-identifiers and class, and that the method splits a class in two whenever both
    parts keep the promises. So for each split with large enough parts, one part breaks a promise. All assignments of
    the sensitive values of a class to its people for which that holds are equally likely; they are drawn at random.
    """
    pairs = target.belonging
    if not pairs.exact:
        raise NotModelled("which class people are in is not known; pass the release itself")
    shown, truth = target.histogram(column), target.truth(column)
    order = np.argsort(pairs.released, kind="stable")
    ends = np.searchsorted(pairs.released[order], np.arange(target.after.sizes.size + 1))
    columns = [ReleasedCells(match, target.released_rows(i)) for i, match in enumerate(target.candidates.matches)]
    rng, usual = target.rng(), int(shown.sum(axis=0).argmax())
    large = np.flatnonzero((target.after.sizes >= 2 * target.k) & (target.after.sizes <= _LARGEST))
    found = SplitFigures()
    for c in rng.permutation(large).tolist():
        mine = order[ends[c] : ends[c + 1]]
        people = np.repeat(pairs.original[mine], np.rint(pairs.people[mine]).astype(np.int64))
        values = np.repeat(np.arange(shown.shape[1]), shown[c].astype(np.int64))
        if people.size != values.size:  # suppressed or missing values: the attacker cannot deal them out
            continue
        splits = list(_splits(columns, c, people, target.k))[:_SPLITS]
        if splits:
            _attack_class(found, np.array(splits), values, _Promises(table, column, models), truth[people], rng)
            found.naive += float(truth[people, usual].sum())
        if found.people and found.people >= _CLASSES * target.k * 2:
            break
    if not found.people:
        raise NotModelled("no class is large enough to be split")
    return found


def _splits(columns: Sequence[ReleasedCells], c: int, people: IntArray, k: int) -> Iterator[NDArray[np.bool_]]:
    """Yield who would be in the first part, for each way to split a class in which both parts have k people."""
    for cells in columns:
        leaf, domain = cells.match.leaf[people], cells.match.domain
        if domain.positions is not None and len(domain.ancestors) <= 2:
            parts = [leaf <= cut for cut in np.unique(leaf)[:-1].tolist()]
        else:
            child, count = cells.child_of_leaves(int(cells.match.value[c]))
            parts = [child[leaf] == each for each in range(count)]
        for part in parts:
            if k <= part.sum() <= people.size - k:
                yield part


@dataclass(frozen=True)
class _Promises:
    table: CountTable
    column: str
    models: Sequence[PrivacyModel]

    def kept(self, counts: IntArray) -> NDArray[np.bool_]:
        """Return whether classes with so many people of each sensitive value keep every promise."""
        classes = Classes(self.table, counts.sum(axis=1), sensitive={self.column: counts})
        return np.asarray(np.logical_and.reduce([model.ok(classes) for model in self.models]))


def _attack_class(
    found: SplitFigures,
    splits: NDArray[np.bool_],
    values: IntArray,
    promises: _Promises,
    truth: FloatArray,
    rng: np.random.Generator,
) -> None:
    """Deal the values of a class to its people at random, and keep the deals that break every split."""
    size, width = values.size, truth.shape[1]
    draws = min(_DRAWS, max(_DEALT // size, 100))
    dealt = values[np.argsort(rng.random((draws, size)), axis=1)]
    one = np.zeros((draws, size, width), dtype=np.int64)
    np.put_along_axis(one, dealt[:, :, np.newaxis], 1, axis=2)
    first = np.einsum("sp,dpv->dsv", splits.astype(np.int64), one)
    second = one.sum(axis=1)[:, np.newaxis] - first
    shape = (-1, width)
    kept = promises.kept(first.reshape(shape)) & promises.kept(second.reshape(shape))
    possible = ~kept.reshape(draws, -1).any(axis=1)
    share = np.bincount(values, minlength=width) / size
    plain = int(share.argmax())
    found.people += size
    found.without += float(truth[:, plain].sum())
    found.confidence = max(found.confidence, float(share.max()))
    guess = np.full(size, plain)
    if 0 < possible.sum() < draws:
        likely = one[possible].mean(axis=0)
        best = likely.argmax(axis=1)
        lead = likely[np.arange(size), best] - likely[:, plain] > 2 / np.sqrt(possible.sum())
        guess = np.where(lead, best, plain)
        found.learnt = True
        found.credibility = max(found.credibility, float(likely.max()) if possible.sum() >= _FEWEST else 0.0)
    found.credibility = max(found.credibility, float(share.max()))
    found.right += float(truth[np.arange(size), guess].sum())
