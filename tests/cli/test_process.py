"""Real processes: exit codes, streams, pipes and signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import pytest

LEFT_OUT = ("--identifiers", "person_id,name,birth_date,zip,income")
PATIENCE = 600.0
"""Seconds after which a test gives up waiting; nothing is asserted about time."""

SLOW_SOLVER = """
    import dataclasses, sys, time
    from discreet.cli import main
    from discreet.solve import SOLVERS, Budget
    from discreet.solve.lattice.solver import LatticeSolver

    @SOLVERS.register
    @dataclasses.dataclass(frozen=True)
    class Slow(LatticeSolver):
        name = "slow"

        def solve(self, problem, budget, progress=None):
            found = super().solve(problem, Budget())
            print("searching", file=sys.stderr, flush=True)
            while STUBBORN or not budget.exhausted:
                time.sleep(0.02)
            return dataclasses.replace(found, status="feasible", lower_bound=0.0)

    main()
"""


def discreet(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "discreet", *arguments], capture_output=True, text=True, check=False, **options
    )  # type: ignore[call-overload, no-any-return]


@contextmanager
def slow_search(folder: Path, stubborn: bool) -> Iterator[tuple[subprocess.Popen[str], IO[str]]]:
    """A process in the middle of a search that ends when it is asked to, or not even then."""
    code = textwrap.dedent(SLOW_SOLVER).replace("STUBBORN", str(stubborn))
    command = ("anonymize", "people.csv", *LEFT_OUT, "--qi", "sex", "-k", "5", "-o", "safe.csv", "--solver", "slow")
    with subprocess.Popen(
        [sys.executable, "-c", code, *command],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        try:
            wait_for("searching", process.stderr)
            yield process, process.stderr
        finally:
            process.kill()


def wait_for(word: str, stream: IO[str]) -> None:
    printed = ""
    while word not in printed:
        line = stream.readline()
        printed += line
        assert line, f"the process ended too early: {printed}"


def test_success_and_failure(folder: Path) -> None:
    good = discreet("anonymize", "people.csv", *LEFT_OUT, "--qi", "sex", "-k", "5", "-o", "safe.csv", "--json")
    assert good.returncode == 0
    assert json.loads(good.stdout)["audit"]["passed"]
    assert "\x1b" not in good.stderr
    bad = discreet("audit", "people.csv", "--qi", "name", "-k", "2")
    assert (bad.returncode, bad.stderr) == (5, "")
    worse = discreet("anonymize", "people.csv", "--qi", "sexx", "-k", "5", "-o", "safe.csv")
    assert (worse.returncode, worse.stdout) == (3, "")
    assert (
        worse.stderr
        == "discreet: There is no column 'sexx'; did you mean 'sex'? (more: discreet explain unknown-column)\n"
    )


def test_a_reader_that_has_seen_enough(folder: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as broken:
        result = subprocess.run(
            [sys.executable, "-m", "discreet", "info", "people.csv"],
            stdout=broken,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (result.returncode, result.stderr) == (1, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize(
    "command",
    [
        ("info", "people.csv", "--json"),
        ("audit", "people.csv", "--qi", "sex", "-k", "5"),
        ("anonymize", "people.csv", *LEFT_OUT, "--qi", "sex", "-k", "5", "-o", "safe.csv", "--json"),
        ("audit", "people.csv", "--qi", "none", "-k", "5", "--json"),
        ("--help",),
    ],
)
def test_nothing_can_be_printed(folder: Path, command: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [sys.executable, "-m", "discreet", *command], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    sentence = "What was to be printed cannot be written (No space left on device)."
    assert f"discreet: {sentence} (more: discreet explain output)" in result.stderr.splitlines()
    assert "Traceback" not in result.stderr
    assert "Exception ignored" not in result.stderr
    assert result.returncode == 6


def test_the_first_interrupt_releases_the_best_so_far(folder: Path) -> None:
    with slow_search(folder, stubborn=False) as (process, _):
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert "stopped early; the best release found so far was written" in err
    assert "Traceback" not in err
    assert "gap at most" in out
    assert (folder / "safe.csv").exists()


def test_the_second_interrupt_ends_the_run(folder: Path) -> None:
    with slow_search(folder, stubborn=True) as (process, errors):
        process.send_signal(signal.SIGINT)
        wait_for("press Ctrl-C again", errors)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (130, ""), err
    assert err == "discreet: interrupted; nothing was released. (more: discreet explain interrupted)\n"
    assert [file.name for file in folder.iterdir()] == ["people.csv"]


@pytest.mark.parametrize(("patience", "quiet"), [(0.0, False), (60.0, False), (0.0, True)])
def test_a_line_says_how_far_compiling_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], patience: float, quiet: bool
) -> None:
    from discreet.cli import _watch
    from discreet.solve import Compiling

    monkeypatch.setattr(_watch, "_PATIENCE", patience)
    with _watch.Watch(quiet) as watch, watch.budget.paused():
        for done in range(0, 15, 7):
            watch._show_compiling(Compiling("local search", done, 41, 12.0))
    lines = capsys.readouterr().err.splitlines()
    assert (lines[-1:] == ["discreet: compiling the local search, once: 14 of 41, about 12 s"]) == (
        patience == 0 and not quiet
    )


def test_a_stop_ends_compiling() -> None:
    from discreet.errors import InterruptedRun
    from discreet.solve import Budget
    from discreet.solve.kernels.compiler.programs import _Clock

    budget = Budget()

    def compile_something() -> None:
        with budget.paused():
            clock = _Clock("local search", 41, "")
            clock.report(13)
            budget.stop.set()
            clock.report(14)

    with pytest.raises(InterruptedRun, match="stopped while it was compiled"):
        compile_something()


@pytest.mark.parametrize("quiet", [True, False])
def test_an_end_asked_for_while_compiling_is_not_lost(quiet: bool) -> None:
    """Compiled code calls back into Python, and what is raised in there is dropped; the run ends nevertheless."""
    code = f"""
        import ctypes, os, signal, time
        from discreet.cli import _watch
        called = ctypes.CFUNCTYPE(None)(lambda: [os.kill(os.getpid(), signal.SIGTERM), time.sleep(0.01)] and None)
        try:
            with _watch.Watch(quiet={quiet}) as watch:
                with watch.budget.paused():
                    called()
                print("went on")
        except _watch.Abandoned:
            print("ended")
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("ended\n", "")


