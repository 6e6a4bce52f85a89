"""Types of the arrays that kernels work on, and records with named fields."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Ints", "Nodes", "Records", "record"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Nodes = NDArray[np.int32]
Records = NDArray[np.record]


def record(**fields: type[np.generic]) -> np.dtype[np.record]:
    """Return the type of a record, whose fields are read as ``array[e].field``, compiled or not.

    The fields of a record are next to each other in memory. No field may have the name of an attribute of arrays, such
    as ``size``: in plain Python that attribute would be read instead.
    """
    for name in fields:
        assert not hasattr(np.record, name), f"a field cannot be named {name}"
    return cast(np.dtype[np.record], np.dtype((np.record, cast(Any, list(fields.items())))))
