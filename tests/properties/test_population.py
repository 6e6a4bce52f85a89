"""Models that count people of the population, against trying every recoding and counting everybody by hand."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import naive
from discreet.counts import Population
from discreet.errors import InfeasibleError, UsageError
from discreet.problem import Problem
from discreet.solve import Budget
from discreet.solve.lattice.solver import LatticeSolver
from discreet.solve.published.annealing import AnnealingSolver
from tables import Sample, random_sample

MODELS = ("k-map(3)", "k-map(6)", "delta-presence(0, 0.5)", "delta-presence(0.2, 0.6)", "delta-presence(0.4, 1)")


def everybody(sample: Sample, rng: random.Random) -> list[tuple[Any, ...]]:
    """The people of the table but for a few, and others, who may have values no row of the table has."""
    names = list(sample.naive.hierarchies)
    known = [tuple(row[name] for name in names) for row in sample.naive.rows if rng.random() < 0.9]
    values = [[row[0] for row in sample.naive.hierarchies[name]] for name in names]
    return known + [tuple(rng.choice(column) for column in values) for _ in range(rng.randint(1, 25))]


def with_people(sample: Sample, people: list[tuple[Any, ...]]) -> Sample:
    names = list(sample.naive.hierarchies)
    place = [{row[0]: i for i, row in enumerate(sample.naive.hierarchies[name])} for name in names]
    coded = [tuple(column[value] for column, value in zip(place, person, strict=True)) for person in people]
    own = [tuple(code) for code in sample.counts.codes.T.tolist()]
    tuples = sorted({*coded, *own})
    population = Population(
        np.array(tuples, dtype=np.int32).T.copy(),
        np.array([coded.count(each) for each in tuples], dtype=np.float64),
        np.array([tuples.index(each) for each in own]),
    )
    return replace(sample, counts=replace(sample.counts, population=population))


def with_weights(sample: Sample, weights: list[float]) -> Sample:
    names = list(sample.naive.hierarchies)
    place = [{row[0]: i for i, row in enumerate(sample.naive.hierarchies[name])} for name in names]
    sums = dict.fromkeys((tuple(code) for code in sample.counts.codes.T.tolist()), 0.0)
    for row, weight in zip(sample.naive.rows, weights, strict=True):
        sums[tuple(column[row[name]] for column, name in zip(place, names, strict=True))] += weight
    people = np.array(list(sums.values()))
    own = np.arange(people.size)
    return replace(
        sample, counts=replace(sample.counts, population=Population(sample.counts.codes, people, own, estimated=True))
    )


def is_ok(model: str, rows: int, people: float) -> bool:
    name, _, rest = model.rstrip(")").partition("(")
    limits = [float(part) for part in rest.split(",")]
    if name == "k-map":
        return people >= limits[0] - 1e-9
    return people > 0 and limits[0] - 1e-9 <= rows / people <= limits[1] + 1e-9


def cases(model: str, weighted: bool):
    rng = random.Random(f"{model} {weighted}")
    for _ in range(25):
        sample = random_sample(rng.randrange(1 << 30), rows=(2, 12), attributes=(1, 3), height=(1, 3), label=False)
        people = everybody(sample, rng)
        weights = [rng.choice([1.0, 1.5, 2.25, 4.0]) for _ in sample.naive.rows]
        made = with_weights(sample, weights) if weighted else with_people(sample, people)
        try:
            problem = Problem.build(
                made.counts, privacy=model, cost="LM", suppression=rng.choice(["none", "budget(3)", "class-records"])
            )
        except (InfeasibleError, UsageError):
            continue
        yield problem, sample.naive, weights if weighted else None, people


def best(problem: Problem, table: naive.Table, weights: list[float] | None, people: list[Any], model: str):
    """Try every level vector: people are looked up by their released values."""
    names, found = list(table.hierarchies), None
    for vector in naive.level_vectors(table):
        shown = [
            tuple(
                naive.released(table, name, value, level)
                for name, value, level in zip(names, each, vector, strict=True)
            )
            for each in people
        ]
        published, suppressed = [], []
        for members in naive.classes(table, vector):
            if weights is not None:
                there = sum(weights[row] for row in members)
            else:
                key = tuple(
                    naive.released(table, name, table.rows[members[0]][name], level)
                    for name, level in zip(names, vector, strict=True)
                )
                there = shown.count(key)
            if is_ok(model, len(members), there):
                published.append(members)
            else:
                suppressed += members
        if len(suppressed) > problem.limit:
            continue
        cost = naive.COSTS["LM"](table, vector, published, sorted(suppressed))
        found = cost if found is None else min(found, cost)
    return found


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_the_lattice_equals_exhaustive_search(model: str, weighted: bool) -> None:
    seen = set()
    for problem, table, weights, people in cases(model, weighted):
        want = best(problem, table, weights, people, model)
        found = LatticeSolver().solve(problem, Budget())
        assert (found.status == "optimal") == (want is not None)
        seen.add(found.status)
        if want is not None:
            assert found.cost == pytest.approx(want, rel=1e-9, abs=1e-9)
    assert "optimal" in seen


def test_annealing_keeps_what_is_promised() -> None:
    for problem, *_ in cases("k-map(6)", False):
        cut = replace(problem, schemes=Problem.build(problem.table, privacy="k-map(6)", scheme="subtree").schemes)
        found = AnnealingSolver(steps=200).solve(cut, Budget(seed=1))
        if found.status == "infeasible":
            continue
        assert problem.table.population is not None
        there = problem.table.population.of_tuples(found.blocks)[~found.suppressed]
        assert (there >= 6).all()
