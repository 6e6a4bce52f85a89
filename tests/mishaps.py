"""Everything that can happen to a job besides being killed, and what it must leave: what was there, or all of it.

``python tests/mishaps.py`` does all of them on the command line, in processes of their own; the tests do some.
A mishap is a function of an empty folder that does a job under bad conditions and looks at what came of it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import polars as pl

__all__ = ["MISHAPS", "QUICK", "Skip", "mishap"]

JOB = ("--qi", "age,zip,sex", "--hierarchy", "age=intervals(5, 10, 20)", "--hierarchy", "zip=mask(digits=2)", "-k", "5")
JOB += ("--suppression", "budget(5%)", "--quiet", "--keep", "note,token")
SOURCE = str(Path(__file__).parents[1] / "src")
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


# --- doing a job and looking at it ------------------------------------------------------------------------------------


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


# --- disks ------------------------------------------------------------------------------------------------------------


def _disk_full(folder: Path, output: str, *more: str, rows: int = 20_000) -> None:
    people(rows).write_csv(folder / "people.csv")
    with small_disk(folder / "disk", "96k"):
        (folder / "disk/old.txt").write_text("kept")
        done = run(folder, "anonymize", "people.csv", *JOB, "-o", output, *more)
        failed(done, 6, "disk is full")
        assert names(folder / "disk") == {"old.txt"}, names(folder / "disk")


@quick
def disk_full_of_a_file(folder: Path) -> None:
    _disk_full(folder, "disk/safe.csv")


@mishap
def disk_full_of_a_Parquet_file(folder: Path) -> None:
    _disk_full(folder, "disk/safe.parquet")


@mishap
def disk_full_of_JSON_lines(folder: Path) -> None:
    _disk_full(folder, "disk/safe.jsonl.gz")


@mishap
def disk_full_of_a_folder(folder: Path) -> None:
    _disk_full(folder, "disk/safe/")


@mishap
def disk_full_of_a_database(folder: Path) -> None:
    _disk_full(folder, f"sqlite:///{folder}/disk/safe.db?table=safe")


@mishap
def disk_full_by_another_engine(folder: Path) -> None:
    _disk_full(folder, "disk/safe.csv", "--engine", "duckdb")


@mishap
def disk_full_of_reports(folder: Path) -> None:
    """The release is written elsewhere; the report has no room."""
    people(2_000).write_csv(folder / "people.csv")
    with small_disk(folder / "disk", "8k"):
        done = run(folder, "anonymize", "people.csv", *JOB, "-o", "safe.csv", "--report", "disk/report.html")
        failed(done, 6, "disk is full")
        assert names(folder / "disk") == set()
    if (folder / "safe.csv").exists():
        complete(folder, "safe.csv", 2_000)


@mishap
def disk_full_of_what_is_printed(folder: Path) -> None:
    people(2_000).write_csv(folder / "people.csv")
    with (folder / "full").open("w") as nothing, suppress(FileNotFoundError):
        nothing.close()
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "discreet", "info", "people.csv"],
                cwd=folder, env=environment(folder), stdout=full, stderr=subprocess.PIPE, text=True, check=False,
            )  # fmt: skip
        assert done.returncode == 6, done.stderr
        assert done.stderr.count("\n") == 1, done.stderr


@quick
def files_may_not_grow(folder: Path) -> None:
    people(20_000).write_csv(folder / "people.csv")
    before = names(folder)

    def limits() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, 65_536))

    done = run(folder, "anonymize", "people.csv", *JOB, "-o", "safe.csv", limits=limits)
    failed(done, 6, "cannot be written")
    assert names(folder) == before


@mishap
def folder_read_only(folder: Path) -> None:
    people(2_000).write_csv(folder / "people.csv")
    (folder / "disk").mkdir()
    (folder / "disk/safe.csv").write_text("old")
    with read_only(folder / "disk"):
        for output in ("disk/safe.csv", "disk/new/", f"sqlite:///{folder}/disk/new.db?table=safe"):
            done = run(folder, "anonymize", "people.csv", *JOB, "-o", output)
            failed(done, 6, "cannot be written")
        done = run(folder, "anonymize", "people.csv", *JOB, "-o", "safe.csv", "--report", "disk/report.html")
        failed(done, 6, "cannot be written")
        done = run(folder, "anonymize", "people.csv", *JOB, "-o", "safe.csv", "--save-job", "disk/job.yaml")
        failed(done, 6, "cannot be written")
        assert (folder / "disk/safe.csv").read_text() == "old"
        assert not (folder / "safe.csv").exists()


@mishap
def folder_of_somebody_else(folder: Path) -> None:
    """As a user without rights, where the folder is root's."""
    if os.geteuid() != 0:
        raise Skip("only root can be somebody else")
    people(500).write_csv(folder / "people.csv")
    (folder / "theirs").mkdir()
    (folder / "theirs").chmod(0o755)
    reach = [folder, *folder.parents]
    if not all(path.stat().st_mode & 0o005 for path in reach):
        folder.chmod(0o755)
    code = (
        "import os, sys\nimport discreet._replacing as r\nfrom pathlib import Path\n"
        "from discreet.errors import OutputError\n"
        "os.setgid(65534); os.setuid(65534)\n"
        f"try: r.check_target(Path({str(folder / 'theirs/safe.csv')!r}))\n"
        "except OutputError as error: print(error); sys.exit(error.exit_code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(folder), capture_output=True, text=True, check=False
    )
    assert done.returncode == 6, done.stderr
    assert "cannot be written to" in done.stdout


