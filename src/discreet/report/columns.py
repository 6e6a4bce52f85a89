"""What reports show of each quasi-identifier: released values, and counts that are large enough.

Only people in the release are counted, so nothing can be learned about those left out. "Before" means the original
values of released people.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import polars as pl

from discreet.counts import CountTable, FloatArray, IntArray
from discreet.report.ranges import RangeCounts, evenly_spread, round_between, round_ranges
from discreet.report.small_counts import merge_small_cells
from discreet.runtime.integer_codes import add_up
from discreet.schema import Domain, Type, hierarchy_for_reports, text_of

if TYPE_CHECKING:
    from discreet.engines import Counted, Recoding
    from discreet.problem import Scheme
    from discreet.solve import GroupCovers, LocalRecoding, Solution

__all__ = [
    "MOST_KEPT",
    "Bar",
    "Box",
    "ReleasedColumn",
    "is_automatic",
    "kept_rows",
    "released_names",
    "summarize_columns",
]

MOST_KEPT = 300_000
"""Counts of more tuples are not kept in memory after the search."""
State = Literal["above", "released", "below"]
_BARS = 14
_PARTS = 12
_BOXES = 150
_STEPS = 80
_STATES: tuple[State, ...] = ("released", "below", "above")
_DETAIL = (0.0, 0.02, 0.1, 0.5)
"""Limits of the share of a column's values that a released value covers; 0 means a single value."""


@dataclass(frozen=True)
class Bar:
    """A released value, and how many people have it."""

    name: str
    rows: int
    parts: tuple[int, ...] = ()
    """The people with each original value it covers, most frequent first; empty if there are many."""
    values: int = 1
    """The number of released values; more than one for the bar of all others."""
    originals: int = 1
    """The number of original values it covers."""


@dataclass(frozen=True)
class Box:
    """A node of a hierarchy: the people below it, its state relative to the released cut, and its name if shown."""

    rows: int
    state: State
    name: str = ""


Tree = tuple[tuple[Box, ...] | int, ...]
"""The nodes of a hierarchy level by level from the root; only their number where they are many."""


@dataclass(frozen=True)
class ReleasedColumn:
    """What reports show of a quasi-identifier."""

    name: str
    type: str
    scheme: str
    hierarchy: str | None
    """The text form of the hierarchy; None without one."""
    automatic: bool
    values: int
    """The number of released values."""
    of: int | None
    """The number of original values of released people; None if it is unknown which rows of a class were left out."""
    level: int | None
    height: int | None
    bars: tuple[Bar, ...]
    before: RangeCounts | None = None
    """The histogram of numbers or dates, before."""
    after: RangeCounts | None = None
    """The same as released."""
    tree: Tree = ()
    detail: tuple[tuple[str, int], ...] = ()
    """For local recoding: how much of the column the released values cover, and for how many people."""


class _LazyColumns(Sequence[ReleasedColumn]):
    """Columns that are summarized on first access.

    Most releases are never reported, and summarizing takes as long as searching a small table.
    """

    def __init__(self, summarize: Callable[[], tuple[ReleasedColumn, ...]]) -> None:
        self._summarize: Callable[[], tuple[ReleasedColumn, ...]] | None = summarize
        self._columns: tuple[ReleasedColumn, ...] = ()

    @overload
    def __getitem__(self, index: int) -> ReleasedColumn: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[ReleasedColumn]: ...
    def __getitem__(self, index: int | slice) -> ReleasedColumn | Sequence[ReleasedColumn]:
        return self._summarized()[index]

    def __len__(self) -> int:
        return len(self._summarized())

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (self._summarized(),)

    def _summarized(self) -> tuple[ReleasedColumn, ...]:
        if self._summarize is not None:
            self._columns, self._summarize = self._summarize(), None
        return self._columns


def summarize_columns(
    counted: Counted,
    schemes: Mapping[str, Scheme],
    solution: Solution,
    recoding: Recoding,
    least: int,
    unseen: Collection[str] = (),
) -> Sequence[ReleasedColumn]:
    """Summarize each quasi-identifier, but for ``unseen`` ones, without counts below ``least``.

    Large tables are summarized at once, so that their counts can be freed; others on first access.
    """

    def summarize() -> tuple[ReleasedColumn, ...]:
        every = _summarize(counted, schemes, solution, recoding, least)
        return tuple(column for column in every if column.name not in unseen)

    columns = _LazyColumns(summarize)
    return tuple(columns) if counted.table.tuples > MOST_KEPT else columns


