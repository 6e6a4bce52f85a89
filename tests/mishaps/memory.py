"""Memory runs out: of the process, of a container, of an engine."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from mishaps.base import JOB, Skip, complete, failed, mishap, names, people, quick, run


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
    """A limit too low for any job is reported before anything is loaded; --help still works."""
    people(100).write_csv(folder / "people.csv")
    failed(_with_memory(folder, 500), 1, "may take 500 MB of memory", "raise the limit")
    assert names(folder) == {"people.csv"}


@contextmanager
def control_group(megabytes: int) -> Iterator[Path]:
    """A group of processes that may take so much memory, inside the group this process is in."""
    from discreet.runtime.machine_limits import _groups

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
    """A container too small for any job is reported before anything is loaded; existing files stay."""
    people(100).write_csv(folder / "people.csv")
    (folder / "safe.csv").write_text("as before")
    failed(_in_container(folder, 60), 1, "MB of memory", "give the container more")
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
