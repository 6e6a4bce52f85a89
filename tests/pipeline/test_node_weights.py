"""Weights on nodes of hierarchies, from a table to a release: what they change, and which are refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dc
from discreet.job import Job

WORK = {
    "Public": {"Government": ["State", "Local", "Federal"], "Army": ["Navy", "Air force"]},
    "Private": ["Company", "Self"],
    "None": ["Jobless"],
}
TABLE = pl.DataFrame(
    {
        "work": ["State", "Local", "Federal", "Navy", "Air force", "Company", "Self", "Jobless"],
        "age": [30, 31, 32, 33, 40, 41, 42, 43],
        "sex": ["f", "m"] * 4,
    }
)
QUASI: dict[str, Any] = {"work": dc.groups(WORK), "age": None, "sex": None}


def released(cost: str | dc.Certainty, **settings: Any) -> dc.Release:
    given = {"quasi_identifiers": QUASI, "privacy": "k(2)", "scheme": "local", "seed": 1, **settings}
    return dc.anonymize(TABLE, cost=cost, **given)


def test_groups_keep_away_from_a_heavy_node() -> None:
    """Rows are alike by work or by age: if Government tells too little, groups are made by age."""
    table = pl.DataFrame({"work": ["State", "Local", "Company", "Self"], "age": [30, 70, 30, 70]})
    settings: dict[str, Any] = {
        "quasi_identifiers": {"work": dc.groups(WORK), "age": None},
        "privacy": "k(2)",
        "seed": 1,
    }
    plain, heavy = (
        dc.anonymize(table, scheme="local", cost=dc.Certainty({"age": 0.5}, nodes), **settings)
        for nodes in ({}, {"work": {"Government": 2.6, "Public": 1.6}})
    )
    assert set(plain.frame["work"]) == {"Government", "Private"}
    assert plain.cost == pytest.approx(2 * (3 / 8 + 0.5) + 2 * (2 / 8 + 0.5))
    assert set(heavy.frame["work"]) == {"*"}
    assert heavy.cost == pytest.approx(4)


def test_python_and_text_are_the_same() -> None:
    weights = {"work": {"Government": 2, "Public": 1.5}}
    ours, text = released(dc.Certainty(node_weights=weights)), dc.Certainty(node_weights=weights).text
    assert text == "NCP(node_weights={work: {Government: 2, Public: 1.5}})"
    assert ours.job["cost"] == text
    again = released(text)
    assert (again.cost, again.lower_bound) == (ours.cost, ours.lower_bound)
    assert again.frame.equals(ours.frame)
    weights["work"]["Government"] = 7
    assert ours.job["cost"] == text


def test_numbers_shown_as_nodes_may_have_weights() -> None:
    quasi = {"work": dc.groups(WORK), "age": "intervals(5, 10)"}
    plain, heavy = (
        released(cost, quasi_identifiers=quasi)
        for cost in ("NCP", "NCP(node_weights={age: {'[30, 35)': 2, '[30, 40)': 2, '*': 3}})")
    )
    assert heavy.cost > plain.cost


def test_a_suppressed_row_costs_as_much_as_the_root() -> None:
    settings = {"quasi_identifiers": {"work": dc.groups(WORK)}, "privacy": "k(8)", "suppression": "class-records"}
    for scheme in ("full-domain", "subtree", "local"):
        heavy = released("NCP(node_weights={work: {'*': 3}})", **settings, scheme=scheme)
        assert (heavy.cost, heavy.normalized_cost) == (24, 1)


GROUPS = "work: {{{}}}"
REFUSED = {
    "another column": ("job: {Government: 2}", "node weights for 'job', which is not a quasi-identifier"),
    "no such node": (GROUPS.format("Goverment: 2"), "'Goverment'.*of 'work'.*did you mean 'Government'?"),
    "nothing like it": (GROUPS.format("zzz: 2"), "'zzz', but the hierarchy of 'work' has no such node"),
    "a value": (GROUPS.format("Federal: 2"), "'Federal'.* above two values or more"),
    "a node above one value": (GROUPS.format("None: 2"), "'None'.* above two values or more"),
    "parent too cheap": (
        GROUPS.format("Government: 2"),
        "'Public' of 'work' costs less in NCP than 'Government' below it.*at least 1.2 or 'Government' a smaller",
    ),
    "root too cheap": (GROUPS.format("Public: 2"), r"'\*' of 'work'.* than 'Public'.*at least 1.25"),
    "parent made cheap": (GROUPS.format("Public: 0.25"), "give 'Public' a weight of at least 0.6 or 'Government'"),
    "no hierarchy, number": ("age: {'*': 2}", "node weights for 'age', which has no hierarchy; give it one"),
    "no hierarchy, text": ("sex: {'*': 2}", "node weights for 'sex', which has no hierarchy; give it one"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_weights_that_make_no_sense(case: str) -> None:
    given, message = REFUSED[case]
    with pytest.raises(dc.UsageError, match=message) as caught:
        released(f"NCP(node_weights={{{given}}})")
    assert caught.value.column in ("work", "age", "sex", "job")
    assert caught.value.message.count(". ") == 0
    values = {value for column in TABLE.columns for value in TABLE[column].cast(pl.String)} - {"Federal"}
    assert not values & set(re.findall(r"'([^']*)'", caught.value.message))


@pytest.mark.parametrize(
    "given", ["2", "{work: 2}", "{work: {Public: 0}}", "{work: {Public: -1}}", "{work: {Public: much}}", "[work]"]
)
def test_weights_that_are_none(given: str) -> None:
    with pytest.raises(dc.UsageError, match=r"weights of NCP|weight of 'Public' of 'work'"):
        released(f"NCP(node_weights={given})")


def test_names_must_be_text() -> None:
    with pytest.raises(dc.UsageError, match="must map column names to nodes and numbers"):
        dc.Certainty(node_weights={"work": {3: 2}})  # type: ignore[dict-item]


@pytest.mark.parametrize("scheme", ["full-domain", "subtree", "guided-set"])
def test_numbers_have_no_nodes_in_global_schemes(scheme: str) -> None:
    quasi = {"work": dc.groups(WORK), "age": "intervals(5, 10)"}
    with pytest.raises(dc.UsageError, match=f"'age', whose numbers .* range under the scheme {scheme}"):
        released("NCP(node_weights={age: {'*': 2}})", quasi_identifiers=quasi, scheme=scheme)


@pytest.mark.parametrize("scheme", ["full-domain", "subtree"])
def test_global_schemes(scheme: str) -> None:
    quasi = {"work": dc.groups(WORK), "age": None, "sex": None}
    settings = {"quasi_identifiers": quasi, "scheme": scheme, "suppression": "budget(1)"}
    cost = "NCP(node_weights={work: {Government: 4, Public: 3, '*': 2}})"
    plain, heavy = released("NCP", **settings), released(cost, **settings)
    assert plain.status == heavy.status == "optimal"
    assert heavy.cost > plain.cost


def test_no_weights_are_no_weights() -> None:
    assert dc.Certainty(node_weights={"work": {}}) == dc.Certainty()
    assert dc.Certainty(node_weights={"work": {}}).text == "NCP"


def test_job_files_and_reports(tmp_path: Path) -> None:
    TABLE.write_csv(tmp_path / "people.csv")
    job = Job(
        input="people.csv",
        output="safe.csv",
        quasi_identifiers={"work": WORK, "age": None},
        privacy="k(2)",
        cost="NCP(weights={age: 2}, node_weights={work: {Government: 2, Public: 1.5}})",
        scheme="local",
        seed=1,
        report=["report.json", "report.txt"],
    )
    job._folder = tmp_path
    saved = Job.load(job.save(tmp_path / "job.yaml"))
    assert saved.cost == job.cost
    release = saved.run()
    assert release.audit.passed
    counted = "NCP(weights={age: 2}, node_weights={work: {2 values}})"
    data = json.loads((tmp_path / "report.json").read_text())
    assert data["job"]["cost"] == saved.plan().cost == counted
    assert (
        "node_weights" not in (tmp_path / "report.txt").read_text() or counted in (tmp_path / "report.txt").read_text()
    )
    job.cost = "NCP(node_weights={work: {Govt: 2}})"
    with pytest.raises(dc.UsageError, match="no such node"):
        job.plan()


def test_fronts() -> None:
    quasi = {"work": dc.groups(WORK), "sex": None}
    cost = "NCP(node_weights={work: {Government: 4, Public: 3, '*': 2}})"
    front = dc.pareto(TABLE, quasi_identifiers=quasi, cost=cost)
    assert front.cost == "NCP(node_weights={work: {3 values}})"
    for point in front.points:
        best = released(cost, quasi_identifiers=quasi, privacy=f"k({point.k})", scheme="full-domain")
        assert point.loss == pytest.approx(best.cost)