@dataclass(frozen=True, eq=False)
class _RecodedColumn:
    """A quasi-identifier, and the released people by leaf of its domain."""

    index: int
    domain: Domain
    level: int | None
    rows: IntArray | None
    """The released rows of each leaf; None if it is unknown which rows of a class were left out."""
    least: int
    facts: Mapping[str, Any]
    """Fields of the summary that do not depend on the kind of recoding."""


def _summarize(
    counted: Counted, schemes: Mapping[str, Scheme], solution: Solution, recoding: Recoding, least: int
) -> tuple[ReleasedColumn, ...]:
    table = counted.table
    kept = kept_rows(table, solution)
    sizes = None if solution.groups is None else _group_sizes(solution.groups)
    anybody_left_out = solution.suppressed_rows > 0
    columns = []
    for index, (name, domain) in enumerate(counted.domains.items()):
        rows = None if kept is None else add_up(table.codes[index], kept, domain.ancestors.shape[1])
        level = None if solution.levels is None else int(solution.levels[index])
        publishable = not (anybody_left_out and is_automatic(domain))
        facts = {
            "name": name,
            "type": str(domain.type),
            "scheme": schemes[name].text,
            "hierarchy": hierarchy_for_reports(domain.text or None),
            "automatic": domain.automatic,
            "of": None if rows is None else int((rows > 0).sum()),
            "level": level if publishable or level == 0 else None,  # everybody sees that values are unchanged
            "height": domain.height if level is not None and publishable else None,
        }
        column = _RecodedColumn(index, domain, level, rows, least, facts)
        if solution.blocks:
            released = _released_rows(table, solution, index) if rows is None else rows
            summary = _global_column(column, solution.blocks[index], released, recoding)
            columns.append(summary if publishable else replace(summary, tree=()))
        elif solution.groups is not None and sizes is not None and rows is not None:
            columns.append(_local_column(column, rows, solution.groups, sizes, recoding))
    return tuple(columns)


def is_automatic(domain: Domain) -> bool:
    """Whether the hierarchy was made from the values of the column, so that it depends on people left out."""
    return domain.automatic or domain.text.startswith("auto")


def kept_rows(table: CountTable, solution: Solution) -> IntArray | None:
    """Return the released rows of each tuple; None if of single suppressed records only the class is known."""
    if solution.groups is not None:
        groups = solution.groups
        there = groups.group >= 0
        return add_up(groups.tuple[there], groups.count[there], table.tuples)
    inside, rows = solution.inside, table.weights
    if inside is not None and inside.records and inside.count.any():
        if not inside.by_tuple:
            return None
        rows = rows - add_up(inside.example, inside.count, table.tuples)
    if table.people is not None and solution.suppressed_people is not None:
        gone = np.zeros(table.people.count, dtype=np.bool_)
        gone[solution.suppressed_people] = True
        tuples = np.repeat(np.arange(table.tuples), table.people.of_tuples)
        return add_up(tuples, np.where(gone[table.people.members], 0, table.people.rows), table.tuples)
    return np.where(solution.suppressed, 0, rows) if solution.suppressed.size else rows


def _released_rows(table: CountTable, solution: Solution, index: int) -> IntArray:
    """Return the released rows of each leaf where single records of classes are suppressed.

    Only the sums over blocks are meaningful: suppressed records are subtracted at any leaf of their block.
    """
    gone = solution.suppressed if solution.suppressed.size else np.zeros(table.tuples, dtype=np.bool_)
    leaves = table.attributes[index].leaves
    rows = add_up(table.codes[index], np.where(gone, 0, table.weights), leaves)
    taken = solution.inside
    if taken is not None and taken.records:
        rows = rows - add_up(table.codes[index][taken.example], taken.count, leaves)
    return rows


def _global_column(
    column: _RecodedColumn, blocks: IntArray, released_rows: IntArray, recoding: Recoding
) -> ReleasedColumn:
    domain, rows, least = column.domain, column.rows, column.least
    _, block = np.unique(blocks, return_inverse=True)
    size = int(block.max(initial=-1)) + 1
    released = add_up(block, released_rows, size)
    names = released_names(domain, block, size, recoding)
    spread = None if rows is None else _before(domain, rows, least)
    return ReleasedColumn(
        **column.facts,
        values=int((released > 0).sum()),
        bars=_bars(names, released, None if rows is None else (block, rows), least),
        before=spread,
        after=None if spread is None or rows is None else _after(domain, block, rows, least, spread),
        tree=() if rows is None else _tree(column, rows, block, names),
    )


