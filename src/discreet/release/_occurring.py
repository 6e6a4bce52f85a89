"""Which values released rows have: names of blocks, ranges and nodes are made from these alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet._numbers import add_up
from discreet.engines import Counted, Recoding, Source, ValueMap, open_source
from discreet.release._inside import make_parts

if TYPE_CHECKING:
    from discreet.counts import CountTable, IntArray
    from discreet.problem import Problem
    from discreet.solve import Inside, Solution

__all__ = ["named_by_released"]

Flags = NDArray[np.bool_]


def named_by_released(source: Source, problem: Problem, counted: Counted, solution: Solution) -> Counted:
    """Return what was counted with domains whose names come from values of released rows only.

    Where a promise is about a table of the population, values of the population may be named too: the promise counts
    all people whom a released value may stand for, and takes it that whoever attacks the release knows them. Names
    then follow from released rows and the population, and still not from rows that are left out.
    """
    named = {}
    leaves = _released_leaves(source, counted, solution)
    population = problem.whole.population if problem.looks_at_population else None
    for number, (column, domain) in enumerate(counted.domains.items()):
        there = leaves[number]
        if population is not None and not population.estimated:
            there[population.codes[number][population.people > 0]] = True
        named[column] = domain.named_by(there)
    return replace(counted, domains=named)


def _released_leaves(source: Source, counted: Counted, solution: Solution) -> list[Flags]:
    """Return for each quasi-identifier which leaves a released row has.

    Leaves whose last row is taken out of a class may be among them where no name depends on that.
    """
    table = counted.table
    inside = solution.inside
    if solution.groups is not None:
        groups = solution.groups
        return _leaves_of(table, np.unique(groups.tuple[(groups.group >= 0) & (groups.count > 0)]))
    kept = ~solution.suppressed if solution.suppressed.size else np.ones(table.tuples, dtype=np.bool_)
    possible = _leaves_of(table, np.flatnonzero(kept))
    if inside is None or not inside.records or not inside.example.size:
        return possible
    domains = zip(counted.domains.values(), solution.blocks, strict=True)
    if not any(domain.names_depend_on_rows(blocks) for domain, blocks in domains):
        return possible
    certain = _certain_leaves(table, solution, inside, kept)
    if all((one == other).all() for one, other in zip(possible, certain, strict=True)):
        return possible
    return _counted_leaves(source, counted, solution, inside, kept)


def _leaves_of(table: CountTable, tuples: IntArray) -> list[Flags]:
    found = []
    for attribute, codes in zip(table.attributes, table.codes, strict=True):
        there = np.zeros(attribute.leaves, dtype=np.bool_)
        there[codes[tuples]] = True
        found.append(there)
    return found


def _certain_leaves(table: CountTable, solution: Solution, inside: Inside, kept: Flags) -> list[Flags]:
    """Return the leaves some class has in more rows than are taken out of it, whichever rows those are."""
    grouping = table.group(solution.blocks)
    taken = add_up(grouping.ids[inside.example], inside.count, grouping.sizes.size)
    found = []
    for attribute, codes in zip(table.attributes, table.codes, strict=True):
        cells, cell = np.unique(
            grouping.ids[kept].astype(np.int64) * attribute.leaves + codes[kept], return_inverse=True
        )
        rows = add_up(cell, table.weights[kept], cells.size)
        there = np.zeros(attribute.leaves, dtype=np.bool_)
        there[cells[rows > taken[cells // attribute.leaves]] % attribute.leaves] = True
        found.append(there)
    return found


def _counted_leaves(source: Source, counted: Counted, solution: Solution, inside: Inside, kept: Flags) -> list[Flags]:
    """Take the records out as the release will, but with their original values, and see which values are left.

    Which of several records go depends on the order of the rows, so that the counts alone do not tell.
    """
    maps = {}
    for column, domain in counted.domains.items():
        shown = domain.released(0)
        if shown is not domain.values:  # several spellings of a value
            maps[column] = ValueMap(domain.values, shown)
    names = list(counted.domains)
    probe = Recoding(
        maps=maps,
        kept=tuple(column for column in names if column not in maps),
        required=tuple(names) if counted.dropped else (),
        parts=make_parts(counted, maps, inside, solution.blocks),
    )
    with source.guard():
        rows = open_source(source.recode(probe)).count(names)
    codes = []
    for column, domain in counted.domains.items():
        values = maps[column].released if column in maps else domain.values
        book = pl.DataFrame({"value": values, "code": domain.codes}).unique("value")
        seen = rows[column].cast(values.dtype)
        codes.append(seen.replace_strict(book["value"], book["code"], return_dtype=pl.Int64).to_numpy())
    found = _leaves_of(counted.table, np.zeros(0, dtype=np.int64))
    released = _among(codes, counted.table.codes[:, kept])
    for there, code in zip(found, codes, strict=True):
        there[code[released]] = True
    return found


def _among(codes: list[IntArray], tuples: IntArray) -> Flags:
    """Return which of some tuples, given column by column, are among others."""
    known = pl.DataFrame({f"c{number}": column.astype(np.int64) for number, column in enumerate(tuples)})
    asked = pl.DataFrame({f"c{number}": column.astype(np.int64) for number, column in enumerate(codes)})
    place = pl.int_range(pl.len()).alias("place")
    found = asked.with_columns(place).join(known, on=known.columns, how="semi")["place"].to_numpy()
    flags = np.zeros(asked.height, dtype=np.bool_)
    flags[found] = True
    return flags
