"""What goes wrong: one line on stderr, the right exit code, no value of the data, nothing left behind."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import discreet
from discreet.cli import program
from discreet.cli._options import spell_as_option
from discreet.errors import Argument

pytestmark = pytest.mark.usefixtures("columns_kept")

Run = Callable[..., Result]

OK = ("--qi", "sex,education", "-k", "5", "-o", "safe.csv")
INPUT = ("anonymize", "people.csv")

CASES: dict[str, tuple[tuple[str, ...], int, str]] = {
    "no such command": (("anonymise",), 2, "No such command 'anonymise'"),
    "no such option": ((*INPUT, *OK, "--qqi", "a"), 2, "No such option"),
    "no input": (("anonymize",), 2, "Missing argument 'INPUT'"),
    "no qi": ((*INPUT, "-k", "5", "-o", "safe.csv"), 2, "Name them with --qi"),
    "no privacy": ((*INPUT, "--qi", "sex", "-o", "safe.csv"), 2, "Name a privacy model, as in -k 5"),
    "no output": ((*INPUT, "--qi", "sex", "-k", "5"), 2, "Name a file with -o"),
    "k of zero": ((*INPUT, "--qi", "sex", "-k", "0", "-o", "safe.csv"), 2, "at least 1"),
    "negative k": ((*INPUT, "--qi", "sex", "-k", "-1", "-o", "safe.csv"), 2, "at least 1"),
    "broken k": ((*INPUT, "--qi", "sex", "-k", "1.5", "-o", "safe.csv"), 2, "whole number"),
    "k of words": ((*INPUT, "--qi", "sex", "-k", "five", "-o", "safe.csv"), 2, "whole number"),
    "k too large": ((*INPUT, "--qi", "sex", "-k", "601", "-o", "safe.csv"), 4, "the whole table has 600"),
    "l without sensitive": ((*INPUT, *OK, "-l", "3"), 2, "name it with --sensitive"),
    "unknown model": ((*INPUT, *OK, "--privacy", "kk(3)"), 2, "There is no privacy model 'kk'"),
    "unknown cost": ((*INPUT, *OK, "--cost", "LMM"), 2, "did you mean 'LM'?"),
    "unknown suppression": ((*INPUT, *OK, "--suppression", "bugdet(5)"), 2, "did you mean 'budget'?"),
    "unknown scheme": ((*INPUT, *OK, "--scheme", "fulldomain"), 2, "did you mean 'full-domain'?"),
    "unknown solver": ((*INPUT, *OK, "--solver", "magic"), 2, "There is no solver 'magic'"),
    "unknown missing": ((*INPUT, *OK, "--missing", "drop"), 2, "--missing"),
    "unknown type": ((*INPUT, *OK, "--type", "sex=txt"), 2, "did you mean 'text'?"),
    "cost of another scheme": ((*INPUT, *OK, "--scheme", "set", "--cost", "precision"), 2, "does not go with"),
    "schemes not solved": ((*INPUT, *OK, "--scheme", "sex=local"), 2, "does not go with"),
    "scheme of another column": ((*INPUT, *OK, "--scheme", "zip=set"), 2, "which is not in --qi"),
    "two schemes": ((*INPUT, *OK, "--scheme", "set", "--scheme", "subtree"), 2, "given twice"),
    "cost without weights": ((*INPUT, *OK, "--cost", "DM", "--weight", "sex=2"), 2, "wrong arguments"),
    "weight of words": ((*INPUT, *OK, "--weight", "sex=much"), 2, "must be a number"),
    "weight of another column": ((*INPUT, *OK, "--weight", "zip=2"), 2, "not a quasi-identifier"),
    "level too high": ((*INPUT, *OK, "--min-level", "sex=9"), 2, "levels 0 to"),
    "level of words": ((*INPUT, *OK, "--min-level", "sex=top"), 2, "whole number"),
    "hierarchy without name": ((*INPUT, *OK, "--hierarchy", "flat"), 2, "NAME=VALUE"),
    "hierarchy of another column": ((*INPUT, *OK, "--hierarchy", "zip=flat"), 2, "neither in --qi nor"),
    "unknown hierarchy": ((*INPUT, *OK, "--hierarchy", "sex=flatt"), 2, "did you mean 'flat'?"),
    "no hierarchy file": ((*INPUT, *OK, "--hierarchy", "sex=no.csv"), 3, "There is no hierarchy file"),
    "no hierarchy folder": ((*INPUT, *OK, "--hierarchies", "no"), 3, "there is no folder 'no'"),
    "hierarchy lacks values": (
        (*INPUT, *OK, "--hierarchy", "sex=groups([male])"),
        3,
        "Column 'sex': 1 of its 2",
    ),
    "no time": ((*INPUT, *OK, "--time-limit", "0"), 2, "--time-limit"),
    "negative seed": ((*INPUT, *OK, "--seed", "-1"), 2, "--seed"),
    "no such file": (("anonymize", "no.csv", *OK), 3, "There is no file 'no.csv'"),
    "no such format": (("anonymize", "people.doc", *OK), 3, "did you mean 'people.csv'?"),
    "no such column": ((*INPUT, "--qi", "sexx", "-k", "5", "-o", "s.csv"), 3, "did you mean 'sex'?"),
    "column twice": ((*INPUT, *OK, "--qi", "sex"), 2, "names the column 'sex' twice"),
    "two roles": ((*INPUT, *OK, "--sensitive", "sex"), 2, "cannot be both"),
    "missing refused": ((*INPUT, *OK, "--missing", "error"), 3, "has missing values"),
    "no release possible": (
        (*INPUT, "--qi", "education", "-k", "5", "-o", "safe.csv", "--max-level", "education=0"),
        4,
        "No recoding keeps k(5)",
    ),
    "output is the input": ((*INPUT, "--qi", "sex", "-k", "5", "-o", "people.csv"), 6, "is the input itself"),
    "no output folder": ((*INPUT, "--qi", "sex", "-k", "5", "-o", "no/safe.csv"), 6, "There is no folder"),
    "output is a folder": ((*INPUT, "--qi", "sex", "-k", "5", "-o", "sub.csv"), 6, "is a folder"),
    "report is no report": ((*INPUT, *OK, "--report", "r.doc"), 2, "A report cannot be written as 'r.doc'"),
    "report over output": (
        (*INPUT, "--qi", "sex", "-k", "5", "-o", "s.jsonl", "--report", "no/r.txt"),
        6,
        "no folder",
    ),
    "job in no folder": ((*INPUT, *OK, "--save-job", "no/job.yaml"), 6, "There is no folder"),
    "no such job": (("run", "no.yaml"), 3, "There is no job file 'no.yaml'; check the path."),
    "audit of no file": (("audit", "no.csv", "--qi", "sex", "-k", "5"), 3, "There is no file"),
    "audit without qi": (("audit", "people.csv", "-k", "5"), 2, "Name them with --qi"),
    "audit without privacy": (("audit", "people.csv", "--qi", "sex"), 2, "as in -k 5"),
    "audit of no column": (("audit", "people.csv", "--qi", "six", "-k", "5"), 3, "did you mean 'sex'?"),
    "info of no file": (("info", "no.csv"), 3, "There is no file"),
    "sample nowhere": (("sample",), 2, "Missing option '-o'"),
    "sample of nobody knows": (("sample", "-n", "-1", "-o", "x.csv"), 2, "-n"),
    "sample as text": (("sample", "-n", "1", "-o", "x.doc"), 2, "which format"),
    "hierarchy of no column": (
        ("hierarchy", "make", "people.csv", "--column", "s", "-o", "h.csv"),
        3,
        "no column 's'",
    ),
    "hierarchy from a file": (
        ("hierarchy", "make", "people.csv", "--column", "sex", "--with", "people.csv", "-o", "h.csv"),
        3,
        "people.csv",
    ),
    "check without column": (("hierarchy", "check", "people.csv", "--data", "people.csv"), 2, "go together"),
    "show nothing": (("hierarchy", "show", "no.csv"), 3, "There is no hierarchy file"),
}


@pytest.mark.parametrize("case", CASES)
def test_one_line_and_an_exit_code(case: str, run: Run, folder: Path) -> None:
    arguments, code, sentence = CASES[case]
    (folder / "sub.csv").mkdir()
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (code, ""), result.output
    assert sentence in result.stderr
    assert result.stderr.startswith("discreet: ")
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr
    assert {file.name for file in folder.iterdir()} == {"people.csv", "sub.csv"}


@pytest.mark.parametrize("case", ["no such option", "no such column", "no release possible", "no output folder"])
def test_errors_as_json(case: str, run: Run) -> None:
    arguments, code, sentence = CASES[case]
    result = run(*arguments, "--json")
    data = json.loads(result.stdout)
    assert data["code"] == result.exit_code == code
    assert sentence in data["error"]
    assert result.stderr.startswith("discreet: ")
    assert data.get("column") == ("sexx" if case == "no such column" else None)


@pytest.mark.parametrize("case", [name for name, (arguments, *_) in CASES.items() if arguments[0] == "anonymize"])
def test_dry_runs_find_the_same_errors(case: str, run: Run, folder: Path) -> None:
    arguments, code, sentence = CASES[case]
    (folder / "sub.csv").mkdir()
    result = run(*arguments, "--dry-run")
    only_in_earnest = {"no output", "no release possible"}
    if case in only_in_earnest:
        assert result.exit_code == 0, result.output
    else:
        assert result.exit_code == code, result.output
        assert sentence in result.stderr
    assert {file.name for file in folder.iterdir()} == {"people.csv", "sub.csv"}


def test_arguments_in_messages_are_spelled_as_options_that_there_are() -> None:
    known = {name for command in program.commands.values() for option in command.params for name in option.opts}
    source = Path(discreet.__file__).parent
    named = {name for file in source.rglob("*.py") for name in re.findall(r'Argument\("(\w+)"', file.read_text())}
    assert {"missing", "min_levels", "models", "keep"} <= named
    assert {spell_as_option(Argument(name)) for name in named} <= known


def fails(error: BaseException) -> Callable[..., None]:
    def execute(*arguments: object, **options: object) -> None:
        raise error

    return execute


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (KeyError("Mrs Miller, flu"), 1, "an unexpected KeyError; set DISCREET_DEBUG=1"),
        (MemoryError(), 1, "the memory of this machine"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_the_unexpected(
    error: BaseException, code: int, sentence: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discreet.cli.anonymize.execute", fails(error))
    result = run(*INPUT, *OK)
    assert (result.exit_code, result.stdout) == (code, "")
    assert sentence in result.stderr
    assert "Miller" not in result.output
    assert result.stderr.strip().count("\n") == 0


def test_the_unexpected_in_full(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_DEBUG", "1")
    monkeypatch.setattr("discreet.cli.anonymize.execute", fails(KeyError("where")))
    result = run(*INPUT, *OK)
    assert result.exit_code == 1
    assert "Traceback" in result.stderr


@pytest.mark.parametrize("option", ["--cost", "--suppression", "--solver", "--seed", "--time-limit"])
def test_an_option_given_twice(run: Run, option: str) -> None:
    result = run("anonymize", "people.csv", "--qi", "sex", "-k", "5", option, "1", option, "2", "-o", "safe.csv")
    assert result.exit_code == 2
    assert f"{option} is given twice" in result.stderr
