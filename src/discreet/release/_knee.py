"""Where a front bends: the last choice before more privacy gets dear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.counts import FloatArray
from discreet.errors import UsageError

if TYPE_CHECKING:
    from discreet.release._front import FrontPoint

__all__ = ["Knee", "find_knee"]


@dataclass(frozen=True, eq=False)
class Knee:
    """A suggestion, and why."""

    point: FrontPoint
    reason: str

    def __str__(self) -> str:
        return self.reason


def find_knee(points: Sequence[FrontPoint], axis: str) -> Knee:
    """Return the point farthest from the line between the first choice that protects anybody and the last.

    Privacy is measured as risk: among k rows that look alike the right one is found with a chance of 1/k, and a value
    among l with 1/l; θ, t and the average risk are risks themselves. Risk and loss are measured on their own scale.
    """
    choices = [point for point in points if point.k != 1] or list(points)
    if not choices:
        raise UsageError("The front has no points, so that there is nothing to suggest.")
    first, last = choices[0], choices[-1]
    if len(choices) < 3:
        return Knee(first, f"Suggested: {axis} = {_text(first.k)}, the first choice that protects anybody.")
    risk, loss = _risks(choices), np.array([point.loss for point in choices])
    gained = (risk[0] - risk) / ((risk[0] - risk[-1]) or 1.0)
    paid = (loss - loss[0]) / ((loss[-1] - loss[0]) or 1.0)
    at = int(np.argmax(gained - paid))
    chosen = choices[at]
    share = [100 * point.normalized_loss for point in (first, chosen, last)]
    if at == 0:
        return Knee(
            chosen,
            f"Suggested: {axis} = {_text(chosen.k)}, at {share[1]:.0f} % of the loss of suppressing everything; from "
            "there on every step costs more than it protects.",
        )
    return Knee(
        chosen,
        f"Suggested: {axis} = {_text(chosen.k)}. Up to there the highest risk falls from {_percent(risk[0])} to "
        f"{_percent(risk[at])} while the loss rises from {share[0]:.0f} to {share[1]:.0f} % of that of suppressing "
        f"everything; the last step, {axis} = {_text(last.k)}, would leave {_percent(risk[-1])} at {share[2]:.0f} %.",
    )


def _risks(points: Sequence[FrontPoint]) -> FloatArray:
    """The chance of an attacker at each point."""
    counts = all(point.k >= 1 for point in points)
    return np.array([1 / point.k if counts else point.k for point in points], dtype=np.float64)


def _percent(risk: float) -> str:
    return f"{100 * risk:.3g} %"


def _text(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
