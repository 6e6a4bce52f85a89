"""What the released values of a column stand for, where that is known from the release itself and need not be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.evaluate._attribute import Attribute
from discreet.schema import Hierarchy, make_domain
from discreet.schema._column import plain, text_of
from discreet.schema._hierarchy import ROOT

__all__ = ["ReleasedAs", "bind", "split", "with_mapping"]


@dataclass(frozen=True, eq=False)
class ReleasedAs:
    """The hierarchy a column was released with, and the original values each released value stands for.

    It may be given wherever a hierarchy of a quasi-identifier is. The text of a released value alone may mislead: with
    numbers that are rounded, ``10`` may be the value 10, or all from 8 to 12.
    """

    hierarchy: Any
    """As it was given; None where there was none."""
    values: Mapping[str, Sequence[str | None]]
    """For each released value the original ones, as text; None is a missing one."""
    automatic: bool = False
    """Whether the hierarchy was made because none was given, so that its groups depend on all rows."""
    from_table: bool = False
    """Whether its leaves are the values of the table, as with intervals or masks."""

    def among(self, column: pl.Series) -> ReleasedAs:
        """Return the same for a part of the table, so that nothing depends on the other rows.

        Where the leaves of the hierarchy are the values of the table, only those that are there are left. An automatic
        hierarchy also loses its other groups, which were made from all rows.
        """
        if not (self.automatic or self.from_table) or not column.drop_nulls().len():
            return self
        found = text_of(plain(column.name, column.drop_nulls().unique().sort())).to_list()
        there = {*found, None}
        values = {text: [value for value in stands_for if value in there] for text, stands_for in self.values.items()}
        values = {text: stands_for for text, stands_for in values.items() if stands_for}
        if not self.automatic:
            tree = self.hierarchy
            if isinstance(tree, Hierarchy):
                tree = Hierarchy.from_rows([row for row in tree.rows() if row[0] in there])
            return replace(self, values=values, hierarchy=tree)
        released = {value: text for text, stands_for in values.items() for value in stands_for}
        rows = [[value, released.get(value, ROOT), ROOT] for value in found]
        return replace(self, values=values, hierarchy=Hierarchy.from_rows(rows))

    def widened(self, column: pl.Series) -> ReleasedAs:
        """Return the same for a table with more values, those of rows that were left out before the release was made.

        Nothing is known about them but that they are under the root, and that the name of the root stands for them too.
        """
        if self.hierarchy is not None and not isinstance(self.hierarchy, Hierarchy):
            return self
        found = text_of(plain(column.name, column.drop_nulls().unique().sort()))
        if self.hierarchy is None:
            known = {value for values in self.values.values() for value in values}
            new = [value for value in found.to_list() if value not in known]
            return replace(self, values=self._with_new(ROOT, new)) if known and new else self
        new = found.filter(pl.Series(self.hierarchy.find(found) < 0, dtype=pl.Boolean)).to_list()
        rows = self.hierarchy.rows()
        if not new or not rows or len(rows[0]) < 2:
            return self
        root = rows[0][-1]
        rows += [[*[value] * (len(rows[0]) - 1), root] for value in new]
        return replace(self, hierarchy=Hierarchy.from_rows(rows), values=self._with_new(root, new))

    def _with_new(self, root: str, new: Sequence[str]) -> dict[str, Sequence[str | None]]:
        return {text: [*known, *new] if text == root else known for text, known in self.values.items()}


def split(quasi_identifiers: Any) -> tuple[Any, dict[str, ReleasedAs]]:
    """Return quasi-identifiers with plain hierarchies, and those of which more is known."""
    if not isinstance(quasi_identifiers, Mapping):
        return quasi_identifiers, {}
    known = {name: tree for name, tree in quasi_identifiers.items() if isinstance(tree, ReleasedAs)}
    given = {name: known[name].hierarchy if name in known else tree for name, tree in quasi_identifiers.items()}
    return given, known


def with_mapping(quasi_identifiers: Any, mapping: Any) -> Any:
    """Return quasi-identifiers, those without a hierarchy as a mapping of the release knows them.

    All columns of the mapping are meant where none is named.
    """
    if mapping is None:
        return quasi_identifiers
    known = mapping_columns(mapping)
    if not quasi_identifiers:
        return known
    if isinstance(quasi_identifiers, Mapping):
        return {name: known.get(name) if tree is None else tree for name, tree in quasi_identifiers.items()}
    names = [quasi_identifiers] if isinstance(quasi_identifiers, str) else list(quasi_identifiers)
    return {name: known.get(name) for name in names}


def mapping_columns(mapping: Any) -> dict[str, ReleasedAs]:
    """Return what a mapping, as a file or as plain data, says about the columns it recodes."""
    from discreet.release._mapping import read_mapping

    told = read_mapping(mapping)
    try:
        return {str(name): _from_mapping(column) for name, column in told["columns"].items()}
    except (KeyError, TypeError, AttributeError, ValueError):
        raise DataError("The mapping is not as it was written; write it again.", topic="mapping") from None


def _from_mapping(column: Mapping[str, Any]) -> ReleasedAs:
    released = column["values"] if column["released"] is None else column["released"]
    values: dict[str, list[str | None]] = {}
    for text, value in zip(released, column["values"], strict=True):
        values.setdefault(text, []).append(value)
    absent = (column["missing"] or {}).get("released")
    if absent is not None:
        values.setdefault(absent, []).append(None)
    tree = column.get("hierarchy")
    if tree is None:
        return ReleasedAs(None, values)
    return ReleasedAs(Hierarchy.from_rows(tree["rows"]), values, bool(tree["automatic"]))


def bind(
    name: str, values: pl.Series, rows: NDArray[np.int64], hierarchy: Any, kind: Any, released: pl.Series
) -> tuple[Attribute, Any]:
    """Bind a column of the original table to its hierarchy; return it, and the hierarchy that explains the release.

    Where none was given and released values cannot be read without one, it is the automatic one if that explains them.
    """
    if isinstance(hierarchy, ReleasedAs):
        hierarchy = hierarchy.widened(values)
        domain = make_domain(name, values, hierarchy.hierarchy, type=kind, rows=rows, needed=False)
        return Attribute(domain, hierarchy.values), hierarchy
    attribute = Attribute(make_domain(name, values, hierarchy, type=kind, rows=rows, needed=False))
    if hierarchy is not None:
        return attribute, hierarchy
    try:
        attribute.released(released)
    except DataError:
        automatic = Attribute(make_domain(name, values, "auto", type=kind, rows=rows))
        try:
            automatic.released(released)
        except DataError:
            return attribute, None  # the sentence about the column without a hierarchy is the one to show
        return automatic, "auto"
    return attribute, None
