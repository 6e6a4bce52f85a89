"""Jobs: each runs in its own process, two at a time, watched by a thread that keeps their state.

A process may finish, report an error, or die without a word. The page learns about it in each case.
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
from discreet.studio._settings import Settings
from discreet.studio._worker import work
from discreet.studio._workspace import new_id

__all__ = ["Jobs", "Run"]

_AT_ONCE = 2
_TRACE = 600
"""Most points kept of the trace of a search."""
_LONGEST_NAME = 80
_PATIENCE = 5.0
"""Seconds to wait for a killed worker."""
_STAGE_TEXTS = {
    "start": "starting",
    "read": "reading the table",
    "count": "counting who looks the same",
    "solve": "searching",
    "recode": "making the release",
    "audit": "checking the release",
    "finish": "preparing the results",
}


@dataclass
class Run:
    """One job: its settings and its state."""

    owner: str
    project: str
    kind: str
    folder: Path
    settings: Settings
    task: Mapping[str, Any]
    number: int = 1
    """Which run of its project it is."""
    id: str = field(default_factory=new_id)
    name: str | None = None
    """The name its user gave it."""
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
    scheme: str | None = None
    """The scheme that is searched now, if several are tried."""
    tried: list[dict[str, Any]] = field(default_factory=list)
    """The schemes that were tried before it."""
    facts: dict[str, Any] = field(default_factory=dict)
    """Figures of the release, to compare it with others."""
    evaluation: dict[str, str] = field(default_factory=dict)
    cancelling: bool = False
    begun: float | None = None
    seconds: float = 0.0
    version: int = 0
    process: Any = None
    pipe: Connection | None = None

    @property
    def busy(self) -> bool:
        """Whether a process is working on it or will."""
        under_way = [self.state, *self.evaluation.values()]
        return self.process is not None or "waiting" in under_way or "running" in under_way

    @property
    def elapsed(self) -> float:
        """Seconds since the start, or of the whole run once it has ended."""
        return time.monotonic() - self.begun if self.state == "running" and self.begun is not None else self.seconds

    def to_dict(self) -> dict[str, Any]:
        """The job as the page shows it."""
        return {
            "id": self.id,
            "project": self.project,
            "kind": self.kind,
            "number": self.number,
            "name": self.name,
            "state": self.state,
            "created": self.created,
            "seconds": round(self.elapsed, 2),
            "stage": self.stage,
            "stage_text": _STAGE_TEXTS.get(self.stage, self.stage),
            "status": self.status,
            "best": self.best,
            "bound": self.bound,
            "gap": self.gap,
            "examined": self.examined,
            "points": self.points,
            "open": self.open,
            "trace": list(self.trace),
            "scheme": self.scheme,
            "tried": list(self.tried),
            "facts": dict(self.facts),
            "message": self.message,
            "field": self.about,
            "more": self.more,
            "cancelling": self.cancelling,
            "evaluation": dict(self.evaluation),
            "goals": self.settings.goals.to_dict(),
            "point": self.task.get("point"),
            "reaches": self.task.get("reaches"),
            "front": self.task.get("of"),
            "result": self.state == "done",
        }

    def brief_dict(self) -> dict[str, Any]:
        """The job without its trace and error details, for lists."""
        fields = self.to_dict()
        del fields["trace"], fields["more"], fields["tried"]
        return fields

    def rename(self, name: Any) -> None:
        """Give the run a name, or with None its default one again."""
        if name is not None and (not isinstance(name, str) or not name.strip()):
            raise UsageError("A run needs a name.")
        self.name = None if name is None else name.strip()[:_LONGEST_NAME]
        self.version += 1


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
        """Jobs of a project, newest first."""
        with self._lock:
            return [run for run in reversed(self._runs.values()) if run.project == project]

    def get(self, owner: str, name: str) -> Run | None:
        """Job of a user; None if it does not exist or belongs to someone else."""
        run = self._runs.get(name)
        return run if run is not None and run.owner == owner else None

    def add(self, run: Run) -> None:
        """Queue a job; it starts as soon as fewer than two are running."""
        with self._lock:
            if self._closed:
                raise UsageError("The studio is shutting down.")
            self._runs[run.id] = run
            self._queue.append(run)
            self._start()

    def evaluate(self, run: Run) -> None:
        """Measure risk and utility of a release again, after the first attempt was interrupted."""
        with self._lock:
            if run.busy or self._closed:
                return
            run.task = {**run.task, "kind": "evaluation"}
            run.evaluation = {"risk": "waiting", "utility": "waiting"}
            run.version += 1
            self._queue.append(run)
            self._start()

    def cancel(self, run: Run, now: bool = False) -> None:
        """Stop a job and keep its best release so far; with ``now``, kill it and keep nothing."""
        with self._lock:
            if run in self._queue:
                self._queue.remove(run)
                self._end(run, "cancelled", "It was cancelled before it started.")
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
        """Kill a job and forget it."""
        self.cancel(run, now=True)
        with self._lock:
            self._runs.pop(run.id, None)
        process = run.process
        if process is not None:
            process.join(_PATIENCE)

    def close(self) -> None:
        """Kill all jobs."""
        with self._lock:
            self._closed = True
            self._queue.clear()
            alive = [run.process for run in self._runs.values() if run.process is not None]
        for process in alive:
            process.kill()
        for process in alive:
            process.join(_PATIENCE)

    def _start(self) -> None:
        """Start queued jobs while slots are free."""
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
        """Apply the messages of a worker until it ends."""
        while True:
            try:
                message = pipe.recv()
            except (EOFError, OSError):
                break
            with self._lock:
                self._apply(run, message)
        process.join()
        with self._lock:
            self._working -= 1
            run.process = run.pipe = None
            if run.state == "running":
                self._end(run, *_silent_end(process.exitcode, run.cancelling))
            for name, state in run.evaluation.items():
                if state in ("waiting", "running"):
                    run.evaluation[name] = "failed"
            run.cancelling = False
            run.version += 1
            pipe.close()
            if not self._closed:
                self._start()

    def _apply(self, run: Run, message: Mapping[str, Any]) -> None:
        """Update a job by a message of its worker."""
        if "stage" in message:
            run.stage = message["stage"]
        if "scheme" in message:  # another search begins, whose costs are no continuation
            run.scheme, run.tried = message["scheme"], message["tried"]
            run.trace, run.best, run.bound, run.gap = [], None, None, None
        if "facts" in message:
            run.facts = message["facts"]
        if "progress" in message:
            self._progress(run, message["progress"])
        if "evaluation" in message:
            run.evaluation[message["evaluation"]] = message["state"]
            if message["state"] == "failed":
                run.more = {**run.more, message["evaluation"]: message["message"]}
        if "ended" in message and run.state == "running":  # an evaluation that fails leaves the release as it is
            run.status = message.get("status")
            run.about = message.get("field")
            run.more = {**message.get("more", {}), **({"kind": message["error"]} if "error" in message else {})}
            self._end(run, message["ended"], message.get("message"))
            if message["ended"] == "done" and run.kind == "release":
                run.evaluation = {"risk": "waiting", "utility": "waiting"}
        run.version += 1

    def _progress(self, run: Run, moment: Mapping[str, Any]) -> None:
        if "points" in moment:
            run.points, run.open, run.examined = moment["points"], moment["open"], moment["evaluated"]
            return
        best, bound = (None if abs(moment[name]) == float("inf") else float(moment[name]) for name in ("best", "bound"))
        run.best, run.bound, run.examined = best, bound, int(moment["examined"])
        if best is not None and bound is not None:
            run.gap = max(0.0, (best - bound) / max(best, 1e-12))
        run.trace.append([round(float(moment["seconds"]), 3), best, bound])
        if len(run.trace) > _TRACE:
            run.trace = [*run.trace[:-1:2], run.trace[-1]]

    def _end(self, run: Run, state: str, message: str | None) -> None:
        run.seconds = 0.0 if run.begun is None else time.monotonic() - run.begun
        run.state, run.message = state, message
        run.version += 1


def _silent_end(code: int | None, cancelled: bool) -> tuple[str, str]:
    """State and message of a job whose worker ended without reporting a result."""
    if cancelled:
        return "cancelled", "It was stopped at once, and nothing was kept."
    if code is not None and code < 0:
        name = next((item.name for item in signal.Signals if item == -code), str(-code))
        why = " Often this means that memory ran out." if name == "SIGKILL" else ""
        return "failed", f"The process of this job was killed ({name}).{why} Your settings are still here."
    return "failed", "The process of this job ended unexpectedly. Your settings are still here; try again."
