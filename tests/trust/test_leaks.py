"""Marked values are put into identifiers, suppressed rows and rare values, and every byte the tool leaves is searched.

The command line runs in a cage with its own home, temporary files and working folder: whatever it does, also when it
fails or is killed, nothing in there may hold a canary but the input itself.
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

from canary import Cage, found_in

NAMES = [f"Canary-{number:04d}" for number in range(300)]
IDENTIFIERS = ["Canary-0", "Canary-1", "Canary-2"]
RARE = {"town": "Qaanaaq", "born": "1899-03-17", "job": "Zyklopenzähmer", "income": "987654321", "illness": "Kurukuru"}
SUPPRESSED = list(RARE.values())
ROLES = ("--identifiers", "name", "--qi", "town,born,job,income", "--sensitive", "illness")


def table() -> pl.DataFrame:
    """Three hundred people, one of whom has nothing in common with the others."""
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
def cage(tmp_path: Path) -> Cage:
    made = Cage(tmp_path / "cage")
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


def test_a_release_with_everything_it_can_write(cage: Cage) -> None:
    every = [part for suffix in ("html", "md", "txt", "json") for part in ("--report", f"report.{suffix}")]
    code = cage.run(
        *("anonymize", "people.csv", *ROLES, "-k", "5", "-l", "2", "--suppression", "budget(5%)", "-o", "safe.csv"),
        *(*every, "--certificate", "certificate.json", "--save-job", "job.yaml", "--json"),
    )
    assert code == 0, cage.streams
    assert cage.run("audit", "safe.csv", *ROLES[2:], "-k", "5", "--certificate", "certificate.json") in (0, 2)
    assert cage.escaped([*IDENTIFIERS, *SUPPRESSED], but=["people.csv"]) == {}
    assert list(cage.temporary.iterdir()) == []
    assert not [path for path in cage.home.rglob("*") if path.is_file()]


def test_other_formats_and_engines(cage: Cage) -> None:
    pytest.importorskip("duckdb", reason="DuckDB is not here; it comes with the extra duckdb")
    outputs = [("safe.parquet", "auto"), ("safe/", "duckdb"), (f"sqlite:///{cage.work}/safe.db?table=safe", "auto")]
    code = (
        "from click.testing import CliRunner\nfrom discreet.cli import program\n"
        f"for output, engine in {outputs!r}:\n"
        f"    told = ['anonymize', 'people.csv', *{ROLES!r}, '-k', '5', '--suppression', 'budget(5%)', '-o', output]\n"
        "    result = CliRunner().invoke(program, [*told, '--scheme', 'subtree', '--engine', engine])\n"
        "    print(result.output)\n"
        "    assert result.exit_code == 0, result.output\n"
    )
    assert cage.run("formats", code=code) == 0, cage.streams
    assert cage.escaped([*IDENTIFIERS, *SUPPRESSED], but=["people.csv"]) == {}
    assert list(cage.temporary.iterdir()) == []


def test_errors(cage: Cage) -> None:
    """Whatever goes wrong, and wherever, nothing of the data is in what is said about it."""
    lines = (cage.work / "people.csv").read_text().splitlines()
    (cage.work / "ragged.csv").write_text("\n".join([*lines, f"{NAMES[1]},{RARE['town']},x"]))
    (cage.work / "open.csv").write_text("\n".join([*lines, f'"{NAMES[1]},{RARE["town"]}']))
    (cage.work / "headless.csv").write_text("\n".join(lines[6:]))
    (cage.work / "tree.csv").write_text("Ulm;South;*\nBonn;West;*\n")
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
    assert cage.run("errors", code=code) == 0, cage.streams
    assert cage.escaped([*IDENTIFIERS, *SUPPRESSED], but=files) == {}


def test_killed(cage: Cage) -> None:
    """What a killed job leaves is known by its name and holds no identifier; the next job clears it up."""
    big = pl.concat([table()] * 300).write_csv()
    (cage.work / "people.csv").write_text(big)
    told = ("anonymize", "people.csv", *ROLES, "-k", "5", "--suppression", "budget(5%)", "-o", "safe.csv", "--quiet")
    chance = random.Random(time.time_ns())
    for _ in range(2):
        with cage.start(*told) as process:
            time.sleep(chance.uniform(0.5, 4))
            process.send_signal(signal.SIGKILL)
            out, err = process.communicate()
        cage.keep("killed", out, err)
    assert cage.escaped(IDENTIFIERS, but=["people.csv"]) == {}
    assert cage.run(*told) == 0, cage.streams
    assert {path.name for path in cage.work.iterdir()} == {"people.csv", "safe.csv"}
