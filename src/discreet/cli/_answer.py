"""Output at the end of a command: its result as text or JSON, and whether it was stopped early."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from discreet.cli._terminal import echo
from discreet.errors import InterruptedRun
from discreet.runtime.locations import TableLocation, is_url

if TYPE_CHECKING:
    from discreet.cli._watch import Watch
    from discreet.pipeline.applied import Applied
    from discreet.pipeline.release import Release

__all__ = ["FORMAT", "IN_PLACE", "Exact", "answer", "echo_json", "end_early", "exists", "warn"]


FORMAT = 1
"""The version of what ``--json`` prints: it rises when a key goes or means something else, not when one is added."""
IN_PLACE = ", in place of what was there"
"""What to say of a file that was replaced."""


def exists(location: TableLocation) -> bool:
    """Whether there is a file, or something in a folder; tables of databases are not looked up."""
    path = Path(location)
    return not is_url(location) and (path.is_file() or (path.is_dir() and any(path.iterdir())))


class Result(Protocol):
    """The result of a command."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for programs."""

    def summary(self) -> str:
        """Return text, for people."""


class Exact:
    """A result with the figures that are only for the owner of the data."""

    def __init__(self, result: Release | Applied) -> None:
        self.result = result

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for programs."""
        return self.result.to_dict(exact=True)

    def summary(self) -> str:
        """Return text, for people."""
        return self.result.summary(exact=True)


def answer(result: Result, *more: str, as_json: bool, quiet: bool = False, summary: str | None = None) -> None:
    """Print a result as JSON, or its summary and further lines; ``quiet`` suppresses only the text."""
    if as_json:
        echo_json(result.to_dict())
    elif not quiet:
        for text in (result.summary() if summary is None else summary, *more):
            echo(text)


def warn(notes: Iterable[str], *, quiet: bool = False) -> None:
    """Print warnings, and notes for the owner of the data, to stderr."""
    from discreet.report.notes import Caution, Private

    for note in () if quiet else notes:
        if isinstance(note, Caution):
            echo(f"warning: {note}", err=True)
        elif isinstance(note, Private):
            echo(f"note: {note}", err=True)


def echo_json(data: Any) -> None:
    """Print data as JSON; an object says first which version of its keys it has."""
    data = {"format": FORMAT, **data} if isinstance(data, dict) else data
    click.echo(json.dumps(data, indent=2, ensure_ascii=False))


def end_early(watch: Watch, kept: str) -> None:
    """If the search was interrupted, say what was kept and exit with the code for that."""
    if watch.interrupted:
        echo(f"discreet: stopped early; {kept}.", err=True)
        click.get_current_context().exit(InterruptedRun.exit_code)
