"""A table that is counted and recoded on its engine; only counts and small samples come to Python."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import narwhals as nw
import polars as pl

from discreet.engines.column_profile import ColumnProfiles
from discreet.engines.columns import unused
from discreet.engines.files.table_file import TableFile
from discreet.engines.files.table_files import TableFiles
from discreet.engines.recoding import Recoding
from discreet.engines.relation.column_profile import profile_relation
from discreet.engines.relation.people import number_people
from discreet.engines.relation.recode import recode_relation
from discreet.engines.relation.relation import Relation
from discreet.engines.relation.text_types import typed_relation
from discreet.engines.text_types import Types
from discreet.engines.weights import TOTALS

__all__ = ["RelationSource"]


class RelationSource:
    """A DuckDB relation, a Spark DataFrame or an Ibis table, possibly opened from a file."""

    def __init__(
        self, relation: Relation, *, wrapped: bool = False, file: TableFile | TableFiles | None = None
    ) -> None:
        self.relation = relation
        self.read_again = file is not None
        self.separator = file.dialect.separator if file is not None and file.dialect is not None else None
        self.kind = relation.backend.kind
        self.columns = relation.columns
        self.wrapped = wrapped
        self.types = Types()

    def count(self, by: Sequence[str], weights: str | None = None) -> pl.DataFrame:
        """Return the distinct combinations and the number of rows of each."""
        counted = self.relation.groups({self.relation.plain(column): column for column in by}, weights)
        counts = [unused(name, by) for name in ("rows", *([] if weights is None else TOTALS))]
        return counted.rename(dict(zip(counted.columns, [*by, *counts], strict=True)))

    def number_people(self, columns: Sequence[str]) -> None:
        """Add to the plan that the values of some columns are replaced by numbers."""
        with self.relation.running():
            for column in columns:
                self.relation = number_people(self.relation, column)

    def profile(self, columns: Sequence[str], beside: Sequence[str] = ()) -> ColumnProfiles:
        """Profile some columns."""
        return profile_relation(self.relation, columns, beside)

    def with_codes(self, recoding: Recoding) -> Recoding:
        """Return the recoding with an Enum instead of text, if the engine has one and its plan is not handed out."""
        if not self.read_again or self.relation.backend.kind != "duckdb":
            return recoding
        types = self.relation.dtypes
        texts = [column for column in self.columns if types[self.relation.plain(column)] == nw.String]
        return recoding.coded([] if self.separator is not None else texts)

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
        """Return the plan as it is: its rows stay on the engine."""
        return released

    def guard(self) -> AbstractContextManager[None]:
        """Translate errors of the engine."""
        return self.relation.running()
