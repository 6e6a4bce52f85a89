"""Programs in memory: object code linked by LLVM, and its functions as Python callables."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from llvmlite import binding as llvm

from discreet.solve.kernels.compiler.arguments import unpack
from discreet.solve.kernels.compiler.target import features_of_this_machine, make_machine

__all__ = ["Entry", "fits", "load"]

Entry = Callable[[list[int]], Any]
"""A compiled kernel: takes the words of its arguments and returns its result."""

_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)
_RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_ENGINES: list[Any] = []
"""The owners of loaded code, which stays as long as the process."""


@cache
def _engine() -> Any:
    """Return an empty linker; making one also lets LLVM see the symbols of the process."""
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), make_machine())


def fits(header: dict[str, Any]) -> bool:
    """Return whether a program can run here: same platform, a processor that can do enough, all symbols there."""
    _engine()
    return (
        header["triple"] == llvm.get_process_triple()
        and set(header["features"]) <= features_of_this_machine()
        and all(llvm.address_of_symbol(name) for name in header["symbols"])
    )


def load(entries: list[dict[str, Any]], code: bytes) -> dict[tuple[str, str], Entry]:
    """Return the functions of a program, by kernel and types of arguments."""
    engine = _engine()
    _engine.cache_clear()  # names of functions are unique in one program only
    _ENGINES.append(engine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    release = _RELEASE(engine.get_function_address("discreet_release"))
    return {
        (entry["kernel"], entry["arguments"]): _entry(
            _FUNCTION(engine.get_function_address(entry["function"])), entry["result"], release
        )
        for entry in entries
    }


def _entry(function: Any, result: dict[str, Any], release: Any) -> Entry:
    """Return a callable for one function; a status other than 0 is a failed allocation, as kernels raise nothing."""
    size, kind = result["words"], result["kind"]
    output, word = ctypes.c_int64 * max(size, 1), ctypes.c_int64

    def call(words: list[int]) -> Any:
        made = output()
        if function((word * len(words))(*words), made):
            raise MemoryError("There is not enough memory for this search.")
        if kind == "int":
            return made[0]
        return None if kind == "none" else unpack(result, iter(made), release)

    return call