# --- the input --------------------------------------------------------------------------------------------------------

_CHANGED = """
import sys, os
import polars as pl
import discreet.release._anonymize as flow
from discreet.cli import main
solve = flow._solve
def solve_and_change(*parts):
    found = solve(*parts)
    {change}
    return found
flow._solve = solve_and_change
sys.argv = ["discreet", *sys.argv[1:]]
main()
"""


def _changed(folder: Path, change: str, name: str = "people.csv") -> Any:
    table = people(3_000)
    table.write_csv(folder / name) if name.endswith("csv") else table.write_parquet(folder / name)
    done: Any = subprocess.run(
        [sys.executable, "-c", _CHANGED.format(change=change), "anonymize", name, *JOB, "-o", "safe.csv"],
        cwd=folder, env=environment(folder), capture_output=True, text=True, check=False,
    )  # fmt: skip
    done.code, done.err = done.returncode, done.stderr
    return done


@mishap
def input_changed_while_reading(folder: Path) -> None:
    """Rows are added, taken away, exchanged or cut off between the search and the writing."""
    changes = {
        "row added": "open('people.csv', 'a').write('21,101,f,new,1\\n')",
        "unknown value added": "open('people.csv', 'a').write('999,999,f,new,1\\n')",
        "values exchanged": (
            "t = open('people.csv').read(); s = os.stat('people.csv');"
            " open('people.csv', 'w').write(t.replace(',f,', ',F,').replace(',m,', ',f,').replace(',F,', ',m,'))"
        ),
        "cut off": "os.truncate('people.csv', 20_000)",
        "emptied": "os.truncate('people.csv', 0)",
        "gone": "os.remove('people.csv')",
        "another file": "pl.DataFrame({'a': [1]}).write_csv('people.csv')",
    }
    for what, change in changes.items():
        done = _changed(folder, change)
        assert done.code == 3, (what, done.code, done.err)
        assert done.err.count("\n") == 1, (what, done.err)
        assert names(folder) <= {"people.csv"}, (what, names(folder))


@quick
def input_grows_while_reading(folder: Path) -> None:
    failed(_changed(folder, "open('people.csv', 'a').write('21,101,f,new,1\\n')"), 3, "changed while it was being read")
    assert names(folder) == {"people.csv"}


@mishap
def Parquet_replaced_while_reading(folder: Path) -> None:
    done = _changed(
        folder, "pl.read_parquet('people.parquet').head(9).write_parquet('people.parquet')", "people.parquet"
    )
    assert done.code == 3, done.err
    assert names(folder) == {"people.parquet"}


# --- several at once --------------------------------------------------------------------------------------------------


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


# --- memory -----------------------------------------------------------------------------------------------------------


