"""Very wide and very varied tables on the command line: what each takes, in seconds of CPU and megabytes of memory.

``python tests/load.py`` measures; every job must be answered by a release or by one sentence, within its limits.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl

SOURCE = str(Path(__file__).parents[1] / "src")
WIDE, LONG = 10_000, 1_000_000


def wide(path: Path) -> None:
    """Two hundred rows of ten thousand columns."""
    row = pl.int_range(200)
    columns = [((row * (7 + i % 13) + i) % (2 + i % 5)).cast(pl.String).alias(f"c{i}") for i in range(WIDE)]
    pl.select(*columns).write_csv(path)


def varied(path: Path) -> None:
    """A million rows, and as many different values in each of three columns."""
    row = pl.int_range(LONG)
    pl.select(
        text=pl.format("person {}", (row * 7_919) % LONG),
        number=(row * 104_729) % LONG * 3,
        code=((row * 15_485_863) % LONG).cast(pl.String).str.zfill(7),
        sex=(row % 2).replace_strict({0: "f", 1: "m"}, return_dtype=pl.String),
    ).write_csv(path)


WIDE_JOBS = {
    "info": ("info", "wide.csv"),
    "three of 10,000 columns": ("anonymize", "wide.csv", "--qi", "c1,c2,c3", "-k", "5", "-o", "safe.csv"),
    "100 quasi-identifiers": (
        *("anonymize", "wide.csv", "--qi", ",".join(f"c{i}" for i in range(100)), "-k", "5", "-o", "safe.csv"),
        *("--suppression", "budget(10%)", "--time-limit", "20"),
    ),
    "100 quasi-identifiers, local": (
        *("anonymize", "wide.csv", "--qi", ",".join(f"c{i}" for i in range(100)), "-k", "5", "-o", "safe.csv"),
        *("--scheme", "local", "--cost", "NCP", "--time-limit", "20"),
    ),
    "9,999 identifiers": (
        *("anonymize", "wide.csv", "--identifiers", ",".join(f"c{i}" for i in range(1, WIDE)), "--qi", "c0"),
        *("-k", "5", "-o", "safe.csv"),
    ),
    "10,000 quasi-identifiers": (
        *("anonymize", "wide.csv", "--qi", ",".join(f"c{i}" for i in range(WIDE)), "-k", "5", "-o", "safe.csv"),
        *("--time-limit", "20"),
    ),
}
LONG_JOBS = {
    "info of a million values": ("info", "long.csv"),
    "a million texts": ("anonymize", "long.csv", "--qi", "text,sex", "-k", "5", "-o", "safe.csv", "--time-limit", "20"),
    "a million numbers": (
        *("anonymize", "long.csv", "--qi", "number,sex", "--hierarchy", "number=intervals(30, 300, 3000)"),
        *("-k", "5", "-o", "safe.csv"),
    ),
    "a million codes, subtree": (
        *("anonymize", "long.csv", "--qi", "code,sex", "--hierarchy", "code=mask(digits=6)", "-k", "5"),
        *("--scheme", "subtree", "-o", "safe.csv", "--time-limit", "20"),
    ),
    "a million numbers, ordered": (
        *("anonymize", "long.csv", "--qi", "number,sex", "-k", "5", "--scheme", "ordered", "-o", "safe.csv"),
        *("--time-limit", "20"),
    ),
    "a million texts, set": (
        *("anonymize", "long.csv", "--qi", "text,sex", "-k", "5", "--scheme", "set", "-o", "safe.csv"),
        *("--time-limit", "20"),
    ),
    "a million numbers, local": (
        *("anonymize", "long.csv", "--qi", "number,sex", "-k", "5", "--scheme", "local", "--cost", "NCP"),
        *("-o", "safe.csv", "--time-limit", "20"),
    ),
    "a million sensitive values": (
        *("anonymize", "long.csv", "--qi", "sex", "--sensitive", "text", "-k", "5", "-l", "2", "-o", "safe.csv"),
    ),
    "audit of a million values": ("audit", "long.csv", "--qi", "number,sex", "-k", "5"),
}
MOST_SECONDS, MOST_MEGABYTES = 240, 4_000


def measure(folder: Path, arguments: tuple[str, ...]) -> tuple[int, float, float, str]:
    """Run a job; returns its exit code, seconds of CPU, megabytes at most, and the last line it said."""
    (folder / "safe.csv").unlink(missing_ok=True)
    with (folder / "err.txt").open("w+") as err, (folder / "out.txt").open("w+") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "discreet", *arguments],
            cwd=folder, env={**os.environ, "PYTHONPATH": SOURCE}, stdout=out, stderr=err,
        )  # fmt: skip
        begun = time.monotonic()
        while True:
            done, status, used = os.wait4(process.pid, os.WNOHANG)
            if done:
                break
            if time.monotonic() - begun > 10 * MOST_SECONDS:
                process.kill()
            time.sleep(0.2)
        process.returncode = os.waitstatus_to_exitcode(status)
    said = [line for line in (folder / "err.txt").read_text().splitlines() if "preparing the search" not in line]
    return process.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, said[-1] if said else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("which", nargs="*", help="which jobs; all by default")
    told = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="load") as name:
        folder = Path(name)
        for file, make, jobs in (("wide.csv", wide, WIDE_JOBS), ("long.csv", varied, LONG_JOBS)):
            chosen = {job: arguments for job, arguments in jobs.items() if not told.which or job in told.which}
            if chosen:
                make(folder / file)
            for job, arguments in chosen.items():
                code, seconds, megabytes, said = measure(folder, arguments)
                fine = 0 <= code <= 6 and "unexpected" not in said and "Traceback" not in said
                fine &= seconds < MOST_SECONDS and megabytes < MOST_MEGABYTES
                wrong += not fine
                print(
                    f"{job:30} exit {code:3} {seconds:7.1f} s {megabytes:7.0f} MB",
                    "" if fine else "BAD",
                    said[:160],
                    flush=True,
                )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