def test_progress_without_a_terminal_is_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    from discreet.cli._watch import Watch
    from discreet.solve import Progress

    for quiet in (False, True):
        watch = Watch(quiet)
        for second in range(100):
            watch(Progress(seconds=float(second), best=120.0, bound=90.0, examined=15))
        lines = capsys.readouterr().err.splitlines()
        assert [line.rpartition(" · ")[2] for line in lines] == ([] if quiet else ["10 s", "20 s", "40 s", "80 s"])


@pytest.mark.parametrize("written", [False, True])
def test_an_end_after_the_release_was_written_says_so(tmp_path: Path, written: bool) -> None:
    from discreet.cli._execute import execute
    from discreet.cli._watch import Abandoned
    from discreet.errors import InterruptedRun

    class Ended:
        output, report, certificate, mapping = "safe.csv", (), None, None
        protection_page: tuple[str, ...] = ()
        internal_page: tuple[str, ...] = ()

        def locate(self, name: str) -> Path:
            return tmp_path / name

        def check_targets(self, save_as: object) -> None:
            pass

        def run(self, **_: object) -> None:
            if written:
                (tmp_path / "safe.csv").write_text("age\n")
            raise Abandoned

    with pytest.raises(InterruptedRun if written else Abandoned):
        execute(cast(Any, Ended()), dry_run=False, as_json=False, quiet=True)
