"""The result of a job: the released table, how good it is proven to be, and the audit of what was written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet._places import Place, as_path
from discreet.engines import Order, Recoding, Shuffle, order_of_rows, recode, to_lazy, unused, without_formulas
from discreet.errors import UsageError
from discreet.release._around import Neighbour, find_neighbours
from discreet.release._audit import Audit
from discreet.release._behind import Behind, roles, unknown
from discreet.release._certificate import write_certificate
from discreet.release._checksums import FileStamp
from discreet.release._columns import ReleasedColumn
from discreet.release._mapping import Recipe, make_mapping, write_mapping
from discreet.release._notebook import release_html
from discreet.release._output import Output, check_apart, check_output, place_files
from discreet.release._report import summary, to_dict, write_report
from discreet.release._sizes import ClassSizes
from discreet.release._trace import trace_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evaluate import AttackReport, RiskReport, UtilityReport
    from discreet.release._sections import Evaluation, Section
    from discreet.solve import Progress, Status

__all__ = ["Release", "Written"]


@dataclass(frozen=True)
class Written:
    """A released table that was written to a place, and is read when it is asked for."""

    place: Place
    scan: Callable[[], pl.LazyFrame]
    lazy: bool = False
    shuffle: Shuffle | None = None
    """The random order its rows are in; None if they were kept in theirs."""
    by_engine: bool = False
    """Whether another engine than polars put them in order."""

    def read(self) -> pl.DataFrame | pl.LazyFrame:
        """Return the table as it is in its place."""
        return self.scan() if self.lazy else self.scan().collect(engine="streaming")


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A table that is safe to share, with its proof. Made by :func:`discreet.anonymize`."""

    status: Status
    """``optimal``, or ``feasible`` if the search was stopped before it was complete."""
    cost: float
    lower_bound: float
    """No valid release of the same problem costs less than this."""
    gap: float
    """How far the cost can be from the optimum at most, as a share of the cost."""
    normalized_cost: float
    """The cost as a share of the cost of suppressing everything."""
    n: int
    """The rows of the original table the promises speak of."""
    suppressed: int
    """The rows that were left out to keep the promises."""
    suppressed_values: int
    """The sensitive values that became unknown to keep the promises."""
    dropped_missing: int
    """The rows left out because a quasi-identifier was missing (``missing="suppress"``); not part of n."""
    classes: int
    """The number of classes of rows that cannot be told apart."""
    levels: dict[str, int]
    """The hierarchy level of each quasi-identifier, 0 being the original value; empty unless all are full-domain."""
    audit: Audit
    job: dict[str, Any]
    """What was asked for, as text forms; what :class:`discreet.job.Job` takes."""
    notes: tuple[str, ...]
    """Choices that were made for the user, and what else is good to know."""
    stats: dict[str, Any]
    """The size of the search space, how much of it was looked at, and the seconds of each stage."""
    trace: tuple[Progress, ...]
    """How the best cost and the lower bound went over time."""
    versions: dict[str, str]
    table: Any = field(repr=False)
    partition: Mapping[str, tuple[pl.Series, NDArray[np.integer]]] = field(repr=False)
    before: ClassSizes
    """How many people of the original table share their quasi-identifiers with how many; ``audit.sizes`` is after."""
    columns: Sequence[ReleasedColumn]
    """What may be told about each quasi-identifier: released values and counts of enough people."""
    least: int
    """Reports show no count of fewer people than this."""
    made: str
    """When, in universal time."""
    read: FileStamp | None = field(repr=False)
    """The file the table was read from."""
    drawn_from: FileStamp | None = field(repr=False)
    """The file with the population."""
    wrote: FileStamp | None = field(repr=False)
    """The file the release was written to."""
    recipe: Recipe | None = field(repr=False)
    """What it takes to carry the recoding out again, where equal values became equal ones."""
    behind: Behind | None = field(repr=False, default=None)
    """What it was made from, to measure risk and utility and to look around; it stays in this process."""
    recoding: Recoding | None = field(default=None, repr=False)
    """What was done to columns and rows, as the engine did it."""

    @property
    def frame(self) -> Any:
        """The released table: the kind of frame that came in, and for a file that of the engine."""
        return self.table.read() if isinstance(self.table, Written) else self.table

    @cached_property
    def blocks(self) -> dict[str, list[set[Any]]]:
        """For each quasi-identifier, the sets of original values that are released as one."""
        return {column: _sets(values, block) for column, (values, block) in self.partition.items()}

    @property
    def score(self) -> float | None:
        """The score of the release, where the cost is a score lost."""
        return self.stats.get("score")

    @property
    def released_values(self) -> dict[str, int]:
        """For each quasi-identifier, how many values its original ones are released as."""
        if "shown" in self.stats:
            return dict(self.stats["shown"])
        return {column: len(np.unique(block)) for column, (_, block) in self.partition.items()}

    def rows_of(self, data: Any) -> pl.Series:
        """Return for each released row, in order, which row of the original table it is, from 0 on.

        ``data`` is that table: a path or a frame of polars. The rows are those of :attr:`frame`. If that is read from
        where the release was written, its rows are in random order, and of rows that are the same in all columns any
        may have become any; where another engine than polars shuffled them, their order cannot be found out again. A
        frame in memory keeps the order of the table, and :meth:`write` shuffles what it writes. Who has this can undo
        the release: keep it as safe as the data.

        >>> from discreet import anonymize
        >>> table = pl.DataFrame({"age": [31, 34, 38, 77, 39]})
        >>> release = anonymize(
        ...     table, quasi_identifiers={"age": "intervals(10)"}, privacy="k(2)", suppression="budget(1)"
        ... )
        >>> release.rows_of(table).to_list()
        [0, 1, 2, 4]
        """
        if self.recoding is None:
            raise UsageError("This release does not know how it was made; make it again.")
        frame = to_lazy(data)
        number = unused("row", frame.collect_schema())
        shuffle = self.table.shuffle if isinstance(self.table, Written) else None
        recoding = self.recoding.coded() if shuffle is not None and shuffle.coded else self.recoding
        released = recode(frame.with_row_index(number), recoding)
        if isinstance(self.table, Written) and self.table.shuffle is not None:
            if self.table.by_engine:
                raise UsageError(
                    "The database or engine wrote the rows in random order, so that it cannot be told which row is "
                    'which; make the release with order="keep", or in memory.'
                )
            columns = [column for column in released.collect_schema() if column != number]
            released = order_of_rows(released, self.table.shuffle, columns)
        return released.select(number).collect().to_series()

    def write(self, path: str | PathLike[str], *, for_spreadsheets: bool = False, order: Order = "random") -> Place:
        """Write the released table to a file, a folder or a database; it appears there when it is complete.

        Rows are written in random order, because theirs may identify people: a table sorted by name stays so without
        the names. With ``order="keep"`` they are written as they are.

        With ``for_spreadsheets`` no cell can be taken for a formula: text that begins like one gets a ``'`` in front,
        which spreadsheets do not show.
        """
        output = check_output(path, self.table.place if isinstance(self.table, Written) else None)
        output = replace(output, shuffle=Shuffle.of(order, self.job.get("seed")))
        read = self.job.get("input")
        if isinstance(output, Output):
            check_apart([output.path], [] if read is None else place_files(read))
        output.write(without_formulas(self.frame) if for_spreadsheets else self.frame)
        return output.place

    def report(
        self,
        path: str | PathLike[str],
        sections: Sequence[Section | Evaluation] = (),
        *,
        evaluate: bool | None = None,
    ) -> Path:
        """Write what is known about the release as .html, .pdf, .md, .txt or .json.

        A report shows released values and counts of enough people, and no other value of the data. The page has all
        it needs in one file. A PDF is printed by a browser that is installed. The page, the PDF and the Markdown tell
        the :meth:`risk`, the :meth:`utility` and the :attr:`neighbours` too, for which the original table is read once
        more; ``evaluate`` says whether to, by default for frames and files of up to 250,000 rows. ``sections``, such as
        :meth:`attacks` or evaluations of your own, come before the columns.
        """
        return write_report(self, as_path(path, "The report"), sections, evaluate)

    def risk(self, original: Any = None, **options: Any) -> RiskReport:
        """Measure how likely people are found in the release, and what it tells about them.

        The original table is the one the release was made from, unless another is given. ``options`` are those of
        :func:`discreet.evaluate.risk`, such as ``population``.
        """
        from discreet.evaluate import risk

        table, told = roles(self, original)
        return risk(self.frame, original=table, **{"unknown": unknown(self), **told, **options})

    def utility(self, original: Any = None, **options: Any) -> UtilityReport:
        """Measure what the release is still good for, compared with the original table.

        That is the one the release was made from, unless another is given. ``options`` are those of
        :func:`discreet.evaluate.utility`, such as ``queries`` and ``models``.
        """
        from discreet.evaluate import utility

        table, told = roles(self, original)
        told |= {"sensitive": list(told["sensitive"]), "class_attribute": self.job.get("class_attribute")}
        return utility(table, self.frame, **{**told, **options})

    def attacks(self, original: Any = None, **options: Any) -> AttackReport:
        """Run linkage, homogeneity and minimality attacks against the release.

        ``options`` are those of :func:`discreet.evaluate.attacks`.
        """
        from discreet.evaluate import attacks

        table, told = roles(self, original)
        return attacks(table, self, **{"unknown": unknown(self), **told, **options})

    @cached_property
    def neighbours(self) -> tuple[Neighbour, ...]:
        """What a smaller or larger k (or l, where there is no k) would cost, all else being the same.

        Solved when asked for, for a few values below and above. Empty for local recoding and for very large problems.
        """
        return find_neighbours(self)

    @cached_property
    def measured(self) -> dict[str, Section | Evaluation]:
        """Risk and utility as reports tell them, measured once however many reports are written."""
        from discreet.release._evaluated import measure

        return measure(self)

    def certificate(self, path: str | PathLike[str]) -> Path:
        """Write what was promised and reached, with the SHA-256 of input, output and job, as JSON.

        :func:`discreet.verify` checks a file against it later. It holds no value of the data.
        """
        return write_certificate(self, as_path(path, "The certificate"))

    def mapping(self, path: str | PathLike[str]) -> Path:
        """Write what each value became as JSON, for :func:`discreet.apply_mapping` and ``discreet apply``.

        It lists values of the original data, rare ones too: it is for those who hold the data.
        """
        return write_mapping(self, as_path(path, "The mapping"))

    def to_mapping(self) -> dict[str, Any]:
        """Return the mapping as plain data, which lists values of the original data."""
        return make_mapping(self)

    def to_dict(self) -> dict[str, Any]:
        """Return what is known about the release as plain data, without any value of the data."""
        return to_dict(self)

    def summary(self) -> str:
        """Return the main figures as a block of text."""
        return summary(self)

    def trace_text(self, width: int = 100) -> str:
        """Return a picture of the best cost and the lower bound over time, in plain characters.

        >>> from discreet import anonymize, sample
        >>> release = anonymize(sample(50, seed=1), quasi_identifiers=["sex", "zip"], privacy="k(2)")
        >>> max(map(len, release.trace_text().splitlines())) <= 100
        True
        """
        return trace_text(self.trace, width)

    def __repr__(self) -> str:
        return (
            f"Release({self.status}, cost={self.cost:g}, gap={self.gap:.2%}, "
            f"rows={self.n - self.suppressed:,} of {self.n:,}, classes={self.classes:,}, "
            f"audit={'passed' if self.audit.passed else 'FAILED'})"
        )

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return release_html(self)


def _sets(values: pl.Series, block: NDArray[np.integer]) -> list[set[Any]]:
    grouped = pl.DataFrame({"value": values, "block": block}).group_by("block").agg("value").sort("block")["value"]
    return [set(items) for items in grouped.to_list()]
