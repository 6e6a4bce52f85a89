"""Notes that must not be overlooked."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["Caution", "cautions_first"]


class Caution(str):
    """A note of a release that must not be overlooked: it comes first, and is marked as a warning.

    >>> Caution("k counts rows.") == "k counts rows."
    True
    """

    __slots__ = ()


def cautions_first(notes: Iterable[str]) -> tuple[str, ...]:
    """Return notes with those that must not be overlooked in front."""
    return tuple(sorted(notes, key=lambda note: not isinstance(note, Caution)))
