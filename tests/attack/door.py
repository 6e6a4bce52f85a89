"""Difficult values written by every path: what is read back must keep k and l, or nothing is written.

The bytes are read by polars, sqlite3 and duckdb only, and counted in plain Python.
"""

from __future__ import annotations

import math
import os
import random
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

import discreet as dc
from attack.base import Outcome
from discreet.problem import SCHEMES

__all__ = ["run"]

FORMATS = ("csv", "tsv", "csv.gz", "csv.bz2", "jsonl", "jsonl.gz", "parquet", "xlsx", "folder", "sqlite", "duckdb")
START = datetime(2020, 10, 25, 0, 30)
VALUES: dict[str, list[Any]] = {
    "text": ["flu", "", None, " flu", "flu ", "Flu"],
    "lines": ["a\nb", "a\r\nb", "a\rb", "a_x000D_b", 'a"', '"a""', "a\x01", "a\x00b"],
    "formulas": ["=1+1", "'=1+1", "''=1+1", "@a", "-5", "+a", ""],
    "words": ["true", "True", "null", "NaN", "nan", "None", "*", None],
    "numbers as text": ["1", "1.0", "01", "1e0", "2", "", None],
    "dates as text": ["2020-01-01", "2020-01-01T00:00:00", "2020-1-1", "01.01.2020", None],
    "unicode": ["\u00e9", "e\u0301", "\ufeffa", "a", "\U0001f600", "\u200b"],
    "decimals": [0.3, 0.1 + 0.2, 0.30000000000000004, 1.0, 2.0, 1e300, 5e-324, None],
    "zeros": [0.0, -0.0, float("nan"), None, 1.5],
    "large": [2**53, 2**53 + 1, 2**53 + 2, -(2**53) - 1, None],
    "small": [1, 2, 3, None],
    "truth": [True, False, None],
    "days": [date(2020, 1, 1), date(1900, 2, 28), date(1900, 3, 1), date(1, 1, 1), None],
    "times": [START, START + timedelta(microseconds=1), START.replace(hour=0, minute=0), None],
    "hours": [START + timedelta(hours=number) for number in range(4)],
    "empty": ["", None],
    "digits": [0.3, 0.1 + 0.2],
    "exact": [Decimal("1.10"), Decimal("1.11"), Decimal("0.00000000000000001"), Decimal("0.00000000000000002"), None],
}


def column(rng: random.Random, rows: int, name: str) -> pl.Series:
    """A column of a kind, possibly with a random type; few values make it likely that a format merges some."""
    chosen = rng.sample(VALUES[name], rng.choice([2, 2, 3, len(VALUES[name])]) if len(VALUES[name]) > 2 else 2)
    values = pl.Series([rng.choice(chosen) for _ in range(rows)], strict=False)
    if name == "times" and rng.random() < 0.6:
        fine = pl.Series([rng.choice([0, 1, 999]) for _ in range(rows)])
        return (values.cast(pl.Datetime("ns")).cast(pl.Int64) + fine).cast(pl.Datetime("ns"))
    if name == "hours" and rng.random() < 0.5:
        return values.dt.replace_time_zone("UTC").dt.convert_time_zone(rng.choice(["UTC", "Europe/Berlin"]))
    if values.dtype == pl.String and rng.random() < 0.3:
        return values.cast(pl.Categorical)
    return values.cast(pl.Float32) if name == "zeros" and rng.random() < 0.3 else values


def draw(rng: random.Random) -> tuple[pl.DataFrame, dict[str, Any], list[str], str]:
    """A random table and job, with its quasi-identifiers and sensitive column."""
    rows = rng.choice([8, 16, 30])
    names = rng.choice([("q", "r", "s"), ("=q", "r", "=s"), ("-q", "number", "value")])
    kinds = [
        *rng.choices([kind for kind in VALUES if kind != "hours"], k=2),
        rng.choice([*VALUES, *["empty", "digits"] * 3]),
    ]
    table = pl.DataFrame({name: column(rng, rows, kind) for name, kind in zip(names, kinds, strict=True)})
    quasi = list(names[: rng.choice([1, 2])])
    secret = names[2]
    several = "+" not in "".join(names) and rng.random() < 0.2 and len(quasi) == 1
    attribute = f"{names[1]}+{secret}" if several else secret
    job = {
        "quasi_identifiers": quasi,
        "sensitive": [attribute],
        "privacy": ["k(2)", rng.choice([f"distinct-l(2, {attribute})", f"t(0.7, {attribute}, equal)"])],
        "suppression": rng.choice(["budget(0.5)", "budget(0.9)", "class-records", "violating-records"]),
        "scheme": rng.choice(["full-domain", *SCHEMES.members()]),
    }
    return table, job, quasi, secret


def target_of(kind: str, folder: Path) -> str:
    if kind in ("sqlite", "duckdb"):
        return f"{kind}:///{folder}/safe.db?table=people"
    return f"{folder}/safe/" if kind == "folder" else f"{folder}/safe.{kind}"


