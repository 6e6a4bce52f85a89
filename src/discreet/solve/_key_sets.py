"""Which classes of a recoding stay if key sets are promised; see :mod:`discreet.problem.key_sets`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from discreet.counts import Grouping, IntArray
from discreet.problem import Classes, Problem, Suppressed
from discreet.problem.key_sets import KeySet
from discreet.runtime.integer_codes import LARGEST, add_up, compact, numbered
from discreet.solve._class_arrays import Released
from discreet.solve._kernel_loading import warm_up
from discreet.solve.kernels.key_sets import settle

__all__ = ["KeySetRule", "compile_ahead", "key_classes", "with_dropped"]

_SPARSE = 1 << 16
"""Key classes below this number, or below a few times the number of classes, are not renumbered."""
_CELLS = 1 << 25
"""With more key sets times classes than this, the classes of each key set are found anew in every round."""


class KeySetRule:
    """Decides which classes stay; what depends on the problem alone is computed once."""

    def __init__(self, problem: Problem, key_sets: Sequence[KeySet] | None = None) -> None:
        self.problem = problem
        self.key_sets: tuple[KeySet, ...] = problem.key_sets if key_sets is None else tuple(key_sets)
        self.least = np.array([key_set.k for key_set in self.key_sets], dtype=np.int64)
        self.bounding = [model for model in problem.privacy if model.superset_closed]
        """Models that no more specific recoding can satisfy where one class breaks them."""

    def shown(self, grouping: Grouping, released: Released) -> list[IntArray]:
        """Return what each class shows of each attribute, as numbers of blocks."""
        codes = self.problem.table.codes
        return [block[leaves[grouping.first]] for block, leaves in zip(released.blocks, codes, strict=True)]

    def stays(
        self, shown: Sequence[IntArray], sizes: IntArray, ok: NDArray[np.bool_], widths: Sequence[int] | None = None
    ) -> NDArray[np.bool_]:
        """Return which classes stay of those that are ``ok`` by themselves.

        ``shown[i]`` is the released value of attribute i in each class, a number below ``widths[i]``.
        """
        stays = ok.copy()
        rows = np.ascontiguousarray(sizes, dtype=np.int64)
        if widths is None:
            widths = [int(column.max(initial=0)) + 1 for column in shown]
        if len(self.key_sets) * rows.size > _CELLS:
            self._settle_by_rounds(shown, rows, stays, widths)
            return stays
        keys = np.empty((len(self.key_sets), rows.size), dtype=np.int64)
        first = 0
        for number, key_set in enumerate(self.key_sets):
            ids, count = key_classes(shown, widths, key_set)
            np.add(ids, first, out=keys[number])
            first += count
        settle(keys, self.least, rows, np.zeros(first, dtype=np.int64), stays)
        return stays

    def _settle_by_rounds(
        self, shown: Sequence[IntArray], sizes: NDArray[np.int64], stays: NDArray[np.bool_], widths: Sequence[int]
    ) -> None:
        """Do the same with the classes of one key set at a time."""
        changed = True
        while changed:
            changed = False
            for key_set in self.key_sets:
                ids, count = key_classes(shown, widths, key_set)
                small = stays & (add_up(ids, np.where(stays, sizes, 0), count)[ids] < key_set.k)
                stays &= ~small
                changed |= bool(small.any())


def key_classes(shown: Sequence[IntArray], widths: Sequence[int], key_set: KeySet) -> tuple[NDArray[np.int64], int]:
    """Return the key class of each class, and a number that all are below."""
    columns = [(shown[i], widths[i]) for i in key_set.attributes if widths[i] > 1]
    span = 1
    for _, width in columns:
        span *= width
    rows = shown[0].size
    if span >= LARGEST:
        return numbered(rows, columns)
    key = np.zeros(rows, dtype=np.int64)
    for column, width in columns:
        key = key * width + column
    return (key, span) if span <= max(_SPARSE, 4 * rows) else compact(key, span)


def with_dropped(done: Suppressed, classes: Classes, dropped: NDArray[np.bool_], by_records: bool) -> Suppressed:
    """Return what is suppressed if some classes must go beside; where records stay, they make it infeasible."""
    if not dropped.any():
        return done
    if not by_records:
        return replace(done, feasible=done.feasible & ~dropped)
    return replace(done, records=np.where(dropped, classes.sizes, done.records).astype(np.int64))


@cache
def compile_ahead() -> None:
    """Load the kernel, or compile it the first time ever."""

    def settle_one() -> None:
        one = np.ones(1, dtype=np.int64)
        settle(np.zeros((1, 1), dtype=np.int64), one, one, one.copy(), np.ones(1, dtype=np.bool_))

    warm_up("key sets", settle_one)
