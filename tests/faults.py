"""Kill a job at random moments: it must leave the old output, or a complete release that passes its audit.

``python tests/faults.py`` kills many jobs for each kind of target, the tests a few. With Spark,
``python tests/faults.py 'by spark' 'spark table' --rows 20000`` includes Spark, which starts Java once or twice a job.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

import discreet as dc
from databases import DATABASES, Server, fill, postgres_server
from discreet.engines import to_lazy
from discreet.engines.sql.connect import connect
from discreet.runtime.locations import TableUrl, is_url

KINDS = ("csv", "parquet", "folder", *DATABASES, "new duckdb", "new sqlite", "by duckdb")
ON_SPARK = ("by spark", "spark table")
"""Kinds that need a Spark session for each job, and only run on request."""
JOB: dict[str, Any] = {
    "quasi_identifiers": {"age": "intervals(5, 10, 20)", "zip": "mask(digits=3)", "sex": "flat()"},
    "privacy": "k(5)",
    "keep": "note",
    "suppression": "budget(0.05)",
}
ROWS = 150_000
_PATIENCE = 600
"""Seconds after which a process is given up; nothing is asserted about time."""
_LEFT = re.compile(r"\.safe[^/]*\.[0-9a-f]{12}\.(part|before)")
_NURSERY = """
import json, os, sys, traceback
import numba, polars
import discreet.engines.sql, discreet.pipeline, discreet.solve
import discreet.pipeline.search as flow
from discreet.pipeline.anonymize import anonymize

def reporting(solve):
    def solve_and_report(*parts):
        solution = solve(*parts)
        print("solved", flush=True)
        return solution
    return solve_and_report

flow._solve = reporting(flow._solve)
print("ready", flush=True)
for line in sys.stdin:
    source, output, job = json.loads(line)
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        try:
            anonymize(source, **job, output=output)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    print(child, flush=True)
    print("ended", os.waitpid(child, 0)[1], flush=True)
"""


_LOOK = """
import sys
from pyspark.sql import SparkSession
session = SparkSession.builder.getOrCreate()
names = sorted(found["tableName"] for found in session.sql("SHOW TABLES").collect())
shown = "safe" if "safe" in names else next((name for name in names if name.endswith("_old")), None)
if shown is not None:
    session.table(shown).write.parquet(sys.argv[1])
