"""The study of the user-oriented mechanism runs on few made-up people, and finds what is known on Adult."""

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
    import user_oriented_anonymization

    return user_oriented_anonymization


def test_every_part_runs(script, tmp_path, capsys):
    study = script.Study([script.made_up(300)], ["Adult"], ("k = 2, l = 2", "k = 2, t = 0.9"), repeat=1, patience=2.0)
    whole = script.conduct(script.run_parts(study, ()), tmp_path, quick=True)
    assert len(whole.findings) > len(script.PARTS)
    held = {finding.claim: finding.holds for finding in whole.findings}
    assert held["every release keeps its promises (made-up people)"]
    assert held["the times of Adult"] is None
    record = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert len(record["findings"]) == len(whole.findings)
    printed = capsys.readouterr().out
    assert all(finding.verdict in printed for finding in whole.findings)
    for case in study.known.values():
        assert case.reached <= case.optimum + 1e-9
        assert case.partial >= case.reached - 1e-9
        assert case.release.score == pytest.approx(case.partial)


def test_without_data_it_takes_made_up_people(script, tmp_path):
    study = script.study_of(tmp_path, quick=False)
    assert [subject.name for subject in study.subjects] == ["made-up people"]
    assert study.missing == ["Adult", "Census-Income"]


def test_adult(script, data_folder):
    """Adult as the paper has it; the mechanism ends below the optimum with the score eta."""
    study = script.study_of(data_folder, quick=True)
    if study.missing:
        pytest.skip("Adult is not here; set DISCREET_DATA to the folder that holds it")
    (subject,) = study.subjects
    assert (subject.counted.n, len(subject.counted.attributes)) == (32_561, 13)
    assert "?" in subject.hierarchies["workclass"].leaves
    case = script.replace(study, repeat=1).case(subject, "k = 2, l = 2", "eta")
    assert (case.reached, case.optimum, case.best.status) == (4, 20, "optimal")
    assert case.partial > case.optimum
    assert case.release.audit.passed
