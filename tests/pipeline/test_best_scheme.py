"""``scheme="best"``: several schemes with the same promises, and the release that loses least."""

from __future__ import annotations

import random
import re
import threading
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from click.testing import CliRunner

import discreet as dc
from discreet.cli import program


def people(seed: int = 1, n: int = 60) -> pl.DataFrame:
    rng = random.Random(seed)
    return pl.DataFrame(
        {
            "age": [rng.randint(20, 60) for _ in range(n)],
            "job": [rng.choice(["cook", "nurse", "clerk", "pilot"]) for _ in range(n)],
            "illness": [rng.choice(["flu", "cold", "gout"]) for _ in range(n)],
        }
    )


QUASI = {"age": "intervals(5, 10, 20)", "job": "flat"}
CHOICES: dict[str, Any] = {
    "quasi_identifiers": QUASI,
    "sensitive": ["illness"],
    "privacy": ["k(4)", "distinct-l(2)"],
    "seed": 7,
}


@pytest.mark.parametrize("suppression", ["none", "budget(10%)"])
@pytest.mark.parametrize("cost", ["LM", "NCP"])
def test_the_cheapest_of_all_is_taken(cost: str, suppression: str) -> None:
    table = people()
    release = dc.anonymize(table, **CHOICES, cost=cost, suppression=suppression, scheme="best")
    each = {
        scheme: dc.anonymize(table, **CHOICES, cost=cost, suppression=suppression, scheme=scheme)
        for scheme in ("full-domain", "subtree", "local")
    }
    assert [tried["scheme"] for tried in release.stats["schemes"]] == list(each)
    assert release.cost == pytest.approx(min(other.cost for other in each.values()))
    assert release.job["scheme"] in each
    for tried in release.stats["schemes"]:
        other = each[tried["scheme"]]
        assert tried["cost"] == pytest.approx(other.cost)
        assert (tried["classes"], tried["smallest_class"]) == (other.audit.classes, other.audit.smallest_class)
        assert tried["average_risk"] == pytest.approx(other.audit.sizes.average_risk)
        assert (tried["suppressed"], tried["rows"]) == (other.suppressed, other.n)
    assert release.audit.passed


def test_a_listener_learns_which_scheme_is_searched_and_what_was_tried() -> None:
    from discreet.pipeline.best_scheme import on_scheme

    heard: list[tuple[str, list[str]]] = []
    with on_scheme(lambda name, tried: heard.append((name, [each.scheme for each in tried]))):
        dc.anonymize(people(), **CHOICES, scheme="best")
    assert heard == [("full-domain", []), ("subtree", ["full-domain"]), ("local", ["full-domain", "subtree"])]


def test_the_same_seed_gives_the_same_release() -> None:
    first, second = (dc.anonymize(people(), **CHOICES, scheme="best") for _ in range(2))
    assert first.frame.equals(second.frame)


def test_schemes_that_do_not_fit_are_left_out_with_the_reason() -> None:
    release = dc.anonymize(people(), **{**CHOICES, "privacy": "average-risk(0.1)"}, scheme="best")
    reasons = {tried["scheme"]: tried["reason"] for tried in release.stats["schemes"]}
    assert release.job["scheme"] == "full-domain"
    assert "average-risk" in reasons["local"]


def test_if_nothing_fits_the_first_reason_is_given() -> None:
    with pytest.raises(dc.InfeasibleError, match="k can be 3 at most"):
        dc.anonymize(people(n=3), **CHOICES, scheme="best")


def test_stopped_before_the_second_scheme() -> None:
    from discreet.solve import Budget

    stop = threading.Event()
    stop.set()
    release = dc.anonymize(people(), **CHOICES, scheme="best", budget=Budget(stop=stop))
    assert release.job["scheme"] == "full-domain"
    assert release.stats["schemes"][-1]["reason"] == "the search was stopped"


def test_reports_show_what_was_tried_if_nobody_was_left_out(tmp_path: Path) -> None:
    release = dc.anonymize(people(), **CHOICES, scheme="best")
    assert not release.suppressed
    page = release.report(tmp_path / "r.html").read_text()
    assert "Schemes that were tried" in page
    assert "all with the same promises" in page  # the chart
    assert f"| {release.job['scheme']} (taken) |" in release.report(tmp_path / "r.md").read_text()
    assert f"{release.job['scheme']} ←" in release.summary()
    assert "Schemes that were tried" in release._repr_html_()
    lone = pl.concat([people(), pl.DataFrame({"age": [99] * 6, "job": ["spy"] * 6, "illness": ["flu"] * 6})])
    choices = {**CHOICES, "max_levels": {"job": 0}, "suppression": "budget(20%)"}
    release = dc.anonymize(lone, **choices, scheme="best")
    assert release.suppressed
    assert "Schemes that were tried" not in release.report(tmp_path / "r.md").read_text()
    assert "Schemes that were tried" not in release._repr_html_()
    assert "←" not in release.summary()
    assert "←" in release.summary(exact=True)
    assert "loses least" not in release.summary()
    assert "loses least" in release.summary(exact=True)


