"""Worker process: runs one job in one folder and reports its progress through a pipe.

When the studio ends, in whatever way, the pipe breaks and the worker exits.
"""

from __future__ import annotations

import dataclasses
import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from discreet.studio._workspace import RELEASED

__all__ = ["FRONT", "PAGES_FILE", "RELEASE", "work"]

_PAUSE = 0.1
"""Least seconds between two progress messages."""
_MOST_ATTACKED = 200_000
"""Most rows of a release on which attacks are run."""
RELEASE, FRONT = "release.pickle", "front.pickle"
_DERIVED = "_derived.parquet"
"""The table with the values that a job replaces before anything else."""
PAGES_FILE = "pages.pickle"
"""The data protection pages: whether they are internal, and the page."""


class _Reporter:
    """Sends messages about the job to the studio, progress not too often."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._lock = threading.Lock()
        self._last = 0.0
        self.compiled = False
        """Whether compiling was reported since the last stage."""

    def __call__(self, **message: Any) -> None:
        """Send a message now."""
        with self._lock:
            self._pipe.send(message)

    def stage(self, name: str) -> None:
        """Report that a stage begins."""
        self.compiled = False
        self(stage=name)

    def scheme(self, name: str, tried: Sequence[Any]) -> None:
        """Report that the search of a scheme begins, and what was tried before."""
        self(scheme=name, tried=[dataclasses.asdict(each) for each in tried])

    def compiling(self, moment: Any) -> None:
        """Report how far compiling is, unless that was done a moment ago."""
        self.compiled = True
        if time.monotonic() - self._last >= _PAUSE:
            self._last = time.monotonic()
            self(stage=str(moment))

    def progress(self, moment: Any) -> None:
        """Report the state of the search, unless that was done a moment ago."""
        now = time.monotonic()
        if now - self._last < _PAUSE:
            return
        self._last = now
        self(progress={item.name: getattr(moment, item.name) for item in dataclasses.fields(moment)})


def work(task: Mapping[str, Any], pipe: Connection) -> None:
    """Run a task: a release, a front, the release of a point of a front, or an evaluation."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # on Ctrl-C the studio kills its workers itself
    if hasattr(os, "nice"):
        os.nice(5)  # the web server takes precedence
    os.chdir(task["folder"])

    from discreet.errors import DiscreetError, InterruptedRun
    from discreet.solve import Budget
    from discreet.studio._spelling import error_message

    report = _Reporter(pipe)
    budget = Budget(while_paused=lambda: _compiling(report))
    threading.Thread(target=_listen, args=(pipe, budget), daemon=True).start()
    try:
        {"release": _release, "front": _front, "point": _point, "evaluation": _evaluate_again}[task["kind"]](
            task, report, budget
        )
    except InterruptedRun as error:
        report(ended="cancelled" if budget.stop.is_set() else "failed", message=error_message(error))
    except DiscreetError as error:
        more = {name: getattr(error, name) for name in ("smallest_budget", "limits", "columns") if hasattr(error, name)}
        report(ended="failed", message=error_message(error), field=error.column, error=type(error).__name__, more=more)
    except MemoryError:
        report(ended="failed", message="This machine does not have enough memory for this job; try fewer columns.")
    except Exception as error:
        # Messages of foreign exceptions may quote the data, so only the type is reported.
        if os.environ.get("DISCREET_DEBUG"):
            raise
        report(ended="failed", message=f"The job failed with an unexpected {type(error).__name__}; please report this.")


def _listen(pipe: Connection, budget: Any) -> None:
    """Stop the search when the studio asks for it, and exit when the studio is gone."""
    try:
        while True:
            if pipe.recv() == "cancel":
                budget.stop.set()
    except (EOFError, OSError):
        os._exit(1)


@contextmanager
def _compiling(report: _Reporter) -> Iterator[None]:
    """Report how far compiling is as a stage of its own, if kernels must be compiled."""
    from discreet.solve import listening

    try:
        with listening(report.compiling):
            yield
    finally:
        if report.compiled:
            report.stage("solve")


def _release(task: Mapping[str, Any], report: _Reporter, budget: Any) -> None:
    from discreet.job import Job
    from discreet.job.settings import is_best
    from discreet.pipeline.best_scheme import on_scheme
    from discreet.pipeline.clock import on_stage
    from discreet.studio._script import MAPPING, has_mapping

    job = Job.load("job.yaml")
    with on_stage(report.stage), on_scheme(report.scheme):
        release = job.model_copy(update={"report": []}).run(progress=report.progress, budget=budget)
    release = dataclasses.replace(release, job={**job.to_dict(), "scheme": release.job["scheme"]})
    if is_best(job.scheme) and has_mapping({**job.model_dump(), "scheme": release.job["scheme"]}):
        release.mapping(MAPPING)  # only now it is known that equal values were recoded alike
    _finish(task, report, job, release, budget.stop)


