"""A front: the choices of privacy against loss, what each step along it means, and the releases they stand for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet._places import as_path
from discreet._replacing import check_target, replacing
from discreet._words import amount
from discreet.counts import FloatArray
from discreet.engines import Order, Shuffle
from discreet.errors import UsageError
from discreet.problem import PRIVACY, Axis, Problem
from discreet.release._explain import Step, steps_between
from discreet.release._key import draw_seed, key_place
from discreet.release._knee import Knee, find_knee, number_text
from discreet.release._make import make_release
from discreet.release._output import check_apart, check_output, sources
from discreet.release._pickling import refuse, whole
from discreet.release._prepare import Prepared, interruptible
from discreet.release._release import Release
from discreet.release._small import few

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
        told = {name: getattr(self, name) for name in names}
        return told if self.lower_bound is None else {**told, "lower_bound": self.lower_bound}

    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self)) if whole() else {**vars(self), "solved": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __deepcopy__(self, memo: dict[int, Any]) -> FrontPoint:
        return replace(self, values=dict(self.values), levels=dict(self.levels))


@dataclass(eq=False, repr=False)
class Front:
    """All choices no other is better than. Made by :func:`discreet.pareto`."""

    points: tuple[FrontPoint, ...]
    """By rising privacy on the first axis; where it is the only one, by rising loss too."""
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
    promises: tuple[str, ...]
    """What every point keeps beside what it reaches on the axes."""
    job: dict[str, Any]
    missed: tuple[FrontPoint, ...] = ()
    """With the method poka: the true points it does not have."""
    false: tuple[FrontPoint, ...] = ()
    """With the method poka: the points it has though others are better."""
    compared: bool = False
    """With the method poka: whether there was time to find out what it missed."""

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

    @property
    def _main(self) -> int:
        """The number of the axis that ``k`` speaks of: that of k, or else the first."""
        return self.axes.index("k") if "k" in self.axes else 0

    def point(self, k: float | Sequence[float]) -> FrontPoint:
        """Return the cheapest point with at least so much privacy: its k, or the first axis where there is no k.

        Several numbers say what is wanted on each axis, in their order.
        """
        places = [self._main] if isinstance(k, int | float) else list(range(len(self.parts)))
        numbers = [k] if isinstance(k, int | float) else list(k) if isinstance(k, list | tuple) else []
        if len(numbers) != len(places) or not all(_is_number(number) for number in numbers):
            axes = ", ".join(self.axes)
            raise UsageError(f"A point of the front is chosen by a number, or by one for each axis ({axes}).")
        able = list(self.points)
        for number, at in zip(numbers, places, strict=True):
            axis = self.parts[at]
            wanted = number if axis.shown(1.0) > 0 else -number
            left = [point for point in able if point.reached[at] >= wanted - 1e-12]
            if not left:
                best = axis.shown(max(point.reached[at] for point in able))
                raise UsageError(
                    f"No point of the front reaches {axis.text} = {number_text(number)}; the best has "
                    f"{number_text(best)}."
                )
            able = left
        return min(able, key=lambda point: point.loss)

    def knee(self) -> Knee:
        """Suggest a point: the one from which on more privacy gets dear; ``reason`` says why in words."""
        at = self._main
        return find_knee(sorted(self.points, key=lambda point: point.reached[at]), self.parts[at])

    def steps(self) -> list[Step]:
        """Return what is gained and what is lost at each step along the front."""
        return steps_between(self.points, self.problem.table)

    def explain(self) -> str:
        """Return the steps as text: what each gains, and what each attribute loses."""
        return "\n".join(step.text for step in self.steps())

    def to_frame(self) -> Any:
        """Return the points as a table, of the kind the data came in (polars for files)."""
        kind, frame = self.prepared.source.kind, self._table()
        if kind == "pandas":
            import pandas as pd

            return pd.DataFrame(frame.to_dict(as_series=False))
        return frame.to_arrow() if kind == "pyarrow" else frame

    def _table(self) -> pl.DataFrame:
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
        return pl.DataFrame(rows, infer_schema_length=None)

    def release(
        self,
        k: float | Sequence[float] | None = None,
        *,
        point: FrontPoint | None = None,
        output: str | PathLike[str] | None = None,
        key: str | PathLike[str] | None = None,
        order: Order = "random",
    ) -> Release:
        """Make the release a point stands for: the cheapest that reaches ``k``, or the one given, or the knee.

        On a front of several axes ``k`` may be a number for each of them, in their order. ``output``, ``key`` and
        ``order`` are those of :func:`discreet.anonymize`.
        """
        if k is not None and point is not None:
            raise UsageError("A release is made of one point: say k, or give the point.")
        chosen = point or (self.knee().point if k is None else self.point(k))
        prepared = self.prepared
        if output is not None:
            target = check_output(output, prepared.data, prepared.population)
            prepared = replace(prepared, output=output, target=replace(target, shuffle=Shuffle.of(order)))
        with interruptible():
            problem, solution = self._solution(chosen)
            privacy = [model.text for model in problem.privacy]
            told = {**self.job, "privacy": privacy, "solver": "auto", "time_limit": None, "seed": draw_seed()}
            place = key_place(key)
            return make_release(
                prepared, problem, solution, told, place, None if place is None or output is None else place.make()
            )

    def _solution(self, chosen: FrontPoint) -> tuple[Problem, Solution]:
        """The problem a point is an answer to, and the point as its solution, with what is proven of it there."""
        from discreet.solve import Budget, choose_solver
        from discreet.solve._gather import Released
        from discreet.solve._looks import PlainLooks
        from discreet.solve._recoded import Recoder

        if chosen.solved is not None:
            return chosen.solved.problem, chosen.solved.solution
        told = self.problem
        released = Released.by_levels(told.table, list(chosen.levels.values()))
        promised = [axis.promise(value) for axis, value in zip(self.parts, chosen.reached, strict=True)]
        if self.parts[0].of_table:
            promised.append(f"k({PlainLooks(told, self.parts).smallest_kept(np.array(list(chosen.levels.values())))})")
        models = [PRIVACY.make(model) for model in promised if model is not None]
        models += [model for model in told.privacy if model.text != "k(1)"]
        problem = Problem.build(
            told.table,
            privacy=list({model.text: model for model in models}.values()) or told.privacy,
            cost=told.cost,
            suppression=told.suppression,
            min_levels=dict(zip(told.table.names, told.lowest, strict=True)),
            max_levels=dict(zip(told.table.names, told.highest, strict=True)),
        )
        recoded = Recoder(problem).evaluate(released)
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
        target = as_path(path, "The front")
        check_front_file(target)
        check_apart([target], sources(self.prepared.data))
        content: str | bytes
        kind = target.suffix.lower()
        if kind == ".json":
            content = self.to_json()
        elif kind == ".csv":
            content = self._table().write_csv()
        else:
            content = self.plot().render(kind[1:])
        with replacing(target) as unfinished:
            unfinished.write_bytes(content if isinstance(content, bytes) else content.encode())
        return target

    def to_dict(self) -> dict[str, Any]:
        """Return the front as plain data, without any value of the data."""
        told = {
            "axes": list(self.axes),
            **({"promises": list(self.promises)} if self.promises else {}),
            "cost": self.cost,
            "method": self.method,
            "rows": self.n,
            "space": self.space,
            "examined": self.examined,
            "evaluated": self.evaluated,
            "complete": self.complete,
            "points": [point.to_dict() for point in self.points],
            "steps": [step.text for step in self.steps()],
            "knee": None,
            "seconds": self.stats.get("seconds"),
        }
        if len(self.points) > 2:
            knee = self.knee()
            told["knee"] = {"values": knee.point.values, "reason": knee.reason}
        if self.method == "poka":
            told["depth"] = self.stats.get("depth")
            told["compared"] = self.compared
            told["missed"] = [point.to_dict() for point in self.missed]
            told["false"] = [point.to_dict() for point in self.false]
        return told

    def to_json(self) -> str:
        """Return the front as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, default=_plain) + "\n"

    def summary(self) -> str:
        """Return the points as a block of text."""
        head = [*self.axes, "loss", "share of all", "suppressed", "classes", ""]
        rows = [
            [
                *map(number_text, point.values.values()),
                f"{point.loss:,.6g}",
                f"{100 * point.normalized_loss:.1f} %",
                few(point.suppressed),
                f"{point.classes:,}",
                _mark(point),
            ]
            for point in self.points
        ]
        widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in [head, *rows]]
        lines = [line.rstrip() for line in lines]
        if self.space:
            lines.append(f"{self.examined:,} of {self.space:,} nodes were evaluated ({100 * self.evaluated:.1f} %).")
        if self.method == "poka":
            lines.append(self._missed())
        elif not self.complete and all(point.proven for point in self.points):
            lines.append("The search is not complete: there may be points between these.")
        elif not self.complete:
            lines.append("The search is not complete: there may be more points, and those not proven may be beaten.")
        if self.promises:
            lines.append(f"Every point keeps {' and '.join(self.promises)}.")
        if len(self.points) > 2:
            lines.append(self.knee().reason)
        return "\n".join(lines)

    def _missed(self) -> str:
        """What POkA did not find, in words."""
        if not self.compared:
            return "What POkA missed is not known: the search for the true front was stopped."
        true = len(self.points) - len(self.false) + len(self.missed)
        return (
            f"POkA missed {len(self.missed)} of {true} true points; {len(self.false)} of the {len(self.points)} it "
            "reports are beaten by others."
        )

    def __getstate__(self) -> dict[str, Any]:
        if whole():
            return dict(vars(self))
        raise refuse(
            "A front", {"front.save('front.json')": "its points", "front.release(...).write(...)": "a release"}
        )

    def __copy__(self) -> Front:
        return replace(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Front:
        own = ("points", "stats", "job", "cloud", "missed", "false")
        return replace(self, **{name: deepcopy(getattr(self, name), memo) for name in own})

    def __repr__(self) -> str:
        ends = " to ".join(number_text(point.values[self.axes[0]]) for point in (self.points[0], self.points[-1]))
        how = "complete" if self.complete else "not complete"
        looked = f", {self.evaluated:.1%} evaluated" if self.space else ""
        return f"Front({amount(len(self.points), 'point')}, {self.axes[0]} from {ends}, {how}{looked})"

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return str(self.plot().render("svg"))


_SECONDS = 10.0
"""How long the bound of a release taken from a front may be searched for."""
_SUFFIXES = (".html", ".svg", ".png", ".json", ".csv")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def check_front_file(path: Path) -> None:
    """Refuse a name that says nothing a front can be written as, or a place where nothing can be."""
    if path.suffix.lower() not in _SUFFIXES:
        raise UsageError(f"A front is written as {', '.join(_SUFFIXES)}; '{path.name}' says none of these.")
    if path.suffix.lower() == ".png":
        from discreet.release._front_plot import check_png

        check_png()
    check_target(path)


def _mark(point: FrontPoint) -> str:
    """What is not proven about a point."""
    if point.proven:
        return ""
    if point.lower_bound is None:
        return "not proven"
    return f"not proven; no less than {point.lower_bound:,.6g}"


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)
