"""A front: the choices of privacy against loss, what each step along it means, and the releases they stand for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet._replacing import replacing
from discreet.counts import FloatArray
from discreet.errors import UsageError
from discreet.problem import Axis, Problem
from discreet.release._explain import Step, steps_between
from discreet.release._knee import Knee, find_knee
from discreet.release._make import make_release
from discreet.release._prepare import Prepared
from discreet.release._release import Release

if TYPE_CHECKING:
    from discreet.solve import Solution
    from discreet.solve._front_by_solves import Solved

__all__ = ["Front", "FrontPoint"]


@dataclass(frozen=True, eq=False)
class FrontPoint:
    """One choice."""

    values: dict[str, float | int]
    """What it reaches, by axis."""
    loss: float
    normalized_loss: float
    """The loss as a share of that of suppressing everything."""
    levels: dict[str, int]
    """The level of each quasi-identifier; empty where the scheme is not full-domain."""
    suppressed: int
    classes: int
    also: int
    """How many other recodings reach the same at the same loss; this one has the lowest levels."""
    proven: bool
    """Whether it is certain that nothing is better in one respect and at least as good in the others."""
    reached: tuple[float, ...] = field(default=(), repr=False)
    lower_bound: float | None = None
    """What nothing with as much privacy can go below, where that is not the loss itself."""
    solved: Solved | None = field(default=None, repr=False)

    @property
    def k(self) -> float | int:
        """The value on the axis of k, or on the first axis where that is another."""
        return self.values.get("k", next(iter(self.values.values())))

    def to_dict(self) -> dict[str, Any]:
        """Return the point as plain data."""
        names = ("values", "loss", "normalized_loss", "levels", "suppressed", "classes", "also", "proven")
        return {name: getattr(self, name) for name in names}


@dataclass(eq=False, repr=False)
class Front:
    """All choices no other is better than. Made by :func:`discreet.pareto`."""

    points: tuple[FrontPoint, ...]
    """By rising privacy, and so by rising loss."""
    axes: tuple[str, ...]
    cost: str
    n: int
    space: int
    """The nodes of the lattice; 0 where the front was found by one search for each point."""
    examined: int
    complete: bool
    """Whether nothing was left out; if not, each point says whether it is proven."""
    method: str
    cloud: FloatArray
    """Of each node that was looked at, what it reaches and its loss."""
    stats: dict[str, Any]
    prepared: Prepared
    problem: Problem
    parts: tuple[Axis, ...]
    job: dict[str, Any]
    missed: tuple[FrontPoint, ...] = ()
    """With the method poka: the true points it does not have."""
    false: tuple[FrontPoint, ...] = ()
    """With the method poka: the points it has though others are better."""

    @property
    def evaluated(self) -> float:
        """The share of the nodes that was looked at."""
        return self.examined / self.space if self.space else 1.0

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[FrontPoint]:
        return iter(self.points)

    def __getitem__(self, number: int) -> FrontPoint:
        return self.points[number]

    def point(self, k: float) -> FrontPoint:
        """Return the cheapest point that reaches at least this much privacy on the first axis."""
        axis = self.parts[0]
        wanted = k if axis.shown(1.0) > 0 else -k
        able = [point for point in self.points if point.reached[0] >= wanted - 1e-12]
        if not able:
            best = max(self.points, key=lambda point: point.reached[0])
            raise UsageError(f"No point of the front reaches {axis.text} = {k}; the best has {best.k}.")
        return min(able, key=lambda point: point.loss)

    def knee(self) -> Knee:
        """Suggest a point: the one from which on more privacy gets dear; ``reason`` says why in words."""
        return find_knee(self.points, self.axes[0])

    def steps(self) -> list[Step]:
        """Return what is gained and what is lost at each step along the front."""
        return steps_between(self.points, self.problem.table)

    def explain(self) -> str:
        """Return the steps as text: what each gains, and what each attribute loses."""
        return "\n".join(step.text for step in self.steps())

    def to_frame(self) -> Any:
        """Return the points as a table, of the kind the data came in (polars for files)."""
        rows = [
            {
                **point.values,
                "loss": point.loss,
                "normalized_loss": point.normalized_loss,
                "suppressed": point.suppressed,
                "classes": point.classes,
                "also": point.also,
                "proven": point.proven,
                **{f"level of {name}": level for name, level in point.levels.items()},
            }
            for point in self.points
        ]
        frame = pl.DataFrame(rows)
        kind = self.prepared.source.kind
        if kind == "pandas":
            return frame.to_pandas()
        return frame.to_arrow() if kind == "pyarrow" else frame

    def release(
        self, k: float | None = None, *, point: FrontPoint | None = None, output: str | PathLike[str] | None = None
    ) -> Release:
        """Make the release a point stands for: the cheapest that reaches ``k``, or the one given, or the knee."""
        from dataclasses import replace

        from discreet.release._output import check_output

        chosen = point or (self.knee().point if k is None else self.point(k))
        prepared = self.prepared
        if output is not None:
            prepared = replace(prepared, output=output, target=check_output(output, prepared.data))
        problem, solution = self._solution(chosen)
        job = {**self.job, "privacy": [model.text for model in problem.privacy], "solver": "auto", "time_limit": None}
        return make_release(prepared, problem, solution, job)

    def _solution(self, chosen: FrontPoint) -> tuple[Problem, Solution]:
        """The problem a point is an answer to, and the point as its solution, with what is proven of it there."""
        from discreet.solve import Budget, choose_solver
        from discreet.solve._gather import Released
        from discreet.solve._recoded import Recoder

        if chosen.solved is not None:
            return chosen.solved.problem, chosen.solved.solution
        promised = [axis.promise(value) for axis, value in zip(self.parts, chosen.reached, strict=True)]
        told = self.problem
        problem = Problem.build(
            told.table,
            privacy=[model for model in promised if model is not None] or ["k(1)"],
            cost=told.cost,
            suppression=told.suppression,
            min_levels=dict(zip(told.table.names, told.lowest, strict=True)),
            max_levels=dict(zip(told.table.names, told.highest, strict=True)),
        )
        recoded = Recoder(problem).evaluate(Released.by_levels(told.table, list(chosen.levels.values())))
        best = choose_solver(problem).solve(problem, Budget(_SECONDS))
        proven = best.status == "optimal" and recoded.cost <= best.lower_bound * (1 + 1e-12)
        stats = {"space": self.space, "examined": self.examined}
        return problem, recoded.solution("optimal" if proven else "feasible", best.lower_bound, stats)

    def plot(self, **options: Any) -> Any:
        """Return a picture: it shows itself in notebooks, and ``save`` writes it as .svg, .png or .html."""
        from discreet.release._front_drawing import Plot

        return Plot(self, options)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the front: an interactive page (.html), a picture (.svg, .png), data (.json) or a table (.csv)."""
        target = Path(path)
        check_front_file(target)
        content: str | bytes
        if target.suffix == ".json":
            content = self.to_json()
        elif target.suffix == ".csv":
            content = pl.DataFrame(self.to_frame()).write_csv()
        else:
            content = self.plot().render(target.suffix[1:])
        with replacing(target) as unfinished:
            unfinished.write_bytes(content if isinstance(content, bytes) else content.encode())
        return target

    def to_dict(self) -> dict[str, Any]:
        """Return the front as plain data, without any value of the data."""
        told = {
            "axes": list(self.axes),
            "cost": self.cost,
            "method": self.method,
            "rows": self.n,
            "space": self.space,
            "examined": self.examined,
            "evaluated": self.evaluated,
            "complete": self.complete,
            "points": [point.to_dict() for point in self.points],
            "knee": None,
            "seconds": self.stats.get("seconds"),
        }
        if len(self.points) > 2:
            knee = self.knee()
            told["knee"] = {"values": knee.point.values, "reason": knee.reason}
        if self.method == "poka":
            told["depth"] = self.stats.get("depth")
            told["missed"] = [point.to_dict() for point in self.missed]
            told["false"] = [point.to_dict() for point in self.false]
        return told

    def to_json(self) -> str:
        """Return the front as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, default=_plain) + "\n"

    def summary(self) -> str:
        """Return the points as a block of text."""
        head = [*self.axes, "loss", "share of all", "suppressed", "classes", ""]
        marks = {True: "", False: "not proven"}
        rows = [
            [
                *(f"{value:,}" if isinstance(value, int) else f"{value:.4g}" for value in point.values.values()),
                f"{point.loss:,.6g}",
                f"{100 * point.normalized_loss:.1f} %",
                f"{point.suppressed:,}",
                f"{point.classes:,}",
                marks[point.proven],
            ]
            for point in self.points
        ]
        widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in [head, *rows]]
        lines = [line.rstrip() for line in lines]
        if self.space:
            lines.append(f"{self.examined:,} of {self.space:,} nodes were evaluated ({100 * self.evaluated:.1f} %).")
        if self.method == "poka":
            lines.append(f"POkA missed {len(self.missed)} true points and reported {len(self.false)} that are not.")
        elif not self.complete:
            lines.append("The search is not complete: there may be more points, and those not proven may be beaten.")
        if len(self.points) > 2:
            lines.append(self.knee().reason)
        return "\n".join(lines)

    def __repr__(self) -> str:
        ends = f"{self.points[0].k} to {self.points[-1].k}" if self.points else "nothing"
        how = "complete" if self.complete else "not complete"
        return f"Front({len(self.points)} points, {self.axes[0]} from {ends}, {how}, {self.evaluated:.1%} evaluated)"

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return str(self.plot().render("svg"))


_SECONDS = 10.0
"""How long the bound of a release taken from a front may be searched for."""
_SUFFIXES = (".html", ".svg", ".png", ".json", ".csv")


def check_front_file(path: Path) -> None:
    """Refuse a name that says nothing a front can be written as."""
    if path.suffix not in _SUFFIXES:
        raise UsageError(f"A front is written as {', '.join(_SUFFIXES)}; '{path.name}' says none of these.")
    if not path.parent.is_dir():
        raise UsageError(f"There is no folder '{path.parent}' for the front.")


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)