def read(kind: str, folder: Path) -> list[dict[str, Any]]:
    """Read an output without discreet."""
    file = folder / f"safe.{kind}"
    if kind == "sqlite":
        found = sqlite3.connect(folder / "safe.db").execute("SELECT * FROM people")
        return [dict(zip([each[0] for each in found.description], row, strict=True)) for row in found]
    if kind == "duckdb":
        with duckdb.connect(str(folder / "safe.db")) as connection:
            return pl.DataFrame(connection.sql("FROM people").to_arrow_table()).to_dicts()
    if kind == "folder":
        return pl.read_parquet(folder / "safe" / "*.parquet").to_dicts()
    if kind == "xlsx":
        return pl.read_excel(file, infer_schema_length=None, drop_empty_rows=False, drop_empty_cols=False).to_dicts()
    if kind.startswith("jsonl"):
        return pl.read_ndjson(_unpacked(file), infer_schema_length=None).to_dicts() if file.stat().st_size else []
    if kind == "parquet":
        return pl.read_parquet(file).to_dicts()
    separator = "\t" if kind == "tsv" else ","
    return pl.read_csv(_unpacked(file), separator=separator, infer_schema=False).to_dicts()


def _unpacked(file: Path) -> bytes:
    import bz2
    import gzip

    data = file.read_bytes()
    opener = {".gz": gzip.decompress, ".bz2": bz2.decompress}.get(file.suffix)
    return data if opener is None else opener(data)


def plain(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def broken(rows: list[dict[str, Any]], quasi: list[str], secret: str, privacy: list[str]) -> str:
    """The promise that the rows break, if any, counted in plain Python."""
    classes: dict[tuple[Any, ...], list[Any]] = {}
    names = list(rows[0]) if rows else []
    found = {name: next(own for own in names if own.lstrip("'") == name) for name in (*quasi, secret)} if rows else {}
    for row in rows:
        classes.setdefault(tuple(plain(row[found[name]]) for name in quasi), []).append(plain(row[found[secret]]))
    if any(len(values) < 2 for values in classes.values()):
        return "a class of one"
    if privacy[1] == f"distinct-l(2, {secret})" and any(len(set(values)) < 2 for values in classes.values()):
        return "a class with one sensitive value"
    return ""


def written(table: pl.DataFrame, job: dict[str, Any], output: str) -> None:
    dc.anonymize(table, **job, output=output)


def later(table: pl.DataFrame, job: dict[str, Any], output: str) -> None:
    dc.anonymize(table, **job).write(output)


def for_spreadsheets(table: pl.DataFrame, job: dict[str, Any], output: str) -> None:
    dc.anonymize(table, **job).write(output, for_spreadsheets=True)


def rewritten(table: pl.DataFrame, job: dict[str, Any], output: str) -> None:
    """Write a release that was made for another format."""
    other = f"{Path(output.partition('///')[-1] or output).parent}/first.csv"
    release = dc.anonymize(table, **job, output=other)
    Path(other).unlink()
    release.write(output)


def applied(table: pl.DataFrame, job: dict[str, Any], output: str) -> None:
    dc.apply_mapping(dc.anonymize(table, **job).to_mapping(), table, output=output)


def fitted(table: pl.DataFrame, job: dict[str, Any], output: str) -> None:
    dc.Anonymizer(**job).fit(table).release_.write(output)


def of_a_front(table: pl.DataFrame, job: dict[str, Any], output: str) -> None:
    axes = ["k", *(["distinct-l"] if job["privacy"][1].startswith("distinct-l") else [])]
    options = {name: value for name, value in job.items() if name not in ("privacy", "scheme", "suppression")}
    front = dc.pareto(table, **options, privacy=axes, suppression="budget(0.5)")
    front.release(k=[2] * len(axes) if len(axes) > 1 else 2, output=output)


WAYS: list[Callable[[pl.DataFrame, dict[str, Any], str], None]] = [
    written,
    later,
    for_spreadsheets,
    rewritten,
    applied,
    fitted,
    of_a_front,
]


def run(seed: int, folder: Path) -> Iterator[Outcome]:
    """Write ten random tables by random paths and formats, and read them back."""
    rng = random.Random(f"door {seed}")
    for number in range(10):
        way, kind = rng.choice(WAYS), rng.choice(FORMATS)
        if way.__name__ == "for_spreadsheets":
            kind = rng.choice(["csv", "tsv", "xlsx", "parquet"])
        table, job, quasi, secret = draw(rng)
        own = folder / str(number)
        own.mkdir(parents=True)
        target = f"{kind} by {way.__name__}"
        with Watch(own) as watch:
            try:
                way(table, job, target_of(kind, own))
            except dc.DiscreetError as error:
                left = [entry.name for entry in own.iterdir()]
                alarm = isinstance(error, dc.AuditError)
                detail = f"refused, but {left} was left" if left else str(error) if alarm else ""
                yield Outcome("door", target, not detail, detail)
                continue
        found = broken(read(kind, own), quasi, secret, job["privacy"] if way is not of_a_front else ["k(2)", ""])
        yield Outcome("door", target, not found, found)
        yield Outcome("door: modes", kind, not watch.seen, f"others could read {watch.seen}")


class Watch:
    """Watches a folder for files that others could read before they get their name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seen = ""
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._end.wait(0.0005):
            try:
                with os.scandir(self.folder) as entries:
                    for entry in entries:
                        hidden = entry.name.startswith(".")
                        if hidden and entry.stat(follow_symlinks=False).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                            self.seen = entry.name.rpartition(".")[2]
            except OSError:
                continue
