"""Draw the front of k against loss of made-up people, with every recoding there is behind it.

The front comes from the package, and what is drawn is checked: all recodings are evaluated one by one, and those no
other is better than are the points of the front. Run it with ``python docs/drawings/pareto.py``; it writes
``docs/pareto.svg``.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

import discreet as dc
from discreet.counts import FloatArray
from discreet.report.front.drawing import svg
from discreet.report.front.plot import picture_of
from discreet.solve.front.evaluate import FrontEvaluator

TARGET = Path(__file__).parents[1] / "pareto.svg"
HIERARCHIES = {
    "birth_date": dc.dates("month", "year", "decade"),
    "sex": dc.flat(),
    "zip": dc.mask(digits=5),
    "education": dc.groups(
        {
            "Basic": ["No schooling", "Primary school", "Middle school"],
            "Secondary": ["High school", "Vocational"],
            "Higher": ["Bachelor", "Master", "Doctorate"],
        }
    ),
    "marital_status": dc.groups(
        {"Alone": ["Single", "Separated", "Divorced", "Widowed"], "Together": ["Partnered", "Married"]}
    ),
}


def everything(front: dc.Front) -> FloatArray:
    """Return k and loss of every recoding."""
    problem = front.problem
    evaluator = FrontEvaluator(problem, front.parts)
    spans = [range(low, high + 1) for low, high in zip(problem.lowest, problem.highest, strict=True)]
    seen = (evaluator.evaluate(np.array(levels)) for levels in product(*spans))
    return np.array([(look.values[0], look.loss) for look in seen])


def best(cloud: FloatArray) -> list[tuple[int, float]]:
    """Return the choices no other is better than, by rising k."""
    chosen: list[tuple[int, float]] = []
    for k, loss in sorted(cloud.tolist(), key=lambda each: (-each[0], each[1])):
        if not chosen or loss < chosen[-1][1] - 1e-6:
            chosen.append((int(k), round(loss, 6)))
    return chosen[::-1]


def draw() -> str:
    """Return the drawing."""
    people = dc.sample(5000, seed=1).select(*HIERARCHIES)
    front = dc.pareto(people, quasi_identifiers=HIERARCHIES, suppression="budget(5%)")
    cloud = everything(front)
    assert best(cloud) == [(point.k, round(point.loss, 6)) for point in front], "the front is not the true one"
    picture = replace(
        picture_of(front),
        cloud=cloud,
        title="Which k? Privacy against loss",
        subtitle=f"{front.n:,} made-up people; {len(front)} of {front.space} recodings are worth considering",
    )
    return svg(picture)


if __name__ == "__main__":
    TARGET.write_text(draw(), encoding="utf-8")
