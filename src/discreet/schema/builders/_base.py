"""What a builder is: a recipe that makes a hierarchy from the distinct values of a column."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.schema._column import Column, Numbers, Wants, plain
from discreet.schema._hierarchy import Hierarchy, Level, plant
from discreet.schema._naming import Naming
from discreet.schema._types import Type, as_type, infer_type

__all__ = ["Builder", "LevelBuilder", "blocks_of_runs", "blocks_of_text"]


class Builder(ABC):
    """A recipe for a hierarchy, given before any data is seen."""

    name: ClassVar[str]

    @abstractmethod
    def build(self, values: pl.Series, type: Type | None = None, name: str = "values") -> Hierarchy:  # noqa: A002
        """Make the hierarchy of a column called ``name`` from its distinct values that are not missing."""

    def settings(self) -> tuple[Sequence[Any], Mapping[str, Any]]:
        """Return the plain and the named arguments that make this builder again."""
        return (), {}

    @property
    def text(self) -> str:
        """The text form, which parses back to an equal builder."""
        from discreet.problem._text import format_text

        arguments, options = self.settings()
        return format_text(self.name, list(arguments), dict(options))

    @property
    def shown(self) -> str:
        """The text form for reports, which must not hold values of the data."""
        return self.text

    def __str__(self) -> str:
        return self.text


class LevelBuilder(Builder):
    """A builder that says, level by level, which block each value of the column is in.

    ``wants`` is what it must have the values as. Two functions help to write one: ``blocks_of_runs`` for
    sorted keys and ``blocks_of_text`` for names.
    """

    @property
    def wants(self) -> Wants:
        """Numbers, dates, text, or anything (None)."""
        return None

    @abstractmethod
    def levels(self, column: Column) -> list[Level]:
        """Return the levels between the values and the root; each must nest in the next."""

    def named_levels(self, column: Column) -> tuple[list[Level], Naming]:
        """Return the levels, and how the names in them depend on which values the column has.

        Override it where they do: what a release shows is then named by the values of released rows.
        """
        return self.levels(column), Naming.FIXED

    def build(
        self,
        values: pl.Series,
        type: Type | None = None,  # noqa: A002
        name: str = "values",
        rows: NDArray[np.int64] | None = None,
    ) -> Hierarchy:
        """Make the hierarchy of a column called ``name`` from its distinct values that are not missing.

        ``rows`` tells how many rows have each value; :func:`auto` makes better groups of text for it.
        """
        known = plain(name, values)
        if rows is not None and known.null_count():
            rows = rows[known.is_not_null().to_numpy()]
        known = known.drop_nulls()
        kind = infer_type(known) if type is None else as_type(type)
        column = Column.read(name, known, kind, self.wants, rows)
        return plant(column.text, self.levels(column) if len(column) else [])[0]


def blocks_of_runs(keys: Numbers) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the block of each of some sorted keys, equal keys forming one, and where each block begins.

    >>> [array.tolist() for array in blocks_of_runs(np.array([3, 3, 7]))]
    [[0, 0, 1], [0, 2]]
    """
    new = np.ones(len(keys), dtype=np.bool_)
    new[1:] = keys[1:] != keys[:-1]
    return np.cumsum(new) - 1, np.flatnonzero(new)


def blocks_of_text(names: pl.Series) -> Level:
    """Return the block of each name, equal names forming one, and the names of the blocks."""
    distinct = names.unique(maintain_order=True)
    codes = names.cast(pl.Enum(distinct)).to_physical().to_numpy().astype(np.int64)
    return codes, distinct.to_list()
