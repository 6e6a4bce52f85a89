"""Labels of released values: the original values they may name, and their meanings.

Labels of blocks, ranges and nodes name only values of released rows, so that they reveal nothing about suppressed ones.
What a label means is known from the recoding and need not be parsed from its text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.engines import Counted, Recoding, Source, ValueMap, open_source
from discreet.errors import DataError
from discreet.pipeline.recode import make_parts
from discreet.report.columns import is_automatic, released_names
from discreet.runtime.integer_codes import add_up
from discreet.schema import Hierarchy, LevelBuilder, Naming

if TYPE_CHECKING:
    from discreet.counts import CountTable, IntArray
    from discreet.evaluate.released_as import ReleasedAs
    from discreet.problem import Problem
    from discreet.schema import Domain
    from discreet.solve import GroupCovers, PartialSuppression, Solution

__all__ = ["hierarchy_of", "meanings", "named_by_released"]

Flags = NDArray[np.bool_]


def named_by_released(source: Source, problem: Problem, counted: Counted, solution: Solution) -> Counted:
    """Return the counted table with domains whose labels name only values of released rows.

    If a promise is about a population table, its values may be named too: the promise counts everybody whom a released
    value may stand for and assumes that an attacker knows them. Labels still do not depend on suppressed rows.
    """
    named = {}
    leaves = _released_leaves(source, counted, solution)
    population = problem.whole.population if problem.looks_at_population else None
    for number, (column, domain) in enumerate(counted.domains.items()):
        released = leaves[number]
        if population is not None and not population.estimated:
            released[population.codes[number][population.people > 0]] = True
        named[column] = domain.named_by(released, problem.lowest[number] if problem.schemes[number].is_global else 0)
    return replace(counted, domains=named)


def _released_leaves(source: Source, counted: Counted, solution: Solution) -> list[Flags]:
    """Return for each quasi-identifier which leaves occur in released rows.

    A leaf whose last row is suppressed within a class may still be flagged where no label depends on it.
    """
    table = counted.table
    inside = solution.inside
    if solution.groups is not None:
        groups = solution.groups
        return _leaves_of(table, np.unique(groups.tuple[(groups.group >= 0) & (groups.count > 0)]))
    kept = ~solution.suppressed if solution.suppressed.size else np.ones(table.tuples, dtype=np.bool_)
    if inside is not None and inside.records and inside.by_tuple:
        left = table.weights - add_up(inside.example, inside.count, table.tuples)
        return _leaves_of(table, np.flatnonzero(kept & (left > 0)))
    possible = _leaves_of(table, np.flatnonzero(kept))
    if inside is None or not inside.records or not inside.example.size:
        return possible
    domains = zip(counted.domains.values(), solution.blocks, strict=True)
    if not any(domain.names_depend_on_rows(blocks) for domain, blocks in domains):
        return possible
    certain = _certain_leaves(table, solution, inside, kept)
    if all((flags == others).all() for flags, others in zip(possible, certain, strict=True)):
        return possible
    return _counted_leaves(source, counted, solution, inside, kept)


def _leaves_of(table: CountTable, tuples: IntArray) -> list[Flags]:
    found = []
    for attribute, codes in zip(table.attributes, table.codes, strict=True):
        flags = np.zeros(attribute.leaves, dtype=np.bool_)
        flags[codes[tuples]] = True
        found.append(flags)
    return found


def _certain_leaves(table: CountTable, solution: Solution, inside: PartialSuppression, kept: Flags) -> list[Flags]:
    """Return the leaves that some class has in more rows than are suppressed in it, whichever rows those are."""
    grouping = table.group(solution.blocks)
    suppressed = add_up(grouping.ids[inside.example], inside.count, grouping.sizes.size)
    found = []
    for attribute, codes in zip(table.attributes, table.codes, strict=True):
        cells, cell = np.unique(
            grouping.ids[kept].astype(np.int64) * attribute.leaves + codes[kept], return_inverse=True
        )
        rows = add_up(cell, table.weights[kept], cells.size)
        flags = np.zeros(attribute.leaves, dtype=np.bool_)
        flags[cells[rows > suppressed[cells // attribute.leaves]] % attribute.leaves] = True
        found.append(flags)
    return found


def _counted_leaves(
    source: Source, counted: Counted, solution: Solution, inside: PartialSuppression, kept: Flags
) -> list[Flags]:
    """Suppress records as the release will, but keep original values, and see which values are left.

    Which of several records go depends on the order of the rows, so the counts alone cannot tell.
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
    released = _is_among(codes, counted.table.codes[:, kept])
    for flags, code in zip(found, codes, strict=True):
        flags[code[released]] = True
    return found


