"""A job that is killed leaves what was there before, or a complete release; ``make faults`` does it much more often."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from databases import Server
from faults import Fault, Nursery, kill_once


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with closing(Nursery()) as process:
        yield process


@pytest.mark.parametrize("kind", ["csv", "folder", "duckdb", "sqlite", "postgresql"])
def test_killed(kind: str, tmp_path: Path, nursery: Nursery, request: pytest.FixtureRequest) -> None:
    if kind == "duckdb":
        pytest.importorskip("duckdb", reason="DuckDB is not here; it comes with the extra duckdb")
    server: Server | None = request.getfixturevalue("postgres") if kind == "postgresql" else None
    if server is not None:
        server.run("DROP TABLE IF EXISTS people0, people1, safe")
    target = Fault(kind, tmp_path, nursery, server, rows=30_000)
    kill_once(target, 0, random.Random(kind).uniform(0, 0.5), solved=True)
    for name in target.left():  # the next job for the same output would do it
        target.remove(name)
