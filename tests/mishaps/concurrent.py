"""Several runs write to one output at once."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from mishaps.base import JOB, mishap, names, people, start


def _at_once(folder: Path, runs: int, output: str) -> None:
    for seed in range(runs):
        people(4_000, seed).write_csv(folder / f"people{seed}.csv")
    begun = [start(folder, "anonymize", f"people{seed}.csv", *JOB, "-o", output) for seed in range(runs)]
    codes = []
    for process in begun:
        with process:
            _, err = process.communicate(timeout=600)
        codes.append(process.returncode)
        assert process.returncode == 0 or err.count("\n") == 1, err
    assert 0 in codes, codes
    assert set(codes) <= {0, 6}, codes
    left = names(folder) - {f"people{seed}.csv" for seed in range(runs)}
    assert not [name for name in left if name.startswith(".")], left
    path = folder / output
    table = pl.read_parquet(path) if path.is_dir() else pl.read_csv(path, infer_schema=False)
    assert table["note"].str.extract(r"table (\d)").n_unique() == 1, "two releases were mixed"
    assert table.group_by("age", "zip", "sex").len()["len"].min() >= 5  # type: ignore[operator]


@mishap
def two_runs_to_one_file(folder: Path) -> None:
    _at_once(folder, 2, "safe.csv")


@mishap
def three_runs_to_one_folder(folder: Path) -> None:
    _at_once(folder, 3, "safe/")
