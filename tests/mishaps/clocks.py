"""The clock jumps."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from mishaps.base import JOB, complete, environment, mishap, names, people

_CLOCK = """
import sys, time, random
true, turn = time.time, iter(range(10**9))
jumps = [0, 86_400, -86_400, 10**8, -10**9]
time.time = lambda: true() + jumps[next(turn) % 5]
time.time_ns = lambda: int(time.time() * 1e9)
from discreet.cli import main
sys.argv = ["discreet", *sys.argv[1:]]
main()
"""


@mishap
def clock_jumps(folder: Path) -> None:
    people(3_000).write_csv(folder / "people.csv")
    arguments = ["anonymize", "people.csv", *JOB, "-o", "safe.csv", "--report", "report.html", "--time-limit", "30"]
    arguments.remove("--quiet")
    done = subprocess.run(
        [sys.executable, "-c", _CLOCK, *arguments, "--certificate", "certificate.json"],
        cwd=folder, env=environment(folder), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "optimal" in done.stdout
    complete(folder, "safe.csv", 3_000)
    assert names(folder) == {"people.csv", "safe.csv", "report.html", "certificate.json"}
