"""Random sampling of rows, for promises that rest on it: everything after it sees the drawn rows only."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.engines import Engine, relation_of, to_lazy
from discreet.errors import UsageError
from discreet.job.settings import JobSettings, SampledFrom
from discreet.pipeline.output import check_output
from discreet.problem import Problem
from discreet.report.notes import Caution, Private
from discreet.runtime.locations import is_url
from discreet.schema import Naming, Schema

if TYPE_CHECKING:
    from discreet.engines import Counted

__all__ = ["DrawnRows", "about_drawn_rows", "about_sampling", "draw_rows", "with_sampled_rows"]


@dataclass(frozen=True)
class DrawnRows:
    """Which rows of a table were drawn. Whoever has the seed knows."""

    rows: int
    share: float
    seed: int = field(repr=False)

    @classmethod
    def of(cls, settings: JobSettings) -> DrawnRows | None:
        """Return how the rows of a job were drawn; None if all were taken."""
        if settings.sampled_from is None:
            return None
        return cls(settings.sampled_from.rows, min(model.sampling for model in settings.privacy), settings.seed)

    def of_table(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """Return the drawn rows of the whole table; any other table is taken for the drawn rows themselves."""
        table = frame.collect()
        if table.height != self.rows:
            return table.lazy()
        return table.filter(pl.Series(draw_rows(self.rows, self.share, self.seed), dtype=pl.Boolean)).lazy()


def with_sampled_rows(settings: JobSettings) -> JobSettings:
    """Return the settings with a table of the drawn rows if a promise rests on sampling."""
    share = min((model.sampling for model in settings.privacy), default=1.0)
    if share >= 1:
        return settings
    data = settings.data
    model = min(settings.privacy, key=lambda each: each.sampling)
    if (isinstance(data, str) and is_url(data)) or relation_of(data) is not None:
        raise UsageError(
            f"The privacy model {model.name} draws rows, which it does not do in a database or cluster; give the table "
            "as a file or as a frame in memory."
        )
    if settings.output is not None:
        check_output(settings.output, data, settings.population)  # from here on the input is not known to be a file
    frame = to_lazy(data).collect() if isinstance(data, str | PathLike | pl.LazyFrame) else data
    drawn = _drawn(frame, share, settings.seed)
    return replace(
        settings,
        data=drawn.lazy() if isinstance(data, pl.LazyFrame) else drawn,
        sampled_from=SampledFrom(data, len(frame)),
        engine=Engine(),
    )


def _drawn(data: Any, share: float, seed: int) -> Any:
    """Return the drawn rows of a frame in memory, as the same kind of frame."""
    chosen = draw_rows(len(data), share, seed)
    if isinstance(data, pl.DataFrame):
        return data.filter(pl.Series(chosen, dtype=pl.Boolean))
    if hasattr(data, "iloc"):
        return data.iloc[np.flatnonzero(chosen)]
    return to_lazy(data).collect().filter(pl.Series(chosen, dtype=pl.Boolean))


def draw_rows(rows: int, share: float, seed: int) -> NDArray[np.bool_]:
    """Return for each row whether it is drawn, each independently with a probability.

    The bits come from a cryptographic function of the seed, so that nobody without it can tell who was drawn.
    """
    key = b"discreet sampling " + str(seed).encode()
    numbers = np.frombuffer(hashlib.shake_256(key).digest(8 * rows), dtype="<u8")
    return np.asarray((numbers >> np.uint64(11)).astype(np.float64) * 2.0**-53 < share)


def about_drawn_rows(settings: JobSettings, drawn: int) -> Iterator[str]:
    """Yield for the owner how many rows were drawn."""
    if settings.sampled_from is not None:
        yield Private(
            f"{drawn:,} of {settings.sampled_from.rows:,} rows of the table were drawn; all figures are about those."
        )


def about_sampling(problem: Problem, schema: Schema, counted: Counted) -> Iterator[str]:
    """Yield notes on the rows drawn, and on whether the promise of a model that rests on sampling holds."""
    for model in problem.privacy:
        if model.sampling >= 1:
            continue
        k = getattr(model, "k", problem.smallest_class)
        drawn = f"Rows were drawn with probability {model.sampling:.1%}, and classes have at least {k:,} rows"
        secret = "Whoever learns the seed knows who was drawn: keep it as safe as the data."
        reasons = list(_reasons(problem, schema, counted))
        if not reasons:
            yield (
                f"{drawn}; all levels were given, so that {model.text} holds for the released table if they were "
                f"chosen without looking at this data. {secret}"
            )
        else:
            yield Caution(
                f"{drawn}, as {model.text} needs, but its statement does not hold for the released table: "
                f"{'; '.join(reasons)}. {secret}"
            )


def _reasons(problem: Problem, schema: Schema, counted: Counted) -> Iterator[str]:
    """Yield what makes the released table depend on the data in other ways than the statement assumes."""
    if any(scheme.name != "full-domain" for scheme in problem.schemes) or problem.lowest != problem.highest:
        yield "the recoding was chosen by looking at the data (fix all levels by min_levels and max_levels)"
    own = [name for name, domain in counted.domains.items() if domain.automatic or domain.naming is not Naming.FIXED]
    if own:
        yield f"the hierarchy of '{own[0]}' depends on the data (give one)"
    if problem.suppression.hides_values or problem.limit < problem.table.n:
        yield "small classes must be suppressed without a limit (choose class-records)"
    others = [*schema.sensitive_columns, *schema.insensitive, *schema.keep]
    if others:
        yield f"'{others[0]}' is released unchanged (make it a quasi-identifier or an identifier)"
