"""A hierarchy: a tree over the values of a column, stored as an integer array and names of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from os import PathLike
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.runtime.integer_codes import by_appearance
from discreet.runtime.plurals import amount
from discreet.schema._column import canonical, value_text
from discreet.schema._files import read_rows, write_rows

__all__ = ["ROOT", "Hierarchy", "Level", "plant"]

ROOT = "*"

Level = tuple[NDArray[np.integer], Sequence[str]]
"""One level above the values: the block of each value, and the name of each block."""


class Hierarchy:
    """A tree with named nodes: one row per leaf, one column per level, the leaf first and the root last.

    Leaves are in depth-first order (children by first appearance), so that every node is a run of neighbouring leaves.
    A name repeated in neighbouring columns is one node, by which shallow leaves are padded.

    >>> tree = Hierarchy.from_rows([["State", "Government"], ["Private", "Private"], ["Local", "Government"]])
    >>> tree
    Hierarchy(3 leaves, height 2)
    >>> print(tree)
    * (3)
    ├── Government (2)
    │   ├── State
    │   └── Local
    └── Private
    """

    def __init__(self, labels: Sequence[Sequence[str]], ancestors: NDArray[np.int32], source: str = "") -> None:
        """Store arrays of the right form; users start from rows, files or builders."""
        self.labels: tuple[tuple[str, ...], ...] = tuple(map(tuple, labels))
        """``labels[level][block]``: the name of each node."""
        self.ancestors = ancestors
        """``ancestors[level, leaf]``: the block of each leaf at each level, numbered by first appearance."""
        self.source = source
        """The file the tree was read from, if it was."""
        ancestors.setflags(write=False)

    @classmethod
    def from_rows(
        cls, rows: Iterable[Sequence[Any]], *, source: str = "", lines: Sequence[int] | None = None
    ) -> Hierarchy:
        """Make a hierarchy from rows of names, leaf first; short rows are padded with their leaf.

        A root ``*`` is added if the last column has more than one name. ``lines`` are the row numbers in errors.
        """
        cells, lines = _distinct_rows([_clean(row) for row in rows], lines, source)
        columns = list(zip(*cells, strict=True))
        if len(columns) == 1 or len(set(columns[-1])) > 1:
            columns.append((ROOT,) * len(cells))
        levels = [_coded(column) for column in columns[1:]]
        for number, (lower, upper) in enumerate(pairwise(levels), start=1):
            if (conflict := _two_parents(lower, upper)) is not None:
                first, second = conflict
                name = columns[number][second]
                shown = "a name" if name in columns[0] else f"'{name}'"  # a leaf may be somebody's value
                raise DataError(
                    f"{_title(source)}: {shown} at level {number} has two parents at level {number + 1} "
                    f"(rows {lines[first]} and {lines[second]}); give it one parent, or use two names.",
                    topic="hierarchy-file",
                )
        labels, ancestors, _ = _arranged(pl.Series(columns[0], dtype=pl.String), levels)
        return cls(labels, ancestors, source)

    @classmethod
    def from_csv(
        cls, path: str | PathLike[str], *, header: bool | None = None, delimiter: str | None = None
    ) -> Hierarchy:
        """Read a file with one leaf per line, leaf first, root last: ARX's format, with or without a header.

        The delimiter (semicolon, tab or comma) and a header are detected unless given. Files may be gzipped.
        """
        rows, lines, source = read_rows(path, header=header, delimiter=delimiter)
        return cls.from_rows(rows, source=source, lines=lines)

    def to_csv(self, path: str | PathLike[str], *, header: bool = False, delimiter: str = ";") -> None:
        """Write the rows to a file, by default in ARX's format; gzipped if the name ends with ``.gz``."""
        names = [f"level{number}" for number in range(self.height + 1)]
        write_rows(path, [names, *self.rows()] if header else self.rows(), delimiter)

    @property
    def leaves(self) -> list[str]:
        """The names of the leaves, in order."""
        return list(self.labels[0])

    @property
    def height(self) -> int:
        """The highest level; levels run from 0, the leaves, to height, the root."""
        return len(self.labels) - 1

    @property
    def levels(self) -> list[list[str]]:
        """The columns: for each level the name every leaf has there."""
        return [
            [names[block] for block in blocks.tolist()]
            for names, blocks in zip(self.labels, self.ancestors, strict=True)
        ]

    def rows(self) -> list[list[str]]:
        """Return the rows: for each leaf its names from the leaf to the root."""
        return [list(row) for row in zip(*self.levels, strict=True)]

    def find(self, text: pl.Series) -> NDArray[np.int32]:
        """Return the leaf of each text, or -1; 17.0 finds 17 and True finds true."""
        found = np.array([self._index.get(item, -1) for item in text.to_list()], dtype=np.int32)
        misses = np.flatnonzero(found < 0)
        if misses.size:
            spelled: dict[str, int] = {}
            for name, leaf in self._index.items():
                spelled.setdefault(canonical(name), leaf)
            found[misses] = [spelled.get(canonical(item), -1) for item in text.gather(misses).to_list()]
        return found

    def nodes(self, name: str) -> list[tuple[int, int]]:
        """Return the level and the block of every node of a name, from the leaves up.

        >>> Hierarchy.from_rows([["State", "Government"], ["Local", "Government"]]).nodes("Government")
        [(1, 0)]
        """
        return self._nodes.get(name, [])

    @cached_property
    def _nodes(self) -> dict[str, list[tuple[int, int]]]:
        found: dict[str, list[tuple[int, int]]] = {}
        for level, names in enumerate(self.labels):
            for block, name in enumerate(names):
                found.setdefault(name, []).append((level, block))
        return found

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: leaf for leaf, name in enumerate(self.labels[0])}

    def show(self, limit: int = 20, depth: int | None = None) -> str:
        """Draw the tree with the number of leaves under each node.

        At most ``limit`` children of each node are drawn, and with ``depth`` only so many levels below the root.
        """
        lowest = 0 if depth is None else max(self.height - depth, 0)
        starts = [np.flatnonzero(np.diff(blocks, prepend=-1)) for blocks in self.ancestors]
        ends = [np.append(begin[1:], len(self.labels[0])) for begin in starts]

        def draw(level: int, block: int, first: str, rest: str) -> Iterator[str]:
            begin, end = int(starts[level][block]), int(ends[level][block])
            name = self.labels[level][block]
            while level and self.only_child(level, begin, end) == name:
                level -= 1
            yield f"{first}{name}" + (f" ({end - begin:,})" if level else "")
            if level <= lowest:
                return
            children = range(self.ancestors[level - 1, begin], self.ancestors[level - 1, end - 1] + 1)
            shown = children if len(children) <= limit else children[:limit]
            for child in shown:
                last = child == children[-1]
                yield from draw(
                    level - 1, child, rest + ("└── " if last else "├── "), rest + ("    " if last else "│   ")
                )
            if len(children) > limit:
                yield f"{rest}└── … {len(children) - limit:,} more"

        return "\n".join(draw(self.height, 0, "", "")) if self.labels[0] else ROOT

    def _repr_html_(self) -> str:
        from discreet.schema._tree_html import tree_html

        return tree_html(self)

    def only_child(self, level: int, begin: int, end: int) -> str | None:
        """Return the name of the only child of a node, given its first and last leaf; None if it has several."""
        first, last = self.ancestors[level - 1, [begin, end - 1]]
        return self.labels[level - 1][first] if first == last else None

    def __str__(self) -> str:
        return self.show()

    def __repr__(self) -> str:
        leaves = len(self.labels[0])
        return f"Hierarchy({amount(leaves, 'leaf', 'leaves')}, height {self.height})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hierarchy):
            return NotImplemented
        return self.labels == other.labels and np.array_equal(self.ancestors, other.ancestors)

    def __hash__(self) -> int:
        return hash(self.labels)


