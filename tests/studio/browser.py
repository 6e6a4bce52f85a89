"""A studio and a real browser for tests: nothing of the outside world can be reached, and every complaint is kept."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

SECONDS = 600_000
"""How long to wait for something on a busy machine, in milliseconds; waiting ends as soon as it is there."""
_PATIENCE = 600
_LISTEN = (
    """addEventListener("securitypolicyviolation", (event) => console.error(`CSP: ${event.violatedDirective}`));"""
)


@dataclass
class ServedStudio:
    """A studio that runs in a process of its own, as a user starts it."""

    link: str
    process: subprocess.Popen[str]

    @property
    def host(self) -> str:
        return urlsplit(self.link).netloc

    def at(self, address: str) -> str:
        return f"http://{self.host}/{address}"


@contextmanager
def running_studio() -> Iterator[ServedStudio]:
    """Start ``discreet studio`` on a free port and end it by Ctrl-C."""
    command = [sys.executable, "-m", "discreet", "studio", "--no-open"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if found := re.search(r"http://\S+", line):
                yield ServedStudio(found.group(), process)
                break
        else:
            raise AssertionError("The studio did not say where it is.")
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(_PATIENCE)
        finally:
            process.kill()
            process.stdout.close()


@contextmanager
def running_browser() -> Iterator[Any]:
    """Start Chromium, or say why the tests cannot run."""
    playwright = pytest.importorskip("playwright.sync_api", reason="the browser is driven by Playwright")
    from discreet.errors import UsageError
    from discreet.report.formats.pdf import find_browser

    try:
        found = find_browser()
    except UsageError:
        pytest.skip("no Chromium, Chrome or Edge is installed")
    # Names of other hosts are not even looked up.
    quiet = [
        "--no-sandbox",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        "--disable-background-networking",
    ]
    with playwright.sync_playwright() as driver:
        try:
            browser = driver.chromium.launch(executable_path=found, args=quiet)
        except playwright.Error as error:
            pytest.skip(f"{Path(found).name} does not start here: {str(error).splitlines()[0]}")
        yield browser
        browser.close()


@dataclass
class Visit:
    """A page on which everything that goes wrong is written down."""

    studio: ServedStudio
    page: Any
    problems: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)
    """Parts of complaints that a test provokes."""

    def watch(self) -> None:
        self.page.on("console", lambda said: said.type == "error" and self.problems.append(f"console: {said.text}"))
        self.page.on("pageerror", lambda error: self.problems.append(f"script: {error}"))
        self.page.on("request", lambda request: self.ask(request.url))
        self.page.add_init_script(_LISTEN)
        self.page.set_default_timeout(SECONDS)

    def ask(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob", "about") and parts.netloc != self.studio.host:
            self.problems.append(f"a request to another host: {parts.scheme}://{parts.netloc}")

    def check(self) -> None:
        """Fail if anything went wrong that the test did not provoke."""
        left = [problem for problem in self.problems if not any(part in problem for part in self.expected)]
        assert left == []

    def go(self, address: str) -> None:
        self.page.goto(self.studio.at(address))

    @property
    def project(self) -> str:
        found = re.search(r"#/p/([^/]+)/", self.page.url)
        assert found is not None, self.page.url
        return found.group(1)

    def step(self, step: str, query: str = "") -> None:
        """Go to a step of the project that is open, by its address."""
        self.go(f"#/p/{self.project}/{step}{query}")
        self.page.locator("main h1").wait_for()

    def click(self, name: str, role: str = "button") -> None:
        self.page.get_by_role(role, name=name, exact=True).first.click()

    def sample(self, rows: int) -> None:
        """Make a project of made-up people."""
        self.go("#/")
        self.page.get_by_label("Rows").select_option(str(rows))
        self.click("Try it")
        self.page.wait_for_url("**/#/p/*/data")
        self.page.get_by_role("heading", name="What is in your table?").wait_for()

    def role(self, column: str, role: str) -> None:
        """Give a column a role by a click, and wait until it has it."""
        chosen = self.page.locator(f"[data-column='{column}'] [data-name='{role}']")
        chosen.click()
        self.page.locator(f"[data-column='{column}'].{role}").wait_for()

    def fetch(self, path: str) -> Any:
        """Ask the studio itself, as the page would."""
        return self.page.request.get(self.studio.at(path)).json()

    def fetch_until(self, path: str, holds: Callable[[Any], bool]) -> Any:
        """Ask the studio again and again until something holds: a page shows changes before they are saved."""
        given_up = time.monotonic() + SECONDS / 1000
        while not holds(found := self.fetch(path)):
            assert time.monotonic() < given_up, found
            self.page.wait_for_timeout(50)
        return found


@contextmanager
def visiting(studio: ServedStudio, browser: Any, **options: Any) -> Iterator[Visit]:
    """Open the studio in a browser of its own; afterwards nothing may have gone wrong."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 860}, "reduced_motion": "reduce", **options})
    try:
        visit = Visit(studio, context.new_page())
        visit.watch()
        visit.page.goto(studio.link)
        visit.page.get_by_role("heading", level=1).wait_for()
        yield visit
        visit.page.unroute_all(behavior="wait")  # requests that a test delays have their answer
        visit.check()
    finally:
        context.close()
