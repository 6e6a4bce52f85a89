"""``queries``: how well a release answers COUNT and SUM queries over random ranges (utility paper, section 5)."""

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

from discreet.counts import FloatArray, IntArray
from discreet.engines import Source, open_source
from discreet.errors import Argument, MissingColumnError, UsageError
from discreet.evaluate.attribute import Attribute
from discreet.evaluate.released_as import split
from discreet.evaluate.spread import Block, Predicate, Spread
from discreet.runtime.arguments import whole_number
from discreet.runtime.plurals import amount, either
from discreet.schema import Schema, Type, ValueSet, make_domain

__all__ = ["QueryReport", "queries"]

_TRIES = 1_000
"""How often a query without a matching row is drawn again at most, on average."""


@dataclass(frozen=True, eq=False, repr=False)
class QueryReport:
    """The errors of a release's answers to queries. Made by :func:`queries`."""

    aggregate: str
    """The aggregate: ``count``, or the sum of a column as in ``sum(age)``."""
    frame: pl.DataFrame
    """A row for each query: its number of ``dimensions``, its ``selectivity`` (the share of the original rows that
    match), the ``truth``, the ``estimate`` and the ``error`` rate, which is null if the truth is 0."""
    redrawn: int
    """The number of random queries that were replaced because their true answer is 0."""
    _queries: tuple[Query, ...] | None = field(repr=False)
    _names: tuple[str, ...] = field(repr=False)

    @property
    def errors(self) -> FloatArray:
        """The error rates |estimate - truth| / |truth| of all queries whose truth is not 0."""
        return self.frame["error"].drop_nulls().to_numpy()

    @property
    def mean(self) -> float:
        """The mean error rate, as shown in the utility paper."""
        return float(self.errors.mean()) if self.errors.size else math.nan

    @property
    def median(self) -> float:
        """The median error rate."""
        return float(np.median(self.errors)) if self.errors.size else math.nan

    @cached_property
    def workload(self) -> tuple[dict[str, Block], ...]:
        """The queries, each as a mapping from columns to blocks; other releases can be given the same.

        They hold values of the original table, so that they are not pickled.
        """
        if self._queries is None:
            raise UsageError(
                "Queries hold values of the original table and are not pickled; ask them again with the same seed."
            )
        return tuple({self._names[i]: predicate.block for i, predicate in query.items()} for query in self._queries)

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in vars(self).items() if name != "workload"}
        return {**state, "_queries": None}

    def __copy__(self) -> QueryReport:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> QueryReport:
        return self

    def summary(self) -> str:
        """Return the main figures as a line of text."""
        return (
            f"{amount(self.frame.height, 'query', 'queries')} for the {self.aggregate}: mean error {self.mean:.2%}, "
            f"median error {self.median:.2%}."
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

    A query counts the rows (or sums up a column) where some columns are in a range, have one of several values, or are
    below a node of their hierarchy. The original table answers exactly. In the release, each generalized value is
    spread evenly over what it covers: a range over its whole numbers or days, or over its length if numbers are
    decimal; a node over its leaves; a set over its values; ``*`` over everything. Suppressed rows are missing.

    The error rate of a query is ``|estimate - truth| / |truth|``. The utility paper does not define it for a truth of
    0; here such a query is drawn again if it is random, and has no error rate if it was given.

    Parameters
    ----------
    original, released
        Both tables: paths or frames; ``released`` may be a :class:`discreet.Release`.
    quasi_identifiers
        The columns that queries may restrict, as a list or as a mapping to the hierarchies of the release.
    sum_of
        The column to sum up instead of counting rows. If it is a quasi-identifier, random queries do not restrict it.
    count
        The number of random queries.
    dimensions
        The number of columns that a random query restricts, or their names; all by default.
    selectivity
        The share of the domain that a random query covers: each of ``d`` predicates covers the ``d``-th root of it. By
        default both ends of a range are drawn at random; for columns with a hierarchy a value or an inner node is
        drawn, for other text any set of values.
    workload
        Queries to run instead of random ones, each as a mapping from columns to text forms such as ``[20, 30]``,
        ``{Inc, Private}`` or the name of a node, to lists of values, or to blocks from :func:`discreet.parse_block`.
    types
        The types of columns that would be inferred wrongly.
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
    known_attributes = {attribute.name: attribute for attribute in attributes}

    def as_released(name: str, values: pl.Series) -> tuple[Attribute, Spread, IntArray]:
        attribute = known_attributes[name]
        return attribute, attribute.released(values), np.arange(len(values))

    answers, _ = _read(open_source(getattr(released, "frame", released)), names, sum_of, as_released)
    if workload is None:
        free = _restrictable(names, dimensions, sum_of)
        size = dimensions if isinstance(dimensions, int) else len(free)
        drawn = _random_queries(attributes, free, size, selectivity, np.random.default_rng(seed))
        chosen, truths, redrawn = _answered(drawn, table, count)
    else:
        chosen = [_parsed_query(query, attributes) for query in workload]
        if not chosen:
            raise UsageError("The workload has no queries; give some, or leave it out to have them drawn.")
        truths, redrawn = [table.answer(query) for query in chosen], 0
    estimates = np.array([answers.answer(query)[-1] for query in chosen], dtype=np.float64)
    frame = _frame(chosen, np.array(truths).reshape(len(chosen), -1), estimates, table.rows)
    return QueryReport("count" if sum_of is None else f"sum({sum_of})", frame, redrawn, tuple(chosen), tuple(names))


def _answered(drawn: Iterator[Query], table: _QueryTable, count: int) -> tuple[list[Query], list[FloatArray], int]:
    """Take the first queries whose answer is not 0; return them, their answers and the number of others."""
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
            "No random query has an answer other than 0; leave queries out with ",
            Argument("queries", 0),
            ", or restrict fewer columns (in Python, dimensions=2).",
        )
    return chosen, truths, tried - len(chosen)


