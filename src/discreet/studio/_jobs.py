"""Jobs: each in a process of its own, two at a time, watched by a thread. What is known of them is kept here.

A process may end in any way: it says that it is done, it says what went wrong, or it is gone without a word. The page
is told in each case, and the studio goes on.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from discreet.errors import UsageError
from discreet.studio._project import Settings
from discreet.studio._worker import work
from discreet.studio._workspace import new_id

__all__ = ["Jobs", "Run"]

_AT_ONCE = 2
_TRACE = 600
"""The most moments of a search that are kept."""
_PATIENCE = 5.0
"""Seconds a worker has to end by itself when the studio ends."""
_SPOKEN = {
    "start": "starting",
    "read": "reading the table",
    "count": "counting who looks the same",
    "prepare": "preparing the search for this machine",
    "solve": "searching",
    "recode": "making the release",
    "audit": "checking the release",
    "finish": "drawing what came of it",
}


@dataclass
class Run:
    """One job: what it was asked for, and how it goes."""

    owner: str
    project: str
    kind: str
    folder: Path
    settings: Settings
    task: Mapping[str, Any]
    id: str = field(default_factory=new_id)
    state: str = "waiting"
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    stage: str = "start"
    status: str | None = None
    message: str | None = None
    about: str | None = None
    """The column a message is about."""
    more: dict[str, Any] = field(default_factory=dict)
    best: float | None = None
    bound: float | None = None
    gap: float | None = None
    examined: int = 0
    points: int | None = None
    open: int | None = None
    trace: list[list[float | None]] = field(default_factory=list)
    evaluation: dict[str, str] = field(default_factory=dict)
    cancelling: bool = False
    begun: float | None = None
    seconds: float = 0.0
    version: int = 0
    process: Any = None
    pipe: Connection | None = None

    @property
    def busy(self) -> bool:
        """Whether a process is at work on it, or will be."""
        under_way = [self.state, *self.evaluation.values()]
        return self.process is not None or "waiting" in under_way or "running" in under_way

    @property
    def elapsed(self) -> float:
        """Seconds since it was begun, until it ended."""
        return time.monotonic() - self.begun if self.state == "running" and self.begun is not None else self.seconds

    def told(self) -> dict[str, Any]:
        """Return the job for the page."""
        return {
            "id": self.id,
            "project": self.project,
            "kind": self.kind,
            "state": self.state,
            "created": self.created,
            "seconds": round(self.elapsed, 2),
            "stage": self.stage,
            "stage_text": _SPOKEN.get(self.stage, self.stage),
            "status": self.status,
            "best": self.best,
            "bound": self.bound,
            "gap": self.gap,
            "examined": self.examined,
            "points": self.points,
            "open": self.open,
            "trace": list(self.trace),
            "message": self.message,
            "field": self.about,
            "more": self.more,
            "cancelling": self.cancelling,
            "evaluation": dict(self.evaluation),
            "goals": self.settings.goals.told(),
            "point": self.task.get("point"),
            "front": self.task.get("of"),
            "result": self.state == "done",
        }

    def told_briefly(self) -> dict[str, Any]:
        """Return the job without what makes it long."""
        told = self.told()
        del told["trace"], told["more"]
        return told


class Jobs:
    """All jobs of a studio."""

    def __init__(self, at_once: int = _AT_ONCE) -> None:
        self._runs: dict[str, Run] = {}
        self._queue: list[Run] = []
        self._working = 0
        self._at_once = at_once
        self._lock = threading.RLock()
        self._closed = False
        self._context = get_context("spawn")

    def of_project(self, project: str) -> list[Run]:
        """Return the jobs of a project, the newest first."""
        with self._lock:
            return [run for run in reversed(self._runs.values()) if run.project == project]

    def get(self, owner: str, name: str) -> Run | None:
        """Return a job of a user."""
        run = self._runs.get(name)
        return run if run is not None and run.owner == owner else None

    def add(self, run: Run) -> None:
        """Take a job on; it begins when fewer than two are at work."""
        with self._lock:
            if self._closed:
                raise UsageError("The studio is ending.")
            self._runs[run.id] = run
            self._queue.append(run)
            self._start()

    def evaluate(self, run: Run) -> None:
        """Measure risk and utility of a release once more, after that was cut off."""
        with self._lock:
            if run.busy or self._closed:
                return
            run.task = {**run.task, "kind": "evaluation"}
            run.evaluation = {"risk": "waiting", "utility": "waiting"}
            run.version += 1
            self._queue.append(run)
            self._start()

    def cancel(self, run: Run, now: bool = False) -> None:
        """Ask a job to end with the best it has so far, or ``now`` with nothing."""
        with self._lock:
            if run in self._queue:
                self._queue.remove(run)
                self._end(run, "cancelled", "It was cancelled before it began.")
                return
            if run.process is None:
                return
            run.cancelling = True
            run.version += 1
            pipe = run.pipe
        if now:
            run.process.kill()
        elif pipe is not None:
            with suppress(OSError, ValueError):
                pipe.send("cancel")

    def remove(self, run: Run) -> None:
        """End a job and forget it."""
        self.cancel(run, now=True)
        with self._lock:
            self._runs.pop(run.id, None)
        process = run.process
        if process is not None:
            process.join(_PATIENCE)

    def close(self) -> None:
        """End all jobs."""
        with self._lock:
            self._closed = True
            self._queue.clear()
            alive = [run.process for run in self._runs.values() if run.process is not None]
        for process in alive:
            process.kill()
        for process in alive:
            process.join(_PATIENCE)

    def _start(self) -> None:
        """Begin as many jobs as may be at work at once."""
        while self._queue and self._working < self._at_once:
            run = self._queue.pop(0)
            ours, theirs = self._context.Pipe()
            run.process = self._context.Process(target=work, args=(dict(run.task), theirs), daemon=True)
            run.pipe = ours
            if run.state == "waiting":
                run.state, run.begun = "running", time.monotonic()
            run.version += 1
            self._working += 1
            run.process.start()
            theirs.close()
            threading.Thread(target=self._watch, args=(run, run.process, ours), daemon=True).start()

    def _watch(self, run: Run, process: Any, pipe: Connection) -> None:
        """Listen to a worker until it is gone."""
        while True:
            try:
                told = pipe.recv()
            except (EOFError, OSError):
                break
            with self._lock:
                self._hear(run, told)
        process.join()
        with self._lock:
            self._working -= 1
            run.process = run.pipe = None
            if run.state == "running":
                self._end(run, *_gone(process.exitcode, run.cancelling))
            for name, state in run.evaluation.items():
                if state in ("waiting", "running"):
                    run.evaluation[name] = "failed"
            run.cancelling = False
            run.version += 1
            pipe.close()
            if not self._closed:
                self._start()

    def _hear(self, run: Run, told: Mapping[str, Any]) -> None:
        if "stage" in told:
            run.stage = told["stage"]
        if "progress" in told:
            self._moment(run, told["progress"])
        if "evaluation" in told:
            run.evaluation[told["evaluation"]] = told["state"]
            if told["state"] == "failed":
                run.more = {**run.more, told["evaluation"]: told["message"]}
        if "ended" in told and run.state == "running":  # an evaluation that fails leaves the release as it is
            run.status = told.get("status")
            run.about = told.get("field")
            run.more = {**told.get("more", {}), **({"kind": told["error"]} if "error" in told else {})}
            self._end(run, told["ended"], told.get("message"))
            if told["ended"] == "done" and run.kind == "release":
                run.evaluation = {"risk": "waiting", "utility": "waiting"}
        run.version += 1

    def _moment(self, run: Run, told: Mapping[str, Any]) -> None:
        if "points" in told:
            run.points, run.open, run.examined = told["points"], told["open"], told["evaluated"]
            return
        best, bound = (None if abs(told[name]) == float("inf") else float(told[name]) for name in ("best", "bound"))
        run.best, run.bound, run.examined = best, bound, int(told["examined"])
        if best is not None and bound is not None:
            run.gap = max(0.0, (best - bound) / max(best, 1e-12))
        run.trace.append([round(float(told["seconds"]), 3), best, bound])
        if len(run.trace) > _TRACE:
            run.trace = [*run.trace[:-1:2], run.trace[-1]]

    def _end(self, run: Run, state: str, message: str | None) -> None:
        run.seconds = 0.0 if run.begun is None else time.monotonic() - run.begun
        run.state, run.message = state, message
        run.version += 1


def _gone(code: int | None, asked: bool) -> tuple[str, str]:
    """Say how a worker ended that said nothing."""
    if asked:
        return "cancelled", "It was stopped at once, so that nothing was kept of it."
    if code is not None and code < 0:
        name = next((each.name for each in signal.Signals if each == -code), str(-code))
        why = " Often that means that the memory did not suffice." if name == "SIGKILL" else ""
        return "failed", f"The process of this job was ended from outside ({name}).{why} Your settings are still here."
    return "failed", "The process of this job ended without a word. Your settings are still here; try again."
