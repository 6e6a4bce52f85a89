"""Carry a mapping out on other rows: nothing passes that the mapping does not know, and the result is audited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from discreet._words import amount, either
from discreet.counts import IntArray
from discreet.engines import (
    Order,
    Recoding,
    Shuffle,
    Source,
    ValueMap,
    count_together,
    expect_types,
    index_of,
    open_source,
    unnamed_of,
)
from discreet.errors import DataError, InfeasibleError, MissingColumnError, UsageError
from discreet.problem import PRIVACY
from discreet.release._anonymize import anonymize
from discreet.release._applied import Applied
from discreet.release._clock import Clock
from discreet.release._mapping import leaf_of, read_mapping
from discreet.release._output import KEPT_ORDER, Output, check_output, like_input
from discreet.release._publish import Promises, kind_of, publish
from discreet.release._small import few
from discreet.release._undecided import Undecided, look_at_undecided
from discreet.schema import Hierarchy, as_hierarchy, as_type, make_domain, parts_of, plain, text_of

__all__ = ["Broken", "Unknown", "apply_mapping", "recode_rows"]

Unknown = Literal["error", "suppress", "top"]
Broken = Literal["error", "suppress"]
_UNKNOWN = "\ue000unknown"
"""Stands for a value that is not in the mapping until its rows are left out; no table holds it."""


def apply_mapping(
    mapping: str | PathLike[str] | Mapping[str, Any],
    data: Any,
    *,
    unknown: Unknown = "error",
    broken: Broken = "error",
    identifiers: str | Sequence[str] = (),
    keep: str | Sequence[str] = (),
    output: str | PathLike[str] | None = None,
    order: Order = "random",
) -> Applied:
    """Recode a table as another was, by the mapping of that release; what comes out keeps the same promises.

    Values the mapping does not know are an ``error``, or with ``unknown="suppress"`` their rows are left out, or with
    ``"top"`` they become the most general value of their column. Numbers and dates whose hierarchy says for each value
    what it becomes (intervals, dates, masks) follow it. The classes the mapping left out are left out again, and so are
    rows with a value only such rows had. The result is audited by the promises of the mapping: if one is broken
    that is an ``error`` and nothing is released, or with ``broken="suppress"`` the classes that break it are left out.
    Columns the first table did not have are refused unless they are named as ``identifiers``, which are left out. It
    stops at columns without a role that single people out, unless they were confirmed for the first release, or are now
    (``keep``). What is written to ``output`` is in random order unless ``order="keep"``.

    >>> from discreet import anonymize, sample
    >>> release = anonymize(sample(300, seed=1).select("sex", "zip"), quasi_identifiers=["sex", "zip"], privacy="k(5)")
    >>> apply_mapping(release.to_mapping(), sample(300, seed=1).select("sex", "zip")).frame.equals(release.frame)
    True
    """
    for name, choice, known in (("unknown", unknown, Unknown), ("broken", broken, Broken)):
        if choice not in get_args(known):
            raise UsageError(f"{name} is one of {', '.join(get_args(known))}, not '{choice}'.")
    told = read_mapping(mapping)
    target = None if output is None else replace(check_output(output, data), shuffle=Shuffle.of(order))
    source, clock = open_source(data), Clock()
    dropped = _check_columns(source, told, [identifiers] if isinstance(identifiers, str) else list(identifiers))
    confirmed = [*told.get("keep", ()), *([keep] if isinstance(keep, str) else keep)]
    undecided = _check_kept(source, told, dropped, confirmed, with_index=target is None)
    recoded = {name: _recode_column(source, name, column, told, unknown) for name, column in told["columns"].items()}
    rows = int(source.count(list(told["columns"])).to_series(-1).sum())
    recoding = Recoding(
        maps={name: column.map for name, column in recoded.items() if not column.kept},
        kept=tuple(name for name, column in recoded.items() if column.kept),
        drop=dropped,
        required=tuple(told["columns"]) if told["missing"] == "suppress" else (),
    )
    recoding = _with_suppressed(source, recoding, recoded, told)
    facts: dict[str, Any] = {
        "rows": rows,
        "unknown": {name: column.unknown for name, column in recoded.items() if column.unknown},
        "by_rule": {name: column.by_rule for name, column in recoded.items() if column.by_rule},
        "notes": (
            *undecided.index_notes(),
            *((KEPT_ORDER,) if target is not None and target.shuffle is None else ()),
        ),
    }
    models = [PRIVACY.make(text).resolve(list(told["sensitive"])) for text in told["privacy"]]
    if "weights" not in told and any(model.looks_at_population for model in models):
        raise UsageError(
            "The mapping promises something about a table of the population, which only a new release can keep; make "
            "one, as with discreet anonymize."
        )
    trees = {name: _tree(form) for name, form in told["sensitive"].items()}
    types = {name: as_type(kind) for name, kind in told["types"].items()}
    promises = Promises(
        quasi_identifiers=tuple(told["columns"]),
        privacy=tuple(models),
        sensitive=trees,
        types=types,
        reference={name: _counted(source, name) for name in trees},
        unknown=None,
        missing_sensitive=told.get("missing_sensitive", "value"),
        rows=None,
        weights=told.get("weights"),
        values={name: column.map.released for name, column in recoded.items()},
        way_out="leave out the classes that break it (broken: suppress), or make a new release",
    )
    if broken == "suppress":
        expect_types(source, types, kind_of(target))
        if isinstance(target, Output):
            target = like_input(target, source.separator)
        with source.guard():
            held = source.collect(source.recode(recoding))
        kept = _without_broken_classes(
            held, promises, [*_others(source, told, dropped), *_secrets(source, told), *_beside(source, dropped)]
        )
        if kept is None:
            recoding = replace(recoding, everything=True)
        else:
            source, recoding = open_source(held), kept
    table, verdict = publish(source, recoding, promises, target, clock)
    comparing = frozenset(model.shown for model in models if model.compares)
    return Applied(audit=verdict, comparing=comparing, table=table, **facts)


def recode_rows(mapping: Mapping[str, Any], data: Any, unknown: Unknown) -> Any:
    """Recode every row of a table by a mapping without asking whether the result keeps any promise.

    It is no release, and must not become one: for what stays in memory, such as rows a model is tested on. No row can
    be left out here, so that a value which only rows had that were left out is one the mapping does not know.
    """
    told, source = read_mapping(mapping), open_source(data)
    dropped = _check_columns(source, told, [])
    recoded = {
        name: _recode_column(source, name, {**column, "left_out": []}, told, unknown)
        for name, column in told["columns"].items()
    }
    maps = {name: column.map for name, column in recoded.items() if not column.kept}
    kept = tuple(name for name, column in recoded.items() if column.kept)
    with source.guard():
        return source.collect(source.recode(Recoding(maps=maps, kept=kept, drop=dropped)))


def _without_broken_classes(table: Any, promises: Promises, keep: Sequence[str]) -> Recoding | None:
    """Return how classes that break a promise are left out; None where no class of so small a table keeps them."""
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
            privacy=promises.privacy,
            weights=promises.weights,
            keep=keep,
            suppression="class-records",
            missing_sensitive=promises.missing_sensitive,
        )
    except (InfeasibleError, UsageError):  # fewer rows, or values of a sensitive column, than a class needs
        return None
    return release.recoding


@dataclass(frozen=True, eq=False)
class _Recoded:
    """What becomes of the values of one column."""

    map: ValueMap
    kept: bool
    lost: pl.Series
    """The values whose rows are left out."""
    unknown: int
    by_rule: int


def _check_columns(source: Source, told: Mapping[str, Any], identifiers: list[str]) -> tuple[str, ...]:
    """Return the columns to leave out; refuse a table that lacks columns, or has ones nobody knows anything about."""
    weighed = [told["weights"]] if told.get("weights") else []
    secrets = _secrets(source, told)
    for column in (*told["columns"], *secrets, *weighed, *identifiers):
        if column not in source.columns:
            raise MissingColumnError(column, source.columns)
    known = {*told["columns"], *secrets, *told["others"], *weighed, told["class_attribute"]}
    out = [column for column in source.columns if column in (*told["identifiers"], *identifiers)]
    new = [column for column in source.columns if column not in known and column not in out]
    if new:
        raise DataError(
            f"Column '{new[0]}' was not in the table the mapping was made for; name it as an identifier, so that it is "
            "left out, or make a new release.",
            column=new[0],
            topic="mapping",
        )
    return tuple(out)


def _others(source: Source, told: Mapping[str, Any], dropped: Sequence[str]) -> list[str]:
    """Return the columns of the table that have no role."""
    roles = {*told["columns"], told.get("weights"), told["class_attribute"], *dropped}
    secrets = _secrets(source, told)
    return [name for name in source.columns if name in told["others"] and name not in {*roles, *secrets}]


def _check_kept(
    source: Source, told: Mapping[str, Any], dropped: Sequence[str], confirmed: Sequence[str], *, with_index: bool
) -> Undecided:
    """Stop at columns that could tell who somebody is, unless they were confirmed."""
    for column in confirmed:
        if column not in (*source.columns, *_beside(source, dropped)):
            raise MissingColumnError(column, source.columns)
    found = look_at_undecided(
        source, dropped, _others(source, told, dropped), confirmed, _secrets(source, told), with_index=with_index
    )
    found.check()
    return found


def _beside(source: Source, dropped: Sequence[str]) -> list[str]:
    """Return what a frame of pandas holds beside its named columns: its index, and columns named by numbers."""
    return [*index_of(source, dropped)[0], *unnamed_of(source)]


def _secrets(source: Source, told: Mapping[str, Any]) -> list[str]:
    """Return the sensitive columns."""
    return list(dict.fromkeys(part for name in told["sensitive"] for part in parts_of(name, source.columns)))


def _recode_column(
    source: Source, name: str, column: Mapping[str, Any], told: Mapping[str, Any], unknown: Unknown
) -> _Recoded:
    counted = source.count([name])
    values, rows = counted.to_series(0), counted.to_series(1).to_numpy()
    texts = text_of(plain(name, values))
    absent = texts.is_null().to_numpy()
    place = leaf_of(texts.fill_null(""), column["values"])
    place[absent] = -1
    labels = column["values"] if column["released"] is None else column["released"]
    released: list[str | None] = [labels[leaf] if leaf >= 0 else None for leaf in place.tolist()]
    found = place >= 0
    if absent.any() and (column["missing"] is not None or told["missing"] == "suppress"):
        found |= absent
        if column["missing"] is not None:
            released[int(np.flatnonzero(absent)[0])] = column["missing"]["released"]
    again = _left_out(column, texts)
    by_rule = _by_rule(name, column, texts, ~found & ~absent & ~again, released)
    found |= by_rule
    new = ~found & ~again
    missed = int(rows[new].sum())
    if missed:
        _refuse(name, column, int(new.sum()), missed, unknown)
    to_top = new & (unknown == "top")
    lost = again | (new & ~to_top)
    kept = column["released"] is None and not to_top.any()
    for number in np.flatnonzero(new | again).tolist():
        released[number] = column["top"] if to_top[number] else _UNKNOWN
    shown = values if kept else pl.Series(name, released, dtype=pl.String)
    return _Recoded(ValueMap(values, shown), kept, values.filter(pl.Series(lost)), missed, int(by_rule.sum()))


def _left_out(column: Mapping[str, Any], texts: pl.Series) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return which values only rows had that the mapping left out; no name in the release covers them."""
    values = column.get("left_out", [])
    found = np.asarray(leaf_of(texts.fill_null(""), [value for value in values if value is not None]) >= 0)
    absent = texts.is_null().to_numpy()
    return np.where(absent, None in values, found)


