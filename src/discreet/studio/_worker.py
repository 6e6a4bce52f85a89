"""What a worker process does: one job in one folder, telling how it goes through a pipe.

It ends when the studio does, however that ends: then nobody is at the other end of the pipe.
"""

from __future__ import annotations

import dataclasses
import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from discreet.studio._workspace import RELEASED

__all__ = ["FRONT", "RELEASE", "work"]

_PAUSE = 0.1
"""Seconds between two messages about progress."""
_ATTACKED = 200_000
"""The most rows of a table that attacks are tried on."""
RELEASE, FRONT = "release.pickle", "front.pickle"


class _Teller:
    """Tells the studio how the job goes, not too often."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._lock = threading.Lock()
        self._last = 0.0

    def __call__(self, **told: Any) -> None:
        """Tell something now."""
        with self._lock:
            self._pipe.send(told)

    def stage(self, name: str) -> None:
        """Tell that a stage begins."""
        self(stage=name)

    def progress(self, moment: Any) -> None:
        """Tell where the search is, unless it was told a moment ago."""
        now = time.monotonic()
        if now - self._last < _PAUSE:
            return
        self._last = now
        self.moment(moment)

    def moment(self, moment: Any) -> None:
        """Tell where the search is."""
        self(progress={item.name: getattr(moment, item.name) for item in dataclasses.fields(moment)})


def work(task: Mapping[str, Any], pipe: Connection) -> None:
    """Do a task: a release, a front, the release of a point of a front, or an evaluation."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the studio's, which ends its workers itself
    if hasattr(os, "nice"):
        os.nice(5)  # the page goes first
    os.chdir(task["folder"])

    from discreet.errors import DiscreetError, InterruptedRun
    from discreet.solve import Budget

    tell = _Teller(pipe)
    budget = Budget(while_paused=lambda: _compiling(tell))
    threading.Thread(target=_listen, args=(pipe, budget), daemon=True).start()
    try:
        {"release": _release, "front": _front, "point": _point, "evaluation": _evaluate_again}[task["kind"]](
            task, tell, budget
        )
    except InterruptedRun as error:
        tell(ended="cancelled" if budget.stop.is_set() else "failed", message=error.message)
    except DiscreetError as error:
        more = {name: getattr(error, name) for name in ("smallest_budget", "limits", "columns") if hasattr(error, name)}
        tell(ended="failed", message=error.message, field=error.column, error=type(error).__name__, more=more)
    except MemoryError:
        tell(ended="failed", message="The memory of this machine does not suffice for this job; try fewer columns.")
    except Exception as error:
        # The text of a foreign exception may quote the data, so only its kind is told.
        if os.environ.get("DISCREET_DEBUG"):
            raise
        tell(ended="failed", message=f"The job ended by an unexpected {type(error).__name__}; please report this.")


def _listen(pipe: Connection, budget: Any) -> None:
    """Stop the search when the studio says so, and this process when the studio is gone."""
    try:
        while True:
            if pipe.recv() == "cancel":
                budget.stop.set()
    except (EOFError, OSError):
        os._exit(1)


@contextmanager
def _compiling(tell: _Teller) -> Iterator[None]:
    """Say that the search is being prepared."""
    tell(stage="prepare")
    try:
        yield
    finally:
        tell(stage="solve")


def _release(task: Mapping[str, Any], tell: _Teller, budget: Any) -> None:
    from discreet.job import Job
    from discreet.release._clock import told_of_stages

    job = Job.load("job.yaml")
    with told_of_stages(tell.stage):
        release = job.model_copy(update={"report": []}).run(progress=tell.progress, budget=budget)
    release = dataclasses.replace(release, job=job.told())
    _finish(task, tell, job, release, budget.stop)


def _front(task: Mapping[str, Any], tell: _Teller, budget: Any) -> None:
    from discreet.job import Job
    from discreet.problem import PRIVACY
    from discreet.release import pareto
    from discreet.release._clock import told_of_stages
    from discreet.studio._results import front_result, write_json

    job = Job.load("job.yaml")
    told = job.front_arguments()
    privacy = [*task["axes"], *(PRIVACY.make(model) for model in job.privacy)]
    _stop_if_undecided(told, Path(task["rows"]))
    with told_of_stages(tell.stage):
        front = pareto(**told, privacy=privacy, progress=tell.progress, budget=budget)
    tell(stage="finish")
    write_json(Path("result.json"), front_result(front))
    _keep(front, FRONT)
    tell(ended="done", status="complete" if front.complete else "partial")


def _stop_if_undecided(told: Mapping[str, Any], rows: Path) -> None:
    """Stop before the search if no point could be released, for a column that could tell who somebody is."""
    import polars as pl

    from discreet.engines import open_source
    from discreet.release._undecided import look_at_undecided

    source = open_source(pl.scan_parquet(rows, glob=False))
    roles = {*told["identifiers"], *told["quasi_identifiers"], *told["sensitive"], told["class_attribute"]}
    others = [column for column in source.columns if column not in roles]
    look_at_undecided(source, told["identifiers"], others, told["keep"]).check()


