"""What is told about each quasi-identifier of a release: released values and counts, and nothing about few people.

Everything here counts people who are in the release, under the values that were released: nothing can be learned about
those left out. "Before" are the original values of released people.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import polars as pl

from discreet._numbers import add_up
from discreet.counts import CountTable, FloatArray, IntArray
from discreet.release._bins import Steps, evenly_spread, round_between, round_ranges
from discreet.release._small import merged
from discreet.schema import Domain, Type, shown_hierarchy, text_of

if TYPE_CHECKING:
    from discreet.engines import Counted, Recoding
    from discreet.problem import Scheme
    from discreet.solve import Cover, Groups, Solution

__all__ = [
    "MOST_KEPT",
    "Bar",
    "Box",
    "ReleasedColumn",
    "Told",
    "is_automatic",
    "kept_rows",
    "released_names",
    "tell_columns",
]

MOST_KEPT = 300_000
"""What is known about problems of more tuples is not kept for later."""
State = Literal["above", "released", "below"]
_BARS = 14
_PARTS = 12
_BOXES = 150
_STEPS = 80
_STATES: tuple[State, ...] = ("released", "below", "above")
_DETAIL = (0.0, 0.02, 0.1, 0.5)
"""Shares of a column's values a released value may stand for, the first of which is one value."""


@dataclass(frozen=True)
class Bar:
    """A released value, and how many people have it."""

    name: str
    rows: int
    parts: tuple[int, ...] = ()
    """How many of the people have each of the original values it stands for, the most frequent first; not if many."""
    values: int = 1
    """How many different released values it is; more than one for all others together."""
    originals: int = 1
    """How many different original values it stands for."""


@dataclass(frozen=True)
class Box:
    """A node of a hierarchy: the people under it, its place with regard to what is released, and its name if told."""

    rows: int
    state: State
    name: str = ""


Tree = tuple[tuple[Box, ...] | int, ...]
"""The nodes of a hierarchy level by level, the root first; only their number where they are many."""


@dataclass(frozen=True)
class ReleasedColumn:
    """All that is told about one quasi-identifier."""

    name: str
    type: str
    scheme: str
    hierarchy: str | None
    """How the hierarchy was given, or made; None without one."""
    automatic: bool
    values: int
    """How many different values it is released as."""
    of: int | None
    """How many different values the released people had; None where it is not known which rows of a class were left
    out."""
    level: int | None
    height: int | None
    bars: tuple[Bar, ...]
    before: Steps | None = None
    """How many people had numbers or dates of each range, before."""
    after: Steps | None = None
    """The same as the release shows it."""
    tree: Tree = ()
    detail: tuple[tuple[str, int], ...] = ()
    """Where each class shows its own values: how much of the column they cover, and for how many people."""


class Told(Sequence[ReleasedColumn]):
    """What is told about each quasi-identifier, put together when it is first asked for.

    Most releases are never asked, and putting it together takes as long as searching a small table does.
    """

    def __init__(self, tell: Callable[[], tuple[ReleasedColumn, ...]]) -> None:
        self._tell: Callable[[], tuple[ReleasedColumn, ...]] | None = tell
        self._columns: tuple[ReleasedColumn, ...] = ()

    @overload
    def __getitem__(self, index: int) -> ReleasedColumn: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[ReleasedColumn]: ...
    def __getitem__(self, index: int | slice) -> ReleasedColumn | Sequence[ReleasedColumn]:
        return self._all()[index]

    def __len__(self) -> int:
        return len(self._all())

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (self._all(),)

    def _all(self) -> tuple[ReleasedColumn, ...]:
        if self._tell is not None:
            self._columns, self._tell = self._tell(), None
        return self._columns


