"""Results as rows, and rows as plain text tables."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

__all__ = ["Figure", "Row", "figure_text", "print_rows"]

Figure = float | int | str | None
_WIDTH = 110


@dataclass(frozen=True)
class Row:
    """One line of a table; or, without figures, a sentence that stands below it."""

    table: str
    case: str
    figures: Mapping[str, Figure] = field(default_factory=dict)
    note: str = ""


def print_rows(rows: Sequence[Row]) -> None:
    """Print the rows as one table for each title, notes below."""
    for title, members in groupby(rows, key=lambda row: row.table):
        _print_table(title, list(members))


def _print_table(title: str, rows: list[Row]) -> None:
    print(f"\n{title}\n{'-' * len(title)}")
    lines = [row for row in rows if row.figures]
    if lines:
        names = list(dict.fromkeys(name for row in lines for name in row.figures))
        cells = [["", *names], *([row.case, *(figure_text(row.figures.get(name)) for name in names)] for row in lines)]
        widths = [max(len(line[column]) for line in cells) for column in range(len(names) + 1)]
        for line in cells:
            figures = (cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True))
            print("  ".join([line[0].ljust(widths[0]), *figures]).rstrip())
    for row in rows:
        if row.note:
            print(textwrap.fill(f"{row.case}: {row.note}" if row.case else row.note, _WIDTH, subsequent_indent="  "))


def figure_text(figure: Figure) -> str:
    """Return a figure as tables show it."""
    if figure is None:
        return "-"
    if isinstance(figure, str):
        return figure
    if isinstance(figure, int) or abs(figure) >= 100:
        return f"{figure:,.0f}"
    return f"{figure:#.3g}".rstrip(".") if figure else "0"
