"""Ctrl-C and SIGTERM at every stage."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from mishaps.base import JOB, complete, environment, mishap, names, people, quick, run, start

STAGES = {
    "open": "discreet.pipeline.prepare:open_source",
    "schema": "discreet.pipeline.prepare:Schema.make",
    "count": "discreet.pipeline.prepare:count",
    "problem": "discreet.pipeline.prepare:Problem.build",
    "solve": "discreet.pipeline.search:_solve",
    "recode": "discreet.pipeline.make_release:make_recoding",
    "write": "discreet.pipeline.staging:write_data",
    "audit": "discreet.pipeline.publish:audit_table",
    "tell": "discreet.pipeline.make_release:summarize_columns",
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
def interrupted(*arguments, **named):
    if when == "before":
        os.kill(os.getpid(), getattr(signal, sign)); os.kill(os.getpid(), getattr(signal, sign)); time.sleep(0)
    found = before(*arguments, **named)
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
    chance = random.Random(1)
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
    """Ctrl-C where nothing was ever compiled: it ends soon, and does not wait for the compiler."""
    people(300).write_csv(folder / "people.csv")
    chance, waited = random.Random(1), []
    for turn in range(5):
        place = {"NUMBA_CACHE_DIR": str(folder / f"cache{turn}")}
        process = start(folder, "anonymize", "people.csv", *JOB, "-o", "safe.csv", **place)
        while "compiling the" not in process.stderr.readline():
            assert process.poll() is None, process.stderr.read()
        time.sleep(chance.uniform(0, 2))
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        with process:
            _, err = process.communicate(timeout=600)
        waited.append(time.monotonic() - begun)
        assert process.returncode == 130, (process.returncode, err)
        assert "stopped while it was compiled; nothing was released." in err, err
        shutil.rmtree(folder / f"cache{turn}")
        assert names(folder) == {"people.csv"}, names(folder)
    print(f"    (seconds until the end: {', '.join(f'{each:.1f}' for each in waited)})")
