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

from discreet.engines import Order, Shuffle, order_of_rows, recode, to_lazy, unused
from discreet.errors import UsageError
from discreet.job.files import FileStamp, files_at
from discreet.job.owner_key import KeyFile, key_file
from discreet.pipeline.audit import Audit
from discreet.pipeline.clock import Clock
from discreet.pipeline.ledger import make_entry, record, two_releases
from discreet.pipeline.mapping import make_mapping, write_mapping
from discreet.pipeline.neighbours import Neighbour, find_neighbours
from discreet.pipeline.output import (
    Output,
    TableOutput,
    Written,
    check_distinct_files,
    check_output,
    check_tables_output,
)
from discreet.pipeline.pickling import pickled_release, unpickled
from discreet.pipeline.provenance import (
    OriginalTable,
    Provenance,
    ReleasedPeople,
    hiding,
    is_at_hand,
    known_recoding,
    recoded,
    released_people,
    released_row_numbers,
    roles,
    with_owners,
)
from discreet.pipeline.publish import RowsToWrite, write_rows
from discreet.pipeline.publish_tables import write_tables
from discreet.pipeline.release_notes import KEPT_ORDER
from discreet.pipeline.undecided_columns import KeptColumn
from discreet.problem import PRIVACY, PrivacyModel
from discreet.report.certificate import write_certificate
from discreet.report.class_sizes import ClassSizes
from discreet.report.columns import ReleasedColumn
from discreet.report.job_text import is_counted, owner_columns, pseudonym_columns
from discreet.report.notes import Caution, PrivateCaution
from discreet.report.protection_page import Handover, write_protection_page
from discreet.report.release_report import release_html, summary, to_dict, write_report
from discreet.report.small_counts import LeftOut
from discreet.report.verdict import Verdict, make_verdict
from discreet.runtime.locations import TableLocation, as_path
from discreet.runtime.plurals import units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evaluate import AttackReport, FoundPerson, RiskReport, UtilityReport
    from discreet.job.linked_tables import LinkedTables
    from discreet.job.policy import Policy
    from discreet.pipeline.release_stats import ReleaseStats
    from discreet.report.sections.evaluations import Measured
    from discreet.solve import Progress, Status

__all__ = ["Release"]


