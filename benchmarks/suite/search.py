"""The search alone: solver ``lattice`` from the coded table to the proven optimum, warm, in this process.

Everything is compared with things measured here on the same table: one bare polars group_by, and looking at every node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from discreet.counts import CountTable
from discreet.problem import Problem
from discreet.solve import Solution, solve
from harness import Row, Settings, census, coded, main_dataset, measure, people
from harness.exhaustive import all_nodes, evaluate_some, group_all

__all__ = ["BUDGETS", "run"]

_NOTE = (
    "this/group_by: CPU time as a multiple of the bare group_by. grouping/this and evaluating/this: how many times "
    "longer it takes to group the rows at every node (compiled, nothing is priced) and to evaluate every node (all of "
    "the work; some nodes are measured and the rest extrapolated)."
)

BUDGETS = {"0 %": "none", "1 %": "budget(1%)", "5 %": "budget(5%)", "100 %": "budget(100%)"}


def run(settings: Settings) -> list[Row]:
    """Measure the search on Adult, Census-Income and made-up people."""
    dataset = main_dataset(settings)
    frame, trees, label = dataset.frame, dataset.trees, dataset.label
    ks = (5, 100) if settings.quick else (2, 5, 10, 50, 100)
    name = f"search: {dataset.name}"
    rows = list(_Comparison(settings, name, frame, trees).rows(ks, ("LM", "DM")))
    rows.append(Row(rows[-1].table, "", note=_NOTE))
    rows += _Comparison(settings, f"{name}, other costs", frame, trees).rows((5,), ("HDM", "NCP", "entropy"))
    rest = {column: tree for column, tree in trees.items() if column != label}
    rows += _Comparison(settings, f"{name}, {label} as class", frame, rest, label).rows((5,), ("CM",))
    if dataset.note:
        rows.append(Row(rows[-1].table, "", note=dataset.note))
    found = census(settings)
    if found is None:
        rows.append(Row("search: Census-Income", "", note="Skipped: the file is not at hand (DISCREET_DATA)."))
    else:
        rows += _Comparison(settings, "search: Census-Income, automatic hierarchies", *found).rows((5,), ("LM", "DM"))
    made_up = people(20_000 if settings.quick else 100_000)
    rows += _Comparison(settings, "search: made-up people", *made_up).rows((5,), ("LM", "DM"))
    return rows


class _Comparison:
    """Searches on one table, and what they are compared with."""

    def __init__(
        self,
        settings: Settings,
        name: str,
        frame: pl.DataFrame,
        hierarchies: Mapping[str, Any],
        label: str | None = None,
    ) -> None:
        self.settings = settings
        self.table: CountTable = coded(frame, hierarchies, label)
        self.nodes = all_nodes(Problem.build(self.table, privacy="k(5)"))
        self.title = f"{name}: {self.table.n:,} rows, {len(hierarchies)} columns, {len(self.nodes):,} nodes"
        self.floor = measure(lambda: frame.group_by(list(hierarchies)).len(), settings.repeat)

    def rows(self, ks: tuple[int, ...], costs: tuple[str, ...]) -> Iterator[Row]:
        """Yield the references, then a search for every cost, k and budget."""
        yield Row(self.title, "bare polars group_by", _times(self.floor.best, self.floor.median, None))
        problem = Problem.build(self.table, privacy="k(5)", suppression="budget(5%)")
        grouping = measure(lambda: group_all(problem, self.nodes), 1 if self.settings.quick else 2)
        yield self._of_every_node("grouping at every node", grouping.best, grouping.median, grouping.megabytes)
        for cost in costs:
            evaluating, reference = self._one_by_one(cost)
            yield reference
            for k in ks:
                for budget in ("0 %", "5 %") if self.settings.quick else BUDGETS:
                    yield self._search(k, cost, budget, grouping.best, evaluating)

    def _one_by_one(self, cost: str) -> tuple[float, Row]:
        """Evaluate some of the nodes, and say what all of them would have taken."""
        problem = Problem.build(self.table, privacy="k(5)", cost=cost, suppression="budget(5%)")
        chosen = np.random.default_rng(1).permutation(len(self.nodes))[: 50 if self.settings.quick else 250]
        some = self.nodes[np.sort(chosen)]
        timing = measure(lambda: evaluate_some(problem, some), 1 if self.settings.quick else 3)
        share = len(self.nodes) / len(some)
        case = f"{cost} of every node, from {len(some):,}"
        row = self._of_every_node(case, timing.best * share, timing.median * share, timing.megabytes)
        return timing.best * share, row

    def _of_every_node(self, case: str, best: float, median: float, megabytes: float | None) -> Row:
        looked_at = {"nodes": len(self.nodes), "lattice %": 100.0}
        return Row(self.title, case, {**_times(best, median, megabytes), **looked_at})

    def _search(self, k: int, cost: str, budget: str, grouping: float, evaluating: float) -> Row:
        def search() -> Solution:
            problem = Problem.build(self.table, privacy=f"k({k})", cost=cost, suppression=BUDGETS[budget])
            return solve(problem, "lattice")

        timing = measure(search, self.settings.repeat)
        found: Solution = timing.result
        figures = {
            **_times(timing.best, timing.median, timing.megabytes),
            "nodes": found.stats["examined"],
            "lattice %": 100 * found.stats["examined"] / found.stats["space"],
            "this/group_by": timing.best / self.floor.best,
            "grouping/this": grouping / timing.best,
            "evaluating/this": evaluating / timing.best,
            "status": found.status,
            "cost": found.cost,
            "suppressed": found.suppressed_rows,
        }
        return Row(self.title, f"{cost} k={k} budget {budget}", figures)


def _times(best: float, median: float, megabytes: float | None) -> dict[str, Any]:
    return {"best ms": 1000 * best, "median ms": 1000 * median, "MB": megabytes}
