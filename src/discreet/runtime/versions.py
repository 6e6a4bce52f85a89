"""The versions a result depends on."""

from __future__ import annotations

import platform
import sys

__all__ = ["versions"]


def versions() -> dict[str, str]:
    """Return the versions of Python, discreet and the libraries that compute results."""
    import numpy as np
    import polars as pl

    import discreet

    numba = sys.modules.get("numba")
    return {
        "python": platform.python_version(),
        "discreet": discreet.__version__,
        "polars": pl.__version__,
        "numpy": np.__version__,
        "numba": str(getattr(numba, "__version__", "not loaded")),
    }