_FOR_THE_OWNER = (
    "For the owner of the data alone: figures compare with the original table, including what was suppressed. "
    "risk(only_released=True) has figures to hand over."
)


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
    """The rows of the original table that the promises are about."""
    suppressed: int
    """The rows that were left out to keep the promises."""
    suppressed_values: int
    """The sensitive values that became unknown to keep the promises."""
    dropped_missing: int
    """The rows left out because a quasi-identifier was missing (``missing="suppress"``); not part of n."""
    classes: int
    """The number of equivalence classes."""
    levels: dict[str, int]
    """The hierarchy level of each quasi-identifier, 0 being the original value; empty unless all are full-domain."""
    audit: Audit
    job: dict[str, Any]
    """The job as text forms, with the keys of :class:`discreet.Job`."""
    notes: tuple[str, ...]
    """Choices that were made for the user, and what else is good to know; :attr:`warnings` come first."""
    kept: tuple[KeptColumn, ...]
    """The columns without a role, which are released unchanged, and the share of released rows with a unique value."""
    stats: ReleaseStats
    """The size of the search space, how much of it was examined, and the seconds of each stage."""
    trace: tuple[Progress, ...]
    """The best cost and the lower bound over time."""
    versions: dict[str, str]
    table: Any = field(repr=False)
    """The released table, or where it was written; see :attr:`frame`."""
    block_ids: Mapping[str, NDArray[np.integer]] = field(repr=False)
    """For each quasi-identifier of a global recoding, the block of each original value."""
    released_before: ClassSizes | None
    """The class sizes of the released people in the original table, which reports show; None where unknown."""
    columns: Sequence[ReleasedColumn]
    """What may be shown of each quasi-identifier: released values, and counts of enough people."""
    least: int
    """Reports show no count of fewer people than this."""
    made: str
    """When, in universal time."""
    wrote: FileStamp | None = field(repr=False)
    """The files the release was written to."""
    provenance: Provenance | None = field(repr=False, default=None)
    """What the release was made from; None once it was pickled."""
    tables: Mapping[str, Any] = field(repr=False, default_factory=dict)
    """The released tables by name, or where they were written, if several were released; see :attr:`frames`."""
    people: int | None = None
    """The people, or households, of the original table that the promises are about; None if promises count rows.
    Those with a released row are ``audit.people``."""
    suppressed_people: int | None = None
    """The people who were left out with all their rows to keep the promises."""
    people_losing_rows: int | None = None
    """The people of whom at least one row was left out to keep the promises; at least so many if that is not known."""
    people_missing_values: int | None = None
    """The people with rows that were left out because a quasi-identifier was missing."""

    @property
    def frame(self) -> Any:
        """The released table: the kind of frame that came in, and for a file that of the engine."""
        return self.table.read() if isinstance(self.table, Written) else self.table

    @property
    def frames(self) -> dict[str, Any]:
        """The released tables by name, if several were released together; :attr:`frame` is what they are joined."""
        return {name: table.read() if isinstance(table, Written) else table for name, table in self.tables.items()}

    @cached_property
    def blocks(self) -> dict[str, list[set[Any]]]:
        """For each quasi-identifier, the sets of original values that are released as one."""
        if self.provenance is None:
            raise unpickled("the blocks of original values", "make the release again to see them")
        return {column: _sets(self.provenance.values[column], block) for column, block in self.block_ids.items()}

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes that must not be overlooked."""
        return tuple(note for note in self.notes if isinstance(note, Caution))

    @cached_property
    def verdict(self) -> Verdict:
        """What to know before sharing the release: a level (``ok``, ``caution`` or ``danger``) and sentences.

        It weighs the columns released unchanged, how surely sensitive values can be inferred, the class sizes, the rows
        left out and the columns that say nothing any more. It tells nothing about people who were left out.
        """
        return make_verdict(self)

    @property
    def drawn(self) -> bool:
        """Whether the release was drawn near the optimum, so that its distance from it stays with the owner."""
        return "precaution" in self.stats or "robust" in self.stats

    @property
    def score(self) -> float | None:
        """The score of the release, if the cost is a score lost."""
        return self.stats.get("score")

    @property
    def released_values(self) -> dict[str, int]:
        """For each quasi-identifier, the number of distinct values in the released table."""
        return {column.name: column.values for column in self.columns}

    @property
    def before(self) -> ClassSizes:
        """The sizes of the equivalence classes of the original table; those of the release are ``audit.sizes``."""
        return ClassSizes() if self.provenance is None else self.provenance.sizes

    @property
    def original(self) -> OriginalTable | None:
        """The original table, if it is still known."""
        return None if self.provenance is None else self.provenance.original

    @property
    def read(self) -> FileStamp | None:
        """The files the table was read from."""
        return None if self.provenance is None else self.provenance.read

    @property
    def drawn_from(self) -> FileStamp | None:
        """The files of the population."""
        return None if self.provenance is None else self.provenance.drawn_from

    @property
    def key(self) -> KeyFile | None:
        """The owner's key, beside which releases that were written are recorded."""
        return None if self.provenance is None else self.provenance.key

    @property
    def unpickled(self) -> bool:
        """Whether the release comes from a pickle, which does not hold its provenance."""
        return self.provenance is None

    def rows_of(self, data: Any) -> pl.Series:
        """Return the number of the original row of each released row, from 0.

        ``data`` is the original table: a path or a polars frame. The rows are those of :attr:`frame`. If that is read
        from where the release was written, it is in random order, and rows that are equal in all columns cannot be
        distinguished; an order that another engine than polars shuffled cannot be recovered. A frame in memory keeps
        the order of the table, and :meth:`write` shuffles what it writes. Not available where an engine that keeps no
        order suppressed single records of classes. Whoever has this can undo the release: keep it as safe as the data.

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
            return released_row_numbers(self, data)
        if isinstance(self.table, Written) and self.table.by_engine:
            raise UsageError(
                "The database or engine wrote the rows in random order, so that rows cannot be matched any more; "
                'make the release with order="keep", or in memory.'
            )
        assert self.provenance is not None
        number = unused("row", to_lazy(data).collect_schema())
        rows = self.provenance.number_rows(data, number)
        released = recode(rows, recoding.coded(shuffle.coded) if shuffle.coded else recoding)
        columns = [column for column in released.collect_schema() if column != number]
        return order_of_rows(released, shuffle, columns).select(number).collect().to_series()

    def write(
        self,
        path: str | PathLike[str],
        *,
        for_spreadsheets: bool = False,
        order: Order = "random",
        overwrite: bool = True,
    ) -> TableLocation:
        """Write the released table to a file, a folder or a database; it appears there once it passed its audit.

        Several tables are written to a folder (ends in ``/``), with a file for each.

        What was written is read back in its format, as for the ``output`` of :func:`discreet.anonymize`. Values that
        the format cannot distinguish are refused. Rows are written in random order, because theirs may identify people:
        a table sorted by name stays sorted without the names. ``order="keep"`` writes them as they are. With
        ``for_spreadsheets`` no cell can be taken for a formula: text that begins like one gets a leading ``'``, which
        spreadsheets do not show. Without ``overwrite`` a file or table that exists is refused.
        """
        provenance = self.provenance
        if provenance is None or provenance.promises is None:
            raise unpickled("what an audit compares with", "write it before it is pickled, or make it again")
        if provenance.linked is not None:
            return self._write_tables(provenance, provenance.linked, path, order, overwrite, for_spreadsheets)
        read_from = self.table.location if isinstance(self.table, Written) else None
        target = check_output(path, read_from, overwrite=overwrite)
        target = replace(target, shuffle=Shuffle.of(order, self.job.get("seed")))
        read = self.job.get("input")
        if isinstance(target, Output):
            check_distinct_files([target.path], [] if read is None else files_at(read))
        if for_spreadsheets and isinstance(target, TableOutput):
            raise UsageError("No spreadsheet opens a table of a database; write a file, such as safe.csv.")
        rows = RowsToWrite(frame=self.frame, for_spreadsheets=for_spreadsheets)
        write_rows(rows, provenance.promises, target, Clock())
        if order == "keep" and not (isinstance(self.table, Written) and self.table.shuffle is not None):
            self._warn(Caution(KEPT_ORDER))
        self._record(provenance, target.location)
        return target.location

    def _write_tables(
        self,
        provenance: Provenance,
        linked: LinkedTables,
        path: str | PathLike[str],
        order: Order,
        overwrite: bool,
        for_spreadsheets: bool,
    ) -> TableLocation:
        """Write several tables to a folder."""
        if for_spreadsheets:
            raise UsageError("Several tables are not written for spreadsheets; leave for_spreadsheets out.")
        assert provenance.promises is not None
        given = {table.name: table.data for table in linked.tables}
        folder = check_tables_output(path, given, overwrite=overwrite)
        target = replace(folder, shuffle=Shuffle.of(order, self.job.get("seed")))
        frames = {name: to_lazy(frame).collect() for name, frame in self.frames.items()}
        write_tables(frames, provenance.promises, linked, target, Clock())
        if order == "keep":
            self._warn(Caution(KEPT_ORDER))
        self._record(provenance, target.location)
        return target.location

    def _record(self, provenance: Provenance, location: TableLocation) -> None:
        """Record a release that was written in the ledger, and warn if the table was released before."""
        key = None if provenance.key is None else provenance.key.make()
        if key is None:
            return
        data = None if provenance.original is None else provenance.original.data
        tables = [provenance.read or data] if provenance.linked is None else provenance.linked.given
        entry = make_entry(key, tables, provenance.choices, location)
        second = None if entry is None else two_releases(record(key, entry))
        if second is not None:
            self._warn(PrivateCaution(second))

    def _warn(self, note: Caution) -> None:
        """Add a warning unless it is there already."""
        if note not in self.notes:
            object.__setattr__(self, "notes", (note, *self.notes))

    def report(
        self,
        path: str | PathLike[str],
        sections: Sequence[Measured] = (),
        *,
        evaluate: bool | None = None,
    ) -> Path:
        """Write a report as .html, .pdf, .md, .txt or .json.

        A report shows released values and counts of enough people, and no other value of the data. The page is a single
        file. A PDF is printed by an installed browser. The page, the PDF and the Markdown include :meth:`risk`,
        :meth:`utility` and :attr:`neighbours`, for which the original table is read once more; ``evaluate`` says
        whether to, by default for frames and files of up to 250,000 rows. ``sections``, such as :meth:`attacks` or
        evaluations of your own, come before the columns.
        """
        return write_report(self, as_path(path, "The report"), sections, evaluate)

    def protection_page(
        self,
        path: str | PathLike[str],
        *,
        purpose: str = "",
        recipient: str = "",
        prepared_by: str = "",
        internal: bool = False,
    ) -> Path:
        """Write one page for the data protection officer to sign, as .html, .pdf or .md.

        It has the purpose and the recipient, the promises and the :attr:`verdict`, the columns by role, figures on
        singling out, linkability and inference, what the release does not protect against, and how to repeat it. The
        page may be handed over, like a report; the ``internal`` version adds exact figures about the whole table and is
        for the owner of the data. What is not given is a line to fill in by hand.
        """
        handover = Handover(purpose, recipient, prepared_by, internal)
        return write_protection_page(self, as_path(path, "The data protection page"), handover)

    def risk(self, original: Any = None, *, only_released: bool = False, **options: Any) -> RiskReport:
        """Measure how likely people are found in the release, and what it reveals about them.

        The original table is the one the release was made from, unless another is given. If people or values were
        suppressed, the result depends on them and is for the owner of the data alone, which a note in it says. With
        ``only_released`` the release is compared with the original rows of the released people alone, as in reports,
        and the result may be handed over. ``options`` are those of :func:`discreet.evaluate.risk`, such as
        ``population``.
        """
        from discreet.evaluate import risk

        table, released, columns = self._measured_tables(original, only_released)
        fewer = only_released and bool(LeftOut.of(self).total)
        released, owners = with_owners(self, table, released, only_released=fewer)
        report = risk(released, original=table, **{**hiding(self), **columns, **owners, **options})
        private = {*owners.values()} - {*pseudonym_columns(self.job)}
        report = replace(report, warnings=tuple(each for each in report.warnings if each.column not in private))
        if only_released or not (LeftOut.of(self).total or self.suppressed_values):
            return report
        return replace(report, notes=(*report.notes, _FOR_THE_OWNER))

    def utility(self, original: Any = None, *, only_released: bool = False, **options: Any) -> UtilityReport:
        """Measure the utility of the release, compared with the original table.

        The original table is the one the release was made from, unless another is given; suppressed people count as
        lost. With ``only_released`` the release is compared with the original rows of the released people alone, as in
        reports, and the result may be handed over. ``options`` are those of :func:`discreet.evaluate.utility`, such as
        ``queries`` and ``models``.
        """
        from discreet.evaluate import utility

        table, released, columns = self._measured_tables(original, only_released)
        columns |= {"sensitive": list(columns["sensitive"]), "class_attribute": self.job.get("class_attribute")}
        return utility(table, released, **{**columns, **options})

    def attacks(self, original: Any = None, *, only_released: bool = False, **options: Any) -> AttackReport:
        """Run the attacks of :func:`discreet.evaluate.attacks` against the release.

        With ``only_released`` only the released people are attacked, and the result may be handed over. ``options``
        are those of :func:`discreet.evaluate.attacks`, such as ``control``, ``population`` and ``earlier``.
        """
        from discreet.evaluate import attacks

        table, columns = roles(self, original)
        released: Any = self
        if only_released and LeftOut.of(self).total:  # minimality is about releases that suppress nobody
            table, rows, columns = released_people(self, columns, table)
            released = ReleasedPeople(rows, self.job)
        return attacks(table, released, **{**hiding(self), **columns, **options})

    def find(self, known: Mapping[str, Any] | None = None, *, original: Any = None, **columns: Any) -> FoundPerson:
        """Look for a person as a neighbour would: who matches what is known, before and after, and what that tells.

        What is known is given by column, as in ``release.find(age=34, sex="F")``, or as a mapping where names of
        columns are no Python names. A list means one of several values, and text such as ``"[30, 39]"`` a range. It is
        for the owner of the data; :func:`discreet.find` does without the original table.

        >>> from discreet import anonymize
        >>> people = pl.DataFrame({"age": [31, 34, 38, 33, 52, 58, 55, 51], "ill": ["flu", "hiv"] * 4})
        >>> release = anonymize(
        ...     people, quasi_identifiers={"age": "intervals(20)"}, sensitive=["ill"], privacy="k(4)"
        ... )
        >>> print(release.find(age=34))
        Known: age = 34
        In the original table one row matches this.
        In the release 4 rows can be this person: a guess is right 1 time in 4.
        <BLANKLINE>
        ill (sensitive)   before   after
          hiv             100.0%   50.0%
          flu               0.0%   50.0%
        """
        from discreet.evaluate import find

        table, given = roles(self, original)
        facts = {**(known or {}), **columns}
        rows, owners = with_owners(self, table, self.frame)
        private = {*owners.values()} - {*pseudonym_columns(self.job)}
        released = ReleasedPeople(rows, self.job) if private else self
        return find(released, facts, original=table, unknown=hiding(self)["unknown"], **given)

    def _measured_tables(self, original: Any, only_released: bool) -> tuple[Any, Any, dict[str, Any]]:
        """Return the original table, the released one, and the roles of their columns."""
        table, columns = roles(self, original)
        if only_released and LeftOut.of(self).total:
            return released_people(self, columns, table)
        rows_known = self.provenance is not None and self.provenance.rows_known
        in_order = isinstance(self.table, Written) and rows_known and is_at_hand(table)
        return table, recoded(self, table) if in_order else self.frame, columns

    @cached_property
    def neighbours(self) -> tuple[Neighbour, ...]:
        """What a smaller or larger k (or l, where there is no k) would cost, all else being equal.

        A few values below and above are solved on first access. Empty for local recoding and very large problems.
        """
        return find_neighbours(self)

    @cached_property
    def measured(self) -> dict[str, Measured]:
        """Risk and utility for reports, measured once however many reports are written."""
        from discreet.report.sections.evaluations import measure_release

        return measure_release(self)

    def certificate(self, path: str | PathLike[str], *, key: str | PathLike[str] | None = None) -> Path:
        """Write what was promised and reached, with the SHA-256 of what was written, as JSON.

        :func:`discreet.verify` checks a file against it later. It holds no value of the data, and of the input only an
        HMAC with the owner's ``key``: a private file that is made if it does not exist and serves further releases too.
        By default that is ``discreet.key`` in ``$XDG_STATE_HOME/discreet`` or ``~/.local/state/discreet``. Keep it, and
        never hand it over.
        """
        self._refuse_tables("A certificate")
        file = self.key if key is None else key_file(key)
        return write_certificate(self, as_path(path, "The certificate"), None if file is None else file.make())

    def _refuse_tables(self, what: str) -> None:
        if self.tables:
            raise UsageError(f"{what} is of one table, and several were released together.", topic="several-tables")

    def mapping(self, path: str | PathLike[str]) -> Path:
        """Write what each value became as JSON, for :func:`discreet.apply_mapping` and ``discreet apply``.

        It lists values of the original data, rare ones too: it is for the owner of the data.
        """
        self._refuse_tables("A mapping")
        return write_mapping(self, as_path(path, "The mapping"))

    def to_mapping(self) -> dict[str, Any]:
        """Return the mapping as plain data, which lists values of the original data."""
        self._refuse_tables("A mapping")
        return make_mapping(self)

    def policy(self) -> Policy:
        """Return what the release keeps to, as a policy for :func:`discreet.check` and ``discreet check``.

        Later releases of the same kind can be checked by it. It names columns and promises, and no value of the data.

        >>> from discreet import anonymize, sample
        >>> people = sample(200, seed=1).select("sex", "zip")
        >>> anonymize(people, quasi_identifiers=["sex", "zip"], privacy="k(5)").policy().to_dict()
        {'privacy': ['k(5)'], 'quasi_identifiers': ['sex', 'zip']}
        """
        self._refuse_tables("A policy")
        job, known = self.job, hiding(self)
        owners = owner_columns(job)
        if any(is_counted(model) or PRIVACY.make(model).shown != model for model in job["privacy"]):
            raise UsageError("A promise names values of the data, which a policy must not; write the policy by hand.")
        from discreet.job.policy import Policy  # pydantic is a tenth of a start

        return Policy(
            quasi_identifiers=list(job["quasi_identifiers"]),
            sensitive=list(job.get("sensitive") or ()),
            privacy=[_visible(PRIVACY.make(model)) for model in job["privacy"]],
            person=owners[-1] if owners and job.get("pseudonyms") else None,
            forbid=list(dict.fromkeys([*(job.get("identifiers") or ()), *([] if job.get("pseudonyms") else owners)])),
            allow=[*(column.name for column in self.kept), *(owners if job.get("pseudonyms") else ())],
            unknown=known["unknown"] or None,
            missing_sensitive=job.get("missing_sensitive", "unknown"),
        )

    def to_dict(self, *, exact: bool = False) -> dict[str, Any]:
        """Return the release as plain data, without any value of the data.

        It may be handed over: figures that would reveal something about suppressed people are None. With ``exact`` they
        are included, with the statistics of the search; keep that as safe as the data.
        """
        return to_dict(self, exact=exact)

    def summary(self, *, exact: bool = False, warnings: bool = True) -> str:
        """Return the main figures as a block of text, with or without the :attr:`warnings`.

        It may be handed over, see :meth:`to_dict`; with ``exact`` it is for the owner of the data.
        """
        return summary(self, exact=exact, warnings=warnings)

    def trace_text(self, width: int = 100) -> str:
        """Draw the best cost and the lower bound over time in plain characters.

        >>> from discreet import anonymize, sample
        >>> people = sample(50, seed=1).select("sex", "zip")
        >>> release = anonymize(people, quasi_identifiers=["sex", "zip"], privacy="k(2)")
        >>> max(map(len, release.trace_text().splitlines())) <= 100
        True
        """
        from discreet.report.charts.search import trace_text

        return trace_text(self.trace, width)

    def __getstate__(self) -> dict[str, Any]:
        return pickled_release(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __copy__(self) -> Release:
        return replace(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Release:
        own = {
            item.name: deepcopy(getattr(self, item.name), memo) for item in fields(self) if item.name != "provenance"
        }
        return replace(self, **own)

    def __repr__(self) -> str:
        people = LeftOut.of(self)
        cost = "" if people.hides_cost else f"cost={self.cost:g}, gap={self.gap:.2%}, "
        whole = self.n if self.people is None else self.people
        rows = f"{people.released:,}" + ("" if people.few else f" of {whole:,}")
        return (
            f"Release({self.status}, {cost}{units(people.unit)}={rows}, classes={self.classes:,}, "
            f"audit={'passed' if self.audit.passed else 'FAILED'})"
        )

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return release_html(self)


def _visible(model: PrivacyModel) -> str:
    """Return a promise as far as a table shows whether it is kept."""
    return f"k({model.minimum_size})" if model.of_sampling else model.text


def _sets(values: pl.Series, block: NDArray[np.integer]) -> list[set[Any]]:
    grouped = pl.DataFrame({"value": values, "block": block}).group_by("block").agg("value").sort("block")["value"]
    return [set(items) for items in grouped.to_list()]
