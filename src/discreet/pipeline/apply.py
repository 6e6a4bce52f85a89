"""Apply a mapping to other rows: unknown values never pass, and the result is audited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from discreet.counts import IntArray
from discreet.engines import (
    Order,
    Recoding,
    Shuffle,
    Source,
    ValueMap,
    count_combined,
    expect_types,
    index_of,
    layout_of,
    open_source,
    unnamed_of,
)
from discreet.errors import AuditError, DataError, InfeasibleError, MissingColumnError, UsageError
from discreet.pipeline.anonymize import anonymize
from discreet.pipeline.applied import Applied
from discreet.pipeline.audit import Audit
from discreet.pipeline.clock import Clock
from discreet.pipeline.mapping import leaf_of
from discreet.pipeline.output import Output, check_output, like_input
from discreet.pipeline.publish import Promises, kind_of, publish
from discreet.pipeline.release_notes import KEPT_ORDER
from discreet.pipeline.undecided_columns import UndecidedColumns, inspect_columns
from discreet.problem import PRIVACY, PrivacyModel
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.report.small_counts import few
from discreet.runtime.plurals import amount, either
from discreet.schema import Hierarchy, as_hierarchy, as_type, make_domain, parts_of, plain, text_of
from discreet.schema.mapping_file import read_mapping

__all__ = [
    "Broken",
    "ColumnRecoding",
    "Unknown",
    "apply_mapping",
    "check_columns",
    "check_kept",
    "recode_rows",
    "recode_values",
    "sensitive_columns",
]

Unknown = Literal["error", "suppress", "top"]
Broken = Literal["error", "suppress"]
_UNKNOWN = "\ue000unknown"
"""Placeholder for values the mapping lacks, until their rows are suppressed; no table contains it."""


def apply_mapping(
    mapping: str | PathLike[str] | Mapping[str, Any],
    data: Any,
    *,
    unknown: Unknown = "error",
    broken: Broken = "error",
    identifiers: str | Sequence[str] = (),
    keep: str | Sequence[str] = (),
    output: str | PathLike[str] | None = None,
    overwrite: bool = True,
    order: Order = "random",
) -> Applied:
    """Recode a table by the mapping of an earlier release; the result keeps the same promises.

    Values that the mapping lacks are an ``error``; with ``unknown="suppress"`` their rows are left out, and with
    ``"top"`` they become the most general value of their column. New numbers and dates follow their hierarchy where it
    is defined value by value (intervals, dates, masks). Classes that the mapping suppressed are suppressed again, as
    are rows with a value that only such classes had. The result is audited by the promises of the mapping: a broken one
    is an ``error`` and nothing is released; with ``broken="suppress"`` the classes that break it are left out. If the
    first release counted people, the table needs the column that says whose row it is, and the audit counts its people;
    nobody is left out or given a pseudonym because the first release did so. Columns
    the first table did not have are refused unless they are named as ``identifiers``, which are left out. Columns
    without a role that single people out stop the run unless they were confirmed for the first release, or are now
    (``keep``). What is written to ``output`` is in random order unless ``order="keep"``;
    without ``overwrite`` an output that exists is refused.

    >>> from discreet import anonymize, sample
    >>> release = anonymize(sample(300, seed=1).select("sex", "zip"), quasi_identifiers=["sex", "zip"], privacy="k(5)")
    >>> apply_mapping(release.to_mapping(), sample(300, seed=1).select("sex", "zip")).frame.equals(release.frame)
    True
    """
    for name, choice, choices in (("unknown", unknown, Unknown), ("broken", broken, Broken)):
        if choice not in get_args(choices):
            raise UsageError(f"{name} is one of {', '.join(get_args(choices))}, not '{choice}'.")
    recipe = read_mapping(mapping)
    shuffle = Shuffle.of(order)
    target = None if output is None else replace(check_output(output, data, overwrite=overwrite), shuffle=shuffle)
    source, clock = open_source(data), Clock()
    dropped = check_columns(source, recipe, [identifiers] if isinstance(identifiers, str) else list(identifiers))
    confirmed = [*recipe.get("keep", ()), *([keep] if isinstance(keep, str) else keep)]
    undecided = check_kept(source, recipe, dropped, confirmed, with_index=target is None)
    unit = _unit(recipe)
    if unit is not None:
        source.number_people([unit])
        _check_people(source, unit)
    recoded = {
        name: _recode_column(source, name, column, recipe, unknown) for name, column in recipe["columns"].items()
    }
    people = None if unit is None else source.count([unit]).height
    rows = int(source.count(list(recipe["columns"])).to_series(-1).sum())
    recoding = Recoding(
        maps={name: column.map for name, column in recoded.items() if not column.kept},
        kept=tuple(name for name, column in recoded.items() if column.kept),
        drop=dropped,
        required=tuple(recipe["columns"]) if recipe["missing"] == "suppress" else (),
    )
    recoding = _with_suppressed(source, recoding, recoded, recipe)
    promises = _promises(source, recipe, recoded)
    if broken == "suppress":
        expect_types(source, promises.types, kind_of(target))
        if isinstance(target, Output):
            target = like_input(target, layout_of(source))
        private = replace(recoding, drop=tuple(column for column in dropped if column != unit))
        confirmed = [
            *_columns_without_role(source, recipe, dropped),
            *sensitive_columns(source, recipe),
            *_pandas_extras(source, dropped),
        ]
        left = _without_broken_classes(source, private, promises, confirmed)
        if left is None:
            recoding = replace(recoding, everything=True)
        else:
            source, recoding = left
    table, verdict = _published(source, recoding, promises, target, clock, mended=broken == "suppress")
    return Applied(
        audit=verdict,
        rows=rows,
        people=people,
        unknown={name: column.unknown for name, column in recoded.items() if column.unknown},
        by_rule={name: column.by_rule for name, column in recoded.items() if column.by_rule},
        comparing=frozenset(model.shown for model in promises.privacy if model.compares),
        table=table,
        notes=(
            *undecided.index_notes(),
            *((KEPT_ORDER,) if target is not None and target.shuffle is None else ()),
        ),
    )


def _promises(source: Source, recipe: Mapping[str, Any], recoded: Mapping[str, ColumnRecoding]) -> Promises:
    """Return the promises of the mapping, about this table."""
    models = tuple(PRIVACY.make(text).resolve(list(recipe["sensitive"])) for text in recipe["privacy"])
    if "weights" not in recipe and any(model.looks_at_population for model in models):
        raise UsageError(
            "The mapping promises something about a table of the population, which only a new release can keep; make "
            "one, as with discreet anonymize."
        )
    trees = {name: _tree(form) for name, form in recipe["sensitive"].items()}
    return Promises(
        quasi_identifiers=tuple(recipe["columns"]),
        privacy=models,
        sensitive=trees,
        types={name: as_type(kind) for name, kind in recipe["types"].items()},
        reference={name: _counted(source, name, _unit(recipe)) for name in trees},
        unknown=None,
        missing_sensitive=recipe.get("missing_sensitive", "value"),
        rows=None,
        person=_unit(recipe),
        unit="household" if "household" in recipe else "person" if "person" in recipe else "row",
        weights=recipe.get("weights"),
        values={name: column.map.released for name, column in recoded.items()},
        way_out="leave out the classes that break it (broken: suppress), or make a new release",
    )


def recode_rows(mapping: Mapping[str, Any], data: Any, unknown: Unknown) -> Any:
    """Recode every row of a table by a mapping, without an audit.

    The result is no release and must not become one. It is for rows that stay in memory, such as those a model is
    tested on. No row is suppressed, so values that only suppressed rows had count as unknown.
    """
    recipe, source = read_mapping(mapping), open_source(data)
    dropped = check_columns(source, recipe, [])
    recoded = {
        name: _recode_column(source, name, {**column, "left_out": []}, recipe, unknown)
        for name, column in recipe["columns"].items()
    }
    maps = {name: column.map for name, column in recoded.items() if not column.kept}
    kept = tuple(name for name, column in recoded.items() if column.kept)
    with source.guard():
        return source.collect(source.recode(Recoding(maps=maps, kept=kept, drop=dropped)))


def _published(
    source: Source, recoding: Recoding, promises: Promises, target: Any, clock: Clock, *, mended: bool
) -> tuple[Any, Audit]:
    """Publish the rows; people who are left out with rare profiles may make other classes break a promise again."""
    try:
        table, verdict, _ = publish(source, recoding, promises, target, clock)
    except AuditError:
        comparing = next((model.shown for model in promises.privacy if model.compares), None)
        profile = next((model.shown for model in promises.privacy if model.counts_profiles), None)
        if not mended or comparing is None or profile is None:
            raise
        raise InfeasibleError(
            f"Leaving out the people who break {profile} changes classes so that they break {comparing}; make a new "
            "release instead."
        ) from None
    return table, verdict


def _without_broken_classes(
    source: Source, recoding: Recoding, promises: Promises, keep: Sequence[str]
) -> tuple[Source, Recoding] | None:
    """Return the recoded rows, and the recoding of them that leaves out what breaks a promise; None if nothing stays.

    ``recoding`` keeps the column of people. Promises that compare with the whole table come first, while all of its
    rows are there. Other classes that are left out afterwards do not change those that stay.
    """
    comparing = [model for model in promises.privacy if model.compares]
    others = [model for model in promises.privacy if not model.compares] or [KAnonymity(1)]
    rows = _collected(source, recoding)
    if comparing:
        everybody = _collected(source, replace(recoding, suppressed=None, everything=False, required=()))
        first = _keeping(everybody, promises, comparing, keep)
        if first is None:
            return None
        rows = _collected(_numbered(rows, promises), replace(first, drop=()))
    kept = _keeping(rows, promises, others, keep)
    return None if kept is None else (_numbered(rows, promises), kept)


def _collected(source: Source, recoding: Recoding) -> Any:
    """Return the recoded rows."""
    with source.guard():
        return source.collect(source.recode(recoding))


def _numbered(rows: Any, promises: Promises) -> Source:
    """Return recoded rows as a source, with people as numbers."""
    source = open_source(rows)
    if promises.person is not None:
        source.number_people([promises.person])
    return source


def _keeping(table: Any, promises: Promises, models: Sequence[PrivacyModel], keep: Sequence[str]) -> Recoding | None:
    """Return the recoding that leaves out the classes that break one of some models; None if no class keeps them."""
    columns = promises.quasi_identifiers
    if open_source(table).count(columns).is_empty():
        return None
    try:
        release = anonymize(
            table,
            quasi_identifiers=dict.fromkeys(columns, "flat"),
            max_levels=dict.fromkeys(columns, 0),
            sensitive=promises.sensitive,
            types={name: kind for name, kind in promises.types.items() if name in promises.sensitive},
            privacy=models,
            weights=promises.weights,
            keep=keep,
            person=promises.person,
            suppression="budget(1.0)" if any(model.counts_profiles for model in models) else "class-records",
            missing_sensitive=promises.missing_sensitive,
        )
    except (InfeasibleError, UsageError):  # fewer rows, or values of a sensitive column, than a class needs
        return None
    assert release.provenance is not None
    return release.provenance.recoding


@dataclass(frozen=True, eq=False)
class ColumnRecoding:
    """What becomes of the values of one column."""

    map: ValueMap
    kept: bool
    lost: pl.Series
    """The values whose rows are suppressed."""
    unknown: int
    by_rule: int


def check_columns(source: Source, recipe: Mapping[str, Any], identifiers: list[str]) -> tuple[str, ...]:
    """Return the columns to drop; refuse a table that lacks columns, or has columns the mapping does not know."""
    weights = [recipe["weights"]] if recipe.get("weights") else []
    sensitive, unit = sensitive_columns(source, recipe), _unit(recipe)
    for column in (*recipe["columns"], *sensitive, *weights, *identifiers, *([] if unit is None else [unit])):
        if column not in source.columns:
            raise MissingColumnError(column, source.columns)
    known = {*recipe["columns"], *sensitive, *recipe["others"], *weights, recipe["class_attribute"]}
    left_out = {*recipe["identifiers"], *identifiers, recipe.get("person"), recipe.get("household")}
    out = [column for column in source.columns if column in left_out]
    new = [column for column in source.columns if column not in known and column not in out]
    if new:
        raise DataError(
            f"Column '{new[0]}' was not in the table the mapping was made for; name it as an identifier, so that it is "
            "left out, or make a new release.",
            column=new[0],
            topic="mapping",
        )
    return tuple(out)


def _columns_without_role(source: Source, recipe: Mapping[str, Any], dropped: Sequence[str]) -> list[str]:
    """Return the columns of the table that have no role."""
    roles = {*recipe["columns"], recipe.get("weights"), recipe["class_attribute"], *dropped}
    roles |= {*sensitive_columns(source, recipe)}
    return [name for name in source.columns if name in recipe["others"] and name not in roles]


def check_kept(
    source: Source, recipe: Mapping[str, Any], dropped: Sequence[str], confirmed: Sequence[str], *, with_index: bool
) -> UndecidedColumns:
    """Stop at columns that could identify people, unless they were confirmed."""
    for column in confirmed:
        if column not in (*source.columns, *_pandas_extras(source, dropped)):
            raise MissingColumnError(column, source.columns)
    found = inspect_columns(
        source,
        dropped,
        _columns_without_role(source, recipe, dropped),
        confirmed,
        sensitive_columns(source, recipe),
        with_index=with_index,
    )
    found.check()
    return found


def _pandas_extras(source: Source, dropped: Sequence[str]) -> list[str]:
    """Return what a pandas frame has besides its named columns: index levels, and columns named by numbers."""
    return [*index_of(source, dropped)[0], *unnamed_of(source)]


def sensitive_columns(source: Source, recipe: Mapping[str, Any]) -> list[str]:
    """Return the sensitive columns of the table; a promise may be about several together."""
    return list(dict.fromkeys(part for name in recipe["sensitive"] for part in parts_of(name, source.columns)))


def _recode_column(
    source: Source, name: str, column: Mapping[str, Any], recipe: Mapping[str, Any], unknown: Unknown
) -> ColumnRecoding:
    """Return what becomes of the values that a column of the table has."""
    return recode_values(name, source.count([name]), column, recipe, unknown)


def recode_values(
    name: str, counted: pl.DataFrame, column: Mapping[str, Any], recipe: Mapping[str, Any], unknown: Unknown
) -> ColumnRecoding:
    """Return what becomes of the values of a column, given with the number of their rows."""
    values, rows = counted.to_series(0), counted.to_series(1).to_numpy()
    texts = text_of(plain(name, values))
    absent = texts.is_null().to_numpy()
    index = leaf_of(texts.fill_null(""), column["values"])
    index[absent] = -1
    labels = column["values"] if column["released"] is None else column["released"]
    released: list[str | None] = [labels[leaf] if leaf >= 0 else None for leaf in index.tolist()]
    found = index >= 0
    if absent.any() and (column["missing"] is not None or recipe["missing"] == "suppress"):
        found |= absent
        if column["missing"] is not None:
            released[int(np.flatnonzero(absent)[0])] = column["missing"]["released"]
    suppressed = _only_suppressed(column, texts)
    by_rule = _by_rule(name, column, texts, ~found & ~absent & ~suppressed, released)
    found |= by_rule
    new = ~found & ~suppressed
    missed = int(rows[new].sum())
    if missed:
        _refuse(name, column, int(new.sum()), missed, unknown)
    to_top = new & (unknown == "top")
    lost = suppressed | (new & ~to_top)
    kept = column["released"] is None and not to_top.any()
    for number in np.flatnonzero(new | suppressed).tolist():
        released[number] = column["top"] if to_top[number] else _UNKNOWN
    shown = values if kept else pl.Series(name, released, dtype=pl.String)
    return ColumnRecoding(ValueMap(values, shown), kept, values.filter(pl.Series(lost)), missed, int(by_rule.sum()))


def _only_suppressed(column: Mapping[str, Any], texts: pl.Series) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return which values only suppressed rows had, so that no label of the release covers them."""
    values = column.get("left_out", [])
    found = np.asarray(leaf_of(texts.fill_null(""), [value for value in values if value is not None]) >= 0)
    absent = texts.is_null().to_numpy()
    return np.where(absent, None in values, found)


