"""How many people of the population have the released values of each class.

Released values are interpreted from their text, as any reader would: as a value, a range, a set or a node of a
hierarchy. Nothing here knows which recoding made them. A column becomes a relation of the released values and the
population values they cover, and the relations of all columns are joined.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import DataError, did_you_mean
from discreet.pipeline.audit.readers import can_read_again, open_table
from discreet.pipeline.audit.values import nan_as_null
from discreet.runtime.locations import is_url
from discreet.runtime.plurals import amount
from discreet.runtime.read_options import EngineChoice
from discreet.schema import Domain, Hierarchy, Interval, Type, make_domain, parse_block, plain, text_of

__all__ = ["AuditedPopulation", "recount_population"]

_PAIRS = 1 << 22
"""About the most pairs of a class and a combination of population values to hold in memory."""
_DAY = datetime.timedelta(days=1)


@dataclass(frozen=True, eq=False)
class AuditedPopulation:
    """The population that a release was drawn from, and what explains released values.

    ``table`` is a table of any kind, or a frame that was counted by the quasi-identifiers: its last column are the
    people.
    """

    table: Any
    hierarchies: Mapping[str, Any]
    types: Mapping[str, Any]
    engine: EngineChoice | None = None
    is_counted: bool = False

    def people_of(self, classes: pl.DataFrame, columns: Sequence[str]) -> NDArray[np.float64]:
        """Return how many people have the released values of each class; ``classes`` has a row for each."""
        if classes.is_empty():
            return np.zeros(0)
        if self.is_counted:
            counted = pl.DataFrame([*(self.table[column] for column in columns), self.table.to_series(-1)])
        else:
            counted = self._count(columns)
        number = counted.to_series(-1).cast(pl.Int64)
        released, people, relations = {}, {"people": number}, {}
        for i, column in enumerate(columns):
            shown, values = classes.to_series(i), counted.to_series(i)
            kinds, kinds_shown = values.unique(maintain_order=True), shown.unique(maintain_order=True)
            relations[f"c{i}"] = self._relation(column, kinds_shown, kinds, _rows(values, number, kinds))
            released[f"c{i}"], people[f"c{i}"] = _codes(shown, kinds_shown), _codes(values, kinds)
        found = np.zeros(classes.height)
        for pairs in _matching(pl.DataFrame(released).with_row_index("class"), pl.DataFrame(people), relations):
            found[pairs["class"].to_numpy()] = pairs["people"].to_numpy()
        return found

    def _count(self, columns: Sequence[str]) -> pl.DataFrame:
        """Count the population by some columns, in this order."""
        is_file = isinstance(self.table, str | PathLike) and not is_url(self.table)
        table = open_table(self.table, self.engine if is_file else None, columns)
        for column in columns:
            if column not in table.columns:
                hint = did_you_mean(column, table.columns) or "it needs every quasi-identifier of the data."
                raise DataError(f"The population has no column '{column}'; {hint}", column=column)
        counted = nan_as_null(table.groups({f"q{i}": column for i, column in enumerate(columns)}))
        if counted.is_empty():
            raise DataError("The population has no people; give the table of those the data was drawn from.")
        return counted

    def _relation(self, column: str, released: pl.Series, values: pl.Series, rows: NDArray[np.int64]) -> pl.DataFrame:
        """Return the pairs of a released value and a population value that it covers, by their indices.

        Without a hierarchy, the automatic one is tried if released values cannot be interpreted.
        """
        hierarchy, kind = self.hierarchies.get(column), self.types.get(column)
        found = _Interpreter(make_domain(column, values, hierarchy, type=kind, rows=rows, needed=False)).pairs(released)
        if isinstance(found, int) and hierarchy is None:
            automatic = _Interpreter(make_domain(column, values, "auto", type=kind, rows=rows)).pairs(released)
            found = found if isinstance(automatic, int) else automatic
        if isinstance(found, int):
            raise DataError(
                f"Column '{column}' of the release has {amount(found, 'value')} that neither the population nor its "
                "hierarchy knows; give the hierarchy it was released with.",
                column=column,
            )
        return found


def recount_population(table: Any, columns: Sequence[str]) -> pl.DataFrame | None:
    """Count a population afresh by some columns; None if its table cannot be read again."""
    if not can_read_again(table):
        return None
    counted = AuditedPopulation(table, {}, {})._count(columns)
    return counted.rename(dict(zip(counted.columns, columns, strict=False)))


def _matching(
    classes: pl.DataFrame, people: pl.DataFrame, relations: Mapping[str, pl.DataFrame]
) -> Iterator[pl.DataFrame]:
    """Yield the number of ``people`` of each ``class``, for some classes at a time.

    A column in which every population value has at most one released value is an equality: its released values replace
    the population values. The other columns filter what the equalities leave.
    """
    equal = [name for name, relation in relations.items() if relation["value"].is_unique().all()]
    for name in equal:
        relation = relations[name].select("released", pl.col("value").alias(name))
        people = people.join(relation, on=name).drop(name).rename({"released": name})
    others = [name for name in relations if name not in equal]
    people = people.group_by(list(relations)).agg(pl.col("people").sum())
    most = max(int(people.group_by(equal).len()["len"].max() or 1) if equal else people.height, 1)  # type: ignore[arg-type]
    for batch in classes.iter_slices(max(_PAIRS // most, 1)):
        renamed = people.rename({name: f"{name} of people" for name in others})
        pairs = batch.join(renamed, on=equal) if equal else batch.join(renamed, how="cross")
        for name in others:
            pairs = pairs.join(
                relations[name], left_on=[name, f"{name} of people"], right_on=["released", "value"], how="semi"
            )
        yield pairs.group_by("class").agg(pl.col("people").sum())


class _Interpreter:
    """Finds the values of a column that a released value covers."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        labels = [[name for name in level if name is not None] for level in domain.labels]
        leaves = len(labels[0])
        self.tree = Hierarchy(labels, domain.ancestors[:, :leaves].copy())
        self.missing = np.arange(domain.ancestors.shape[1]) >= leaves

    def pairs(self, released: pl.Series) -> pl.DataFrame | int:
        """Return the pairs of a released value and a value it covers; the number of unknown ones if there are any."""
        texts = text_of(plain(self.domain.name, released)).to_list()
        own = self.tree.find(pl.Series([text or "" for text in texts], dtype=pl.String)).tolist()
        covered = [self._covered(text, leaf) for text, leaf in zip(texts, own, strict=True)]
        leaves = [each for each in covered if each is not None]
        if len(leaves) < len(covered):
            return len(covered) - len(leaves)
        value_of_leaf = pl.DataFrame({"leaf": self.domain.codes}).with_row_index("value")
        sizes = [each.size for each in leaves]
        pairs = pl.DataFrame(
            {
                "released": np.repeat(np.arange(len(texts)), sizes).astype(np.int64),
                "leaf": np.concatenate([np.zeros(0, dtype=np.int64), *leaves]).astype(self.domain.codes.dtype),
            }
        )
        return pairs.join(value_of_leaf, on="leaf").select("released", pl.col("value").cast(pl.Int64))

    def _covered(self, text: str | None, leaf: int) -> NDArray[np.intp] | None:
        """Return the leaves that a released value covers; None if it is unknown. ``leaf`` is the one of its name."""
        if text is not None and leaf >= 0 and not self.tree.nodes(text)[1:]:
            return np.array([leaf])
        block = parse_block(text, self.tree)
        missing = np.flatnonzero(self.missing & block.missing)
        if isinstance(block, Interval):
            within = self._within(block)
            return None if within is None else np.append(within, missing)
        if block.everything:
            return np.arange(self.missing.size)
        values = sorted(block.values)
        leaves = self.tree.find(pl.Series(values, dtype=pl.String))
        if (leaves >= 0).all():
            return np.append(np.unique(leaves), missing)
        is_number = self.domain.positions is not None and len(values) == 1 and self._is_number(values[0])
        return missing if is_number else None

    def _within(self, block: Interval) -> NDArray[np.intp] | None:
        """Return the leaves with numbers or dates in a range; None if they are of another kind than its ends."""
        low, high = (self._position(end) for end in (block.left, block.right))
        if self.domain.positions is None or math.isnan(low) or math.isnan(high):
            return None
        above = self.domain.positions >= low if block.closed in ("both", "left") else self.domain.positions > low
        below = self.domain.positions <= high if block.closed in ("both", "right") else self.domain.positions < high
        return np.flatnonzero(above & below)

    def _position(self, end: float | datetime.date) -> float:
        """Return the end of a range as a number, days since 1970 for dates; NaN if the column holds the other kind."""
        if not isinstance(end, datetime.date):
            return float(end) if self.domain.type is not Type.DATE else math.nan
        if end in (type(end).min, type(end).max):
            return -math.inf if end == type(end).min else math.inf
        time = end if isinstance(end, datetime.datetime) else datetime.datetime.combine(end, datetime.time())
        days = (time.replace(tzinfo=None) - datetime.datetime(1970, 1, 1)) / _DAY
        return days if self.domain.type is Type.DATE else math.nan

    def _is_number(self, text: str) -> bool:
        """Whether text that is no value of the population is a number or date nevertheless, such as a mean."""
        dtype = pl.Date() if self.domain.type is Type.DATE else pl.Float64()
        column = pl.Series([text], dtype=pl.String)
        read = column.str.to_date(strict=False) if dtype == pl.Date else column.cast(dtype, strict=False)
        return read.null_count() == 0


def _codes(values: pl.Series, distinct: pl.Series) -> pl.Series:
    return values.replace_strict(distinct, pl.int_range(len(distinct), eager=True), return_dtype=pl.Int64)


def _rows(values: pl.Series, rows: pl.Series, distinct: pl.Series) -> NDArray[np.int64]:
    """Return the number of people with each distinct value."""
    counts = pl.DataFrame({"code": _codes(values, distinct), "rows": rows}).group_by("code").agg(pl.col("rows").sum())
    return counts.sort("code")["rows"].to_numpy().astype(np.int64)
