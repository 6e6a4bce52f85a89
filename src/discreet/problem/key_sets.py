"""Key sets: combinations of quasi-identifiers by whose released values alone classes are formed, of k rows each.

A recoding joins rows of equal released values to classes. The classes of a key set are unions of those, so that all
rows of a class of all quasi-identifiers have one fate. Under suppression a class goes if it lies in a class of some key
set that is too small; that makes others smaller, so it is repeated until nothing changes. What stays is the largest set
of classes that keeps all promises: the union of two such sets is one too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from discreet.problem.privacy import PrivacyModel

__all__ = ["KeySet", "key_sets_of"]


class KeySet(NamedTuple):
    """Some quasi-identifiers, and how many rows must share each combination of their released values."""

    attributes: tuple[int, ...]
    """Their positions among the quasi-identifiers, ascending."""
    k: int


def key_sets_of(models: Iterable[PrivacyModel], columns: Sequence[str], smallest: int = 1) -> tuple[KeySet, ...]:
    """Return the key sets of all models, without those that others imply.

    k rows of a key set imply k rows of each of its subsets. ``smallest`` is the fewest rows of a class of all
    quasi-identifiers.
    """
    position = {column: number for number, column in enumerate(columns)}
    least: dict[frozenset[int], int] = {}
    for model in models:
        for key_set in model.key_sets(columns):
            members = frozenset(position[column] for column in key_set)
            least[members] = max(least.get(members, 0), int(getattr(model, "k", 1)))
    found: list[tuple[frozenset[int], int]] = []
    for members, k in sorted(least.items(), key=lambda each: (-len(each[0]), sorted(each[0]))):
        if k > smallest and not any(members < larger and k <= other for larger, other in found):
            found.append((members, k))
    return tuple(KeySet(tuple(sorted(members)), k) for members, k in found)
