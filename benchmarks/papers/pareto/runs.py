"""Fronts of a table by three searches, with the time they take, and what all modules of the study share."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np
import polars as pl

import discreet as dc
from discreet.counts import CountTable, FloatArray
from discreet.problem import Axis, Problem
from discreet.problem.axes import AXES
from discreet.solve import Budget
from discreet.solve.front.evaluate import CompiledFrontEvaluator
from discreet.solve.front.search import FoundFront, FoundPoint, exact_front
from discreet.solve.published.poka import FrontComparison, compare_fronts, default_depth, poka_front
from harness import Dataset, coded
from harness.exhaustive import all_nodes
from harness.rows import Figure

__all__ = ["COSTS", "Case", "Run", "Study", "curve", "figures", "missed", "prepare", "study_of"]

COSTS = {"LM": "GLM", "DM": "DCN", "CM": "CE"}
"""Costs, and what the paper calls them."""
_SHARE = 0.01
"""Of the rows may be suppressed."""


@dataclass(frozen=True, eq=False)
class Run:
    """A front and the CPU seconds it took, from the coded table on."""

    front: FoundFront
    seconds: float

    @property
    def share(self) -> float:
        """The part of the nodes that was evaluated, in percent."""
        return 100 * self.front.examined / self.front.space


@dataclass(frozen=True, eq=False)
class Case:
    """A lattice and a cost. Every search is run once."""

    problem: Problem
    _known: dict[object, Run] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        """The average height of the hierarchies, rounded up."""
        return default_depth(self.problem)

    @property
    def deepest(self) -> int:
        """The greatest height of a hierarchy."""
        return max(attribute.height for attribute in self.problem.table.attributes)

    @property
    def exact(self) -> Run:
        """The exact front."""
        return self._run("exact", lambda: exact_front(self.problem, _axes(), Budget()))

    @property
    def exhaustive(self) -> Run:
        """The front by evaluating every node."""
        return self._run("exhaustive", lambda: _exhaustive(self.problem))

    def poka(self, depth: int | None = None) -> Run:
        """What POkA reports."""
        steps = depth or self.depth
        return self._run(steps, lambda: poka_front(self.problem, _axes(), Budget(), depth=steps))

    def compared(self, depth: int | None = None) -> FrontComparison:
        """What POkA misses and what it reports wrongly."""
        return compare_fronts(self.poka(depth).front, self.exact.front)

    def _run(self, name: object, search: Callable[[], FoundFront]) -> Run:
        if name not in self._known:
            began = time.process_time()
            front = search()
            self._known[name] = Run(front, time.process_time() - began)
        return self._known[name]


@dataclass(frozen=True, eq=False)
class Study:
    """A table, its hierarchies, and the column that is the class where the cost needs one."""

    name: str
    frame: pl.DataFrame
    trees: Mapping[str, dc.Hierarchy]
    label: str
    quick: bool = False
    _known: dict[tuple[str, int], Case] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """All quasi-identifiers, the class last."""
        return (*(column for column in self.trees if column != self.label), self.label)

    def case(self, cost: str, number: int | None = None) -> Case:
        """Return the lattice of the first quasi-identifiers; by default of all, or all but the class for CE."""
        number = number or len(self.columns) - (cost == "CM")
        if (cost, number) not in self._known:
            table = self._table(number, labelled=cost == "CM")
            budget = f"budget({int(_SHARE * table.n)})"
            problem = Problem.build(table, privacy="k(1)", cost=cost, suppression=budget)
            self._known[cost, number] = Case(problem)
        return self._known[cost, number]

    def _table(self, number: int, *, labelled: bool) -> CountTable:
        names = self.columns[:number]
        kept = [*names, self.label] if labelled else names
        return coded(
            self.frame.select(kept), {name: self.trees[name] for name in names}, self.label if labelled else None
        )


def study_of(dataset: Dataset, *, quick: bool) -> Study:
    """Return the study of a table; a quick one leaves some quasi-identifiers out."""
    trees = dict(dataset.trees)
    if quick:
        kept = [column for column in trees if column != dataset.label][:5]
        trees = {column: trees[column] for column in [*kept, dataset.label]}
    return Study(dataset.name, dataset.frame.select(list(trees)), trees, dataset.label, quick)


def prepare(study: Study) -> None:
    """Load all that is compiled, so that no run pays for it."""
    for cost in COSTS:
        case = Case(study.case(cost, 2).problem)
        assert case.exact.front.complete
        assert case.poka().front.points


def _axes() -> list[Axis]:
    return [AXES.make("k")]


def _exhaustive(problem: Problem) -> FoundFront:
    """Evaluate every node, from the bottom up, and keep what none is better than."""
    evaluator, nodes = CompiledFrontEvaluator(problem, np.zeros(0)), all_nodes(problem)
    seen = [evaluator.evaluate(node) for node in nodes]
    cloud: FloatArray = np.array([[*look.values, look.loss] for look in seen])
    points, least = [], inf
    for e in np.lexsort((cloud[:, 1], -cloud[:, 0])):
        if cloud[e, 1] < least - 1e-9 * abs(cloud[e, 1]):
            look, least = seen[e], cloud[e, 1]
            levels = tuple(int(level) for level in nodes[e])
            points.append(FoundPoint(look.values, look.loss, levels, look.lost, look.classes, 0, proven=True))
    return FoundFront(tuple(points), len(nodes), len(nodes), complete=True, cloud=cloud)


def missed(compared: FrontComparison) -> int:
    """How many points were missed, not counting the end of the front at k = 1, which POkA does not look for."""
    return sum(point.values[0] > 1 for point in compared.missed)


def figures(run: Run, compared: FrontComparison | None = None) -> dict[str, Figure]:
    """Return a row of a table: what a search took and found."""
    own: dict[str, Figure] = {"nodes": run.front.examined, "share %": run.share, "points": len(run.front.points)}
    if compared is not None:
        own |= {"missed": len(compared.missed), "of them k > 1": missed(compared), "false": len(compared.false)}
    return {**own, "CPU s": run.seconds}


def curve(points: Sequence[FoundPoint]) -> tuple[list[float], list[float]]:
    """Return the loss of points over their k, for logarithmic axes, which have no 0."""
    drawn = [point for point in points if point.loss > 0]
    return [point.values[0] for point in drawn], [point.loss for point in drawn]
