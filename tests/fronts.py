"""Fronts by exhaustive evaluation in plain Python: axes as functions of rows, random problems, expected fronts."""

from __future__ import annotations

import itertools
import math

import naive
from cases import COSTS, plain_cost
from discreet.problem import Problem
from discreet.solve import Budget
from tables import random_sample

__all__ = ["EVERY", "FORMS", "SUPPRESSIONS", "Clock", "drawn", "expected", "rounded", "whole", "worth"]

EVERY = [*COSTS, "precision"]
SUPPRESSIONS = ["none", "budget(1)", "budget(2)", "budget(0.2)", "budget(0.5)", "class-records"]
FORMS = ["k", "distinct-l(s0)", "entropy-l(s0)", "theta(s0)", "t(s0)", "t(s0, distance=ordered)", "average-risk"]


def worth(text, sample):
    """The value of a class, given its rows, and of a node, given its released classes."""
    table = sample.naive
    whole = naive.counts(table, range(len(table.rows)), "s0")
    in_order = {row[0]: whole.get(row[0], 0) for row in sample.sensitive["s0"]}

    def counts(rows):
        return naive.counts(table, rows, "s0")

    distance = "ordered" if "ordered" in text else "equal"
    values = {
        "k": len,
        "average-risk": len,
        "distinct-l": lambda rows: len(counts(rows)),
        "entropy-l": lambda rows: round(math.exp(naive.entropy(counts(rows))), 9),
        "theta": lambda rows: -max(counts(rows).values()) / len(rows),
        "t": lambda rows: -round(naive.emd(counts(rows), in_order, distance), 9),
    }
    value = values[text.split("(")[0]]
    if text == "average-risk":
        return value, lambda published: -len(published) / sum(map(len, published))
    return value, lambda published: min(map(value, published))


def drawn(rng, cost, suppression, *, limits=False, **ranges):
    """A random table, a problem, and the vectors of its lattice."""
    sample = random_sample(int(rng.integers(1 << 30)), **ranges)
    levels = {}
    if limits:
        for attribute in sample.counts.attributes:
            low = int(rng.integers(attribute.height + 1))
            levels[attribute.name] = (low, int(rng.integers(low, attribute.height + 1)))
    problem = Problem.build(
        sample.counts,
        privacy="k(1)",
        cost=cost,
        suppression=suppression,
        min_levels={name: low for name, (low, _) in levels.items()},
        max_levels={name: high for name, (_, high) in levels.items()},
    )
    spans = [range(low, high + 1) for low, high in zip(problem.lowest, problem.highest, strict=True)]
    return sample, problem, list(itertools.product(*spans))


def expected(sample, problem, vectors, cost, *axes):
    name, options = plain_cost(cost, ["k(1)"])
    each = [worth(text, sample) for text in axes]
    return naive.front(
        sample.naive, problem.limit, name, each[0][0], [measure for _, measure in each], vectors, **options
    )


def rounded(point):
    return (*(round(value, 7) for value in point.values), round(point.loss, 6))


def whole(point):
    return (*rounded(point), point.levels, point.suppressed, point.classes, point.also)


class Clock(Budget):
    """A budget that is exhausted after a number of checks."""

    def __init__(self, checks):
        super().__init__()
        self.checks = checks

    @property
    def exhausted(self):
        self.checks -= 1
        return self.checks < 0
