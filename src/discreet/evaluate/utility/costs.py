"""Every cost of a release, computed from the released table itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.counts import CountTable, FloatArray, IntArray
from discreet.errors import UsageError
from discreet.evaluate.utility.covered_column import CoveredColumn
from discreet.evaluate.utility.table_pair import TablePair
from discreet.problem import COSTS, SCHEMES, Classes, Cost, Scheme
from discreet.problem.classes import leaf_columns
from discreet.problem.costs.certainty import Certainty
from discreet.problem.costs.loss import Loss
from discreet.runtime.integer_codes import first_of, numbered

__all__ = ["ReleasedCosts"]

_OF_VALUES = frozenset({"block_leaves", "block_rows", "block_levels", "extent", "set_sizes"})
"""What is only defined if released values cover the original ones."""
_ROUNDED = 1e-9
"""Costs that are less than 0 by this share of the worst are 0."""


@dataclass(frozen=True, eq=False)
class ReleasedCosts:
    """The classes of a release as costs take them; suppressed rows are a last class that is not ok."""

    pair: TablePair
    classes: Classes
    local: Classes
    """The same by the released nodes, if equal values are released differently."""
    ids: IntArray
    """The class of each released row."""
    ok: NDArray[np.bool_]

    @classmethod
    def of(cls, pair: TablePair) -> ReleasedCosts:
        """Find the classes of the released table."""
        quasi = [pair.after[name] for name in pair.quasi_identifiers]
        ids, count = numbered(pair.rows, ((column.codes, len(column.cover)) for column in quasi))
        gone = pair.counts.n - pair.rows
        sizes, first = np.bincount(ids, minlength=count), first_of(ids, count)
        if gone > 0:
            sizes, first = np.append(sizes, gone), np.append(first, 0)

        def shown(numbers: Sequence[IntArray]) -> IntArray:
            return np.stack([each[column.codes[first]] for each, column in zip(numbers, quasi, strict=True)], axis=1)

        low, high = _extent(pair, quasi, ids, first)
        nodes = [_nodes(column) for column in quasi]
        levels = shown([level for level, _ in nodes])
        of_block = zip(quasi, pair.counts.attributes, strict=True)
        classes = Classes(
            table=pair.counts,
            sizes=sizes.astype(np.int64),
            labels=_labels(pair, ids, sizes.size),
            blocks=shown([np.arange(len(column.cover)) for column in quasi]),
            block_leaves=shown([column.cover.sizes for column in quasi]),
            block_rows=shown([np.rint(column.cover.total(a.rows)).astype(np.int64) for column, a in of_block]),
            block_levels=levels if (levels >= 0).all() else None,
            low=low,
            high=high,
            set_sizes=_set_sizes(pair, quasi, ids, first),
        )
        local, trees = classes, np.array([attribute.tree for attribute in pair.counts.attributes])
        if _local(pair, quasi) and (levels[:, trees] >= 0).all():
            local = replace(classes, local=True, block_levels=levels, blocks=shown([block for _, block in nodes]))
        return cls(pair, classes, local, ids, np.arange(sizes.size) < count)

    def total(self, cost: Cost) -> float | None:
        """Return a cost of the release; None if it is not defined for it."""
        needs = cost.needs - {"joint"}
        if not self.pair.holds and needs & _OF_VALUES:
            return None
        if "moments" in needs and self.pair.link is None:
            return None
        if ("labels" in needs and self.classes.labels is None) or (
            "block_levels" in needs and self.classes.block_levels is None
        ):
            return None
        penalty = cost.value_penalty(self.classes.table)
        classes = self.local if cost.local and not cost.counts_values else self.classes
        if "moments" in needs:
            classes = replace(classes, moments=self._sums(cost, "leaf_moment"), offsets=self._sums(cost, "leaf_offset"))
        return cost.total(classes, self.ok) + (penalty or 0.0) * self.pair.suppressed_values

    def table(self, wanted: Sequence[str | Cost] | None) -> pl.DataFrame:
        """Return the wanted costs, or all that are defined, in total and relative to suppressing everything."""
        found = []
        covers = "local" if self.local.local else "subtree"
        schemes = [SCHEMES.make(covers if self.pair.holds else "local(show=mean)")] * len(self.pair.quasi_identifiers)
        table = self.classes.table
        for cost in _every_cost(table, schemes) if wanted is None else map(COSTS.make, wanted):
            resolved = cost.resolve(table, ())
            resolved.check(table, schemes)
            total = self.total(resolved)
            if total is not None:
                worst = resolved.worst(self.classes.table)
                total = 0.0 if -_ROUNDED * worst < total < 0 else total
                found.append((cost.shown, total, total / worst if worst else 0.0))
        return pl.DataFrame(found, {"cost": pl.String, "total": pl.Float64, "normalized": pl.Float64}, orient="row")

    def by_attribute(self) -> dict[str, tuple[float | None, float | None]]:
        """Return the mean LM and NCP of each quasi-identifier; a suppressed row counts 1."""
        classes, found = self.local, {}
        for i, attribute in enumerate(classes.table.attributes):

            def only(array: IntArray | None, i: int = i) -> IntArray | None:
                return None if array is None else array[:, [i]]

            narrow = replace(
                classes,
                table=replace(classes.table, attributes=(attribute,), codes=classes.table.codes[[i]]),
                blocks=only(classes.blocks),
                block_leaves=only(classes.block_leaves),
                block_levels=only(classes.block_levels),
                low=only(classes.low),
                high=only(classes.high),
                set_sizes=only(classes.set_sizes),
            )
            each = (
                [cost.total(narrow, self.ok) / classes.table.n for cost in (Loss(), Certainty())]
                if self.pair.holds
                else [None, None]
            )
            found[attribute.name] = (each[0], each[1])
        return found

    def _sums(self, cost: Cost, numbers: str) -> FloatArray:
        """Sum up what the cost derives from the original value of each row, by class."""
        assert self.pair.link is not None
        table, columns = self.classes.table, []
        owner = np.full(table.n, len(self.classes) - 1)
        owner[self.pair.link] = self.ids
        for attribute in table.attributes:
            of_leaf = getattr(cost, numbers)(attribute, table)
            for column in leaf_columns(of_leaf, self.pair.before[attribute.name].codes).T:
                columns.append(np.bincount(owner, weights=column, minlength=len(self.classes)))
        return np.stack(columns, axis=1)


def _every_cost(table: CountTable, schemes: Sequence[Scheme]) -> list[Cost]:
    """Return all costs that need no arguments and fit the table and its schemes."""
    found = []
    for member in COSTS.members().values():
        try:
            cost = member()
            cost.resolve(table, ()).check(table, schemes)
        except (TypeError, UsageError):
            continue
        found.append(cost)
    return sorted(found, key=lambda cost: cost.name.lower())


def _extent(
    pair: TablePair, quasi: Sequence[CoveredColumn], ids: IntArray, first: IntArray
) -> tuple[IntArray, IntArray]:
    """Return the first and the last leaf of each class: of its original rows, or else of its released values."""
    if pair.link is None:
        ends = [(c.cover.least[c.codes[first]], c.cover.greatest[c.codes[first]]) for c in quasi]
    else:
        order = np.argsort(ids, kind="stable")
        starts = np.searchsorted(ids[order], np.arange(int(ids.max()) + 1))
        rest = np.zeros(first.size - starts.size, dtype=np.int64)
        ends = []
        for column in quasi:
            leaves = pair.before[column.name].codes[pair.link][order]
            each = [np.append(f.reduceat(leaves, starts), rest) for f in (np.minimum, np.maximum)]
            ends.append((each[0], each[1]))
    return np.stack([low for low, _ in ends], axis=1), np.stack([high for _, high in ends], axis=1)


def _set_sizes(pair: TablePair, quasi: Sequence[CoveredColumn], ids: IntArray, first: IntArray) -> IntArray:
    """Return how many values of each class there are: of its original rows, or else those its released values name.

    Only of text without a hierarchy, 0 for other columns.
    """
    sizes = np.zeros((first.size, len(quasi)), dtype=np.int64)
    for i, (column, attribute) in enumerate(zip(quasi, pair.counts.attributes, strict=True)):
        if attribute.tree or attribute.positions is not None:
            continue
        if pair.link is None:
            sizes[:, i] = column.cover.sizes[column.codes[first]]
        else:
            leaves = pair.before[column.name].codes[pair.link]
            pairs = np.unique(ids * attribute.leaves + leaves)
            sizes[:, i] = np.bincount(pairs // attribute.leaves, minlength=first.size)
    return sizes


def _labels(pair: TablePair, ids: IntArray, count: int) -> IntArray | None:
    """Return how often each label occurs in each class; None if that is unknown."""
    name = pair.schema.class_attribute
    if name is None:
        return None
    column = pair.after[name]
    if pair.link is None and (column.cover.sizes > 1).any():
        return None
    leaves = column.cover.least[column.codes] if pair.link is None else pair.before[name].codes[pair.link]
    present, label = np.unique(leaves, return_inverse=True)
    counts = np.bincount(ids * present.size + label, minlength=count * present.size)
    return counts.reshape(count, present.size)


def _nodes(column: CoveredColumn) -> tuple[IntArray, IntArray]:
    """Return the hierarchy level and block of each value; the level is -1 if the value is not a node.

    If all values are blocks of one level, they have that level, although a leaf without siblings may also be found
    below it; otherwise each has the lowest level on which it is found.
    """
    ancestors, cover = column.attribute.domain.ancestors, column.cover
    found = np.full(len(cover), -1, dtype=np.int64)
    block = np.zeros(len(cover), dtype=np.int64)
    for level, blocks in enumerate(ancestors):
        of_leaf = blocks[cover.leaf]
        low, high = (f.reduceat(of_leaf, cover.first[:-1]) for f in (np.minimum, np.maximum))
        whole = (low == high) & (np.bincount(blocks)[low] == cover.sizes)
        if whole.all():
            return np.full(len(cover), level, dtype=np.int64), low.astype(np.int64)
        new = whole & (found < 0)
        found[new], block[new] = level, low[new]
    return found, block


def _local(pair: TablePair, quasi: Sequence[CoveredColumn]) -> bool:
    """Whether equal values are released differently."""
    for column in quasi:
        if pair.link is None:
            shown = np.bincount(column.cover.leaf, minlength=column.cover.leaves)
        else:
            leaves = pair.before[column.name].codes[pair.link]
            pairs = np.unique(leaves * len(column.cover) + column.codes)
            shown = np.bincount(pairs // len(column.cover))
        if (shown > 1).any():
            return True
    return False
