"""The tools of the supply chain: what they say, and what goes into an archive. Building is left to ``make dist``."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"tool_{name}", ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


WEAK = {"name": "old", "version": "1", "vulns": [{"id": "PYSEC-1"}, {"id": "PYSEC-2"}]}
FINE = {"name": "new", "version": "2", "vulns": []}
SILENT = {"name": "own", "skip_reason": "not found"}


@pytest.mark.parametrize(
    ("answers", "asked", "weak", "sentences"),
    [
        ([FINE], 1, 0, ["No weaknesses are known of 1 versions."]),
        ([WEAK, FINE], 2, 1, ["old 1 has known weaknesses: PYSEC-1, PYSEC-2"]),
        ([SILENT, FINE], 2, 0, ["No weaknesses are known of 1 versions.", "learnt about 1 of 2 versions"]),
        ([SILENT, SILENT], 2, 0, ["learnt about 2 of 2 versions"]),
        ([], 3, 0, ["learnt about 3 of 3 versions"]),
    ],
)
def test_silence_is_not_taken_for_a_good_answer(answers, asked, weak, sentences):
    found, said = tool("dependencies").verdict(answers, asked)
    assert found == weak
    assert len(said.splitlines()) == len(sentences)
    for line, sentence in zip(said.splitlines(), sentences, strict=True):
        assert sentence in line


def test_licences_are_told():
    dependencies = tool("dependencies")
    found = dependencies.installed("click")
    assert "click" in found
    assert "BSD" in dependencies.licence_of(found["click"])
    assert dependencies.ASKS_FOR_MORE.search("GNU General Public License (GPL)")
    assert not dependencies.ASKS_FOR_MORE.search("BSD-3-Clause AND MIT")


def test_archives_hold_the_files_under_version_control():
    names = tool("dist").files()
    assert {"pyproject.toml", "src/discreet/__init__.py", "src/discreet/explain/errors.md", "SECURITY.md"} <= set(names)
    assert not [name for name in names if name.startswith((".venv", "dist/", "site/"))]


def test_builds_that_differ_are_refused(tmp_path):
    for name, text in (("one", "a"), ("other", "b")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.whl").write_text(text)
    files = [[tmp_path / name / "x.whl"] for name in ("one", "other")]
    with pytest.raises(SystemExit, match="two builds differ"):
        tool("dist").compare(*files)
    tool("dist").compare(files[0], files[0])


def test_generated_files_are_fresh():
    stale = [str(path) for path, text in tool("generate").files().items() if path.read_text(encoding="utf-8") != text]
    assert not stale, "run make generate"


def test_the_stub_is_what_type_checkers_and_star_imports_see():
    import discreet

    stub = (ROOT / "src" / "discreet" / "__init__.pyi").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    exec("from discreet import *", names)
    for name in discreet.__all__:
        assert name in names
        assert name in dir(discreet)
        assert f"import {name} as {name}\n" in stub or name == "__version__"
