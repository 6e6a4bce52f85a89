"""Programs in memory, and their functions as Python callables.

A program that comes with an installation is a shared library, which the system loads. One of the cache is object code,
which LLVM links; nothing but that needs LLVM here.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from discreet.solve.kernels.compiler.arguments import unpack
from discreet.solve.kernels.compiler.files import ProgramFile
from discreet.solve.kernels.compiler.needed import linker_is_there
from discreet.solve.kernels.compiler.processor import can, this_platform

__all__ = ["Entry", "load", "unfit"]

Entry = Callable[[list[int]], Any]
"""A compiled kernel: takes the words of its arguments and returns its result."""

_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)
_RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_ENGINES: list[Any] = []
"""The owners of code that LLVM linked, which stays as long as the process."""
_OTHER_MACHINE = "the compiled searches of this installation need another processor"


def unfit(file: ProgramFile) -> str:
    """Return why a program cannot run here, if so: another platform, too old a processor, or symbols are missing."""
    header = file.header
    if not file.is_library:
        return "" if linker_is_there() and _object_fits(header) else _OTHER_MACHINE
    if header["platform"] != this_platform() or not can(header["features"]):
        return _OTHER_MACHINE
    return "" if _library(file.path) is not None else "the compiled searches of this installation cannot be loaded"


def load(file: ProgramFile) -> dict[tuple[str, str], Entry]:
    """Return the functions of a program, by kernel and types of arguments."""
    address = _addresses_in_library(file) if file.is_library else _addresses_in_object(file)
    release = _RELEASE(address("discreet_release"))
    return {
        (entry["kernel"], entry["arguments"]): _entry(_FUNCTION(address(entry["function"])), entry["result"], release)
        for entry in file.header["entries"]
    }


@cache
def _library(path: Path | None) -> Any:
    """Return a shared library, loaded with all symbols it needs; None if the system refuses."""
    try:
        return ctypes.CDLL(str(path))
    except OSError:
        return None


def _addresses_in_library(file: ProgramFile) -> Callable[[str], int | None]:
    library = _library(file.path)
    return lambda name: ctypes.cast(library[name], ctypes.c_void_p).value


def _addresses_in_object(file: ProgramFile) -> Callable[[str], int | None]:
    from llvmlite import binding as llvm

    engine = _engine()
    _engine.cache_clear()  # names of functions are unique in one program only
    _ENGINES.append(engine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(file.code))
    engine.finalize_object()
    address: Callable[[str], int | None] = engine.get_function_address
    return address


def _object_fits(header: dict[str, Any]) -> bool:
    from llvmlite import binding as llvm

    from discreet.solve.kernels.compiler.target import features_of_this_machine

    _engine()
    return (
        header["triple"] == llvm.get_process_triple()
        and set(header["features"]) <= features_of_this_machine()
        and all(llvm.address_of_symbol(name) for name in header["symbols"])
    )


@cache
def _engine() -> Any:
    """Return an empty linker; making one also lets LLVM see the symbols of the process."""
    from llvmlite import binding as llvm

    from discreet.solve.kernels.compiler.target import make_machine

    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), make_machine())


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
