"""Hospital visits, their local release, and a row-by-row check of it."""

from __future__ import annotations

import datetime
import random
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import discreet as dc
from discreet.engines import open_source, to_lazy
from discreet.problem import Classes, PrivacyModel
from discreet.problem.privacy import Groups

WARDS = {"inside": ["A", "B", "C"], "outside": ["D", "E"]}
GRADES = ["low", "middle", "high"]
QUASI: dict[str, Any] = {
    "age": None,
    "day": None,
    "dose": None,
    "ward": dc.groups(WARDS),
    "grade": None,
    "zip": "mask(digits=5)",
}
SOLVERS = [
    "local",
    "local(effort=low)",
    "mondrian(cut=relaxed, categories=tree)",
    "mondrian",
    "top-down",
    "bottom-up",
    "mdav",
]


def visits(n: int = 90, seed: int = 4) -> pl.DataFrame:
    """A table with all kinds of columns, missing values and repeated tuples; ``row`` numbers its rows."""
    rng = random.Random(seed)
    rows = [
        {
            "age": rng.choice([None, 20, 21, 30, 30, 31, 45, 80]),
            "note": rng.choice([None, 'said "hi", twice', "line\nbreak", "plain"]),
            "day": rng.choice([None, *(datetime.date(2024, month, 1) for month in (1, 1, 2, 7, 12))]),
            "dose": rng.choice([None, float("nan"), -0.0, 0.0, 0.5, 0.5, 12.25]),
            "ward": rng.choice("AABCDE"),
            "grade": rng.choice([None, *GRADES]),
            "zip": f"0{rng.choice([1000, 1001, 1010, 2000])}",
            "disease": rng.choice(["flu", "flu", "ache", "hiv", "cold", None]),
        }
        for _ in range(n)
    ]
    table = pl.DataFrame(rows + rows[: n // 3], schema_overrides={"dose": pl.Float64}, strict=False)
    return table.with_columns(
        pl.col("ward").cast(pl.Categorical), pl.col("grade").cast(pl.Enum(GRADES))
    ).with_row_index("row")


def released(table: Any, quasi: Any = None, **options: Any) -> dc.Release:
    """Recode locally, with a seed and an audit."""
    arguments: dict[str, Any] = {"privacy": "k(4)", "scheme": "local", "cost": "NCP", "seed": 1, **options}
    confirmed = [column for column in open_source(table).columns if column in ("row", "code1")]
    arguments["keep"] = [*confirmed, *options.get("keep", [])]
    release = dc.anonymize(table, quasi_identifiers=QUASI if quasi is None else quasi, **arguments)
    assert release.audit.passed
    assert 0.0 <= release.lower_bound <= release.cost
    return release


def same(value: Any) -> Any:
    """A cell as normalized text, equal for equal values in files and frames; None if missing."""
    if value in (None, "", "NaN") or value != value:
        return None
    return str(value).removesuffix(".0").removesuffix(" 00:00:00")


def checked(before: pl.DataFrame, release: dc.Release, quasi: Any = None, k: int = 4, *, covers: bool = True) -> None:
    """Check the release row by row against the original, and the sizes of its classes."""
    chosen = QUASI if quasi is None else quasi
    trees = chosen if isinstance(chosen, dict) else dict.fromkeys(chosen)
    after = to_lazy(release.frame).collect()
    assert release.levels == {}
    assert release.blocks == {}
    numbers = [int(row) for row in after["row"]]
    assert numbers == sorted(set(numbers))
    assert len(numbers) == len(before) - release.suppressed
    originals = {row["row"]: row for row in before.to_dicts()}
    blocks: dict[tuple[str, Any], Any] = {}
    for number, row in zip(numbers, after.to_dicts(), strict=True):
        original = originals[number]
        for column, value in row.items():
            if column not in trees:
                assert same(value) == same(original[column])
            elif covers and column == "zip":
                assert value == "*" or re.fullmatch(value.replace("*", "."), original[column])
            elif covers:
                if (column, value) not in blocks:
                    blocks[column, value] = dc.parse_block(value, trees[column])
                assert original[column] in blocks[column, value], column
    sizes = Counter(after.select(list(trees)).cast(pl.String).rows())
    assert len(sizes) == release.classes
    assert min(sizes.values(), default=k) >= k


@dataclass(frozen=True)
class SmallClasses(PrivacyModel):
    """At most ``most`` rows per class: merging two classes that are ok may not be ok."""

    name = "small"
    most: int

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        return classes.sizes <= self.most

    def reached(self, groups: Groups) -> float:
        return float(groups.sizes.max(initial=0))

    def satisfied_by(self, reached: float) -> bool:
        return reached <= self.most
