"""The combinations of parts as tables with notes, for the terminal and for the documentation."""

from __future__ import annotations

import string
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from discreet.vocabulary import families

if TYPE_CHECKING:
    from discreet.solve import Combination

__all__ = ["LEGEND", "CombinationTable", "grids", "markdown", "text_lines"]

WIDTH = 100
LEGEND = (
    "✓ is searched in compiled kernels, (✓) by general code, which is slower. A number alone means that it is "
    "refused, for the reason below the table. A letter names partners that it needs instead of the defaults."
)
_SYMBOLS = {"compiled": "✓", "general": "(✓)", None: ""}
_WORDS = {"compiled": "✓ compiled", "general": "✓ general", None: ""}


Key = tuple[str, str]
"""A row and a column."""


@dataclass
class CombinationTable:
    """One table: for each pair of parts how it is searched, and the notes that belong to it."""

    first: str
    second: str
    cells: dict[Key, Combination]
    marks: dict[Key, list[str]] = field(default_factory=dict)
    """The labels of the notes of a cell; with an empty row those of a column, with an empty column those of a row."""
    notes: dict[str, str] = field(default_factory=dict)
    """The sentence of each label."""

    @property
    def title(self) -> str:
        """The kinds of parts in rows and columns, as in "Cost and scheme"."""
        kinds = [families()[name].kind for name in (self.first, self.second)]
        if self.first == self.second:
            return f"{kinds[0].capitalize()} and {kinds[1]} of another column"
        return f"{kinds[0].capitalize()} and {kinds[1]}"

    @property
    def rows(self) -> list[str]:
        """The parts in rows."""
        return list(dict.fromkeys(row for row, _ in self.cells))

    @property
    def columns(self) -> list[str]:
        """The parts in columns."""
        return list(dict.fromkeys(column for _, column in self.cells))

    def labels(self, row: str, column: str) -> str:
        """Return the labels of the notes of a cell, a row or a column."""
        return ",".join(self.marks.get((row, column), ()))


def grids(found: Sequence[Combination]) -> Iterator[CombinationTable]:
    """Yield a table for each pair of families, with its notes."""
    for (first, second), cells in groupby(found, key=lambda each: (each.first_family, each.second_family)):
        grid = CombinationTable(first, second, {(cell.first, cell.second): cell for cell in cells})
        _add_partners(grid)
        _add_reasons(grid)
        yield grid


def _add_partners(grid: CombinationTable) -> None:
    """Note what parts need instead of the defaults: at a row or a column if it is the same all along."""
    working = {key: _partners(cell) for key, cell in grid.cells.items() if cell.works}
    where: dict[Key, str] = {}
    rows = {row: {text for key, text in working.items() if key[0] == row} for row in grid.rows}
    columns = {column: {text for key, text in working.items() if key[1] == column} for column in grid.columns}
    for (row, column), text in working.items():
        if len(rows[row]) == 1:
            where[row, ""] = text
        elif len(columns[column]) == 1:
            where["", column] = text
        else:
            where[row, column] = text
    label_of = dict(zip(dict.fromkeys(text for text in where.values() if text), string.ascii_letters, strict=False))
    for place, text in where.items():
        if text:
            grid.marks.setdefault(place, []).append(label_of[text])
    grid.notes |= {label: f"{text[0].upper()}{text[1:]}." for text, label in label_of.items()}


def _partners(cell: Combination) -> str:
    named = [f"the {families()[family].kind} {text}" for family, text in cell.unusual.items()]
    return f"with {' and '.join(named)}" if named else ""


def _add_reasons(grid: CombinationTable) -> None:
    """Number the reasons of refusals, and of forms that are refused where the first example is not."""
    for sentence, keys in _sentences({key: cell for key, cell in grid.cells.items() if not cell.works}):
        _add_note(grid, sentence, keys)
    for form in dict.fromkeys(form for cell in grid.cells.values() for form in cell.other_forms):
        refused = {key: cell.other_forms[form] for key, cell in grid.cells.items() if form in cell.other_forms}
        for sentence, keys in _sentences(refused):
            _add_note(grid, f"Not as {form}: {sentence[0].lower()}{sentence[1:]}", keys)


def _sentences(refused: Mapping[Key, Combination]) -> Iterator[tuple[str, list[Key]]]:
    """Yield why pairs are refused, and which; reasons that differ in their parts only become one sentence."""
    same: Counter[tuple[int, str, str]] = Counter()
    for cell in refused.values():
        same.update(_shared(cell))
    groups: dict[tuple[int, str, str], dict[Key, str]] = {}
    for key, cell in refused.items():
        if not cell.refusal:
            yield cell.reason or "", [key]
            continue
        shared = max(_shared(cell), key=lambda each: (same[each], -each[0]))
        groups.setdefault(shared, {})[key] = cell.refusal[1 - shared[0]]
    alike: dict[tuple[int, str, str], tuple[list[str], list[Key]]] = {}
    for (which, part, way_out), members in groups.items():
        parts, keys = alike.setdefault((which, _joined(members.values()), way_out), ([], []))
        parts.append(part)
        keys += members
    for (which, others, way_out), (parts, keys) in alike.items():
        pair = (_joined(parts), others) if which == 0 else (others, _joined(parts))
        yield f"{pair[0]} does not go with {pair[1]}: {way_out}.", keys


