"""Individual and global risk, as statistics offices report them: frequency counts and expected re-identifications."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from discreet.counts import FloatArray, IntArray

__all__ = ["IndividualRisk", "individual_risk"]


@dataclass(frozen=True, eq=False)
class IndividualRisk:
    """The individual risk of all rows, by their frequency counts.

    A row has the sample frequency count f, the rows of its class, and the population frequency count F, the people of
    the population in its class: counted in a table of the population, or estimated by survey weights or by the
    sampling fraction. Its risk is 1 / F where F is counted, and else the expected 1 / F given f (Benedetti and Franconi
    1998).
    """

    expected: float
    """The global risk: how many rows are expected to be re-identified, the sum of all risks."""
    expected_uniques: float
    """The part of it that comes from sample uniques."""
    share: float
    """The global risk as a share of all rows."""
    counts: pl.DataFrame
    """For each ``f``, the ``classes`` and ``rows`` with it, the means over its classes of ``F`` and of the ``risk`` of
    a row, and the ``expected`` re-identifications."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "expected": self.expected,
            "expected_uniques": self.expected_uniques,
            "share": self.share,
            "counts": self.counts.to_dicts(),
        }


def individual_risk(sizes: IntArray, people: FloatArray, risks: FloatArray) -> IndividualRisk:
    """Summarize the risks of records by the sample frequency count, given the people and the risk of each class."""
    f, of_class = np.unique(sizes, return_inverse=True)
    classes = np.bincount(of_class)
    expected = np.bincount(of_class, weights=sizes * risks)
    total = float(expected.sum())
    counts = {
        "f": f,
        "classes": classes,
        "rows": f * classes,
        "F": np.bincount(of_class, weights=people) / classes,
        "risk": np.bincount(of_class, weights=risks) / classes,
        "expected": expected,
    }
    return IndividualRisk(
        expected=total,
        expected_uniques=float(expected[0]) if f[0] == 1 else 0.0,
        share=total / int(sizes.sum()),
        counts=pl.DataFrame(counts),
    )
