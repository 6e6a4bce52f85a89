"""What a terminal shows: grouped help, whole words, colours where they are wanted, and completion."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner, Result

import discreet
from discreet.cli import program
from discreet.cli._terminal import coloured, wants_colour, wrapped

Run = Callable[..., Result]


def help_of(*command: str, width: int = 80) -> str:
    return CliRunner().invoke(program, [*command, "--help"], terminal_width=width).stdout


@pytest.mark.parametrize("command", ["anonymize", "pareto", "audit", "risk"])
def test_options_are_in_groups(command: str) -> None:
    titles = [line[:-1] for line in help_of(command).splitlines() if line[:1].isalpha() and line.endswith(":")]
    assert titles == ["Table", "Roles", "Privacy", "Quality", "Output", "Help"]


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("command", list(program.commands))
def test_help_breaks_no_word(command: str, width: int) -> None:
    lines = help_of(command, width=width).splitlines()
    assert not [line for line in lines if line.endswith("-") and not line.endswith(" -")]
    told = " ".join(" ".join(lines).replace("\\", " ").split())
    for option in program.commands[command].params:
        text = getattr(option, "help", None)
        if text and len(text) < 40:
            assert " ".join(text.split()) in told


def test_long_lines_end_between_words_and_are_indented_like_their_text() -> None:
    long = "note: " + " ".join(["violating-records"] * 12)
    lines = wrapped(f"verdict         caution: {'word ' * 30}\n{long}", 60).splitlines()
    assert max(map(len, lines)) <= 60
    assert {line[:16].strip() for line in lines if "word" in line} == {"verdict", ""}
    assert all(line.startswith(("note: ", "      ")) for line in lines if "violating" in line)
    assert wrapped("x" * 300, 40) == "x" * 300


def test_colours() -> None:
    text = coloured(
        "verdict         danger: no\n                ok: yes\nk(3)            kept, reached 3\naudit  FAILED"
    )
    assert "\x1b[31m\x1b[1mdanger" in text
    assert "\x1b[32m\x1b[1mok" in text
    assert "\x1b[32m\x1b[1mkept" in text
    assert "\x1b[31m\x1b[1mFAILED" in text


@pytest.mark.parametrize(
    ("environment", "terminal", "wanted"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"TERM": "dumb"}, True, False),
    ],
)
def test_who_wants_colours(
    environment: dict[str, str], terminal: bool, wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert wants_colour(terminal) is wanted


def completions(words: list[str], incomplete: str) -> list[str]:
    found = ShellComplete(program, {}, "discreet", "_DISCREET_COMPLETE").get_completions(words, incomplete)
    return [item.type if item.type != "plain" else item.value for item in found]


def test_what_is_completed(folder: Path) -> None:
    assert completions([], "anon") == ["anonymize"]
    assert completions(["anonymize"], "peo") == ["file"]
    assert "--quasi-identifiers" in completions(["anonymize", "people.csv"], "--q")
    assert completions(["anonymize", "people.csv", "--qi"], "se") == ["sex"]
    assert completions(["anonymize", "people.csv", "--qi"], "sex,zi") == ["sex,zip"]
    assert completions(["anonymize", "none.csv", "--qi"], "se") == []
    assert "budget(0.05)" in completions(["anonymize", "people.csv", "--suppression"], "bud")
    assert completions(["anonymize", "people.csv", "--scheme"], "sub") == ["subtree"]
    assert completions(["anonymize", "people.csv", "--scheme"], "be") == ["best"]
    assert completions(["anonymize", "people.csv", "--scheme"], "sex=sub") == ["sex=subtree"]
    assert completions(["anonymize", "people.csv", "--scheme"], "sex=be") == []
    assert completions(["anonymize", "people.csv", "--solver"], "au") == ["auto"]
    assert "lattice" in completions(["anonymize", "people.csv", "--solver"], "lat")
    assert completions(["attack", "people.csv", "safe.csv", "--profile"], "ema") == ["ema-0070"]
    assert completions(["explain"], "output-e") == ["output-exists"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts(shell: str, run: Run) -> None:
    result = run("completion", shell)
    assert result.exit_code == 0
    assert "_DISCREET_COMPLETE" in result.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes(folder: Path, tmp_path: Path) -> None:
    folder = folder / "bin"
    folder.mkdir()
    (folder / "discreet").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m discreet "$@"\n')
    (folder / "discreet").chmod(0o755)
    script = (
        'eval "$(discreet completion bash)"\n'
        "COMP_WORDS=(discreet anonymize people.csv --qi sex,zi); COMP_CWORD=4\n"
        '_discreet_completion discreet\necho "${COMPREPLY[@]}"\n'
    )
    source = str(Path(discreet.__file__).parents[1])
    path = os.pathsep.join([str(folder), os.environ["PATH"]])
    result = subprocess.run(
        ["bash", "--norc", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PATH": path, "PYTHONPATH": source},
    )
    assert result.stdout == "sex,zip\n", result.stderr


def test_the_spinner_names_the_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.cli._watch import Watch
    from discreet.pipeline.clock import Clock

    said: list[str] = []

    class Status:
        def start(self) -> None: ...
        def stop(self) -> None: ...
        def update(self, text: str) -> None:
            said.append(text)

    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr("rich.console.Console.status", lambda *_: Status())
    with Watch(quiet=False):
        for stage in ("count", "audit"):
            with Clock()(stage):
                pass
    with Clock()("read"):
        pass
    assert said == ["counting who looks the same …", "auditing what was written …"]


OK = ("anonymize", "people.csv", "--qi", "sex", "-k", "5", "-o", "safe.csv")


@pytest.mark.usefixtures("columns_kept")
@pytest.mark.parametrize("share", ["5%", "5 %", "0.05", ".05"])
def test_a_share_alone_is_a_budget(share: str, run: Run) -> None:
    import json

    data = json.loads(run(*OK, "--suppression", share, "--json").stdout)
    assert data["job"]["suppression"] == f"budget({share})"


@pytest.mark.usefixtures("columns_kept")
def test_replacing_is_said_and_can_be_refused(run: Run, folder: Path) -> None:
    first = run(*OK)
    assert "The release is in safe.csv.\n" in first.stdout
    before = (folder / "safe.csv").read_bytes()
    refused = run(*OK, "--no-overwrite", "--report", "report.json")
    assert (refused.exit_code, refused.stdout) == (6, "")
    assert "'safe.csv' exists already" in refused.stderr
    assert (folder / "safe.csv").read_bytes() == before
    assert not (folder / "report.json").exists()
    assert "The release is in safe.csv, in place of what was there.\n" in run(*OK).stdout
    assert run(*OK[:-1], "new.csv", "--no-overwrite", "--save-job", "job.yaml").exit_code == 0
    assert "overwrite: false" in (folder / "job.yaml").read_text()
    assert run("run", "job.yaml").exit_code == 6
    (folder / "new.csv").unlink()
    assert run("run", "job.yaml").exit_code == 0


def test_python_refuses_to_replace(folder: Path) -> None:
    import polars as pl

    import discreet as dc

    table = pl.DataFrame({"age": [31, 34, 38, 39]})
    job: dict[str, Any] = {"quasi_identifiers": {"age": "intervals(10)"}, "privacy": "k(2)"}
    (folder / "old.csv").write_text("what was there")
    with pytest.raises(
        dc.OutputError, match=r"'old.csv' exists already, and nothing may be replaced \(overwrite=False"
    ):
        dc.anonymize(table, **job, output="old.csv", overwrite=False)
    release = dc.anonymize(table, **job, output="new.csv", overwrite=False)
    with pytest.raises(dc.OutputError, match="exists already"):
        release.write("old.csv", overwrite=False)
    with pytest.raises(dc.OutputError, match="exists already"):
        dc.pareto(table, quasi_identifiers=job["quasi_identifiers"]).release(2, output="old.csv", overwrite=False)
    with pytest.raises(dc.OutputError, match="exists already"):
        dc.apply_mapping(release.to_mapping(), table, output="old.csv", overwrite=False)
    assert (folder / "old.csv").read_text() == "what was there"
    release.write("sqlite:///new.db?table=people")
    with pytest.raises(dc.OutputError, match="'people' exists already"):
        release.write("sqlite:///new.db?table=people", overwrite=False)
    release.write("parts/", overwrite=False)
    with pytest.raises(dc.OutputError, match="'parts/' exists already"):
        release.write("parts/", overwrite=False)


def test_an_indented_table_moves_left_rather_than_wrapping() -> None:
    head = f"{'scheme':<25}local, which loses least"
    rows = [
        f"{'':25}{name:<12}  {lost:>11}  {'1 in 35.1':>12}  {24:>8}  optimal"
        for name, lost in (("", "lost"), ("local", "5 %"))
    ]
    assert max(map(len, rows)) > 76
    shown = wrapped("\n".join([head, *rows, "audit  passed"]), 76).split("\n")
    assert shown[0] == head
    assert [row.split() for row in shown[1:3]] == [row.split() for row in rows]
    assert max(map(len, shown)) == 76
    assert shown[1].index("optimal") == shown[2].index("optimal")
    assert wrapped("\n".join(rows), 120).split("\n") == rows


def test_best_is_suggested_on_a_terminal_where_nobody_chose_a_scheme(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = ["age,job", *(f"{20 + row},{'abcd'[row % 4]}" for row in range(40))]
    (folder / "jobs.csv").write_text("\n".join(table))
    arguments = ["anonymize", "jobs.csv", "--qi", "age,job", "-k", "5", "-o", "safe.csv"]

    def printed(*more: str) -> str:
        with pytest.raises(SystemExit):
            program.main([*arguments, *more], prog_name="discreet")
        return capsys.readouterr().out

    assert "--scheme best" not in printed()
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert "--scheme best" in printed()
    assert "--scheme best" not in printed("--scheme", "full-domain")
    assert "--scheme best" not in printed("--quiet")
