"""Neighbouring promises: what a little more or a little less privacy would have cost."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import DiscreetError
from discreet.problem import PrivacyModel, Problem
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.problem.privacy.l_diversity import LDiversity

if TYPE_CHECKING:
    from discreet.pipeline.release import Release

__all__ = ["Neighbour", "find_neighbours"]

_LADDER = (2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
_SECONDS = 4.0
"""Time limit for all neighbours."""
_BELOW, _ABOVE = 2, 3


@dataclass(frozen=True)
class Neighbour:
    """The best release for another promise, all else being equal."""

    promise: str
    """The promise that differs, as text."""
    value: int
    """Its k, or its l."""
    cost: float
    """Infinite if no release keeps the promise."""
    normalized_cost: float
    suppressed: int
    classes: int
    proven: bool
    chosen: bool
    """Whether this is the release itself."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; the cost of an infeasible neighbour is None."""
        fields = dataclasses.asdict(self)
        return fields if np.isfinite(self.cost) else {**fields, "cost": None, "normalized_cost": None}


def find_neighbours(release: Release) -> tuple[Neighbour, ...]:
    """Solve the problem of a release for a few values of k (or l, if there is no k) below and above the promised one.

    Empty if there is neither, or if the problem is too large.
    """
    problem = None if release.original is None else release.original.problem
    index = None if problem is None else _varied(problem.privacy)
    if problem is None or index is None:
        return ()
    end = time.monotonic() + _SECONDS
    found = [_own(release, problem.privacy[index])]
    for model in _neighbouring_promises(problem.privacy[index], problem.whole.n):
        left = end - time.monotonic()
        if left <= 0:
            break
        neighbour = _solved(problem, index, model, left)
        if neighbour is not None:
            found.append(neighbour)
    return tuple(sorted(found, key=lambda neighbour: neighbour.value)) if len(found) > 1 else ()


def _varied(models: Sequence[PrivacyModel]) -> int | None:
    """Return the index of the promise to vary."""
    for kind in (KAnonymity, LDiversity):
        for index, model in enumerate(models):
            if isinstance(model, kind):
                return index
    return None


def _value(model: PrivacyModel) -> int:
    return int(model.k if isinstance(model, KAnonymity) else model.l)  # type: ignore[attr-defined]


def _neighbouring_promises(model: PrivacyModel, rows: int) -> Iterator[PrivacyModel]:
    """Yield neighbouring promises, the nearest first."""
    now = _value(model)
    ladder = _LADDER if isinstance(model, KAnonymity) else tuple(range(2, now + _ABOVE + 1))
    below = [value for value in ladder if value < now][-_BELOW:]
    above = [value for value in ladder if now < value <= rows // 2][:_ABOVE]
    field = "k" if isinstance(model, KAnonymity) else "l"
    for value in sorted([*below, *above], key=lambda value: abs(np.log(value / max(now, 1)))):
        yield dataclasses.replace(model, **{field: value})  # type: ignore[type-var]


def _own(release: Release, model: PrivacyModel) -> Neighbour:
    proven = release.status == "optimal"
    figures = (release.cost, release.normalized_cost, release.suppressed, release.classes)
    return Neighbour(model.shown, _value(model), *figures, proven=proven, chosen=True)


def _solved(problem: Problem, index: int, model: PrivacyModel, seconds: float) -> Neighbour | None:
    """Return the best release for another promise; None if it is not found in time or the promise is invalid."""
    from discreet.solve import Budget, choose_solver

    names = problem.whole.names
    try:
        other = Problem.build(
            problem.whole,
            privacy=[*problem.privacy[:index], model, *problem.privacy[index + 1 :]],
            cost=problem.cost,
            suppression=problem.suppression,
            scheme=dict(zip(names, problem.schemes, strict=True)),
            min_levels=dict(zip(names, problem.lowest, strict=True)),
            max_levels=dict(zip(names, problem.highest, strict=True)),
            known_with=problem.known_with,
        )
        found = choose_solver(other).solve(other, Budget(seconds))
    except DiscreetError:
        return None
    if found.status == "infeasible":
        return Neighbour(model.shown, _value(model), np.inf, np.inf, 0, 0, proven=True, chosen=False)
    worst = other.cost.worst(other.table) or 1.0
    lost = other.whole.n - other.table.n + found.suppressed_rows
    share = float(found.cost / worst)
    proven = found.status == "optimal"
    return Neighbour(model.shown, _value(model), float(found.cost), share, int(lost), found.classes, proven, False)
