"""The result of a job: the released table, how good it is proven to be, and the audit of what was written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet._places import Place, as_path
from discreet.engines import Order, Recoding, Shuffle, order_of_rows, recode, to_lazy, unused
from discreet.errors import UsageError
from discreet.release._around import Neighbour, find_neighbours
from discreet.release._audit import Audit
from discreet.release._behind import (
    Behind,
    is_at_hand,
    kept_rows_of,
    known_recoding,
    recoded,
    released_people,
    roles,
    unknown,
)
from discreet.release._caution import Caution, PrivateCaution
from discreet.release._certificate import write_certificate
from discreet.release._checksums import FileStamp
from discreet.release._clock import Clock
from discreet.release._columns import ReleasedColumn
from discreet.release._key import KeyPlace, key_place
from discreet.release._ledger import make_entry, record, two_releases
from discreet.release._left_out import LeftOut
from discreet.release._mapping import Recipe, make_mapping, write_mapping
from discreet.release._notebook import release_html
from discreet.release._output import KEPT_ORDER, Output, TableOutput, Written, check_apart, check_output, place_files
from discreet.release._pickling import pickled_release, unpickled
from discreet.release._publish import Promises, Rows, write_rows
from discreet.release._report import summary, to_dict, write_report
from discreet.release._sizes import ClassSizes
from discreet.release._trace import trace_text
from discreet.release._undecided import KeptColumn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evaluate import AttackReport, RiskReport, UtilityReport
    from discreet.release._sections import Evaluation, Section
    from discreet.solve import Progress, Status

__all__ = ["Release"]


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
    """Choices that were made for the user, and what else is good to know; :attr:`warnings` come first."""
    kept: tuple[KeptColumn, ...]
    """The columns without a role, which are released as they are, and the share of rows alone with their value."""
    stats: dict[str, Any]
    """The size of the search space, how much of it was looked at, and the seconds of each stage."""
    trace: tuple[Progress, ...]
    """How the best cost and the lower bound went over time."""
    versions: dict[str, str]
    table: Any = field(repr=False)
    partition: Mapping[str, tuple[pl.Series, NDArray[np.integer]]] = field(repr=False)
    before: ClassSizes
    """How many people of the original table share their quasi-identifiers with how many; ``audit.sizes`` is after."""
    released_before: ClassSizes | None
    """The same of the released people alone, which is what reports show; None where it is not known who they are."""
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
    rows_known: bool = field(default=True, repr=False)
    """Whether it can be told which rows were released: of rows with equal values, databases and engines that keep no
    order may have left out others than those that come last."""
    key: KeyPlace | None = field(default=None, repr=False)
    """Where the owner's key is, beside which the releases that were written are recorded."""
    choices: str = field(default="", repr=False)
    """What was asked for and what was found, by which the record of releases tells one release from another."""
    unpickled: bool = field(default=False, repr=False)
    """Whether it comes from a pickle, which leaves behind what the release was made from."""
    promises: Promises | None = field(default=None, repr=False)
    """What whatever is written of it has to keep; it holds values of the original table and is not pickled."""

    @property
    def frame(self) -> Any:
        """The released table: the kind of frame that came in, and for a file that of the engine."""
        return self.table.read() if isinstance(self.table, Written) else self.table

    @cached_property
    def blocks(self) -> dict[str, list[set[Any]]]:
        """For each quasi-identifier, the sets of original values that are released as one."""
        if self.unpickled:
            raise unpickled("the blocks of original values", "make the release again to see them")
        return {column: _sets(values, block) for column, (values, block) in self.partition.items()}

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes that must not be overlooked."""
        return tuple(note for note in self.notes if isinstance(note, Caution))

    @property
    def score(self) -> float | None:
        """The score of the release, where the cost is a score lost."""
        return self.stats.get("score")

    @property
    def released_values(self) -> dict[str, int]:
        """For each quasi-identifier, how many different values it has in the released table."""
        return {column.name: column.values for column in self.columns}

    def rows_of(self, data: Any) -> pl.Series:
        """Return for each released row, in order, which row of the original table it is, from 0 on.

        ``data`` is that table: a path or a frame of polars. The rows are those of :attr:`frame`. If that is read from
        where the release was written, its rows are in random order, and of rows that are the same in all columns any
        may have become any; where another engine than polars shuffled them, their order cannot be found out again. A
        frame in memory keeps the order of the table, and :meth:`write` shuffles what it writes. It is refused where an
        engine that keeps no order of rows took single records out of classes. Who has this can undo the release: keep
        it as safe as the data.

        >>> from discreet import anonymize
        >>> table = pl.DataFrame({"age": [31, 34, 38, 77, 39]})
        >>> release = anonymize(
        ...     table, quasi_identifiers={"age": "intervals(10)"}, privacy="k(2)", suppression="budget(1)"
        ... )
        >>> release.rows_of(table).to_list()
        [0, 1, 2, 4]
        """
        recoding = known_recoding(self)
        shuffle = self.table.shuffle if isinstance(self.table, Written) else None
        if shuffle is None:
            return kept_rows_of(self, data)
        if isinstance(self.table, Written) and self.table.by_engine:
            raise UsageError(
                "The database or engine wrote the rows in random order, so that it cannot be told which row is which; "
                'make the release with order="keep", or in memory.'
            )
        frame = to_lazy(data)
        number = unused("row", frame.collect_schema())
        released = recode(frame.with_row_index(number), recoding.coded() if shuffle.coded else recoding)
        columns = [column for column in released.collect_schema() if column != number]
        return order_of_rows(released, shuffle, columns).select(number).collect().to_series()

    def write(self, path: str | PathLike[str], *, for_spreadsheets: bool = False, order: Order = "random") -> Place:
        """Write the released table to a file, a folder or a database; it appears there once it passed its audit.

        What was written is read back in its format, as for the ``output`` of :func:`discreet.anonymize`. Values that
        the format cannot tell apart are refused. Rows are written in random order, because theirs may identify people:
        a table sorted by name stays so without the names. With ``order="keep"`` they are written as they are. With
        ``for_spreadsheets`` no cell can be taken for a formula: text that begins like one gets a ``'`` in front, which
        spreadsheets do not show.
        """
        if self.promises is None:
            raise unpickled("what an audit compares with", "write it before it is pickled, or make it again")
        target = check_output(path, self.table.place if isinstance(self.table, Written) else None)
        target = replace(target, shuffle=Shuffle.of(order, self.job.get("seed")))
        read = self.job.get("input")
        if isinstance(target, Output):
            check_apart([target.path], [] if read is None else place_files(read))
        if for_spreadsheets and isinstance(target, TableOutput):
            raise UsageError("No spreadsheet opens a table of a database; write a file, such as safe.csv.")
        rows = Rows(frame=self.frame, for_spreadsheets=for_spreadsheets)
        write_rows(rows, self.promises, target, Clock())
        if order == "keep" and not (isinstance(self.table, Written) and self.table.shuffle is not None):
            self._warn(Caution(KEPT_ORDER))
        self._record(target.place)
        return target.place

    def _record(self, place: Place) -> None:
        """Enter a release that was written in the ledger beside the key, and note if it is a second one."""
        key = None if self.key is None else self.key.make()
        data = None if self.behind is None else self.behind.data
        entry = None if key is None else make_entry(key, data, self.read, self.choices, place)
        if key is None or entry is None:
            return
        told = two_releases(record(key, entry))
        if told is not None:
            self._warn(PrivateCaution(told))

    def _warn(self, note: Caution) -> None:
        """Add a note that must not be overlooked, unless it is there."""
        if note not in self.notes:
            object.__setattr__(self, "notes", (note, *self.notes))

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

    def risk(self, original: Any = None, *, only_released: bool = False, **options: Any) -> RiskReport:
        """Measure how likely people are found in the release, and what it tells about them.

        The original table is the one the release was made from, unless another is given. With ``only_released`` the
        release is compared with the original rows of the released people alone, and the result may be handed over; so
        do reports. ``options`` are those of :func:`discreet.evaluate.risk`, such as ``population``.
        """
        from discreet.evaluate import risk

        table, released, told = self._measured_tables(original, only_released)
        return risk(released, original=table, **{"unknown": unknown(self), **told, **options})

    def utility(self, original: Any = None, *, only_released: bool = False, **options: Any) -> UtilityReport:
        """Measure what the release is still good for, compared with the original table.

        That is the one the release was made from, unless another is given; people who were left out count as lost. With
        ``only_released`` the release is compared with the original rows of the released people alone, and the result
        may be handed over; so do reports. ``options`` are those of :func:`discreet.evaluate.utility`, such as
        ``queries`` and ``models``.
        """
        from discreet.evaluate import utility

        table, released, told = self._measured_tables(original, only_released)
        told |= {"sensitive": list(told["sensitive"]), "class_attribute": self.job.get("class_attribute")}
        return utility(table, released, **{**told, **options})

    def attacks(self, original: Any = None, *, only_released: bool = False, **options: Any) -> AttackReport:
        """Run linkage, homogeneity and minimality attacks against the release.

        With ``only_released`` on the released people alone, so that the result may be handed over. ``options`` are
        those of :func:`discreet.evaluate.attacks`.
        """
        from discreet.evaluate import attacks

        table, told = roles(self, original)
        released: Any = self
        if only_released and LeftOut.of(self).total:  # minimality is about releases that leave nobody out
            table, released, told = released_people(self, told, table)
        return attacks(table, released, **{"unknown": unknown(self), **told, **options})

    def _measured_tables(self, original: Any, only_released: bool) -> tuple[Any, Any, dict[str, Any]]:
        """Return the original table, the released one, and what their columns are."""
        table, told = roles(self, original)
        if only_released and LeftOut.of(self).total:
            return released_people(self, told, table)
        again = self.recoding is not None and self.rows_known
        written = isinstance(self.table, Written) and again and is_at_hand(table)
        return table, recoded(self, table) if written else self.frame, told

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

    def certificate(self, path: str | PathLike[str], *, key: str | PathLike[str] | None = None) -> Path:
        """Write what was promised and reached, with the SHA-256 of what was written, as JSON.

        :func:`discreet.verify` checks a file against it later. It holds no value of the data, and of the input just an
        HMAC with the owner's ``key``: a private file, made if it is not there, that also serves further releases. By
        default that is ``discreet.key`` in ``$XDG_STATE_HOME/discreet`` or ``~/.local/state/discreet``. Keep it, and
        never hand it over.
        """
        place = self.key if key is None else key_place(key)
        return write_certificate(self, as_path(path, "The certificate"), None if place is None else place.make())

    def mapping(self, path: str | PathLike[str]) -> Path:
        """Write what each value became as JSON, for :func:`discreet.apply_mapping` and ``discreet apply``.

        It lists values of the original data, rare ones too: it is for those who hold the data.
        """
        return write_mapping(self, as_path(path, "The mapping"))

    def to_mapping(self) -> dict[str, Any]:
        """Return the mapping as plain data, which lists values of the original data."""
        return make_mapping(self)

    def to_dict(self, *, exact: bool = False) -> dict[str, Any]:
        """Return what is known about the release as plain data, without any value of the data.

        It may be handed over: figures that would tell about people who were left out are None. With ``exact`` they are
        there, with the statistics of the search; keep that as safe as the data.
        """
        return to_dict(self, exact=exact)

    def summary(self, *, exact: bool = False, warnings: bool = True) -> str:
        """Return the main figures as a block of text, with or without the :attr:`warnings`.

        It may be handed over, see :meth:`to_dict`; with ``exact`` it is for those who hold the data.
        """
        return summary(self, exact=exact, warnings=warnings)

    def trace_text(self, width: int = 100) -> str:
        """Return a picture of the best cost and the lower bound over time, in plain characters.

        >>> from discreet import anonymize, sample
        >>> people = sample(50, seed=1).select("sex", "zip")
        >>> release = anonymize(people, quasi_identifiers=["sex", "zip"], privacy="k(2)")
        >>> max(map(len, release.trace_text().splitlines())) <= 100
        True
        """
        return trace_text(self.trace, width)

    def __getstate__(self) -> dict[str, Any]:
        return pickled_release(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __copy__(self) -> Release:
        return replace(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Release:
        own = {item.name: deepcopy(getattr(self, item.name), memo) for item in fields(self) if item.name != "behind"}
        return replace(self, **own)

    def __repr__(self) -> str:
        people = LeftOut.of(self)
        cost = "" if people.few else f"cost={self.cost:g}, gap={self.gap:.2%}, "
        rows = f"{people.released:,}" + ("" if people.few else f" of {self.n:,}")
        return (
            f"Release({self.status}, {cost}rows={rows}, classes={self.classes:,}, "
            f"audit={'passed' if self.audit.passed else 'FAILED'})"
        )

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return release_html(self)


def _sets(values: pl.Series, block: NDArray[np.integer]) -> list[set[Any]]:
    grouped = pl.DataFrame({"value": values, "block": block}).group_by("block").agg("value").sort("block")["value"]
    return [set(items) for items in grouped.to_list()]
