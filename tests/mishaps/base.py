"""The list of mishaps, and helpers to run a job and look at what it left."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

JOB = ("--qi", "age,zip,sex", "--hierarchy", "age=intervals(5, 10, 20)", "--hierarchy", "zip=mask(digits=2)", "-k", "5")
JOB += ("--suppression", "budget(5%)", "--quiet", "--keep", "note,token")
SOURCE = str(Path(__file__).parents[2] / "src")
MISHAPS: dict[str, Callable[[Path], None]] = {}
QUICK: list[str] = []


class Skip(Exception):  # noqa: N818 - it is no error
    """A mishap that cannot be arranged here, and why."""


def mishap(function: Callable[[Path], None]) -> Callable[[Path], None]:
    """Add a mishap to those that are tried."""
    MISHAPS[function.__name__.replace("_", " ")] = function
    return function


def quick(function: Callable[[Path], None]) -> Callable[[Path], None]:
    """Add a mishap to those the tests try every time too."""
    QUICK.append(function.__name__.replace("_", " "))
    return mishap(function)


def people(rows: int, seed: int = 0) -> pl.DataFrame:
    """A table; another seed gives other rows."""
    row = pl.int_range(rows)
    return pl.select(
        age=(row * (7 + seed)) % 60 + 20,
        zip=((row * 31 + seed) % 90 + 100).cast(pl.String),
        sex=pl.when(row % 2 == 0).then(pl.lit("f")).otherwise(pl.lit("m")),
        note=pl.format("note {} of table {}", row, pl.lit(seed)),
        token=row.hash(seed),  # what no format makes small
    )


def environment(folder: Path, **changes: str | None) -> dict[str, str]:
    """The variables of a process of its own; None takes one away."""
    found: dict[str, Any] = {**os.environ, "PYTHONPATH": SOURCE, "PYTHONDONTWRITEBYTECODE": "1", **changes}
    return {name: value for name, value in found.items() if value is not None}


def start(folder: Path, *arguments: str, limits: Callable[[], None] | None = None, **changes: str | None) -> Any:
    """Start the command line in a folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "discreet", *arguments],
        cwd=folder,
        env=environment(folder, **changes),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limits,
    )


def run(folder: Path, *arguments: str, limits: Callable[[], None] | None = None, **changes: str | None) -> Any:
    """Run the command line to its end; its answer has ``code``, ``out`` and ``err``."""
    with start(folder, *arguments, limits=limits, **changes) as process:
        out, err = process.communicate(timeout=600)
    process.code, process.out, process.err = process.returncode, out, err
    return process


def failed(done: Any, code: int, *words: str) -> None:
    """Check that a job failed with this code and one line that has these words."""
    assert done.code == code, (done.code, done.err)
    assert done.err.count("\n") == 1, done.err
    assert done.err.startswith("discreet: "), done.err
    assert all(word in done.err for word in words), done.err


def complete(folder: Path, name: str, rows: int) -> pl.DataFrame:
    """Check that a release is complete and keeps its promise, and return it."""
    table = pl.read_csv(folder / name, infer_schema=False)
    assert rows * 0.95 <= table.height <= rows, table.height
    assert table.group_by("age", "zip", "sex").len()["len"].min() >= 5  # type: ignore[operator]
    return table


def names(folder: Path) -> set[str]:
    """Everything there is in a folder, hidden or not."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@contextmanager
def mounted(folder: Path, *options: str) -> Iterator[None]:
    """Put a small file system of its own over a folder."""
    folder.mkdir(exist_ok=True)
    if shutil.which("mount") is None or os.geteuid() != 0:
        raise Skip("only root can mount a file system")
    done = subprocess.run(["mount", *options, str(folder)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Skip(f"no file system can be mounted ({done.stderr.strip()})")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def small_disk(folder: Path, size: str) -> Any:
    return mounted(folder, "-t", "tmpfs", "-o", f"size={size}", "none")


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Make a folder one that nobody can write to, root neither."""
    with mounted(folder, "--bind", str(folder)):
        done = subprocess.run(["mount", "-o", "remount,ro,bind", str(folder)], capture_output=True, check=False)
        if done.returncode:
            raise Skip("nothing can be mounted for reading only")
        yield
