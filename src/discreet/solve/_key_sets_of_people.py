"""Who stays if key sets are promised and people are counted, who may be in several classes of a key set.

Whoever is suppressed, or whichever class, makes the classes of other key sets smaller, so it is repeated until nothing
changes. What stays is the largest set that keeps all promises if the models hold for any superset.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.counts import Grouping, IntArray
from discreet.problem.privacy import PrivacyModel
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.solve._class_arrays import Released
from discreet.solve._key_sets import KeySetRule, key_classes
from discreet.solve._people import PeopleCounter

__all__ = ["KeyClasses", "classes_left", "classes_of_key_sets", "people_left"]


class KeyClasses(NamedTuple):
    """The classes of a key set."""

    ids: IntArray
    """The class of each class of all quasi-identifiers, which lies in one of them."""
    size: int
    """A number that all are below."""
    k: int
    """How many people each must have."""


def classes_of_key_sets(rule: KeySetRule | None, grouping: Grouping, released: Released) -> list[KeyClasses]:
    """Return the classes of each key set; none without key sets."""
    if rule is None:
        return []
    shown = rule.shown(grouping, released)
    widths = [int(column.max(initial=0)) + 1 for column in shown]
    return [KeyClasses(*key_classes(shown, widths, key_set), key_set.k) for key_set in rule.key_sets]


def people_left(
    counter: PeopleCounter,
    ids: IntArray,
    count: int,
    models: Sequence[PrivacyModel],
    keys: Sequence[KeyClasses],
    step: int,
    *,
    exact: bool,
) -> NDArray[np.bool_]:
    """Return who is left if people are suppressed with all rows; as :meth:`PeopleCounter.suppress`, with key sets."""
    alive = counter.suppress(ids, count, models, step, exact=exact)
    before = -1
    while keys and before != np.count_nonzero(alive):
        before = int(np.count_nonzero(alive))
        for key in keys:
            alive = counter.suppress(key.ids[ids], key.size, [KAnonymity(key.k)], step, alive)
        alive = counter.suppress(ids, count, models, step, alive, exact=exact)
    return alive


def classes_left(
    counter: PeopleCounter, ids: IntArray, ok: NDArray[np.bool_], keys: Sequence[KeyClasses]
) -> NDArray[np.bool_]:
    """Return which of the classes that are ``ok`` by themselves stay, if the rows of the others are suppressed."""
    left, before = ok.copy(), -1
    while keys and before != np.count_nonzero(left):
        before = int(np.count_nonzero(left))
        for key in keys:
            staying = np.where(left, key.ids, -1)[ids]
            left &= counter.sizes(staying, slice(0, key.size))[key.ids] >= key.k
    return left
