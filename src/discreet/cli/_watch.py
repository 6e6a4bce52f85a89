"""While a search runs: progress, Ctrl-C, and a notice before compiling."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

from discreet.runtime.plurals import amount

if TYPE_CHECKING:
    from discreet.solve import Budget, Compiling, Progress
    from discreet.solve.front.search import FrontProgress

__all__ = ["Abandoned", "Watch"]

_AGAIN = 0.3 if hasattr(signal, "SIGALRM") else 0.0
"""Seconds between attempts to abandon a run while compiling; 0 without SIGALRM."""
_FIRST_LINE = 10.0
"""Seconds until the first line of progress without a terminal; the intervals double."""
_PATIENCE = 2.0
"""Seconds of compiling until the first line about it without a terminal; the intervals double."""


_STAGES = {
    "read": "reading the table",
    "count": "counting who looks the same",
    "solve": "searching",
    "recode": "generalizing and writing rows",
    "audit": "auditing what was written",
    "report": "writing the report",
}
"""What the spinner says in each stage of the pipeline."""


class Abandoned(BaseException):
    """Ctrl-C was pressed twice. Not a KeyboardInterrupt, on which a solver would keep its best result."""


class Watch:
    """Watches one search: ``budget`` is for the solver, and the watch itself is the progress callback.

    The first Ctrl-C stops the search with its best result; the second abandons the run.
    """

    def __init__(self, quiet: bool) -> None:
        from discreet.solve import Budget

        self.budget: Budget = Budget(while_paused=self._paused)
        self.interrupted = False
        self._given_up = False
        self._compiling = False
        self._quiet = quiet
        self._status: Any = None
        self._stages = ExitStack()
        self._next_line = _FIRST_LINE
        self._compiling_since = 0.0
        self._next_notice = _PATIENCE
        self._before: Any = None
        self._before_end: Any = None
        self._before_lost: Any = None
        self._before_again: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._on_interrupt)
            self._before_end = signal.signal(signal.SIGTERM, self._on_end)
            self._before_again = signal.signal(signal.SIGALRM, self._on_again) if _AGAIN else None
            self._before_lost, sys.unraisablehook = sys.unraisablehook, self._on_lost
        if not self._quiet and sys.stderr.isatty():
            from rich.console import Console

            from discreet.pipeline.clock import on_stage

            self._status = Console(stderr=True).status("opening the table …")
            self._status.start()
            self._stages.enter_context(on_stage(self._show_stage))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._stages.close()
        if self._status is not None:
            self._status.stop()
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            signal.signal(signal.SIGTERM, self._before_end)
            if _AGAIN:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, self._before_again)
            sys.unraisablehook = self._before_lost

    def __call__(self, progress: Progress | FrontProgress) -> None:
        """Show progress."""
        if self._status is not None:
            self._status.update(f"{_STAGES['solve']}: {describe(progress)}")
        elif not self._quiet and progress.seconds >= self._next_line:
            self._next_line = 2 * progress.seconds
            click.echo(f"discreet: {describe(progress)}", err=True)

    def _show_stage(self, stage: str) -> None:
        """Name the stage that begins in the spinner."""
        self._status.update(f"{_STAGES.get(stage, stage)} …")

    @contextmanager
    def _paused(self) -> Iterator[None]:
        """Surround compiling, which may swallow an exception: it is raised again meanwhile, and afterwards."""
        from discreet.solve import listening

        self._compiling = True
        try:
            with listening(self._show_compiling):
                yield
        finally:
            self._compiling = False
        if self._given_up:
            raise Abandoned

    def _show_compiling(self, progress: Compiling) -> None:
        """Show how far compiling is: at once on a terminal, otherwise in a line now and then."""
        now = time.monotonic()
        if progress.done == 0:
            self._compiling_since, self._next_notice = now, _PATIENCE
        if self._status is not None:
            self._status.update(str(progress))
        elif not self._quiet and now - self._compiling_since >= self._next_notice:
            self._next_notice = 2 * self._next_notice
            click.echo(f"discreet: {progress}", err=True)

    def _on_lost(self, lost: Any) -> None:
        """Ignore Abandoned where compiled code calls back and Python drops exceptions."""
        if not issubclass(lost.exc_type, Abandoned):
            self._before_lost(lost)

    def _on_end(self, signum: int, frame: FrameType | None) -> None:
        self._give_up()  # an exception, so that unfinished files are removed

    def _give_up(self) -> None:
        self._given_up = True
        if self._compiling and _AGAIN:
            signal.setitimer(signal.ITIMER_REAL, _AGAIN, _AGAIN)
        raise Abandoned

    def _on_again(self, signum: int, frame: FrameType | None) -> None:
        """Abandon the run once more while compiling, which may have swallowed the first attempt."""
        if self._compiling:
            raise Abandoned
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _on_interrupt(self, signum: int, frame: FrameType | None) -> None:
        if self.interrupted:
            self._give_up()
        self.interrupted = True
        self.budget.stop.set()
        # A signal handler may not use buffered streams: they could be in the middle of a write.
        what = b"stopping" if self._compiling else b"stopping with the best release so far"
        os.write(2, b"\ndiscreet: " + what + b"; press Ctrl-C again to give up.\n")


def describe(progress: Progress | FrontProgress) -> str:
    """Describe the state of a search in one line.

    >>> from discreet.solve import Progress
    >>> describe(Progress(seconds=2.0, best=120.0, bound=90.0, examined=1500))
    'best 120 · bound 90 · gap 25.0 % · 1,500 nodes · 2 s'
    """
    from discreet.solve.front.search import FrontProgress

    if isinstance(progress, FrontProgress):
        left = f"{amount(progress.evaluated, 'node')} evaluated, {progress.open:,} open"
        return f"{amount(progress.points, 'point')} · {left} · {progress.seconds:.0f} s"
    found = progress.best < float("inf")
    best = f"best {progress.best:,.6g}" if found else "nothing found yet"
    gap = f" · gap {100 * progress.gap:.1f} %" if found else ""
    return f"{best} · bound {progress.bound:,.6g}{gap} · {amount(progress.examined, 'node')} · {progress.seconds:.0f} s"
