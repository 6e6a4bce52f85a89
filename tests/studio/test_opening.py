"""A browser is opened without a secret that other users of the machine could read."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

BROWSER = """
import html, http.cookiejar, json, os, pathlib, re, sys, urllib.parse, urllib.request
seen = {}
for process in pathlib.Path("/proc").glob("[0-9]*"):
    try:
        seen[process.name] = (process / "cmdline").read_text(errors="replace")
    except OSError:
        pass
file = pathlib.Path(urllib.request.url2pathname(urllib.parse.urlsplit(sys.argv[1]).path))
modes = [file.stat().st_mode, file.parent.stat().st_mode]
link = html.unescape(re.search('url=([^"]+)"', file.read_text())[1])
jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
opened = urllib.request.build_opener(jar)
statuses = [opened.open(link).status, opened.open(link.partition("?")[0] + "api/about").status]
reported = {"argv": sys.argv[1:], "seen": seen, "modes": modes, "link": link, "statuses": statuses, "file": str(file)}
pathlib.Path(os.environ["REPORTED"] + ".part").write_text(json.dumps(reported))
os.replace(os.environ["REPORTED"] + ".part", os.environ["REPORTED"])
"""
PATIENCE = 600.0
"""Seconds after which a test gives up waiting; nothing is asserted about time."""


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="processes are listed elsewhere here")
def test_the_token_is_in_no_process_list(tmp_path: Path) -> None:
    browser, said = tmp_path / "browser", tmp_path / "reported.json"
    browser.write_text(f"#!{sys.executable}\n{BROWSER}")
    browser.chmod(0o755)
    command = [sys.executable, "-m", "discreet", "studio"]
    environment = {**os.environ, "BROWSER": str(browser), "REPORTED": str(said)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        given_up = time.monotonic() + PATIENCE
        while not said.exists():
            assert time.monotonic() < given_up, "the browser was not started"
            time.sleep(0.05)
        fields = json.loads(said.read_text())
        token = fields["link"].partition("token=")[2]
        assert len(token) > 30
        assert fields["argv"] == [Path(fields["file"]).as_uri()]
        assert str(process.pid) in fields["seen"]
        assert not [line for line in fields["seen"].values() if token in line]
        assert [stat.S_IMODE(mode) for mode in fields["modes"]] == [0o600, 0o700]
        assert fields["statuses"] == [200, 200]
        while Path(fields["file"]).exists():  # it has served its purpose
            assert time.monotonic() < given_up, "the file with the token is still there"
            time.sleep(0.05)
    finally:
        process.terminate()
        process.wait(PATIENCE)
        assert process.stdout is not None
        process.stdout.close()


@pytest.mark.deep
def test_a_real_browser_gets_in_by_the_file(tmp_path: Path) -> None:
    """A cookie that is strict about sites is held back from a visit that a file began, unless the studio sees to it."""
    from studio.browser import running_browser

    browser, said = tmp_path / "browser", tmp_path / "reported"
    browser.write_text('#!/bin/sh\nprintf %s "$1" > "$REPORTED.part" && mv "$REPORTED.part" "$REPORTED"\n')
    browser.chmod(0o755)
    environment = {**os.environ, "BROWSER": str(browser), "REPORTED": str(said)}
    with running_browser() as chromium:
        process = subprocess.Popen(
            [sys.executable, "-m", "discreet", "studio"], stdout=subprocess.PIPE, text=True, env=environment
        )
        try:
            given_up = time.monotonic() + PATIENCE
            while not said.exists():
                assert time.monotonic() < given_up, "the browser was not started"
                time.sleep(0.05)
            page = chromium.new_page()
            problems: list[str] = []
            page.on("console", lambda line: line.type == "error" and problems.append(line.text))
            page.goto(said.read_text())
            page.get_by_role("heading", name="Share a table about people. Safely.").wait_for()
            assert "token" not in page.url
            assert problems == []
        finally:
            process.terminate()
            process.wait(PATIENCE)
            assert process.stdout is not None
            process.stdout.close()