def tell_columns(
    counted: Counted, schemes: Mapping[str, Scheme], solution: Solution, recoding: Recoding, least: int
) -> Sequence[ReleasedColumn]:
    """Return what is told about each quasi-identifier; counts of fewer than ``least`` people are not.

    Of a large table it is put together at once, so that the counts need not be kept.
    """
    told = Told(lambda: _tell(counted, schemes, solution, recoding, least))
    return tuple(told) if counted.table.tuples > MOST_KEPT else told


def _tell(
    counted: Counted, schemes: Mapping[str, Scheme], solution: Solution, recoding: Recoding, least: int
) -> tuple[ReleasedColumn, ...]:
    table = counted.table
    kept = kept_rows(table, solution)
    sizes = None if solution.groups is None else _sizes(solution.groups)
    everybody = table.n - solution.suppressed_rows
    columns = []
    for number, (name, domain) in enumerate(counted.domains.items()):
        rows = None if kept is None else add_up(table.codes[number], kept, domain.ancestors.shape[1])
        level = None if solution.levels is None else int(solution.levels[number])
        told = not (everybody < table.n and is_automatic(domain))
        facts = {
            "name": name,
            "type": str(domain.type),
            "scheme": schemes[name].text,
            "hierarchy": shown_hierarchy(domain.text or None),
            "automatic": domain.automatic,
            "of": None if rows is None else int((rows > 0).sum()),
            "level": level if told or level == 0 else None,  # that values stay as they are is there to see
            "height": domain.height if level is not None and told else None,
        }
        if solution.blocks:
            released = _released_rows(table, solution, number) if rows is None else rows
            column = _global_column(domain, solution.blocks[number], level, rows, released, recoding, least, facts)
            columns.append(column if told else replace(column, tree=()))
        elif solution.groups is not None and sizes is not None and rows is not None:
            columns.append(_local_column(domain, solution.groups, sizes, number, recoding, rows, least, facts))
    return tuple(columns)


def is_automatic(domain: Domain) -> bool:
    """Whether the hierarchy was made from all values of the column, so that its shape depends on people left out."""
    return domain.automatic or domain.text.startswith("auto")


def kept_rows(table: CountTable, solution: Solution) -> IntArray | None:
    """Return how many rows of each tuple are released; None where single records of classes are left out.

    Of those it is known what class they are in, and not what original values they have.
    """
    if solution.groups is not None:
        groups = solution.groups
        there = groups.group >= 0
        return add_up(groups.tuple[there], groups.count[there], table.tuples)
    if solution.inside is not None and solution.inside.records and solution.inside.count.any():
        return None
    if not solution.suppressed.size:
        return table.weights
    return np.where(solution.suppressed, 0, table.weights)


def _released_rows(table: CountTable, solution: Solution, number: int) -> IntArray:
    """Return how many released rows are in the block of each leaf where records were taken out of classes that stay.

    They are counted at one or several leaves of the block.
    """
    gone = solution.suppressed if solution.suppressed.size else np.zeros(table.tuples, dtype=np.bool_)
    leaves = table.attributes[number].leaves
    rows = add_up(table.codes[number], np.where(gone, 0, table.weights), leaves)
    taken = solution.inside
    if taken is not None and taken.records:
        rows = rows - add_up(table.codes[number][taken.example], taken.count, leaves)
    return rows


def _global_column(
    domain: Domain,
    blocks: IntArray,
    level: int | None,
    rows: IntArray | None,
    released_rows: IntArray,
    recoding: Recoding,
    least: int,
    facts: Mapping[str, object],
) -> ReleasedColumn:
    _, block = np.unique(blocks, return_inverse=True)
    size = int(block.max(initial=-1)) + 1
    released = add_up(block, released_rows, size)
    names = released_names(domain, block, size, recoding)
    spread = None if rows is None else _before(domain, rows, least)
    return ReleasedColumn(
        **facts,  # type: ignore[arg-type]
        values=int((released > 0).sum()),
        bars=_bars(names, released, None if rows is None else block, rows, least),
        before=spread,
        after=None if spread is None or rows is None else _after(domain, block, rows, least, spread),
        tree=() if rows is None else _tree(domain, block, level, rows, names, least),
    )