print(*names)
session.stop()
"""


class Nursery:
    """A warm process whose forked children run the jobs, so that they start at once."""

    def __init__(self, settings: Mapping[str, str] | None = None) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-u", "-c", _NURSERY],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **(settings or {})},
        )
        assert self._line() == "ready"

    def run(self, source: str, output: str, engine: Mapping[str, str]) -> tuple[float, float]:
        """Run a job; returns the seconds until it was solved, and from then on."""
        self._start(source, output, engine)
        start = time.monotonic()
        assert self._line() == "solved"
        solved = time.monotonic()
        assert self._line() == "ended 0", "the job failed"
        return solved - start, time.monotonic() - solved

    def kill(self, source: str, output: str, engine: Mapping[str, str], seconds: float, *, solved: bool) -> None:
        """Kill a job some seconds after its start, or after it was ``solved``; its children end by themselves."""
        child = self._start(source, output, engine)
        line = self._line() if solved else ""
        end = time.monotonic() + seconds
        while not line.startswith("ended") and (left := end - time.monotonic()) > 0 and self._ready(left):
            line = self._line()
        if not line.startswith("ended"):
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        while not line.startswith("ended"):
            line = self._line()
        assert line in ("ended 0", f"ended {int(signal.SIGKILL)}"), "the job failed"
        _wait_for(child)

    def close(self) -> None:
        """End the process."""
        with self._process:
            assert self._process.stdin is not None
            self._process.stdin.close()

    def _start(self, source: str, output: str, engine: Mapping[str, str]) -> int:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([source, output, {**JOB, **engine}]).encode() + b"\n")
        self._process.stdin.flush()
        return int(self._line())

    def _line(self) -> str:
        """Next line of output, read byte by byte, so that nothing is buffered where ``select`` does not see it."""
        line = b""
        while not line.endswith(b"\n"):
            assert self._ready(_PATIENCE), "the job takes too long"
            assert self._process.stdout is not None
            read = os.read(self._process.stdout.fileno(), 1)
            assert read, "the process ended"
            line += read
        return line.decode().strip()

    def _ready(self, seconds: float) -> bool:
        assert self._process.stdout is not None
        return bool(select.select([self._process.stdout], [], [], seconds)[0])


def _wait_for(group: int) -> None:
    """Wait until all processes of a job are gone; Java needs a moment to notice."""
    for _ in range(10 * _PATIENCE):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    raise AssertionError("what a killed job started still runs")


def people(seed: int, rows: int) -> pl.DataFrame:
    """A random table."""
    row = pl.int_range(rows)
    return pl.select(
        age=(row * (7 + seed)) % 60 + 20,
        zip=((row * 31 + seed) % 900 + 100).cast(pl.String),
        sex=pl.when(row % 97 == seed)
        .then(None)
        .otherwise(pl.when(row % 2 == 0).then(pl.lit("f")).otherwise(pl.lit("m"))),
        note=pl.format("note {} of table {}", row, pl.lit(seed)),
    )


@dataclass
class Fault:
    """One kind of target in its own folder, and two tables that are released to it in turn."""

    kind: str
    folder: Path
    nursery: Nursery
    server: Server | None = None
    rows: int = ROWS
    sources: list[str] = field(default_factory=list)
    wanted: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        for seed in (0, 1):
            table = people(seed, self.rows)
            if self.kind in DATABASES:
                self.sources.append(fill(self._url(self.kind, f"people{seed}"), table))
            else:
                self.sources.append(str(self.folder / f"people{seed}.parquet"))
                table.write_parquet(self.sources[-1])
            self.wanted.append(_digest(dc.anonymize(table, **JOB).frame))

    @property
    def engine(self) -> dict[str, str]:
        """Options of the job about its engine."""
        if self.kind in ON_SPARK:
            return {"engine": "spark", "spark": "local[2]"}
        return {"engine": "duckdb"} if self.kind == "by duckdb" else {}

    @property
    def output(self) -> str:
        if self.kind == "spark table":
            return "spark:///?table=safe"
        if self.kind in ("by duckdb", "by spark"):
            return f"{self.folder}/safe.parquet" if self.kind == "by duckdb" else f"{self.folder}/safe/"
        if self.kind in DATABASES:
            return self._url(self.kind, "safe")
        if self.kind.startswith("new "):
            return f"{self.kind[4:]}:///{self.folder}/safe.db?table=safe"
        return f"{self.folder}/safe/" if self.kind == "folder" else f"{self.folder}/safe.{self.kind}"

    def _url(self, kind: str, table: str) -> str:
        if kind != "postgresql":
            return f"{kind}:///{self.folder}/data.{kind}?table={table}"
        assert self.server is not None
        return self.server.url(table)

    def run(self, number: int) -> tuple[float, float]:
        """Run the job for one of the tables; returns the seconds until it was solved, and from then on."""
        return self.nursery.run(self.sources[number], self.output, self.engine)

    def found(self) -> int | None:
        """Index of the table that the output is a release of; None if there is no output."""
        self._wait_for_server()
        if self.kind == "spark table":
            return self._found_in_spark()
        if is_url(self.output):
            url = TableUrl.parse(self.output)
            if url.path is not None and not url.path.exists():
                return None
            with connect(url) as session:
                tables = set(session.tables())
            assert not [name for name in tables if name.startswith("discreet_")], f"stray tables: {tables}"
            if "safe" not in tables:
                return None
        elif not Path(self.output).exists():
            return None
        return self._which(self.output)

    def _which(self, released: str) -> int:
        """Index of the table that this is a release of."""
        verdict = dc.audit(released, quasi_identifiers=[*JOB["quasi_identifiers"]], privacy=JOB["privacy"])
        assert verdict.passed, "the output breaks its promise"
        digest = _digest(to_lazy(released).collect())
        assert digest in self.wanted, "the output is not complete"
        return self.wanted.index(digest)

    def _found_in_spark(self) -> int | None:
        """The same for a Spark table, read by a new session.

        Spark cannot exchange two tables in one step: in between, the one to be replaced is there under another name.
        """
        seen = self.folder / "seen"
        shutil.rmtree(seen, ignore_errors=True)
        look = [sys.executable, "-c", _LOOK, str(seen)]
        tables = subprocess.run(
            look, env={**os.environ, **spark_settings(self.folder)}, check=True, capture_output=True, text=True
        ).stdout.split()
        assert all(re.fullmatch(r"safe(__discreet_[0-9a-f]{12}(_old)?)?", name) for name in tables), tables
        return self._which(str(seen)) if seen.exists() else None

    def remove(self, name: str) -> None:
        """Delete the leftovers of a killed job."""
        path = self.folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    def clear(self) -> None:
        """Remove the database file of the output."""
        path = TableUrl.parse(self.output).path
        assert path is not None
        path.unlink(missing_ok=True)

    def left(self) -> list[str]:
        """Leftovers next to the output; each must have a known name."""
        hidden = [path.name for path in self.folder.iterdir() if path.name.startswith(".")]
        assert all(_LEFT.fullmatch(name) for name in hidden), hidden
        return hidden

    def _wait_for_server(self) -> None:
        """Wait until the server has noticed the end of its client."""
        if self.server is None:
            return
        for _ in range(10 * _PATIENCE):
            busy = self.server.run("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'discreet'")
            if busy == [(0,)]:
                return
            time.sleep(0.1)
        raise AssertionError("the server still works for a client that is gone")


def _digest(frame: pl.DataFrame) -> int:
    """Fingerprint of the rows, independent of order and types."""
    texts = frame.select(pl.all().cast(pl.String))
    return int(texts.hash_rows(seed=1).cast(pl.Decimal(38, 0)).sum()) * 10**9 + frame.height


def spark_settings(folder: Path) -> dict[str, str]:
    """Settings of Spark sessions that share a persistent catalog in a folder."""
    settings = {
        "spark.ui.enabled": "false",
        "spark.log.level": "FATAL",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.extraJavaOptions": f"-XX:TieredStopAtLevel=1 -Dderby.system.home={folder}/catalog",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
    }
    flags = " ".join(f'--conf "{name}={value}"' for name, value in settings.items())
    return {"PYSPARK_SUBMIT_ARGS": f"--master local[2] {flags} pyspark-shell"}


@contextmanager
def fault(kind: str, rows: int = ROWS) -> Iterator[Fault]:
    """Set a kind of target up; PostgreSQL needs its server."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        server = stack.enter_context(postgres_server()) if kind == "postgresql" else None
        settings = spark_settings(Path(folder)) if kind in ON_SPARK else None
        nursery = stack.enter_context(closing(Nursery(settings)))
        yield Fault(kind, Path(folder), nursery, server, rows)


