"""A mapping as a live view: the database recodes rows and counts classes whenever the view is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal, get_args

import polars as pl

from discreet.engines import DatabaseSource, Order, Shuffle, ViewColumn, ViewPlan, creating_view, open_source
from discreet.errors import AuditError, DataError, UsageError
from discreet.pipeline.applied import Applied
from discreet.pipeline.apply import ColumnRecoding, check_columns, check_kept, recode_values, sensitive_columns
from discreet.pipeline.audit import Audit, audit
from discreet.problem import PRIVACY, PrivacyModel
from discreet.runtime.locations import TableName
from discreet.schema import plain, text_of
from discreet.schema.mapping_file import read_mapping

__all__ = ["LiveView", "create_view"]

UnknownInView = Literal["suppress", "top"]
_DATABASES = ("duckdb", "postgresql")
_WATCHED = (
    "Whoever watches the view while rows arrive can compare what it showed before and after; give it only to people "
    "who may see such changes."
)


@dataclass(frozen=True, eq=False)
class LiveView:
    """A view that was created, and the audit of what it shows now."""

    name: str
    """The name of the view in its database."""
    query: str
    """The SQL it runs; it names columns and tables, and no value of the data."""
    now: Applied
    """What it shows at the moment, as if the mapping was applied to the table."""

    @property
    def audit(self) -> Audit:
        """The audit of what the view shows now."""
        return self.now.audit

    def summary(self) -> str:
        """Return the main figures as a block of text; it may be handed over."""
        return self.now.summary()

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data, ready for JSON; it may be handed over."""
        return {"view": self.name, **self.now.to_dict()}


def create_view(
    mapping: str | PathLike[str] | Mapping[str, Any],
    data: str,
    view: str,
    *,
    unknown: UnknownInView = "suppress",
    identifiers: str | Sequence[str] = (),
    keep: str | Sequence[str] = (),
    overwrite: bool = True,
    order: Order = "random",
) -> LiveView:
    """Create a view of a database table that recodes it by the mapping of an earlier release, always up to date.

    ``data`` is the URL of a table in DuckDB or PostgreSQL, and ``view`` a name in the same database. The view shows the
    classes that keep the promises with the rows that are there when it is read; all others are left out. Rows with a
    value that the mapping lacks are left out too, or with ``unknown="top"`` it becomes the most general value of its
    column. Only ``k`` and ``distinct-l`` can be kept this way; other promises are refused. ``identifiers`` and ``keep``
    are as for :func:`discreet.apply_mapping`. Rows are in another order each time unless ``order="keep"``. An earlier
    view of that name is replaced, unless ``overwrite`` is False; a table never is.

    A view that changes with its table can be watched: a row that appears is about somebody who arrived. See
    :func:`discreet.apply_mapping` for tables that do not change.
    """
    if unknown not in get_args(UnknownInView):
        raise UsageError(f"unknown is one of {', '.join(get_args(UnknownInView))} for a view, not '{unknown}'.")
    recipe = read_mapping(mapping)
    if "person" in recipe or "household" in recipe:
        raise UsageError(
            "The promises of the mapping count people, and a view counts rows; apply the mapping to make a table.",
            topic="people",
        )
    shuffled = Shuffle.of(order) is not None
    least, distinct = _counted_promises(recipe)
    source, name = _database_table(data), TableName.parse(view)
    dropped = check_columns(source, recipe, [identifiers] if isinstance(identifiers, str) else list(identifiers))
    confirmed = [*recipe.get("keep", ()), *([keep] if isinstance(keep, str) else keep)]
    check_kept(source, recipe, dropped, confirmed, with_index=False)
    _check_sensitive(source, recipe, distinct)
    recoded = {column: _view_column(source, column, recipe, unknown) for column in recipe["columns"]}
    columns = {column: each for column, (each, _) in recoded.items()}
    plan = ViewPlan(
        shown=[column for column in source.columns if column not in dropped],
        columns=columns,
        suppressed=_suppressed(columns, recipe["suppressed"]),
        least=least,
        distinct=distinct,
        missing_is_value=recipe.get("missing_sensitive", "value") == "value",
        shuffled=shuffled,
    )
    rows = int(source.count(list(columns)).to_series(-1).sum())
    with creating_view(source.url, name, plan, overwrite=overwrite) as created:
        shown = created.rows([*columns, *(column for column in distinct if column not in columns)])
        verdict = _audited(shown, recipe)
    now = Applied(
        verdict,
        rows,
        unknown={column: each.unknown for column, (_, each) in recoded.items() if each.unknown},
        by_rule={column: each.by_rule for column, (_, each) in recoded.items() if each.by_rule},
        comparing=frozenset(),
        table=None,
        notes=(_WATCHED,),
    )
    return LiveView(str(name), created.query, now)


def _counted_promises(recipe: Mapping[str, Any]) -> tuple[int, dict[str, int]]:
    """Return the rows and the different sensitive values that a class needs; refuse promises of other kinds."""
    least, distinct = 1, dict[str, int]()
    for text in recipe["privacy"]:
        model = PRIVACY.make(text).resolve(list(recipe["sensitive"]))
        if model.needs is None:
            raise _not_in_a_view(model)
        rows, values = model.needs
        least = max(least, rows)
        distinct |= {column: max(distinct.get(column, 1), number) for column, number in values.items()}
    return least, distinct


