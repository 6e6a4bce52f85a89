"""From a solution in integer codes to a recoding in values: one small table per attribute, and what to suppress.

A global recoding maps each value of an attribute to its released value. A local one maps each tuple of
quasi-identifiers to the equivalence class (or classes) its rows go to, and each class to the values it shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engines import UNKNOWN, ClassParts, Counted, GroupShares, Recoding, ValueMap, as_text
from discreet.schema import Domain, Grid, Type, node_names, rounding_grid, set_text

if TYPE_CHECKING:
    from discreet.counts import IntArray
    from discreet.solve import GroupCovers, LocalRecoding, PartialSuppression, Solution

__all__ = ["FEW_VALUES", "leaves_out_people", "make_parts", "make_recoding"]

FEW_VALUES = 5_000
"""A column with at most this many distinct values is read as categories."""
_BITS = 63


def make_recoding(
    solution: Solution, counted: Counted, *, drop: tuple[str, ...] = (), required: tuple[str, ...] = ()
) -> Recoding:
    """Return the recoding that carries out a solution, with labels from the domains.

    An attribute whose values all stay distinct keeps them, and its type. Suppressed classes are given by their released
    values, without the attributes that have a single one.
    """
    categories = tuple(name for name, domain in counted.domains.items() if len(domain.values) <= FEW_VALUES)
    if solution.groups is not None:
        shares, unchanged = _class_shares(solution.groups, counted)
        return Recoding(kept=unchanged, drop=drop, required=required, categories=categories, shares=shares)
    maps, kept = {}, []
    for number, (column, domain) in enumerate(counted.domains.items()):
        if solution.levels is not None:
            released = domain.released(solution.levels[number])
        else:
            released = domain.released_as(solution.blocks[number])
        if released is domain.values:
            kept.append(column)
        else:
            maps[column] = ValueMap(domain.values, released)
    everything = bool(solution.suppressed.size) and bool(solution.suppressed.all())
    suppressed = parts = None
    if solution.suppressed.any() and not everything and not leaves_out_people(counted, solution):
        suppressed = _class_values(counted, maps, np.flatnonzero(solution.suppressed)).unique()
    if solution.inside is not None and solution.inside.example.size:
        parts = make_parts(counted, maps, solution.inside, solution.blocks)
    known = {column: counted.domains[column].values for column in kept}
    return Recoding(maps, tuple(kept), drop, required, suppressed, parts, everything, categories, known=known)


def leaves_out_people(counted: Counted, solution: Solution) -> bool:
    """Whether people are left out one by one with all their rows, and not by their classes.

    Where everybody's quasi-identifiers are constant, the classes are enough, unless some people of a class stay: those
    who have as many rows as others.
    """
    people = counted.table.people
    if people is None or solution.suppressed_people is None:
        return False
    if not people.constant or solution.groups is not None:
        return not people.constant
    gone = np.zeros(people.count, dtype=np.bool_)
    gone[solution.suppressed_people] = True
    staying = ~np.logical_and.reduceat(gone[people.members], people.offsets[:-1])  # every tuple has people
    classes = counted.table.group(solution.blocks).ids
    by_class = np.bincount(classes[staying], minlength=int(classes.max(initial=0)) + 1)[classes] == 0
    return bool((gone[people.members] & ~np.repeat(by_class, people.of_tuples)).any())


def _class_values(counted: Counted, maps: Mapping[str, ValueMap], tuples: IntArray) -> pl.DataFrame:
    """Return the released values of the equivalence class of each tuple, a row per tuple."""
    columns = []
    for number, (column, domain) in enumerate(counted.domains.items()):
        released = maps[column].released if column in maps else domain.values
        if released.n_unique() == 1:
            continue
        example = np.zeros(domain.ancestors.shape[1], dtype=np.int64)
        example[domain.codes] = np.arange(domain.codes.size)
        columns.append(released.gather(example[counted.table.codes[number, tuples]]).alias(column))
    return pl.DataFrame(columns)


# --- suppression of some records or values of a class ---------------------------------------------------------------


def make_parts(
    counted: Counted, maps: Mapping[str, ValueMap], inside: PartialSuppression, blocks: Sequence[IntArray]
) -> ClassParts:
    """Return, in values, the parts of equivalence classes that are suppressed while the rest of the class stays.

    A class may show several values of a column that is not recoded, all but one of which were suppressed. Such a part
    has a line for each of them. If it matters which tuples go, parts are those of tuples.
    """
    part = np.arange(inside.example.size)
    counts = pl.DataFrame({"part": part, "count": inside.count, "code": inside.value.astype(np.int64)})
    cells = counts.join(counted.codes[inside.attribute], on="code").drop("code")
    label = None
    if inside.label is not None and counted.table.labels is not None:
        label = counted.table.labels.name
        labels = counted.codes[label].rename({"value": "label"})
        of_part = pl.DataFrame({"part": part, "code": inside.label.astype(np.int64)})
        cells = cells.join(of_part.join(labels, on="code").drop("code"), on="part")
    if inside.by_tuple:
        leaves = {name: ValueMap(domain.values, pl.Series(domain.codes)) for name, domain in counted.domains.items()}
        codes = zip(counted.domains, counted.table.codes, strict=True)
        classes = pl.DataFrame({name: column[inside.example].astype(np.int64) for name, column in codes})
        entries = pl.DataFrame({"part": part})
    else:
        entry, tuples = _tuples_of(counted, inside, blocks)
        classes, leaves, entries = _class_values(counted, maps, tuples), {}, pl.DataFrame({"part": entry})
    renamed = {column: f"class{number}" for number, column in enumerate(classes.columns)}
    lines = entries.hstack(classes.rename(renamed)).unique(maintain_order=True)
    both = lines.join(cells, on="part", maintain_order="left")
    return ClassParts(
        inside.attribute,
        inside.records,
        both.select(pl.col(name).alias(column) for column, name in renamed.items()),
        both.select(cells.columns),
        counted.codes[inside.attribute]["value"],
        label,
        leaves,
    )


def _tuples_of(counted: Counted, inside: PartialSuppression, blocks: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """Return the tuples of the class of each entry, with the number of the entry."""
    ids = counted.table.group(blocks).ids.astype(np.int64)
    order = np.argsort(ids, kind="stable")
    first = np.searchsorted(ids[order], ids[inside.example], side="left")
    length = np.searchsorted(ids[order], ids[inside.example], side="right") - first
    entry = np.repeat(np.arange(inside.example.size), length)
    within = np.arange(entry.size) - np.repeat(np.cumsum(length) - length, length)
    return entry, order[first[entry] + within]


# --- local recoding -------------------------------------------------------------------------------------------------


def _class_shares(groups: LocalRecoding, counted: Counted) -> tuple[GroupShares, tuple[str, ...]]:
    """Return the classes of the rows of each tuple, their released values, and the columns that stay unchanged."""
    domains, table = counted.domains, counted.table
    codes = {name: ValueMap(domain.values, pl.Series(domain.codes)) for name, domain in domains.items()}
    keys: dict[str, IntArray] = {name: table.codes[number] for number, name in enumerate(domains)}
    for name, key in counted.sensitive_keys.items():
        codes[name] = ValueMap(key.values, pl.Series(key.codes))
        keys[name] = key.of_tuples
    shown, kept = {}, []
    for number, ((name, domain), cover) in enumerate(zip(domains.items(), groups.covers, strict=True)):
        if groups.show == "cover":
            grid = rounding_grid(domain, table.attributes[number].rows) if cover.rounded else None
            text = _cover_labels(domain, cover, grid)
        else:
            text = _representatives(domain, table.codes[number], groups)
        if text is None:
            kept.append(name)
        else:
            shown[name] = text
    size, part, hides = int(groups.group.max(initial=-1)) + 1, None, groups.attribute
    if groups.of_people is not None:
        return _shares_of_people(groups.of_people, counted, shown, size), tuple(kept)
    if groups.of_pairs is not None:
        return _shares_of_pairs(groups.of_pairs, counted, shown, size), tuple(kept)
    if hides is not None:
        groups, class_of, texts = _split_by_value(groups, counted)
        shown = {**{name: text.gather(class_of) for name, text in shown.items()}, hides: texts}
        size, part = class_of.size, pl.Series(np.unique(class_of, return_index=True)[1])
    group, dealt = _deal_rows(groups, size, list(shown.values()))
    tuples = {name: pl.Series(key) for name, key in keys.items()}
    return GroupShares(codes, tuples, group, dealt, shown, size, hides, part), tuple(kept)


def _shares_of_people(group: IntArray, counted: Counted, shown: Mapping[str, pl.Series], size: int) -> GroupShares:
    """Return the classes of a local recoding that keeps all rows of a person together: rows are found by the person."""
    assert counted.owners is not None
    column, numbers = counted.owners.column, pl.Series(counted.owners.numbers)
    person = pl.int_range(len(numbers), eager=True)
    none = pl.DataFrame(schema={"tuple": pl.Int64, "place": pl.Int64, "group": pl.Int64})
    of_person = pl.Series(np.asarray(group, dtype=np.int64))
    return GroupShares({column: ValueMap(numbers, person)}, {column: person}, of_person, none, shown, size)


def _shares_of_pairs(group: IntArray, counted: Counted, shown: Mapping[str, pl.Series], size: int) -> GroupShares:
    """Return the classes of a local recoding that finds rows by their tuple and their person."""
    assert counted.owners is not None
    people, column, numbers = counted.owners.people, counted.owners.column, pl.Series(counted.owners.numbers)
    codes = {name: ValueMap(domain.values, pl.Series(domain.codes)) for name, domain in counted.domains.items()}
    codes[column] = ValueMap(numbers, pl.int_range(len(numbers), eager=True))
    of_pair = np.repeat(np.arange(counted.table.tuples), people.of_tuples)
    tuples = {name: pl.Series(counted.table.codes[number][of_pair]) for number, name in enumerate(counted.domains)}
    for name, key in counted.sensitive_keys.items():
        codes[name] = ValueMap(key.values, pl.Series(key.codes))
        tuples[name] = pl.Series(key.of_tuples[of_pair])
    tuples[column] = pl.Series(people.members.astype(np.int64))
    none = pl.DataFrame(schema={"tuple": pl.Int64, "place": pl.Int64, "group": pl.Int64})
    return GroupShares(codes, tuples, pl.Series(np.asarray(group, dtype=np.int64)), none, shown, size)


def _split_by_value(groups: LocalRecoding, counted: Counted) -> tuple[LocalRecoding, IntArray, pl.Series]:
    """Split groups by the sensitive value that their rows are released with, which is unknown if it is hidden.

    Returns the recoding with more groups, the group each of them is a part of, and its sensitive value.
    """
    assert groups.hidden is not None
    assert groups.attribute is not None
    key = counted.sensitive_keys[groups.attribute]
    example = np.zeros(int(key.codes.max(initial=-1)) + 1, dtype=np.int64)
    example[key.codes] = np.arange(key.codes.size)
    value = np.where(groups.hidden, -1, key.of_tuples[groups.tuple].astype(np.int64))
    width = example.size + 1
    there = groups.group >= 0
    cells, part = np.unique(groups.group[there].astype(np.int64) * width + value[there] + 1, return_inverse=True)
    group = np.full(groups.group.size, -1, dtype=np.int64)
    group[there] = part.reshape(-1)
    written = key.values.to_frame("known").select(as_text(pl.col("known"), key.values.dtype)).to_series()
    of_part = cells % width - 1
    texts = written.gather(example[np.maximum(of_part, 0)]).alias(groups.attribute)
    texts = texts.set(pl.Series(of_part < 0), UNKNOWN)
    return replace(groups, group=group), cells // width, texts


def _deal_rows(groups: LocalRecoding, size: int, shown: Sequence[pl.Series]) -> tuple[pl.Series, pl.DataFrame]:
    """Return the class most rows of each tuple go to, and where each of its other rows goes.

    Classes that show the same values are merged first, so that few rows are listed one by one: a tuple with many rows
    lends some to classes of others, while its own classes all show the same. Only tuples in several classes matter.
    """
    several = np.bincount(groups.tuple)[groups.tuple] > 1
    group = np.full(int(groups.tuple.max(initial=-1)) + 1, -1, dtype=np.int64)
    group[groups.tuple] = groups.group
    concerned = np.unique(groups.group[several & (groups.group >= 0)])
    same = np.append(np.arange(size), -1)
    if shown and concerned.size:
        columns = pl.DataFrame({f"shown{number}": values.gather(concerned) for number, values in enumerate(shown)})
        first = pl.col("group").first().over(columns.columns)
        same[concerned] = columns.with_columns(group=pl.Series(concerned)).select(first).to_series().to_numpy()
    entries = {"tuple": groups.tuple, "group": same[groups.group], "count": groups.count}
    lines = (
        pl.DataFrame({name: values[several] for name, values in entries.items()})
        .group_by("tuple", "group")
        .agg(pl.col("count").sum())
        .sort("tuple", "count", "group", descending=[False, True, False])
    )
    largest = pl.col("tuple").is_first_distinct()
    most = lines.filter(largest)
    group[most["tuple"].to_numpy()] = most["group"].to_numpy()
    others = lines.filter(~largest).select(pl.exclude("count").repeat_by("count")).explode("tuple", "group")
    place = pl.int_range(pl.len(), dtype=pl.Int64).over("tuple").alias("place")
    return pl.Series(group), others.select("tuple", place, "group")


def _cover_labels(domain: Domain, cover: GroupCovers, grid: Grid | None = None) -> pl.Series | None:
    """Return the label of each class; None if every class shows a single value, so that the column stays unchanged.

    A column with several spellings of a value ("1.5" and "1.50") is never unchanged: they are released as one.
    """
    one_spelling = len(np.unique(domain.codes)) == len(domain.codes)
    if one_spelling and _is_single(cover):
        return None
    if cover.form == "set":
        first, number = _distinct_sets(cover)
        released = domain.released_leaves
        taken = {label for leaf, label in enumerate(domain.labels[0]) if released is None or released[leaf]}
        texts = [
            set_text(
                [domain.labels[0][leaf] for leaf in cover.leaves[cover.first[g] : cover.second[g]].tolist()], taken
            )
            for g in first.tolist()
        ]
        return pl.Series(domain.name, texts, dtype=pl.String).gather(number)
    width = int(cover.second.max(initial=0)) + 1
    pairs, number = np.unique(cover.first.astype(np.int64) * width + cover.second, return_inverse=True)
    first, second = pairs // width, pairs % width
    if cover.form == "range":
        return _range_labels(domain, first, second, grid).gather(number)
    names = node_names(domain.labels, first.tolist(), second.tolist())
    return pl.Series(domain.name, names, dtype=pl.String).gather(number)


def _range_labels(domain: Domain, first: IntArray, second: IntArray, grid: Grid | None) -> pl.Series:
    """Return ranges as text, such as ``[17, 23]``; ranges with missing values are the root.

    With a grid, ranges end at its lines.
    """
    labels = pl.Series(domain.labels[0], dtype=pl.String)
    low, high = pl.col("low"), pl.col("high")
    ends = pl.DataFrame({"low": labels.gather(first), "high": labels.gather(second)})
    texts = ends.select(pl.when(low.eq_missing(high)).then(low).otherwise(pl.format("[{}, {}]", low, high)))
    missing = np.zeros(first.size, dtype=np.bool_)
    if domain.positions is not None:
        missing = np.isnan(domain.positions)[second] & (first < second)
    shown = texts.to_series().alias(domain.name)
    if grid is not None:
        lines = [
            f"[{grid.low[grid.cell[a]]}, {grid.high[grid.cell[b]]})" if a < b and not lost else text
            for a, b, lost, text in zip(first.tolist(), second.tolist(), missing.tolist(), shown, strict=True)
        ]
        shown = pl.Series(domain.name, lines, dtype=pl.String)
    return shown.set(pl.Series(missing), domain.labels[-1][0])


def _representatives(domain: Domain, codes: IntArray, groups: LocalRecoding) -> pl.Series:
    """Return one value per class: the mean of numbers and dates, the mode of text.

    Of equally frequent values the first in order is the mode. A class most of whose rows have no value shows none.
    """
    from discreet.solve.local.microaggregation import representatives

    found = representatives(domain.positions, codes, groups)
    if domain.positions is None:
        return pl.Series(domain.name, domain.labels[0], dtype=pl.String).gather(found.astype(np.int64))
    if domain.type == Type.DATE:
        return pl.Series(domain.name, np.rint(found)).fill_nan(None).cast(pl.Int32).cast(pl.Date)
    return pl.Series(domain.name, found).fill_nan(None)


def _distinct_sets(cover: GroupCovers) -> tuple[IntArray, IntArray]:
    """Return one class for each distinct set, and the index of each class's set among them."""
    if int(cover.leaves.max(initial=0)) >= _BITS:
        return np.arange(cover.first.size), np.arange(cover.first.size)
    mask = np.bitwise_or.reduceat(np.int64(1) << cover.leaves, cover.first)
    _, first, number = np.unique(mask, return_index=True, return_inverse=True)
    return first, number


def _is_single(cover: GroupCovers) -> bool:
    """Whether every class shows a single original value."""
    if cover.form == "set":
        return bool((cover.second - cover.first == 1).all())
    if cover.form == "range":
        return bool((cover.first == cover.second).all())
    return not cover.first.any()
