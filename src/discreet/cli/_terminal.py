"""Text for a terminal: lines that fit its width without breaking words, and colour where it is wanted."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from itertools import groupby

import click

__all__ = ["coloured", "echo", "headline", "hint", "wants_colour", "wrapped"]

_LEAST, _MOST = 40, 120
"""The narrowest and the widest text, in columns."""
_INDENT = re.compile(r"(?:\S+(?: \S+)* {2,}|(?:discreet|note|warning|hint): )?\s*")
"""What a line begins with and further lines of it are indented by: a label in a column, or spaces."""
_TABLE = re.compile(r" {3,}\S.* {2,}\S")
"""An indented row of several cells."""
_LEVELS = {"ok": "green", "caution": "yellow", "danger": "red"}
_MARKS = (
    (
        re.compile(r"(?m)^(warning|note|hint|discreet):(?= )"),
        {"warning": "yellow", "note": "cyan", "hint": "cyan", "discreet": "red"},
    ),
    (re.compile(r"(?m)^((?:verdict)? +)(ok|caution|danger)(?=[:,]|$)"), _LEVELS),
    (re.compile(r"(?m)^(.*? {2,})(kept|passed|BROKEN|FAILED)(?=,|$)"), {"kept": "green", "passed": "green"}),
)


def echo(text: str, *, err: bool = False) -> None:
    """Print text: as it is to files and pipes, and to a terminal in lines that fit it, with colour."""
    stream = sys.stderr if err else sys.stdout
    if stream.isatty():
        text = wrapped(text, shutil.get_terminal_size().columns)
    colour = wants_colour(stream.isatty())
    click.echo(coloured(text) if colour else text, err=err, color=colour)


def headline(level: str, text: str) -> None:
    """Print the level of a verdict and what it means, as the first thing on a terminal; nothing elsewhere."""
    if sys.stdout.isatty():
        mark = f" {level.upper()} "
        colour = wants_colour(True)
        mark = click.style(mark, fg="black", bg=_LEVELS[level], bold=True) if colour else f"[{mark.strip()}]"
        click.echo(f"{mark} {click.style(text, bold=True)}\n", color=colour)


def hint(text: str) -> None:
    """Print what somebody at a terminal may want to do next; nothing elsewhere."""
    if sys.stdout.isatty():
        echo(f"hint: {text}")


def wants_colour(terminal: bool) -> bool:
    """Whether to print colours: on a terminal unless NO_COLOR is set, and elsewhere if FORCE_COLOR is."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (terminal and os.environ.get("TERM") != "dumb")


def wrapped(text: str, columns: int) -> str:
    """Break lines that are too long between words; what follows is indented like the text of its line.

    >>> print(wrapped("audit           passed, and everything that was promised is kept", 44))
    audit           passed, and everything that
                    was promised is kept
    """
    width = min(max(columns, _LEAST), _MOST)
    blocks = groupby(text.split("\n"), key=lambda line: _TABLE.match(line) is not None)
    lines = (line for table, block in blocks for line in (_moved_left([*block], width) if table else block))
    return "\n".join(_wrapped_line(line, width) for line in lines)


def _moved_left(rows: list[str], width: int) -> list[str]:
    """Return the rows of an indented table, with less indentation if they are too long."""
    indent = min(len(row) - len(row.lstrip()) for row in rows)
    shift = min(max(map(len, rows)) - width, indent - 2)
    return [row[shift:] for row in rows] if shift > 0 else rows


def _wrapped_line(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    found = _INDENT.match(line)
    indent = len(found[0]) if found else 0
    if indent > width // 2:
        indent = 2
    fitted = textwrap.wrap(
        line,
        width,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
        drop_whitespace=True,
    )
    return "\n".join(fitted)


def coloured(text: str) -> str:
    """Colour levels of a verdict, kept and broken promises, warnings and errors."""
    for pattern, colours in _MARKS:

        def styled(found: re.Match[str], colours: dict[str, str] = colours) -> str:
            word = found[found.re.groups]
            before = found[1] if found.re.groups > 1 else ""
            after = ":" if found.re.groups == 1 else ""
            return before + click.style(word + after, fg=colours.get(word, "red"), bold=True)

        text = pattern.sub(styled, text)
    return text
