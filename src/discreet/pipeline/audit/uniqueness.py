"""How many rows are singled out by columns that are released unchanged."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from discreet.errors import DiscreetError
from discreet.pipeline.audit.table import AuditedTable

__all__ = ["uniqueness"]


def uniqueness(
    table: AuditedTable, columns: Sequence[str], unchanged: Sequence[str]
) -> tuple[dict[str, float], float | None]:
    """Return the share of rows that each column released unchanged singles out, and all columns together.

    Nothing is promised about these columns, so those that cannot be grouped are not measured.
    """
    present = [column for column in unchanged if column in table.columns]
    if not present:
        return {}, None
    try:
        cells = table.groups({f"c{i}": column for i, column in enumerate([*present, *columns])})
    except (DiscreetError, pl.exceptions.PolarsError):
        return {}, None
    each = {
        column: _single(cells.filter(pl.col(f"c{i}").is_not_null()).group_by(f"c{i}").agg(pl.col("rows").sum())["rows"])
        for i, column in enumerate(present)
    }
    return each, _single(cells["rows"]) if len(present) > 1 else None


def _single(rows: pl.Series) -> float:
    """Return the share of rows that are alone in their group."""
    return float((rows == 1).sum()) / max(int(rows.sum()), 1)
