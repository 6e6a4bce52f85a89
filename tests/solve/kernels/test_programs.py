"""Compiled programs: what kernels take and return, and cached files that do not fit, which must never be used."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.solve.kernels.compiler import files, programs
from discreet.solve.kernels.compiler.arguments import layout_is_known, pack, type_text
from discreet.solve.kernels.compiler.load import unfit
from discreet.solve.kernels.jit import PLAIN
from discreet.solve.kernels.records import record, records
from small_kernels import SOURCE, program_file, run, use

pytestmark = pytest.mark.skipif(PLAIN, reason="kernels are not compiled")


class Item:
    bound: float
    seen: int


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
