"""Homogeneity: what the classes of a release alone tell about the sensitive values of their people."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.evaluate._attacks._secrets import Secrets
from discreet.evaluate._cells import Cells

__all__ = ["Homogeneity", "homogeneity"]


@dataclass(frozen=True)
class Homogeneity:
    """How sure of a sensitive value the rows of a class make somebody who knows that a person is among them."""

    certain: float
    """The share of released rows in classes all of whose known values are the same."""
    at_least_80: float
    """The share of released rows in classes with a value that at least 80 % of the rows have."""
    at_least_50: float
    success: float
    """The share of released rows whose value is the most frequent one of their class."""
    naive: float
    """The share of released rows whose value is the most frequent one of the whole release."""


def homogeneity(released: Cells, secret: Secrets) -> Homogeneity:
    """Run the attack; values that were made unknown count as rows, and nobody is sure of them.

    Missing values tell nothing: how sure somebody is of a class is the share of its known values.
    """
    group, value, count = secret.released
    top = np.zeros(released.sizes.size, dtype=np.int64)
    np.maximum.at(top, group, count)
    share, rows = top / np.maximum(secret.known, 1), released.rows

    def sure(least: float) -> float:
        return float(released.sizes[share >= least - 1e-12].sum() / rows)

    return Homogeneity(
        certain=float(released.sizes[(top == secret.known) & (top > 0)].sum() / rows),
        at_least_80=sure(0.8),
        at_least_50=sure(0.5),
        success=float(top.sum() / rows),
        naive=float(count[value == 0].sum() / rows),
    )
