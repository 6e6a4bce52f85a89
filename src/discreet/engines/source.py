"""The interface of a table: its columns, one GROUP BY, one recoding and a profile of some columns."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, runtime_checkable

import polars as pl

from discreet.engines.column_profile import ColumnProfiles
from discreet.engines.recoding import Recoding

__all__ = ["HoldsRows", "Source"]


class Source(Protocol):
    """A table that is counted and recoded where it is."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""

    @property
    def kind(self) -> str:
        """The format of a file or the library of a frame, for messages."""

    @property
    def read_again(self) -> bool:
        """Whether a release that was written to a file is later read from that file."""

    @property
    def separator(self) -> str | None:
        """The separator of delimited text."""

    def count(self, by: Sequence[str], weights: str | None = None) -> pl.DataFrame:
        """Return the distinct combinations of some columns, followed by the number of rows of each.

        A missing value (null, None, NaN) is a value like any other and comes back as null. With survey ``weights``,
        the columns of :data:`discreet.engines.weights.TOTALS` follow.
        """

    def number_people(self, columns: Sequence[str]) -> None:
        """From now on, have numbers in place of the values of columns that say whose row it is.

        Equal values have equal numbers, in the order of the values, and a missing one stays missing. The engine numbers
        them, so that no such value comes to the caller.
        """

    def profile(self, columns: Sequence[str], beside: Sequence[str] = ()) -> ColumnProfiles:
        """Profile some columns, each by itself, and sample them together with those ``beside``."""

    def with_codes(self, recoding: Recoding) -> Recoding:
        """Return a recoding to an Enum instead of text, if rows may hold one until they are shuffled."""

    def recode(self, recoding: Recoding, *, to_text: bool = False) -> Any:
        """Return the released table as the kind of frame that came in, which is not modified.

        With ``to_text`` the result will only be written as text, so types do not matter.
        """

    def collect(self, released: Any) -> Any:
        """Run a recoding: a lazy polars plan is collected; a plan of another engine stays one."""

    def guard(self) -> AbstractContextManager[None]:
        """Translate errors of running a plan of this source into one sentence."""


@runtime_checkable
class HoldsRows(Protocol):
    """A source that may have its rows in memory."""

    def rows(self, columns: Sequence[str], *, few_equal: bool = False) -> pl.DataFrame | None:
        """Return some normalized columns, text possibly as categories; None if there are many rows or none at hand.

        With ``few_equal`` rows, as where each says whose it is, counting equal ones first only pays for very many.
        """