def released_names(domain: Domain, block: IntArray, size: int, recoding: Recoding) -> list[str | None]:
    """Return what the release calls each block; None for missing values, and for blocks without a released value.

    A column keeps its values where each block has a single one in released rows; those of other rows name nothing.
    """
    mapped = recoding.maps.get(domain.name)
    texts = text_of(domain.values if mapped is None else mapped.released).cast(pl.String)
    there = texts.is_not_null().to_numpy()
    known = np.flatnonzero(there if domain.there is None else there & domain.there[domain.codes])
    numbers, first = np.unique(block[domain.codes[known]], return_index=True)
    names: list[str | None] = [None] * size
    for number, text in zip(numbers.tolist(), texts.gather(known[first]).to_list(), strict=True):
        names[number] = text
    return names


def _local_column(
    domain: Domain,
    groups: Groups,
    sizes: IntArray,
    number: int,
    recoding: Recoding,
    rows: IntArray,
    least: int,
    facts: Mapping[str, object],
) -> ReleasedColumn:
    shown = None if recoding.shares is None else recoding.shares.shown.get(domain.name)
    if shown is None:
        texts, counts = pl.Series(domain.labels[0], dtype=pl.String), rows
    else:
        texts, counts = shown.cast(pl.String), sizes
    names, counts = _most_first(texts, counts)
    spread = _before(domain, rows, least)
    cover = groups.covers[number]
    detail: tuple[tuple[str, int], ...] = ()
    if groups.show == "cover":
        detail = _detail(domain, cover, sizes, rows, least)
    return ReleasedColumn(
        **facts,  # type: ignore[arg-type]
        values=len(names),
        bars=_bars(names, counts, None, None, least),
        before=spread,
        after=None if spread is None or groups.show != "cover" else _after_cover(domain, cover, sizes, rows, spread),
        detail=detail,
    )


def _sizes(groups: Groups) -> IntArray:
    """Return how many people are in each group."""
    there = groups.group >= 0
    return add_up(groups.group[there], groups.count[there], int(groups.group.max(initial=-1)) + 1)


def _most_first(texts: pl.Series, rows: IntArray) -> tuple[pl.Series, IntArray]:
    """Return each released text and how many people have it: as many as get a bar in order, and then all others."""
    told = pl.DataFrame({"text": texts, "rows": rows}).group_by("text").agg(pl.col("rows").sum())
    told = told.filter(pl.col("rows") > 0)
    counts = told["rows"].to_numpy()
    enough = int(np.partition(counts, -_BARS)[-_BARS]) if counts.size > _BARS else 0
    most = told.filter(pl.col("rows") >= enough).sort("rows", "text", descending=[True, False])
    told = pl.concat([most, told.filter(pl.col("rows") < enough)])
    return told["text"], told["rows"].to_numpy()


def _bars(
    names: Sequence[str | None] | pl.Series,
    released: IntArray,
    block: IntArray | None,
    rows: IntArray | None,
    least: int,
) -> tuple[Bar, ...]:
    """Return the released values with most people in their order, and the others as one."""
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
        had = None if block is None or rows is None else rows[block == number]
        if had is None:
            bars.append(Bar(name, int(released[number])))
        else:
            bars.append(Bar(name, int(released[number]), _parts(had, least), originals=int((had > 0).sum())))
    remaining = int(released[rest].sum())
    if remaining >= least:
        bars.append(Bar("", remaining, values=int(rest.size)))
    return tuple(bars)


def _parts(rows: IntArray, least: int) -> tuple[int, ...]:
    """Return how many people have each original value of a block, the most frequent first and small ones together."""
    ordered = np.sort(rows[rows > 0])[::-1]
    if ordered.size > _PARTS:
        return ()
    large = ordered[ordered >= least]
    rest = int(ordered.sum() - large.sum())
    if rest and (rest < least) and large.size:
        return (*large[:-1].tolist(), int(large[-1]) + rest)
    return (*large.tolist(), rest) if rest else tuple(large.tolist())


