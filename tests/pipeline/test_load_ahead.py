"""The search of a job with a large table is loaded, or compiled, while the table is read; nothing else changes."""

import sys
import threading
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dc
from discreet.engines import open_source
from discreet.job.settings import JobSettings
from discreet.pipeline import load_ahead as _ahead
from discreet.pipeline import prepare as _prepare
from discreet.problem import scheme_of_each
from discreet.schema import Schema
from discreet.solve import SOLVERS
from discreet.solve.kernels.compiler import programs
from discreet.solve.kernels.jit import PLAIN

JOBS: list[dict[str, Any]] = [
    {"privacy": "k(5)"},
    {"privacy": "k(5)", "suppression": "budget(5%)", "cost": "DM"},
    {"privacy": ["k(5)", "distinct-l(2, disease)"], "cost": "NCP"},
    {"privacy": "t(0.5, disease, equal)"},
    {"privacy": "k(5)", "scheme": "subtree"},
    {"privacy": "k(5)", "scheme": "ordered"},
    {"privacy": "k(5)", "scheme": "local"},
    {"privacy": "k(5)", "solver": "mondrian", "scheme": "local"},
]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = pl.DataFrame({"age": [number % 50 for number in range(400)], "disease": ["flu", "hiv", "flu", "cold"] * 100})
    rows.write_csv(tmp_path / "people.csv")
    return tmp_path / "people.csv"


@pytest.fixture
def provided(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """The programs that were asked for, and whether the main thread did."""
    found: list[tuple[str, bool]] = []
    whole = programs._provide

    def noted(name: str, calls: Any) -> None:
        found.append((name, threading.current_thread() is threading.main_thread()))
        whole(name, calls)

    monkeypatch.setattr(programs, "_provide", noted)
    monkeypatch.setattr(_ahead, "_LARGE", 0)
    return found


_LOADING = ("compile_ahead", "load_kernels", "_load_kernels")


def _forget_what_is_loaded() -> None:
    for name, module in list(sys.modules.items()):
        if name.startswith("discreet.solve."):
            for item in vars(module).values():
                if hasattr(item, "cache_clear") and getattr(item, "__name__", "") in _LOADING:
                    item.cache_clear()


@pytest.mark.skipif(PLAIN, reason="nothing is compiled")
@pytest.mark.parametrize("job", JOBS, ids=lambda job: " ".join(map(str, job.values())))
def test_a_search_finds_everything_loaded(
    table: Path, provided: list[tuple[str, bool]], monkeypatch: pytest.MonkeyPatch, job: dict[str, Any]
) -> None:
    _forget_what_is_loaded()
    monkeypatch.setattr(programs._State, "names", {})
    monkeypatch.setattr(programs._State, "entries", {})
    started: list[threading.Thread] = []

    def waiting(*arguments: Any) -> None:
        thread = _ahead.load_ahead(*arguments)
        assert thread is not None
        thread.join()
        started.append(thread)

    monkeypatch.setattr(_prepare, "load_ahead", waiting)
    settings = {"quasi_identifiers": {"age": "intervals(5, 10, 20)"}, "sensitive": "disease", "time_limit": 1.0, **job}
    release = dc.anonymize(table, **settings)
    assert release.audit.passed
    assert len(started) == 1
    assert provided
    assert [name for name, by_search in provided if by_search] == []


def test_only_large_tables_and_own_parts(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_ahead, "_load", lambda *_: None)

    def thread(data: Any, **choices: Any) -> threading.Thread | None:
        arguments = {"data": data, "quasi_identifiers": ["age"], "privacy": "k(2)", "suppression": "none"}
        others = {"scheme": "full-domain", "missing": "value", "missing_sensitive": "unknown", "weights": None}
        engine = {"engine": "auto", "memory_limit": None, "spark": None, "population": None}
        settings = JobSettings.make({**arguments, **others, **engine, **choices})
        source = open_source(data)
        schema = Schema.make(source.columns, (), ["age"], (), None, None)
        return _ahead.load_ahead(settings, schema, scheme_of_each(["age"], settings.scheme), source)

    assert thread(table) is None
    assert thread(pl.read_csv(table)) is None
    assert thread(pl.scan_csv(table)) is not None
    monkeypatch.setattr(_ahead, "_LARGE", 0)
    assert thread(table) is not None
    assert thread(table, solver=SOLVERS.make("lattice")) is None


def test_whoever_waits_sees_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_POLL", 0.01)
    seen: list[programs.Compiling] = []
    held, let_go = threading.Event(), threading.Event()

    def hold() -> None:
        with programs._alone():
            programs._State.under_way = programs.Compiling("some search", 3, 7, 5.0)
            held.set()
            let_go.wait(600)
            programs._State.under_way = None

    def listen(compiling: programs.Compiling) -> None:
        seen.append(compiling)
        let_go.set()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(600)
    with programs.listening(listen), programs._alone():
        pass
    thread.join()
    assert str(seen[0]) == "compiling the some search, once: 3 of 7, about 5 s"


def test_waiting_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_POLL", 0.01)
    held, let_go, stop = threading.Event(), threading.Event(), threading.Event()

    def hold() -> None:
        with programs._alone():
            held.set()
            let_go.wait(600)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(600)
    stop.set()
    with pytest.raises(programs.CompilingStopped), programs.stopped_by(stop), programs._alone():
        pass
    let_go.set()
    thread.join()
