"""Scales of a picture of a front: where a number goes, and which numbers are written at the axis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from discreet.counts import FloatArray

__all__ = ["Scale", "Tick", "brief", "plain", "share"]

_UNITS = ((1e12, " T"), (1e9, " B"), (1e6, " M"), (1e3, " K"))
_PAD = 0.03
_ZERO = 1e-12
"""Whatever is smaller than this share of the largest number is zero and an error of rounding."""
_DENSITIES = (((1, 2, 5), 1), ((1, 3), 1), *(((1,), stride) for stride in range(1, 100)))
"""Which digits are written for every so many decades, the densest first."""


class Tick(NamedTuple):
    """A number at an axis: where it is, from 0 to 1, and how it is written."""

    place: float
    text: str


def plain(value: float) -> str:
    """Write a number with four digits or all its whole ones, and never with an exponent.

    >>> plain(30162.0), plain(0.33333), plain(0.0000331529), plain(133268.096)
    ('30,162', '0.3333', '0.00003315', '133,268')
    """
    if not math.isfinite(value):
        return "any"
    if float(value).is_integer() or abs(value) >= 1000:
        return f"{value:,.0f}"
    return np.format_float_positional(value, precision=4, fractional=False, trim="-")


def brief(value: float) -> str:
    """Write a number as short as an axis needs it.

    >>> brief(200_000), brief(1_200_000), brief(5_000), brief(0.25)
    ('200 K', '1.2 M', '5,000', '0.25')
    """
    for unit, name in _UNITS:
        if abs(value) >= max(unit, 10_000):
            return f"{value / unit:.4g}{name}"
    return plain(value)


def share(part: float) -> str:
    """Write a share as percent.

    >>> share(0.0), share(0.00975), share(0.4909), share(1.0)
    ('0 %', '0.97 %', '49.1 %', '100 %')
    """
    percent = 100 * part
    digits = 0 if percent == 0 or percent >= 100 else 1 if percent >= 1 else 2
    return f"{percent:,.{digits}f} %"


@dataclass(frozen=True)
class Scale:
    """Turns numbers into places from 0 to 1, or from 1 to 0 where ``flipped``.

    ``symlog`` is logarithmic from ``unit`` on, on both sides of zero, and linear between.

    >>> scale = Scale.over([1, 30162])
    >>> scale.kind, [tick.text for tick in scale.ticks(5)]
    ('log', ['1', '10', '100', '1,000', '10,000'])
    """

    kind: Literal["linear", "log", "symlog"]
    low: float
    """The ends, after bending."""
    high: float
    unit: float = 1.0
    flipped: bool = False

    @classmethod
    def over(cls, values: ArrayLike, others: ArrayLike = (), *, flipped: bool = False) -> Scale:
        """Return a scale that suits ``values`` and has room for ``others`` as well.

        Logarithmic where the values span a decade; where there are zeros or shares among them, only from two decades
        on, with a linear piece around zero if it needs one.
        """
        main, rest = (np.asarray(numbers, dtype=np.float64).ravel() for numbers in (values, others))
        known = np.concatenate([main, rest])
        known = known[np.isfinite(known)]
        size = np.abs(main[np.isfinite(main)])
        zero = _ZERO * float(size.max(initial=0.0))
        size = size[size > zero]
        usual = 10 if (main > zero).all() and size.max(initial=0.0) > 1 else 100
        if not size.size or size.max() < usual * size.min():
            return cls._linear(known if known.size else np.ones(1), flipped)
        positive = bool((known > zero).all())
        unit = 10.0 ** math.floor(math.log10(float(size.min())) + 1e-9)
        bent = cls("log" if positive else "symlog", 0.0, 1.0, unit)
        ends = bent._bend(known)
        low, high = float(ends.min()), float(ends.max())
        pad = _PAD * (high - low)
        return cls(bent.kind, low - pad, high + pad, unit, flipped)

    @classmethod
    def _linear(cls, known: FloatArray, flipped: bool) -> Scale:
        low, high = float(known.min()), float(known.max())
        if 0 < low < 0.4 * high:
            low = 0.0
        pad = _PAD * (high - low) or abs(high) / 2 or 1.0
        return cls("linear", low - pad, high + pad, flipped=flipped)

    def _bend(self, values: ArrayLike) -> FloatArray:
        numbers = np.asarray(values, dtype=np.float64)
        if self.kind == "linear":
            return numbers
        size = np.abs(numbers) / self.unit
        if self.kind == "log":
            return np.log10(size)
        return np.sign(numbers) * np.where(size <= 1, size, 1 + np.log10(np.maximum(size, 1)))

    def _unbend(self, bent: float) -> float:
        if self.kind == "linear":
            return bent
        if self.kind == "log":
            return float(self.unit * 10.0**bent)
        size = abs(bent)
        return math.copysign(self.unit * (size if size <= 1 else 10.0 ** (size - 1)), bent)

    def at(self, values: ArrayLike) -> FloatArray:
        """Return where numbers go."""
        place = (self._bend(values) - self.low) / (self.high - self.low)
        return 1 - place if self.flipped else place

    def ticks(self, most: int, *, short: bool = False, end: float | None = None, unit: str = "") -> list[Tick]:
        """Return at most about ``most`` round numbers, evenly apart, and ``end`` among them, however round it is.

        ``short`` writes thousands as K; ``unit`` stands behind every number.
        """
        gap = 1 / max(most, 2)
        low, high = self._unbend(self.low), self._unbend(self.high)
        chosen: list[float] = []
        if self.kind != "linear":
            for mantissas, stride in _DENSITIES:
                chosen = _within(self._round_numbers(mantissas, stride), low, high)
                if self.kind == "symlog":
                    chosen = [value for value in chosen if not value or abs(self.at(value) - self.at(0.0)) >= gap]
                if self._fits(chosen, gap):
                    break
        if len(chosen) < 3:
            chosen = _within(_even(low, high, most), low, high)
        if end is not None:
            near = self.at(end)
            chosen = [value for value in chosen if abs(self.at(value) - near) >= gap * 0.8]
            chosen.append(end)
        write = brief if short else plain
        return [Tick(float(self.at(value)), write(value) + unit) for value in sorted(chosen)]

    def _fits(self, values: Sequence[float], gap: float) -> bool:
        places = np.sort(self.at(values)) if values else np.zeros(0)
        return bool((np.diff(places) >= gap * 0.999).all())

    def _round_numbers(self, mantissas: Sequence[int], stride: int) -> list[float]:
        least = self.unit if self.kind == "symlog" else self._unbend(self.low)
        most = max(abs(self._unbend(self.low)), abs(self._unbend(self.high)))
        first, last = math.floor(math.log10(least) + 1e-9), math.ceil(math.log10(most))
        numbers = [float(f"{m}e{e}") for e in range(first, last + 1) if e % stride == 0 for m in mantissas]
        if self.kind == "log":
            return numbers
        numbers = [number for number in numbers if number >= self.unit]
        return [*(-number for number in reversed(numbers)), 0.0, *numbers]


def _within(values: Iterable[float], low: float, high: float) -> list[float]:
    return [value for value in values if low <= value <= high]


def _even(low: float, high: float, most: int) -> list[float]:
    """Return multiples of a round number."""
    rough = (high - low) / max(most, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.999)
    return [round(i * step, 12) for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
