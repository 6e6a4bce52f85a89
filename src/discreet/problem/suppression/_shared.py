"""What suppression kinds share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.errors import UnsupportedCombinationError
from discreet.problem.classes import Classes
from discreet.problem.privacy._base import PrivacyModel

__all__ = ["all_ok", "nothing", "one_attribute"]


def all_ok(classes: Classes, models: Sequence[PrivacyModel]) -> NDArray[np.bool_]:
    """Return for each class whether it satisfies all models, which see people if promises count people."""
    mask = np.ones(len(classes), dtype=np.bool_)
    for model in models:
        mask &= model.ok(classes.judged)
    return mask


def nothing(classes: Classes) -> NDArray[np.int64]:
    """Return 0 for each class."""
    return np.zeros(len(classes), dtype=np.int64)


def one_attribute(kind: str, models: Sequence[PrivacyModel]) -> str | None:
    """Return the one sensitive attribute that models look at, or None; raise an error if there are two.

    Which values of two attributes occur in the same rows of a class is not known, so neither is what removing a row
    does to both.
    """
    names = sorted({str(getattr(model, "attribute", None)) for model in models if model.looks_at_sensitive})
    if len(names) > 1:
        raise UnsupportedCombinationError(
            f"The suppression {kind}",
            f"privacy models of several attributes ({', '.join(names)})",
            "keep to one sensitive attribute or choose class-records",
        )
    return names[0] if names else None
