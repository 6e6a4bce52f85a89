"""The counts and examples of the paper on six schemes (Li and Li, DKE 2008), its setting on Adult, and its study."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import discreet as dc
from discreet.engines import count, open_source
from discreet.problem import SCHEMES, Problem
from discreet.schema import Schema
from discreet.solve import solve

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
WORK_CLASS = [
    ("State-gov", "Government", "*"),
    ("Local-gov", "Government", "*"),
    ("Federal-gov", "Government", "*"),
    ("Private", "Private sector", "*"),
    ("Inc", "Self-employed", "*"),
    ("Not-inc", "Self-employed", "*"),
    ("Without-pay", "Unemployed", "*"),
    ("Never-worked", "Unemployed", "*"),
]
"""The tree of Fig. 1, with a node above Private and the eight values in the order of 2.4.1."""
VALUES = [row[0] for row in WORK_CLASS]
SPACES = {
    "full-domain": (3, 3),
    "subtree": (9, 17),
    "guided-ordered": (40, 40),
    "guided-set": (67, 67),
    "ordered": (128, 128),
    "set": (4140, 4140),
}
"""Scheme -> partitions of the eight values, and the number as the paper counts."""
SOLVERS = [
    "partitions",
    "partitions(bounds=paper, direction=bottom-up)",
    "partitions(bounds=paper, direction=top-down)",
]


def work_class(rows, tree=WORK_CLASS):
    """The count table of some numbers of rows by value."""
    frame = pl.DataFrame({"work-class": [value for value, number in rows.items() for _ in range(number)]})
    source = open_source(frame)
    return count(
        source, Schema.make(source.columns, quasi_identifiers={"work-class": dc.Hierarchy.from_rows(tree)})
    ).table


def one_block(*values):
    """The partition with some values in one block and all others alone."""
    together = tuple(sorted(VALUES.index(value) for value in values))
    return tuple(sorted([together, *((leaf,) for leaf in range(len(VALUES)) if leaf not in together)]))


@pytest.mark.parametrize("solver", SOLVERS)
def test_partitions_of_the_work_class_tree(solver):
    table = work_class(dict.fromkeys(VALUES, 1))
    for scheme, (distinct, formal) in SPACES.items():
        found = solve(Problem.build(table, privacy="k(2)", cost="DM", scheme=scheme), solver)
        assert found.status == "optimal"
        assert found.stats["space"] == distinct
        assert found.stats["formal_space"] == formal


@pytest.mark.parametrize(
    ("values", "allowed"),
    [
        (["Without-pay", "Never-worked"], {"subtree", "guided-ordered", "guided-set", "ordered", "set"}),
        (["State-gov", "Local-gov"], {"guided-ordered", "guided-set", "ordered", "set"}),
        (["State-gov", "Federal-gov"], {"guided-set", "set"}),
        (["Federal-gov", "Private"], {"ordered", "set"}),
        (["State-gov", "Private"], {"set"}),
        (["State-gov", "Local-gov", "Federal-gov", "Private"], {"guided-ordered", "guided-set", "ordered", "set"}),
        (["Private", "Without-pay", "Never-worked"], {"guided-set", "set"}),
        (["Private", "Without-pay"], {"set"}),
    ],
)
def test_blocks_of_the_text(values, allowed):
    attribute = work_class(dict.fromkeys(VALUES, 1)).attributes[0]
    schemes = {name: SCHEMES.make(name) for name in SPACES}
    assert {name for name, scheme in schemes.items() if scheme.allows(attribute, one_block(*values))} == allowed


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("scheme", ["subtree", "guided-ordered", "guided-set", "ordered", "set"])
def test_hdm_of_section_4(scheme, solver):
    """Of 1,000 rows 50 are Inc, at 4/19 each as Self-employed, and 200 Not-inc, at 1/16."""
    table = work_class({"Private": 750, "Inc": 50, "Not-inc": 200}, WORK_CLASS[3:6])
    found = solve(Problem.build(table, privacy="k(51)", cost="HDM", suppression="none", scheme=scheme), solver)
    assert found.status == "optimal"
    assert found.cost == pytest.approx(50 * 4 / 19 + 200 / 16)


@pytest.fixture
def script(monkeypatch):
    """The study as a module."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    monkeypatch.syspath_prepend(BENCHMARKS / "papers")
    import towards_optimal_k_anonymization

    return towards_optimal_k_anonymization


@pytest.fixture
def four(script, data_folder):
    """Age in 15 intervals, marital-status, race and sex of Adult."""
    subject = script.adult(data_folder)
    if subject is None:
        pytest.skip("Adult or its ages are not here; set DISCREET_DATA to the folder that holds them")
    table = subject.first()
    assert (table.n, table.attributes[0].leaves, table.tuples) == (30_162, 15, 523)
    return table


@pytest.mark.parametrize(
    ("scheme", "cost", "kind", "optimum"),
    [
        ("full-domain", "DM", "class-records", 31_023_672),
        ("guided-ordered", "DM", "class-records", 24_837_597),
        ("ordered", "DM", "class-records", 24_819_665),
        ("guided-ordered", "HDM", "none", 307.575989),
        ("ordered", "HDM", "none", 302.125471),
    ],
)
def test_optima_of_adult(four, scheme, cost, kind, optimum):
    problem = Problem.build(four, privacy="k(5)", cost=cost, suppression=kind, scheme=scheme)
    for solver in (SOLVERS[0], SOLVERS[1]):
        found = solve(problem, solver)
        assert found.status == "optimal"
        assert found.cost == pytest.approx(optimum, rel=1e-8)


@pytest.fixture
def study(script):
    """A study of few made-up people, which takes next to no time."""
    return script.Study((script.made_up(300).coarser(4),), quick=True, patience=0.05, limit=0.1)


@pytest.mark.deep
def test_every_part_runs(script, study, tmp_path, capsys):
    whole = script.conduct(script.run_parts(study, ()), tmp_path, quick=True)
    assert len(whole.findings) > len(script.PARTS)
    assert {finding.holds for finding in whole.findings} <= {True, False, None}
    record = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert len(record["findings"]) == len(whole.findings)
    assert len({chart.title for chart in whole.charts}) == len(whole.charts)
    printed = capsys.readouterr().out
    assert all(finding.verdict in printed for finding in whole.findings)


def test_optima_are_ordered(script, study):
    part = script.quality(study)
    ordered = next(finding for finding in part.findings if finding.place == "2.4")
    assert ordered.holds


def test_variants(script):
    people = script.made_up(300)
    attribute = people.first().attributes[0]
    assert people.columns[:4] == ("age", "marital_status", "children", "sex")
    assert people.coarser(2).first().attributes[0].leaves == (attribute.leaves + 1) // 2
    years = people.frame["age"].n_unique()
    assert people.single_years().first(2).attributes[0].leaves == years
    assert len(people.first(2).attributes) == 2


def test_without_adult_it_takes_made_up_people(script, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("DISCREET_DATA", str(tmp_path))
    assert [subject.name for subject in script.tables(tmp_path, None)] == ["made-up people"]
    monkeypatch.setattr("sys.argv", ["towards_optimal_k_anonymization.py", "--table", "adult"])
    assert script.main() == 1
    assert "DISCREET_DATA" in capsys.readouterr().err
