"""Faults injected into counting and recoding: the audit must refuse the releases they spoil.

Outputs that are written anyway are read by polars, sqlite3 and duckdb only, and counted in plain Python.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl

import discreet as dc
from attack.base import Outcome
from attack.door import FORMATS, read, target_of
from discreet.engines.polars import count as _pieces
from discreet.engines.polars import source as _polars
from discreet.errors import DiscreetError

__all__ = ["run"]

Counting = Callable[[pl.DataFrame, list[str]], pl.DataFrame]
Recoding = Callable[[pl.LazyFrame, pl.LazyFrame], pl.LazyFrame]


def _regrouped(counted: pl.DataFrame, by: list[str], changed: pl.Expr) -> pl.DataFrame:
    return counted.with_columns(changed).group_by(by, maintain_order=True).agg(pl.exclude(by).sum())


COUNTING: dict[str, Counting] = {
    "nothing": lambda counted, by: counted,
    "drops nulls": lambda counted, by: counted.drop_nulls(by[0]),
    "drops small classes": lambda counted, by: counted.filter(pl.col("rows") > 1),
    "drops classes": lambda counted, by: counted.head(max(1, counted.height - 1)),
    "counts twice": lambda counted, by: counted.with_columns(pl.col("rows") * 2),
    "merges capitals": lambda counted, by: _regrouped(counted, by, pl.col(by[0]).cast(pl.String).str.to_lowercase()),
    "trims text": lambda counted, by: _regrouped(counted, by, pl.col(by[-1]).cast(pl.String).str.strip_chars()),
    "takes empty for missing": lambda counted, by: _regrouped(counted, by, pl.col(by[0]).fill_null("")),
}
"""Faulty versions of a correct group-by."""
RECODING: dict[str, Recoding] = {
    "nothing": lambda frame, released: released,
    "keeps all": lambda frame, released: frame,
    "repeats rows": lambda frame, released: pl.concat([released, released.head(3)]),
    "drops rows": lambda frame, released: released.head(3),
    "drops the last row": lambda frame, released: released.slice(1),
    "shifts a column": lambda frame, released: released.with_columns(pl.col("q").shift(1, fill_value="z")),
    "forgets values": lambda frame, released: released.with_columns(
        q=pl.when(pl.int_range(pl.len()) > 0).then(pl.col("q"))
    ),
}
"""Faulty versions of a correct recoding."""


@contextmanager
def _replaced(original: Any, other: Any) -> Iterator[None]:
    """Replace a function in every module that imports it."""
    with ExitStack() as held:
        for name, module in list(sys.modules.items()):
            if name.startswith("discreet"):
                for attribute, value in list(vars(module).items()):
                    if value is original:
                        held.enter_context(patch.object(module, attribute, other))
        yield


@contextmanager
def _broken(counting: Counting, recoding: Recoding) -> Iterator[None]:
    add_up, recode = _pieces.add_up, _polars.recode

    def count(pieces: Any, by: Any, totals: Any, engine: Any) -> pl.DataFrame:
        return counting(add_up(pieces, by, totals, engine), list(by))

    with (
        patch.object(_polars, "MOST_ROWS", 0),  # otherwise small tables are not grouped by the engine
        _replaced(add_up, count),
        _replaced(recode, lambda frame, how, **options: recoding(frame, recode(frame, how, **options))),
    ):
        yield


def _breaks(rows: list[dict[str, Any]]) -> bool:
    """Whether a class has fewer than two rows; empty cells of text files and sheets are missing."""
    return min(Counter((row["q"] or None, row["r"] or None) for row in rows).values(), default=2) < 2


def run(seed: int, folder: Path) -> Iterator[Outcome]:
    """Release random tables with a fault in counting or recoding."""
    rng = random.Random(seed)
    for number in range(6):
        rows = rng.choice([6, 12, 25])
        values = rng.sample(["a", "A", " a", "b", "B ", "c", None], rng.choice([3, 4, 5]))
        table = pl.DataFrame(
            {name: [rng.choice(values) for _ in range(rows)] for name in ("q", "r", "s")},
            schema=dict.fromkeys(("q", "r", "s"), pl.String),
        )
        names = (rng.choice([*COUNTING]), "nothing") if rng.random() < 0.6 else ("nothing", rng.choice([*RECODING]))
        kind = rng.choice(FORMATS)
        own = folder / f"{seed}-{number}"
        own.mkdir()
        job = {
            "quasi_identifiers": {"q": "flat", "r": "flat"},
            "privacy": "k(2)",
            "suppression": rng.choice(["budget(0)", "budget(0.5)"]),
            "keep": ["s"],
        }
        target = f"{kind}: counting {names[0]}, recoding {names[1]}"
        try:
            with _broken(COUNTING[names[0]], RECODING[names[1]]):
                dc.anonymize(table, **job, output=target_of(kind, own))
        except (
            DiscreetError,
            pl.exceptions.PolarsError,
            ValueError,
            IndexError,
            AssertionError,
        ):  # it failed
            yield Outcome("audit", target, held=not list(own.iterdir()), detail="something was left behind")
        else:
            yield Outcome("audit", target, held=not _breaks(read(kind, own)), detail="a class of one was released")
