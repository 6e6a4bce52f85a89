"""Numbers as reports write them."""

from __future__ import annotations

import math

import numpy as np

__all__ = ["LEAST_ROWS", "count_text", "number_text", "percent", "rounded_percent", "short_number"]

LEAST_ROWS = 100
"""Shares of fewer rows are not shown."""
_UNITS = ((1e12, " T"), (1e9, " B"), (1e6, " M"), (1e3, " K"))

_TINY = 1e-9
"""Numbers below this are written with an exponent."""


def number_text(value: float) -> str:
    """Write a number with four significant digits, or with all digits before the point; tiny ones with an exponent.

    >>> number_text(30162.0), number_text(0.33333), number_text(0.0000331529), number_text(133268.096)
    ('30,162', '0.3333', '0.00003315', '133,268')
    >>> number_text(float("inf")), number_text(3.5531e-44)
    ('any', '3.553e-44')
    """
    if not math.isfinite(value):
        return "any"
    if 0 < abs(value) < _TINY:
        return f"{value:.4g}"
    if float(value).is_integer() or abs(value) >= 1000:
        return f"{value:,.0f}"
    return np.format_float_positional(value, precision=4, fractional=False, trim="-")


def short_number(value: float) -> str:
    """Write a number as short as the label of an axis.

    >>> short_number(200_000), short_number(1_200_000), short_number(5_000), short_number(0.25)
    ('200 K', '1.2 M', '5,000', '0.25')
    """
    for unit, name in _UNITS:
        if abs(value) >= max(unit, 10_000):
            return f"{value / unit:.4g}{name}"
    return number_text(value)


def percent(share: float) -> str:
    """Write a share as percent.

    >>> percent(0.0), percent(0.00975), percent(0.4909), percent(1.0)
    ('0 %', '0.97 %', '49.1 %', '100 %')
    >>> percent(0.00001), percent(0.9996), percent(0.99999), percent(-1e-18)
    ('under 0.01 %', '99.96 %', 'over 99.99 %', '0 %')
    """
    value = 100 * share
    if -0.005 < value < 0:  # a rounding error
        value = 0.0
    if 0 < value < 0.005:
        return "under 0.01 %"
    if 99.995 <= value < 100:
        return "over 99.99 %"
    digits = 0 if value == 0 or value >= 100 else 1 if 1 <= value < 99.95 else 2
    return f"{value:,.{digits}f} %"


def rounded_percent(share: float | None, rows: int) -> str:
    """Write a share of the rows, rounded so that it gives no single person away.

    >>> rounded_percent(0.3751, 48_842), rounded_percent(0.001, 48_842), rounded_percent(0.4, 10)
    ('38 %', 'under 1 %', 'not shown for so few rows')
    """
    if share is None:
        return "not counted"
    if rows < LEAST_ROWS:
        return "not shown for so few rows"
    step = 1 if rows >= 1000 else 5
    value = step * round(100 * share / step)
    return f"under {step} %" if value == 0 else f"{value} %"


def count_text(count: int) -> str:
    """Write a count that may have hundreds of digits.

    >>> count_text(356440500), count_text(3 * 10**400)
    ('356,440,500', 'about 10^400')
    """
    return f"{count:,}" if count < 10**15 else f"about 10^{math.floor(math.log10(count))}"
