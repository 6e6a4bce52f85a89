"""The tables of the study: Adult as the paper has it, and made-up people everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path

import polars as pl

import discreet as dc
from discreet.counts import CountTable
from discreet.samples import HIERARCHIES
from harness.data import coded, tree_of

__all__ = ["FOUR", "Subject", "adult", "made_up"]

FOUR = 4
"""Age, marital status, race and sex: the paper's quasi-identifiers where k is varied."""
_ADULT = ("marital-status", "race", "sex", "workclass", "education", "occupation", "salary-class", "native-country")
_PEOPLE = ("marital_status", "children", "sex", "education", "city", "occupation")


@dataclass(frozen=True, eq=False)
class Subject:
    """A table with an age in years, the intervals that are taken for values of it, and trees for the other columns.

    The tree of the age is flat. Quasi-identifiers are added in the order age first, then as ``trees`` has them.
    """

    name: str
    frame: pl.DataFrame
    intervals: Mapping[int, str]
    trees: Mapping[str, dc.Hierarchy]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The quasi-identifiers, in the order they are added."""
        return ("age", *self.trees)

    @cached_property
    def _counted(self) -> dict[int, CountTable]:
        return {}

    def first(self, number: int = FOUR) -> CountTable:
        """Return the first quasi-identifiers as solvers see them."""
        if number not in self._counted:
            names = self.columns[:number]
            present = self.frame["age"].unique().sort()
            ages = dict.fromkeys(self.intervals[age] for age in present)
            trees = {"age": dc.Hierarchy.from_rows([[interval, "*"] for interval in ages]), **self.trees}
            frame = self.frame.with_columns(pl.col("age").replace_strict(self.intervals, return_dtype=pl.String))
            self._counted[number] = coded(frame.select(names), {name: trees[name] for name in names})
        return self._counted[number]

    def coarser(self, width: int) -> Subject:
        """Return the table with neighbouring intervals of age taken together, some at a time."""
        names = list(dict.fromkeys(self.intervals.values()))
        wider = {}
        for _, places in groupby(range(len(names)), key=lambda place: place // width):
            together = [names[place] for place in places]
            joint = f"{together[0].split('-')[0]}-{together[-1].split('-')[-1]}"
            wider.update(dict.fromkeys(together, joint))
        intervals = {age: wider[name] for age, name in self.intervals.items()}
        return replace(self, name=f"{self.name}, coarse ages", intervals=intervals)

    def single_years(self) -> Subject:
        """Return the table with single years of age."""
        return replace(self, name=f"{self.name}, single years", intervals={age: f"{age}" for age in self.intervals})


def adult(data: Path) -> Subject | None:
    """Return the 30,162 rows with ages in 15 intervals of five years and the trees of ARX; None if not at hand."""
    folder, ages = data / "arx" / "adult", data / "taxonomies" / "adult" / "li-li-2008" / "age.csv"
    if not folder.is_dir() or not ages.is_file():
        return None
    known = pl.read_csv(ages)
    intervals = dict(zip(known["level0"], known["level1"], strict=True))
    trees = {column: dc.Hierarchy.from_csv(folder / f"adult_hierarchy_{column}.csv") for column in _ADULT}
    return Subject("Adult", pl.read_csv(folder / "adult.csv", separator=";").select("age", *_ADULT), intervals, trees)


def made_up(rows: int) -> Subject:
    """Return made-up people with ages in intervals of ten years."""
    people = dc.sample(rows, seed=1)
    frame = people.with_columns(age=2024 - pl.col("birth_date").dt.year()).select("age", *_PEOPLE).drop_nulls()
    intervals = {age: f"{age // 10 * 10}-{age // 10 * 10 + 9}" for age in sorted(frame["age"].unique())}
    trees = {column: tree_of(HIERARCHIES[column], frame[column]) for column in _PEOPLE}
    return Subject("made-up people", frame, intervals, trees)
