"""A column bound to its hierarchy: what each value becomes at each level."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import Argument, DataError, UsageError
from discreet.runtime.integer_codes import compact
from discreet.runtime.plurals import amount, either
from discreet.schema._blocks import block_names, node_levels
from discreet.schema._column import Column, Numbers, numbers_of, plain, text_of
from discreet.schema._forms import as_hierarchy
from discreet.schema._hierarchy import Hierarchy, plant
from discreet.schema._naming import Naming, renamed_nodes
from discreet.schema._types import Type, as_type, infer_type
from discreet.schema.builders import Builder, LevelBuilder
from discreet.schema.builders.flat import flat
from discreet.schema.builders.ordered import OrderedTree

__all__ = ["Domain", "make_domain"]

_MISSING = ("value", "error", "suppress")
_EXACT = 2.0**53
"""Whole numbers below this are exact as floats."""


@dataclass(frozen=True, eq=False)
class Domain:
    """A column bound to its hierarchy.

    Leaves have the codes 0, 1, … in the natural order of numbers and dates, in the given order of ordered text, else
    in the depth-first order of the hierarchy. Missing values are one more leaf at the end, which stays missing up to
    the root.
    """

    name: str
    type: Type
    values: pl.Series
    """The distinct values as they were read, including null if it occurs."""
    codes: NDArray[np.int32]
    """The leaf of each of ``values``."""
    ancestors: NDArray[np.int32]
    """``ancestors[level, leaf]``: the block of each leaf at each level, numbered by first appearance."""
    positions: NDArray[np.float64] | None
    """The number of each leaf (dates: days since 1970-01-01; missing: NaN); None for text."""
    labels: list[list[str | None]]
    """``labels[level][block]``: the released text; None where missing stays missing."""
    automatic: bool
    """Whether the hierarchy is automatic because none was given and one was needed."""
    text: str
    """The hierarchy's text form or the name of its file; empty if none was given and none was needed."""
    distances: NDArray[np.float64] | None
    """The positions minus a constant, so that differences between very large numbers are exact."""
    naming: Naming = Naming.FIXED
    """How the names of nodes depend on the values of the column."""
    released_leaves: NDArray[np.bool_] | None = None
    """Which leaves occur in released rows and may be named; None before that is known."""
    least_level: int = 0
    """The lowest level that may be released: nodes at it have their own names, also those of one value alone."""

    @property
    def height(self) -> int:
        """The highest level."""
        return len(self.labels) - 1

    @property
    def given(self) -> str | None:
        """How the hierarchy was given; None if it was not."""
        return None if self.automatic else self.text or None

    @cached_property
    def repeats(self) -> tuple[NDArray[np.bool_], ...]:
        """For each level, whether each block has one child of the same name, and so is the same node."""
        found = [np.zeros(len(self.labels[0]), dtype=np.bool_)]
        for level in range(1, len(self.labels)):
            below, above = self.ancestors[level - 1], self.ancestors[level]
            child, first = np.unique(below, return_index=True)
            parent = above[first]
            alone = np.bincount(parent, minlength=len(self.labels[level])) == 1
            same = np.zeros(len(alone), dtype=np.bool_)
            for block in child[alone[parent]].tolist():
                up = int(parent[block])
                same[up] = self.labels[level - 1][block] == self.labels[level][up]
            found.append(same)
        return tuple(found)

    def released(self, level: int) -> pl.Series:
        """Return what each of ``values`` becomes at a level: itself at level 0, text above.

        Spellings that share a leaf ("1.5" and "1.50") are released as one of them, so that the released values are
        the blocks that were counted.
        """
        if level:
            names = pl.Series(self.name, self.labels[level], dtype=pl.String)
            return names.gather(self.ancestors[level][self.codes])
        if len(np.unique(self.codes)) == len(self.codes):
            return self.values
        text = pl.col("text")
        shortest_first = pl.arg_sort_by(text.is_not_null(), text.str.len_chars(), text)
        frame = pl.DataFrame({"text": self.values.cast(pl.String)})
        order = frame.select(shortest_first).to_series().to_numpy()
        codes, first = np.unique(self.codes[order], return_index=True)
        chosen = np.zeros(self.ancestors.shape[1], dtype=np.int64)
        chosen[codes] = order[first]
        return self.values.gather(chosen[self.codes])

    def released_as(self, blocks: NDArray[np.integer]) -> pl.Series:
        """Return what each of ``values`` becomes if ``blocks[leaf]`` is the block of each leaf.

        If every released block is named by a single value, values stay as they are; else they become text, the names
        of their blocks.
        """
        number = _without_gaps(blocks)
        block = number[self.codes]
        if self._stand_alone(number)[block].all():
            return self.released(0)
        return pl.Series(self.name, self.block_names(number), dtype=pl.String).gather(block)

    def block_names(self, blocks: NDArray[np.integer]) -> list[str | None]:
        """Return the name of each block; ``blocks[leaf]`` is the block of each leaf, from 0 without gaps."""
        return block_names(
            self.labels,
            self.ancestors,
            blocks,
            ranges=self.positions is not None,
            released=self.released_leaves,
            by_values=self.naming is Naming.BY_VALUES,
            low=self.least_level,
        )

    def _stand_alone(self, number: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return whether each block is named by a single value or not released."""
        named = np.bincount(
            number, weights=self.released_leaves
        )  # without weights, the leaves of each block are counted
        if self.least_level and self.naming is not Naming.BY_VALUES:
            return np.asarray(named == 0)
        if (named > 1).all():
            return np.zeros(named.size, dtype=np.bool_)
        level = node_levels(self.ancestors, number)
        by_leaf = level < self.height if self.naming is Naming.BY_VALUES else level <= 0
        return np.asarray((named == 0) | ((named == 1) & by_leaf))

    def named_by(self, released_leaves: NDArray[np.bool_], least_level: int = 0) -> Domain:
        """Return the domain with nodes and blocks named by the leaves that occur in released rows.

        No name is that of a node below ``least_level``.
        """
        labels = renamed_nodes(
            self.labels, self.ancestors, released_leaves, self.naming, ranges=self.positions is not None
        )
        return replace(self, labels=labels, released_leaves=released_leaves, least_level=least_level)

    def names_depend_on_rows(self, blocks: NDArray[np.integer]) -> bool:
        """Whether names of blocks depend on the leaves of released rows; blocks are as for :meth:`released_as`."""
        number = _without_gaps(blocks)
        return self.naming is not Naming.FIXED or bool((node_levels(self.ancestors, number) < 0).any())

    def covered(self, blocks: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return which leaves the name of their block covers; ``blocks[leaf]`` is the block of each leaf.

        A value of suppressed rows only is not covered by a name that was made from other values.
        """
        if self.released_leaves is None:
            return np.ones(blocks.size, dtype=np.bool_)
        number = _without_gaps(blocks)
        level = node_levels(self.ancestors, number)[number]
        fixed = (level == 0) | (level == self.height)
        if self.naming is Naming.FIXED:
            fixed |= level > 0
        elif self.naming is not Naming.BY_VALUES:
            length = np.array([len(label or "") for label in self.labels[0]])
            fixed |= (level > 0) & (length <= length[self.released_leaves].max(initial=0))
        covered: NDArray[np.bool_] = self.released_leaves | fixed
        if self.positions is not None:
            covered |= self._within(number)
        return covered

    def _within(self, number: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return which leaves lie between the least and the greatest released leaf of their block."""
        assert self.released_leaves is not None
        assert self.positions is not None
        known = ~np.isnan(self.positions)
        size = int(number.max(initial=-1)) + 1
        low, high = np.full(size, number.size), np.full(size, -1)
        leaves = np.flatnonzero(self.released_leaves & known)
        np.minimum.at(low, number[leaves], leaves)
        np.maximum.at(high, number[leaves], leaves)
        leaf = np.arange(number.size)
        # A set such as {1, 5} covers nothing between its values.
        rank = np.cumsum(self.released_leaves & known)
        gaps = np.zeros(size, dtype=np.bool_)
        named = high >= 0
        gaps[named] = rank[high[named]] - rank[low[named]] + 1 != np.bincount(number[leaves], minlength=size)[named]
        return np.asarray(known & (low[number] <= leaf) & (leaf <= high[number]) & ~gaps[number])


def _without_gaps(blocks: NDArray[np.integer]) -> NDArray[np.int64]:
    """Number blocks from 0 without gaps, in their order."""
    if blocks.min(initial=0) < 0:
        blocks = blocks - blocks.min()
    return compact(blocks, int(blocks.max(initial=0)) + 1)[0]


def make_domain(
    name: str,
    values: pl.Series,
    hierarchy: Hierarchy | Builder | str | os.PathLike[str] | Sequence[Any] | Mapping[Any, Any] | None = None,
    *,
    type: Type | str | None = None,  # noqa: A002
    missing: Literal["value", "error", "suppress"] = "value",
    rows: NDArray[np.int64] | Sequence[int] | None = None,
    needed: bool = True,
) -> Domain:
    """Bind the distinct values of a column to a hierarchy, or to an automatic one.

    ``type`` overrides the inferred type. ``missing`` says what a null or NaN is: a value of its own, an error, or
    (``suppress``) something the caller has removed already. ``rows`` counts the rows of each value, for automatic
    hierarchies and for error messages. If no hierarchy is given or ``needed``, there are no levels between the values,
    in their natural order, and the root.

    >>> domain = make_domain("age", pl.Series([38, 21, None]), "intervals(5, 10)")
    >>> domain.codes.tolist(), domain.released(1).to_list()
    ([1, 0, 2], ['[35, 40)', '[20, 25)', None])
    """
    if missing not in _MISSING:
        raise UsageError(f"missing is one of {', '.join(_MISSING)}, not '{missing}'.", column=name)
    counts = None if rows is None else np.asarray(rows, dtype=np.int64)
    spec = flat() if hierarchy is None and not needed else as_hierarchy(hierarchy)
    ready = plain(name, values)
    absent = ready.is_null().to_numpy() if ready.null_count() else None
    if absent is not None:
        if missing != "value":
            _refuse_missing(name, absent, counts, missing)
        ready = ready.drop_nulls()
        counts = None if counts is None else counts[~absent]
    elif not len(ready):
        raise DataError(f"Column '{name}' has no values; leave it out or choose another file.", column=name)
    known = as_type(type) if type is not None else infer_type(ready)
    naming = Naming.FIXED
    if isinstance(spec, LevelBuilder):
        kind, tree, leaves, numbers, naming = _built(name, ready, spec, known, counts)
    else:
        if isinstance(spec, OrderedTree):
            known = Type.ORDERED
        tree = spec if isinstance(spec, Hierarchy) else spec.build(ready, known, name)
        kind, leaves, numbers = _matched(name, ready, tree, known, type is not None, counts)
    ancestors, labels = tree.ancestors.copy(), [list[str | None](level) for level in tree.labels]
    if numbers is not None and (numbers[1:] < numbers[:-1]).any():
        order = np.argsort(numbers, kind="stable")
        ancestors, labels = _reordered(ancestors, labels, order)
        leaves, numbers = _inverse(order)[leaves], numbers[order]
    positions = None if numbers is None else numbers.astype(np.float64)
    distances = None if numbers is None or positions is None else _distances(numbers, positions)
    codes = leaves.astype(np.int32)
    if absent is not None:
        codes = np.full(len(values), ancestors.shape[1], dtype=np.int32)
        codes[~absent] = leaves
        ancestors, labels = _with_missing(ancestors, labels)
        positions = None if positions is None else np.append(positions, np.nan)
        distances = None if distances is None else np.append(distances, np.nan)
    text = spec.text if isinstance(spec, Builder) else spec.source or repr(spec)
    if hierarchy is None and not needed:
        text = ""
    made = hierarchy is None and needed
    return Domain(name, kind, values, codes, ancestors, positions, labels, made, text, distances, naming)


def _distances(numbers: Numbers, positions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return positions whose differences are exact, which is all that solvers use.

    >>> _distances(np.array([2**53, 2**53 + 1]), np.array([2.0**53, 2.0**53]))
    array([0., 1.])
    """
    if numbers.dtype != np.int64 or not numbers.size or np.abs(positions).max() < _EXACT:
        return positions
    beyond: NDArray[np.uint64] = numbers.view(np.uint64) - numbers.min().view(np.uint64)  # exact for any signs
    return beyond.astype(np.float64)


def _built(
    name: str,
    values: pl.Series,
    builder: LevelBuilder,
    type: Type,  # noqa: A002
    rows: NDArray[np.int64] | None,
) -> tuple[Type, Hierarchy, NDArray[np.integer], Numbers | None, Naming]:
    """Build a hierarchy; return type, hierarchy, leaf of each value, number of each leaf, and naming."""
    if not len(values):
        tree, _ = plant(pl.Series([], dtype=pl.String), [])
        return type, tree, np.zeros(0, dtype=np.int32), np.zeros(0) if type.numeric else None, Naming.FIXED
    column = Column.read(name, values, type, builder.wants, rows)
    levels, naming = builder.named_levels(column)
    tree, order = plant(column.text, levels)
    if order is None:
        return column.type, tree, column.index, column.numbers, naming
    numbers = None if column.numbers is None else column.numbers[order]
    return column.type, tree, _inverse(order)[column.index], numbers, naming


def _matched(
    name: str,
    values: pl.Series,
    tree: Hierarchy,
    type: Type,  # noqa: A002
    given: bool,
    rows: NDArray[np.int64] | None,
) -> tuple[Type, NDArray[np.integer], Numbers | None]:
    """Match values with a given hierarchy; return type, leaf of each value and number of each leaf."""
    leaves = tree.find(text_of(values))
    lacking = leaves < 0
    if lacking.any():
        if type.numeric:
            numbers_of(name, values, type)  # an infinite value has an error of its own
        found = 0 if rows is None else int(rows[lacking].sum())
        where = (
            "" if rows is None else f" (in {amount(found, 'row')})" if found else " (of people of the population alone)"
        )
        source = f"'{tree.source}'" if tree.source else "given for it"
        unknown = int(lacking.sum())
        raise DataError(
            f"Column '{name}': {unknown:,} of its {amount(len(values), 'distinct value')}{where} "
            f"{either(unknown, 'is', 'are')} not in the hierarchy {source}; add a row for "
            f"{either(unknown, 'it', 'each')} to the hierarchy, or leave those records out.",
            column=name,
            topic="hierarchy-lacks-values",
        )
    if not type.numeric:
        return type, leaves, None
    try:
        return type, leaves, numbers_of(name, pl.Series(tree.labels[0], dtype=pl.String), type)
    except DataError:
        if not given:  # a leaf that does not occur is not a number: keep the order of the tree
            return Type.TEXT, leaves, None
        raise DataError(
            f"Column '{name}' was given the type {type}, but not all leaves of its hierarchy are; "
            "correct the hierarchy or leave the type out.",
            column=name,
        ) from None


def _reordered(
    ancestors: NDArray[np.int32], labels: list[list[str | None]], order: NDArray[np.integer]
) -> tuple[NDArray[np.int32], list[list[str | None]]]:
    """Reorder the leaves, and renumber the blocks by first appearance."""
    moved = np.empty_like(ancestors)
    names = []
    for level, blocks in enumerate(ancestors[:, order]):
        _, first, inverse = np.unique(blocks, return_index=True, return_inverse=True)
        by_appearance = np.argsort(first)
        moved[level] = _inverse(by_appearance)[inverse]
        names.append([labels[level][block] for block in by_appearance.tolist()])
    return moved, names


def _inverse(order: NDArray[np.integer]) -> NDArray[np.integer]:
    inverse = np.empty_like(order)
    inverse[order] = np.arange(len(order))
    return inverse


def _with_missing(
    ancestors: NDArray[np.int32], labels: list[list[str | None]]
) -> tuple[NDArray[np.int32], list[list[str | None]]]:
    """Add a leaf for missing values that is a block of its own up to the root."""
    alone = np.array([[len(level)] for level in labels[:-1]] + [[0]], dtype=np.int32)
    return np.hstack([ancestors, alone]), [[*level, None] for level in labels[:-1]] + [labels[-1]]


def _refuse_missing(
    name: str,
    absent: NDArray[np.bool_],
    rows: NDArray[np.int64] | None,
    missing: Literal["error", "suppress"],
) -> None:
    where = "" if rows is None else f" in {amount(int(rows[absent].sum()), 'row')}"
    way_out: tuple[str | Argument, ...]
    if missing == "error":
        value, suppress = Argument("missing", "value"), Argument("missing", "suppress")
        way_out = ("fill them in, or choose ", value, " (a value of its own) or ", suppress, " (no such rows).")
    else:
        way_out = ("take those rows out first, as ", Argument("missing", "suppress"), " promises.")
    raise DataError(f"Column '{name}' has missing values{where}; ", *way_out, column=name, topic="missing-values")
