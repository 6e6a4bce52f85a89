"""The tables that are measured: public ones where they are at hand, made-up people everywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import discreet as dc
from discreet.counts import CountTable
from discreet.engines import count, open_source
from discreet.samples import HIERARCHIES
from discreet.schema import Schema, as_hierarchy
from harness.settings import Settings

__all__ = ["Dataset", "census", "coded", "main_dataset", "people", "perturbed", "tree_of"]

_CENSUS = (
    "age",
    "class_of_worker",
    "education",
    "marital_stat",
    "major_occupation_code",
    "race",
    "sex",
    "country_of_birth_self",
)
_PEOPLE = ("birth_date", "sex", "zip", "education", "occupation", "marital_status", "children")


@dataclass(frozen=True)
class Dataset:
    """A table in a CSV file whose columns are all quasi-identifiers, each with a hierarchy in a file.

    ``label`` is the column that is predicted where the cost is CM.
    """

    name: str
    file: Path
    separator: str
    hierarchies: Mapping[str, Path]
    label: str
    note: str = ""

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The table in memory, in one piece: grouping many pieces would cost the floor twice as much."""
        return pl.read_csv(self.file, separator=self.separator).rechunk()

    @cached_property
    def trees(self) -> dict[str, dc.Hierarchy]:
        """The hierarchies in memory."""
        return {column: dc.Hierarchy.from_csv(path) for column, path in self.hierarchies.items()}

    @property
    def options(self) -> list[str]:
        """What the command line needs to know."""
        folder = next(iter(self.hierarchies.values())).parent
        return ["--qi", ",".join(self.hierarchies), "--hierarchies", str(folder)]


def main_dataset(settings: Settings) -> Dataset:
    """Return ARX's Adult, or made-up people of the same size where it is not at hand."""
    folder = settings.data / "arx" / "adult"
    if not folder.is_dir():
        return _made_up(settings.scratch / "people")
    columns = pl.read_csv(folder / "adult.csv", separator=";", n_rows=0).columns
    trees = {column: folder / f"adult_hierarchy_{column}.csv" for column in columns}
    return Dataset("Adult", folder / "adult.csv", ";", trees, "salary-class")


def _made_up(folder: Path) -> Dataset:
    folder.mkdir(exist_ok=True)
    file, forms = folder / "people.csv", {**HIERARCHIES, "age": "intervals(5, 10, 20, 40)"}
    age = (2024 - pl.col("birth_date").dt.year()).alias("age")
    rest = ("education", "occupation", "marital_status", "children")
    frame = dc.sample(31_500, seed=1).select("sex", age, pl.col("zip").cast(pl.String), *rest).drop_nulls()
    frame.write_csv(file)
    paths = {column: folder / "trees" / f"{column}.csv" for column in frame.columns}
    for column, path in paths.items():
        path.parent.mkdir(exist_ok=True)
        tree_of(forms[column], frame[column]).to_csv(path)
    note = "ARX's Adult is not at hand (DISCREET_DATA names its folder), so that made-up people stand in for it."
    return Dataset("made-up people", file, ",", paths, "marital_status", note)


def tree_of(form: Any, column: pl.Series) -> dc.Hierarchy:
    """Return a hierarchy in any form as a tree over the values of a column."""
    known = as_hierarchy(form)
    return known if isinstance(known, dc.Hierarchy) else known.build(column.unique(), name=column.name)


def coded(
    frame: pl.DataFrame,
    hierarchies: Mapping[str, Any],
    class_attribute: str | None = None,
    sensitive: Sequence[str] = (),
    *,
    local: bool = False,
) -> CountTable:
    """Return the count table of a frame, which is all a solver sees; for ``local`` recoding hierarchies may be none."""
    source = open_source(frame)
    schema = Schema.make(
        source.columns, quasi_identifiers=hierarchies, sensitive=sensitive, class_attribute=class_attribute
    )
    return count(source, schema, without_hierarchy=list(hierarchies) if local else ()).table


def census(settings: Settings) -> tuple[pl.DataFrame, dict[str, Any]] | None:
    """Return eight columns of Census-Income, with automatic hierarchies, where it is at hand."""
    file = settings.data / "census-income-kdd" / "census-income-kdd-train.csv.gz"
    if not file.is_file():
        return None
    return pl.read_csv(file, columns=list(_CENSUS)).rechunk(), dict.fromkeys(_CENSUS)


def people(rows: int) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return made-up people and their hierarchies."""
    return dc.sample(rows, seed=1).select(_PEOPLE).rechunk(), {column: HIERARCHIES[column] for column in _PEOPLE}


def perturbed(dataset: Dataset, copies: int, file: Path, *, seed: int = 1, share: float = 0.01) -> pl.DataFrame:
    """Write many copies of a table to a file, a share of the cells of each replaced by others of their column."""
    rng = np.random.default_rng(seed)
    frame = dataset.frame

    def copy() -> pl.DataFrame:
        columns = []
        for column in frame:
            place = np.arange(frame.height)
            changed = rng.random(frame.height) < share
            place[changed] = rng.integers(frame.height, size=int(changed.sum()))
            columns.append(column.gather(place))
        return pl.DataFrame(columns)

    large = pl.concat(copy() for _ in range(copies)).rechunk()
    large.write_csv(file, separator=dataset.separator)
    return large
