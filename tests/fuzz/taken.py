"""What discreet takes: the parts of a case on a small stand-in for its table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.counts import People, PersonValues
from discreet.errors import DiscreetError
from discreet.problem import Problem
from discreet.solve import choose_solver
from discreet.solve._matrix import tiny_table
from fuzz.arguments import known

__all__ = ["is_taken", "refusal"]

GENERAL_ROWS = 30
"""The most rows of a table that is searched by general code, in three cases of four."""


def refusal(case) -> DiscreetError | None:
    """Why discreet refuses the parts of a case on a small table with the same columns; None if it takes them."""
    try:
        _asked(case)
    except DiscreetError as error:
        return error
    return None


def is_taken(case) -> bool:
    """Whether discreet takes the parts of a case, and searches them in reasonable time."""
    try:
        problem, solver = _asked(case)
    except DiscreetError:
        return False
    return case.rows <= GENERAL_ROWS or case.seed % 4 == 0 or solver.compiled(problem)


def _asked(case):
    """A problem with the parts of a case on a stand-in for its table, and the solver for it."""
    table = stand_in(case)
    heights = {attribute.name: attribute.height for attribute in table.attributes}
    lowest, highest = (
        {name: min(level, heights[name]) for option in options for name, level in case.options.get(option, {}).items()}
        for options in (("min_levels",), ("max_levels", "keep_at_least"))
    )
    usual = "score" if case.options.get("priorities") else "LM"
    problem = Problem.build(
        table,
        privacy=[_model(part) for part in case.privacy],
        cost=usual if case.cost is None else case.cost.text,
        suppression=case.suppression.text,
        scheme={name: part.text for name, part in case.schemes.items()},
        min_levels=lowest,
        max_levels=highest,
    )
    return problem, choose_solver(problem, "auto" if case.solver is None else case.solver.text)


def _model(part):
    """A privacy model with arguments that do not depend on the table."""
    elsewhere = {"population": 10**6} if "population" in part.arguments else {}
    elsewhere |= {"theta": 0.5} if isinstance(part.arguments.get("theta"), dict) else {}
    return known("privacy")[part.name](**{**part.arguments, **elsewhere})


def stand_in(case):
    """The small table that the matrix tries parts on, with the columns of a case."""
    table = tiny_table()
    turns = [i % len(table.attributes) for i in range(len(case.quasi))]
    codes = table.codes[turns]
    secrets = dict.fromkeys(case.sensitive, "disease")
    people = case.weights is not None or any(column.people is not None for column in case.quasi.values())
    return replace(
        table,
        attributes=tuple(
            replace(table.attributes[i], name=name, tree=_has_hierarchy(case, name))
            for i, name in zip(turns, case.quasi, strict=True)
        ),
        codes=codes,
        sensitive={name: replace(table.sensitive[old], name=name) for name, old in secrets.items()},
        labels=None if case.label is None else table.labels,
        joint={} if case.label is None else {name: table.joint[old] for name, old in secrets.items()},
        population=replace(table.population, codes=codes, estimated=case.weights is not None) if people else None,
        people=None if case.owners is None or _are_rows(case) else _owners(case, table, secrets),
    )


def _are_rows(case):
    """Whether people are rows: every row is of another person, and no row is drawn, which is refused all the same."""
    if any(part.name == "dp" for part in case.privacy):
        return False
    owners = [row["p"] for row in case.original()]
    return len(set(owners)) == len(owners)


def _owners(case, table, secrets):
    """Two people for each tuple of the small table, or two with rows of all tuples if those of a case vary."""
    tuples = np.arange(table.tuples)
    pairs = {(row["p"], *(row[name] for name in case.quasi)) for row in case.original()}
    varies = len(pairs) > len({owner for owner, *_ in pairs})
    member = np.stack([0 * tuples, 0 * tuples + 1] if varies else [2 * tuples, 2 * tuples + 1], axis=1).ravel()
    count = 2 if varies else 2 * table.tuples
    values = {}
    for name, old in secrets.items():
        histogram = table.sensitive[old]
        of_tuple = np.repeat(tuples, np.diff(histogram.offsets))
        whose = np.zeros_like(of_tuple) if varies else 2 * of_tuple
        pairs = np.unique(whose * histogram.cardinality + histogram.values)
        totals = np.bincount(pairs % histogram.cardinality, minlength=histogram.cardinality)
        values[name] = PersonValues(histogram.offsets, whose, histogram.values, totals)
    return People(count, 2 * np.arange(table.tuples + 1), member, np.ones(member.size, dtype=np.int64), values)


def _has_hierarchy(case, name):
    """Whether a column has a hierarchy: one that was given, or one that its scheme needs."""
    return case.quasi[name].given is not None or known("scheme")[case.schemes[name].name].uses_hierarchy
