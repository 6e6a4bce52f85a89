"""The study of utility-based local recoding (KDD 2006) runs on few made-up people, and finds what is known on Adult."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch):
    """The study as a module."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    monkeypatch.syspath_prepend(BENCHMARKS / "papers")
    import utility_based_local_recoding

    return utility_based_local_recoding


def test_every_part_runs(script, tmp_path, capsys):
    study = script.Study(script.made_up(400), True, 200, 20, (2, 10), (2, 4), (100, 200))
    whole = script.conduct(script.run_parts(study, ()), tmp_path, quick=True)
    assert len(whole.findings) > len(script.PARTS)
    assert all(finding.holds for finding in whole.findings if "k-anonymous" in finding.claim)
    record = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert len(record["findings"]) == len(whole.findings)
    assert len({chart.title for chart in whole.charts}) == len(whole.charts)
    assert {f"Fig. {number}" for number in range(6, 14)} <= {chart.title.split(",")[0] for chart in whole.charts}
    printed = capsys.readouterr().out
    assert all(finding.verdict in printed for finding in whole.findings)


def test_synthetic_tables(script):
    from utility.tables import SYNTHETIC

    for make in SYNTHETIC.values():
        table = make(500, 3)
        assert table.frame.shape == (500, 3)
        assert min(table.frame.min().row(0)) >= 1
        assert max(table.frame.max().row(0)) <= 16
        assert table.frame.equals(make(500, 3).frame)
        assert table.first(2).frame.columns == ["A1", "A2"]


def test_without_adult_it_takes_made_up_people(script, tmp_path):
    assert script.study_of(tmp_path, quick=True).real.name == "made-up people"


def test_penalty_and_errors_on_adult(script, data_folder):
    subject = script.adult(data_folder)
    if subject is None:
        pytest.skip("Adult is not here; set DISCREET_DATA to the folder that holds it")
    assert subject.frame.shape == (30_162, 8)
    multidim, top_down = (script.run(subject, method, 10) for method in ("MultiDim", "top-down"))
    assert multidim.penalty < 1.05 * 43_391
    assert top_down.penalty < 1.05 * 20_157
    assert top_down.discernibility < multidim.discernibility
    assert top_down.ask(100).mean < multidim.ask(100).mean