@mishap
def memory_runs_out(folder: Path) -> None:
    """With less and less memory a job succeeds, or says so in one line; it never leaves anything half written."""
    for rows, some in ((300_000, (4_000, 1_500, 1_470, 1_400, 1_000, 800, 600)), (4_000_000, (2_300, 2_000, 1_500))):
        _less_and_less(folder, rows, some, _with_memory, "memory")


def _less_and_less(
    folder: Path, rows: int, some: Sequence[int], run_with: Callable[[Path, int], Any], *said: str
) -> None:
    """Run a job with so much memory each time: its release is complete, or it says what it must and leaves nothing."""
    ends = []
    people(rows).write_csv(folder / "people.csv")
    for megabytes in some:
        done = run_with(folder, megabytes)
        ends.append(f"{megabytes} MB: {done.code}")
        if done.code == 0:
            complete(folder, "safe.csv", rows)
            (folder / "safe.csv").unlink()
        else:
            failed(done, 1, *said)
        assert names(folder) == {"people.csv"}, names(folder)
    print(f"    ({', '.join(ends)})")


def _with_memory(folder: Path, megabytes: int) -> Any:
    """Run a job that may take so much memory."""

    def limits() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    return run(folder, "anonymize", "people.csv", *JOB, "-o", "safe.csv", limits=limits)


@quick
def hardly_any_memory(folder: Path) -> None:
    """A limit that suffices for nothing is told before anything is loaded; the help still helps."""
    people(100).write_csv(folder / "people.csv")
    failed(_with_memory(folder, 500), 1, "may take 500 MB of memory", "raise the limit")
    assert names(folder) == {"people.csv"}


@contextmanager
def control_group(megabytes: int) -> Iterator[Path]:
    """A group of processes that may take so much memory, inside the group this process is in."""
    from discreet._limits import _groups

    def given(path: Path, text: str) -> bool:
        with suppress(OSError):
            path.write_text(text)
            return True
        return False

    for own in _groups("memory", Path("/"))[:1]:
        group = own / f"discreet-{os.getpid()}"
        with suppress(OSError):
            group.mkdir()
        try:
            if any(given(group / name, str(megabytes << 20)) for name in ("memory.max", "memory.limit_in_bytes")):
                given(group / "memory.swap.max", "0")
                yield group
                return
        finally:
            for _ in range(50):  # it goes when the last process in it is gone for good
                if not group.exists():
                    break
                with suppress(OSError):
                    group.rmdir()
                time.sleep(0.1)
    raise Skip("no group of processes with a limit on memory can be made")


def _in_container(folder: Path, megabytes: int, *more: str) -> Any:
    """Run a job in a group that may take so much memory."""
    with control_group(megabytes) as group:

        def limits() -> None:
            (group / "cgroup.procs").write_text(str(os.getpid()))

        done = run(folder, "anonymize", "people.csv", *JOB, "-o", "safe.csv", *more, limits=limits)
        assert done.code in (0, 1), (megabytes, done.code, done.err)
        return done


@mishap
def memory_of_a_container(folder: Path) -> None:
    """In a smaller and smaller container a job succeeds, or says so in one line before the kernel kills it."""
    some = (2_000, 600, 450, 350, 250, 180, 100)
    _less_and_less(folder, 3_000_000, some, _in_container, "memory", "container")


@quick
def hardly_any_memory_in_a_container(folder: Path) -> None:
    """A container too small for anything is told before anything is loaded; what was there stays."""
    people(100).write_csv(folder / "people.csv")
    (folder / "safe.csv").write_text("as before")
    failed(_in_container(folder, 60, "--overwrite"), 1, "MB of memory", "give the container more")
    assert (folder / "safe.csv").read_text() == "as before"
    assert names(folder) == {"people.csv", "safe.csv"}


@mishap
def memory_limit_of_an_engine(folder: Path) -> None:
    people(400_000).write_csv(folder / "people.csv")
    done = run(
        folder, "anonymize", "people.csv", *JOB, "-o", "safe.csv", "--engine", "duckdb", "--memory-limit", "200MB"
    )
    if done.code:
        failed(done, done.code, "memory")
        assert names(folder) == {"people.csv"}
    else:
        complete(folder, "safe.csv", 400_000)


# --- clocks -----------------------------------------------------------------------------------------------------------

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


# --- Ctrl-C -----------------------------------------------------------------------------------------------------------

