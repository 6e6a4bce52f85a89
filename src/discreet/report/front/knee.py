"""The knee of a front: the last choice before more privacy gets expensive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import UsageError
from discreet.problem import Axis
from discreet.report.numbers import number_text
from discreet.runtime.notebook_html import card, figures

if TYPE_CHECKING:
    from discreet.pipeline.front import FrontPoint

__all__ = ["Knee", "find_knee"]


@dataclass(frozen=True, eq=False)
class Knee:
    """A suggested point, and why."""

    point: FrontPoint
    reason: str
    recommended: bool = True
    """Whether the point keeps enough detail to be recommended, or only loses least."""

    def __str__(self) -> str:
        return self.reason

    def _repr_html_(self) -> str:
        reason = self.reason.removeprefix("Suggested: ")
        values = ((name, number_text(value), "") for name, value in self.point.values.items())
        lost = ("loss", f"{100 * self.point.normalized_loss:.0f} %", "of that of suppressing everything")
        return card("The suggested choice", figures([*values, lost]), f"<p>{escape(reason)}</p>")


def find_knee(points: Sequence[FrontPoint], axis: Axis) -> Knee:
    """Return the point farthest from the line between the first choice that protects anybody and the last.

    Privacy is measured as risk: 1/k for k, 1/l for l; θ and the average risk are risks themselves, and t is a distance.
    Risk and loss are scaled to [0, 1]. ``points`` are in the order of the axis. If that point loses half of the detail
    or more, one that loses less is taken where it lowers the risk at least half as much. A point that loses three
    quarters or more is never recommended.
    """
    if not points:
        raise UsageError("The front has no points, so there is nothing to suggest.")

    def named(point: FrontPoint) -> str:
        return f"{axis.text} = {number_text(point.values[axis.text])}"

    choices = [point for point in points if point.values[axis.text] != 1]
    if not choices:
        reason = f"There is no choice but {named(points[-1])}, which protects nobody."
        return Knee(points[-1], reason, recommended=False)
    useful = np.array([point.normalized_loss < _MOST_LOST for point in choices])
    if not useful.any():
        cheapest = min(choices, key=lambda point: point.normalized_loss)
        return Knee(
            cheapest,
            f"None is recommended: every choice that protects anybody loses three quarters of the detail or more. "
            f"{named(cheapest)} loses least, {100 * cheapest.normalized_loss:.0f} % of suppressing everything. "
            "Generalize fewer columns, allow more suppression, or choose another scheme.",
            recommended=False,
        )
    under_half = np.array([point.normalized_loss < _MUCH_LOST for point in choices])
    first, last = choices[0], choices[-1]
    if len(choices) < 3 and useful[0]:
        return Knee(
            first,
            f"Suggested: {named(first)}, the first choice that protects anybody, at "
            f"{100 * first.normalized_loss:.0f} % of the loss of suppressing everything."
            f"{'' if under_half[0] else _ALL_LOSE_MUCH}",
        )
    risk = np.array([_risk(axis, point) for point in choices])
    loss = np.array([point.loss for point in choices])
    gained = (risk[0] - risk) / ((risk[0] - risk[-1]) or 1.0)
    paid = (loss - loss[0]) / ((loss[-1] - loss[0]) or 1.0)
    at = int(np.argmax(np.where(useful, gained - paid, -np.inf)))
    enough = under_half & (gained >= gained[at] / 2)
    warning = ""
    if enough.any():
        at = int(np.argmax(np.where(enough, gained - paid, -np.inf)))
    elif not under_half[at] and under_half.any():
        milder = choices[int(np.flatnonzero(under_half)[-1])]
        warning = (
            f" It loses more than half of the detail; {named(milder)} loses {100 * milder.normalized_loss:.0f} % and "
            "protects much less."
        )
    elif not under_half[at]:
        warning = _ALL_LOSE_MUCH
    chosen = choices[at]
    share = [100 * point.normalized_loss for point in (first, chosen, last)]
    if at == 0:
        return Knee(
            chosen,
            f"Suggested: {named(chosen)}, at {share[1]:.0f} % of the loss of suppressing everything; every step beyond "
            f"costs more than it protects{'' if under_half.all() else ', or half of the detail'}.{warning}",
        )
    kind = _KINDS.get(axis.name, "highest risk")
    before, now, least = (number_text(value) if kind == "distance" else _percent(value) for value in risk[[0, at, -1]])
    return Knee(
        chosen,
        f"Suggested: {named(chosen)}. Compared with {named(first)}, the {kind} falls from {before} to {now}, and the "
        f"loss rises from {share[0]:.0f} to {share[1]:.0f} % of that of suppressing everything. Going on to "
        f"{named(last)} would lower the {kind} to {least}, at a loss of {share[2]:.0f} %.{warning}",
    )


_MUCH_LOST, _MOST_LOST = 0.5, 0.75
"""Points that lose as large a share of the detail are avoided, and not recommended."""
_ALL_LOSE_MUCH = " No choice that protects anybody loses less than half of the detail; consider another scheme."
_KINDS = {"average-risk": "average risk", "t": "distance"}
"""What the axes measure that is not the highest risk of anybody."""


def _risk(axis: Axis, point: FrontPoint) -> float:
    """Return the risk at a point; values that should be low are risks or distances already."""
    value = float(point.values[axis.text])
    return 1 / value if axis.shown(1.0) > 0 else value


def _percent(risk: float) -> str:
    return f"{100 * risk:.3g} %"
