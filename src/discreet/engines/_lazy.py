"""Count and recode a table on the engine that holds it; only the count table comes to Python."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import narwhals as nw
import polars as pl

from discreet.engines._files import TableFile
from discreet.engines._names import unused
from discreet.engines._parts import TableFiles
from discreet.engines._recoding import Recoding
from discreet.engines._relation import Relation
from discreet.engines._relation_recode import recode_relation
from discreet.engines._typing import Types
from discreet.engines._typing_sql import typed_relation
from discreet.engines._weights import ADDED

__all__ = ["RelationSource"]


class RelationSource:
    """A DuckDB relation, a Spark DataFrame or an Ibis table, which may stand for a file."""

    def __init__(
        self, relation: Relation, *, wrapped: bool = False, file: TableFile | TableFiles | None = None
    ) -> None:
        self.relation = relation
        self.read_again = file is not None
        self.takes_codes = self.read_again and relation.backend.kind == "duckdb"
        self.separator = file.dialect.separator if file is not None and file.dialect is not None else None
        self.kind = relation.backend.kind
        self.columns = relation.columns
        self.wrapped = wrapped
        self.types = Types()

    def count(self, by: Sequence[str], weights: str | None = None) -> pl.DataFrame:
        """Return the distinct combinations and how many rows have each."""
        counted = self.relation.groups({self.relation.plain(column): column for column in by}, weights)
        added = [unused(name, by) for name in ("rows", *([] if weights is None else ADDED))]
        return counted.rename(dict(zip(counted.columns, [*by, *added], strict=True)))

    def recode(self, recoding: Recoding, *, to_text: bool = False) -> Any:
        """Return a plan for the released table."""
        with self.relation.running():
            released = recode_relation(self.relation, recoding)
            if self.separator is not None:
                released = self._typed(released, recoding)
        return nw.from_native(released) if self.wrapped else released

    def _typed(self, released: Any, recoding: Recoding) -> Any:
        """Give the columns of delimited text their types."""
        names = [column for column in self.columns if column not in recoding.drop]
        others = {*recoding.changed, *recoding.hidden}
        dtypes = self.relation.dtypes
        texts = [c for c in names if c not in others and isinstance(dtypes[self.relation.plain(c)], nw.String)]
        return typed_relation(released, self.relation.backend, texts, names, self.types)  # type: ignore[arg-type]

    def collect(self, released: Any) -> Any:
        """Return the plan as it is: its rows stay where they are until somebody asks for them."""
        return released

    def guard(self) -> AbstractContextManager[None]:
        """Turn errors of the engine into a DataError."""
        return self.relation.running()
