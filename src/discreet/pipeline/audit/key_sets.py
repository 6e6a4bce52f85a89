"""The classes of key sets: what was read, grouped once more by some of the quasi-identifiers alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.pipeline.audit.classes import ReleasedClasses
from discreet.problem import Groups, PrivacyModel
from discreet.runtime.plurals import amount, listed

__all__ = ["KeySetClasses", "described", "measure_key_sets"]


@dataclass(frozen=True)
class KeySetClasses:
    """The classes that some of the quasi-identifiers form by themselves."""

    columns: tuple[str, ...]
    classes: int
    reached: float
    """What the promise reaches on them: for k the size of the smallest, infinite if there is none."""


def measure_key_sets(model: PrivacyModel, columns: Sequence[str], classes: ReleasedClasses) -> list[KeySetClasses]:
    """Measure a promise on the classes of each of its key sets; empty if it has none."""
    name_of = dict(zip(columns, classes.keys.columns, strict=True))
    keys = classes.keys.with_row_index("class")
    none, entries = np.zeros(0, dtype=np.int64), np.ones(classes.group.size, dtype=np.bool_)
    found = []
    for key_set in model.key_sets(columns):
        joint = keys.group_by([name_of[column] for column in key_set], maintain_order=True).agg("class")["class"]
        number = np.zeros(classes.sizes.size, dtype=np.int64)
        number[joint.explode().to_numpy()] = np.repeat(np.arange(len(joint)), joint.list.len().to_numpy())
        coarser = classes.in_classes(number[classes.group])
        _, sizes = coarser.counted(np.zeros(classes.group.size, dtype=np.int64), 1, entries)
        reached = model.reached(Groups(sizes, none, none, none, none))
        found.append(KeySetClasses(key_set, len(joint), float(reached)))
    return found


def described(found: Sequence[KeySetClasses]) -> str:
    """Return in a few words which of several key sets reaches least; empty if there is only one."""
    if len(found) < 2:
        return ""
    weakest = min(found, key=lambda each: each.reached)
    return f"{amount(len(found), 'key set')}; least by {listed(weakest.columns)}"