def test_command_line_and_job_file(tmp_path: Path) -> None:
    people().write_csv(tmp_path / "people.csv")
    job = {
        "input": "people.csv",
        "output": "safe.csv",
        "quasi_identifiers": QUASI,
        "sensitive": ["illness"],
        "privacy": ["k(4)"],
        "scheme": "best",
        "seed": 7,
    }
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(job))
    result = CliRunner().invoke(program, ["run", str(tmp_path / "job.yaml")])
    assert result.exit_code == 0, result.output
    assert "loses least" in result.output
    paths = [str(tmp_path / "people.csv"), "-o", str(tmp_path / "b.csv")]
    options = ["--qi", "age,job", "--sensitive", "illness", "-k", "4", "--scheme", "best"]
    result = CliRunner().invoke(program, ["anonymize", *paths, *options])
    assert result.exit_code == 0, result.output


def test_a_front_has_one_scheme() -> None:
    with pytest.raises(dc.UsageError, match="one scheme"):
        dc.pareto(people(), quasi_identifiers=QUASI, scheme="best")


def test_a_job_names_the_scheme_that_was_taken(tmp_path: Path) -> None:
    people().write_csv(tmp_path / "people.csv")
    paths = {"input": str(tmp_path / "people.csv"), "output": str(tmp_path / "safe.csv")}
    job = dc.Job(
        **paths, **{**CHOICES, "scheme": "Best"}, certificate=str(tmp_path / "c.json"), key=str(tmp_path / "k")
    )
    job.save(tmp_path / "job.yaml")
    release = job.run()
    taken = release.job["scheme"]
    assert taken in ("full-domain", "subtree", "local")
    assert re.search(rf"^scheme +{taken}$", release.summary(), re.MULTILINE)
    assert f"among {taken} recodings" in release.summary()
    owner = {"key": tmp_path / "k", "original": paths["input"], "job": tmp_path / "job.yaml"}
    found = dc.verify(tmp_path / "safe.csv", tmp_path / "c.json", **owner)
    assert found.passed
    assert "will be tried" in job.plan().summary()


def test_no_mapping(tmp_path: Path) -> None:
    people().write_csv(tmp_path / "people.csv")
    paths = {"input": str(tmp_path / "people.csv"), "output": str(tmp_path / "safe.csv")}
    with pytest.raises(dc.UsageError, match="name one, such as subtree"):
        dc.Job(**paths, **{**CHOICES, "scheme": "best"}, mapping=str(tmp_path / "m.json")).run()
    assert not (tmp_path / "safe.csv").exists()


def test_a_solver_of_one_scheme_says_why_others_were_not_searched() -> None:
    release = dc.anonymize(people(), **CHOICES, scheme="best", solver="lattice")
    note = next(note for note in release.notes if "loses least" in note)
    assert "No release: subtree (The solver lattice does not go with" in note


@pytest.mark.parametrize("seed", range(3))
def test_subtree_is_never_worse_than_full_domain_however_short_the_time(seed: int) -> None:
    release = dc.anonymize(people(seed, n=400), **CHOICES, scheme="best", time_limit=1e-6)
    costs = {tried["scheme"]: tried["cost"] for tried in release.stats["schemes"]}
    assert costs["subtree"] <= costs["full-domain"] * (1 + 1e-9)


def test_the_default_time_limit_is_mentioned_if_it_ended_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    told = "as no time limit was given"
    assert not any(told in str(note) for note in dc.anonymize(people(), **CHOICES, scheme="best").notes)
    monkeypatch.setattr("discreet.pipeline.best_scheme._SECONDS", 1e-6)
    assert any(told in str(note) for note in dc.anonymize(people(), **CHOICES, scheme="best").notes)
    limited = dc.anonymize(people(), **CHOICES, scheme="best", time_limit=1e-6)
    assert not any(told in str(note) for note in limited.notes)
