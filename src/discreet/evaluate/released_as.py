"""The original values that released ones cover, from the release or its mapping, without parsing labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.evaluate.attribute import Attribute
from discreet.schema import ROOT, Hierarchy, make_domain, plain, text_of
from discreet.schema.mapping_file import read_mapping

__all__ = ["ReleasedAs", "bind", "split", "with_mapping"]


@dataclass(frozen=True, eq=False)
class ReleasedAs:
    """The hierarchy a column was released with, and the original values that each released value covers.

    It is accepted wherever the hierarchy of a quasi-identifier is. The text of a released value can mislead: if numbers
    are rounded, ``10`` may be the value 10 or everything from 8 to 12.
    """

    hierarchy: Any
    """As it was given; None without one."""
    values: Mapping[str, Sequence[str | None]]
    """The original values of each released value, as text; None is a missing value."""
    automatic: bool = False
    """Whether the hierarchy was made automatically, so that its groups depend on all rows."""
    from_table: bool = False
    """Whether its leaves are the values of the table, as with intervals and masks."""

    def among(self, column: pl.Series) -> ReleasedAs:
        """Restrict it to the values of a part of the table, so that nothing depends on the other rows.

        If the leaves of the hierarchy are the values of the table, only those in the part remain. An automatic
        hierarchy also loses its inner nodes except the released ones, as they were made from all rows.
        """
        if not (self.automatic or self.from_table) or not column.drop_nulls().len():
            return self
        found = text_of(plain(column.name, column.drop_nulls().unique().sort())).to_list()
        present = {*found, None}
        values = {text: [value for value in covered if value in present] for text, covered in self.values.items()}
        values = {text: covered for text, covered in values.items() if covered}
        if not self.automatic:
            tree = self.hierarchy
            if isinstance(tree, Hierarchy):
                tree = Hierarchy.from_rows([row for row in tree.rows() if row[0] in present])
            return replace(self, values=values, hierarchy=tree)
        released = {value: text for text, covered in values.items() for value in covered}
        rows = [[value, released.get(value, ROOT), ROOT] for value in found]
        return replace(self, values=values, hierarchy=Hierarchy.from_rows(rows))

    def widened(self, column: pl.Series) -> ReleasedAs:
        """Extend it by the values of rows that were left out before the release was made.

        All that is known about these values is that they are below the root, so its name covers them too.
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
    """Separate what is given for quasi-identifiers into plain hierarchies and :class:`ReleasedAs`."""
    if not isinstance(quasi_identifiers, Mapping):
        return quasi_identifiers, {}
    known = {name: tree for name, tree in quasi_identifiers.items() if isinstance(tree, ReleasedAs)}
    given = {name: known[name].hierarchy if name in known else tree for name, tree in quasi_identifiers.items()}
    return given, known


def with_mapping(quasi_identifiers: Any, mapping: Any) -> Any:
    """Complete quasi-identifiers without a hierarchy from the mapping of the release.

    If none are named, all columns of the mapping are taken.
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
    content = read_mapping(mapping)
    try:
        return {str(name): _from_mapping(column) for name, column in content["columns"].items()}
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
    """Bind a column of the original table to its hierarchy; return both.

    If none was given and released values cannot be interpreted without one, the automatic hierarchy is tried.
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
            return attribute, None  # the error without a hierarchy is the one to show
        return automatic, "auto"
    return attribute, None
