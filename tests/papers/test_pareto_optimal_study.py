"""The study of Pareto-optimal k-anonymization runs, on made-up people, and finds what is known of Adult."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch):
    """The script as a module."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    monkeypatch.syspath_prepend(BENCHMARKS / "papers")
    import pareto_optimal_k_anonymization

    return pareto_optimal_k_anonymization


@pytest.fixture
def study(script, monkeypatch, tmp_path):
    """A study of made-up people, with few quasi-identifiers."""
    monkeypatch.setenv("DISCREET_DATA", str(tmp_path))
    made_up = script.main_dataset(script.Settings(quick=True, scratch=tmp_path))
    whole = script.study_of(made_up, quick=True)
    assert whole.name == "made-up people"
    columns = ("sex", "education", "children", made_up.label)
    trees = {column: made_up.trees[column] for column in columns}
    return script.Study(whole.name, made_up.frame.select(columns).head(2000), trees, made_up.label, quick=True)


def test_every_part_runs(script, study, tmp_path, capsys):
    whole = script.conduct(script.run_parts(study, ()), tmp_path / "out", quick=True)
    assert len(whole.findings) > len(script.PARTS)
    assert {finding.holds for finding in whole.findings} <= {True, False}
    record = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert len(record["findings"]) == len(whole.findings)
    assert len({chart.title for chart in whole.charts}) == len(whole.charts)
    printed = capsys.readouterr().out
    assert all(finding.verdict in printed for finding in whole.findings)
    exact = next(finding for finding in whole.findings if finding.place == "beyond the paper")
    assert exact.holds


def test_lattices(study):
    assert study.columns[-1] == study.label
    assert len(study.case("LM").problem.table.attributes) == 4
    labelled = study.case("CM").problem.table
    assert (len(labelled.attributes), labelled.labels.name) == (3, study.label)
    assert study.case("DM", 2).problem.limit == 20
    assert study.case("DM", 2) is study.case("DM", 2)


def test_adult(script, adult):
    """Shares of the nodes that are evaluated, and the points POkA misses, the end at k = 1 among them."""
    study = script.study_of(script.main_dataset(script.Settings(quick=False, scratch=Path())), quick=False)
    known = {"LM": (12_960, 29, 0.07, 2), "DM": (12_960, 19, 0.2, 7), "CM": (6_480, 18, 0.28, 17)}
    for cost, (space, points, share, missed) in known.items():
        case = study.case(cost)
        assert case.problem.limit == 301
        front = case.exact.front
        assert (front.space, len(front.points)) == (space, points)
        assert front.complete
        assert front.examined < share * space
        assert len(case.compared().missed) == missed