def _front(task: Mapping[str, Any], report: _Reporter, budget: Any) -> None:
    from discreet.job import Job
    from discreet.pipeline.clock import on_stage
    from discreet.pipeline.pareto import pareto
    from discreet.problem import PRIVACY
    from discreet.studio._live import live_table
    from discreet.studio._results import front_result, write_json

    job = Job.load("job.yaml")
    arguments = job.front_arguments()
    privacy = [*task["axes"], *(PRIVACY.make(model) for model in job.privacy)]
    rows = _rows(task, job)
    _stop_if_undecided(arguments, rows)
    with on_stage(report.stage):
        front = pareto(**arguments, privacy=privacy, key=job.key_file(), progress=report.progress, budget=budget)
    report(stage="finish")
    write_json(Path("result.json"), {**front_result(front), "live": live_table(front, rows)})
    _save(front, FRONT)
    report(ended="done", status="complete" if front.complete else "partial")


def _stop_if_undecided(arguments: Mapping[str, Any], rows: Path) -> None:
    """Raise before the search if an undecided column would prevent the release of every point."""
    import polars as pl

    from discreet.engines import open_source
    from discreet.pipeline.undecided_columns import inspect_columns

    source = open_source(pl.scan_parquet(rows, glob=False))
    with_role = {*arguments["identifiers"], *arguments["quasi_identifiers"], *arguments["sensitive"]}
    with_role |= {arguments[name] for name in ("class_attribute", "person", "household")}
    others = [column for column in source.columns if column not in with_role]
    inspect_columns(source, arguments["identifiers"], others, arguments["keep"]).check()


def _point(task: Mapping[str, Any], report: _Reporter, budget: Any) -> None:
    """Make the release of a point of a front that another worker found and saved."""
    from discreet.job import Job

    report(stage="recode")
    with Path(task["front"]).open("rb") as stream:
        front = pickle.load(stream)  # written by a worker of this studio, in a folder only its user can write
    job, point = Job.load("job.yaml"), front.points[task["point"]]
    release = front.release(point=point, output=job.output, key=job.key)
    chosen = {"privacy": release.job["privacy"], "seed": release.job["seed"]}
    if point.levels:  # fix the levels in the job file, since other nodes may cost the same
        chosen |= {"min_levels": dict(point.levels), "max_levels": dict(point.levels), "keep_at_least": {}}
    job.save("front.yaml", for_editors=False)
    Job(**{**job.model_dump(), **chosen}).save("job.yaml", for_editors=False)
    job = Job.load("job.yaml")
    release = dataclasses.replace(release, job=job.to_dict())
    if job.certificate is not None:
        release.certificate(job.certificate)
    if job.mapping is not None:
        release.mapping(job.mapping)
    _finish(task, report, job, release, budget.stop)


def _finish(task: Mapping[str, Any], report: _Reporter, job: Any, release: Any, stop: threading.Event) -> None:
    """Write everything that can be viewed and downloaded, report that the job is done, then evaluate the release."""
    import numpy as np

    from discreet.engines import count_formulas
    from discreet.job.files import FileStamp
    from discreet.studio._original import derived_table
    from discreet.studio._results import release_result, run_facts, write_json

    report(stage="finish")
    release.report(job.report[0], evaluate=False)  # risk and utility are added once the job is done
    formulas = count_formulas(job.output)
    data = Path(job.output)
    if formulas:
        data = Path("safe", job.output)
        data.parent.mkdir()
        release.write(data, for_spreadsheets=True, order="keep")  # already shuffled
        release = dataclasses.replace(release, wrote=FileStamp.of(data))
        release.certificate(job.certificate)
    released = Path(RELEASED)
    release.write(released, order="keep")  # same order as the output, which was shuffled
    rows = release.rows_of(derived_table(job)).to_numpy()
    order = np.argsort(rows)
    np.save("kept.npy", np.stack([rows[order], order]))
    result = release_result(release, job, _rows(task, job), released, formulas)
    write_json(Path("result.json"), result)
    _save(release, RELEASE)
    report(
        ended="done",
        status=release.status,
        facts=run_facts(result),
        progress={
            "seconds": release.stats["seconds"].get("solve", 0.0),
            "best": release.cost,
            "bound": release.lower_bound,
            "examined": release.stats.get("examined", 0),
        },
    )
    _evaluate(report, job, release, stop)