@dataclass(frozen=True, eq=False)
class _QueryTable:
    """Distinct tuples: the index of each value in the spread of its column, and the amounts of each tuple.

    The first of the ``amounts`` is the number of rows, the last the aggregate.
    """

    spreads: Sequence[Spread]
    codes: Sequence[IntArray]
    amounts: FloatArray

    @property
    def rows(self) -> float:
        """The number of rows."""
        return float(self.amounts[0].sum())

    def answer(self, query: Query) -> FloatArray:
        """Return the number of matching rows and the aggregate over them, as estimated by the spreads."""
        shares = {i: self.spreads[i].share(condition) for i, condition in query.items() if not condition.everything}
        # Start with the most selective predicate: tuples without a share are dropped at once.
        few_first = sorted(shares, key=lambda i: float((shares[i] > 0) @ self._rows_of[i]))
        left: NDArray[np.int64] | slice = slice(None)
        weight: FloatArray | float = 1.0
        for i in few_first:
            own = shares[i][self.codes[i][left]]
            kept = np.flatnonzero(own)
            weight = own[kept] * (weight if isinstance(weight, float) else weight[kept])
            left = kept if isinstance(left, slice) else left[kept]
        return np.asarray((self.amounts[:, left] * weight).sum(axis=1))

    @cached_property
    def _rows_of(self) -> list[FloatArray]:
        """The rows of each value, by column."""
        columns = zip(self.codes, self.spreads, strict=True)
        return [np.bincount(codes, self.amounts[0], spread.low.size).astype(np.float64) for codes, spread in columns]


def _read(
    source: Source,
    names: Sequence[str],
    sum_of: str | None,
    interpret: Callable[[str, pl.Series], tuple[Attribute, Spread, IntArray]],
) -> tuple[_QueryTable, list[Attribute]]:
    """Count the tuples of a table; ``interpret`` returns what the distinct values of a column cover."""
    columns = list(names) if sum_of is None else list(dict.fromkeys([*names, sum_of]))
    for column in columns:
        if column not in source.columns:
            raise MissingColumnError(column, source.columns)
    tuples = source.count(columns)
    rows = tuples[tuples.columns[-1]].to_numpy().astype(np.float64)
    attributes, spreads, codes = [], [], []
    for name in names:
        values = tuples[name].unique().sort()
        attribute, spread, index = interpret(name, values)
        attributes.append(attribute)
        spreads.append(spread)
        codes.append(tuples[name].replace_strict(values, index, return_dtype=pl.Int64).to_numpy().astype(np.int64))
    amounts = [rows]
    if sum_of is not None and sum_of in names:
        i = names.index(sum_of)
        amounts.append(rows * spreads[i].mean(_positions(attributes[i]))[codes[i]])
    elif sum_of is not None:
        amounts.append(rows * _numbers(sum_of, tuples[sum_of]))
    order = np.lexsort([*amounts, *codes])  # so that sums are rounded alike each time
    return _QueryTable(spreads, [code[order] for code in codes], np.array(amounts)[:, order]), attributes


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
    return UsageError(f"Column '{column}' holds no numbers to sum up; choose another one.", column=column)


