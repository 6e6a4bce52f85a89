"""Visits of people, their release, and its classes counted in plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import discreet as dc
import naive

ILLNESSES = ["a", "b", "c", "d"]


QUASI = {"age": "intervals(5, 10, 20)", "sex": "flat"}


def visits(
    seed: int, rows: int = 40, people: int = 15, *, constant: bool = False, missing: float = 0.0
) -> pl.DataFrame:
    """Visits of some people, whose age may vary; identifiers are words that occur nowhere else."""
    rng = np.random.default_rng(seed)
    person = rng.integers(0, people, rows)
    born, home = rng.integers(20, 45, people), rng.integers(0, max(people // 2, 1), people)
    ill = [None if rng.random() < missing else ILLNESSES[rng.choice(4, p=(0.4, 0.3, 0.2, 0.1))] for _ in range(rows)]
    return pl.DataFrame(
        {
            "pid": [f"QZPerson{number:04d}" for number in person],
            "hid": [f"QZHouse{number:04d}" for number in home[person]],
            "age": born[person] + (0 if constant else rng.integers(0, 4, rows)),
            "sex": ["f" if number % 2 else "m" for number in born[person]],
            "s": pl.Series(ill, dtype=pl.String),
        }
    )


def crowds(rows: list[dict[str, Any]], person: str) -> list[naive.Crowd]:
    """The people of each class, counted in plain Python."""
    classes: dict[tuple[Any, ...], list[int]] = {}
    for number, row in enumerate(rows):
        classes.setdefault((row["age"], row["sex"]), []).append(number)
    table = naive.Table(rows, {})
    return [naive.crowd(table, members, person, "s") for members in classes.values()]


def released_rows(release: dc.Release, table: pl.DataFrame) -> list[dict[str, Any]]:
    """The released rows with the people they are about."""
    frame = release.frame
    frame = frame.collect() if isinstance(frame, pl.LazyFrame) else frame
    whose = table[release.rows_of(table).to_numpy()].select(person="pid", house="hid", secret="s")
    return pl.concat([frame.select("age", "sex", "s"), whose], how="horizontal").to_dicts()


def make(table: pl.DataFrame | None = None, **job: Any) -> dc.Release:
    given = {"identifiers": ["hid"], "person": "pid", "quasi_identifiers": QUASI, "sensitive": "s"}
    choices = {"privacy": ["k(2)"], "suppression": "budget(0.5)", "seed": 5}
    return dc.anonymize(visits(1, 120, 40) if table is None else table, **{**given, **choices, **job})
