"""Load: very wide and very diverse tables on the command line, and a studio with many clients.

``python tests/load.py`` measures CPU and memory. Every job must end with a release or one error message, within its
limits. No answer of the studio may be an error, and nothing may be left of it when it ends; ``python tests/load.py
studio`` runs only that.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import httpx
import polars as pl

SOURCE = str(Path(__file__).parents[1] / "src")
WIDE, LONG = 10_000, 1_000_000


def wide(path: Path) -> None:
    """Two hundred rows of ten thousand columns."""
    row = pl.int_range(200)
    columns = [((row * (7 + i % 13) + i) % (2 + i % 5)).cast(pl.String).alias(f"c{i}") for i in range(WIDE)]
    pl.select(*columns).write_csv(path)


def varied(path: Path) -> None:
    """A million rows with a million distinct values in each of three columns."""
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
    """Run a job; returns its exit code, CPU seconds, peak memory in MB, and last line of output."""
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


# --- the studio -------------------------------------------------------------------------------------------------------

CLIENTS, JOBS, ROUNDS, MOST_ROWS = 20, 5, 6, 2_000
HEADERS = {"x-discreet": "studio"}
ROLES = {"age": "quasi-identifier", "zip": "quasi-identifier", "sex": "quasi-identifier", "illness": "sensitive"}
GOALS = {"privacy": ["k(5)", "distinct-l(2, illness)"], "suppression": "budget(5%)"}


class Client:
    """A client with its own project that visits every screen and records the times of the answers by kind."""

    def __init__(self, link: str, took: dict[str, list[float]], errors: list[str]) -> None:
        base, token = link.split("/?token=")
        self.http = httpx.Client(base_url=base, headers={**HEADERS, "origin": base}, timeout=120)
        self.took, self.errors = took, errors
        self.ask("enter", "GET", "/", params={"token": token})

    def ask(self, what: str, method: str, path: str, **sent: Any) -> Any:
        begun = time.monotonic()
        answer = self.http.request(method, path, **sent)
        self.took[what].append(time.monotonic() - begun)
        if answer.status_code >= 400:
            self.errors.append(f"{what}: {answer.status_code} {answer.text[:100]}")
        return answer.json() if "json" in answer.headers.get("content-type", "") else answer.content

    def set_up(self, seed: int) -> None:
        """Upload a table and set its roles and goals."""
        row = pl.int_range(MOST_ROWS)
        table = pl.select(
            age=(row * (7 + seed)) % 60 + 20,
            zip=((row * 31 + seed) % 90 + 100).cast(pl.String),
            sex=(row % 2).replace_strict({0: "f", 1: "m"}, return_dtype=pl.String),
            illness=(row * 5 % 7).cast(pl.String),
        )
        file = {"file": (f"people{seed}.csv", table.write_csv().encode())}
        self.project = "/api/projects/" + self.ask("upload", "POST", "/api/projects", files=file)["id"]
        self.ask("change", "PATCH", self.project, json={"roles": ROLES})
        for column, form in (("age", "intervals(5, 10, 20)"), ("zip", "mask(digits=2)")):
            where = {"column": column}
            self.ask("hierarchy", "POST", f"{self.project}/hierarchy", params=where, json={"builder": form})
        self.ask("change", "PATCH", self.project, json={"goals": GOALS})

    def look(self) -> None:
        """Request every view of the project."""
        self.ask("look", "GET", self.project)
        self.ask("rows", "GET", f"{self.project}/rows", params={"offset": 100})
        self.ask("column", "GET", f"{self.project}/column", params={"name": "age"})
        self.ask("look", "GET", f"{self.project}/hierarchy", params={"column": "zip"})
        self.ask("check", "POST", f"{self.project}/check", json={})
        self.ask("look", "GET", f"{self.project}/jobs")

    def work(self) -> float:
        """Run a job and request its results; returns its seconds."""
        begun = time.monotonic()
        job = "/api/jobs/" + self.ask("start", "POST", f"{self.project}/jobs", json={"kind": "release"})["id"]
        while (state := self.ask("look", "GET", job)["state"]) in ("waiting", "running"):
            time.sleep(0.3)
        seconds = time.monotonic() - begun
        if state != "done":
            self.errors.append(f"a job ended as {state}")
            return seconds
        self.ask("result", "GET", f"{job}/result")
        self.ask("download", "GET", f"{job}/files/report.html")
        return seconds


def studio(folder: Path) -> bool:
    """Run a studio with many clients, some of them with jobs; returns whether there were no errors."""
    place = folder / "studio"
    place.mkdir()
    server = subprocess.Popen(
        [sys.executable, "-m", "discreet", "studio", "--no-open"],
        env={**os.environ, "PYTHONPATH": SOURCE, "TMPDIR": str(place)}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert server.stdout is not None
    link = server.stdout.readline().split()[-1]
    took: dict[str, list[float]] = defaultdict(list)
    errors: list[str] = []
    jobs: list[float] = []
    together = threading.Barrier(CLIENTS)

    def visit(number: int) -> None:
        try:
            client = Client(link, took, errors)
            client.set_up(number)
            together.wait(600)
            if number < JOBS:
                jobs.append(client.work())
            for _ in range(ROUNDS):
                client.look()
        except Exception as error:  # reported below
            errors.append(f"client {number}: {type(error).__name__} {error}")
            together.abort()

    clients = [threading.Thread(target=visit, args=(number,)) for number in range(CLIENTS)]
    begun = time.monotonic()
    for thread in clients:
        thread.start()
    for thread in clients:
        thread.join()
    seconds = time.monotonic() - begun
    server.send_signal(signal.SIGINT)
    _, _, used = os.wait4(server.pid, 0)
    left = [path.name for path in place.iterdir()]
    print(
        f"the studio: {CLIENTS} clients, {len(jobs)} jobs, {sum(map(len, took.values()))} answers in {seconds:.0f} s,"
    )
    print(f"  {len(errors)} errors; {used.ru_maxrss / 1024:.0f} MB of memory; left behind: {left or 'nothing'}")
    print("  jobs took", ", ".join(f"{each:.1f} s" for each in sorted(jobs)))
    for what, times in sorted(took.items()):
        last = statistics.quantiles(times, n=20)[-1]
        print(f"  {what:10} {len(times):4} times: median {statistics.median(times):.2f} s, 95 % {last:.2f} s,", end=" ")
        print(f"longest {max(times):.2f} s")
    for error in errors[:10]:
        print("  ", error)
    return not errors and not left and len(jobs) == JOBS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("which", nargs="*", help="which jobs, or the studio; all by default")
    options = parser.parse_args()
    os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="discreet-state-")  # not that of the user
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="load") as name:
        folder = Path(name)
        for file, make, jobs in (("wide.csv", wide, WIDE_JOBS), ("long.csv", varied, LONG_JOBS)):
            chosen = {job: arguments for job, arguments in jobs.items() if not options.which or job in options.which}
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
        if not options.which or "studio" in options.which:
            wrong += not studio(folder)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
