"""Keep numba from loading scipy, which would take as long as the rest of it does."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["keep_scipy_out_of_numba"]

_LOOKS_FOR_SCIPY = "numba.np.arraymath"
"""The module of numba that loads scipy if it can, to multiply matrices. No kernel does that."""
_FOUND_OUT = "_HAVE_BLAS"
"""What the module has once it knows."""


class _NoScipyYet(MetaPathFinder):
    """Has no scipy as long as numba looks for it; everybody else gets it as ever."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] == "scipy":
            asking = sys.modules.get(_LOOKS_FOR_SCIPY)
            if asking is not None and not hasattr(asking, _FOUND_OUT):
                raise ImportError("kernels need no linear algebra", name=fullname)
        return None


def keep_scipy_out_of_numba() -> None:
    """Do so from now on. Only for a program of our own: code of others in the same process may need both."""
    sys.meta_path.insert(0, _NoScipyYet())
