"""Where a front bends: the last choice before more privacy gets dear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import UsageError
from discreet.problem import Axis

if TYPE_CHECKING:
    from discreet.release._front import FrontPoint

__all__ = ["Knee", "find_knee", "number_text"]


@dataclass(frozen=True, eq=False)
class Knee:
    """A suggestion, and why."""

    point: FrontPoint
    reason: str

    def __str__(self) -> str:
        return self.reason


def find_knee(points: Sequence[FrontPoint], axis: Axis) -> Knee:
    """Return the point farthest from the line between the first choice that protects anybody and the last.

    Privacy is measured as risk: among k rows that look alike the right one is found with a chance of 1/k, and a value
    among l with 1/l; θ and the average risk are risks themselves, and t is a distance. Risk and loss are measured on
    their own scale. ``points`` are in the order of the axis.
    """
    if not points:
        raise UsageError("The front has no points, so that there is nothing to suggest.")

    def named(point: FrontPoint) -> str:
        return f"{axis.text} = {number_text(point.values[axis.text])}"

    choices = [point for point in points if point.values[axis.text] != 1]
    if not choices:
        return Knee(points[-1], f"There is no choice but {named(points[-1])}, which protects nobody.")
    first, last = choices[0], choices[-1]
    if len(choices) < 3:
        return Knee(first, f"Suggested: {named(first)}, the first choice that protects anybody.")
    risk = np.array([_risk(axis, point) for point in choices])
    loss = np.array([point.loss for point in choices])
    gained = (risk[0] - risk) / ((risk[0] - risk[-1]) or 1.0)
    paid = (loss - loss[0]) / ((loss[-1] - loss[0]) or 1.0)
    at = int(np.argmax(gained - paid))
    chosen = choices[at]
    share = [100 * point.normalized_loss for point in (first, chosen, last)]
    if at == 0:
        return Knee(
            chosen,
            f"Suggested: {named(chosen)}, at {share[1]:.0f} % of the loss of suppressing everything; from "
            "there on every step costs more than it protects.",
        )
    kind = _KINDS.get(axis.name, "highest risk")
    before, now, least = (number_text(value) if kind == "distance" else _percent(value) for value in risk[[0, at, -1]])
    return Knee(
        chosen,
        f"Suggested: {named(chosen)}. Up to there the {kind} falls from {before} to {now} while the loss rises from "
        f"{share[0]:.0f} to {share[1]:.0f} % of that of suppressing everything; the last step, {named(last)}, would "
        f"leave {least} at {share[2]:.0f} %.",
    )


_KINDS = {"average-risk": "average risk", "t": "distance"}
"""What is not the highest risk of anybody."""


def _risk(axis: Axis, point: FrontPoint) -> float:
    """The chance of an attacker; numbers of which less is better are taken as they are."""
    value = float(point.values[axis.text])
    return 1 / value if axis.shown(1.0) > 0 else value


def _percent(risk: float) -> str:
    return f"{100 * risk:.3g} %"


def number_text(value: float) -> str:
    """Return a number of an axis as people read it.

    >>> number_text(12000), number_text(0.123456)
    ('12,000', '0.1235')
    """
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"
