"""The examples in the help of every command run on a made-up table."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from discreet.cli import program

IDENTIFIERS = "--identifiers person_id,name,income"
SAFE = f"anonymize people.csv -o safe.csv -k 5 --suppression 'budget(10%)' {IDENTIFIERS}"
MASKED = "--hierarchy 'zip=mask(digits=5)'"
JOB = f"anonymize people.csv -o safe.csv --dry-run --qi sex,education {IDENTIFIERS},birth_date,zip"
VISITS = "sample --visits -n 2000 --people patients.csv -o visits.csv"
SAFE_VISITS = (
    "anonymize patients.csv --table visits=visits.csv --person patient_id -o safe/ --qi age,sex,zip -k 5 "
    "--sensitive diagnosis --identifiers household_id,visit_date --keep department --suppression 'budget(10%)'"
)
BEFORE = {
    "anonymize": [VISITS],
    "apply": ["sample -n 400 --seed 9 -o more.csv", "sample -n 400 -o duckdb:///clinic.duckdb?table=people"],
    "audit": [
        VISITS,
        SAFE_VISITS,
        "sample -n 3000 --seed 4 -o everybody.csv",
        "hierarchy make people.csv --column diagnosis -o diagnosis.csv",
        f"{SAFE},birth_date --qi zip,sex,education,city --sensitive diagnosis {MASKED} -l 3 --key discreet.key "
        "--certificate certificate.json",
        f"anonymize people.csv -o safe-2025.csv -k 10 --qi zip,sex,education,city {MASKED} {IDENTIFIERS},birth_date "
        "--sensitive diagnosis --suppression 'budget(10%)'",
    ],
    "attack": [
        f"{SAFE} --qi birth_date,sex,zip {MASKED} --hierarchy 'birth_date=dates(year, decade)' --sensitive diagnosis "
        "--mapping mapping.json --save-job job.yaml",
        f"anonymize people.csv -o safe-2025.csv -k 9 --qi birth_date,sex,zip {MASKED} --sensitive diagnosis "
        f"--hierarchy 'birth_date=dates(year, decade)' --suppression 'budget(10%)' {IDENTIFIERS}",
        "sample -n 400 --seed 2 -o others.csv",
        "sample -n 400 --seed 3 -o register.csv",
    ],
    "check": [
        f"{SAFE},birth_date --qi zip,sex,education,city --sensitive diagnosis {MASKED}",
        "sample -n 50 -o exports/people.csv",
        f"anonymize people.csv -o sqlite:///clinic.db?table=visits --qi sex {IDENTIFIERS},birth_date,zip -k 3",
    ],
    "compare": [
        f"{JOB} -k {k} --save-job {name}.yaml"
        for k, name in (
            (3, "careful"),
            (4, "daring"),
            (5, "k5"),
            (10, "k10"),
            (20, "k20"),
            (5, "jobs/a"),
            (6, "jobs/b"),
        )
    ],
    "find": [
        f"{SAFE} --qi birth_date,sex,zip {MASKED} --mapping mapping.json --save-job job.yaml",
        VISITS,
        SAFE_VISITS,
    ],
    "hierarchy check": ["hierarchy make people.csv --column zip -o zip.csv"],
    "hierarchy show": ["hierarchy make people.csv --column zip -o zip.csv"],
    "info": ["sample -n 400 -o people.parquet"],
    "risk": [
        f"{SAFE} --qi birth_date,sex,zip --hierarchy 'birth_date=dates(year, decade)' {MASKED} --mapping mapping.json",
        VISITS,
    ],
    "utility": [
        f"{SAFE} --qi birth_date,sex,zip {MASKED} --mapping mapping.json --save-job job.yaml",
        "sample -n 400 --seed 2 -o others.csv",
    ],
}
"""What makes the files that the examples of a command name."""
MAY_SAY_NO = ("attack", "audit", "check")
"""An audit that finds a promise broken ends with 5, and so do checks and attacks that exceed a limit."""


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, command in group.commands.items():
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


def examples(text: str) -> list[str]:
    """Return the commands of an epilog, those of several lines as one, without what is said about them."""
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    return [line.strip().split("   ")[0] for line in lines if line.startswith("  discreet ")]


COMMANDS = {" ".join(path): command for path, command in commands(program)}


@pytest.mark.parametrize("name", COMMANDS)
def test_examples(name: str, folder: Path) -> None:
    (folder / "jobs").mkdir()
    (folder / "exports").mkdir()
    (folder / "policy.yaml").write_text("quasi_identifiers: [sex]\nprivacy: k(3)\n")
    wanted = examples(COMMANDS[name].epilog or "")
    assert wanted
    for line in BEFORE.get(name, []):
        assert run(line)[0] == 0, run(line)
    for line in wanted:
        if line.startswith("discreet studio"):
            continue
        code, output = run(line.removeprefix("discreet ").replace("-n 10000000", "-n 500"))
        assert code in ((0, 5) if name in MAY_SAY_NO else (0,)), f"{line}\n{output}"


def run(line: str) -> tuple[int, str]:
    words = []
    for word in shlex.split(line):
        words += sorted(map(str, Path().glob(word))) if "*" in word[1:] else [word]
    result = CliRunner().invoke(program, words)
    return result.exit_code, result.output