def _shared(cell: Combination) -> list[tuple[int, str, str]]:
    """Return what a reason may have in common with others: its first or its second part, and the way out."""
    if not cell.refusal:
        return []
    first, second, way_out = cell.refusal
    return [(0, first, way_out), (1, second, way_out)]


def _add_note(grid: CombinationTable, sentence: str, keys: Iterable[Key]) -> None:
    """Number a sentence, unless it has a number, and mark the pairs it is about."""
    known = {text: label for label, text in grid.notes.items()}
    label = known.get(sentence) or str(sum(each.isdecimal() for each in grid.notes) + 1)
    grid.notes[label] = sentence
    for key in keys:
        grid.marks.setdefault(key, []).append(label)


def _joined(names: Iterable[str]) -> str:
    """Return names as a list in words; what they all begin or end with is said once.

    >>> _joined(["the scheme set of another column", "the scheme local of another column"])
    'the scheme set or local of another column'
    """
    words = [name.split(" ") for name in dict.fromkeys(names)]
    if len(words) == 1:
        return " ".join(words[0])
    before: list[str] = []
    after: list[str] = []
    while len({each[0] for each in words}) == 1:
        before.append(words[0][0])
        words = [each[1:] for each in words]
    while min(map(len, words)) > 1 and len({each[-1] for each in words}) == 1:
        after.insert(0, words[0][-1])
        words = [each[:-1] for each in words]
    comma = "," if all(each[-1].endswith(",") for each in words) else ""
    *most, last = [" ".join(each).removesuffix(comma) for each in words]
    return " ".join([*before, f"{', '.join(most)} or {last}{comma}", *after])


# --- for the terminal -------------------------------------------------------------------------------------------------


def text_lines(grid: CombinationTable, width: int = WIDTH) -> Iterator[str]:
    """Yield the lines of a table and its notes, none wider than ``width``."""
    yield grid.title
    names = [" ".join(filter(None, (row, grid.labels(row, "")))) for row in grid.rows]
    left = max(map(len, names)) + 2
    columns = {column: [_cell(grid, row, column) for row in grid.rows] for column in grid.columns}
    heads = {column: _head(column, grid.labels("", column)) for column in grid.columns}
    widths = {column: max(map(len, (*heads[column], *cells))) + 2 for column, cells in columns.items()}
    for part in _parts(widths, width - left - 2):
        height = max(len(heads[column]) for column in part)
        for line in range(height):
            padded = [
                ([""] * (height - len(heads[column])) + heads[column])[line].ljust(widths[column]) for column in part
            ]
            yield f"  {'':{left}}{''.join(padded)}".rstrip()
        for number, name in enumerate(names):
            yield f"  {name:{left}}{''.join(columns[column][number].ljust(widths[column]) for column in part)}".rstrip()
        yield ""
    for label, sentence in grid.notes.items():
        yield from textwrap.wrap(
            sentence, width, initial_indent=f"  {label:>3} ", subsequent_indent=" " * 6, break_on_hyphens=False
        )


def _cell(grid: CombinationTable, row: str, column: str) -> str:
    return " ".join(filter(None, (_SYMBOLS[grid.cells[row, column].search], grid.labels(row, column))))


def _head(name: str, labels: str) -> list[str]:
    """Return the lines of a heading: a name is divided after its hyphens."""
    pieces = name.split("-")
    return [*(f"{piece}-" for piece in pieces[:-1]), " ".join(filter(None, (pieces[-1], labels)))]


def _parts(widths: dict[str, int], room: int) -> Iterator[list[str]]:
    """Yield columns that fit beside each other."""
    part: list[str] = []
    for column, width in widths.items():
        if part and sum(widths[each] for each in part) + width - 2 > room:
            yield part
            part = []
        part.append(column)
    yield part


# --- for the documentation --------------------------------------------------------------------------------------------


def markdown(grid: CombinationTable) -> Iterator[str]:
    """Yield a table and its notes as Markdown."""
    heads = [" ".join(filter(None, (f"`{column}`", _above(grid.labels("", column))))) for column in grid.columns]
    yield f"| | {' | '.join(heads)} |"
    yield f"|---|{'---|' * len(heads)}"
    for row in grid.rows:
        name = " ".join(filter(None, (f"`{row}`", _above(grid.labels(row, "")))))
        cells = []
        for column in grid.columns:
            labels, word = grid.labels(row, column), _WORDS[grid.cells[row, column].search]
            cells.append(" ".join(filter(None, (word or "no", _above(labels)))))
        yield f"| {name} | {' | '.join(cells)} |"
    for label, sentence in grid.notes.items():
        escaped = sentence.replace("*", "\\*")
        yield ""
        yield f"{_above(label)} {escaped}"
    yield ""


def _above(labels: str) -> str:
    return f"<sup>{labels}</sup>" if labels else ""
