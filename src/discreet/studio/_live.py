"""A few rows of the table at every point of a front, so that a slider can move them without the server."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.engines import number_people
from discreet.pipeline.best_scheme import class_sizes
from discreet.pipeline.people import kept_pairs
from discreet.report.plain_labels import plain_label
from discreet.runtime.integer_codes import add_up, distinct, numbered
from discreet.studio._lattice import leaves_of
from discreet.studio._table import shown_text

if TYPE_CHECKING:
    from discreet.pipeline.front import Front, FrontPoint

__all__ = ["live_table"]

_ROWS = 12
_SECONDS = 20.0
"""Time for all points; those that are left have no rows."""


def live_table(front: Front, rows: Path) -> dict[str, Any]:
    """The first rows of a table at every level, and at every point the group of each and the risk of all.

    Without levels for whole columns there is only the ``reason`` why there is no such table.
    """
    if not front.points or not all(point.levels for point in front.points):
        return {"reason": "Rows are shown for choices that give every column one level; this search has others."}
    domains = front.prepared.counted.domains
    schema = front.prepared.schema
    others = [*schema.sensitive, *([schema.class_attribute] if schema.class_attribute else [])]
    first = pl.scan_parquet(rows, glob=False).head(_ROWS).collect()
    leaves = {column: leaves_of(first[column], domain) for column, domain in domains.items()}
    tuples = _tuple_of_rows(front, list(leaves.values()))
    people = _person_of_rows(front, rows, first.height)
    labels = {
        column: [
            [plain_label(names[block], domain.type) for block in ancestors[leaves[column]].tolist()]
            for names, ancestors in zip(domain.labels, domain.ancestors, strict=True)
        ]
        for column, domain in domains.items()
    }
    began, points = time.monotonic(), []
    for point in front.points:
        points.append(_point(front, point, tuples, people) if time.monotonic() - began < _SECONDS else None)
    return {
        "columns": list(domains),
        "others": others,
        "labels": labels,
        "unchanged": shown_text(first.select(others)).to_dict(as_series=False) if others else {},
        "rows": first.height,
        "total": front.problem.table.units.n,
        "points": points,
    }


def _tuple_of_rows(front: Front, leaves: list[NDArray[np.int64]]) -> list[int | None]:
    """The tuple of the count table that each row is counted in; None for rows that were dropped before."""
    table = front.problem.table
    known = table.tuples
    codes = (
        (np.concatenate([table.codes[index], own]), attribute.leaves)
        for index, (own, attribute) in enumerate(zip(leaves, table.attributes, strict=True))
    )
    number = numbered(known + len(leaves[0]), codes)[0]
    at = {int(code): index for index, code in enumerate(number[:known].tolist())}
    return [at.get(int(code)) for code in number[known:].tolist()]


def _person_of_rows(front: Front, rows: Path, count: int) -> list[int | None]:
    """The person of each of the first rows in the count table; None if rows are counted."""
    column, owners = front.prepared.schema.unit, front.prepared.counted.owners
    if front.problem.people is None or column is None or owners is None:
        return [None] * count
    numbers = number_people(pl.scan_parquet(rows, glob=False).select(column), [column]).head(count).collect()
    at = {number: person for person, number in enumerate(owners.numbers.tolist())}
    return [at.get(number) for number in numbers[column].to_list()]


def _point(front: Front, point: FrontPoint, tuples: list[int | None], people: list[int | None]) -> dict[str, Any]:
    """The size of each row's group, None if it is left out, and the risk of everybody who is released.

    The sizes, and how many are left out, are of people if promises count people.
    """
    problem, recoded = front.recoded(point)
    table, solution = problem.table, recoded.solution("feasible", 0.0)
    class_of = numbered(
        table.tuples,
        ((blocks[table.codes[index]], int(blocks.max(initial=0)) + 1) for index, blocks in enumerate(recoded.blocks)),
    )[0]
    size, left_out = add_up(class_of, table.weights), int(recoded.suppressed_rows)
    if table.people is not None:
        count, there = table.people.count, kept_pairs(table.people, table, solution)
        assert there is not None  # no single records are suppressed if promises count people
        pairs = distinct((np.repeat(class_of, table.people.of_tuples) * count + table.people.members)[there])
        size = np.bincount(pairs // count, minlength=size.size)
        left_out = count - distinct(pairs % count).size
    sizes = class_sizes(table, solution)
    gone = recoded.suppressed if recoded.suppressed.size else np.zeros(table.tuples, dtype=np.bool_)
    without = set() if recoded.suppressed_people is None else {*recoded.suppressed_people.tolist()}
    return {
        "groups": [
            None if row is None or gone[row] or person in without else int(size[class_of[row]])
            for row, person in zip(tuples, people, strict=True)
        ],
        "average_risk": sizes.average_risk,
        "highest_risk": sizes.highest_risk,
        "smallest": sizes.smallest,
        "left_out": left_out,
        "released": sizes.rows,
    }
