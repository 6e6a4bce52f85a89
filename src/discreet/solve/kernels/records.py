"""Structs for kernels: state with named fields instead of column numbers.

A struct is a class whose annotations, ``int`` or ``float``, name its fields. :func:`record` makes one and
:func:`records` an array of them::

    class Example:
        bound: float
        seen: int

    example = records(Example, 100)
    example[3].bound = 2.5      # one field of one struct, in kernels and in plain Python
    example["bound"][:10]       # one field of many, a view; outside of kernels only

A kernel that makes such an array itself does it with a :func:`layout`::

    EXAMPLE = layout(Example)

    @kernel
    def collect(...):
        example = np.zeros(100, EXAMPLE)

For numba a record is a single pointer, where every array is seven values or more. So structs make kernels no slower to
compile or to call, and the fields of one struct share a cache line.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Generic, SupportsIndex, TypeVar, cast, overload

import numpy as np

__all__ = ["Records", "extended", "layout", "record", "records"]

S = TypeVar("S")

_TYPES = {"int": np.int64, "float": np.float64}


class Records(Generic[S]):
    """Type of an array of structs; what :func:`records` returns is a numpy array."""

    shape: tuple[int, ...]
    size: int

    @overload
    def __getitem__(self, index: str) -> Any: ...

    @overload
    def __getitem__(self, index: slice) -> Records[S]: ...

    @overload
    def __getitem__(self, index: SupportsIndex | tuple[SupportsIndex, ...]) -> S: ...

    def __getitem__(self, index: Any) -> Any:
        """Return one struct, some of them, or one field of all of them; all are views."""
        raise NotImplementedError

    def __setitem__(self, index: str | SupportsIndex, value: Any) -> None:
        """Set one field of all structs, or all fields of one."""
        raise NotImplementedError

    def copy(self) -> Records[S]:
        """Return a copy of the array."""
        raise NotImplementedError

    def __len__(self) -> int:
        """Return how many structs there are."""
        raise NotImplementedError


@cache
def layout(struct: type[Any]) -> Any:
    """Return the type of the elements of an array of structs, for ``np.zeros`` and ``np.empty`` in kernels.

    No field may have the name of an attribute of arrays, such as ``size``: in plain Python that would be read instead.
    """
    taken = [name for name in struct.__annotations__ if hasattr(np.record, name)]
    if taken:
        raise TypeError(f"numpy has an attribute of the same name: {', '.join(taken)}")
    fields = [(name, _TYPES[kind]) for name, kind in struct.__annotations__.items()]
    return np.dtype((np.record, fields), align=True)


def records(struct: type[S], shape: int | tuple[int, ...]) -> Records[S]:
    """Return an array of structs, all zero."""
    return cast("Records[S]", np.zeros(shape, dtype=layout(struct)))


def record(struct: type[S], **fields: float) -> S:
    """Return one struct, zero but for the fields given."""
    made: Any = records(struct, 1)[0]
    for name, value in fields.items():
        made[name] = value
    return cast("S", made)


def extended(array: Any, extra: int) -> Any:
    """Return a copy of an array, of structs or numbers, with so many more rows of zeros."""
    return np.concatenate([array, np.zeros((extra, *array.shape[1:]), dtype=array.dtype)])
