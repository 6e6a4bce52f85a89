"""The whole trade-off: every choice of privacy that no other dominates, and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from discreet.engines import EngineName, Missing, MissingSensitive
from discreet.errors import UnsupportedCombinationError, UsageError
from discreet.job.settings import JobSettings, as_list
from discreet.pipeline.derive import with_derived_columns
from discreet.pipeline.front import Front, FrontPoint
from discreet.pipeline.infeasible import no_point
from discreet.pipeline.prepare import Prepared, build_problem, check_switches, interruptible, prepare, search_budget
from discreet.pipeline.tables import refuse_tables
from discreet.problem import Axis, PrivacyModel, Problem, Scheme
from discreet.problem.axes import axes_and_promises
from discreet.problem.axes.k import K
from discreet.runtime.text_form import parse_text

if TYPE_CHECKING:
    from discreet.problem import Cost, Suppression
    from discreet.solve import Budget
    from discreet.solve.front.search import FoundFront, FrontProgress

__all__ = ["pareto"]

Method = Literal["exact", "poka"]
_METHODS: tuple[Method, ...] = ("exact", "poka")


def pareto(
    data: Any,
    *,
    identifiers: str | Sequence[str] = (),
    quasi_identifiers: str | Sequence[str] | Mapping[str, Any],
    sensitive: str | Sequence[str] | Mapping[str, Any] = (),
    class_attribute: str | None = None,
    person: str | None = None,
    household: str | None = None,
    pseudonyms: bool = False,
    weights: str | None = None,
    population: Any = None,
    keep: str | Sequence[str] = (),
    types: Mapping[str, Any] | None = None,
    derive: Mapping[str, str] | None = None,
    privacy: str | Axis | PrivacyModel | Sequence[str | Axis | PrivacyModel] = "k",
    cost: str | Cost | None = None,
    suppression: str | Suppression = "none",
    scheme: str | Scheme | Mapping[str, str | Scheme] = "full-domain",
    method: str = "exact",
    exact: bool = True,
    depth: int | None = None,
    start: Mapping[str, int] | None = None,
    time_limit: float | None = None,
    threads: int | None = None,
    missing: Missing = "value",
    missing_sensitive: MissingSensitive = "unknown",
    priorities: Mapping[str, int] | None = None,
    keep_at_least: Mapping[str, int] | None = None,
    min_levels: Mapping[str, int] | None = None,
    max_levels: Mapping[str, int] | None = None,
    na: str | Sequence[str] = (),
    decimal: str = ".",
    encoding: str | None = None,
    date_format: str | None = None,
    sheet: str | None = None,
    missing_codes: str = "keep",
    engine: EngineName = "auto",
    memory_limit: str | None = None,
    spark: Any = None,
    key: str | PathLike[str] | None = None,
    progress: Callable[[FrontProgress], None] | None = None,
    budget: Budget | None = None,
) -> Front:
    """Find every choice no other is better than: more privacy for the same loss, or less loss for the same privacy.

    Parameters
    ----------
    data, identifiers, quasi_identifiers, sensitive, class_attribute, person, household, pseudonyms
        As for :func:`discreet.anonymize`.
    weights, population, keep, types, derive
        As for :func:`discreet.anonymize`.
    missing, missing_sensitive
        As for :func:`discreet.anonymize`.
    priorities, keep_at_least, min_levels, max_levels
        As for :func:`discreet.anonymize`.
    privacy
        What is on the axis of privacy: ``k``, ``distinct-l(disease)``, ``entropy-l(disease)``, ``theta(disease)``,
        ``t(disease)`` or ``average-risk``; several make a front over all of them and the loss. A model with a number,
        such as ``k(5)`` or ``distinct-l(3, disease)``, is not an axis but a promise that every point, and every release
        made from one, keeps: ``["k", "distinct-l(3, disease)"]`` is k against the loss among the releases with three
        diseases in each class. Without an axis it is ``k``. ``distinct-l('3')`` is the axis about a column called 3.
    cost
        The loss: ``LM``, or with priorities ``score``, if none is chosen.
    suppression
        ``none`` or a budget. Classes that break a promise are suppressed first; if they have more rows than the budget,
        the recoding is no point. The rest of the budget suppresses other classes from the worst on the first axis up,
        all equally bad ones together. The remaining rows decide the privacy; suppressed ones are part of the loss.
    scheme
        ``full-domain``; with another one, or with promises about key sets such as ``k(3, any=2)``, the front of k is
        found by one search for each point, which keeps the promises.
    method, exact, depth, start
        ``exact``: all points, proven. ``poka``: the heuristic of the paper that posed the problem; the front says what
        it misses. ``exact=False`` means the same. It supports no promises. ``depth`` is how deep it searches, ``start``
        the node it starts from, as the level of each column; columns left out are at their highest level. Both can be
        part of the method: ``poka(depth=2, start={age: 1})``.
    time_limit
        Seconds the search may take; the front so far is returned, and every point says whether it is proven.
    threads
        How many cores a long search may use; by default all that this process may use.
    na, decimal, encoding, date_format, sheet, missing_codes
        How to read a file, as in :func:`discreet.table`: which texts mean a missing value, decimal commas, the
        encoding, the form of dates, the sheet of an Excel file, and what codes that SPSS declares as missing are.
    engine, memory_limit, spark
        Who works on a file: ``polars`` (``auto``), ``duckdb`` or ``spark``; frames are worked on by their own engine.
        ``memory_limit`` is one on DuckDB, such as ``4GB``; ``spark`` a session, or the address of a cluster.
    key
        The file of your key, which derived columns need; one in your home folder otherwise. Releases made from a point
        are signed with it unless another is named.
    progress, budget
        A function called with the state of the search, and a switch to stop it; for user interfaces.

    >>> import polars as pl
    >>> table = pl.DataFrame({"age": [31, 34, 38, 47, 48, 52], "sex": ["f", "f", "m", "m", "f", "m"]})
    >>> front = pareto(table, quasi_identifiers={"age": "intervals(5, 10, 20)", "sex": "flat"})
    >>> [(point.k, round(point.loss, 2)) for point in front.points]
    [(1, 0.0), (3, 6.0), (6, 12.0)]

    """
    arguments = dict(locals())
    way = _FrontMethod.read("poka" if method == "exact" and not exact else method, depth, start)
    if not as_list(privacy):
        raise UsageError("A front needs something on its axis of privacy, such as k.")
    axes, promises = axes_and_promises(as_list(privacy))
    if promises and way.name == "poka":
        raise UnsupportedCombinationError("The method poka", "promises beside the axis", "choose the exact method")
    check_switches(progress, budget)
    refuse_tables(data, "A front is of")
    settings = with_derived_columns(JobSettings.make({**arguments, "privacy": promises}))
    drawing = next((model for model in settings.privacy if model.sampling < 1), None)
    if drawing is not None:
        raise UnsupportedCombinationError(
            f"The privacy model {drawing.name}, which draws rows,", "a front", "promise k instead, or use anonymize"
        )
    if settings.any_scheme:
        raise UsageError("A front has one scheme; name it, as in full-domain, and compare the fronts of several.")
    if settings.suppression.name not in ("none", "budget"):
        raise UnsupportedCombinationError(
            "A front", f"the suppression {settings.suppression.name}", "choose none or a budget"
        )
    with interruptible():
        prepared = prepare(settings, for_front=True)
        budget = search_budget(budget, time_limit)
        budget.threads = threads
        schemes = prepared.schemes.values()
        local = next((choice.name for choice in schemes if not choice.is_global), None)
        if local is not None:
            raise UnsupportedCombinationError(
                "A front", f"the scheme {local}", "choose full-domain or another global one"
            )
        resolved = [axis.resolve(prepared.counted.table) for axis in axes]
        for number, axis in enumerate(resolved):
            if axis in resolved[:number]:
                raise UsageError(f"The axis {axis.text} is given twice.")
        search = _FrontSearch(prepared, resolved, promises, budget, progress)
        with prepared.clock("solve"):
            compiling = budget.preparing
            keyed = any(model.key_sets(prepared.counted.table.names) for model in promises)
            if all(choice.name == "full-domain" for choice in schemes) and not keyed:
                front = search.over_levels(way)
            else:
                front = search.by_solving(way.name)
            prepared.clock.reassign(budget.preparing - compiling, from_stage="solve", to_stage="compile")
            return front


@dataclass(frozen=True)
class _FrontMethod:
    """How a front is searched for, and what the method poka takes."""

    name: Method
    depth: int | None = None
    start: Mapping[str, int] | None = None

    @classmethod
    def read(cls, text: str, depth: int | None, start: Mapping[str, int] | None) -> _FrontMethod:
        """Return the method of a text form, with options that are given beside it."""
        name, plain, options = parse_text(text)
        if name not in _METHODS or plain:
            raise UsageError(
                f"The method of a front is exact, poka or poka with options as in poka(depth=2), not '{text}'."
            )
        given: dict[str, Any] = {"depth": depth, "start": start}
        for option, value in options.items():
            if option not in given:
                raise UsageError(f"The method poka has no option '{option}'; it has a depth and a start.")
            if given[option] is not None:
                raise UsageError(f"The {option} of poka is given twice; leave one out.")
            given[option] = value
        for option, value in given.items():
            if value is not None and name != "poka":
                raise UsageError(f"The {option} is one of the method poka; leave it out, or choose that method.")
        return cls(_METHODS[_METHODS.index(name)], **given)


@dataclass(frozen=True, eq=False)
class _FrontSearch:
    """What every search for a front needs."""

    prepared: Prepared
    axes: Sequence[Axis]
    promises: Sequence[PrivacyModel]
    budget: Budget
    progress: Callable[[FrontProgress], None] | None

    def problem(self, k: int = 1) -> Problem:
        """Return the problem of keeping the promises, and k."""
        return build_problem(
            self.prepared, [f"k({k})", *self.promises] if k > 1 or not self.promises else self.promises
        )

    def over_levels(self, method: _FrontMethod) -> Front:
        """Search the lattice of levels."""
        from discreet.solve.front.search import exact_front

        problem, axes = self.problem(), self.axes
        if len(axes) > 1 or self.promises:
            from discreet.solve.front.several_axes import front_of_many

            if method.name == "poka":
                raise UnsupportedCombinationError("The method poka", "several axes", "choose one, or the exact method")
            found = front_of_many(problem, axes, self.budget, self.progress)
            if not found.points:
                raise no_point(problem, found.complete, self.budget)
            return self._front_of(problem, found, method.name)
        if method.name == "exact":
            return self._front_of(problem, exact_front(problem, axes, self.budget, self.progress), method.name)
        from discreet.solve.published.poka import compare_fronts, poka_front

        found = poka_front(problem, axes, self.budget, self.progress, depth=method.depth, start=method.start)
        truth = exact_front(problem, axes, self.budget)
        front = self._front_of(problem, found, method.name)
        front.stats["depth"] = found.stats["depth"]
        if method.start is not None:
            front.stats["start"] = dict(zip(problem.table.names, found.points[0].levels, strict=True))
        if truth.complete:
            comparison = compare_fronts(found, truth)
            # From a node of its own, POkA looks for points with less privacy than that node has.
            sought = [p for p in comparison.missed if method.start is None or p.values < found.points[0].values]
            front.missed = tuple(self._points(problem, sought)[::-1])
            front.false = tuple(self._points(problem, comparison.false)[::-1])
            front.compared = True
        return front

    def by_solving(self, method: Method) -> Front:
        """Search for each point on its own, where recodings are more than levels."""
        from discreet.solve.front.by_solving import front_by_solves
        from discreet.solve.front.search import FrontProgress

        if len(self.axes) > 1 or type(self.axes[0]) is not K or method == "poka":
            raise UnsupportedCombinationError(
                "A front over a scheme other than full-domain, or with promises about key sets,",
                "an axis other than k, several axes or poka",
                "make k the axis, and promise the rest as in distinct-l(3, disease)",
            )

        def report(points: int, k: int) -> None:
            if self.progress is not None:
                self.progress(FrontProgress(self.budget.seconds, points, 0, points))

        problem = self.problem()
        solved, complete = front_by_solves(self.problem, problem.table.units.n, self.budget, report)
        if not solved:
            raise no_point(problem, complete, self.budget)
        worst = problem.cost.worst(problem.table) or 1.0
        points = tuple(
            FrontPoint(
                values={self.axes[0].text: each.k},
                loss=float(each.solution.cost),
                normalized_loss=float(each.solution.cost / worst),
                levels=dict(zip(problem.table.names, each.solution.levels or (), strict=False)),
                suppressed=each.solution.suppressed_rows,
                classes=each.solution.classes,
                also=0,
                proven=each.solution.status == "optimal",
                reached=(float(each.k),),
                lower_bound=each.lower_bound,
                solved=each,
            )
            for each in solved
        )
        cloud = np.array([[point.k, point.loss] for point in points], dtype=np.float64).reshape(-1, 2)
        return self._front(
            problem,
            points=points,
            space=0,
            examined=len(points),
            complete=complete,
            method="one search for each point",
            cloud=cloud,
        )

    def _front_of(self, problem: Problem, found: FoundFront, method: Method) -> Front:
        cloud = found.cloud.copy()
        for number, axis in enumerate(self.axes):
            cloud[:, number] = [axis.shown(value) for value in cloud[:, number]]
        return self._front(
            problem,
            points=tuple(self._points(problem, found.points)[::-1]),
            space=found.space,
            examined=found.examined,
            complete=found.complete,
            method=method,
            cloud=cloud,
        )

    def _front(self, problem: Problem, **found: Any) -> Front:
        settings = self.prepared.settings
        return Front(
            **found,
            axes=tuple(axis.text for axis in self.axes),
            cost=problem.cost.shown,
            n=problem.table.n,
            stats={"seconds": self.prepared.clock.seconds},
            prepared=self.prepared,
            problem=problem,
            parts=tuple(self.axes),
            promises=tuple(model.shown for model in problem.privacy if model.text != "k(1)"),
            job={
                "cost": settings.cost,
                "suppression": settings.suppression,
                "scheme": settings.scheme,
                "min_levels": settings.min_levels,
                "max_levels": settings.highest_levels,
            },
        )

    def _points(self, problem: Problem, points: Sequence[Any]) -> list[FrontPoint]:
        worst = problem.cost.worst(problem.table) or 1.0
        names = list(self.prepared.counted.domains)
        return [
            FrontPoint(
                values={
                    axis.text: _number(axis.shown(value)) for axis, value in zip(self.axes, point.values, strict=True)
                },
                loss=float(point.loss),
                normalized_loss=float(point.loss / worst),
                levels=dict(zip(names, point.levels, strict=True)),
                suppressed=int(point.suppressed),
                classes=int(point.classes),
                also=int(point.also),
                proven=bool(point.proven),
                reached=tuple(point.values),
            )
            for point in points
        ]


def _number(value: float) -> float | int:
    return int(value) if float(value).is_integer() else float(value)
