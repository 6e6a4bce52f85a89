"""The cache of compiled kernels: old versions go, those in use stay."""

from __future__ import annotations

import os
import time

import pytest

from discreet.solve.kernels import jit


@pytest.fixture
def cache_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(jit, "cache_folder", lambda: tmp_path)
    for name in ("new", "old", "revived"):
        version = tmp_path / f"kernels.classes-{name.encode().hex().ljust(16, '0')[:16]}"
        version.mkdir()
        (version / "group.1.nbc").write_bytes(b"")
        if name != "new":
            long_ago = time.time() - 90 * 86_400
            os.utime(version, (long_ago, long_ago))
    other = tmp_path / "something-else"
    other.mkdir()
    os.utime(other, (0, 0))
    return tmp_path


def test_versions_that_were_not_used_for_long_are_removed(cache_folder):
    revived = cache_folder / f"kernels.classes-{b'revived'.hex().ljust(16, '0')[:16]}"
    jit._mark_as_used.__wrapped__(str(revived))
    jit._remove_unused.__wrapped__()
    left = {path.name for path in cache_folder.iterdir()}
    assert len(left) == 3
    assert revived.name in left
    assert "something-else" in left
    assert not any(b"old".hex() in name for name in left)


def test_a_cache_that_cannot_be_read_does_no_harm(tmp_path, monkeypatch):
    monkeypatch.setattr(jit, "cache_folder", lambda: tmp_path / "missing")
    jit._remove_unused.__wrapped__()
    jit._mark_as_used.__wrapped__(str(tmp_path / "missing" / "version"))
    monkeypatch.setattr(jit, "cache_folder", lambda: None)
    jit._remove_unused.__wrapped__()