def _point(task: Mapping[str, Any], tell: _Teller, budget: Any) -> None:
    """Make the release of a point of a front, which another worker found and kept."""
    from discreet.job import Job

    tell(stage="recode")
    with Path(task["front"]).open("rb") as stream:
        front = pickle.load(stream)  # written by a worker of this studio, in a folder only its user can write
    job, point = Job.load("job.yaml"), front.points[task["point"]]
    release = front.release(point=point, output=job.output, key=job.key)
    told = {"privacy": release.job["privacy"], "seed": release.job["seed"]}
    if point.levels:  # the job file says these very levels, for others may cost the same
        told |= {"min_levels": dict(point.levels), "max_levels": dict(point.levels), "keep_at_least": {}}
    job.save("front.yaml")
    Job(**{**job.model_dump(), **told}).save("job.yaml")
    job = Job.load("job.yaml")
    release = dataclasses.replace(release, job=job.told())
    if job.certificate is not None:
        release.certificate(job.certificate)
    if job.mapping is not None:
        release.mapping(job.mapping)
    _finish(task, tell, job, release, budget.stop)


def _finish(task: Mapping[str, Any], tell: _Teller, job: Any, release: Any, stop: threading.Event) -> None:
    """Write all that can be looked at and downloaded, say that the job is done, and then evaluate it."""
    import numpy as np

    from discreet.engines import count_formulas
    from discreet.release._checksums import FileStamp
    from discreet.studio._results import release_result, write_json

    tell(stage="finish")
    release.report(job.report[0], evaluate=False)  # what takes longer comes when the job is done
    formulas = count_formulas(job.output)
    data = Path(job.output)
    if formulas:
        data = Path("safe", job.output)
        data.parent.mkdir()
        release.write(data, for_spreadsheets=True, order="keep")  # shuffled already
        release = dataclasses.replace(release, wrote=FileStamp.of(data))
        release.certificate(job.certificate)
    released = Path(RELEASED)
    release.write(released, order="keep")  # the order of the output, which was shuffled
    rows = release.rows_of(job.input).to_numpy()
    places = np.argsort(rows)
    np.save("kept.npy", np.stack([rows[places], places]))
    result = release_result(release, job, Path(task["rows"]), released, formulas)
    write_json(Path("result.json"), result)
    _keep(release, RELEASE)
    tell(
        ended="done",
        status=release.status,
        progress={
            "seconds": release.stats["seconds"].get("solve", 0.0),
            "best": release.cost,
            "bound": release.lower_bound,
            "examined": release.stats.get("examined", 0),
        },
    )
    _evaluate(task, tell, job, release, stop)


def _evaluate_again(task: Mapping[str, Any], tell: _Teller, budget: Any) -> None:
    from discreet.job import Job

    with Path(RELEASE).open("rb") as stream:
        release = pickle.load(stream)  # written by a worker of this studio, in a folder only its user can write
    _evaluate(task, tell, Job.load("job.yaml"), release, budget.stop)


def _evaluate(task: Mapping[str, Any], tell: _Teller, job: Any, release: Any, stop: threading.Event) -> None:
    """Measure risk and utility, and put both into the report."""
    from discreet.errors import DiscreetError
    from discreet.studio._results import write_json

    sections: list[Any] = []
    for name, measure in (("risk", _risk), ("utility", _utility)):
        if stop.is_set():
            return
        tell(evaluation=name, state="running")
        try:
            report, told = measure(job, release)
            sections.append(report)
            release.report(job.report[0], sections, evaluate=name == "utility")
            write_json(Path(f"{name}.json"), told)
            tell(evaluation=name, state="done")
        except DiscreetError as error:
            tell(evaluation=name, state="failed", message=error.message)
        except Exception as error:
            tell(evaluation=name, state="failed", message=f"It ended by an unexpected {type(error).__name__}.")


def _risk(job: Any, release: Any) -> tuple[Any, dict[str, Any]]:
    from discreet.evaluate import risk
    from discreet.studio._results import risk_result

    told = job.arguments()
    report = release.risk(job.input)
    asked = {"sensitive": told["sensitive"], "types": told["types"]}
    before = risk(job.input, quasi_identifiers=told["quasi_identifiers"], depth=2, **asked)
    attacked = release.attacks(job.input) if release.n <= _ATTACKED and told["sensitive"] else None
    return _handed_over(release, report, release.risk, job.input), risk_result(report, before, attacked)


def _utility(job: Any, release: Any) -> tuple[Any, dict[str, Any]]:
    from importlib.util import find_spec

    from discreet.studio._results import utility_result

    able = job.class_attribute is not None and find_spec("sklearn") is not None
    options = {"models": ["tree"]} if able else {"class_attribute": None}
    report = release.utility(job.input, **options)
    return _handed_over(release, report, release.utility, job.input, **options), utility_result(report)


def _handed_over(release: Any, report: Any, measure: Any, original: Any, **options: Any) -> Any:
    """Return a measure for the report, which is about released people alone; the page shows the whole table."""
    if report.original_rows == release.audit.rows:
        return report
    return measure(original, only_released=True, **options)


def _keep(found: Any, name: str) -> None:
    """Keep something for a later worker, with the values of the table; nobody else can read the file."""
    from discreet._replacing import replacing
    from discreet.release._pickling import with_originals

    with replacing(Path(name), private=True) as unfinished, unfinished.open("wb") as stream, with_originals():
        pickle.dump(found, stream)