def released_names(domain: Domain, block: IntArray, size: int, recoding: Recoding) -> list[str | None]:
    """Return the released name of each block; None for missing values and for blocks without a released value."""
    mapped = recoding.maps.get(domain.name)
    texts = text_of(domain.values if mapped is None else mapped.released).cast(pl.String)
    there = texts.is_not_null().to_numpy()
    known = np.flatnonzero(there if domain.released_leaves is None else there & domain.released_leaves[domain.codes])
    numbers, first = np.unique(block[domain.codes[known]], return_index=True)
    names: list[str | None] = [None] * size
    for number, text in zip(numbers.tolist(), texts.gather(known[first]).to_list(), strict=True):
        names[number] = text
    return names


def _local_column(
    column: _RecodedColumn, rows: IntArray, groups: LocalRecoding, sizes: IntArray, recoding: Recoding
) -> ReleasedColumn:
    domain, least = column.domain, column.least
    shown = None if recoding.shares is None else recoding.shares.shown_of(domain.name)
    if shown is None:
        texts, counts = pl.Series(domain.labels[0], dtype=pl.String), rows
    else:
        texts, counts = shown.cast(pl.String), sizes
    names, counts = _most_frequent_first(texts, counts)
    spread = _before(domain, rows, least)
    cover = groups.covers[column.index]
    covers = groups.show == "cover"
    return ReleasedColumn(
        **column.facts,
        values=len(names),
        bars=_bars(names, counts, None, least),
        before=spread,
        after=None if spread is None or not covers else _after_cover(domain, cover, sizes, rows, spread),
        detail=_detail(domain, cover, sizes, rows, least) if covers else (),
    )


def _group_sizes(groups: LocalRecoding) -> IntArray:
    """Return the number of people in each group."""
    there = groups.group >= 0
    return add_up(groups.group[there], groups.count[there], int(groups.group.max(initial=-1)) + 1)


def _most_frequent_first(texts: pl.Series, rows: IntArray) -> tuple[pl.Series, IntArray]:
    """Return the distinct texts and their counts; those that may get a bar are sorted, most frequent first."""
    counted = pl.DataFrame({"text": texts, "rows": rows}).group_by("text").agg(pl.col("rows").sum())
    counted = counted.filter(pl.col("rows") > 0)
    counts = counted["rows"].to_numpy()
    enough = int(np.partition(counts, -_BARS)[-_BARS]) if counts.size > _BARS else 0
    most = counted.filter(pl.col("rows") >= enough).sort("rows", "text", descending=[True, False])
    counted = pl.concat([most, counted.filter(pl.col("rows") < enough)])
    return counted["text"], counted["rows"].to_numpy()


def _bars(
    names: Sequence[str | None] | pl.Series,
    released: IntArray,
    originals: tuple[IntArray, IntArray] | None,
    least: int,
) -> tuple[Bar, ...]:
    """Return a bar for each of the most frequent released values, in their order, and one for all others.

    ``originals`` are the block and the released rows of each leaf, if they are known.
    """
    there = np.flatnonzero(released > 0)
    order = there[np.argsort(-released[there], kind="stable")]
    shown = order[released[order] >= least]
    if shown.size < there.size or shown.size > _BARS:
        shown = shown[: _BARS - 1]
    others = released > 0
    others[shown] = False
    rest = np.flatnonzero(others)
    while 0 < released[rest].sum() < least and shown.size:
        rest, shown = np.append(rest, shown[-1]), shown[:-1]
    shown = np.sort(shown)
    bars = []
    for number in shown.tolist():
        name = "missing" if names[number] is None else str(names[number])
        if originals is None:
            bars.append(Bar(name, int(released[number])))
        else:
            block, rows = originals
            had = rows[block == number]
            bars.append(Bar(name, int(released[number]), _parts(had, least), originals=int((had > 0).sum())))
    remaining = int(released[rest].sum())
    if remaining >= least:
        bars.append(Bar("", remaining, values=int(rest.size)))
    return tuple(bars)