def _refuse(name: str, column: Mapping[str, Any], values: int, rows: int, unknown: Unknown) -> None:
    """Refuse unknown values if they are an error, or if the column has no most general value for them."""
    if unknown == "error":
        raise DataError(
            f"Column '{name}' has {amount(values, 'value')} ({few(rows)} rows) that the mapping does not know; "
            f"choose what becomes of {either(values, 'it', 'them')} (unknown: suppress or top), or make a new release.",
            column=name,
            topic="mapping",
        )
    if unknown == "top" and column["top"] is None:
        raise DataError(
            f"Column '{name}' has no most general value; let its rows be left out (unknown: suppress).", column=name
        )


def _by_rule(
    name: str, column: Mapping[str, Any], texts: pl.Series, new: np.ndarray[Any, Any], released: list[str | None]
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Recode new values by the builder of the hierarchy, if it still recodes the known ones as before."""
    none = np.zeros(len(texts), dtype=np.bool_)
    if column["rule"] is None or not new.any():
        return none
    wanted = texts.filter(pl.Series(new))
    everything = pl.concat([pl.Series(column["values"], dtype=pl.String), wanted.unique()]).unique(maintain_order=True)
    try:
        domain = make_domain(name, everything, column["rule"]["hierarchy"], type=column["type"])
    except (DataError, UsageError):
        return none
    shown = domain.released(column["rule"]["level"]).to_list()
    becomes = dict(zip(everything.to_list(), shown, strict=True))
    if [becomes[text] for text in column["values"]] != column["released"]:
        return none
    for number in np.flatnonzero(new).tolist():
        released[number] = becomes[texts[number]]
    return new


def _with_suppressed(
    source: Source, recoding: Recoding, recoded: Mapping[str, ColumnRecoding], recipe: Mapping[str, Any]
) -> Recoding:
    """Add the classes to suppress: those the mapping suppressed, and those with unknown values."""
    tables = [_suppressed_again(recoded, recipe["suppressed"])]
    if any(not column.lost.is_empty() for column in recoded.values()):
        tables.append(_with_lost_values(source, recoded))
    suppressed = pl.concat(tables).unique()
    varied = [name for name, column in recoded.items() if column.map.released.n_unique() > 1]
    if suppressed.is_empty():
        return recoding
    if not varied:
        return replace(recoding, everything=True)
    return replace(recoding, suppressed=suppressed.select(varied))


def _suppressed_again(recoded: Mapping[str, ColumnRecoding], classes: list[list[str | None]]) -> pl.DataFrame:
    """Return the suppressed classes of the mapping whose values this table has, in its types."""
    table = pl.DataFrame(classes, schema=dict.fromkeys(recoded, pl.String), orient="row")
    for name, column in recoded.items():
        shown = column.map.released.unique()
        texts = text_of(plain(name, shown))
        known = table[name].is_in(texts.drop_nulls().implode()).fill_null(shown.null_count() > 0)
        table = table.filter(known)
        typed = table[name].replace_strict(texts, shown, return_dtype=shown.dtype)
        table = table.with_columns(typed.alias(name))
    return table


def _with_lost_values(source: Source, recoded: Mapping[str, ColumnRecoding]) -> pl.DataFrame:
    """Return the classes with a value whose rows are suppressed; all their rows have one."""
    cells = source.count(list(recoded))
    lost: IntArray = np.zeros(cells.height, dtype=np.bool_)
    shown = []
    for name, column in recoded.items():
        values = cells[name]
        if not column.lost.is_empty():
            among = values.is_in(column.lost.drop_nulls().implode()).fill_null(column.lost.null_count() > 0)
            lost |= among.to_numpy()
        released = column.map.released
        shown.append(values.replace_strict(column.map.values, released, return_dtype=released.dtype).alias(name))
    return pl.DataFrame(shown).filter(pl.Series(lost))


def _counted(source: Source, name: str, unit: str | None) -> pl.DataFrame:
    """Count the rows, or the people, with each value of a sensitive attribute."""
    if unit is None:
        counted = count_combined(source, [name])
        return pl.DataFrame({"value": counted.to_series(0), "rows": counted.to_series(1)})
    counted = count_combined(source, [name, unit])
    pairs = pl.DataFrame({"value": counted.to_series(0), "person": counted.to_series(1)})
    return pairs.group_by("value").agg(rows=pl.col("person").n_unique().cast(pl.Int64))


def _unit(recipe: Mapping[str, Any]) -> str | None:
    """Return the column whose values promises count; None if they count rows."""
    found: str | None = recipe.get("household") or recipe.get("person")
    return found


def _check_people(source: Source, unit: str) -> None:
    """Refuse rows that do not say whose they are."""
    counted = source.count([unit])
    missing = int(counted.to_series(1).filter(counted.to_series(0).is_null()).sum())
    if missing:
        raise DataError(
            f"Column '{unit}', which says whose row it is, has no value in {amount(missing, 'row')}; fill it in, or "
            "leave them out.",
            column=unit,
            topic="people",
        )


def _tree(form: Any) -> Any:
    if isinstance(form, Mapping):
        return Hierarchy.from_rows(form["rows"])
    return None if form is None else as_hierarchy(form)
