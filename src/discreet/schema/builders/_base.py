"""The base class of hierarchy builders: recipes that make a hierarchy from the distinct values of a column."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.runtime.parts import Family, Part
from discreet.schema._column import Column, Numbers, Wants, plain
from discreet.schema._hierarchy import Hierarchy, Level, plant
from discreet.schema._naming import Naming
from discreet.schema._types import Type, as_type, infer_type

__all__ = ["BUILDERS", "Builder", "LevelBuilder", "blocks_of_runs", "blocks_of_text"]


class Builder(Part, ABC):
    """A recipe for a hierarchy, chosen before any data is seen.

    The module of a builder has a function of the builder's name, which is what ``discreet`` offers under that name.
    """

    types: ClassVar[tuple[str, ...]] = ()
    """Column types it suits, as the studio offers it; empty if it suits all."""
    takes_tree: ClassVar[bool] = False
    """A job file gives one list or mapping as its only argument, as in ``{groups: {Government: [State, Local]}}``.

    If it is wrong, the job file's items are taken for several arguments.
    """

    @abstractmethod
    def build(self, values: pl.Series, type: Type | None = None, name: str = "values") -> Hierarchy:  # noqa: A002
        """Make the hierarchy of a column called ``name`` from its distinct values that are not missing."""

    @property
    def shown(self) -> str:
        """The text form for reports, which must not hold values of the data."""
        return self.text


class LevelBuilder(Builder):
    """A builder that says, level by level, which block each value of the column is in.

    Two functions help to write one: :func:`blocks_of_runs` for sorted keys and :func:`blocks_of_text` for names.
    """

    @property
    def wants(self) -> Wants:
        """The form in which it needs values: ``numbers``, ``dates``, ``text`` or None for any."""
        return None

    @abstractmethod
    def levels(self, column: Column) -> list[Level]:
        """Return the levels between the values and the root; each must nest in the next."""

    def named_levels(self, column: Column) -> tuple[list[Level], Naming]:
        """Return the levels, and how the names in them depend on the values of the column.

        Override it where they do, so that a release names nodes by released values only.
        """
        return self.levels(column), Naming.FIXED

    def build(
        self,
        values: pl.Series,
        type: Type | None = None,  # noqa: A002
        name: str = "values",
        rows: NDArray[np.int64] | None = None,
    ) -> Hierarchy:
        """Make the hierarchy of a column called ``name`` from its distinct values; missing ones are skipped.

        ``rows`` counts the rows of each value, by which :func:`discreet.auto` groups text.
        """
        known = plain(name, values)
        if rows is not None and known.null_count():
            rows = rows[known.is_not_null().to_numpy()]
        known = known.drop_nulls()
        kind = infer_type(known) if type is None else as_type(type)
        column = Column.read(name, known, kind, self.wants, rows)
        return plant(column.text, self.levels(column) if len(column) else [])[0]


def blocks_of_runs(keys: Numbers) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the block of each of some sorted keys, equal keys sharing one, and the index at which each block begins.

    >>> [array.tolist() for array in blocks_of_runs(np.array([3, 3, 7]))]
    [[0, 0, 1], [0, 2]]
    """
    new = np.ones(len(keys), dtype=np.bool_)
    new[1:] = keys[1:] != keys[:-1]
    return np.cumsum(new) - 1, np.flatnonzero(new)


def blocks_of_text(names: pl.Series) -> Level:
    """Return the block of each name, equal names sharing one, and the names of the blocks."""
    distinct = names.unique(maintain_order=True)
    codes = names.cast(pl.Enum(distinct)).to_physical().to_numpy().astype(np.int64)
    return codes, distinct.to_list()


BUILDERS: Family[Builder] = Family("hierarchy", Builder, "discreet.schema.builders", "discreet.builders")  # type: ignore[type-abstract]