STAGES = {
    "open": "discreet.release._prepare:open_source",
    "schema": "discreet.release._prepare:Schema.make",
    "count": "discreet.release._prepare:count",
    "problem": "discreet.release._anonymize:Problem.build",
    "solve": "discreet.release._anonymize:_solve",
    "recode": "discreet.release._make:make_recoding",
    "write": "discreet.release._staging:write_data",
    "audit": "discreet.release._publish:audit_table",
    "tell": "discreet.release._make:tell_columns",
}
_INTERRUPTED = """
import importlib, os, signal, sys, time
from discreet.cli import main
place, when, sign = {place!r}, {when!r}, {sign!r}
module, path = place.split(":")
owner = importlib.import_module(module)
*inner, last = path.split(".")
for name in inner:
    owner = getattr(owner, name)
before = getattr(owner, last)
def interrupted(*told, **named):
    if when == "before":
        os.kill(os.getpid(), getattr(signal, sign)); os.kill(os.getpid(), getattr(signal, sign)); time.sleep(0)
    found = before(*told, **named)
    if when == "after":
        os.kill(os.getpid(), getattr(signal, sign)); os.kill(os.getpid(), getattr(signal, sign)); time.sleep(0)
    return found
setattr(owner, last, interrupted)
sys.argv = ["discreet", *sys.argv[1:]]
main()
"""


def _interrupted(folder: Path, stage: str, when: str, sign: str = "SIGINT") -> None:
    code = _INTERRUPTED.format(place=STAGES[stage], when=when, sign=sign)
    done = subprocess.run(
        [sys.executable, "-c", code, "anonymize", "people.csv", *JOB, "-o", "safe.csv"],
        cwd=folder, env=environment(folder), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 130, (stage, when, done.returncode, done.stderr)
    assert "Traceback" not in done.stderr, (stage, when, done.stderr)
    assert "; nothing was released." in done.stderr.splitlines()[-1] or stage == "tell", (stage, when, done.stderr)
    if stage == "tell":
        complete(folder, "safe.csv", 2_000)
        (folder / "safe.csv").unlink()
    assert names(folder) == {"people.csv"}, (stage, when, names(folder))


@mishap
def interrupted_at_each_stage(folder: Path) -> None:
    """Ctrl-C twice before and after every stage, and the polite signal once."""
    people(2_000).write_csv(folder / "people.csv")
    for stage in STAGES:
        for when in ("before", "after"):
            _interrupted(folder, stage, when)
        _interrupted(folder, stage, "before", "SIGTERM")


@quick
def interrupted_while_writing(folder: Path) -> None:
    people(2_000).write_csv(folder / "people.csv")
    _interrupted(folder, "write", "after")


@mishap
def interrupted_at_any_moment(folder: Path) -> None:
    """Ctrl-C twenty times, at moments of chance."""
    people(30_000).write_csv(folder / "people.csv")
    begun = time.monotonic()
    assert run(folder, "anonymize", "people.csv", *JOB, "-o", "safe.csv").code == 0
    whole = time.monotonic() - begun
    (folder / "safe.csv").unlink()
    chance = random.Random(os.urandom(4))
    codes = []
    for _ in range(20):
        process = start(folder, "anonymize", "people.csv", *JOB, "-o", "safe.csv")
        time.sleep(chance.uniform(0.05, whole))
        process.send_signal(signal.SIGINT)
        with process:
            _, err = process.communicate(timeout=600)
        codes.append(process.returncode)
        if (folder / "safe.csv").exists():
            complete(folder, "safe.csv", 30_000)
            (folder / "safe.csv").unlink()
        else:
            assert process.returncode in (130, -signal.SIGINT, 1), (process.returncode, err)
        assert names(folder) == {"people.csv"}, names(folder)
    print(f"    (exit codes {sorted(codes)})")


@mishap
def interrupted_while_compiling(folder: Path) -> None:
    """Ctrl-C twice where nothing was ever compiled: it ends soon, and does not wait for the compiler."""
    people(300).write_csv(folder / "people.csv")
    chance, waited = random.Random(os.urandom(4)), []
    for turn in range(5):
        place = {"NUMBA_CACHE_DIR": str(folder / f"cache{turn}")}
        process = start(folder, "anonymize", "people.csv", *JOB, "-o", "safe.csv", **place)
        while not any((folder / f"cache{turn}").rglob("*.nbc")):  # the first kernel is there, others are to come
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.1)
        time.sleep(chance.uniform(0, 2))
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        with process:
            _, err = process.communicate(timeout=600)
        waited.append(time.monotonic() - begun)
        assert process.returncode == 130, (process.returncode, err)
        assert err.splitlines()[-1].startswith("discreet: interrupted; nothing was released."), err
        shutil.rmtree(folder / f"cache{turn}")
        assert names(folder) == {"people.csv"}, names(folder)
    print(f"    (seconds until the end: {', '.join(f'{each:.1f}' for each in waited)})")


