"""Key sets: combinations of quasi-identifiers by whose released values alone classes are formed, of k rows each.

A recoding joins rows of equal released values to classes. The classes of a key set are unions of those, so that all
rows of a class of all quasi-identifiers have one fate. Under suppression a class goes if it lies in a class of some key
set that is too small; that makes others smaller, so it is repeated until nothing changes. What stays is the largest set
of classes that keeps all promises: the union of two such sets is one too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from discreet.problem.privacy import PrivacyModel
from discreet.runtime.plurals import unit_amount

__all__ = ["KeySet", "about_key_sets", "key_sets_of", "only_key_sets"]


class KeySet(NamedTuple):
    """Some quasi-identifiers, and how many rows must share each combination of their released values."""

    attributes: tuple[int, ...]
    """Their positions among the quasi-identifiers, ascending."""
    k: int


def key_sets_of(
    models: Iterable[PrivacyModel],
    columns: Sequence[str],
    smallest: int = 1,
    known_with: Mapping[str, str] | None = None,
) -> tuple[KeySet, ...]:
    """Return the key sets of all models, without those that others imply.

    k rows of a key set imply k rows of each of its subsets. ``smallest`` is the fewest rows of a class of all
    quasi-identifiers. Whoever knows one of the columns in ``known_with`` also knows the one it names.
    """
    beside = known_with or {}
    position = {column: number for number, column in enumerate(columns)}
    least: dict[frozenset[int], int] = {}
    for model in models:
        for key_set in model.key_sets(columns):
            known = {*key_set, *(beside[column] for column in key_set if column in beside)}
            members = frozenset(position[column] for column in known)
            least[members] = max(least.get(members, 0), int(getattr(model, "k", 1)))
    found: list[tuple[frozenset[int], int]] = []
    for members, k in sorted(least.items(), key=lambda each: (-len(each[0]), sorted(each[0]))):
        if k > smallest and not any(members < larger and k <= other for larger, other in found):
            found.append((members, k))
    return tuple(KeySet(tuple(sorted(members)), k) for members, k in found)


def only_key_sets(models: Sequence[PrivacyModel], columns: Sequence[str]) -> list[PrivacyModel]:
    """Return the promises about key sets if nothing is promised about all quasi-identifiers together; else none.

    >>> from discreet.problem import PRIVACY
    >>> only_key_sets([PRIVACY.make("k(3, any=2)"), PRIVACY.make("k(2)")], ["age", "sex", "zip"])
    []
    """
    about = [model for model in models if model.key_sets(columns)]
    others = [model for model in models if model not in about]
    return [] if any(model.minimum_size > 1 or model.looks_at_population for model in others) else about


def about_key_sets(
    models: Sequence[PrivacyModel], columns: Sequence[str], smallest: int, alone: str | None, unit: str = "row"
) -> str | None:
    """Return which combinations of columns are protected, and what those find who know more; None without key sets.

    ``smallest`` is the size of the smallest class of all quasi-identifiers, in rows or another ``unit``, ``alone`` the
    part of them that are alone in theirs, in words.

    >>> from discreet.problem import PRIVACY
    >>> about_key_sets([PRIVACY.make("k(3, any=2)")], ["age", "sex", "zip"], 1, "12 % of the rows")
    'Only some combinations of columns are protected: k(3, any=2). Whoever knows all 3 quasi-identifiers may find a person: the smallest class has 1 row, and 12 % of the rows are alone in theirs.'
    """  # noqa: E501
    about = only_key_sets(models, columns)
    if not about:
        return None
    lonely = f", and {alone} are alone in theirs" if smallest == 1 and alone else ""
    return (
        f"Only some combinations of columns are protected: {', '.join(model.shown for model in about)}. Whoever knows "
        f"all {len(columns)} quasi-identifiers may find a person: the smallest class has {unit_amount(smallest, unit)}"
        f"{lonely}."
    )
