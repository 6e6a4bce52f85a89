"""The tables of the study: Adult as the paper has it, variants of it, and made-up people where it is not at hand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

import discreet as dc
from discreet.counts import CountTable
from discreet.samples import HIERARCHIES
from harness.data import coded, tree_of

__all__ = ["SPLIT", "Subject", "adult", "made_up"]

QUASI_IDENTIFIERS = ("age", "education", "native-country", "workclass", "marital-status", "sex", "race")
"""In the order of the paper's Table II."""
SPLIT = "split"
"""The column that says which rows a classifier learns from (``train``) and which it is tested on (``test``)."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A table with a hierarchy for each quasi-identifier, a sensitive column, a class column and a split."""

    name: str
    frame: pl.DataFrame
    hierarchies: dict[str, dc.Hierarchy]
    sensitive: str
    label: str

    @cached_property
    def counts(self) -> CountTable:
        """The table as solvers see it."""
        return coded(self.frame.drop(SPLIT), self.hierarchies, self.label, [self.sensitive])

    def first(self, number: int) -> Subject:
        """Return the table with its first quasi-identifiers only."""
        kept = dict(list(self.hierarchies.items())[:number])
        gone = [column for column in self.hierarchies if column not in kept]
        return replace(self, name=f"{number} columns", frame=self.frame.drop(gone), hierarchies=kept)

    def top_two(self, columns: tuple[str, ...]) -> Subject:
        """Return the table with some hierarchies cut down to the root and the level below it, as in VIII-C-1."""
        frame, trees = self.frame, dict(self.hierarchies)
        for column in columns:
            where = {row[0]: row[-2] for row in trees[column].rows()}
            frame = frame.with_columns(pl.col(column).cast(pl.String).replace_strict(where))
            trees[column] = dc.Hierarchy.from_rows([[name, "*"] for name in dict.fromkeys(where.values())])
        return replace(self, name=f"{self.name}, reduced", frame=frame, hierarchies=trees)

    def amplified(self, rows: int, *, seed: int = 1) -> Subject:
        """Return the table with variants of its records added, as in VIII-C-4.

        A variant has random values in q quasi-identifiers, drawn at random, q being uniform between 1 and all.
        """
        rng = np.random.default_rng(seed)
        more = rows - self.frame.height
        origin = np.resize(rng.permutation(self.frame.height), more)
        columns = list(self.hierarchies)
        order = rng.random((more, len(columns))).argsort(axis=1).argsort(axis=1)
        chosen = order < rng.integers(1, len(columns) + 1, size=more)[:, None]
        variants = self.frame[origin]
        for place, column in enumerate(columns):
            domain = self.frame[column].unique(maintain_order=True)
            drawn = domain[rng.integers(domain.len(), size=more)]
            variants = variants.with_columns(
                pl.when(pl.Series(chosen[:, place])).then(drawn).otherwise(pl.col(column)).alias(column)
            )
        return replace(self, name=f"{rows:,} rows", frame=pl.concat([self.frame, variants]).rechunk())


def adult(data: Path, taxonomies: str = "base", *, exact_ages: bool = False) -> Subject | None:
    """Return the 45,222 rows of Adult without missing values and one set of taxonomies; None if not at hand.

    Ages become five-year leaves unless the exact ones are asked for.
    """
    folder = data / "taxonomies" / "adult" / f"liu-wang-{taxonomies}"
    if not folder.is_dir() or not (data / "adult.csv").is_file():
        return None
    files = {column: folder / f"{column}.csv" for column in QUASI_IDENTIFIERS}
    frame = pl.read_csv(data / "adult.csv").filter(~pl.any_horizontal(pl.col(pl.String) == "?"))
    frame = frame.select(*QUASI_IDENTIFIERS, "occupation", "income", SPLIT)
    if exact_ages:
        files["age"] = folder / "age_exact.csv"
    else:
        ages = pl.read_csv(folder / "age_exact.csv")
        leaf = dict(zip(ages["level0"], ages["level1"], strict=True))
        frame = frame.with_columns(pl.col("age").replace_strict(leaf, return_dtype=pl.String))
    trees = {column: dc.Hierarchy.from_csv(file) for column, file in files.items()}
    return Subject("exact ages" if exact_ages else taxonomies, frame.rechunk(), trees, "occupation", "income")


def made_up(rows: int) -> Subject:
    """Return made-up people, to try the study without Adult."""
    columns = ("sex", "education", "marital_status")
    frame = dc.sample(rows, seed=1).select(*columns, "city", pl.col("children").cast(pl.String)).drop_nulls()
    half = pl.when(pl.int_range(pl.len()) < pl.len() // 2).then(pl.lit("train")).otherwise(pl.lit("test"))
    trees = {column: tree_of(HIERARCHIES[column], frame[column]) for column in columns}
    return Subject("made-up people", frame.with_columns(half.alias(SPLIT)), trees, "city", "children")