def _parts(rows: IntArray, least: int) -> tuple[int, ...]:
    """Return the people with each original value of a block, most frequent first and small counts merged."""
    ordered = np.sort(rows[rows > 0])[::-1]
    if ordered.size > _PARTS:
        return ()
    large = ordered[ordered >= least]
    rest = int(ordered.sum() - large.sum())
    if rest and (rest < least) and large.size:
        return (*large[:-1].tolist(), int(large[-1]) + rest)
    return (*large.tolist(), rest) if rest else tuple(large.tolist())


def _before(domain: Domain, rows: IntArray, least: int) -> RangeCounts | None:
    """Return the histogram of original numbers or dates; None for text."""
    if domain.positions is None:
        return None
    known = ~np.isnan(domain.positions)
    return round_ranges(domain.positions[known], rows[known], least, date=domain.type == Type.DATE)


def _after(domain: Domain, block: IntArray, rows: IntArray, least: int, before: RangeCounts) -> RangeCounts | None:
    """Return the histogram of released ranges; None if blocks are not ranges, or too many to draw."""
    there = np.flatnonzero(rows > 0)
    positions = np.zeros(0) if domain.positions is None else domain.positions[there]
    known = ~np.isnan(positions)
    positions, of = positions[known], block[there][known]
    changes = np.flatnonzero(np.diff(of)) + 1
    if changes.size >= _STEPS or len(np.unique(of)) != changes.size + 1:
        return None
    counts = np.add.reduceat(rows[there][known], np.concatenate([[0], changes]))
    cell = merge_small_cells(counts, least)
    first = np.flatnonzero(np.diff(cell, prepend=-1))
    inner = [round_between(positions[i - 1], positions[i], date=before.date) for i in changes[first[1:] - 1].tolist()]
    low, high = before.edges[0], before.edges[-1]
    edges = list(dict.fromkeys(edge for edge in inner if low < edge < high))  # two times of a day share an edge
    joined = add_up(np.searchsorted(edges, [-np.inf, *inner], side="right"), np.add.reduceat(counts, first), 0)
    return RangeCounts((low, *edges, high), tuple(joined.tolist()), before.date)


def _after_cover(
    domain: Domain, cover: GroupCovers, sizes: IntArray, rows: IntArray, before: RangeCounts
) -> RangeCounts | None:
    """Return the histogram over the bins of ``before`` if the people of a class are spread evenly over its range."""
    if cover.form == "set" or domain.positions is None:
        return None
    if cover.form == "range":
        low, high = domain.positions[cover.first], domain.positions[cover.second]
    else:
        low, high = np.empty(cover.first.size), np.empty(cover.first.size)
        for level in np.unique(cover.first).tolist():
            there, had = cover.first == level, np.flatnonzero(rows > 0)
            nodes, shown = domain.ancestors[level][had], cover.second[there]
            if (np.diff(nodes) < 0).any():
                return None
            low[there] = domain.positions[had[np.searchsorted(nodes, shown)]]
            high[there] = domain.positions[had[np.searchsorted(nodes, shown, side="right") - 1]]
    return evenly_spread(low, high, sizes, before)


def _detail(
    domain: Domain, cover: GroupCovers, sizes: IntArray, rows: IntArray, least: int
) -> tuple[tuple[str, int], ...]:
    """Return how many people have released values that cover one value of the column, a few, or all.

    Only values of released people count; a small count is merged with the next.
    """
    there = rows > 0
    leaves = max(int(there.sum()), 1)
    if cover.form == "node":
        covered = np.empty(cover.first.size)
        for level in np.unique(cover.first).tolist():
            here = cover.first == level
            width = int(domain.ancestors[level].max()) + 1
            covered[here] = np.bincount(domain.ancestors[level][there], minlength=width)[cover.second[here]]
    elif cover.form == "range":
        upto = np.append(0, np.cumsum(there))
        covered = (upto[cover.second + 1] - upto[cover.first]).astype(np.float64)
    else:
        covered = (cover.second - cover.first).astype(np.float64)
    share: FloatArray = np.where(covered <= 1, 0.0, covered / leaves)
    kind = np.searchsorted(_DETAIL, share) + (share >= 1)
    names = ["one value", *(f"up to {100 * limit:g} % of the values" for limit in _DETAIL[1:]), "more", "all of them"]
    people = add_up(kind, sizes, len(names))
    some = np.flatnonzero(people)
    cell = merge_small_cells(people[some], least)
    last = some[np.append(np.flatnonzero(np.diff(cell)), len(cell) - 1)] if some.size else some
    return tuple((names[i], int(count)) for i, count in zip(last, add_up(cell, people[some], 0), strict=True))


