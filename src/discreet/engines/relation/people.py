"""Numbers in place of the values that say whose row it is, made by the engine that holds the rows."""

from __future__ import annotations

import narwhals as nw
import polars as pl

from discreet.engines.people import check_marks
from discreet.engines.relation.relation import Relation
from discreet.schema import MISSING_MARKS

__all__ = ["number_people"]


def number_people(relation: Relation, column: str) -> Relation:
    """Return a plan for the same table with numbers in place of the values of a column, in the order of the values.

    The distinct values are sorted and numbered on the engine; Spark does so in a single task. Texts that mean a missing
    value are refused if they would join people.
    """
    check_marks(column, _marks(relation, column))
    plain = relation.plain(column)
    people = relation.frame.select(relation.key(column).alias("person_key")).unique("person_key")
    people = people.filter(~nw.col("person_key").is_null())
    people = people.with_columns(person_number=nw.col("person_key").cum_count().over(order_by="person_key"))
    rows = relation.frame.with_columns(relation.key(column).alias("whose"))
    rows = rows.join(people, left_on="whose", right_on="person_key", how="left")
    number = nw.col("person_number").cast(nw.Int64).alias(plain)
    numbered = rows.select(*(number if name == plain else nw.col(name) for name in relation.frame.columns))
    native = relation.backend.renamed(numbered.to_native(), relation.columns)
    return Relation(native, relation.backend, relation.file)


def _marks(relation: Relation, column: str) -> dict[str, int]:
    """Return the rows of each text that means a missing value."""
    if not isinstance(relation.dtypes[relation.plain(column)], nw.String | nw.Categorical | nw.Enum):
        return {}
    texts = relation.frame.select(mark=relation.key(column).cast(nw.String))
    found = texts.filter(nw.col("mark").is_in(MISSING_MARKS)).group_by("mark").agg(rows=nw.len())
    counted: pl.DataFrame = found.collect("polars").to_native()
    return dict(counted.select("mark", pl.col("rows").cast(pl.Int64)).iter_rows())
