"""Kinds of notes on a release: warnings, and notes for the owner of the data only."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["UNPROTECTED", "Caution", "Private", "PrivateCaution", "cautions_first", "handed_over"]

UNPROTECTED = "No privacy model protects the sensitive column '{}'"
"""How the note on a sensitive column without a promise begins."""


class Caution(str):
    """A note that must not be overlooked: it comes first, and is marked as a warning.

    >>> Caution("k counts rows.") == "k counts rows."
    True
    """

    __slots__ = ()


class Private(str):
    """A note for the owner of the data, as it depends on people left out or mentions other files.

    It is left out of reports and of everything else that is handed over.
    """

    __slots__ = ()


class PrivateCaution(Caution, Private):
    """A warning for the owner of the data."""

    __slots__ = ()


def handed_over(notes: Iterable[str]) -> list[str]:
    """Return the notes that may be handed over with a release.

    >>> handed_over(["All is well.", Private("A value is rare.")])
    ['All is well.']
    """
    return [note for note in notes if not isinstance(note, Private)]


def cautions_first(notes: Iterable[str]) -> tuple[str, ...]:
    """Sort the warnings to the front."""
    return tuple(sorted(notes, key=lambda note: not isinstance(note, Caution)))