def _refuse(name: str, column: Mapping[str, Any], values: int, rows: int, unknown: Unknown) -> None:
    """Refuse values that are not known, where that was chosen or nothing stands above them."""
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
    """Recode new values by the builder of the hierarchy, if with them it still makes of the known ones what it did."""
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
    source: Source, recoding: Recoding, recoded: Mapping[str, _Recoded], told: Mapping[str, Any]
) -> Recoding:
    """Add the classes to leave out: those the mapping left out, and those of values that are not known."""
    tables = [_left_out_again(recoded, told["suppressed"])]
    if any(not column.lost.is_empty() for column in recoded.values()):
        tables.append(_of_unknown_values(source, recoded))
    gone = pl.concat(tables).unique()
    varied = [name for name, column in recoded.items() if column.map.released.n_unique() > 1]
    if gone.is_empty():
        return recoding
    if not varied:
        return replace(recoding, everything=True)
    return replace(recoding, suppressed=gone.select(varied))


def _left_out_again(recoded: Mapping[str, _Recoded], classes: list[list[str | None]]) -> pl.DataFrame:
    """Return the classes of the mapping whose values this table has, with values as it has them."""
    table = pl.DataFrame(classes, schema=dict.fromkeys(recoded, pl.String), orient="row")
    for name, column in recoded.items():
        shown = column.map.released.unique()
        texts = text_of(plain(name, shown))
        known = table[name].is_in(texts.drop_nulls().implode()).fill_null(shown.null_count() > 0)
        table = table.filter(known)
        typed = table[name].replace_strict(texts, shown, return_dtype=shown.dtype)
        table = table.with_columns(typed.alias(name))
    return table


def _of_unknown_values(source: Source, recoded: Mapping[str, _Recoded]) -> pl.DataFrame:
    """Return the classes in which a value is that is not known; no other rows are in these."""
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


def _counted(source: Source, name: str) -> pl.DataFrame:
    counted = count_together(source, [name])
    return pl.DataFrame({"value": counted.to_series(0), "rows": counted.to_series(1)})


def _tree(form: Any) -> Any:
    if isinstance(form, Mapping):
        return Hierarchy.from_rows(form["rows"])
    return None if form is None else as_hierarchy(form)