def _rows(task: Mapping[str, Any], job: Any) -> Path:
    """The copy of the table that is compared with the release: with the values that the job replaces."""
    import polars as pl

    from discreet.studio._original import derived_table

    copy = Path(task["rows"])
    if not job.derive:
        return copy
    derived, changed = derived_table(job), Path(_DERIVED)
    plain = pl.read_parquet(copy, glob=False)
    plain.with_columns(derived.select(pl.col(list(job.derive)))).write_parquet(changed)
    return changed


def _evaluate_again(task: Mapping[str, Any], report: _Reporter, budget: Any) -> None:
    from discreet.job import Job

    with Path(RELEASE).open("rb") as stream:
        release = pickle.load(stream)  # written by a worker of this studio, in a folder only its user can write
    _evaluate(report, Job.load("job.yaml"), release, budget.stop)


def _evaluate(report: _Reporter, job: Any, release: Any, stop: threading.Event) -> None:
    """Measure risk and utility, and add both to the report."""
    from discreet.errors import DiscreetError
    from discreet.studio._results import write_json
    from discreet.studio._spelling import error_message

    sections: list[Any] = []
    for name, measure in (("risk", _risk), ("utility", _utility)):
        if stop.is_set():
            return
        report(evaluation=name, state="running")
        if name == "utility":
            _make_pages(job, release)
        try:
            section, result = measure(job, release)
            sections.append(section)
            release.report(job.report[0], sections, evaluate=name == "utility")
            write_json(Path(f"{name}.json"), result)
            report(evaluation=name, state="done")
        except DiscreetError as error:
            report(evaluation=name, state="failed", message=error_message(error))
        except Exception as error:
            report(evaluation=name, state="failed", message=f"It failed with an unexpected {type(error).__name__}.")


def _make_pages(job: Any, release: Any) -> None:
    """Make the data protection pages for the owner and for others, to be downloaded later."""
    from discreet.errors import DiscreetError
    from discreet.report.protection_page import Handover, make_protection_page
    from discreet.studio._original import derived_table

    with suppress(DiscreetError):  # without them, the release is still complete
        original = derived_table(job)
        pages = {flag: make_protection_page(release, Handover(internal=flag), original) for flag in (False, True)}
        _save(pages, PAGES_FILE)


def _risk(job: Any, release: Any) -> tuple[Any, dict[str, Any]]:
    from discreet.evaluate import risk
    from discreet.studio._original import derived_table
    from discreet.studio._results import risk_result

    arguments, original = job.arguments(), derived_table(job)
    report = release.risk(original)
    roles = {name: arguments[name] for name in ("quasi_identifiers", "sensitive", "types")}
    before = risk(original, depth=2, **roles)
    missing = {}
    if not arguments["sensitive"]:
        missing["attacks"] = missing["disclosure"] = "No column is marked “Protect”, so there is no secret to guess."
    elif release.n > _MOST_ATTACKED:
        missing["attacks"] = f"The table has more than {_MOST_ATTACKED:,} rows; attacks would take too long here."
    attacks = None if "attacks" in missing else release.attacks(original)
    return _for_report(release, report, release.risk, original), risk_result(report, before, attacks, missing)


def _utility(job: Any, release: Any) -> tuple[Any, dict[str, Any]]:
    from importlib.util import find_spec

    from discreet.studio._original import derived_table
    from discreet.studio._results import utility_result

    missing, original = {}, derived_table(job)
    if job.class_attribute is None:
        missing["classifiers"] = "No column is marked “Predict”, so there is nothing to learn."
    elif find_spec("sklearn") is None:
        missing["classifiers"] = "They need scikit-learn, which is not installed: pip install 'discreet[learn]'."
    options = {"class_attribute": None} if missing else {"models": ["tree"]}
    report = release.utility(original, **options)
    return _for_report(release, report, release.utility, original, **options), utility_result(report, missing)


def _for_report(release: Any, report: Any, measure: Any, original: Any, **options: Any) -> Any:
    """The measure for the report, which covers released rows only; the page covers the whole table."""
    if report.original_rows == release.audit.rows:
        return report
    return measure(original, only_released=True, **options)


def _save(result: Any, name: str) -> None:
    """Pickle a result for a later worker; it contains original values, so only the user can read the file."""
    from discreet.pipeline.pickling import with_originals
    from discreet.runtime.atomic_write import replacing

    with replacing(Path(name), private=True) as unfinished, unfinished.open("wb") as stream, with_originals():
        pickle.dump(result, stream)