def _not_in_a_view(model: PrivacyModel) -> UsageError:
    return UsageError(
        f"A view cannot keep {model.shown} while rows come and go, only k and distinct-l, which it counts each time it "
        "is read; write a table instead (output), or make a release with these promises.",
        topic="mapping",
    )


def _database_table(data: str) -> DatabaseSource:
    source = open_source(data)
    if not isinstance(source, DatabaseSource) or source.kind not in _DATABASES:
        raise UsageError(
            "A view can be made of a table in DuckDB or PostgreSQL, as in duckdb:///clinic.duckdb?table=people; write "
            "other tables to an output.",
            topic="database-url",
        )
    return source


def _check_sensitive(source: DatabaseSource, recipe: Mapping[str, Any], distinct: Mapping[str, int]) -> None:
    """Refuse sensitive values that are compared otherwise than a database does."""
    known = sensitive_columns(source, recipe)
    for column in distinct:
        if column not in known or column not in source.columns:
            raise UsageError(
                f"A view cannot count the different values of '{column}', which is about several columns together; "
                "write a table instead (output)."
            )
        if column in recipe["types"]:
            raise UsageError(
                f"The release gave '{column}' a type, by which its values are compared; a view compares them as they "
                "are, so make a release without that, or write a table instead (output)."
            )


def _view_column(
    source: DatabaseSource, name: str, recipe: Mapping[str, Any], unknown: UnknownInView
) -> tuple[ViewColumn, ColumnRecoding]:
    """Return what becomes of the values of a column, in the view and as counted now."""
    column = recipe["columns"][name]
    if unknown == "top" and column["top"] is None:
        raise DataError(
            f"Column '{name}' has no most general value; let its rows be left out (unknown: suppress).", column=name
        )
    recoded = recode_values(name, _possible(source, name, column["values"]), column, recipe, unknown)
    shown = recoded.map.released
    if unknown == "top":
        shown = text_of(plain(name, shown))
    table = pl.DataFrame({"value": recoded.map.values, "released": shown})
    lost = recoded.lost
    known = table.filter(pl.col("value").is_not_null() & ~pl.col("value").is_in(lost.drop_nulls().implode()))
    absent = table.filter(pl.col("value").is_null())["released"]
    hidden = recipe["missing"] == "suppress" or lost.null_count() > 0
    other = pl.Series("released", [column["top"]], dtype=pl.String) if unknown == "top" else None
    return ViewColumn(known, missing=None if hidden else absent, other=other), recoded


def _possible(source: DatabaseSource, name: str, known: Sequence[str]) -> pl.DataFrame:
    """Return the values that the table has now, with their rows, and those of the mapping and a missing one."""
    counted = source.count([name])
    values, dtype = counted[name], counted.schema[name]
    further = pl.concat([_typed(known, dtype), pl.Series([None], dtype=dtype)]).unique(maintain_order=True)
    further = further.filter(~further.is_in(values.implode(), nulls_equal=True))
    rows = pl.Series(counted.columns[1], [0] * len(further), dtype=counted.dtypes[1])
    return pl.concat([counted, pl.DataFrame([further.alias(name), rows])])


def _typed(texts: Sequence[str], dtype: pl.DataType) -> pl.Series:
    """Return values of a mapping in the type of a database column, without those that have no such form."""
    known = pl.Series(texts, dtype=pl.String)
    if dtype == pl.Boolean:
        return pl.Series([True, False])
    if dtype == pl.Date or isinstance(dtype, pl.Datetime):
        days = known.str.to_date("%Y-%m-%d", strict=False).cast(pl.Datetime("us"))
        moments = known.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)
        typed = days.fill_null(moments)
        zone = dtype.time_zone if isinstance(dtype, pl.Datetime) else None
        return (typed.dt.replace_time_zone(zone) if zone else typed).cast(dtype).drop_nulls()
    return known.cast(dtype, strict=False).drop_nulls()


def _suppressed(columns: Mapping[str, ViewColumn], classes: Sequence[Sequence[str | None]]) -> pl.DataFrame:
    """Return the suppressed classes by the codes of their labels, without those that cannot occur."""
    codes = []
    for name, column in columns.items():
        lines = column.lines()
        labels = text_of(plain(name, lines["released"])).to_list()
        codes.append(dict(zip(labels, lines["code"].to_list(), strict=True)))
    rows = [[known.get(label) for known, label in zip(codes, labels, strict=True)] for labels in classes]
    schema = {f"code_{number}": pl.Int32 for number in range(len(codes))}
    return pl.DataFrame([row for row in rows if None not in row], schema=schema, orient="row")


def _audited(shown: pl.DataFrame, recipe: Mapping[str, Any]) -> Audit:
    """Audit what the view shows; an empty view keeps every promise."""
    verdict = audit(
        shown,
        quasi_identifiers=list(recipe["columns"]),
        sensitive=[column for column in recipe["sensitive"] if column in shown.columns],
        privacy=recipe["privacy"],
        missing_sensitive=recipe.get("missing_sensitive", "value"),
    )
    if not verdict.passed:
        raise AuditError("What the view shows breaks a promise, so it was not created; write a table instead (output).")
    return verdict
