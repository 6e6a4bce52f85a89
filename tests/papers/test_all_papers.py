"""One page about all five papers: counted, with every statement, chart and figure, and readable without a network."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
FIRST = "pareto_optimal_k_anonymization"


@pytest.fixture
def page(monkeypatch):
    """The module that writes the page."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    monkeypatch.syspath_prepend(BENCHMARKS / "papers")
    import page

    return page


@pytest.fixture
def results(page, tmp_path):
    """What one study found."""
    from harness import BEYOND, Chart, Finding, Part, Row

    part = Part(
        rows=[Row("Table 3", "depth 1", {"nodes": 1234, "share": 0.25}), Row("Table 3", "", note="One <core>.")],
        findings=[
            Finding("6", "a & b hold", True, "in 3 of 3 cases"),
            Finding("abstract", "found by evaluating only 20 % of the nodes", False, "it does not"),
            Finding("7", "d does", None, "no table"),
            Finding(BEYOND, "it is fast", True, "0.1 s"),
        ],
        charts=[
            Chart("Fig. 4", "k", "loss", {"all nodes": ([1, 2, 9], [3, 2, 1]), "front": ([1, 9], [2, 1])}, log="xy"),
            Chart("Fig. 5", "left out", "nodes", {"a": ([0, 1], [5.0, None])}, log="y", ticks=("all", "none")),
            Chart("Fig. 6", "k", "loss", {"p, old": ([1, 2], [0, 0]), "p, new": ([1, 2], [0, 1])}, steps=True),
            Chart("Fig. 7", "k", "loss", {"nothing": ([0], [-1])}, log="xy"),
        ],
    )
    folder = tmp_path / FIRST
    folder.mkdir()
    record = {"date": "2026-01-02T03:04:05", "discreet": "1", "machine": "a machine", "quick": True, **asdict(part)}
    (folder / "results.json").write_text(json.dumps(record, default=float), encoding="utf-8")
    return tmp_path


def test_everything_is_on_the_page(page, results):
    text = page.written(results, {FIRST: page.Outcome(90.0, 0)}).read_text(encoding="utf-8")
    assert "2026-01-02, discreet 1: a quick run" in text
    (line,) = re.findall(rf'<tr><th><a href="#{FIRST}">.*?</tr>', text)
    assert re.findall("<td>(.*?)</td>", line) == ["1", "1", "2", "1", "1 of 1", "1.5"]
    assert text.count("has not been run") == len(page.PAPERS) - 1
    for words in (
        "a &amp; b hold",
        "not reproduced",
        "not checked",
        "it does not",
        "hierarchies, which are not printed",
        "1,234",
        "One &lt;core&gt;.",
    ):
        assert words in text
    assert text.count("<svg") == 4
    assert "nothing to draw" in text
    assert not re.findall(r"(?:src|href)=\"(?!#|data:)", text)
    assert "prefers-color-scheme: dark" in text


def test_a_study_that_failed_is_named(page, results):
    outcomes = {FIRST: page.Outcome(1.0, 0), "utility_based_local_recoding": page.Outcome(2.0, 1)}
    text = page.written(results, outcomes).read_text(encoding="utf-8")
    assert text.count("did not end well") == 1


def test_all_studies_are_run_one_after_the_other(page, results, monkeypatch, capsys):
    import subprocess
    import sys

    import all_papers

    commands = []

    def run(command, check):
        commands.append(command)
        return subprocess.CompletedProcess(command, 3 if "utility" in command[1] else 0)

    monkeypatch.setattr(all_papers.subprocess, "run", run)
    monkeypatch.setattr(sys, "argv", ["all_papers.py", "--quick", "--output", str(results)])
    assert all_papers.main() == 1
    assert [Path(command[1]).stem for command in commands] == list(page.PAPERS)
    assert all(Path(command[1]).is_file() and command[-1] == "--quick" for command in commands)
    assert "index.html" in capsys.readouterr().out
    record = json.loads((results / "runs.json").read_text(encoding="utf-8"))
    assert [each["code"] for each in record.values()].count(3) == 1
    monkeypatch.setattr(sys, "argv", ["all_papers.py", "--page-only", "--output", str(results)])
    assert all_papers.main() == 1