# --- where there is nothing to write to -------------------------------------------------------------------------------


@mishap
def no_home(folder: Path) -> None:
    people(500).write_csv(folder / "people.csv")
    kept = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    for home in (None, "/nonexistent", ""):
        done = run(folder, "anonymize", "people.csv", *JOB, "-o", "safe.csv", HOME=home, NUMBA_CACHE_DIR=kept)
        assert done.code == 0, done.err
        complete(folder, "safe.csv", 500)
    assert names(folder) == {"people.csv", "safe.csv"}


@mishap
def no_place_for_compiled_kernels(folder: Path) -> None:
    """Nothing can be written but the output: everything is compiled for this one run."""
    people(300).write_csv(folder / "people.csv")
    (folder / "nothing").mkdir()
    with read_only(folder / "nothing"):
        place = str(folder / "nothing")
        nowhere = {"HOME": place, "TMPDIR": place, "XDG_CACHE_HOME": place, "NUMBA_CACHE_DIR": place}
        done = run(folder, "anonymize", "people.csv", *JOB, "-o", "safe.csv", **nowhere)
        assert done.code == 0, done.err
        complete(folder, "safe.csv", 300)
        assert names(folder / "nothing") == set()


@mishap
def no_room_for_compiled_kernels(folder: Path) -> None:
    """The disk they are kept on is full: everything is compiled for this one run, and nothing there is lost."""
    people(300).write_csv(folder / "people.csv")
    with small_disk(folder / "cache", "128k"):
        (folder / "cache/other").write_text("kept")
        done = run(folder, "anonymize", "people.csv", *JOB, "-o", "safe.csv", NUMBA_CACHE_DIR=str(folder / "cache"))
        assert done.code == 0, done.err
        assert (folder / "cache/other").read_text() == "kept"
    complete(folder, "safe.csv", 300)


@mishap
def compiled_kernels_damaged(folder: Path) -> None:
    """What was compiled earlier is cut off or filled with something else: it is compiled again, or refused clearly."""
    people(300).write_csv(folder / "people.csv")
    cache = folder / "cache"
    place = {"NUMBA_CACHE_DIR": str(cache)}
    plain = run(folder, "anonymize", "people.csv", *JOB, "-o", "safe.csv", **place)
    assert plain.code == 0, plain.err
    wanted = (folder / "safe.csv").read_text()
    for file in sorted(cache.rglob("*.nbc"))[:5] + sorted(cache.rglob("*.nbi"))[:5]:
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    done = run(folder, "anonymize", "people.csv", *JOB, "-o", "safe.csv", **place)
    assert done.code == 0, done.err
    assert (folder / "safe.csv").read_text() == wanted


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("which", nargs="*", help="which mishaps; all by default")
    told = parser.parse_args()
    os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="discreet-state-")  # not that of whoever runs this
    ends = {"ok": 0, "failed": 0, "skipped": 0}
    for name, function in MISHAPS.items():
        if told.which and name not in told.which:
            continue
        begun = time.monotonic()
        end = "ok"
        with tempfile.TemporaryDirectory(prefix="mishap") as folder:
            try:
                function(Path(folder))
            except Skip as why:
                end = f"skipped: {why}"
            except AssertionError as wrong:
                end = f"failed: {wrong}"
        ends[end.split(":")[0]] += 1
        print(f"{name:36} {end} ({time.monotonic() - begun:.0f} s)", flush=True)
    print(json.dumps(ends))
    return 1 if ends["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
