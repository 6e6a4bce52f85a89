"""Carry out a recoding on an engine: joins with small tables, and never a row in Python.

Which of several equal rows is meant is decided by an order of all columns. Rows that are equal in all of them are
interchangeable, so a plan gives the same result every time it is run.
"""

from __future__ import annotations

from typing import Any

import narwhals as nw
import polars as pl

from discreet.engines.recoding import UNKNOWN, PartsPlan, Recoding, SharesPlan, make_plan
from discreet.engines.relation.relation import Relation, dtype_of

__all__ = ["recode_relation"]

Frame = nw.LazyFrame[Any]


def recode_relation(relation: Relation, recoding: Recoding) -> Any:
    """Return the plan for a released table, under the original column names."""
    return _Recode(relation, recoding).plan()


class _Recode:
    """One recoding. Steps only ever add columns; ``out`` says what is finally released of each."""

    def __init__(self, relation: Relation, recoding: Recoding) -> None:
        self.relation = relation
        self.recoding = recoding
        self.out = {column: nw.col(relation.plain(column)) for column in relation.columns}
        self.keys = {column: relation.key_name(column) for column in recoding.keys}

    def plan(self) -> Any:
        """Put the steps together."""
        relation, steps = self.relation, make_plan(self.recoding)
        frame = self._with_keys(relation.frame)
        if steps.required:
            frame = frame.filter(*(~nw.col(self.keys[column]).is_null() for column in steps.required))
        for column, people in steps.left_out.items():
            gone = relation.upload(people.to_frame("gone_person"))
            frame = frame.join(gone, left_on=[self.keys[column]], right_on=["gone_person"], how="anti")
            frame = frame.filter(~nw.col(self.keys[column]).is_null())  # or else Ibis continues this join with the next
        if steps.shares is not None:
            frame = self._assign_groups(frame, steps.shares)
        lookups = list(steps.lookups)
        if steps.parts is not None:
            lookups += steps.parts.cells
            if not steps.parts.records and steps.parts.texts.values.dtype != pl.String:
                lookups.append(steps.parts.texts)
        frame = relation.look_up(frame, lookups, self.keys)
        self.out |= {column: nw.col(name) for column, name in steps.released.items()}
        self.out |= {column: _constant(value) for column, value in steps.constants.items()}
        if steps.no_rows:
            frame = frame.head(0)
        elif steps.suppressed is not None:
            classes = steps.suppressed.rename(lambda name: f"gone_{name}")
            frame = frame.join(
                relation.upload(classes), left_on=steps.suppressed.columns, right_on=classes.columns, how="anti"
            )
        if steps.parts is not None:
            frame = self._suppress_parts(frame, steps.parts)
        return self._finish(frame)

    def _with_keys(self, frame: Frame) -> Frame:
        """Add the normalized key columns."""
        keys = {name: c for c, name in self.keys.items() if name != self.relation.plain(c)}
        frame = frame.with_columns(self.relation.key(c).alias(name) for name, c in keys.items()) if keys else frame
        for column in self.recoding.kept:
            if self.relation.dtypes[self.relation.plain(column)].is_float():
                self.out[column] = nw.col(self.keys[column])
        return frame

    def _finish(self, frame: Frame) -> Any:
        """Select what is released. Categories become text: their type lists the values of suppressed rows too."""
        relation = self.relation
        kept = [column for column in relation.columns if column not in self.recoding.drop]
        released = {column: self.out[column].alias(relation.plain(column)) for column in kept}
        for column in kept:
            changed = column in self.recoding.changed or column in self.recoding.hidden
            if not changed and isinstance(relation.dtypes[relation.plain(column)], nw.Enum | nw.Categorical):
                released[column] = nw.col(relation.plain(column)).cast(nw.String)
        return relation.backend.renamed(frame.select(*released.values()).to_native(), kept)

    def _suppress_parts(self, frame: Frame, parts: PartsPlan) -> Frame:
        """Leave out the last rows of each part, or make the sensitive values of its rows unknown."""
        keys = [name for name in parts.lines.columns if name not in ("part_id", "left_out")]
        lines = parts.lines.rename({name: f"line_{name}" for name in keys})
        frame = self.relation.join(frame, lines, {name: f"line_{name}" for name in keys})
        part = nw.col("part_id")
        if parts.records:
            nth = part.cum_count(reverse=True).over("part_id", order_by=self.relation.order)
            within = frame.filter(~part.is_null()).with_columns(nth=nth)
            within = within.filter(nw.col("nth") > nw.col("left_out")).drop("nth")
            return nw.concat([frame.filter(part.is_null()), within])
        text = parts.texts.values.dtype == pl.String
        known = self.out[parts.column] if text else nw.col("part_text")
        self.out[parts.column] = nw.when(part.is_null()).then(known).otherwise(nw.lit(UNKNOWN))
        return frame

    def _assign_groups(self, frame: Frame, shares: SharesPlan) -> Frame:
        """Add the released values of each row's group; rows of suppressed groups are left out."""
        relation = self.relation
        frame = relation.look_up(frame, shares.codes, self.keys)
        codes = [name for lookup in shares.codes for name in lookup.results]
        tuples = shares.tuples.rename({**{name: f"tuple_{name}" for name in codes}, "group_id": "main_group"})
        if shares.dealt is not None:
            split = pl.col("tuple_id").is_in(shares.dealt["tuple_id"].unique().implode())
            tuples = tuples.with_columns(split=split)
        frame = relation.join(frame, tuples, {name: f"tuple_{name}" for name in codes})
        if shares.dealt is None:
            frame = frame.with_columns(group_id=nw.col("main_group"))
        else:
            frame = self._deal(frame, shares.dealt)
        frame = frame.filter(nw.col("group_id") >= 0)
        if not shares.shown:
            return frame
        self.out |= {column: nw.col(name) for column, name in shares.shown.items()}
        return relation.join(frame, shares.groups.rename({"group_id": "of_group"}), {"group_id": "of_group"})

    def _deal(self, frame: Frame, dealt: pl.DataFrame) -> Frame:
        """Add the group of each row; only rows of tuples that are split have to be put in order for that."""
        rest = frame.filter(~nw.col("split")).with_columns(group_id=nw.col("main_group"))
        nth = nw.col("tuple_id").cum_count().over("tuple_id", order_by=self.relation.order)
        lines = dealt.rename({"tuple_id": "of_tuple", "nth": "of_nth", "group_id": "other_group"})
        several = frame.filter(nw.col("split")).with_columns(nth=nth)
        several = self.relation.join(several, lines, {"tuple_id": "of_tuple", "nth": "of_nth"})
        several = several.with_columns(group_id=nw.coalesce("other_group", "main_group")).drop("nth", "other_group")
        return nw.concat([rest, several])


def _constant(value: pl.Series) -> nw.Expr:
    """Return a value as a literal; of a category the text, since not every engine can quote the names of categories."""
    plain = value.cast(pl.String) if isinstance(value.dtype, pl.Enum | pl.Categorical) else value
    return nw.lit(plain[0], dtype=dtype_of(plain))
