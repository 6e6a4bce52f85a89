"""A studio without a server: its application, talked to as a browser would; and one that a real browser visits."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

pytest.importorskip("starlette", reason="the studio is not here; it comes with the extra studio")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it would like to be used with another client than the one that is here
    from starlette.testclient import TestClient

from discreet.studio._app import make_app
from discreet.studio._security import Access
from discreet.studio._studio import Studio
from discreet.studio._upload import Limits
from discreet.studio._workspace import Workspace
from studio.browser import ServedStudio, Visit, running_browser, running_studio, visiting

HOST = "127.0.0.1:8765"
ORIGIN = f"http://{HOST}"
PEOPLE = pl.DataFrame({"age": [31, 34, 38, 47], "city": ["Leeds", "York", "Leeds", "York"]})
HEADERS = {"origin": ORIGIN, "x-discreet": "studio"}
PATIENCE = 600.0
"""Seconds after which a test gives up waiting; nothing is asserted about time."""


class Visitor:
    """A browser that has the cookie, with shorthands for what the page does."""

    def __init__(self, app: Any, access: Access, *, enter: bool = True) -> None:
        self.client = TestClient(app, base_url=ORIGIN, headers=HEADERS, follow_redirects=False)
        if enter:
            assert self.client.get("/", params={"token": access.token}).status_code == 200

    def get(self, path: str, **query: Any) -> Any:
        return self.client.get(f"/api{path}", params=query)

    def post(self, path: str, body: Any = None, **query: Any) -> Any:
        return self.client.post(f"/api{path}", params=query, json=body or {})

    def patch(self, path: str, body: Any) -> Any:
        return self.client.patch(f"/api{path}", json=body)

    def upload(self, name: str, content: bytes) -> Any:
        return self.client.post("/api/projects", files={"file": (name, content)})

    def table(self, frame: pl.DataFrame, name: str = "people.csv") -> dict[str, Any]:
        """Upload a table, and return the project."""
        answer = self.upload(name, frame.write_csv().encode())
        assert answer.status_code == 201, answer.text
        return answer.json()

    def wait(self, job: str, until: Callable[[dict[str, Any]], bool] | None = None) -> dict[str, Any]:
        """Return a job once nothing is under way any more, or something is so."""
        given_up = time.monotonic() + PATIENCE
        while time.monotonic() < given_up:
            fields = self.get(f"/jobs/{job}").json()
            under_way = [fields["state"], *fields["evaluation"].values()]
            if until(fields) if until is not None else not {"waiting", "running"} & set(under_way):
                return fields
            time.sleep(0.05)
        raise AssertionError(f"the job is still {fields['state']}")


@pytest.fixture
def limits() -> Limits:
    return Limits()


@pytest.fixture
def access() -> Access:
    return Access(hosts=frozenset([HOST]))


@pytest.fixture
def studio(limits: Limits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Studio]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # elsewhere others come and go
    made = Studio(Workspace.make(), limits)
    yield made
    made.close()
    assert not made.workspace.folder.exists()


@pytest.fixture
def app(studio: Studio, access: Access) -> Any:
    return make_app(studio, access)


@pytest.fixture
def visitor(app: Any, access: Access) -> Visitor:
    return Visitor(app, access)


@pytest.fixture
def new_visitor(app: Any, access: Access) -> Callable[..., Visitor]:
    return lambda **options: Visitor(app, access, **options)


@pytest.fixture(scope="module")
def long_studio() -> Iterator[tuple[Visitor, Studio]]:
    """A studio for all tests of a module, where starting workers takes its time."""
    studio, access = Studio(Workspace.make()), Access(hosts=frozenset([HOST]))
    yield Visitor(make_app(studio, access), access), studio
    studio.close()


@pytest.fixture
def folder_of(studio: Studio) -> Path:
    return studio.workspace.folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real browser for all tests of a module."""
    with running_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def served(browser: Any) -> Iterator[ServedStudio]:
    """A studio in a process of its own, for all tests of a module in a browser."""
    with running_studio() as studio:
        yield studio


@pytest.fixture
def visit(served: ServedStudio, browser: Any) -> Iterator[Visit]:
    """A window of the browser in which the studio is open."""
    with visiting(served, browser) as visit:
        yield visit
