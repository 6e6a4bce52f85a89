"""The tables of the study: Adult as the paper has it, made-up people in its place, and points drawn at random."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import discreet as dc
from discreet.samples import HIERARCHIES

__all__ = ["SYNTHETIC", "Subject", "adult", "gaussian", "made_up", "uniform"]

_ADULT = ("age", "education-num", "workclass", "marital-status", "occupation", "race", "sex", "native-country")
_TREES = ("workclass", "marital-status")
"""The attributes with a hierarchy; that of the other categories has two levels."""
_LEAST, _GREATEST = 1, 16
"""The domain of each attribute of the synthetic tables."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A table and the hierarchies of its columns, all quasi-identifiers; None where values are numbers.

    ``summed`` is the column that SUM queries add up.
    """

    name: str
    frame: pl.DataFrame
    hierarchies: Mapping[str, Any]
    summed: str
    workloads: dict[str, Any] = field(default_factory=dict, repr=False)
    """The queries that were drawn for it."""

    def first(self, columns: int) -> Subject:
        """Return the table with its first columns only."""
        names = list(self.hierarchies)[:columns]
        forms = {name: self.hierarchies[name] for name in names}
        return Subject(self.name, self.frame.select(names), forms, self.summed)


def adult(data: Path) -> Subject | None:
    """Return the 30,162 rows with eight attributes, ages and years of education as numbers; None if not at hand."""
    file, trees = data / "adult.csv", data / "arx" / "adult"
    if not file.is_file() or not trees.is_dir():
        return None
    frame = pl.read_csv(file).filter(pl.col("split") == "train", ~pl.any_horizontal(pl.col(pl.String) == "?"))
    forms: dict[str, Any] = dict.fromkeys(_ADULT[:2])
    for column in _ADULT[2:]:
        named = column in _TREES
        forms[column] = dc.Hierarchy.from_csv(trees / f"adult_hierarchy_{column}.csv") if named else dc.flat()
    return Subject("Adult", frame.select(_ADULT).rechunk(), forms, "age")


def made_up(rows: int) -> Subject:
    """Return made-up people with two numbers and five categories, two of them with a hierarchy."""
    trees = ("occupation", "marital_status")
    names = ("age", "children", *trees, "education", "city", "sex")
    age = (2024 - pl.col("birth_date").dt.year()).alias("age")
    frame = dc.sample(rows, seed=1).with_columns(age).select(names).drop_nulls().rechunk()
    forms = {name: dc.groups(HIERARCHIES[name]) if name in trees else dc.flat() for name in names[2:]}
    return Subject("made-up people", frame, {"age": None, "children": None, **forms}, "age")


def uniform(rows: int, dimensions: int, seed: int = 1) -> Subject:
    """Return whole numbers from 1 to 16, all as likely."""
    drawn = np.random.default_rng(seed).integers(_LEAST, _GREATEST + 1, (dimensions, rows))
    return _synthetic("uniform", drawn)


def gaussian(rows: int, dimensions: int, seed: int = 1, *, sigma: float = 1.0) -> Subject:
    """Return whole numbers from 1 to 16 that are normal around the middle with a standard deviation of 1."""
    drawn = np.random.default_rng(seed).normal((_LEAST + _GREATEST) / 2, sigma, (dimensions, rows))
    return _synthetic("Gaussian", np.clip(np.rint(drawn), _LEAST, _GREATEST).astype(np.int64))


def _synthetic(name: str, drawn: np.ndarray) -> Subject:
    columns = {f"A{number}": values for number, values in enumerate(drawn, start=1)}
    return Subject(name, pl.DataFrame(columns), dict.fromkeys(columns), "A1")


SYNTHETIC = {"uniform": uniform, "Gaussian": gaussian}
