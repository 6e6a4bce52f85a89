"""Programs that come with an installation, for machines that have no compiler."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import UsageError
from discreet.solve.kernels.compiler import files, load, needed, processor, programs
from discreet.solve.kernels.compiler.library import CAN_LINK, link_library
from discreet.solve.kernels.jit import PLAIN
from small_kernels import run, use

pytestmark = pytest.mark.skipif(PLAIN, reason="kernels are not compiled")

needs_linker = pytest.mark.skipif(
    not CAN_LINK or shutil.which(os.environ.get("CC", "cc")) is None, reason="there is no linker for installations"
)


@pytest.fixture
def installed(fresh, monkeypatch, tmp_path) -> Path:
    """Return the folder of an installation that has the tiny program, and no cache."""
    from discreet.solve.kernels.compiler.target import baseline

    shipped = tmp_path / "installation"
    shipped.mkdir()
    tiny, values = fresh(), np.arange(4.0)

    def job() -> None:
        tiny.total(values, 1.0)
        tiny.squares(values)
        tiny.fill(np.zeros((2, 3), dtype=np.int64), np.arange(3))
        tiny.turn(values, values)

    with programs.writing(shipped, baseline()):
        programs.provide("tiny search", job)
    monkeypatch.setattr(files, "shipped_folder", lambda: shipped)
    monkeypatch.setattr(files, "cache_folder", lambda: None)
    return shipped


@pytest.fixture
def without_compiler(monkeypatch):
    """Hide numba and LLVM."""
    for name in ("numba", "llvmlite"):
        monkeypatch.setitem(sys.modules, name, None)
    for known in (needed.linker_is_there, needed.compiler_is_there):
        known.cache_clear()
    yield
    for known in (needed.linker_is_there, needed.compiler_is_there):
        known.cache_clear()


@needs_linker
def test_an_installation_needs_neither_numba_nor_llvm(installed, tmp_path):
    code = f"""
        import sys, threading
        from pathlib import Path
        sys.modules["numba"] = sys.modules["llvmlite"] = None
        import numpy as np, tiny_kernels as tiny
        from discreet.solve.kernels.compiler import files, programs
        files.cache_folder, files.shipped_folder = lambda: None, lambda: Path({str(installed)!r})
        values = np.arange(4.0)
        programs.provide("tiny search", lambda: tiny.total(values, 1.0))
        found = []
        def work():
            for _ in range(200):
                found.append((tiny.total(values, 1.0), float(tiny.squares(values).squares.sum())))
        threads = [threading.Thread(target=work) for _ in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        print(set(found), len(found))
        try:
            tiny.count_rows(values)
        except Exception as error:
            print(error)
    """
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    for path in installed.iterdir():
        path.chmod(0o444)
    out, err = run(code, PYTHONPATH=paths).communicate()
    first, second = out.splitlines() or [err, ""]
    assert first == "{(13.0, 14.0)} 800"
    assert second.startswith("Code must be compiled for this (count_rows ")
    assert second.endswith("install the compiler: pip install 'discreet[compile]'.")


@needs_linker
def test_arguments_are_converted_where_nothing_can_be_compiled(fresh, installed, without_compiler):
    """Arrays that are not contiguous, or only to be read, and integers for floats; what is written comes back."""
    tiny = fresh()
    values = np.arange(8.0)
    values.flags.writeable = False
    for array in (values, values[::2], np.arange(8.0)[::-1]):
        assert tiny.total(array, 1) == 2 * array.sum() + 1
        assert tiny.total(array, 1.0) == 2 * array.sum() + 1
        assert tiny.squares(array).squares.tolist() == (array * array).tolist()
    table = np.zeros((2, 6), dtype=np.int64)
    tiny.fill(table[:, ::2], np.arange(3))
    assert table.tolist() == [[0, 0, 1, 0, 2, 0]] * 2
    every_other = np.arange(8.0)[::2]
    tiny.turn(every_other, every_other)
    assert every_other.tolist() == [6, 2, 4, 6], "an array given twice stays one"
    tiny.fill(np.zeros((3, 2), dtype=np.int64).T, np.arange(3))
    with pytest.raises(UsageError, match="install the compiler"):
        tiny.total(np.arange(8), 1.0)  # integers: what a kernel returns may be another type
    with pytest.raises(UsageError, match="install the compiler"):
        tiny.fill(np.zeros(3, dtype=np.int64), np.arange(3))


@needs_linker
def test_a_kernel_is_found_in_the_program_of_another_search(fresh, installed, without_compiler):
    assert fresh().squares(np.arange(3.0)).squares.tolist() == [0, 1, 4]
    assert programs.loaded() == {"tiny search"}


@needs_linker
def test_a_damaged_library_is_not_loaded(fresh, installed, compiled):
    assert use(fresh()) == 13.0
    assert compiled == []
    (path,) = installed.iterdir()
    content = bytearray(path.read_bytes())
    for place in (0x1000, len(content) // 2, len(content) - 30, len(content) - 1):
        harmed = content.copy()
        harmed[place] ^= 1
        path.unlink()  # it is in memory, so nobody may write into it
        path.write_bytes(harmed)
        assert files._read(path) is None
    assert use(fresh()) == 13.0
    assert compiled == ["tiny search"]


@needs_linker
@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("platform", "linux-sparc", "need another processor"),
        ("features", ["telepathy"], "need another processor"),
        ("", "", "cannot be loaded"),
    ],
)
def test_a_library_that_does_not_fit_is_not_used(fresh, installed, without_compiler, field, value, reason):
    (path,) = installed.iterdir()
    found = files._read(path)
    path.unlink()
    if field:
        files.store(installed, found._replace(header={**found.header, field: value}))
    else:
        files.store(installed, found._replace(code=b"no library"))
    with pytest.raises(UsageError, match=f"tiny search.*{reason}.*install the compiler") as error:
        use(fresh())
    assert error.value.topic == "missing-extra"


@needs_linker
def test_a_library_says_nothing_of_the_system_that_linked_it(installed):
    (path,) = installed.iterdir()
    assert b"GLIBC_" not in path.read_bytes()
    assert b"/tmp" not in path.read_bytes()


@needs_linker
def test_a_library_whose_symbols_are_missing_is_not_loaded(tmp_path):
    from llvmlite import binding as llvm

    from discreet.solve.kernels.compiler.target import baseline, make_machine

    module = llvm.parse_assembly(
        "declare void @no_such_symbol() define void @f() { call void @no_such_symbol() ret void }"
    )
    path = tmp_path / "library"
    path.write_bytes(link_library(make_machine(baseline()).emit_object(module)))
    assert load._library(path) is None


@needs_linker
def test_without_a_linker_one_sentence_says_so(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(RuntimeError, match="install a C compiler; there is no 'no-such-compiler'"):
        link_library(b"")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say")
def test_features_are_those_that_llvm_finds():
    from discreet.solve.kernels.compiler.target import baseline, features_of_this_machine

    assert baseline().features or processor.this_platform() != "linux-x86_64"
    for feature in baseline().features:
        assert processor.can([feature]) == (feature in features_of_this_machine()), feature
    assert processor.can([])
    assert not processor.can(["telepathy"])


def test_a_processor_that_says_nothing_can_do_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(processor, "_CPUINFO", tmp_path / "missing")
    processor._flags.cache_clear()
    try:
        assert processor.can([])
        assert not processor.can(["avx2"])
    finally:
        processor._flags.cache_clear()


def test_cached_programs_need_the_linker(fresh, tmp_path, without_compiler):
    with pytest.raises(UsageError, match="install the compiler"):
        use(fresh())


def test_nothing_but_compiling_imports_the_compiler():
    code = """
        import pkgutil, sys
        sys.modules["numba"] = sys.modules["llvmlite"] = None
        import discreet
        compiling = {"discreet.solve.kernels.compiler.build", "discreet.solve.kernels.compiler.target"}
        import discreet.solve
        for module in pkgutil.walk_packages(discreet.solve.__path__, "discreet.solve."):
            if module.name not in compiling:
                __import__(module.name)
        print("done")
    """
    out, err = run(code).communicate()
    assert out == "done\n", err
