"""Scales of an axis: the position of a number, and the ticks to label."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from discreet.counts import FloatArray
from discreet.report.numbers import number_text, short_number

__all__ = ["Scale", "Tick"]

_PAD = 0.03
_ZERO = 1e-12
"""Numbers below this share of the largest are rounding errors, and count as zero."""
_ROUNDED = 1e-9
"""Numbers that differ by less, as a share of the larger, are drawn as one."""
_DENSITIES = (((1, 2, 5), 1), ((1, 3), 1), *(((1,), stride) for stride in range(1, 100)))
"""Mantissas to label, and every how many decades; the densest first."""


class Tick(NamedTuple):
    """A labelled number on an axis, with its position from 0 to 1."""

    position: float
    text: str


@dataclass(frozen=True)
class Scale:
    """Maps numbers to positions from 0 to 1, or from 1 to 0 if ``flipped``.

    ``symlog`` is linear between ``-unit`` and ``unit``, and logarithmic beyond.

    >>> scale = Scale.over([1, 30162])
    >>> scale.kind, [tick.text for tick in scale.ticks(5)]
    ('log', ['1', '10', '100', '1,000', '10,000'])
    """

    kind: Literal["linear", "log", "symlog"]
    low: float
    """The ends, on the transformed scale."""
    high: float
    unit: float = 1.0
    flipped: bool = False

    @classmethod
    def over(cls, values: ArrayLike, others: ArrayLike = (), *, flipped: bool = False) -> Scale:
        """Return a scale chosen for ``values`` that has room for ``others`` as well.

        It is logarithmic if the values span a decade, or two decades if they include zeros or shares; with zeros it is
        linear near zero.
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
        scale = cls("log" if positive else "symlog", 0.0, 1.0, unit)
        ends = scale._transform(known)
        low, high = float(ends.min()), float(ends.max())
        pad = _PAD * (high - low)
        return cls(scale.kind, low - pad, high + pad, unit, flipped)

    @classmethod
    def _linear(cls, known: FloatArray, flipped: bool) -> Scale:
        low, high = float(known.min()), float(known.max())
        if 0 < low < 0.4 * high:
            low = 0.0
        if high - low <= _ROUNDED * max(abs(low), abs(high)):  # finer steps would be lost in rounding
            low = high = (low + high) / 2
        pad = _PAD * (high - low) or abs(high) / 2 or 1.0
        return cls("linear", low - pad, high + pad, flipped=flipped)

    def _transform(self, values: ArrayLike) -> FloatArray:
        numbers = np.asarray(values, dtype=np.float64)
        if self.kind == "linear":
            return numbers
        size = np.abs(numbers) / self.unit
        if self.kind == "log":
            return np.log10(size)
        return np.sign(numbers) * np.where(size <= 1, size, 1 + np.log10(np.maximum(size, 1)))

    def _inverse(self, position: float) -> float:
        if self.kind == "linear":
            return position
        if self.kind == "log":
            return float(self.unit * 10.0**position)
        size = abs(position)
        return math.copysign(self.unit * (size if size <= 1 else 10.0 ** (size - 1)), position)

    def at(self, values: ArrayLike) -> FloatArray:
        """Return the positions of numbers."""
        position = (self._transform(values) - self.low) / (self.high - self.low)
        return 1 - position if self.flipped else position

    def ticks(self, most: int, *, short: bool = False, end: float | None = None, unit: str = "") -> list[Tick]:
        """Return about ``most`` round numbers, evenly spaced, with ``end`` among them even if it is not round.

        ``short`` writes thousands as K; ``unit`` is appended to every label.
        """
        gap = 1 / max(most, 2)
        low, high = self._inverse(self.low), self._inverse(self.high)
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
            end_position = self.at(end)
            chosen = [value for value in chosen if abs(self.at(value) - end_position) >= gap * 0.8]
            chosen.append(end)
        chosen.sort()
        words = _different(chosen, short_number if short else number_text)
        return [Tick(float(self.at(value)), text + unit) for value, text in zip(chosen, words, strict=True)]

    def _fits(self, values: Sequence[float], gap: float) -> bool:
        positions = np.sort(self.at(values)) if values else np.zeros(0)
        return bool((np.diff(positions) >= gap * 0.999).all())

    def _round_numbers(self, mantissas: Sequence[int], stride: int) -> list[float]:
        least = self.unit if self.kind == "symlog" else self._inverse(self.low)
        most = max(abs(self._inverse(self.low)), abs(self._inverse(self.high)))
        first, last = math.floor(math.log10(least) + 1e-9), math.ceil(math.log10(most))
        numbers = [float(f"{m}e{e}") for e in range(first, last + 1) if e % stride == 0 for m in mantissas]
        if self.kind == "log":
            return numbers
        numbers = [number for number in numbers if number >= self.unit]
        return [*(-number for number in reversed(numbers)), 0.0, *numbers]


def _different(values: Sequence[float], write: Callable[[float], str]) -> list[str]:
    """Write numbers with as many digits as it takes to tell them apart.

    >>> _different([1234.0, 1234.5], number_text), _different([1.0, 2.0], number_text)
    (['1,234.0', '1,234.5'], ['1', '2'])
    """
    words = [write(value) for value in values]
    for digits in range(1, 10):
        if len({*words}) == len(words):
            break
        words = [f"{value:,.{digits}f}" for value in values]
    return words


def _within(values: Iterable[float], low: float, high: float) -> list[float]:
    return [value for value in values if low <= value <= high]


def _even(low: float, high: float, most: int) -> list[float]:
    """Return the multiples of a round step."""
    rough = (high - low) / max(most, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.999)
    return [float(f"{i * step:.12g}") for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
