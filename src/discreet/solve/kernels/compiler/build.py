"""Compiling a program: numba turns kernels into LLVM code, which is linked and optimized once for all of them.

numba by itself optimizes and compiles every kernel on its own, with everything that it calls, and writes a wrapper for
calls from Python for each: for a search of eighty kernels that is most of the time. Here kernels that are only called
by kernels stay LLVM code until all are linked, and those called from Python get one C function each.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from llvmlite import binding as llvm
from llvmlite import ir
from numba import typeof
from numba.core import cgutils, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.funcdesc import default_mangler
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.runtime.nrtdynmod import create_nrt_module
from numba.np.arrayobj import populate_array

from discreet.solve.kernels.compiler.arguments import ARRAY_DATA, ARRAY_SHAPE, ARRAY_STRIDES, RECORD_DATA, canonical
from discreet.solve.kernels.compiler.runtime import RUNTIME

__all__ = ["Call", "link", "make_dispatcher"]

_I64 = ir.IntType(64)
_WORDS = _I64.as_pointer()


class Call(NamedTuple):
    """A kernel, arguments it is called with, and the text of their types."""

    kernel: Any
    arguments: tuple[Any, ...]
    text: str


class _Library(JITCodeLibrary):
    """LLVM code that waits to be linked: neither optimized nor compiled by itself."""

    def finalize(self) -> None:
        self._raise_if_finalized()
        self._finalized = True

    def add_llvm_module(self, module: Any) -> None:
        self._final_module.link_in(module)

    def get_pointer_to_function(self, name: str) -> int:
        return 0

    def own_module(self) -> Any:
        """Return a copy of the code, to be linked without what it calls; numba may have made some of it twice."""
        module = self._final_module.clone()
        for function in module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.linkage = "linkonce_odr"
        return module

    def _get_module_for_linking(self) -> Any:
        """Return the code with all it calls, for functions that others compile with numba in the same process."""
        if self._shared_module is None:
            found: dict[int, Any] = {}
            _collect(self, found)
            module = self.own_module()
            for library in found.values():
                if library is not self:
                    module.link_in(_module_of(library), preserve=True)
            self._shared_module = module
        return self._shared_module


class _Dispatcher(CPUDispatcher):
    """A compiled kernel that is called by other kernels only."""

    compiled_one: Callable[[], None] = staticmethod(lambda: None)

    def add_overload(self, result: Any) -> None:
        result = result._replace(entry_point=object())  # by which the code is found when a call is compiled
        self.targetctx.insert_user_function(result.entry_point, result.fndesc, [result.library])
        self.overloads[tuple(result.signature.args)] = result
        _Dispatcher.compiled_one()


def make_dispatcher(function: Any, options: dict[str, bool]) -> Any:
    """Return what numba calls for a kernel in a kernel."""
    made = _Dispatcher(function, targetoptions={"nopython": True, **options})
    made._compiler._customize_flags = _no_code
    return made


def _no_code(flags: Any) -> Any:
    flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    return flags


def _short_name(*arguments: Any, **named: Any) -> str:
    """Return a name for a function instead of numba's, which spells out the types of all arguments at full length."""
    return f"_ZN5numba.{hashlib.sha1(default_mangler(*arguments, **named).encode()).hexdigest()}"


@contextmanager
def _linking_late() -> Iterator[Any]:
    """Let numba make libraries that wait to be linked."""
    context = cpu_target.target_context
    context.refresh()
    cpu_target.typing_context.refresh()
    generator = context.codegen()
    generator._library_class = _Library
    context.mangler = _short_name
    generator.set_env = lambda *_: None  # nothing is in memory that could have an environment
    try:
        yield context
    finally:
        del generator._library_class, generator.set_env, context.mangler


def link(calls: Sequence[Call], progress: Callable[[int], None]) -> tuple[Any, list[dict[str, Any]]]:
    """Return LLVM code for kernels and the arguments they are called with, and a description of each call.

    ``progress`` is given the number of kernels done.
    """
    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        progress(done)

    with global_compiler_lock, _linking_late() as context:
        _Dispatcher.compiled_one = staticmethod(count)
        try:
            return _link(context, calls)
        finally:
            _Dispatcher.compiled_one = staticmethod(lambda: None)


