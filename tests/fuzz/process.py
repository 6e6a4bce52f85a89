"""The same cases in processes with bounds-checked kernels, or with kernels as plain Python: equal results."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

__all__ = ["MODES", "compare", "results"]

MODES = {
    "as always": {},
    "plain Python": {"DISCREET_PLAIN_KERNELS": "1"},
    "with bounds checks": {"DISCREET_CHECK_BOUNDS": "1"},
}
_SCRIPT = """
import sys
from fuzz.outcome import digest, run
from fuzz.jobs import make_case
for seed in map(int, sys.argv[1:]):
    print(seed, digest(run(make_case(seed, large=False))), flush=True)
"""


def results(seeds: list[int], mode: str) -> dict[int, str]:
    """Results of the jobs of some seeds on small tables, in a separate process."""
    tests = str(Path(__file__).parents[1])
    path = os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _SCRIPT, *map(str, seeds)],
        env={**os.environ, "PYTHONPATH": path, **MODES[mode]},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line.split(" ", 1) for line in done.stdout.splitlines()]
    if done.returncode:
        lines.append([str(seeds[len(lines)]), done.stderr.strip().splitlines()[-1]])
    return {int(seed): result for seed, result in lines}


def compare(first: int, count: int) -> dict[str, int]:
    """Run some jobs in every mode, and count the differing results."""
    seeds = list(range(first, first + count))
    wanted, wrong = results(seeds, "as always"), {}
    for mode in list(MODES)[1:]:
        found = results(seeds, mode)
        differ = [seed for seed in seeds if found.get(seed) != wanted.get(seed)]
        print(f"{count:,} jobs {mode}: {count - len(differ):,} the same", flush=True)
        for seed in differ[:5]:
            print(f"  {seed}: {wanted.get(seed)} and {mode} {found.get(seed)}")
        if differ:
            wrong[mode] = len(differ)
    return wrong
