"""The table of a project: pages of rows and counts of values, never the whole table in memory."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.engines import open_file, open_source, to_lazy
from discreet.engines import reading as guarded
from discreet.errors import DataError, MissingColumnError
from discreet.report.ranges import round_edges
from discreet.runtime.table_path import ReadOptions, TablePath
from discreet.schema import (
    ColumnFacts,
    Finding,
    Role,
    Type,
    count_far_codes,
    count_missing_marks,
    detect,
    find_leaks,
    infer_type,
    numbers_of,
    text_among_numbers,
    text_of,
)

__all__ = ["BARS", "PAGE", "Counts", "Table", "bars", "number_bars", "shown_text"]

PAGE = 200
"""Most rows of a page."""
BARS = 40
"""Most bars of a chart."""
_CACHED = 64
"""Columns whose counts are kept in memory."""
_LONGEST = 300
"""Most characters of a cell that are shown."""
_SAMPLED = 10_000
"""About how many rows are searched for values of identifiers."""


@dataclass(frozen=True, eq=False)
class Counts:
    """Distinct values of a column, including null, and the number of rows of each."""

    values: pl.Series
    rows: NDArray[np.int64]

    @cached_property
    def present(self) -> NDArray[np.bool_]:
        """Mask of the values that are not missing."""
        return self.values.is_not_null().to_numpy()

    @cached_property
    def type(self) -> Type:
        """Type inferred from the values."""
        return infer_type(self.values)


class Table:
    """An uploaded table, with a copy as Parquet from which pages are read quickly."""

    def __init__(self, file: Path, rows: Path, reading: ReadOptions) -> None:
        """Read ``file`` and write its copy ``rows``."""
        self.file = file
        self.reading = reading
        location = TablePath(file, reading)
        source = open_source(location)
        self.parquet = rows
        opened = open_file(location)
        with guarded(f"'{file.name}'", opened.explain):
            opened.check_rows()
            plan = to_lazy(location)
            for name, dtype in plan.collect_schema().items():
                if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
                    raise DataError(
                        f"Column '{name}' contains lists, structs or bytes; turn it into text, numbers or dates first.",
                        column=name,
                    )
            plan.sink_parquet(rows, row_group_size=1 << 14)
        self.columns: list[str] = list(source.columns)
        self.rows: int = self.scan().select(pl.len()).collect().item()
        if not self.rows:
            raise DataError(f"'{file.name}' has no rows.")
        self._cache: dict[str, Counts] = {}
        self._lock = threading.Lock()

    def scan(self) -> pl.LazyFrame:
        """The table as a lazy frame."""
        return pl.scan_parquet(self.parquet, glob=False)

    def page(self, offset: int, limit: int) -> pl.DataFrame:
        """Page of rows as text."""
        return shown_text(self.scan().slice(offset, min(limit, PAGE)).collect())

    def counts(self, column: str) -> Counts:
        """Distinct values of a column with their counts, cached."""
        if column not in self.columns:
            raise MissingColumnError(column, self.columns)
        with self._lock:
            found = self._cache.get(column)
            if found is None:
                counted = open_source(self.scan()).count([column])
                found = Counts(counted.to_series(0), counted.to_series(1).to_numpy().astype(np.int64))
                while len(self._cache) >= _CACHED:
                    self._cache.pop(next(iter(self._cache)))
                self._cache[column] = found
            return found

    @cached_property
    def facts(self) -> list[dict[str, Any]]:
        """What is known about each column without any settings."""
        found = {column: detect(self._counted(column)) for column in self.columns}
        names = [column for column, finding in found.items() if finding.role is Role.IDENTIFIER]
        step = max(1, self.rows // _SAMPLED)
        sample = self.scan().gather_every(step).collect()
        leaks = find_leaks(sample, names, [column for column in self.columns if column not in names])
        leaked = {leak.column: leak.identifier for leak in leaks}
        return [self._facts(finding, leaked.get(column)) for column, finding in found.items()]

    def _counted(self, column: str) -> ColumnFacts:
        counts = self.counts(column)
        return ColumnFacts.of(column, counts.values, pl.Series(counts.rows))

    def _facts(self, finding: Finding, leaks: str | None) -> dict[str, Any]:
        counts = self.counts(finding.column)
        role, reasons = finding.role, finding.reasons
        if leaks is not None:
            role, reasons = Role.IDENTIFIER, (f"It contains values of the identifier '{leaks}'.", *reasons)
        text = text_among_numbers(finding.column, counts.values)
        direct = leaks is not None or any(seen.direct for seen in finding.kinds)
        stops = finding.stops or leaks is not None
        return {
            "name": finding.column,
            "type": str(counts.type),
            "distinct": int(counts.present.sum()),
            "missing": int(counts.rows[~counts.present].sum()),
            "marks": count_missing_marks(counts.values, counts.rows),
            "codes": count_far_codes(counts.values, counts.rows),
            "unique": finding.unique,
            "suggested": str(role),
            "why": " ".join((*reasons, *([] if text is None else [f"{text}."]))),
            "warning": " ".join(reasons) if stops or direct or finding.kinds else None,
            "direct": direct,
            "stops": stops,
            "certainty": finding.certainty,
        }

    def column(self, column: str, type: Type | None = None) -> dict[str, Any]:  # noqa: A002
        """Histogram and most frequent values of a column."""
        counts = self.counts(column)
        kind = type or counts.type
        known = counts.values.filter(counts.present)
        rows = counts.rows[counts.present]
        order = np.argsort(-rows, kind="stable")[:BARS]
        return {
            "name": column,
            "type": str(kind),
            "rows": self.rows,
            "distinct": len(known),
            "missing": int(counts.rows[~counts.present].sum()),
            "histogram": number_bars(column, known, rows, kind) or bars(known, rows),
            "top": [
                {"label": label, "count": int(rows[index])}
                for label, index in zip(text_of(known.gather(order)).to_list(), order.tolist(), strict=True)
            ],
        }


def shown_text(frame: pl.DataFrame) -> pl.DataFrame:
    """A page of rows as text, cut to the length of a cell."""
    texts = []
    for column in frame:
        dtype = column.dtype
        plain = column.cast(pl.String) if isinstance(dtype, pl.Categorical | pl.Enum) or dtype == pl.Null else column
        texts.append(text_of(plain).cast(pl.String).str.slice(0, _LONGEST).alias(column.name))
    return pl.DataFrame(texts)


def bars(values: pl.Series, rows: NDArray[np.int64], most: int = BARS) -> list[dict[str, Any]]:
    """Bars of the most frequent values, and one for all others."""
    order = np.argsort(-rows, kind="stable")
    named = order if len(order) <= most else order[: most - 1]
    texts = text_of(values.gather(named)).cast(pl.String).str.slice(0, _LONGEST).to_list()
    found = [{"label": text, "count": int(rows[index])} for text, index in zip(texts, named.tolist(), strict=True)]
    if len(order) > most:
        rest = order[most - 1 :]
        found.append({"label": f"{len(rest):,} others", "count": int(rows[rest].sum()), "others": len(rest)})
    return found


def number_bars(
    column: str, values: pl.Series, rows: NDArray[np.int64], kind: Type, most: int = BARS
) -> list[dict[str, Any]] | None:
    """Bars over numbers or dates with round ends; None for text and for values that are not numbers."""
    if not kind.numeric or len(values) <= most // 2:
        return None
    try:
        numbers = numbers_of(column, values, kind).astype(np.float64)
    except DataError:
        return None
    low, high = float(numbers.min()), float(numbers.max())
    if not high > low:
        return None
    edges = round_edges(low, high, whole=kind is not Type.DECIMAL, date=kind is Type.DATE)
    counts, _ = np.histogram(numbers, edges, weights=rows)
    return [
        {"label": _edge(start, kind), "to": _edge(end, kind), "count": int(count)}
        for start, end, count in zip(edges[:-1].tolist(), edges[1:].tolist(), counts, strict=True)
    ]


def _edge(number: float, kind: Type) -> str:
    if kind is Type.DATE:
        return str(np.datetime64("1970-01-01") + np.timedelta64(round(number), "D"))
    return f"{number:.6g}" if kind is Type.DECIMAL else str(round(number))
