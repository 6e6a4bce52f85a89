"""t-closeness: the sensitive values of every class are distributed almost as in the whole table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, FloatArray
from discreet.errors import UsageError
from discreet.problem.classes import Classes
from discreet.problem.privacy._base import PRIVACY, Groups
from discreet.problem.privacy._sensitive import TOLERANCE, SensitiveModel, largest
from discreet.runtime.arguments import column_name, number, one_of
from discreet.runtime.parts import ChoiceControl, NumberControl

__all__ = ["TCloseness", "levels_below_root"]

Number = TypeVar("Number", np.int64, np.float64)


@PRIVACY.register
@dataclass(frozen=True)
class TCloseness(SensitiveModel):
    """The earth mover's distance between the known values of a class and of the whole table is at most ``t``.

    The distance between two values is 1 (``equal``), the difference of their ranks over the largest difference
    (``ordered``), or the level of their lowest common ancestor over the height of the column's hierarchy
    (``hierarchical``). Li, Li and Venkatasubramanian show that the earth mover's distance is then half the L1 distance;
    the mean absolute difference of the cumulative shares; or the mean over the levels of half the L1 distance between
    the shares of the nodes. It is compared with a tolerance of 10^-9.

    >>> TCloseness(0.2, "income", "ordered").text
    't(0.2, income, ordered)'
    """

    name = "t"
    aliases = ("t-closeness",)
    examples = ("t(0.2, disease)", "t(0.2, disease, ordered)", "t(0.2, disease, hierarchical)")
    title = "Groups are like everybody"
    summary = "Among people who look the same, the sensitive column is spread almost as in the whole table."
    term = "t-closeness"
    prevents = "Learning something about a group: those who could be Ann are far more often ill than others."
    illustration = "With 0.2, at most a fifth of the group would have to change to look like everybody."
    rank = 60
    controls = (
        NumberControl("t", "Largest distance", 0.2, 0.01, 1.0, 0.01),
        ChoiceControl(
            "distance",
            "Distance between values",
            {"equal": "all the same", "ordered": "by their order", "hierarchical": "by their hierarchy"},
        ),
    )
    sentence = "Among people who look the same, {attribute} is spread almost as in the whole table, at most {t} apart."
    plain = ("attribute", "distance")
    union_closed = True

    t: float
    attribute: str | None = None
    distance: str = "equal"

    def __post_init__(self) -> None:
        object.__setattr__(self, "t", number(self.t, "t of t-closeness", least=0, most=1))
        column_name(self.attribute, "The attribute of t-closeness")
        one_of(self.distance, "The distance of t-closeness", ("equal", "ordered", "hierarchical"))

    @property
    def compares(self) -> bool:
        """Classes are compared with the whole table."""
        return True

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        """Return for each class whether it is close to the whole table."""
        return np.asarray(self.distances(classes) <= self.t + TOLERANCE)

    def distances(self, classes: Classes) -> FloatArray:
        """Return the distance of each class from the whole table; 0 if no value is known."""
        known = self.known(classes)
        shares = self.counts(classes) / np.maximum(known, 1)[:, np.newaxis]
        histogram = self.histogram(classes.table)
        difference = np.where(known[:, np.newaxis] > 0, shares - histogram.shares, 0.0)
        if self.distance == "equal":
            return np.asarray(np.abs(difference).sum(axis=1) / 2)
        if self.distance == "ordered":
            return np.asarray(np.abs(np.cumsum(difference, axis=1)).sum(axis=1) / max(difference.shape[1] - 1, 1))
        levels = levels_below_root(histogram.ancestors)
        halves = [np.abs(_node_sums(difference, level)).sum(axis=1) / 2 for level in levels]
        return np.asarray(sum(halves, np.zeros(len(classes))) / max(len(levels), 1))

    def reached(self, groups: Groups) -> float:
        """Return the largest distance of a class; classes whose values were all suppressed do not count.

        Suppressed values of other classes count as known before, and are missing from the shares of all values.
        """
        known = np.bincount(groups.group, weights=groups.count, minlength=groups.sizes.size) > 0
        if not known.any():
            return 0.0
        whole = groups.whole / groups.whole.sum()
        if self.distance == "ordered":
            return _ordered_distance(groups, known, whole)
        levels = [np.arange(whole.size)] if self.distance == "equal" else levels_below_root(groups.ancestors)
        total = np.zeros(groups.sizes.size)
        for level in levels:
            nodes = int(level.max()) + 1
            node = np.bincount(level, weights=whole)
            keys, entry = np.unique(groups.group * nodes + level[groups.value], return_inverse=True)
            group = keys // nodes
            share = np.bincount(entry, weights=groups.distribution)
            expected = node[keys % nodes]
            # Values that the class lacks differ by their whole share, and all shares sum to 1.
            beyond = np.abs(share - expected) - expected
            total += (1 + np.bincount(group, weights=beyond, minlength=total.size)) / 2
        return float(total[known].max() / max(len(levels), 1))

    def satisfied_by(self, reached: float) -> bool:
        """Return whether the farthest class is close enough."""
        return reached <= self.t + TOLERANCE

    def fewest_removed(self, classes: Classes) -> NDArray[np.int64]:
        """Return a lower bound: the more rows stay, the more the class lacks of its rare values.

        If s rows stay, values with n rows in the class have at most a share n / s. By how much that is below their
        share of the whole table is a lower bound on the distance, and grows with s. Rows without a known value do not
        count.
        """
        removed = np.zeros(len(classes), dtype=np.int64)
        fix = np.flatnonzero(~self.ok(classes))
        if fix.size == 0:
            return removed
        counts, sizes = self.counts(classes)[fix], self.known(classes)[fix]
        histogram = self.histogram(classes.table)
        whole = histogram.shares
        if self.distance == "ordered":
            up_to, share = np.cumsum(counts, axis=1)[:, :-1], np.cumsum(whole)[:-1]
            beyond = sizes[:, np.newaxis] - up_to
            scale = max(whole.size - 1, 1)

            def lacking(kept: FloatArray) -> FloatArray:
                below, above = share - up_to / kept, (1 - share) - beyond / kept
                return np.asarray(np.maximum(np.maximum(below, above), 0).sum(axis=1))
        else:
            equal = self.distance == "equal"
            levels = [np.arange(whole.size)] if equal else levels_below_root(histogram.ancestors)
            rows = [_node_sums(counts, level) for level in levels]
            shares = [_node_sums(whole, level) for level in levels]
            scale = max(len(levels), 1)

            def lacking(kept: FloatArray) -> FloatArray:
                parts = [np.maximum(q - n / kept, 0).sum(axis=1) for n, q in zip(rows, shares, strict=True)]
                return np.asarray(sum(parts, np.zeros(fix.size)))

        def holds(kept: NDArray[np.int64]) -> NDArray[np.bool_]:
            return lacking(np.maximum(kept, 1)[:, np.newaxis].astype(np.float64)) / scale <= self.t + 2 * TOLERANCE

        removed[fix] = sizes - largest(holds, np.zeros(fix.size, np.int64), sizes)
        return removed

    def fits(self, table: CountTable) -> None:
        """Raise a UsageError if the hierarchical distance lacks a hierarchy."""
        if self.distance == "hierarchical" and self.histogram(table).ancestors is None:
            raise UsageError(
                f"'{self.text}' needs a hierarchy of '{self.column}'; give one or choose another distance.",
                column=self.column,
            )


def levels_below_root(ancestors: NDArray[np.int32] | NDArray[np.integer] | None) -> list[NDArray[np.int64]]:
    """Return the levels below the root, at which two values may be in different nodes."""
    if ancestors is None:
        raise UsageError("The hierarchical distance of t-closeness needs a hierarchy of the sensitive attribute.")
    rooted = int(ancestors[-1].max(initial=0)) == 0
    return [level.astype(np.int64) for level in (ancestors[:-1] if rooted else ancestors)]


def _node_sums(values: NDArray[Number], level: NDArray[np.int64]) -> NDArray[Number]:
    """Sum numbers of sensitive values, along the last axis, over the nodes of a level."""
    order = np.argsort(level, kind="stable")
    starts = np.searchsorted(level[order], np.arange(int(level.max(initial=-1)) + 1))
    return np.asarray(np.add.reduceat(values[..., order], starts, axis=-1))


def _ordered_distance(groups: Groups, known: NDArray[np.bool_], whole: FloatArray, at_once: int = 4096) -> float:
    """Return the largest ordered distance of a class, computed for a slice of the classes at a time."""
    farthest = 0.0
    starts = np.arange(0, known.size, at_once)
    bounds = np.searchsorted(groups.group, [*starts, known.size])
    for start, low, high in zip(starts, bounds[:-1], bounds[1:], strict=True):
        here = known[start : start + at_once]
        flow = np.tile(-whole, (here.size, 1))
        share = groups.distribution[low:high]
        np.add.at(flow, (groups.group[low:high] - start, groups.value[low:high]), share)
        moved = np.abs(np.cumsum(flow[here], axis=1)).sum(axis=1)
        farthest = max(farthest, float(moved.max(initial=0.0)))
    return farthest / max(whole.size - 1, 1)
