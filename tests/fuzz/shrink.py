"""The smallest case that still fails in the same way: fewer rows, columns, promises and options."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from fuzz.jobs import Case, Part
from fuzz.tables import Column

__all__ = ["shrink"]


def shrink(case: Case, fails: Callable[[Case], bool], tries: int = 300) -> Case:
    """Shrink a case while it still ``fails``."""
    smaller = True
    while smaller:
        smaller = False
        for simpler in simpler_cases(case):
            tries -= 1
            if tries < 0:
                return case
            if fails(simpler):
                case, smaller = simpler, True
                break
    return case


def simpler_cases(case: Case) -> Iterator[Case]:
    """Smaller cases, with the largest parts removed first."""
    if case.frame != "polars":
        yield replace(case, frame="polars")
    for name in case.options:
        if name != "seed":
            yield replace(case, options={key: value for key, value in case.options.items() if key != name})
    if case.solver is not None:
        yield replace(case, solver=None)
        if case.solver.arguments:
            yield replace(case, solver=Part(case.solver.name, {}, case.solver.name))
    if case.cost is not None and case.cost.arguments:
        yield replace(case, cost=Part(case.cost.name, {}, case.cost.name))
    if len(case.privacy) > 1:
        for i in range(len(case.privacy)):
            yield replace(case, privacy=case.privacy[:i] + case.privacy[i + 1 :])
    if len(case.quasi) > 1:
        for name in case.quasi:
            quasi = {key: column for key, column in case.quasi.items() if key != name}
            yield replace(case, quasi=quasi, schemes={key: case.schemes[key] for key in quasi})
    looked_at = {part.arguments.get("attribute") for part in case.privacy}
    for name in case.sensitive:
        if name not in looked_at:
            yield replace(case, sensitive={key: column for key, column in case.sensitive.items() if key != name})
    if case.label is not None:
        yield replace(case, label=None)
    if case.owners is not None:
        yield replace(case, owners=None)
    people = case.people() and len(next(iter(case.quasi.values())).people)
    if people:
        yield with_people(case, [])
    step = (people or 0) // 2
    while step:
        for start in range(0, people, step):
            yield with_people(case, [i for i in range(people) if not start <= i < start + step])
        step //= 2
    step = case.rows // 2
    while step:
        for start in range(0, case.rows, step):
            stay = [i for i in range(case.rows) if not start <= i < start + step]
            if stay:
                yield with_rows(case, stay)
        step //= 2


def with_rows(case: Case, rows: list[int]) -> Case:
    """The case with some rows only."""
    return replace(
        case,
        quasi={name: with_values(column, rows) for name, column in case.quasi.items()},
        sensitive={name: with_values(column, rows) for name, column in case.sensitive.items()},
        label=None if case.label is None else [case.label[i] for i in rows],
        weights=None if case.weights is None else [case.weights[i] for i in rows],
        owners=None if case.owners is None else [case.owners[i] for i in rows],
    )


def with_people(case: Case, some: list[int]) -> Case:
    """The case with some people of the population only, and without a population if there are none."""
    quasi = {}
    for name, column in case.quasi.items():
        people = [column.people[i] for i in some] or None
        quasi[name] = with_values(replace(column, people=people), list(range(case.rows)))
    return replace(case, quasi=quasi)


def with_values(column: Column, rows: list[int]) -> Column:
    values = [column.values[i] for i in rows]
    meaning = column.rows
    explicit = isinstance(column.given, list) or str(column.given).startswith("ordered")
    if meaning is not None and not explicit:
        meaning = [row for row in meaning if row[0] in {*values, *(column.people or ())}]
    return replace(column, values=values, rows=meaning)