def _tree(column: _RecodedColumn, rows: IntArray, block: IntArray, names: Sequence[str | None]) -> Tree:
    """Return the nodes of the hierarchy above released people; empty unless every released value is a node.

    Released nodes have their released names. Nodes above are named if the hierarchy was given: names in an automatic
    one are made from all values, also those of people left out. Neighbouring siblings with small counts are merged.
    """
    domain, least = column.domain, column.least
    states = _states(column, rows, block, names)
    if (
        not domain.text
        or not rows.any()
        or states is None
        or any((np.diff(nodes) < 0).any() for nodes in domain.ancestors)
    ):
        return ()
    above = np.zeros(1, dtype=np.int64)
    drawn: list[tuple[Box, ...] | int] = []
    for height in range(domain.height, -1, -1):
        nodes = domain.ancestors[height]
        first = np.flatnonzero(np.diff(nodes, prepend=-1))
        people = np.add.reduceat(rows, first)
        first, people = first[people > 0], people[people > 0]
        if first.size > _BOXES:
            drawn += [int(first.size), *(_inhabited(domain, lower, rows) for lower in range(height - 1, -1, -1))]
            break
        parent = np.searchsorted(above, first, side="right")
        cells = [merge_small_cells(people[parent == number], least) for number in np.unique(parent).tolist()]
        begins = np.concatenate([np.diff(cell, prepend=-1) != 0 for cell in cells])
        last = np.append(np.flatnonzero(begins)[1:], first.size)
        boxes = []
        for begin, end in zip(np.flatnonzero(begins).tolist(), last.tolist(), strict=True):
            state = states[height][nodes[first[begin]]]
            name = ""
            if end == begin + 1 and state == "released":
                name = names[block[first[begin]]] or "missing"
            elif end == begin + 1 and state == "above" and not domain.automatic:
                name = domain.labels[height][nodes[first[begin]]] or "missing"
            boxes.append(Box(int(people[begin:end].sum()), state, name))
        drawn.append(tuple(boxes))
        above = first[begins]
    return tuple(drawn)


def _inhabited(domain: Domain, level: int, rows: IntArray) -> int:
    return len(np.unique(domain.ancestors[level][rows > 0]))


def _states(
    column: _RecodedColumn, rows: IntArray, block: IntArray, names: Sequence[str | None]
) -> list[list[State]] | None:
    """Return the state of each node of each level; None if the released values are not a cut of the hierarchy.

    Only values of released people count, as what became of others must not show. Of nodes that hold the same of these
    values, the one with the released name counts as released, or else the lowest.
    """
    domain = column.domain
    if column.level is not None:
        return [
            ["below" if height < column.level else "above" if height > column.level else "released"] * len(labels)
            for height, labels in enumerate(domain.labels)
        ]
    had = np.flatnonzero(rows > 0)
    own = block[had]
    size = np.bincount(own, minlength=len(names))
    chosen = np.full(len(names), -1)
    named = np.zeros(len(names), dtype=np.bool_)
    alone: list[IntArray] = []
    for height, ancestors in enumerate(domain.ancestors):
        nodes = ancestors[had]
        there, first = np.unique(nodes, return_index=True)
        leaves = np.bincount(nodes)
        kinds = np.unique(nodes.astype(np.int64) * len(names) + own) // len(names)
        whose = np.full(len(domain.labels[height]), -1)
        whose[there] = np.where(np.bincount(kinds, minlength=int(nodes.max(initial=0)) + 1)[there] == 1, own[first], -1)
        alone.append(whose)
        for node in there[whose[there] >= 0].tolist():
            number = whose[node]
            if leaves[node] == size[number] and not named[number]:
                named[number] = domain.labels[height][node] == names[number]
                chosen[number] = height if named[number] or chosen[number] < 0 else chosen[number]
    if (chosen[own] < 0).any():
        return None
    states: list[list[State]] = []
    for height, whose in enumerate(alone):
        step = np.sign(height - chosen[whose])
        states.append([_STATES[kind] for kind in np.where(whose < 0, 2, np.where(step > 0, 2, -step)).tolist()])
    return states
