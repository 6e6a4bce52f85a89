"""What a command says at its end: its result for people or for programs, and whether it was stopped early."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

import click

from discreet.errors import InterruptedRun

if TYPE_CHECKING:
    from discreet.cli._watch import Watch

__all__ = ["answer", "echo_json", "end_early"]


class Result(Protocol):
    """What a command found."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything, for programs."""

    def summary(self) -> str:
        """Return what matters, for people."""


def answer(found: Result, *more: str, as_json: bool, quiet: bool = False) -> None:
    """Print a result as JSON, or its summary and what is to be said besides; with ``quiet`` only the first."""
    if as_json:
        echo_json(found.to_dict())
    elif not quiet:
        for text in (found.summary(), *more):
            click.echo(text)


def echo_json(told: Any) -> None:
    """Print something as JSON."""
    click.echo(json.dumps(told, indent=2, ensure_ascii=False))


def end_early(watch: Watch, kept: str) -> None:
    """If the search was interrupted, say what was kept and end with the exit code that tells so."""
    if watch.interrupted:
        click.echo(f"discreet: stopped early; {kept}.", err=True)
        click.get_current_context().exit(InterruptedRun.exit_code)