def _restrictable(names: Sequence[str], dimensions: int | Sequence[str] | None, sum_of: str | None) -> list[int]:
    """Return the indices of the attributes that random queries may restrict."""
    free = [name for name in names if name != sum_of]
    if isinstance(dimensions, Sequence):
        wanted = [dimensions] if isinstance(dimensions, str) else list(dimensions)
        for name in wanted:
            if name not in free:
                raise UsageError(
                    f"Queries cannot restrict column '{name}': it is not a quasi-identifier, or it is summed up.",
                    column=name,
                )
        free = [name for name in free if name in wanted]
    elif dimensions is not None:
        whole_number(dimensions, "The number of dimensions", least=1)
        if dimensions > len(free):
            raise UsageError(
                f"Queries cannot restrict {dimensions} columns, as there {either(len(free), 'is', 'are')} only "
                f"{len(free)}; ask for fewer."
            )
    if not free:
        raise UsageError("There is no column that queries could restrict; name more quasi-identifiers.")
    return [names.index(name) for name in free]


def _parsed_query(query: Mapping[str, Any], attributes: Sequence[Attribute]) -> Query:
    """Parse a query of the user."""
    index = {attribute.name: i for i, attribute in enumerate(attributes)}
    for name in query:
        if name not in index:
            raise UsageError(f"A query restricts column '{name}', which is not a quasi-identifier.", column=name)
    return {index[name]: attributes[index[name]].predicate(condition) for name, condition in query.items()}


def _frame(chosen: Sequence[Query], truths: FloatArray, estimates: FloatArray, rows: float) -> pl.DataFrame:
    """Return the answers of both tables side by side."""
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


Query = Mapping[int, Predicate]
"""The predicates of a query, by the index of their attribute."""

_ALL = ValueSet(frozenset(), missing=True, everything=True)


def _random_queries(
    attributes: Sequence[Attribute],
    free: Sequence[int],
    dimensions: int,
    selectivity: float | None,
    random: np.random.Generator,
) -> Iterator[Query]:
    """Yield random queries forever, each on this many of the ``free`` attributes."""
    share = None if selectivity is None else selectivity ** (1 / dimensions)
    while True:
        chosen = random.permutation(len(free))[:dimensions] if dimensions < len(free) else np.arange(len(free))
        yield {free[i]: _predicate(attributes[free[i]], share, random) for i in sorted(chosen.tolist())}


def _predicate(attribute: Attribute, share: float | None, random: np.random.Generator) -> Predicate:
    if not attribute.present.size:
        return attribute.predicate(_ALL)
    if attribute.domain.positions is not None:
        return attribute.from_range(*_range(*attribute.ends, attribute.whole, share, random))
    return _node(attribute, share, random) if attribute.given else _subset(attribute, share, random)


def _range(
    least: float, greatest: float, whole: bool, share: float | None, random: np.random.Generator
) -> tuple[float, float]:
    """Draw both ends of a range; with a share, the position of a range that covers this share of the domain."""
    if share is None:
        ends = random.integers(int(least), int(greatest) + 1, 2) if whole else random.uniform(least, greatest, 2)
        return float(ends.min()), float(ends.max())
    if whole:
        numbers = int(greatest - least) + 1
        size = min(max(round(share * numbers), 1), numbers)
        low = least + float(random.integers(numbers - size + 1))
        return low, low + size - 1
    width = share * (greatest - least)
    start = random.uniform(least, greatest - width)
    return start, start + width


def _node(attribute: Attribute, share: float | None, random: np.random.Generator) -> Predicate:
    """Draw a value or an inner node, equally often; with a share, the ancestor of a random value nearest to it."""
    ancestors = attribute.domain.ancestors
    leaf = int(random.choice(attribute.present))
    if share is None:
        if random.random() < 0.5:
            return attribute.from_leaves(np.array([leaf]))
        level, block = attribute.inner_nodes[int(random.integers(len(attribute.inner_nodes)))]
    else:
        sizes = [np.count_nonzero(row == row[leaf]) / row.size for row in ancestors]
        level = int(np.argmin(np.abs(np.array(sizes) - share)))
        block = int(ancestors[level, leaf])
    under = np.flatnonzero(ancestors[level] == block)
    return attribute.predicate(_ALL) if under.size == ancestors.shape[1] else attribute.from_leaves(under)


def _subset(attribute: Attribute, share: float | None, random: np.random.Generator) -> Predicate:
    """Draw the number of values and then the values; with a share, as many values as that is."""
    count = attribute.present.size
    size = int(random.integers(1, count + 1)) if share is None else min(max(round(share * count), 1), count)
    return attribute.from_leaves(random.permutation(attribute.present)[:size])
