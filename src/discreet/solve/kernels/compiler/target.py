"""The processor that programs are compiled for, and LLVM's part of compiling."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from functools import cache
from typing import Any

from llvmlite import binding as llvm

from discreet.solve.kernels.compiler.library import CAN_LINK, link_library
from discreet.solve.kernels.compiler.processor import this_platform

__all__ = ["Target", "baseline", "features_of_this_machine", "make_machine", "native"]

_BASELINES = {
    "x86_64": ("x86-64-v3", "avx,avx2,bmi,bmi2,cx16,f16c,fma,lzcnt,movbe,popcnt,sahf,sse3,sse4.1,sse4.2,ssse3,xsave"),
}


@dataclass(frozen=True)
class Target:
    """A processor by LLVM's name, and the features that code for it may use."""

    cpu: str
    features: tuple[str, ...]
    is_library: bool = False
    """Whether the code becomes a shared library, for installations, or stays object code, which LLVM links."""

    def compile(self, module: Any) -> bytes:
        """Optimize a module and return its code."""
        machine = make_machine(self)
        module.data_layout = str(machine.target_data)
        # numba's two rounds: inline first, so that reference counts that cancel are seen, then optimize in full.
        for level, vectorize in ((0, False), (3, True)):
            options = llvm.create_pipeline_tuning_options()
            options.speed_level, options.loop_vectorization, options.slp_vectorization = level, vectorize, False
            builder = llvm.create_pass_builder(machine, options)
            passes = builder.getModulePassManager()
            if level == 0:
                passes.add_loop_rotate_pass()
                passes.add_instruction_combine_pass()
                passes.add_jump_threading_pass()
            passes.add_refprune_pass(llvm.RefPruneSubpasses.ALL)
            passes.run(module, builder)
        code = bytes(machine.emit_object(_anonymous(module)))
        _check_symbols(_undefined(code))
        return link_library(code) if self.is_library else code

    def requirements(self, code: bytes) -> dict[str, Any]:
        """Return what a machine needs to run code that was compiled for this target.

        The symbols that a shared library needs are looked up by the system when it is loaded.
        """
        needed = {"platform": this_platform()} if self.is_library else {"symbols": _undefined(code)}
        return {"triple": llvm.get_process_triple(), "cpu": self.cpu, "features": list(self.features), **needed}


def _anonymous(module: Any) -> Any:
    """Return a module without names and paths of where it was compiled, so that it is the same everywhere.

    Exceptions that are never made, as kernels raise none, have the path of the file in their pickled form.
    """
    text = _PICKLED.sub(r"\1 zeroinitializer", str(module))
    made = llvm.parse_assembly(text)
    made.name = "discreet"
    for letter, items in (("f", made.functions), ("v", made.global_variables)):
        for number, item in enumerate(items):
            if item.linkage in (llvm.Linkage.internal, llvm.Linkage.private):
                item.name = f"{letter}{number}"
    return made


_PICKLED = re.compile(r'(@"?\.const\.pickledata\.[^=\n]*=[^\n\[]*\[\d+ x i8\]) c"[^"]*"')
_SYMBOL = struct.Struct("<IBBHQQ")


def _undefined(code: bytes) -> list[str]:
    """Return the names that object code in the ELF format takes from the process; for other formats none."""
    sections = {section.name(): section.data() for section in llvm.ObjectFileRef.from_data(code).sections()}
    strings, symbols = sections.get(b".strtab"), sections.get(b".symtab")
    if strings is None or symbols is None:
        return []
    found = set()
    for name, _, _, section, _, _ in _SYMBOL.iter_unpack(symbols):
        if name and not section:
            found.add(strings[name : strings.index(b"\0", name)].decode())
    return sorted(found)


def _check_symbols(names: list[str]) -> None:
    """Raise an error if code needs functions of numba or Python, of which there may be none where it runs."""
    foreign = [name for name in names if name.startswith(("NRT_", "Py", "_Py", "_ZN", "nrt_", "numba_", ".numba"))]
    if foreign:
        raise NotImplementedError(f"compiled kernels need functions of numba: {', '.join(foreign)}")


def make_machine(target: Target | None = None) -> Any:
    """Return LLVM's description of a processor, by default of this one.

    Object code is linked into this process, wherever there is room; a shared library can be loaded anywhere.
    """
    target = target or native()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    found = llvm.Target.from_triple(llvm.get_process_triple())
    x86 = llvm.get_process_triple().startswith(("x86_64", "i"))
    return found.create_target_machine(
        cpu=target.cpu,
        features=",".join(f"+{feature}" for feature in target.features),
        opt=3,
        reloc="pic" if target.is_library else "static" if x86 else "default",
        codemodel="default" if target.is_library else "jitdefault",
        jit=not target.is_library,
    )


@cache
def features_of_this_machine() -> frozenset[str]:
    """Return LLVM's names of what this processor can do."""
    return frozenset(name for name, has in llvm.get_host_cpu_features().items() if has)


def native() -> Target:
    """Return the processor of this machine."""
    return Target(llvm.get_host_cpu_name(), tuple(sorted(features_of_this_machine())))


def baseline() -> Target:
    """Return the processor that wheels are compiled for: one that all of its family made in the last ten years have."""
    family = llvm.get_process_triple().partition("-")[0]
    name, features = _BASELINES.get(family, ("generic", ""))
    return Target(name, tuple(features.split(",")) if features else (), CAN_LINK)