def _is_among(codes: list[IntArray], tuples: IntArray) -> Flags:
    """Return which tuples, given by column, are among others."""
    known = pl.DataFrame({f"c{number}": column.astype(np.int64) for number, column in enumerate(tuples)})
    wanted = pl.DataFrame({f"c{number}": column.astype(np.int64) for number, column in enumerate(codes)})
    found = wanted.with_row_index("row").join(known, on=known.columns, how="semi")["row"].to_numpy()
    flags = np.zeros(wanted.height, dtype=np.bool_)
    flags[found] = True
    return flags


def meanings(
    domains: Mapping[str, Domain],
    given: Mapping[str, Any],
    blocks: Sequence[IntArray],
    covers: Sequence[GroupCovers],
    recoding: Recoding,
) -> dict[str, ReleasedAs]:
    """Return for each quasi-identifier the hierarchy it was released with, and what its released values mean.

    They are the ``blocks`` of a global recoding or the ``covers`` of a local one; without either, representatives.
    """
    from discreet.evaluate.released_as import ReleasedAs

    found = {}
    for number, (name, domain) in enumerate(domains.items()):
        values: dict[str, Sequence[str | None]] = {}
        if blocks:
            values = _leaves_by_block(domain, blocks[number], recoding)
        elif covers:
            values = _leaves_by_label(domain, covers[number], recoding)
        from_table = given[name] is None or isinstance(given[name], LevelBuilder)
        found[name] = ReleasedAs(hierarchy_of(domain, given[name]), values, is_automatic(domain), from_table)
    return found


def hierarchy_of(domain: Domain, given: Any) -> Any:
    """Return the hierarchy a column was released with, given or automatic; None if there was none."""
    if not is_automatic(domain) and domain.naming is Naming.FIXED:
        return given
    if domain.labels[0][-1] is not None:
        return Hierarchy(domain.labels, domain.ancestors.copy())  # type: ignore[arg-type]
    labels = [[name for name in level if name is not None] for level in domain.labels]
    return Hierarchy(labels, domain.ancestors[:, :-1].copy())


def _leaves_by_block(domain: Domain, blocks: IntArray, recoding: Recoding) -> dict[str, Sequence[str | None]]:
    """Return the leaves of each block by its label."""
    _, block = np.unique(blocks, return_inverse=True)
    names = released_names(domain, block, int(block.max(initial=-1)) + 1, recoding)
    order = np.argsort(block, kind="stable")
    ends = np.cumsum(np.bincount(block))
    leaves = [domain.labels[0][leaf] for leaf in order.tolist()]
    begins = [0, *ends[:-1].tolist()]
    return {
        name: leaves[begin:end]
        for name, begin, end in zip(names, begins, ends.tolist(), strict=True)
        if name is not None
    }


def _leaves_by_label(domain: Domain, cover: GroupCovers, recoding: Recoding) -> dict[str, Sequence[str | None]]:
    """Return the leaves that each label of a local recoding covers; ranges speak for themselves."""
    shown = None if recoding.shares is None else recoding.shares.shown_of(domain.name)
    if shown is None:
        return {str(name): [name] for name in domain.labels[0] if name is not None}
    if cover.form == "range":
        return {}
    groups = pl.DataFrame({"text": shown.cast(pl.String), "first": cover.first, "second": cover.second})
    is_node = cover.form == "node"
    groups = groups.unique(None if is_node else "text", maintain_order=True)
    found: dict[str, Sequence[str | None]] = {}
    for text, first, second in groups.drop_nulls("text").iter_rows():
        leaves: IntArray = np.flatnonzero(domain.ancestors[first] == second) if is_node else cover.leaves[first:second]
        values = [domain.labels[0][leaf] for leaf in leaves.tolist()]
        if found.setdefault(text, values) != values:
            raise DataError(
                f"Column '{domain.name}' is released with a value that means different things in different rows, so "
                "that it cannot be measured; give the groups of its hierarchy names of their own.",
                column=domain.name,
            )
    return found