def plant(text: pl.Series, levels: Sequence[Level]) -> tuple[Hierarchy, NDArray[np.int64] | None]:
    """Return the hierarchy of levels over the values ``text``, and the index of the value of each leaf.

    A root is always added, so that the height follows from the levels and not from the data. The second result is None
    if leaf ``i`` is value ``i``.
    """
    root = (np.zeros(len(text), dtype=np.int64), [ROOT])
    labels, ancestors, order = _arranged(text, [*levels, root])
    return Hierarchy(labels, ancestors), order


def _arranged(
    text: pl.Series, levels: Sequence[Level]
) -> tuple[list[Sequence[str]], NDArray[np.int32], NDArray[np.int64] | None]:
    """Put leaves in depth-first order and number blocks by first appearance."""
    count = len(text)
    ancestors = np.empty((len(levels) + 1, count), dtype=np.int32)
    ancestors[0] = np.arange(count)
    order = None
    if any((np.diff(codes) < 0).any() for codes, _ in levels):
        order = np.lexsort([np.arange(count), *(by_appearance(codes) for codes, _ in levels)])
        text = text.gather(order)
    labels: list[Sequence[str]] = [text.to_list()]
    for level, (codes, names) in enumerate(levels, start=1):
        sorted_codes = codes if order is None else codes[order]
        new = np.diff(sorted_codes, prepend=-1) != 0
        blocks = sorted_codes[new].tolist()
        if (new & (np.diff(ancestors[level - 1], prepend=-1) == 0)).any() or len(set(blocks)) < len(blocks):
            raise DataError(
                f"A block of level {level - 1} lies in two blocks of level {level}; levels must nest.",
                topic="hierarchy-file",
            )
        ancestors[level] = np.cumsum(new) - 1
        labels.append([names[block] for block in blocks] if count else list(names))
    return labels, ancestors, order


