"""How many people are unique in the population, estimated from the classes of a sample."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from discreet.counts import IntArray
from discreet.evaluate._risk._pitman import pitman
from discreet.evaluate._risk._snb import snb
from discreet.evaluate._risk._zayatz import zayatz

__all__ = ["PopulationUniques", "estimate_uniques"]

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
    chosen: Literal["pitman", "zayatz", "snb"] | None
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
    if not (sizes == 1).any():
        return PopulationUniques(0.0, 0.0, 0.0, 0.0, None)
    found = {model.__name__: _within(model(sizes, classes, population), population) for model in (pitman, zayatz, snb)}
    rows = int((sizes * classes).sum())
    if rows <= _SMALL_FRACTION * population:
        chosen = "pitman" if found["pitman"] is not None else "zayatz"
    else:
        zayatz_, snb_ = found["zayatz"], found["snb"]
        chosen = "snb" if snb_ is not None and (zayatz_ is None or snb_ <= zayatz_) else "zayatz"
    return PopulationUniques(**found, dankar=found[chosen], chosen=chosen)  # type: ignore[arg-type]


def _within(estimate: float | None, population: int) -> float | None:
    """Return an estimate if it can be true; a rounding error above the size of the population is none."""
    if estimate is None or not estimate <= population * (1 + 1e-9):
        return None
    return min(estimate, float(population))
