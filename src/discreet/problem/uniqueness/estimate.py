"""How many people are unique in the population, estimated from the classes of a sample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from discreet.counts import IntArray
from discreet.problem.uniqueness.pitman import pitman
from discreet.problem.uniqueness.snb import snb
from discreet.problem.uniqueness.zayatz import zayatz

__all__ = ["MODELS", "PopulationUniques", "estimate_by", "estimate_uniques"]

Chosen = Literal["pitman", "zayatz", "snb"]
_ESTIMATORS: dict[str, Callable[[IntArray, IntArray, int], float | None]] = {
    "pitman": pitman,
    "zayatz": zayatz,
    "snb": snb,
}
MODELS = ("dankar", *_ESTIMATORS)
"""The models, and the rule that chooses one of them."""

_SMALL_FRACTION = 0.1
"""Up to this sampling fraction Dankar et al. found Pitman's model to be the best."""


@dataclass(frozen=True)
class PopulationUniques:
    """The estimated number of people who are unique in the population, by three models and a rule that chooses.

    An estimate is None where its model does not fit the classes of the sample.
    """

    pitman: float | None
    zayatz: float | None
    snb: float | None
    dankar: float | None
    """The estimate the rule of Dankar et al. (2012) chooses."""
    chosen: Chosen | None
    """The model it chooses; None where nobody is unique in the sample."""

    def to_dict(self) -> dict[str, Any]:
        """Return the estimates as plain data."""
        return asdict(self)


def estimate_uniques(sizes: IntArray, classes: IntArray, population: int) -> PopulationUniques:
    """Estimate the number of people who are unique in a population of a known size.

    ``classes[i]`` classes of the sample have ``sizes[i]`` rows. The rule takes Pitman's model (or Zayatz', if that
    does not fit) for a sample of up to a tenth of the population; for a larger one, the lower one of Zayatz' and the
    SNB model's estimate. Without a unique row in the sample all estimates are 0.
    """
    sizes, classes = _signed(sizes), _signed(classes)
    if not (sizes == 1).any():
        return PopulationUniques(0.0, 0.0, 0.0, 0.0, None)
    found = {model: _within(by(sizes, classes, population), population) for model, by in _ESTIMATORS.items()}
    chosen = _rule(found.__getitem__, int((sizes * classes).sum()), population)
    return PopulationUniques(**found, dankar=found[chosen], chosen=chosen)


def estimate_by(model: str, sizes: IntArray, classes: IntArray, population: int) -> float | None:
    """Return the estimate of one of the ``MODELS`` alone; None where it does not fit.

    >>> sizes, classes = np.array([1, 2, 3]), np.array([60, 20, 4])
    >>> estimate_by("dankar", sizes, classes, 500) == estimate_uniques(sizes, classes, 500).dankar
    True
    """
    sizes, classes = _signed(sizes), _signed(classes)
    if not (sizes == 1).any():
        return 0.0

    @cache
    def estimate(name: str) -> float | None:
        return _within(_ESTIMATORS[name](sizes, classes, population), population)

    return estimate(_rule(estimate, int((sizes * classes).sum()), population) if model == "dankar" else model)


def _signed(counts: IntArray) -> IntArray:
    """Return counts as signed integers, so that they can be subtracted; polars counts in unsigned ones."""
    return np.asarray(counts, dtype=np.int64)


def _rule(estimate: Callable[[str], float | None], rows: int, population: int) -> Chosen:
    """Return the model that the rule of Dankar et al. chooses, computing only the estimates it needs."""
    if rows <= _SMALL_FRACTION * population:
        return "zayatz" if estimate("pitman") is None else "pitman"
    by_snb, by_zayatz = estimate("snb"), estimate("zayatz")
    return "snb" if by_snb is not None and (by_zayatz is None or by_snb <= by_zayatz) else "zayatz"


def _within(estimate: float | None, population: int) -> float | None:
    """Return an estimate unless it exceeds the population by more than rounding."""
    if estimate is None or not estimate <= population * (1 + 1e-9):
        return None
    return min(estimate, float(population))