def _link(context: Any, calls: Sequence[Call]) -> tuple[Any, list[dict[str, Any]]]:
    """Return a module with everything that the calls need, and a description of each call."""
    libraries: dict[int, Any] = {}
    entries = []
    wrappers = context.codegen()._create_empty_module("discreet")
    for number, call in enumerate(calls):
        argument_types = tuple(typeof(canonical(argument)) for argument in call.arguments)
        dispatcher = call.kernel.dispatcher
        dispatcher.compile(argument_types)
        result = dispatcher.overloads[argument_types]
        name = f"discreet_{number}_{call.kernel.__name__}"
        _wrap(context, wrappers, name, result)
        entries.append(
            {
                "kernel": call.kernel.name,
                "arguments": call.text,
                "function": name,
                "result": _describe(result.fndesc.restype),
            }
        )
        _collect(result.library, libraries)
    module = llvm.parse_assembly(cgutils.normalize_ir_text(str(wrappers)))
    keep = {entry["function"] for entry in entries} | {"discreet_release"}
    module.link_in(llvm.parse_assembly(RUNTIME))
    module.link_in(llvm.parse_assembly(cgutils.normalize_ir_text(str(_reference_counting(context)))))
    for library in libraries.values():
        module.link_in(_module_of(library), preserve=True)
    module.link_in(llvm.parse_assembly(_stubs(module)))
    for item in (*module.functions, *module.global_variables):
        if not item.is_declaration and item.name not in keep:
            item.linkage = "internal"
    module.verify()
    return module, entries


def _stubs(module: Any) -> str:
    """Return definitions for what is only needed to make a Python exception, which these functions never do."""
    functions = [str(item).strip() for item in module.functions if item.is_declaration and item.name.startswith("Py")]
    values = [item.name for item in module.global_variables if item.is_declaration and item.name.startswith("Py")]
    lines = [f"{re.sub(r'^declare', 'define', text).split(' #')[0]} {{ unreachable }}" for text in functions]
    return "\n".join(lines + [f"@{name} = global ptr null" for name in values])


def _reference_counting(context: Any) -> Any:
    """Return numba's functions that count references, as LLVM code."""
    module, _ = create_nrt_module(context)
    return module


def _module_of(library: Any) -> Any:
    return library.own_module() if isinstance(library, _Library) else library._get_module_for_linking()


def _collect(library: Any, found: dict[int, Any]) -> None:
    """Add a library and those it needs, unless numba has linked them into it."""
    if id(library) in found or library.name == "nrt":
        return
    found[id(library)] = library
    if isinstance(library, _Library):
        for other in library._linking_libraries:
            _collect(other, found)


def _wrap(context: Any, module: Any, name: str, result: Any) -> None:
    """Define the C function that reads arguments from words, calls a kernel and writes its result to words."""
    descriptor = result.fndesc
    kind = context.call_conv.get_function_type(descriptor.restype, descriptor.argtypes)
    kernel = ir.Function(module, kind, name=descriptor.llvm_func_name)
    function = ir.Function(module, ir.FunctionType(ir.IntType(32), [_WORDS, _WORDS]), name=name)
    builder = ir.IRBuilder(function.append_basic_block())
    words = _Words(builder, function.args[0])
    arguments = [_read(context, builder, argument, words) for argument in descriptor.argtypes]
    status, value = context.call_conv.call_function(
        builder, kernel, descriptor.restype, descriptor.argtypes, arguments, attrs=()
    )
    with cgutils.if_unlikely(builder, status.is_error):
        builder.ret(status.code)
    _write(context, builder, descriptor.restype, value, _Words(builder, function.args[1]))
    builder.ret(ir.Constant(ir.IntType(32), 0))


class _Words:
    """Consecutive words in memory."""

    def __init__(self, builder: Any, pointer: Any) -> None:
        self._builder, self._pointer, self._next = builder, pointer, 0

    def take(self) -> Any:
        """Return a pointer to the next word."""
        place = self._builder.gep(self._pointer, [ir.Constant(_I64, self._next)])
        self._next += 1
        return place


