"""A kernel module that is not compiled yet, and what notes each compilation."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import pytest

from discreet.solve.kernels.compiler import arguments, files, programs
from small_kernels import SOURCE


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
        arguments._class.cache_clear()
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
