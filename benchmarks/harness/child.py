"""Measuring whole processes, with everything they start: CPU seconds, wall seconds and peak memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.settings import BENCHMARKS

__all__ = ["Usage", "run_child", "run_here"]

_WATCH = Path(__file__).with_name("_watch.py")


@dataclass(frozen=True)
class Usage:
    """What a process used, how it ended and what it printed."""

    cpu: float
    wall: float
    megabytes: float
    code: int
    timed_out: bool
    printed: str

    def check(self) -> Usage:
        """Return itself if the process did its work, and raise what it printed otherwise."""
        if self.code != 0:
            raise RuntimeError(f"a measured process ended with {self.code}:\n{self.printed[-2000:]}")
        return self


def run_child(command: Sequence[str | Path], timeout: float = 900.0) -> Usage:
    """Run a command in a fresh process; it is ended after ``timeout`` seconds."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "usage.json"
        watch = [sys.executable, "-I", "-S", str(_WATCH), str(place), str(timeout), *map(str, command)]
        # Python that may not keep its bytecode would compile every module again, in every process.
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        done = subprocess.run(watch, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True, env=kept)
        return Usage(**json.loads(place.read_text()), printed=done.stdout)


def run_here(target: str, timeout: float = 900.0, **arguments: Any) -> tuple[Any, Usage]:
    """Call ``module:function`` of the benchmarks in a fresh process; return its result and what it used."""
    usage = run_child([sys.executable, BENCHMARKS / "call.py", target, json.dumps(arguments)], timeout).check()
    return json.loads(usage.printed.splitlines()[-1]), usage
