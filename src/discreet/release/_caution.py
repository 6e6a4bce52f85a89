"""Kinds of notes: those that must not be overlooked, and those for whoever holds the data alone."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["Caution", "Private", "PrivateCaution", "cautions_first", "handed_over"]


class Caution(str):
    """A note of a release that must not be overlooked: it comes first, and is marked as a warning.

    >>> Caution("k counts rows.") == "k counts rows."
    True
    """

    __slots__ = ()


class Private(str):
    """A note for whoever holds the data: it depends on people who were left out, or speaks of other files.

    It is no part of reports and of what else is handed over.
    """

    __slots__ = ()


class PrivateCaution(Caution, Private):
    """A note for whoever holds the data that must not be overlooked."""

    __slots__ = ()


def handed_over(notes: Iterable[str]) -> list[str]:
    """Return the notes that may be handed over with a release.

    >>> handed_over(["All is well.", Private("A value is rare.")])
    ['All is well.']
    """
    return [note for note in notes if not isinstance(note, Private)]


def cautions_first(notes: Iterable[str]) -> tuple[str, ...]:
    """Return notes with those that must not be overlooked in front."""
    return tuple(sorted(notes, key=lambda note: not isinstance(note, Caution)))