def kill(target: Fault, times: int, chance: random.Random, tell: bool = False) -> dict[str, int]:
    """Run the job once, kill it ``times`` times, run it once more, and count how the kills ended.

    Every fourth time it is killed at any moment, else at one after the search, when there is something to be left.
    """
    search, rest = target.run(0)
    assert target.found() == 0
    ends = {"as before": 0, "complete": 0, "with something to clear up": 0}
    for turn in range(times):
        if target.kind.startswith("new "):
            target.clear()
        solved = turn % 4 > 0
        end = kill_once(target, turn, chance.uniform(0, 1.2 * (rest if solved else search + rest)), solved=solved)
        ends[end] += 1
        ends["with something to clear up"] += bool(target.left())
        if tell:
            print(f"\r{target.kind}: {turn + 1} of {times}", end="", file=sys.stderr)
    last = 1 - (target.found() or 0)
    target.run(last)
    assert target.found() == last
    assert not target.left(), "the next run did not clear up"
    return ends


def kill_once(target: Fault, turn: int, seconds: float, *, solved: bool) -> str:
    """Kill the job for the table that is not released yet; returns the state of the output."""
    before = target.found()
    number = turn % 2 if before is None else 1 - before
    target.nursery.kill(target.sources[number], target.output, target.engine, seconds, solved=solved)
    now = target.found()
    assert now in (before, number), f"the output is that of table {now}"
    return "complete" if now == number else "as before"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", default=list(KINDS), help="which targets; on Spark: " + ", ".join(ON_SPARK))
    parser.add_argument("--times", type=int, default=50, help="how often each is killed")
    parser.add_argument("--rows", type=int, default=ROWS, help="how large the table is")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "big"))
    options = parser.parse_args()
    os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="discreet-state-")  # not that of the user
    print(f"seed {options.seed}")
    for kind in options.kinds:
        with fault(kind, options.rows) as target:
            ends = kill(target, options.times, random.Random(f"{options.seed} {kind}"), tell=True)
        print(f"\r{kind:12} killed {options.times} times:", ", ".join(f"{count} {end}" for end, count in ends.items()))


if __name__ == "__main__":
    main()