def _coded(column: Sequence[str]) -> Level:
    seen: dict[str, int] = {}
    codes = [seen.setdefault(label, len(seen)) for label in column]
    return np.array(codes, dtype=np.int64), list(seen)


def _clean(row: Sequence[Any]) -> tuple[str, ...]:
    """Return a row as text without the empty cells at its end."""
    if isinstance(row, str):
        return (row,)
    if row and row[-1] and all(isinstance(cell, str) for cell in row):
        return tuple(row)
    cells = ["" if cell is None else value_text(cell) for cell in row]
    while len(cells) > 1 and not cells[-1]:
        cells.pop()
    return tuple(cells)


def _distinct_rows(
    rows: list[tuple[str, ...]], lines: Sequence[int] | None, source: str
) -> tuple[list[tuple[str, ...]], list[int]]:
    """Pad rows to one length and drop repeated ones; raise a DataError for gaps and conflicting rows of a leaf."""
    width = max(map(len, rows), default=0)
    seen: dict[str, int] = {}
    kept: list[tuple[str, ...]] = []
    kept_lines: list[int] = []
    for line, row in zip(lines or range(1, len(rows) + 1), rows, strict=True):
        if not row:
            continue
        if "" in row[1:]:
            raise DataError(
                f"{_title(source)}, row {line}: level {row.index('', 1)} is missing; fill the empty cell "
                "(to pad a shallow leaf, repeat it).",
                topic="hierarchy-file",
            )
        padded = (row[0],) * (width - len(row)) + row
        index = seen.setdefault(row[0], len(kept))
        if index == len(kept):
            kept.append(padded)
            kept_lines.append(line)
        elif kept[index] != padded:
            raise DataError(
                f"{_title(source)}: rows {kept_lines[index]} and {line} list the same leaf with different "
                "parents; keep one of them.",
                topic="hierarchy-file",
            )
    if not kept:
        raise DataError(f"{_title(source)} has no rows; give one row per leaf.", topic="hierarchy-file")
    return kept, kept_lines


def _two_parents(lower: Level, upper: Level) -> tuple[int, int] | None:
    """Return two rows with the same name on the lower level and different names on the upper one, if there are any."""
    first = np.unique(lower[0], return_index=True)[1][lower[0]]
    wrong = np.flatnonzero(upper[0][first] != upper[0])
    return (int(first[wrong[0]]), int(wrong[0])) if wrong.size else None


def _title(source: str) -> str:
    return f"Hierarchy '{source}'" if source else "The hierarchy"