def _before(domain: Domain, rows: IntArray, least: int) -> Steps | None:
    """Return how many people have numbers or dates of each range."""
    if domain.positions is None:
        return None
    known = ~np.isnan(domain.positions)
    return round_ranges(domain.positions[known], rows[known], least, date=domain.type == Type.DATE)


def _after(domain: Domain, block: IntArray, rows: IntArray, least: int, before: Steps) -> Steps | None:
    """Return how many people have each released range; None where blocks are no ranges, or too many to tell apart."""
    there = np.flatnonzero(rows > 0)
    positions = np.zeros(0) if domain.positions is None else domain.positions[there]
    known = ~np.isnan(positions)
    places, of = positions[known], block[there][known]
    changes = np.flatnonzero(np.diff(of)) + 1
    if changes.size >= _STEPS or len(np.unique(of)) != changes.size + 1:
        return None
    counts = np.add.reduceat(rows[there][known], np.concatenate([[0], changes]))
    cell = merged(counts, least)
    first = np.flatnonzero(np.diff(cell, prepend=-1))
    inner = [round_between(places[i - 1], places[i], date=before.date) for i in changes[first[1:] - 1].tolist()]
    low, high = before.edges[0], before.edges[-1]
    inside = list(dict.fromkeys(edge for edge in inner if low < edge < high))  # two times of a day have one edge
    joined = add_up(np.searchsorted(inside, [-np.inf, *inner], side="right"), np.add.reduceat(counts, first), 0)
    return Steps((low, *inside, high), tuple(joined.tolist()), before.date)


def _after_cover(domain: Domain, cover: Cover, sizes: IntArray, rows: IntArray, before: Steps) -> Steps | None:
    """Return how many people have each range of ``before`` if what a class shows is taken to be spread evenly."""
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


def _detail(domain: Domain, cover: Cover, sizes: IntArray, rows: IntArray, least: int) -> tuple[tuple[str, int], ...]:
    """Return for how many people a class shows one value, a few, or all of a column; few people count as the next.

    Values are those that released people had.
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
    place = np.searchsorted(_DETAIL, share) + (share >= 1)
    names = ["one value", *(f"up to {100 * limit:g} % of the values" for limit in _DETAIL[1:]), "more", "all of them"]
    people = add_up(place, sizes, len(names))
    some = np.flatnonzero(people)
    cell = merged(people[some], least)
    last = some[np.append(np.flatnonzero(np.diff(cell)), len(cell) - 1)] if some.size else some
    return tuple((names[i], int(count)) for i, count in zip(last, add_up(cell, people[some], 0), strict=True))


def _tree(
    domain: Domain,
    block: IntArray,
    level: int | None,
    rows: IntArray,
    names: Sequence[str | None],
    least: int,
) -> Tree:
    """Return the nodes of the hierarchy under which released people are, where every released value is one.

    What is released is named as in the release, and so are nodes above in a hierarchy that was given; those of an
    automatic one are made of all values, also of people left out. Of nodes that too few people have, those beside
    each other under one node are one box.
    """
    states = _states(domain, block, level, rows, names)
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
        cells = [merged(people[parent == number], least) for number in np.unique(parent).tolist()]
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
    domain: Domain, block: IntArray, level: int | None, rows: IntArray, names: Sequence[str | None]
) -> list[list[State]] | None:
    """Return for each node of each level where it is with regard to what is released; None if that is no cut.

    Only values of released people count: what became of others must not show. Of nodes that hold the same of these,
    the one with the released name is taken for the released one, or else the lowest.
    """
    if level is not None:
        return [
            ["below" if height < level else "above" if height > level else "released"] * len(labels)
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
