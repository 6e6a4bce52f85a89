"""Canaries in identifiers, suppressed rows and rare values must not occur in any byte the tool writes.

The command line runs in a sandbox with its own home, temporary and working folders. Whatever it does, also if it fails
or is killed, no file but the input may contain a canary.
"""

from __future__ import annotations

import base64
import gzip
import json
import random
import signal
import time
from pathlib import Path

import polars as pl
import pytest

from canary import Sandbox, found_in

NAMES = [f"Canary-{number:04d}" for number in range(300)]
IDENTIFIERS = ["Canary-0", "Canary-1", "Canary-2"]
RARE = {"town": "Qaanaaq", "born": "1899-03-17", "job": "Zyklopenzähmer", "income": "987654321", "illness": "Kurukuru"}
SUPPRESSED = list(RARE.values())
ROLES = ("--identifiers", "name", "--qi", "town,born,job,income", "--sensitive", "illness")


def table() -> pl.DataFrame:
    """Three hundred people, one of whom shares no value with the others."""
    numbers = range(len(NAMES))
    columns = {
        "name": NAMES,
        "town": [RARE["town"] if n == 5 else ["Ulm", "Bonn", "Kiel", "Trier"][n % 4] for n in numbers],
        "born": [RARE["born"] if n == 5 else f"{1950 + n % 4}-0{1 + n % 3}-01" for n in numbers],
        "job": [RARE["job"] if n == 5 else ["cook", "nurse"][n % 2] for n in numbers],
        "income": [RARE["income"] if n == 5 else str(20_000 + 1_000 * (n % 5)) for n in numbers],
        "illness": [RARE["illness"] if n == 5 else ["flu", "ache", "cold"][n % 3] for n in numbers],
    }
    return pl.DataFrame(columns)


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    made = Sandbox(tmp_path / "sandbox")
    table().write_csv(made.work / "people.csv")
    return made


def test_the_search_finds_what_is_hidden() -> None:
    word = "Zyklopenzähmer"
    for content in (
        word.encode(),
        word.encode("utf-16"),
        gzip.compress(f"a {word} b".encode()),
        b"<img src='data:text/plain;base64," + base64.b64encode(f"{'x' * 40} {word} b".encode()) + b"'>",
        base64.b64encode(f"xy{word}z".encode()),
        json.dumps({"a": word}).encode(),
    ):
        assert found_in(content, [word]) == {word}
    assert found_in(b"nothing of the kind", [word]) == set()


def test_a_release_with_everything_it_can_write(sandbox: Sandbox) -> None:
    every = [part for suffix in ("html", "md", "txt", "json") for part in ("--report", f"report.{suffix}")]
    code = sandbox.run(
        *("anonymize", "people.csv", *ROLES, "-k", "5", "-l", "2", "--suppression", "budget(5%)", "-o", "safe.csv"),
        *(*every, "--certificate", "certificate.json", "--save-job", "job.yaml", "--json"),
    )
    assert code == 0, sandbox.streams
    assert sandbox.run("audit", "safe.csv", *ROLES[2:], "-k", "5", "--certificate", "certificate.json") in (0, 2)
    assert sandbox.leaked([*IDENTIFIERS, *SUPPRESSED], but=["people.csv"]) == {}
    assert list(sandbox.temporary.iterdir()) == []
    assert not [path for path in sandbox.home.rglob("*") if path.is_file()]


def test_other_formats_and_engines(sandbox: Sandbox) -> None:
    pytest.importorskip("duckdb", reason="DuckDB is not here; it comes with the extra duckdb")
    outputs = [("safe.parquet", "auto"), ("safe/", "duckdb"), (f"sqlite:///{sandbox.work}/safe.db?table=safe", "auto")]
    code = (
        "from click.testing import CliRunner\nfrom discreet.cli import program\n"
        f"for output, engine in {outputs!r}:\n"
        f"    job = ['anonymize', 'people.csv', *{ROLES!r}, '-k', '5', '--suppression', 'budget(5%)', '-o', output]\n"
        "    result = CliRunner().invoke(program, [*job, '--scheme', 'subtree', '--engine', engine])\n"
        "    print(result.output)\n"
        "    assert result.exit_code == 0, result.output\n"
    )
    assert sandbox.run("formats", code=code) == 0, sandbox.streams
    assert sandbox.leaked([*IDENTIFIERS, *SUPPRESSED], but=["people.csv"]) == {}
    assert list(sandbox.temporary.iterdir()) == []


def test_errors(sandbox: Sandbox) -> None:
    """No error message quotes the data."""
    lines = (sandbox.work / "people.csv").read_text().splitlines()
    (sandbox.work / "ragged.csv").write_text("\n".join([*lines, f"{NAMES[1]},{RARE['town']},x"]))
    (sandbox.work / "open.csv").write_text("\n".join([*lines, f'"{NAMES[1]},{RARE["town"]}']))
    (sandbox.work / "headless.csv").write_text("\n".join(lines[6:]))
    (sandbox.work / "tree.csv").write_text("Ulm;South;*\nBonn;West;*\n")
    files = ["people.csv", "ragged.csv", "open.csv", "headless.csv"]
    jobs = [
        ("people.csv", *ROLES, "-k", "400"),
        ("people.csv", *ROLES, "-k", "5", "--max-level", "town=0"),
        ("people.csv", *ROLES, "-k", "5", "--hierarchy", "town=tree.csv"),
        ("people.csv", *ROLES, "-k", "5", "--hierarchy", "job=intervals(5)"),
        ("people.csv", *ROLES, "-k", "5", "--type", "town=date"),
        ("people.csv", *ROLES, "-k", "5", "-l", "90"),
        ("ragged.csv", *ROLES, "-k", "5"),
        ("open.csv", *ROLES, "-k", "5"),
        ("headless.csv", *ROLES, "-k", "5"),
    ]
    code = (
        "import sys\nfrom click.testing import CliRunner\nfrom discreet.cli import program\n"
        f"for job in {jobs!r}:\n"
        "    result = CliRunner().invoke(program, ['anonymize', *job, '-o', 'safe.csv', '--json'])\n"
        "    print(result.exit_code, result.output)\n"
        "    assert result.exit_code in (2, 3, 4), (job, result.output)\n"
    )
    assert sandbox.run("errors", code=code) == 0, sandbox.streams
    assert sandbox.leaked([*IDENTIFIERS, *SUPPRESSED], but=files) == {}


@pytest.mark.deep
def test_killed(sandbox: Sandbox) -> None:
    """Leftovers of a killed job have known names, contain no identifier, and are removed by the next job."""
    big = pl.concat([table()] * 300).write_csv()
    (sandbox.work / "people.csv").write_text(big)
    command = ("anonymize", "people.csv", *ROLES, "-k", "5", "--suppression", "budget(5%)", "-o", "safe.csv", "--quiet")
    chance = random.Random(1)
    for _ in range(2):
        with sandbox.start(*command) as process:
            time.sleep(chance.uniform(0.5, 4))
            process.send_signal(signal.SIGKILL)
            out, err = process.communicate()
        sandbox.record("killed", out, err)
    assert sandbox.leaked(IDENTIFIERS, but=["people.csv"]) == {}
    assert sandbox.run(*command) == 0, sandbox.streams
    assert {path.name for path in sandbox.work.iterdir()} == {"people.csv", "safe.csv"}
