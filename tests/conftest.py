"""Fixtures for all tests: every kind of data a user may bring, and where the benchmark data is."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Generator, Iterator
from hashlib import sha256
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, settings

from databases import Server, postgres_server
from depth import DEEP, beyond_a_sample
from drawn import DRAWN
from sources import FILES, FRAMES, Constructor, make_file, make_frame

gc.set_threshold(20_000, 20, 20)  # thousands of tests stay in memory; to look for garbage among them takes long
# How long an example takes depends on what runs beside it, and which examples are drawn must not depend on the run.
settings.register_profile("any machine", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

os.environ["XDG_STATE_HOME"] = mkdtemp(prefix="discreet-state-")  # for fixtures of a wider scope than a test
_NEEDED = ("PySpark", "pyspark", "Spark needs Java", "PostgreSQL", "Chromium")
"""What tests skip without; ``make test-all`` installs it, and a skip is a failure there."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    DRAWN.begin(item.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: pytest.FixtureRequest) -> Generator[None, Any, Any]:
    if fixturedef.scope == "function":
        return (yield)
    before = DRAWN.source
    DRAWN.begin(f"{fixturedef.baseid}::{fixturedef.argname}[{getattr(request, 'param', '')}]")
    try:
        return (yield)
    finally:
        DRAWN.source = before


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    reason = str(report.longrepr)
    if report.skipped and DEEP and any(word in reason for word in _NEEDED):
        report.outcome = "failed"
        report.longrepr = f"skipped where nothing may be: {reason}"
    return report


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--sample", action="store_true", help="leave out combinations of parameters that deep tests run")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what scales with depth, and leave deep tests out of all but ``make test-all``.

    With ``--sample``, as in ``make test``, combinations that are tested in parts are deep too.
    """
    for item in items:
        if "properties" in item.path.parts:
            item.add_marker("scaled")
    if DEEP or config.getoption("sample"):
        for item in beyond_a_sample([item for item in items if item.get_closest_marker("deep") is None]):
            item.add_marker("deep")
    if DEEP:
        return
    deep = [item for item in items if item.get_closest_marker("deep") is not None]
    config.hook.pytest_deselected(items=deep)
    items[:] = [item for item in items if item.get_closest_marker("deep") is None]


@pytest.fixture(params=[*FRAMES, *FILES])
def constructor(request: pytest.FixtureRequest, tmp_path: Path) -> Constructor:
    """Turn a polars table into one kind of data: a frame of some library, or a file of some format."""
    kind: str = request.param
    if kind in FRAMES:
        return lambda table: make_frame(kind, table)
    return lambda table: make_file(kind, table, tmp_path)


@pytest.fixture(params=FRAMES)
def frame_constructor(request: pytest.FixtureRequest) -> Constructor:
    return lambda table: make_frame(request.param, table)


@pytest.fixture(scope="session")
def new_state(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """Return a function that makes an empty folder, in one folder of them all.

    Beside the folders of tests there would be thousands, and pytest reads the names of all to make one more.
    """
    root, numbers = tmp_path_factory.mktemp("states"), count()

    def make() -> Path:
        folder = root / str(next(numbers))
        folder.mkdir(mode=0o700)
        return folder

    return make


@pytest.fixture(autouse=True)
def own_state(new_state: Callable[[], Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test, and the processes it starts, a key and a ledger of its own: none is in the user's home."""
    folder = new_state()
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    return folder


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server, one for all tests."""
    with postgres_server() as server:
        yield server


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str, str], str]:
    """Return the URL of a table in a database of some kind; no other test has tables of that name."""
    own = sha256(str(tmp_path).encode()).hexdigest()[:8]

    def url(kind: str, table: str) -> str:
        if kind == "postgresql":
            server: Server = request.getfixturevalue("postgres")
            return server.url(f'{table[:-1]}_{own}"' if table.endswith('"') else f"{table}_{own}")
        if kind == "duckdb":
            pytest.importorskip("duckdb", reason="DuckDB is not here; it comes with the extra duckdb")
        return f"{kind}:///{tmp_path}/data.{kind}?table={table}"

    return url


@pytest.fixture
def people() -> pl.DataFrame:
    """A small table with everything in it that has to survive: nulls, zeros in front, quotes, line breaks."""
    n = 60
    return pl.DataFrame(
        {
            "name": [f"Person {number}" for number in range(n)],
            "age": [None if number % 20 == 7 else 20 + number * 7 % 40 for number in range(n)],
            "note": [None if number % 9 == 0 else f'said "hi", number {number % 13}' for number in range(n)],
            "zip": [f"0{1000 + number % 4}" for number in range(n)],
            "sex": [None if number % 15 == 3 else "mf"[number % 2] for number in range(n)],
            "disease": [["flu", "hiv", "ache", None][number % 4 * (number % 3 > 0)] for number in range(n)],
            "score": [number % 30 / 8 for number in range(n)],
        }
    )


@pytest.fixture
def columns_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Confirm every column without a role.

    For modules about something else whose tables and command lines are of many shapes: engines and databases, kinds of
    frames, places, errors and the options of the command line. Elsewhere tests name roles, or confirm with ``keep``.
    """
    monkeypatch.setattr("discreet.pipeline.undecided_columns.UndecidedColumns.check", lambda self: None)


@pytest.fixture
def data_folder() -> Path:
    """The folder with the benchmark data."""
    folder = Path(os.environ.get("DISCREET_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the benchmark data is not here; set DISCREET_DATA to the folder that holds it")
    return folder


@pytest.fixture
def adult(data_folder: Path) -> Path:
    return data_folder / "arx" / "adult"
