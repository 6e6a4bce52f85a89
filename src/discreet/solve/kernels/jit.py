"""The two decorators for compiled functions.

Set ``DISCREET_PLAIN_KERNELS=1`` to run every kernel as plain Python (for debugging, coverage and checks), or
``DISCREET_CHECK_BOUNDS=1`` to compile with bounds checks.

A kernel is compiled as part of the *program* of a search; see :mod:`discreet.solve.kernels.compiler`. Called with
arguments of types that no program has, it is compiled by itself.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from functools import partial, update_wrapper
from types import CodeType
from typing import Any, TypeVar, cast

import numpy as np

from discreet.solve.kernels.compiler.arguments import pack, type_text
from discreet.solve.kernels.compiler.convert import Plan, convert, write_back
from discreet.solve.kernels.compiler.needed import require_compiler
from discreet.solve.kernels.compiler.programs import CHECKED, conversion_for, entry_for, recording, usable

__all__ = ["PLAIN", "Kernel", "inner_kernel", "kernel", "prepared"]

F = TypeVar("F", bound=Callable[..., Any])

PLAIN = os.environ.get("DISCREET_PLAIN_KERNELS") == "1"
"""Whether kernels run as plain Python."""


def kernel(function: F) -> F:
    """Compile a function: without the GIL, without Python objects, kept on disk."""
    return _compiled(function)


def inner_kernel(function: F) -> F:
    """Compile a function that must not allocate arrays (views are fine), without reference counting.

    numba counts references to every array of a named tuple that is passed, with atomic operations. That can take
    twenty times as long as the few numbers a small function reads; the front search became a fifth faster without.
    What it calls is compiled the same way, so that it must not allocate either; sorting, for example, does.
    """
    return _compiled(function, _nrt=False)


def _compiled(function: F, **options: bool) -> F:
    return function if PLAIN else cast(F, Kernel(function, options))


class Kernel:
    """A function that is compiled for the types of the arguments it is called with."""

    def __init__(self, function: Any, options: dict[str, bool]) -> None:
        self.function = function
        self.name = f"{function.__module__}:{function.__qualname__}"
        self._options = {"nogil": True, "boundscheck": CHECKED, "error_model": "numpy", **options}
        self._arguments = function.__code__.co_argcount
        self._entries: dict[tuple[Any, ...], Any] = {}
        self._plans: dict[tuple[Any, ...], Plan | None] = {}
        self._dispatchers: dict[bool, Any] = {}
        update_wrapper(self, function)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call the compiled function."""
        if named or len(arguments) != self._arguments:
            arguments = self._bind(arguments, named)
        recorded = recording()
        if recorded is not None:
            return recorded.call(self, arguments)
        key: list[Any] = []
        words: list[int] = []
        pack(arguments, key, words)
        types = tuple(key)
        entry = self._entries.get(types)
        if entry is None:
            if types not in self._plans:
                self._plans[types] = conversion_for(self, key)
            plan = self._plans[types]
            if plan is not None:
                return self._call_converted(arguments, plan)
            entry = entry_for(self, type_text(key), arguments) if usable() else None
            if entry is None:
                return self.dispatcher(*arguments)
            self._entries[types] = entry
        return entry(words)

    def prepared(self, arguments: tuple[Any, ...]) -> Callable[[], Any]:
        """Return the call with these arguments; see :func:`prepared`."""
        entry: Any = None
        words: list[int] = []

        def call() -> Any:
            nonlocal entry
            if entry is not None and recording() is None:
                return entry(words)
            result = self(*arguments)
            key: list[Any] = []
            words.clear()
            pack(arguments, key, words)
            entry = self._entries.get(tuple(key))
            return result

        return call

    def _call_converted(self, arguments: tuple[Any, ...], plan: Plan) -> Any:
        converted = convert(arguments, plan)
        result = self(*converted)
        write_back(arguments, converted)
        return result

    def _bind(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        bound = inspect.signature(self.function).bind(*arguments, **named)
        bound.apply_defaults()
        return bound.args

    def run_plainly(self, *arguments: Any) -> Any:
        """Run the function as plain Python; numbers overflow in silence, as they do in compiled code."""
        with np.errstate(all="ignore"):
            return self.function(*arguments)

    @property
    def dispatcher(self) -> Any:
        """What numba compiles where a kernel calls this one."""
        programs = usable()
        if programs not in self._dispatchers:
            require_compiler(f"kernel {self.function.__name__}")
            if programs:
                from discreet.solve.kernels.compiler.build import make_dispatcher

                self._dispatchers[programs] = make_dispatcher(self.function, self._options)
            else:
                import numba

                njit: Any = numba.njit
                self._dispatchers[programs] = njit(**self._options)(self.function)
        return self._dispatchers[programs]

    @property
    def _numba_type_(self) -> Any:
        from numba.core import types

        return types.Dispatcher(self.dispatcher)

    def called(self) -> Iterator[Kernel]:
        """Yield the kernels that it calls."""
        for name in _names(self.function.__code__):
            item = self.function.__globals__.get(name)
            if isinstance(item, Kernel):
                yield item


def prepared(function: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    """Return a function that calls a kernel with these very arguments, arrays as they are then.

    Types and addresses of a hundred arrays are looked up once instead of at each call, where they would take as long as
    grouping a thousand classes and, as Python does it, keep all other threads waiting.
    """
    return function.prepared(arguments) if isinstance(function, Kernel) else partial(function, *arguments)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
