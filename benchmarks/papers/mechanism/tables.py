"""The tables of the study: Adult and Census-Income as the paper has them, made-up people where they are not at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

import discreet as dc
from discreet.counts import CountTable
from discreet.samples import HIERARCHIES
from harness import coded

__all__ = ["Subject", "adult", "census", "made_up"]

_ARX = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country")
"""The attributes of Adult that ARX has a hierarchy for, and that are no sensitive ones."""
_CENSUS_FILE = Path("census-income-kdd") / "census-income-kdd-train.csv.gz"


@dataclass(frozen=True, eq=False)
class Subject:
    """A table, its quasi-identifiers with their hierarchies, its sensitive column and what matters most in it.

    ``pre_sampling`` and ``times`` are the paper's milliseconds: of pre-sampling by k', and of the mechanism by promise
    and score, where they are known.
    """

    name: str
    frame: pl.DataFrame
    hierarchies: Mapping[str, Any]
    sensitive: str
    priorities: Mapping[str, int]
    note: str
    pre_sampling: Mapping[int, float]
    times: Mapping[tuple[str, str], float]

    @cached_property
    def counted(self) -> CountTable:
        """The table as solvers see it."""
        return self.count()

    def count(self) -> CountTable:
        """Count the table."""
        return coded(self.frame, self.hierarchies, None, [self.sensitive])


def adult(data: Path) -> Subject | None:
    """Return the 32,561 rows, ``?`` being a value like others; None if they are not at hand."""
    file, trees = data / "adult.csv", data / "arx" / "adult"
    if not file.is_file() or not trees.is_dir():
        return None
    frame = pl.read_csv(file).filter(pl.col("split") == "train").drop("split", "income").rechunk()
    forms: dict[str, Any] = dict.fromkeys(name for name in frame.columns if name != "occupation")
    for name in _ARX:
        tree = dc.Hierarchy.from_csv(trees / f"adult_hierarchy_{name}.csv")
        forms[name] = _with_unknown(tree) if "?" in frame[name].cast(pl.String) else tree
    times = {
        ("k = 2, l = 2", "basic"): 619,
        ("k = 2, l = 2", "log"): 592,
        ("k = 2, l = 2", "eta"): 680,
        ("k = 2, t = 0.1", "basic"): 736,
        ("k = 2, t = 0.1", "log"): 720,
        ("k = 2, t = 0.1", "eta"): 675,
        ("k = 2, t = 0.9", "basic"): 823,
        ("k = 2, t = 0.9", "log"): 778,
        ("k = 2, t = 0.9", "eta"): 723,
        ("k = 10, l = 10", "basic"): 663,
        ("k = 10, l = 10", "log"): 631,
        ("k = 10, l = 10", "eta"): 669,
        ("k = 10, t = 0.1", "basic"): 726,
        ("k = 10, t = 0.1", "log"): 722,
        ("k = 10, t = 0.1", "eta"): 696,
        ("k = 10, t = 0.9", "basic"): 803,
        ("k = 10, t = 0.9", "log"): 777,
        ("k = 10, t = 0.9", "eta"): 833,
    }
    return Subject(
        "Adult",
        frame,
        forms,
        "occupation",
        {"age": 10, "education": 5},
        "13 quasi-identifiers: ARX's hierarchies for seven of them, with '?' as a further value under the root, and "
        "automatic ones for the others; occupation, the only column with enough values for l = 10, is sensitive",
        {1: 1289, 2: 1299, 5: 1307, 10: 1286},
        times,
    )


def census(data: Path) -> Subject | None:
    """Return the 199,523 rows; None if they or their hierarchies are not at hand."""
    trees = data / "taxonomies" / "census-income"
    if not (data / _CENSUS_FILE).is_file() or not trees.is_dir():
        return None
    frame = pl.read_csv(data / _CENSUS_FILE).rechunk()
    forms: dict[str, Any] = dict.fromkeys(name for name in frame.columns if name != "education")
    for name in forms:
        if (trees / f"{name}.csv").is_file():
            forms[name] = dc.Hierarchy.from_csv(trees / f"{name}.csv")
    given = sum(tree is not None for tree in forms.values())
    return Subject(
        "Census-Income",
        frame,
        forms,
        "education",
        {"age": 10, "race": 5},
        f"all 42 columns: 41 quasi-identifiers, {given} with hierarchies of neighbouring values in blocks of 4, 16 and "
        "64, the others with automatic ones, and education, which is sensitive; the paper's times are lost in the copy "
        "at hand",
        {1: 4401, 2: 4324, 5: 4431, 10: 4464},
        {},
    )


def made_up(rows: int) -> Subject:
    """Return people that stand in for Adult."""
    names = ("birth_date", "sex", "zip", "education", "marital_status", "children", "occupation")
    frame = dc.sample(rows, seed=1).select(*names, "diagnosis").rechunk()
    return Subject(
        "made-up people",
        frame,
        {name: HIERARCHIES[name] for name in names},
        "diagnosis",
        {"zip": 10, "birth_date": 5},
        "seven quasi-identifiers; diagnosis is sensitive",
        {},
        {},
    )


def _with_unknown(tree: dc.Hierarchy) -> dc.Hierarchy:
    """Return a hierarchy with '?' as a further value, which has no node above it but the root."""
    rows = tree.rows()
    return dc.Hierarchy.from_rows([*rows, ["?"] * tree.height + [rows[0][-1]]])
