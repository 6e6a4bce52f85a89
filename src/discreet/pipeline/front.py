"""A front: the undominated choices of privacy against loss, the steps between them, and their releases."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.counts import FloatArray
from discreet.engines import Order
from discreet.errors import UsageError
from discreet.job.owner_key import draw_seed
from discreet.pipeline.make_release import make_release
from discreet.pipeline.output import check_distinct_files, source_files
from discreet.pipeline.pickling import not_pickled, with_originals_wanted
from discreet.pipeline.prepare import Prepared, interruptible
from discreet.pipeline.release import Release
from discreet.problem import PRIVACY, Axis, Problem
from discreet.report.front.knee import Knee, find_knee
from discreet.report.front.notebook import front_html
from discreet.report.front.steps import Step, steps_between
from discreet.report.numbers import number_text
from discreet.report.small_counts import few
from discreet.runtime.atomic_write import check_target, replacing
from discreet.runtime.locations import as_path
from discreet.runtime.plurals import amount

if TYPE_CHECKING:
    from discreet.report.front.widget import FrontWidget
    from discreet.solve import EvaluatedRecoding, Solution
    from discreet.solve.front.by_solving import Solved

__all__ = ["Front", "FrontPoint"]


@dataclass(frozen=True, eq=False)
class FrontPoint:
    """One choice of privacy and loss."""

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
    """How many other recodings reach the same values at the same loss; this one has the lowest levels."""
    proven: bool
    """Whether it is proven that no other recoding dominates it."""
    reached: tuple[float, ...] = field(default=(), repr=False)
    lower_bound: float | None = None
    """A lower bound on the loss with as much privacy, where it is not the loss itself."""
    solved: Solved | None = field(default=None, repr=False)

    @property
    def k(self) -> float | int:
        """The value on the axis of k or, if there is none, on the first axis."""
        return self.values.get("k", next(iter(self.values.values())))

    def to_dict(self) -> dict[str, Any]:
        """Return the point as plain data."""
        names = ("values", "loss", "normalized_loss", "levels", "suppressed", "classes", "also", "proven")
        fields = {name: getattr(self, name) for name in names}
        return fields if self.lower_bound is None else {**fields, "lower_bound": self.lower_bound}

    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self)) if with_originals_wanted() else {**vars(self), "solved": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __deepcopy__(self, memo: dict[int, Any]) -> FrontPoint:
        return replace(self, values=dict(self.values), levels=dict(self.levels))


@dataclass(eq=False, repr=False)
class Front:
    """All choices that no other dominates. Made by :func:`discreet.pareto`."""

    points: tuple[FrontPoint, ...]
    """In order of rising privacy on the first axis; with a single axis, of rising loss too."""
    axes: tuple[str, ...]
    cost: str
    n: int
    space: int
    """The nodes of the lattice; 0 if each point was searched for on its own."""
    examined: int
    complete: bool
    """Whether the search was complete; if not, each point says whether it is proven."""
    method: str
    cloud: FloatArray
    """The values and the loss of each node that was examined."""
    stats: dict[str, Any]
    prepared: Prepared
    problem: Problem
    parts: tuple[Axis, ...]
    promises: tuple[str, ...]
    """What every point keeps, besides its values on the axes."""
    job: dict[str, Any]
    missed: tuple[FrontPoint, ...] = ()
    """With the method poka: the true points it lacks."""
    false: tuple[FrontPoint, ...] = ()
    """With the method poka: its points that others dominate."""
    compared: bool = False
    """With the method poka: whether there was time to find out what it missed."""

    @property
    def evaluated(self) -> float:
        """The share of the nodes that was examined."""
        return self.examined / self.space if self.space else 1.0

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[FrontPoint]:
        return iter(self.points)

    def __getitem__(self, number: int) -> FrontPoint:
        return self.points[number]

    @property
    def _main(self) -> int:
        """The index of the axis ``k`` refers to: that of k, or else the first."""
        return self.axes.index("k") if "k" in self.axes else 0

    def point(self, k: float | Sequence[float]) -> FrontPoint:
        """Return the cheapest point with at least this much privacy: k, or the first axis if there is no k.

        Several numbers are one for each axis, in their order.
        """
        indices = [self._main] if isinstance(k, int | float) else list(range(len(self.parts)))
        numbers = [k] if isinstance(k, int | float) else list(k) if isinstance(k, list | tuple) else []
        if len(numbers) != len(indices) or not all(_is_number(number) for number in numbers):
            axes = ", ".join(self.axes)
            raise UsageError(f"A point of the front is chosen by a number, or by one for each axis ({axes}).")
        candidates = list(self.points)
        for number, at in zip(numbers, indices, strict=True):
            axis = self.parts[at]
            wanted = number if axis.shown(1.0) > 0 else -number
            left = [point for point in candidates if point.reached[at] >= wanted - 1e-12]
            if not left:
                best = axis.shown(max(point.reached[at] for point in candidates))
                raise UsageError(
                    f"No point of the front reaches {axis.text} = {number_text(number)}; the best has "
                    f"{number_text(best)}."
                )
            candidates = left
        return min(candidates, key=lambda point: point.loss)

    def knee(self) -> Knee:
        """Suggest the point beyond which more privacy gets expensive; ``reason`` says why."""
        at = self._main
        return find_knee(sorted(self.points, key=lambda point: point.reached[at]), self.parts[at])

    def steps(self) -> list[Step]:
        """Return what each step along the front gains and loses."""
        return steps_between(self.points, self.problem.table)

    def explain(self) -> str:
        """Return the steps as text: what each gains, and what each attribute loses."""
        return "\n".join(step.text for step in self.steps())

    def to_frame(self) -> Any:
        """Return the points as a frame of the kind of the data (polars for files)."""
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
        overwrite: bool = True,
    ) -> Release:
        """Make the release of a point: the cheapest that reaches ``k``, the one given, or the knee.

        On a front of several axes ``k`` may be a number for each of them, in their order. ``output``, ``key``,
        ``order`` and ``overwrite`` are those of :func:`discreet.anonymize`.
        """
        if k is not None and point is not None:
            raise UsageError("A release is made of one point: say k, or give the point.")
        chosen = point or (self.knee().point if k is None else self.point(k))
        given = self.prepared.settings
        changed: dict[str, Any] = {"output": output, "key": key or given.key, "order": order, "overwrite": overwrite}
        settings = replace(given, **changed, seed=draw_seed())
        prepared = self.prepared.with_target(settings)
        with interruptible():
            problem, solution = self._solution(chosen)
            privacy = [model.text for model in problem.privacy]
            search = {**self.job, "privacy": privacy, "solver": "auto", "time_limit": None, "seed": settings.seed}
            return make_release(prepared, problem, solution, search)

    def _solution(self, chosen: FrontPoint) -> tuple[Problem, Solution]:
        """Return the problem that a point solves, and its solution with a lower bound."""
        from discreet.solve import Budget, choose_solver

        if chosen.solved is not None:
            return chosen.solved.problem, chosen.solved.solution
        problem, recoded = self.recoded(chosen)
        best = choose_solver(problem).solve(problem, Budget(_SECONDS))
        proven = best.status == "optimal" and recoded.cost <= best.lower_bound * (1 + 1e-12)
        stats = {"space": self.space, "examined": self.examined}
        return problem, recoded.solution("optimal" if proven else "feasible", best.lower_bound, stats)

    def recoded(self, chosen: FrontPoint) -> tuple[Problem, EvaluatedRecoding]:
        """Return the problem that a point with levels solves, and its recoding."""
        from discreet.solve import Recoder, Released
        from discreet.solve.front.evaluate import FrontEvaluator

        base = self.problem
        released = Released.by_levels(base.table, list(chosen.levels.values()))
        promised = [axis.promise(value) for axis, value in zip(self.parts, chosen.reached, strict=True)]
        if self.parts[0].of_table:
            promised.append(
                f"k({FrontEvaluator(base, self.parts).smallest_kept(np.array(list(chosen.levels.values())))})"
            )
        models = [PRIVACY.make(model) for model in promised if model is not None]
        models += [model for model in base.privacy if model.text != "k(1)"]
        problem = Problem.build(
            base.table,
            privacy=list({model.text: model for model in models}.values()) or base.privacy,
            cost=base.cost,
            suppression=base.suppression,
            min_levels=dict(zip(base.table.names, base.lowest, strict=True)),
            max_levels=dict(zip(base.table.names, base.highest, strict=True)),
            known_with=base.known_with,
        )
        return problem, Recoder(problem).evaluate(released)

    def plot(self, **options: Any) -> Any:
        """Return a plot that notebooks display and ``save`` writes as .svg, .png or .html."""
        from discreet.report.front.plot import Plot

        return Plot(self, options)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the front: an interactive page (.html), a picture (.svg, .png), data (.json) or a table (.csv)."""
        target = as_path(path, "The front")
        check_front_file(target)
        check_distinct_files([target], source_files(self.prepared.settings.data))
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
        fields = {
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
            fields["knee"] = {"values": knee.point.values, "reason": knee.reason}
        if self.method == "poka":
            fields["depth"] = self.stats.get("depth")
            fields["start"] = self.stats.get("start")
            fields["compared"] = self.compared
            fields["missed"] = [point.to_dict() for point in self.missed]
            fields["false"] = [point.to_dict() for point in self.false]
        return fields

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
            lines.append("The search is not complete: there may be more points, and those not proven may be dominated.")
        if self.promises:
            lines.append(f"Every point keeps {' and '.join(self.promises)}.")
        if len(self.points) > 2:
            lines.append(self.knee().reason)
        return "\n".join(lines)

    def _missed(self) -> str:
        """Say what POkA did not find."""
        if not self.compared:
            return "What POkA missed is not known: the search for the true front was stopped."
        true = len(self.points) - len(self.false) + len(self.missed)
        where = " from where it started" if "start" in self.stats else ""
        return (
            f"POkA missed {len(self.missed)} of {true} true points{where}; "
            f"{len(self.false)} of the {len(self.points)} it reports are dominated."
        )

    def __getstate__(self) -> dict[str, Any]:
        if with_originals_wanted():
            return dict(vars(self))
        raise not_pickled(
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
        evaluated = f", {self.evaluated:.1%} evaluated" if self.space else ""
        return f"Front({amount(len(self.points), 'point')}, {self.axes[0]} from {ends}, {how}{evaluated})"

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return front_html(self)

    def widget(self) -> FrontWidget:
        """Return the front as a widget to click on, for Jupyter, VS Code and marimo.

        Its ``point`` is the choice in Python, and its ``release()`` makes the release of that choice. Needs the extra
        ``notebook``.
        """
        if find_spec("anywidget") is None:
            raise UsageError(
                "A front to click on needs the extra: pip install 'discreet[notebook]'.", topic="missing-extra"
            )
        from discreet.report.front.widget import FrontWidget

        return FrontWidget(self)


_SECONDS = 10.0
"""Time limit for the lower bound of a release made from a point."""
_SUFFIXES = (".html", ".svg", ".png", ".json", ".csv")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def check_front_file(path: Path) -> None:
    """Refuse a file whose format no front has, or that cannot be written."""
    if path.suffix.lower() not in _SUFFIXES:
        raise UsageError(f"A front is written as {', '.join(_SUFFIXES)}; '{path.name}' says none of these.")
    if path.suffix.lower() == ".png":
        from discreet.report.front.drawing import check_png

        check_png()
    check_target(path)


def _mark(point: FrontPoint) -> str:
    """Return what is not proven about a point, as text."""
    if point.proven:
        return ""
    if point.lower_bound is None:
        return "not proven"
    return f"not proven; no less than {point.lower_bound:,.6g}"


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)
