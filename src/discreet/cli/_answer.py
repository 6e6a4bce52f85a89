"""What a command says at its end: its result for people or for programs, and whether it was stopped early."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

import click

from discreet.errors import InterruptedRun

if TYPE_CHECKING:
    from discreet.cli._watch import Watch
    from discreet.release import Applied, Release

__all__ = ["Exact", "answer", "echo_json", "end_early", "warn"]


class Result(Protocol):
    """What a command found."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything, for programs."""

    def summary(self) -> str:
        """Return what matters, for people."""


class Exact:
    """A result that says all it knows, also what is only for the owner of the data."""

    def __init__(self, found: Release | Applied) -> None:
        self.found = found

    def to_dict(self) -> dict[str, Any]:
        """Return everything, for programs."""
        return self.found.to_dict(exact=True)

    def summary(self) -> str:
        """Return what matters, for people."""
        return self.found.summary(exact=True)


def answer(found: Result, *more: str, as_json: bool, quiet: bool = False, summary: str | None = None) -> None:
    """Print a result as JSON, or its summary and what is to be said besides; with ``quiet`` only the first."""
    if as_json:
        echo_json(found.to_dict())
    elif not quiet:
        for text in (found.summary() if summary is None else summary, *more):
            click.echo(text)


def warn(notes: Iterable[str], *, quiet: bool = False) -> None:
    """Print, where errors go, the notes that must not be overlooked and those for whoever holds the data."""
    from discreet.release._caution import Caution, Private

    for note in () if quiet else notes:
        if isinstance(note, Caution):
            click.echo(f"warning: {note}", err=True)
        elif isinstance(note, Private):
            click.echo(f"note: {note}", err=True)


def echo_json(told: Any) -> None:
    """Print something as JSON."""
    click.echo(json.dumps(told, indent=2, ensure_ascii=False))


def end_early(watch: Watch, kept: str) -> None:
    """If the search was interrupted, say what was kept and end with the exit code that tells so."""
    if watch.interrupted:
        click.echo(f"discreet: stopped early; {kept}.", err=True)
        click.get_current_context().exit(InterruptedRun.exit_code)
