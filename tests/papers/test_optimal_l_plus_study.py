"""The pieces of the study of optimal l+-diversity run, on made-up people."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def study(monkeypatch):
    """The script as a module, and a study of a small table."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    monkeypatch.syspath_prepend(BENCHMARKS / "papers")
    import optimal_l_plus_diversity as script
    from l_plus.runs import Study
    from l_plus.tables import made_up

    base = made_up(400)
    return script, Study(base, {"base": base, "reduced": base.top_two(("education",))}, quick=True)


def test_every_part_runs(study, tmp_path, capsys):
    script, made_up = study
    names = tuple(script.Parts(made_up).named)
    whole = script.conduct(script.Parts(made_up).run(names), tmp_path, quick=True)
    assert len(whole.findings) > len(names)
    assert {finding.holds for finding in whole.findings} <= {True, False, None}
    record = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert len(record["findings"]) == len(whole.findings)
    printed = capsys.readouterr().out
    assert all(finding.verdict in printed for finding in whole.findings)


def test_optima_are_not_above_incognito(study):
    script, made_up = study
    found, _ = script.all_optima(made_up)
    assert all(each.optimal for each in found.values())
    part = script.incognito(made_up, found)
    assert all(finding.holds for finding in part.findings)


def test_variants(study):
    _, made_up = study
    rows = made_up.base.frame.height
    larger = made_up.base.amplified(rows + 150)
    assert larger.frame.height == rows + 150
    assert larger.frame.head(rows).equals(made_up.base.frame)
    assert larger.frame.equals(made_up.base.amplified(rows + 150).frame)
    first = made_up.base.first(2)
    assert list(first.hierarchies) == list(made_up.base.hierarchies)[:2]
    assert made_up.variants["reduced"].hierarchies["education"].height == 1


def test_without_adult_it_says_so(study, monkeypatch, tmp_path, capsys):
    script, _ = study
    monkeypatch.setenv("DISCREET_DATA", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["optimal_l_plus_diversity.py", "--quick"])
    assert script.main() == 1
    assert "DISCREET_DATA" in capsys.readouterr().err
