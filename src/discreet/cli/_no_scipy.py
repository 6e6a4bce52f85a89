"""Keep numba from importing scipy, which would double its import time."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["keep_scipy_out_of_numba"]

_IMPORTS_SCIPY = "numba.np.arraymath"
"""The module of numba that imports scipy if it can, to multiply matrices. No kernel does that."""
_DONE = "_HAVE_BLAS"
"""The attribute the module sets once it has tried."""


class _NoScipyForNumba(MetaPathFinder):
    """Hides scipy while numba tries to import it; everybody else gets it as usual."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] == "scipy":
            importer = sys.modules.get(_IMPORTS_SCIPY)
            if importer is not None and not hasattr(importer, _DONE):
                raise ImportError("kernels need no linear algebra", name=fullname)
        return None


def keep_scipy_out_of_numba() -> None:
    """Hide scipy from numba from now on. Only for our own program: other code in the same process may need both."""
    sys.meta_path.insert(0, _NoScipyForNumba())
