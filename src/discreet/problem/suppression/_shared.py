"""What several suppression kinds share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.errors import UnsupportedCombinationError
from discreet.problem._classes import Classes
from discreet.problem.privacy._base import PrivacyModel

__all__ = ["all_ok", "nothing", "one_attribute"]


def all_ok(classes: Classes, models: Sequence[PrivacyModel]) -> NDArray[np.bool_]:
    """Return for each class whether it satisfies all models."""
    mask = np.ones(len(classes), dtype=np.bool_)
    for model in models:
        mask &= model.ok(classes)
    return mask


def nothing(classes: Classes) -> NDArray[np.int64]:
    """Return 0 for each class."""
    return np.zeros(len(classes), dtype=np.int64)


def one_attribute(kind: str, models: Sequence[PrivacyModel]) -> str | None:
    """Return the sensitive attribute the models look at; there must not be two, or None if they look at none.

    How the values of two attributes go together in a class is not known, so what taking one row's value away
    does to the other attribute is not known either.
    """
    names = sorted({str(getattr(model, "attribute", None)) for model in models if model.looks_at_sensitive})
    if len(names) > 1:
        raise UnsupportedCombinationError(
            f"The suppression {kind}",
            f"privacy models of several attributes ({', '.join(names)})",
            "keep to one sensitive attribute or choose class-records",
        )
    return names[0] if names else None
