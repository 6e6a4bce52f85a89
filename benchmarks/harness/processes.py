"""Rows for whole processes: each command several times, in turn with the others."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.child import Usage, run_child
from harness.data import Dataset
from harness.settings import BENCHMARKS

__all__ = ["anonymize_command", "bare_command", "figures", "usages"]


def anonymize_command(
    dataset: Dataset, source: Path, target: Path, *, cost: str = "LM", suppression: str = "none"
) -> list[str | Path]:
    """``discreet anonymize`` with k = 5, from one file to another."""
    what = ["-k", "5", "--cost", cost, "--suppression", suppression, "--solver", "lattice"]
    return [sys.executable, "-m", "discreet", "anonymize", source, "-o", target, *dataset.options, *what]


def bare_command(dataset: Dataset, source: Path, target: Path) -> list[str | Path]:
    """Polars alone: read the file, group it by all columns, write it again."""
    return [sys.executable, BENCHMARKS / "others" / "bare_polars.py", source, target, dataset.separator]


def usages(commands: Mapping[str, Sequence[str | Path]], repeat: int) -> dict[str, list[Usage]]:
    """Run every command once for nothing (compiled code is put into its cache then) and then in turn."""
    for command in commands.values():
        run_child(command).check()
    used: dict[str, list[Usage]] = {name: [] for name in commands}
    for _ in range(repeat):
        for name, command in commands.items():
            used[name].append(run_child(command).check())
    return used


def figures(used: list[Usage], floor: list[Usage] | None = None) -> dict[str, Any]:
    """Return what a process used and, of the least of each, how many times the floor that is."""
    cpu, wall, peak = ([getattr(usage, name) for usage in used] for name in ("cpu", "wall", "megabytes"))
    found = {
        "best CPU s": min(cpu),
        "median CPU s": statistics.median(cpu),
        "best wall s": min(wall),
        "peak MB": statistics.median(peak),
    }
    if floor is not None:
        found["CPU/floor"] = min(cpu) / min(usage.cpu for usage in floor)
        found["wall/floor"] = min(wall) / min(usage.wall for usage in floor)
        found["MB/floor"] = statistics.median(peak) / statistics.median(usage.megabytes for usage in floor)
    return found
