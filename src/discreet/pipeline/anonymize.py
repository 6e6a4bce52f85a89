"""The whole pipeline, each stage once: source, schema, count, problem, solve, recode, audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from discreet.engines import EngineName, Missing, MissingSensitive, Order
from discreet.job.settings import JobSettings
from discreet.pipeline.derive import with_derived_columns
from discreet.pipeline.make_release import make_release
from discreet.pipeline.prepare import check_switches, interruptible, prepare, search_budget
from discreet.pipeline.release import Release
from discreet.pipeline.sampling import with_sampled_rows
from discreet.pipeline.search import search
from discreet.pipeline.tables import with_joined_tables
from discreet.problem import PrivacyModel, Scheme

if TYPE_CHECKING:
    from discreet.problem import Cost, Suppression
    from discreet.solve import Budget, ProgressCallback, Solver

__all__ = ["anonymize"]


def anonymize(
    data: Any,
    *,
    identifiers: str | Sequence[str] = (),
    quasi_identifiers: str | Sequence[str] | Mapping[str, Any],
    sensitive: str | Sequence[str] | Mapping[str, Any] = (),
    class_attribute: str | None = None,
    person: str | None = None,
    household: str | None = None,
    pseudonyms: bool = False,
    weights: str | None = None,
    population: Any = None,
    against: Any = (),
    keep: str | Sequence[str] = (),
    types: Mapping[str, Any] | None = None,
    derive: Mapping[str, str] | None = None,
    privacy: str | PrivacyModel | Sequence[str | PrivacyModel],
    cost: str | Cost | None = None,
    suppression: str | Suppression = "none",
    scheme: str | Scheme | Mapping[str, str | Scheme] = "full-domain",
    solver: str | Solver = "auto",
    time_limit: float | None = None,
    threads: int | None = None,
    seed: int | None = None,
    missing: Missing = "value",
    missing_sensitive: MissingSensitive = "unknown",
    order: Order = "random",
    priorities: Mapping[str, int] | None = None,
    keep_at_least: Mapping[str, int] | None = None,
    min_levels: Mapping[str, int] | None = None,
    max_levels: Mapping[str, int] | None = None,
    output: str | PathLike[str] | None = None,
    overwrite: bool = True,
    key: str | PathLike[str] | None = None,
    na: str | Sequence[str] = (),
    decimal: str = ".",
    encoding: str | None = None,
    date_format: str | None = None,
    sheet: str | None = None,
    missing_codes: str = "keep",
    engine: EngineName = "auto",
    memory_limit: str | None = None,
    spark: Any = None,
    progress: ProgressCallback | None = None,
    budget: Budget | None = None,
) -> Release:
    """Make the best release of a table that keeps every promise, prove that it is the best, and audit it.

    Parameters
    ----------
    data
        A path (CSV, TSV, Parquet, JSON lines, Excel; a file, a folder or a pattern of names), the URL of a database
        table, or a frame (pandas, polars eager or lazy, pyarrow, a DuckDB relation, a Spark DataFrame, an Ibis table).
        The last three stay where they are, and the release is a plan. Or several tables that are linked by ``person``,
        as in ``{"people": people, "visits": visits}``, each a file or a frame in memory: the first has one row for each
        person. They are joined, and promises hold on the joined table; columns that several have are named as in
        ``visits.age``. The ``output`` is a folder then, and ``release.frames`` has the tables.
    identifiers
        Columns that name people; they are left out of the release.
    quasi_identifiers
        Columns others could know about a person, as a list or as a mapping to hierarchies (builders, text
        forms, files; None for an automatic one, or none at all where the scheme needs none).
    sensitive
        Columns nobody should learn, as a list or as a mapping to hierarchies. They are released as they are. Several
        columns together are one attribute if they are written ``disease+stage``; models name it so.
    class_attribute
        The column a classifier should still be able to predict, for the cost ``CM``.
    person, household
        The column that says whose row it is, where people may have several rows (visits, claims), and the one that says
        to which household they belong. Promises then count people, or households if those are given: five rows of one
        patient are no crowd. Costs stay sums over rows. Neither column leaves.
    pseudonyms
        Whether ``person`` and ``household`` leave after all, as random pseudonyms that are drawn for this release.
        Whoever gets it sees which rows are of the same person.
    weights
        The column with the survey weights: how many people of the population each row represents. Rows are counted as
        ever; models about the population (``k-map(5)``, ``delta-presence(0.1, 0.6)``) take what the weights of a class
        add up to. The column is released as it is.
    population
        A table of the people the data was drawn from, of any kind, for the same models: they count how many of them
        have the released values of a class. It has the quasi-identifiers under the same names, and its values belong to
        their domains: a hierarchy has to cover them.
    against
        Earlier releases of the same or overlapping people, of any kind (a list, or one): the promises are kept together
        with each of them, or the job stops and says what breaks.
    keep
        Columns to release unchanged though they could identify people: columns without a role, sensitive columns that
        name people, levels of a pandas index. Without this the job stops at them with an
        :class:`~discreet.errors.UndecidedColumnError`.
    types
        The types of columns that are not what they look like: text, ordered, integer, decimal or date.
    derive
        Columns to replace before all else, each by a text form: ``{"visit": "shift_dates(person=patient, days=180)"}``
        shifts all dates of a person by the same random number of days, ``{"patient": "pseudonym"}`` replaces values by
        keyed pseudonyms. Both use the owner's ``key``, and the release says that they are pseudonymous.
    privacy
        The promises, such as ``["k(5)", "distinct-l(3, disease)"]``.
    cost, suppression, scheme, solver
        What is minimized (``LM`` unless there are priorities), what may be suppressed, how values may be generalized,
        and by which algorithm. ``scheme`` is one for all quasi-identifiers, or a mapping such as
        ``{"race": "set", "age": "ordered"}``, in which those not named are ``full-domain``.
        ``"best"`` searches full-domain, subtree and local, shares the time limit (60 seconds unless one is given)
        among them, and takes the release that costs least; ``release.stats["schemes"]`` has all of them.
    time_limit
        Seconds the search may take; the best release found by then is returned with its proven gap.
    threads
        How many cores a long search may use; by default all that this process may use. A search that is not stopped
        makes the same release on any number.
    seed
        For anything random, the order of rows too. Without one a seed is drawn from the system's secure source and kept
        in the ``job`` of the release, with which the same release can be made again. Keep it as safe as the data.
    missing
        ``value``: a missing quasi-identifier is a value of its own. ``suppress``: such rows are left out.
        ``error``: they are refused.
    missing_sensitive
        ``unknown``: a missing sensitive value is not a value. It counts in the size of its class, and models of
        diversity and closeness look at the known values of the class only, and at those known in the whole table.
        ``value``: it is one more value. An attribute of several columns is missing where all of them are.
    order
        ``random``: what is written to ``output`` is in random order, because the order of the table may identify
        people. ``keep``: it stays as it is. A frame that is returned always keeps its order.
    priorities
        How much each quasi-identifier matters, as in ``{"zip": 10, "age": 5}``; 1 by default. They are the weights of
        the cost, which is ``score`` if none was chosen.
    keep_at_least
        The highest level a quasi-identifier may be generalized to, 0 being the original value; the same as
        ``max_levels``.
    min_levels, max_levels
        Limits on the level of a quasi-identifier in its hierarchy.
    output
        A file for the released table, a folder (ends in ``/``) or the URL of a table. It appears under this name once
        what was written passed its audit.
    overwrite
        Whether an output that exists may be replaced; if not, it is an :class:`~discreet.errors.OutputError` before any
        work.
    key
        The file with the owner's key, made if it is not there; by default one in ``~/.local/state/discreet``. Reports
        and certificates hold an HMAC of the input with it, and releases that are written are recorded beside it, so
        that a second release of the same table is noticed. Never hand it over.
    na, decimal, encoding, date_format, sheet, missing_codes
        How to read a file, as in :func:`discreet.table`: which texts mean a missing value, decimal commas, the
        encoding, the form of dates, the sheet of an Excel file, and what codes that SPSS declares as missing are.
    engine, memory_limit, spark
        Who works on a file: ``polars`` (``auto``), ``duckdb`` or ``spark``; frames are worked on by their own engine.
        ``memory_limit`` is one on DuckDB, such as ``4GB``; ``spark`` a session, or the address of a cluster.
    progress, budget
        A function called with the state of the search, and a switch to stop it; for user interfaces.

    >>> import polars as pl
    >>> table = pl.DataFrame({"name": ["Ann", "Bob", "Cy", "Di"], "age": [31, 34, 47, 48]})
    >>> release = anonymize(
    ...     table, identifiers="name", quasi_identifiers={"age": "intervals(5, 10, 20)"}, privacy="k(2)"
    ... )
    >>> release.frame["age"].to_list(), release.status
    (['[30, 35)', '[30, 35)', '[45, 50)', '[45, 50)'], 'optimal')

    """
    arguments = dict(locals())
    check_switches(progress, budget)
    with interruptible():
        settings = with_joined_tables(JobSettings.make(arguments))
        settings = with_sampled_rows(with_derived_columns(settings))
        if settings.any_scheme:
            from discreet.pipeline.best_scheme import best_of_schemes

            return best_of_schemes(settings, progress, search_budget(budget, None))
        prepared = prepare(settings).with_key()
        budget = search_budget(budget, None)
        problem, solution = search(prepared, progress, budget)
        job = settings.describe_search(problem.privacy)
        return make_release(prepared, problem, solution, job, drawn=budget.drawn)