def _read(context: Any, builder: Any, kind: Any, words: _Words) -> Any:
    """Return a value of numba from the next words."""
    if isinstance(kind, types.BaseTuple):
        return context.make_tuple(builder, kind, [_read(context, builder, item, words) for item in kind])
    word = builder.load(words.take())
    if isinstance(kind, types.Boolean):
        return builder.icmp_unsigned("!=", word, ir.Constant(_I64, 0))
    if isinstance(kind, types.Integer) and kind.bitwidth == 64:
        return word
    if isinstance(kind, types.Float) and kind.bitwidth == 64:
        return builder.bitcast(word, ir.DoubleType())
    item = builder.inttoptr(word, _WORDS)
    if isinstance(kind, types.Record):
        return builder.inttoptr(_word(builder, item, RECORD_DATA), context.get_value_type(kind))
    if isinstance(kind, types.Array):
        return _read_array(context, builder, kind, item)
    raise TypeError(f"kernels that are called from Python do not take {kind}")


def _read_array(context: Any, builder: Any, kind: Any, item: Any) -> Any:
    """Return an array from a pointer to its Python object; it is borrowed, so nothing counts its references."""
    shape = builder.inttoptr(_word(builder, item, ARRAY_SHAPE), _WORDS)
    strides = builder.inttoptr(_word(builder, item, ARRAY_STRIDES), _WORDS)
    array = context.make_array(kind)(context, builder)
    populate_array(
        array,
        data=builder.inttoptr(_word(builder, item, ARRAY_DATA), array.data.type),
        shape=[_word(builder, shape, i) for i in range(kind.ndim)],
        strides=[_word(builder, strides, i) for i in range(kind.ndim)],
        itemsize=context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype))),
        meminfo=None,
    )
    return array._getvalue()


def _word(builder: Any, pointer: Any, position: int) -> Any:
    return builder.load(builder.gep(pointer, [ir.Constant(_I64, position)]))


def _write(context: Any, builder: Any, kind: Any, value: Any, words: _Words) -> None:
    """Write a result to the next words."""
    if isinstance(kind, types.NoneType):
        return
    if isinstance(kind, types.BaseTuple):
        for i, item in enumerate(kind):
            _write(context, builder, item, builder.extract_value(value, i), words)
    elif isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        builder.store(builder.ptrtoint(array.meminfo, _I64), words.take())
        builder.store(builder.ptrtoint(array.data, _I64), words.take())
        for i in range(kind.ndim):
            builder.store(builder.extract_value(array.shape, i), words.take())
    elif isinstance(kind, types.Boolean):
        builder.store(builder.zext(value, _I64), words.take())
    elif isinstance(kind, types.Float):
        builder.store(builder.bitcast(value, _I64), words.take())
    else:
        builder.store(value, words.take())


def _describe(kind: Any) -> dict[str, Any]:
    """Return what :func:`~discreet.solve.kernels.compiler.arguments.unpack` needs to know about a result."""
    if isinstance(kind, types.NoneType):
        return {"kind": "none", "words": 0}
    if isinstance(kind, types.Boolean):
        return {"kind": "bool", "words": 1}
    if isinstance(kind, types.Integer) and kind.bitwidth == 64 and kind.signed:
        return {"kind": "int", "words": 1}
    if isinstance(kind, types.Float) and kind.bitwidth == 64:
        return {"kind": "float", "words": 1}
    if isinstance(kind, types.Array) and kind.layout == "C":
        return {"kind": "array", "words": 2 + kind.ndim, "dimensions": kind.ndim, **_describe_items(kind.dtype)}
    if isinstance(kind, types.BaseTuple):
        items = [_describe(item) for item in kind]
        named = isinstance(kind, types.BaseNamedTuple)
        name = f"{kind.instance_class.__module__}:{kind.instance_class.__qualname__}" if named else ""
        return {"kind": "tuple", "words": sum(item["words"] for item in items), "items": items, "class": name}
    raise TypeError(f"kernels that are called from Python do not return {kind}")


def _describe_items(kind: Any) -> dict[str, Any]:
    if not isinstance(kind, types.Record):
        return {"dtype": np.dtype(str(kind)).str, "fields": []}
    fields = [(name, np.dtype(str(kind.typeof(name))).str) for name, _ in kind.members]
    return {"dtype": "", "fields": fields}
