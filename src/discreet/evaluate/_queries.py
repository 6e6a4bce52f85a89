"""How well a released table answers queries: COUNT and SUM over random ranges (utility paper, section 5)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet._words import amount, either
from discreet.counts import FloatArray, IntArray
from discreet.engines import Source, open_source
from discreet.errors import MissingColumnError, UsageError
from discreet.evaluate._attribute import Attribute
from discreet.evaluate._released_as import split
from discreet.evaluate._spread import Block, Spread
from discreet.evaluate._workload import Query, random_queries
from discreet.problem._checks import whole_number
from discreet.schema import Schema, Type, make_domain

__all__ = ["QueryReport", "queries"]

_TRIES = 1_000
"""How often a query that no row answers is drawn again, on average."""


@dataclass(frozen=True, eq=False, repr=False)
class QueryReport:
    """How far the answers of a release are from the true ones. Made by :func:`queries`."""

    aggregate: str
    """What was asked for: ``count``, or the sum of a column as in ``sum(age)``."""
    frame: pl.DataFrame
    """A row for each query: how many ``dimensions`` it has, its ``selectivity`` (the share of the original rows it is
    about), the ``truth``, the ``estimate`` and the ``error`` rate, which is null where the truth is 0."""
    redrawn: int
    """The random queries whose true answer is 0, for each of which another one was drawn."""
    _queries: tuple[Query, ...] = field(repr=False)
    _names: tuple[str, ...] = field(repr=False)

    @property
    def errors(self) -> FloatArray:
        """The error rates |estimate - truth| / |truth| of all queries whose truth is not 0."""
        return self.frame["error"].drop_nulls().to_numpy()

    @property
    def mean(self) -> float:
        """The mean error rate, which is what the utility paper shows."""
        return float(self.errors.mean()) if self.errors.size else math.nan

    @property
    def median(self) -> float:
        """The median error rate."""
        return float(np.median(self.errors)) if self.errors.size else math.nan

    @cached_property
    def workload(self) -> tuple[dict[str, Block], ...]:
        """The queries, each as what it asks of each column; other releases can be given the same."""
        return tuple({self._names[i]: asked.block for i, asked in query.items()} for query in self._queries)

    def summary(self) -> str:
        """Return the main figures as a line of text."""
        return (
            f"{amount(self.frame.height, 'query', 'queries')} for the {self.aggregate}: error rate {self.mean:.2%} "
            f"in the mean, {self.median:.2%} in the median."
        )

    def __repr__(self) -> str:
        return (
            f"QueryReport({self.aggregate}, queries={self.frame.height:,}, mean={self.mean:.4f}, "
            f"median={self.median:.4f})"
        )

    def __str__(self) -> str:
        return self.summary()


def queries(
    original: Any,
    released: Any,
    *,
    quasi_identifiers: str | Sequence[str] | Mapping[str, Any],
    sum_of: str | None = None,
    count: int = 1_000,
    dimensions: int | Sequence[str] | None = None,
    selectivity: float | None = None,
    workload: Sequence[Mapping[str, Any]] | None = None,
    types: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> QueryReport:
    """Ask the original and the released table the same queries, and compare the answers.

    A query counts the rows (or adds up a number) where each of some columns is in a range, has one of some values or
    lies under a node of its hierarchy. The original table answers exactly. In the released one, each generalized value
    is spread evenly over what it stands for: a range over its whole numbers or days, or over its length where numbers
    are decimal; a node over its leaves; a set over its values; ``*`` over everything. Suppressed rows are not there.

    The error rate of a query is ``|estimate - truth| / |truth|``. The utility paper does not say what it is where the
    truth is 0; here a random query whose true answer is 0 is drawn again, and a given one has no error rate.

    Parameters
    ----------
    original, released
        Both tables: paths or frames; for ``released`` also a :class:`discreet.Release`.
    quasi_identifiers
        The columns that may be asked for, as a list or as a mapping to hierarchies, those of the release.
    sum_of
        The column that is added up instead of counting rows. It may be a quasi-identifier, and is not restricted
        by random queries then, nor asked for otherwise.
    count
        How many random queries are drawn.
    dimensions
        How many columns a random query restricts, or which; all by default.
    selectivity
        The share of everything there could be that a random query asks for. The predicate on each of ``d`` columns
        covers its ``d``-th root of that column. By default both ends of a range are drawn at random; of
        columns with a hierarchy either a value or an inner node is drawn, of other text any set of values.
    workload
        Queries to ask instead of random ones, each as a mapping from columns to text forms such as ``[20, 30]``,
        ``{Inc, Private}`` or the name of a node, to lists of values, or to blocks from :func:`discreet.parse_block`.
    types
        The types of columns that are not what they look like.
    seed
        The same seed draws the same queries for the same original table and hierarchies.

    >>> people = pl.DataFrame({"age": [21, 24, 27, 52], "sex": ["f", "f", "m", "m"]})
    >>> released = pl.DataFrame({"age": ["[21, 24]", "[21, 24]", "[27, 52]", "[27, 52]"], "sex": ["f", "f", "m", "m"]})
    >>> report = queries(people, released, quasi_identifiers=["age", "sex"], workload=[{"age": "[21, 22]"}])
    >>> report.frame.select("truth", "estimate", "error").row(0)
    (1.0, 1.0, 0.0)

    """
    whole_number(count, "The number of queries", least=1)
    if selectivity is not None and not 0 < selectivity <= 1:
        raise UsageError(f"The selectivity is a share above 0 and up to 1, not {selectivity:g}.")
    source = open_source(original)
    given, known = split(quasi_identifiers)
    schema = Schema.make(source.columns, quasi_identifiers=given, types=types)
    names = list(schema.quasi_identifiers)

    def as_leaves(name: str, values: pl.Series) -> tuple[Attribute, Spread, IntArray]:
        tree = known[name].widened(values) if name in known else None
        hierarchy = schema.quasi_identifiers[name] if tree is None else tree.hierarchy
        domain = make_domain(name, values, hierarchy, type=schema.types.get(name), needed=False)
        attribute = Attribute(domain, None if tree is None else tree.values)
        return attribute, attribute.leaves(), domain.codes

    table, attributes = _read(source, names, sum_of, as_leaves)
    meant = {attribute.name: attribute for attribute in attributes}

    def as_released(name: str, values: pl.Series) -> tuple[Attribute, Spread, IntArray]:
        return meant[name], meant[name].released(values), np.arange(len(values))

    answers, _ = _read(open_source(getattr(released, "frame", released)), names, sum_of, as_released)
    if workload is None:
        asked = _asked(names, dimensions, sum_of)
        size = dimensions if isinstance(dimensions, int) else len(asked)
        drawn = random_queries(attributes, asked, size, selectivity, np.random.default_rng(seed))
        chosen, truths, redrawn = _answered(drawn, table, count)
    else:
        chosen = [_given(query, attributes) for query in workload]
        if not chosen:
            raise UsageError("The workload has no queries; give some, or leave it out to have them drawn.")
        truths, redrawn = [table.answer(query) for query in chosen], 0
    estimates = np.array([answers.answer(query)[-1] for query in chosen], dtype=np.float64)
    frame = _frame(chosen, np.array(truths).reshape(len(chosen), -1), estimates, table.rows)
    return QueryReport("count" if sum_of is None else f"sum({sum_of})", frame, redrawn, tuple(chosen), tuple(names))


def _answered(drawn: Iterator[Query], table: _Table, count: int) -> tuple[list[Query], list[FloatArray], int]:
    """Take the first queries whose answer is not 0; return them, their answers and how many were passed over."""
    chosen, truths, tried = [], [], 0
    for query in islice(drawn, _TRIES * count):
        tried += 1
        truth = table.answer(query)
        if truth[-1]:
            chosen.append(query)
            truths.append(truth)
            if len(chosen) == count:
                break
    if not chosen:
        raise UsageError(
            "No random query has an answer other than 0; ask none, as in queries=0, or restrict fewer columns (in "
            "Python, dimensions=2)."
        )
    return chosen, truths, tried - len(chosen)


@dataclass(frozen=True, eq=False)
class _Table:
    """Distinct tuples: the place of each value in the spread of its column, and how much each tuple counts.

    The first of the ``amounts`` is the number of rows, the last what is asked for.
    """

    spreads: Sequence[Spread]
    places: Sequence[IntArray]
    amounts: FloatArray

    @property
    def rows(self) -> float:
        """The number of rows."""
        return float(self.amounts[0].sum())

    def answer(self, query: Query) -> FloatArray:
        """Return the number of rows and the amount a query asks for, as far as the spread tells."""
        shares = {i: self.spreads[i].share(asked) for i, asked in query.items() if not asked.everything}
        # From the predicate with the fewest rows on: what is 0 once need not be looked at again.
        few_first = sorted(shares, key=lambda i: float((shares[i] > 0) @ self._rows_of[i]))
        left: NDArray[np.int64] | slice = slice(None)
        part: FloatArray | float = 1.0
        for i in few_first:
            own = shares[i][self.places[i][left]]
            kept = np.flatnonzero(own)
            part = own[kept] * (part if isinstance(part, float) else part[kept])
            left = kept if isinstance(left, slice) else left[kept]
        return np.asarray((self.amounts[:, left] * part).sum(axis=1))

    @cached_property
    def _rows_of(self) -> list[FloatArray]:
        """The rows that have each value, by column."""
        columns = zip(self.places, self.spreads, strict=True)
        return [np.bincount(places, self.amounts[0], spread.low.size).astype(np.float64) for places, spread in columns]


def _read(
    source: Source,
    names: Sequence[str],
    sum_of: str | None,
    understood: Callable[[str, pl.Series], tuple[Attribute, Spread, IntArray]],
) -> tuple[_Table, list[Attribute]]:
    """Count the tuples of a table; of the distinct values of a column, ``understood`` tells what each stands for."""
    columns = list(names) if sum_of is None else list(dict.fromkeys([*names, sum_of]))
    for column in columns:
        if column not in source.columns:
            raise MissingColumnError(column, source.columns)
    tuples = source.count(columns)
    rows = tuples[tuples.columns[-1]].to_numpy().astype(np.float64)
    attributes, spreads, places = [], [], []
    for name in names:
        values = tuples[name].unique().sort()
        attribute, spread, place = understood(name, values)
        attributes.append(attribute)
        spreads.append(spread)
        places.append(tuples[name].replace_strict(values, place, return_dtype=pl.Int64).to_numpy().astype(np.int64))
    amounts = [rows]
    if sum_of is not None and sum_of in names:
        i = names.index(sum_of)
        amounts.append(rows * spreads[i].mean(_positions(attributes[i]))[places[i]])
    elif sum_of is not None:
        amounts.append(rows * _numbers(sum_of, tuples[sum_of]))
    order = np.lexsort([*amounts, *places])  # the same each time, and so is what adding up rounds off
    return _Table(spreads, [place[order] for place in places], np.array(amounts)[:, order]), attributes


def _positions(attribute: Attribute) -> FloatArray:
    if attribute.domain.positions is None or attribute.domain.type is Type.DATE:
        raise _no_numbers(attribute.name)
    return attribute.domain.positions


def _numbers(column: str, values: pl.Series) -> FloatArray:
    numbers = values.cast(pl.Float64, strict=False) if values.dtype.is_numeric() or values.dtype == pl.String else None
    if numbers is None or numbers.null_count() > values.null_count():
        raise _no_numbers(column)
    return numbers.fill_null(0.0).to_numpy()


def _no_numbers(column: str) -> UsageError:
    return UsageError(f"Column '{column}' holds no numbers to add up; choose another one.", column=column)


def _asked(names: Sequence[str], dimensions: int | Sequence[str] | None, sum_of: str | None) -> list[int]:
    """Return the numbers of the attributes that random queries may restrict."""
    free = [name for name in names if name != sum_of]
    if isinstance(dimensions, Sequence):
        wanted = [dimensions] if isinstance(dimensions, str) else list(dimensions)
        for name in wanted:
            if name not in free:
                raise UsageError(
                    f"Queries cannot restrict column '{name}': it is no quasi-identifier, or is added up.", column=name
                )
        free = [name for name in free if name in wanted]
    elif dimensions is not None:
        whole_number(dimensions, "The number of dimensions", least=1)
        if dimensions > len(free):
            raise UsageError(
                f"Queries cannot restrict {dimensions} columns, as there {either(len(free), 'is', 'are')} {len(free)}; "
                "ask for fewer."
            )
    if not free:
        raise UsageError("There is no column that queries could restrict; name more quasi-identifiers.")
    return [names.index(name) for name in free]


def _given(query: Mapping[str, Any], attributes: Sequence[Attribute]) -> Query:
    """Read a query of the user's."""
    number = {attribute.name: i for i, attribute in enumerate(attributes)}
    for name in query:
        if name not in number:
            raise UsageError(f"A query restricts column '{name}', which is no quasi-identifier.", column=name)
    return {number[name]: attributes[number[name]].predicate(asked) for name, asked in query.items()}


def _frame(chosen: Sequence[Query], truths: FloatArray, estimates: FloatArray, rows: float) -> pl.DataFrame:
    """Put the answers side by side."""
    truth = truths[:, -1]
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.abs(estimates - truth) / np.abs(truth)
    return pl.DataFrame(
        {
            "dimensions": pl.Series([len(query) for query in chosen], dtype=pl.Int64),
            "selectivity": truths[:, 0] / rows,
            "truth": truth,
            "estimate": estimates,
            "error": pl.Series(np.where(truth == 0, np.nan, error)).fill_nan(None),
        }
    )
