"""The whole trade-off: every choice of privacy that makes sense, and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from discreet.engines import Engine, EngineName, Missing, MissingSensitive
from discreet.errors import UnsupportedCombinationError, UsageError
from discreet.problem import SUPPRESSION, Axis, PrivacyModel, Problem, Scheme, make_schemes
from discreet.problem.axes._promises import axes_and_promises
from discreet.problem.axes.k import K
from discreet.release._front import Front, FrontPoint
from discreet.release._infeasible import no_point
from discreet.release._prepare import Prepared, check_time_limit, interruptible, prepare, search_budget, several
from discreet.release._wishes import cost_by_priorities, highest_levels

if TYPE_CHECKING:
    from discreet.problem import Cost, Suppression
    from discreet.solve import Budget
    from discreet.solve.front import FoundFront, FrontProgress

__all__ = ["pareto"]


def pareto(
    data: Any,
    *,
    identifiers: str | Sequence[str] = (),
    quasi_identifiers: str | Sequence[str] | Mapping[str, Any],
    sensitive: str | Sequence[str] | Mapping[str, Any] = (),
    class_attribute: str | None = None,
    weights: str | None = None,
    population: Any = None,
    keep: str | Sequence[str] = (),
    types: Mapping[str, Any] | None = None,
    privacy: str | Axis | PrivacyModel | Sequence[str | Axis | PrivacyModel] = "k",
    cost: str | Cost | None = None,
    suppression: str | Suppression = "none",
    scheme: str | Scheme | Mapping[str, str | Scheme] = "full-domain",
    method: Literal["exact", "poka"] = "exact",
    exact: bool = True,
    depth: int | None = None,
    time_limit: float | None = None,
    missing: Missing = "value",
    missing_sensitive: MissingSensitive = "unknown",
    priorities: Mapping[str, int] | None = None,
    keep_at_least: Mapping[str, int] | None = None,
    min_levels: Mapping[str, int] | None = None,
    max_levels: Mapping[str, int] | None = None,
    engine: EngineName = "auto",
    memory_limit: str | None = None,
    spark: Any = None,
    progress: Callable[[FrontProgress], None] | None = None,
    budget: Budget | None = None,
) -> Front:
    """Find every choice no other is better than: more privacy for the same loss, or less loss for the same privacy.

    Parameters
    ----------
    data, identifiers, quasi_identifiers, sensitive, class_attribute, weights, population, keep, types
        As for :func:`discreet.anonymize`.
    missing, missing_sensitive
        As for :func:`discreet.anonymize`.
    priorities, keep_at_least, min_levels, max_levels
        As for :func:`discreet.anonymize`.
    privacy
        What is on the axis of privacy: ``k``, ``distinct-l(disease)``, ``entropy-l(disease)``, ``theta(disease)``,
        ``t(disease)`` or ``average-risk``; several make a front over all of them and the loss. What says how much is
        wanted, as ``k(5)`` or ``distinct-l(3, disease)``, is no axis but a promise every point keeps, and so does every
        release made of one: ``["k", "distinct-l(3, disease)"]`` is k against the loss among the releases with three
        diseases in each class. Without an axis that is ``k``. A text with a number among its plain arguments is always
        a promise; ``distinct-l('3')`` is the axis about a column called 3.
    cost
        The loss: ``LM``, or with priorities ``score``, if none is chosen.
    suppression
        ``none`` or a budget. With at most so many rows to suppress, classes that break a promise go first: if they have
        more rows than that, the recoding is no point. By what is left of the budget, the other classes go from the
        worst on the first axis up, all equally bad ones together; what is left says how private the table is, and what
        went is part of the loss.
    scheme
        ``full-domain``; with another one the front of k is found by one search for each point, which keeps the
        promises.
    method, exact, depth
        ``exact``: all points, proven. ``poka``: the heuristic of the paper that first asked for this, with its depth of
        search; what it misses is told. ``exact=False`` is another way to ask for it. It knows no promises.
    time_limit
        Seconds the search may take; the front so far is returned, and every point says whether it is proven.
    engine, memory_limit, spark
        Who works on a file: ``polars`` (``auto``), ``duckdb`` or ``spark``; frames are worked on by their own engine.
        ``memory_limit`` is one on DuckDB, such as ``4GB``; ``spark`` a session, or the address of a cluster.
    progress, budget
        A function that is told how the search goes, and a switch to stop it; for user interfaces.

    >>> import polars as pl
    >>> table = pl.DataFrame({"age": [31, 34, 38, 47, 48, 52], "sex": ["f", "f", "m", "m", "f", "m"]})
    >>> front = pareto(table, quasi_identifiers={"age": "intervals(5, 10, 20)", "sex": "flat"})
    >>> [(point.k, round(point.loss, 2)) for point in front.points]
    [(1, 0.0), (3, 6.0), (6, 12.0)]

    """
    if method not in ("exact", "poka"):
        raise UsageError(f"The method of a front is exact or poka, not '{method}'.")
    if not exact:
        method = "poka"
    if depth is not None and method != "poka":
        raise UsageError("The depth is one of the method poka; leave it out, or choose that method.")
    check_time_limit(time_limit)
    given = several(privacy)
    if not given:
        raise UsageError("A front needs something on its axis of privacy, such as k.")
    axes, promises = axes_and_promises(given)
    if promises and method == "poka":
        raise UnsupportedCombinationError("The method poka", "promises beside the axis", "choose the exact method")
    loss = cost_by_priorities(cost, priorities, quasi_identifiers)
    highest = highest_levels(max_levels, keep_at_least)
    kind, schemes = SUPPRESSION.make(suppression), make_schemes(scheme)
    if kind.name not in ("none", "budget"):
        raise UnsupportedCombinationError("A front", f"the suppression {kind.name}", "choose none or a budget")
    with interruptible():
        prepared = prepare(
            data,
            identifiers=identifiers,
            quasi_identifiers=quasi_identifiers,
            sensitive=sensitive,
            class_attribute=class_attribute,
            weights=weights,
            population=population,
            keep=keep,
            types=types,
            schemes=schemes,
            missing=missing,
            missing_sensitive=missing_sensitive,
            engine=Engine(engine, memory_limit, spark),
            stop=False,
        )
        budget = search_budget(budget, time_limit)
        if not all(choice.is_global for choice in prepared.schemes.values()):
            raise UnsupportedCombinationError("A front", "the scheme local", "choose full-domain or another global one")
        full = all(choice.name == "full-domain" for choice in prepared.schemes.values())

        def problem_for(k: int = 1) -> Problem:
            return Problem.build(
                prepared.counted.table,
                privacy=[f"k({k})", *promises] if k > 1 or not promises else promises,
                cost=loss,
                suppression=kind,
                scheme=prepared.schemes,
                min_levels=min_levels,
                max_levels=highest,
            )

        resolved = [axis.resolve(prepared.counted.table) for axis in axes]
        for place, axis in enumerate(resolved):
            if axis in resolved[:place]:
                raise UsageError(f"The axis {axis.text} is given twice.")
        with prepared.clock("solve"):
            job = {
                "cost": loss,
                "suppression": kind,
                "scheme": schemes,
                "min_levels": min_levels or {},
                "max_levels": highest,
            }
            before = budget.preparing
            if full:
                front = _over_levels(
                    prepared,
                    problem_for(),
                    resolved,
                    method,
                    depth,
                    budget,
                    progress,
                    job,
                    promises=bool(promises),
                )
                prepared.clock.part("compile", "solve", budget.preparing - before)
                return front
            if len(resolved) > 1 or type(resolved[0]) is not K or method == "poka":
                raise UnsupportedCombinationError(
                    "A front over a scheme other than full-domain",
                    "an axis other than k, several axes or poka",
                    "make k the axis, and promise the rest as in distinct-l(3, disease)",
                )
            front = _over_solves(prepared, problem_for, resolved, budget, progress, job)
            prepared.clock.part("compile", "solve", budget.preparing - before)
            return front


def _over_levels(
    prepared: Prepared,
    problem: Problem,
    axes: Sequence[Axis],
    method: str,
    depth: int | None,
    budget: Budget,
    progress: Callable[[FrontProgress], None] | None,
    job: dict[str, Any],
    *,
    promises: bool,
) -> Front:
    from discreet.solve.front import exact_front

    if len(axes) > 1 or promises:
        from discreet.solve._many_axes import front_of_many

        if method == "poka":
            raise UnsupportedCombinationError("The method poka", "several axes", "choose one, or the exact method")
        found = front_of_many(problem, axes, budget, progress)
        if not found.points:
            raise no_point(problem, found.complete, budget)
        return _front(prepared, problem, axes, found, "exact", job)
    if method == "exact":
        return _front(prepared, problem, axes, exact_front(problem, axes, budget, progress), "exact", job)
    from discreet.solve.poka import compare_fronts, poka_front

    found = poka_front(problem, axes, budget, progress, depth=depth)
    truth = exact_front(problem, axes, budget)
    front = _front(prepared, problem, axes, found, "poka", job)
    front.stats["depth"] = found.stats["depth"]
    if truth.complete:
        comparison = compare_fronts(found, truth)
        front.missed = tuple(_points(prepared, problem, axes, comparison.missed)[::-1])
        front.false = tuple(_points(prepared, problem, axes, comparison.false)[::-1])
        front.compared = True
    return front


def _points(prepared: Prepared, problem: Problem, axes: Sequence[Axis], points: Sequence[Any]) -> list[FrontPoint]:
    worst = problem.cost.worst(problem.table) or 1.0
    names = list(prepared.counted.domains)
    return [
        FrontPoint(
            values={axis.text: _number(axis.shown(value)) for axis, value in zip(axes, point.values, strict=True)},
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


def _promises(problem: Problem) -> tuple[str, ...]:
    """Return what every point keeps, as text for people."""
    return tuple(model.shown for model in problem.privacy if model.text != "k(1)")


def _number(value: float) -> float | int:
    return int(value) if float(value).is_integer() else float(value)


def _front(
    prepared: Prepared, problem: Problem, axes: Sequence[Axis], found: FoundFront, method: str, job: dict[str, Any]
) -> Front:
    points = _points(prepared, problem, axes, found.points)
    cloud = found.cloud.copy()
    for number, axis in enumerate(axes):
        cloud[:, number] = [axis.shown(value) for value in cloud[:, number]]
    return Front(
        points=tuple(points[::-1]),
        axes=tuple(axis.text for axis in axes),
        cost=problem.cost.shown,
        n=problem.table.n,
        space=found.space,
        examined=found.examined,
        complete=found.complete,
        method=method,
        cloud=cloud,
        stats={"seconds": prepared.clock.seconds},
        prepared=prepared,
        problem=problem,
        parts=tuple(axes),
        promises=_promises(problem),
        job=job,
    )


def _over_solves(
    prepared: Prepared,
    problem_for: Callable[[int], Problem],
    axes: Sequence[Axis],
    budget: Budget,
    progress: Callable[[FrontProgress], None] | None,
    job: dict[str, Any],
) -> Front:
    import numpy as np

    from discreet.solve._front_by_solves import front_by_solves
    from discreet.solve.front import FrontProgress

    def told(points: int, k: int) -> None:
        if progress is not None:
            progress(FrontProgress(budget.seconds, points, 0, points))

    problem = problem_for(1)
    solved, complete = front_by_solves(problem_for, problem.table.n, budget, told)
    if not solved:
        raise no_point(problem, complete, budget)
    worst = problem.cost.worst(problem.table) or 1.0
    points = [
        FrontPoint(
            values={axes[0].text: each.k},
            loss=float(each.solution.cost),
            normalized_loss=float(each.solution.cost / worst),
            levels={},
            suppressed=each.solution.suppressed_rows,
            classes=each.solution.classes,
            also=0,
            proven=each.solution.status == "optimal",
            reached=(float(each.k),),
            lower_bound=each.lower_bound,
            solved=each,
        )
        for each in solved
    ]
    return Front(
        points=tuple(points),
        axes=tuple(axis.text for axis in axes),
        cost=problem.cost.shown,
        n=problem.table.n,
        space=0,
        examined=len(points),
        complete=complete,
        method="one search for each point",
        cloud=np.array([[point.k, point.loss] for point in points], dtype=np.float64).reshape(-1, 2),
        stats={"seconds": prepared.clock.seconds},
        prepared=prepared,
        problem=problem,
        parts=tuple(axes),
        promises=_promises(problem),
        job=job,
    )
