"""Arguments of kernels: their types without numba, and the numbers that compiled functions take and return.

A compiled function takes two pointers, to the numbers of its arguments and to those of its result. Arguments become one
number each: integers themselves, floats their bits, arrays and structs the addresses of their Python objects, where
compiled code finds data, shape and strides as every C extension does. Tuples are written element by element.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

__all__ = [
    "ARRAY_DATA",
    "ARRAY_SHAPE",
    "ARRAY_STRIDES",
    "RECORD_DATA",
    "canonical",
    "item_texts",
    "layout_is_known",
    "pack",
    "type_text",
    "unpack",
]

ARRAY_DATA, ARRAY_SHAPE, ARRAY_STRIDES = 2, 4, 5
"""Positions, in words, of the pointers in a numpy array object; part of numpy's binary interface."""
RECORD_DATA = 3
"""Position, in words, of the data pointer in an object of type ``numpy.void``."""

_C_ORDER, _F_ORDER, _ALIGNED, _WRITEABLE = 0x1, 0x2, 0x100, 0x400
_LARGEST = 1 << 63
_FLOAT, _WORD = struct.Struct("<d"), struct.Struct("<q")

Release = Any
"""Function of compiled code that frees the memory of a returned array."""


def pack(arguments: tuple[Any, ...], key: list[Any], words: list[int]) -> None:
    """Append the types of arguments to ``key``, and their numbers to ``words``.

    Equal keys mean equal types for numba. Raises TypeError for what compiled functions do not take.
    """
    for value in arguments:
        kind = type(value)
        if kind is np.ndarray:
            flags = value.flags.num
            if not flags & _ALIGNED:
                raise TypeError("kernels take aligned arrays")
            order = _C_ORDER if flags & _C_ORDER else flags & _F_ORDER
            key.append((value.dtype, value.ndim, order | (flags & _WRITEABLE)))
            words.append(id(value))
        elif kind is int or isinstance(value, np.integer):
            whole = int(value)
            if not -_LARGEST <= whole < _LARGEST or kind is np.uint64:
                raise TypeError("kernels take integers of 64 bits with a sign")
            key.append(int)
            words.append(whole)
        elif kind is float or kind is np.float64:
            key.append(float)
            words.append(_WORD.unpack(_FLOAT.pack(value))[0])
        elif kind is bool or kind is np.bool_:
            key.append(bool)
            words.append(int(value))
        elif isinstance(value, tuple):
            key.append((kind, len(value)))
            pack(value, key, words)
        elif isinstance(value, np.void):
            key.append(value.dtype)
            words.append(id(value))
        else:
            raise TypeError(f"kernels do not take arguments of type {kind.__name__}")


def canonical(value: Any) -> Any:
    """Return an argument of the type for which a kernel is compiled: numpy's integers count as Python's."""
    if isinstance(value, tuple):
        made = [canonical(item) for item in value]
        return type(value)(*made) if hasattr(value, "_fields") else tuple(made)
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.bool_):
        return bool(value)
    return float(value) if isinstance(value, np.float64) else value


def type_text(key: list[Any]) -> str:
    """Return the types of arguments as text that is the same in every process."""
    return " ".join(_text(item) for item in key)


def item_texts(key: list[Any]) -> Iterator[tuple[str, str | None]]:
    """Yield each type as text, and that of what it can be converted to: a C array that is written, or a float."""
    for item in key:
        other: Any = float if item is int else None
        if isinstance(item, tuple) and isinstance(item[0], np.dtype):
            other = (*item[:2], _C_ORDER | _WRITEABLE)
        yield _text(item), None if other is None else _text(other)


def _text(item: Any) -> str:
    if isinstance(item, np.dtype):
        return f"struct {_dtype_text(item)}"
    if isinstance(item, type):
        return item.__name__
    if isinstance(item[0], type):
        kind, size = item
        return f"({'tuple' if kind is tuple else f'{kind.__module__}.{kind.__qualname__}'} {size})"
    dtype, dimensions, flags = item
    order = "C" if flags & _C_ORDER else "F" if flags & _F_ORDER else "A"
    return f"{_dtype_text(dtype)}[{dimensions}{order}{'' if flags & _WRITEABLE else ' read-only'}]"


@cache
def _dtype_text(dtype: np.dtype[Any]) -> str:
    if dtype.fields is None:
        return dtype.str
    fields = ",".join(f"{name}:{kind.str}@{offset}" for name, (kind, offset, *_) in dtype.fields.items())
    return f"{{{fields}}}{dtype.itemsize}"


def unpack(result: Any, words: Iterator[int], release: Release) -> Any:
    """Return a result of a kernel from its description and its numbers; arrays are copied and their memory freed."""
    kind = result["kind"]
    if kind == "none":
        return None
    if kind == "array":
        return _array(result, words, release)
    if kind == "tuple":
        items = [unpack(item, words, release) for item in result["items"]]
        return _class(result["class"])(*items) if result["class"] else tuple(items)
    word = next(words)
    if kind == "float":
        return _FLOAT.unpack(_WORD.pack(word))[0]
    return bool(word) if kind == "bool" else word


def _array(result: Any, words: Iterator[int], release: Release) -> Any:
    owner, address = next(words), next(words)
    shape = tuple(next(words) for _ in range(result["dimensions"]))
    dtype = _dtype(tuple(map(tuple, result["fields"])), result["dtype"])
    made = np.empty(shape, dtype=dtype)
    if made.nbytes:
        ctypes.memmove(made.ctypes.data, address, made.nbytes)
    if owner:
        release(owner)
    return made


@cache
def _dtype(fields: tuple[tuple[str, str], ...], name: str) -> np.dtype[Any]:
    return np.dtype((np.record, list(fields)), align=True) if fields else np.dtype(name)


@cache
def _class(name: str) -> Any:
    module, _, item = name.partition(":")
    return getattr(import_module(module), item)


@cache
def layout_is_known() -> bool:
    """Return whether array and struct objects look in memory as compiled code expects."""
    if sys.implementation.name != "cpython" or struct.calcsize("P") != 8 or object.__basicsize__ != 16:
        return False
    array = np.arange(24, dtype=np.int64).reshape(4, 6)[:3, ::2]
    item: Any = np.zeros(2, dtype=np.dtype((np.record, [("a", np.int64), ("b", np.float64)])))[1]
    try:
        words = ctypes.cast(id(array), ctypes.POINTER(ctypes.c_int64))
        if words[ARRAY_DATA] != array.ctypes.data:
            return False
        shape = ctypes.cast(words[ARRAY_SHAPE], ctypes.POINTER(ctypes.c_int64))
        strides = ctypes.cast(words[ARRAY_STRIDES], ctypes.POINTER(ctypes.c_int64))
        same = shape[:2] == [3, 3] and strides[:2] == [48, 16]
        inside = ctypes.cast(id(item), ctypes.POINTER(ctypes.c_int64))[RECORD_DATA]
        return same and inside == np.frombuffer(item, dtype=np.uint8).ctypes.data
    except (AttributeError, IndexError, TypeError, ValueError):
        return False
