"""Compiled programs: what kernels take and return, and files that do not fit, which must never be used."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.errors import UsageError
from discreet.solve.kernels.compiler import files, load, needed, processor, programs
from discreet.solve.kernels.compiler.arguments import layout_is_known, pack, type_text
from discreet.solve.kernels.compiler.library import CAN_LINK, link_library
from discreet.solve.kernels.compiler.load import unfit
from discreet.solve.kernels.jit import PLAIN
from discreet.solve.kernels.records import record, records

pytestmark = pytest.mark.skipif(PLAIN, reason="kernels are not compiled")

SOURCE = '''
"""A kernel module."""
from typing import NamedTuple
import numpy as np
from discreet.solve.kernels.jit import inner_kernel, kernel

class Pair(NamedTuple):
    values: np.ndarray
    factor: float

class Found(NamedTuple):
    squares: np.ndarray
    number: int

FACTOR = 2  # a constant is part of the compiled code

@inner_kernel
def double(x):
    return FACTOR * x

@kernel
def total(values, plus):
    """Add up."""
    result = 0.0
    for value in values:
        result += double(value)
    return result + plus

@kernel
def look(pair, item, flag):
    item.seen += 1
    item.bound = pair.values.max() * pair.factor
    return flag, pair.values.size, item.bound

@kernel
def squares(values):
    return Found(values * values, values.size)

@kernel
def count_rows(table):
    return table.shape[0]

@kernel
def fill(table, row):  # table OUT
    for i in range(table.shape[0]):
        table[i] = row

@kernel
def turn(target, source):  # target OUT
    target[0] = source[target.size - 1]
'''


class Item:
    bound: float
    seen: int


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """Return what imports the kernel module into a process that has no programs, with an empty cache."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "tiny_kernels.py").write_text(SOURCE)
    cache = tmp_path / "cache"
    cache.mkdir()
    monkeypatch.setattr(files, "cache_folder", lambda: cache)

    def start() -> Any:
        monkeypatch.setattr(programs._State, "entries", {})
        monkeypatch.setattr(programs._State, "names", {})
        files._text_digest.cache_clear()
        importlib.invalidate_caches()
        sys.modules.pop("tiny_kernels", None)
        return importlib.import_module("tiny_kernels")

    yield start
    sys.modules.pop("tiny_kernels", None)
    files._text_digest.cache_clear()


@pytest.fixture
def compiled(monkeypatch):
    """Return a list that grows with the name of each program that is compiled."""
    names: list[str] = []
    whole = programs._compile
    monkeypatch.setattr(programs, "_compile", lambda name, *rest: names.append(name) or whole(name, *rest))
    return names


def program_file(tmp_path: Path) -> Path:
    (path,) = (tmp_path / "cache").glob("*.program")
    return path


def use(tiny: Any) -> float:
    """Load the program of one kernel and call it."""
    values = np.arange(4.0)
    programs.provide("tiny search", lambda: tiny.total(values, 1.0))
    return tiny.total(values, 1.0)


def test_arguments_and_results(fresh, compiled):
    tiny = fresh()
    values, item = np.array([1.0, 3.0]), record(Item, seen=4)

    def job() -> None:
        tiny.total(values, 1.0)
        tiny.look(tiny.Pair(values, 0.5), record(Item), True)
        tiny.squares(values)
        tiny.squares(np.arange(3))

    programs.provide("all kernels", job)
    assert compiled == ["all kernels"]
    assert tiny.total(values, plus=np.float64(1.0)) == 9.0
    assert tiny.look(tiny.Pair(values, 0.5), item, np.bool_(True)) == (True, 2, 1.5)
    assert (item.seen, item.bound) == (5, 1.5)
    found = tiny.squares(values)
    assert type(found) is tiny.Found
    assert (found.squares.tolist(), found.number) == ([1.0, 9.0], 2)
    assert tiny.squares(np.zeros(0)).squares.size == 0
    assert tiny.squares(np.arange(3)).squares.tolist() == [0, 1, 4]
    assert compiled == ["all kernels"]


