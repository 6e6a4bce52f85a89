"""The classes of key sets: what was read, grouped once more by some of the quasi-identifiers alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

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
    rows = classes.keys.with_columns(rows=pl.Series(classes.sizes, dtype=pl.Int64))
    none = np.zeros(0, dtype=np.int64)
    found = []
    for key_set in model.key_sets(columns):
        sizes = rows.group_by([name_of[column] for column in key_set]).agg(pl.col("rows").sum())["rows"]
        reached = model.reached(Groups(sizes.to_numpy().astype(np.int64), none, none, none, none))
        found.append(KeySetClasses(key_set, len(sizes), float(reached)))
    return found


def described(found: Sequence[KeySetClasses]) -> str:
    """Return in a few words which of several key sets reaches least; empty if there is only one."""
    if len(found) < 2:
        return ""
    weakest = min(found, key=lambda each: each.reached)
    return f"{amount(len(found), 'key set')}; least by {listed(weakest.columns)}"
