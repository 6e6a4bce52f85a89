"""The outcome of a job: a release with its rows or an error, and what is compared of two of them."""

from __future__ import annotations

import hashlib
import tempfile
import time
import traceback
from pathlib import Path

import polars as pl

import discreet as dc
from discreet.errors import DiscreetError, InfeasibleError, InterruptedRun
from fuzz.auditor import same
from fuzz.jobs import Case, data_of, options_of

__all__ = ["NEAR", "Broken", "Ran", "digest", "expect", "near", "run"]

NEAR = 1e-7
SLOW = 4.0
"""Seconds after which a job is not repeated; jobs have a time limit of 20."""


class Broken(AssertionError):  # noqa: N818 - reads as the outcome of a check
    """A check failed; ``what`` names it."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(f"{what}: {why}")
        self.what = what


class Ran:
    """Outcome of a job: a release with its rows, or an error."""

    def __init__(self, release=None, rows=None, error=None, seconds=0.0):
        self.release, self.rows, self.error, self.seconds = release, rows, error, seconds

    @property
    def slow(self) -> bool:
        """Whether the time limit may have decided what came out, or would the next time."""
        return self.seconds > SLOW

    @property
    def cut_short(self) -> bool:
        """Whether the time limit may have decided it: another process may need the cores all of a sudden."""
        return self.slow or self.ended == "stopped"

    @property
    def ended(self) -> str:
        if self.release is not None:
            return "released"
        if isinstance(self.error, InfeasibleError) and self.error.topic == InfeasibleError.topic:
            return "infeasible"  # after a search; an empty release is refused
        return "stopped" if isinstance(self.error, InterruptedRun) else "refused"


def run(case: Case, table: pl.DataFrame | None = None, **changes) -> Ran:
    """Run the job; every exception that is not a DiscreetError is a failure."""
    with tempfile.TemporaryDirectory(prefix="fuzz") as name:
        folder, begun = Path(name), time.monotonic()
        try:
            options = {**options_of(case, folder), **changes}
            data = data_of(case, folder, table)
            if isinstance(data, Path):
                options = {"output": folder / f"safe{data.suffix}", "order": "keep", **options}
            release = dc.anonymize(data, **options)
            return Ran(release, rows_of(release, case), seconds=time.monotonic() - begun)
        except DiscreetError as error:
            _one_sentence(error)
            if list(folder.glob("safe*")) or list(folder.glob(".*")):
                raise Broken("left behind", "a job that failed left a file") from None
            return Ran(error=error, seconds=time.monotonic() - begun)
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            raise Broken(
                f"crash {type(error).__name__} in {Path(place.filename).name}:{place.lineno}", str(error)[:300]
            ) from error


def _one_sentence(error: DiscreetError) -> None:
    text = str(error)
    if "\n" in text or not text.endswith((".", "?")) or not (text[0].isupper() or text[0] == "'"):
        raise Broken("sentence", f"an error is no sentence: {text!r}")
    if "Person " in text:
        raise Broken("sentence", f"an error holds an identifier: {text!r}")


def rows_of(release, case: Case) -> list[dict]:
    """The released rows as plain Python."""
    frame = release.frame
    if case.frame == "duckdb":
        frame = frame.pl().sort("rid")  # the rows of a relation are in no order
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if not isinstance(frame, pl.DataFrame):
        frame = pl.from_dataframe(frame) if case.frame == "pyarrow" else pl.from_pandas(frame)
    return [
        {key: same(value) if key != "rid" else int(value) for key, value in row.items()} for row in frame.to_dicts()
    ]


def digest(ran: Ran) -> str:
    """Digest of the result."""
    if ran.release is None:
        return f"{ran.ended} {type(ran.error).__name__}"
    rows = hashlib.sha256(repr(ran.rows).encode()).hexdigest()[:16]
    return f"{ran.release.status} {ran.release.cost:.9g} {ran.release.lower_bound:.9g} {ran.release.suppressed} {rows}"


def near(a, b):
    return abs(a - b) <= NEAR * max(1, abs(a), abs(b))


def expect(holds, what, why):
    if not holds:
        raise Broken(what, why)