def test_other_types_are_compiled_when_they_come(fresh, compiled):
    tiny = fresh()
    table = np.arange(12).reshape(4, 3)
    fixed = table.copy()
    fixed.flags.writeable = False
    for array in (table, table.T, table[:, 1:], fixed, table.astype(np.int32), records(Item, (4, 2))):
        assert tiny.count_rows(array) == array.shape[0]
    assert len(compiled) == 6
    assert tiny.count_rows(table[:2]) == 2
    assert len(compiled) == 6


@pytest.mark.parametrize("value", [1 << 63, np.uint64(3), "text", None, np.float32(1)])
def test_what_kernels_do_not_take(value):
    with pytest.raises(TypeError, match="kernels"):
        pack((value,), [], [])


def test_types_as_text():
    key: list[Any] = []
    pack((np.zeros((2, 2), np.int32).T, 1, 2.0, True, (record(Item), np.int64(3))), key, [])
    assert type_text(key) == "<i4[2F] int float bool (tuple 2) struct {bound:<f8@0,seen:<i8@8}16 int"


def test_arrays_look_as_compiled_code_expects():
    assert layout_is_known()


def test_a_second_process_finds_the_program(fresh, compiled):
    assert use(fresh()) == use(fresh()) == 13.0
    assert compiled == ["tiny search"]


def test_comments_do_not_count_and_constants_do(fresh, compiled, tmp_path):
    use(fresh())
    module = tmp_path / "tiny_kernels.py"
    module.write_text(SOURCE.replace("# a constant", "# An other word"))
    assert use(fresh()) == 13.0
    assert compiled == ["tiny search"]
    module.write_text(SOURCE.replace("FACTOR = 2", "FACTOR = 30"))
    os.utime(module, (1, 1))  # else Python may take the bytecode of the second before
    assert use(fresh()) == 181.0
    assert compiled == ["tiny search"] * 2
    module.write_text(SOURCE)
    os.utime(module, (2, 2))
    assert use(fresh()) == 13.0
    assert compiled == ["tiny search"] * 2, "the first version is still there"


