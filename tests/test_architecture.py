"""The rules of the house that import-linter cannot express; ``make lint`` runs that one."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]


def architecture() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tool_architecture", ROOT / "tools" / "architecture.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look it up
    spec.loader.exec_module(module)
    return module


TOOL = architecture()
MODULES = TOOL.modules()


def test_no_package_imports_private_parts_of_another() -> None:
    assert TOOL.private_imports(MODULES) == []


def test_functions_have_few_parameters() -> None:
    assert TOOL.long_functions(MODULES) == []


def test_kernels_import_arrays_and_shared_kernels_alone() -> None:
    for module in MODULES:
        if not module.is_kernel or module.name.startswith("discreet.solve.kernels.compiler"):
            continue
        own = module.name.rpartition(".kernels")[0] + ".kernels"
        for source, name in module.imports():
            assert source.startswith((own, "discreet.solve.kernels")), f"{module.name} imports {source}.{name}"
        imported = {
            alias.name.split(".")[0]
            for node in ast.walk(module.tree)
            if isinstance(node, ast.Import)
            for alias in node.names
        }
        assert imported <= {"numpy", "numba", "math"} or module.name == "discreet.solve.kernels.jit", module.name


def test_the_steps_name_what_there_is() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    steps = page.split("## From file to report")[1].split("## ")[0]
    names = re.findall(r"`((?:engines|job|pipeline|report|schema|solve)\.[\w.]+)`", steps)
    assert len(names) >= 15
    for name in names:
        module, _, item = name.rpartition(".")
        assert hasattr(importlib.import_module(f"discreet.{module}"), item), name


def test_every_search_explains_itself() -> None:
    folders = [path.parent for path in (ROOT / "src" / "discreet" / "solve").glob("*/__init__.py")]
    searches = [folder for folder in folders if folder.name != "kernels"]
    assert len(searches) >= 7
    for folder in searches:
        assert len((folder / "README.md").read_text(encoding="utf-8").splitlines()) > 20, folder.name
