"""The whole job on each engine against what the engine alone needs to group and write the same columns.

``python benchmarks/engines.py [--rows 1000000 10000000] [--engines polars duckdb spark] [--folder DIR]``

A hundred million rows are made and read piece by piece too: ``--rows 100000000 --repeat 1`` takes 4 GB of disk in the
folder and, on two quiet cores, some twenty minutes.

The table has eight quasi-identifiers of the kind a census asks for, a sensitive column and two others. Whole processes
are measured, from the start of Python to the last byte written, with the Java process that does the work for Spark.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from harness import Row, Usage, print_rows, run_child
from harness.java import watched
from harness.settings import BENCHMARKS

QUASI = {
    "age": 18,
    "sex": 2,
    "region": 20,
    "education": 8,
    "marital_status": 5,
    "occupation": 12,
    "household": 6,
    "citizenship": 4,
}
"""The quasi-identifiers, and how many values each has."""
OTHERS = ("disease", "amount", "visit")
"""The other columns, which are released as they are."""
CHUNK = 1_000_000


def main() -> None:
    options = _options()
    rows = []
    with tempfile.TemporaryDirectory(prefix="discreet-engines-", dir=options.folder) as scratch:
        for n in options.rows:
            source = make_table(Path(scratch) / f"people-{n}.parquet", n)
            for engine in options.engines:
                rows += measure(engine, source, Path(scratch), n, options)
                print_rows(rows[-2:])
            source.unlink()
    print_rows(sorted(rows, key=lambda row: row.table))


def make_table(path: Path, n: int) -> Path:
    """Write made-up people, a chunk at a time; values are as uneven as real ones, and some are missing."""
    parts = path.with_suffix("")
    parts.mkdir()
    rng = np.random.default_rng(1)
    for number, start in enumerate(range(0, n, CHUNK)):
        size = min(CHUNK, n - start)
        columns: dict[str, pl.Series] = {}
        for name, values in QUASI.items():
            shares = 1.0 / np.arange(1, values + 1)
            code = rng.choice(values, size, p=shares / shares.sum())
            if name == "age":
                columns[name] = pl.Series(20 + code * 5)
            else:
                text = pl.Series([f"{name} {value:02d}" for value in range(values)])
                columns[name] = text.gather(code).set(pl.Series(rng.random(size) < 0.01), None)
        columns["disease"] = pl.Series([f"disease {value}" for value in range(30)]).gather(rng.integers(0, 30, size))
        columns["amount"] = pl.Series(rng.normal(size=size))
        columns["visit"] = pl.Series(np.arange(start, start + size))
        pl.DataFrame(columns).write_parquet(parts / f"{number:05d}.parquet")
    pl.scan_parquet(parts / "*.parquet").sink_parquet(path)
    shutil.rmtree(parts)
    return path


def measure(engine: str, source: Path, folder: Path, n: int, options: argparse.Namespace) -> list[Row]:
    """Run both once for nothing, if asked to, and then in turn; the least of each counts."""
    target = folder / "safe.parquet"
    whole = [sys.executable, "-m", "discreet", "anonymize", source, "-o", target, "--qi", ",".join(QUASI), "-k", "5"]
    whole += ["--suppression", "budget(1%)", "--engine", engine]
    whole += [word for column in OTHERS for word in ("--keep", column)]
    whole += {"duckdb": ["--memory-limit", "2GB"], "spark": ["--spark-master", "local[2]"]}.get(engine, [])
    bare = [sys.executable, BENCHMARKS / "others" / "bare_engine.py", engine, source, target, *QUASI]
    os.environ["PYSPARK_SUBMIT_ARGS"] = "--driver-memory 3g pyspark-shell"
    runs: dict[str, list[Usage]] = {"bare": [], "whole job": []}
    for _ in range(options.repeat):
        for name, command in (("bare", bare), ("whole job", whole)):
            with watched() as java:
                usage = run_child(command, timeout=7200).check()
            runs[name].append(replace(usage, cpu=usage.cpu + java.cpu, megabytes=usage.megabytes + java.megabytes))
            shutil.rmtree(target) if target.is_dir() else target.unlink()
    print(runs["whole job"][-1].printed)
    title = f"{engine}: {n:,} rows, {source.stat().st_size / 2**20:,.0f} MB"
    floor = runs["bare"]
    return [Row(title, name, _figures(used, floor)) for name, used in runs.items()]


def _figures(used: list[Usage], floor: list[Usage]) -> dict[str, float]:
    cpu, wall = min(usage.cpu for usage in used), min(usage.wall for usage in used)
    return {
        "CPU s": cpu,
        "wall s": wall,
        "peak MB": max(usage.megabytes for usage in used),
        "CPU/bare": cpu / min(usage.cpu for usage in floor),
        "wall/bare": wall / min(usage.wall for usage in floor),
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--engines", nargs="+", default=["polars", "duckdb"], choices=["polars", "duckdb", "spark"])
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="Where tables go, which are removed in the end.")
    return parser.parse_args()


if __name__ == "__main__":
    main()