@pytest.mark.parametrize("harm", ["truncated", "emptied", "one byte", "header", "other format", "folder"])
def test_damaged_files_are_compiled_again(fresh, compiled, tmp_path, harm):
    use(fresh())
    path = program_file(tmp_path)
    content = path.read_bytes()
    at = content.index(b"\x7fELF") if b"\x7fELF" in content else len(content) // 2
    if harm == "folder":
        path.unlink()
        path.mkdir()
    else:
        path.write_bytes(
            {
                "truncated": content[: len(content) // 2],
                "emptied": b"",
                "one byte": content[: at + 100] + bytes([content[at + 100] ^ 1]) + content[at + 101 :],
                "header": content.replace(b'"int"', b'"inf"').replace(b'"float"', b'"floot"'),
                "other format": content.replace(b"program 1\n", b"program 2\n", 1),
            }[harm]
        )
    assert use(fresh()) == 13.0
    assert len(compiled) == 2


@pytest.mark.parametrize(
    ("field", "value"),
    [("triple", "sparc-unknown-linux"), ("features", ["telepathy"]), ("symbols", ["no_such_symbol"])],
)
def test_files_for_other_machines_are_not_used(fresh, compiled, tmp_path, field, value):
    use(fresh())
    path = program_file(tmp_path)
    found = files._read(path)
    assert not unfit(found)
    path.unlink()
    changed = found._replace(header={**found.header, field: value})
    files.store(path.parent, changed)
    assert unfit(changed)
    assert use(fresh()) == 13.0
    assert len(compiled) == 2


def test_a_program_of_an_installation_for_another_processor_is_mentioned(fresh, monkeypatch, tmp_path):
    use(fresh())
    found = files._read(program_file(tmp_path))
    program_file(tmp_path).unlink()
    shipped = tmp_path / "installation"
    shipped.mkdir()
    monkeypatch.setattr(files, "shipped_folder", lambda: shipped)
    files.store(shipped, found)
    said: list[str] = []
    with programs.listening(lambda progress: said.append(str(progress))):
        use(fresh())
        assert said == []
        empty(shipped)
        files.store(shipped, found._replace(header={**found.header, "features": ["telepathy"]}))
        use(fresh())
    assert "once, because the compiled searches of this installation need another processor: 0 of 2" in said[0]


def empty(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()


@pytest.mark.parametrize("why", ["no folder", "full disk"])
def test_what_cannot_be_kept_serves_one_process(fresh, monkeypatch, why):
    if why == "no folder":
        monkeypatch.setattr(files, "cache_folder", lambda: None)
    else:

        def full(*_: Any) -> Path:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(files, "store", full)
    assert use(fresh()) == 13.0


def test_a_numba_that_works_differently_is_used_as_it_is(fresh, monkeypatch, caplog):
    def broken(*_: Any) -> Any:
        raise AttributeError("something is gone")

    monkeypatch.setattr(programs._State, "broken", False)
    monkeypatch.setattr(programs, "_compile", broken)
    assert use(fresh()) == 13.0
    assert "numba compiles each kernel by itself" in caplog.text


def test_programs_that_were_not_used_for_long_are_removed(fresh, tmp_path):
    use(fresh())
    path = program_file(tmp_path)
    for name, age in (("old", 90), ("new", 3)):
        other = path.with_name(f"{name}-0123456789abcdef.program")
        other.write_bytes(b"")
        os.utime(other, (time.time() - age * 86_400,) * 2)
    foreign = path.with_name("something-else")
    foreign.write_bytes(b"")
    os.utime(foreign, (0, 0))
    files._remove_unused(path.parent)
    assert {item.name.partition("-")[0] for item in path.parent.iterdir()} == {"tiny", "new", "something"}


def test_using_a_program_renews_its_time(fresh, tmp_path):
    use(fresh())
    path = program_file(tmp_path)
    os.utime(path, (0, 0))
    begun = time.time()
    use(fresh())
    assert path.stat().st_mtime > begun - 60  # clocks of file systems are coarse


def run(code: str, **environment: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(code)]
    return subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_two_processes_at_once_compile_the_same(tmp_path):
    (tmp_path / "tiny_kernels.py").write_text(SOURCE)
    code = """
        import numpy as np, tiny_kernels
        print(tiny_kernels.total(np.arange(4.0), 1.0))
    """
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    both = [run(code, PYTHONPATH=paths, XDG_CACHE_HOME=str(tmp_path)) for _ in range(2)]
    assert [process.communicate()[0] for process in both] == ["13.0\n"] * 2
    (path,) = (tmp_path / "discreet" / "programs").iterdir()
    assert files._read(path) is not None


def test_a_warm_search_does_not_import_numba():
    code = """
        import sys
        import discreet as dc
        people = dc.sample(50, seed=1).select("sex", "education")
        dc.anonymize(people, quasi_identifiers=["sex", "education"], privacy="k(2)")
        first = "numba" in sys.modules
        dc.anonymize(people, quasi_identifiers=["sex", "education"], privacy="k(2)")
        print(first)
    """
    for _ in range(2):  # the first may have to compile
        out, err = run(code).communicate()
        assert out, err
    assert out == "False\n"


def test_other_code_with_numba_works_in_the_same_process(fresh):
    """What numba compiled for kernels is linked into functions of others, with everything it calls."""
    numba = pytest.importorskip("numba")
    tiny = fresh()
    assert tiny.squares(np.arange(3)).squares.tolist() == [0, 1, 4]

    @numba.njit
    def largest(values):
        return np.sort(values * values)[-1]

    assert largest(np.arange(4)) == 9
    with pytest.raises(ValueError, match="zero-size"):
        numba.njit(lambda values: values.max())(np.zeros(0))


def test_a_program_is_the_same_wherever_it_is_compiled(fresh, tmp_path):
    use(fresh())
    content = program_file(tmp_path).read_bytes()
    assert str(tmp_path).encode() not in content
    assert b"site-packages" not in content
    header = json.loads(content.splitlines()[2])
    assert set(header) == {"name", "entries", "modules", "triple", "cpu", "features", "symbols"}


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
