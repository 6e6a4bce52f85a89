"""What matters to the user: priorities, limits, scores and pre-sampling, from the call to the released table."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import discreet as dc
import naive
from cases import built, plain_models
from discreet.cli import program
from discreet.errors import InfeasibleError, UnsupportedCombinationError, UsageError
from discreet.job import Job
from discreet.pipeline.infeasible import infeasible
from discreet.solve import Budget, solve
from sources import Constructor, make_file, make_frame
from tables import random_sample

HIERARCHIES: dict[str, Any] = {"zip": "mask(digits=4)", "age": "intervals(5, 10, 20)", "sex": "flat"}
PRIORITIES = {"zip": 10, "age": 5, "sex": 1}
PROMISES: dict[str, Any] = {"quasi_identifiers": HIERARCHIES, "sensitive": ["disease"], "privacy": ["k(2)"]}
SCORES = ("score", "score(eta, d=5)", "score(log)")


def people(rows: int = 80, seed: int = 1, *, missing: bool = False) -> pl.DataFrame:
    """Made-up people in few places, so that something is left to choose; with missing ages and sexes if asked for."""
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(20, 60, rows).tolist(), rng.choice(["f", "m"], rows).tolist()
    for row in rng.integers(0, rows, 6 if missing else 0).tolist():
        age[row] = sex[row] = None
    return pl.DataFrame(
        {
            "zip": [f"{number:04}" for number in rng.choice([1010, 1011, 1020, 1100, 2000, 2001, 2300], rows)],
            "age": age,
            "sex": sex,
            "disease": rng.choice(["flu", "ache", "hiv"], rows, p=[0.5, 0.3, 0.2]).tolist(),
        }
    )


def counted(frame: pl.DataFrame) -> dict[str, int]:
    """How many different values each quasi-identifier has, missing ones being one."""
    return {name: len(set(frame[name].cast(pl.String).to_list())) for name in HIERARCHIES}


def score(cost: str, before: dict[str, int], shown: dict[str, int], v: dict[str, int]) -> float:
    """The paper's three scores, written down once more."""
    if "eta" in cost:
        return sum(v[name] * (2 if e > 5 else 1 if e > 2.5 else 0) for name, e in shown.items())
    if "log" in cost:
        return max(
            v[name] * math.log(e) / math.log(before[name]) if before[name] > 1 else 0 for name, e in shown.items()
        )
    return sum(v[name] * e for name, e in shown.items())


def test_priorities_ask_for_the_best_score():
    table = people()
    release = dc.anonymize(table, **PROMISES, priorities=PRIORITIES)
    assert release.status == "optimal"
    assert release.score == release.stats["score_at_most"] == release.stats["score_before"] - release.cost
    best = max(
        score("score", counted(table), counted(other.frame), PRIORITIES)
        for solver in ("user-oriented", "lattice", "incognito", "optimal-score")
        for other in [dc.anonymize(table, **PROMISES, priorities=PRIORITIES, solver=solver)]
    )
    assert release.score == best
    assert "no release that keeps the promises has a higher one" in release.summary()


def test_what_matters_more_keeps_more_values():
    table = people()
    kept = {
        first: counted(dc.anonymize(table, **PROMISES, priorities={first: 100}, cost="score(log)").frame)
        for first in ("zip", "age")
    }
    assert kept["zip"]["zip"] > kept["age"]["zip"]
    assert kept["age"]["age"] > kept["zip"]["age"]


def test_priorities_are_the_weights_of_any_cost_that_has_some():
    release = dc.anonymize(people(), **PROMISES, priorities={"zip": 3}, cost="LM")
    assert release.cost == dc.anonymize(people(), **PROMISES, cost="LM(weights={zip: 3})").cost
    assert release.job["priorities"] == {"zip": 3}
    assert release.score is None


def test_keep_at_least_is_never_passed():
    table = people()
    release = dc.anonymize(table, **PROMISES, priorities={"age": 9}, keep_at_least={"zip": 2})
    assert release.levels["zip"] <= 2
    assert release.levels == dc.anonymize(table, **PROMISES, priorities={"age": 9}, max_levels={"zip": 2}).levels
    for solver in ("user-oriented", "optimal-score"):
        release = dc.anonymize(table, **PROMISES, cost="score", keep_at_least={"zip": 2}, solver=solver)
        assert release.levels["zip"] <= 2
    local = dc.anonymize(
        table, **PROMISES, cost="score", keep_at_least={"zip": 2}, min_levels={"age": 1}, scheme="local"
    )
    assert not set(local.frame["zip"]) & {"*", "1***", "2***"}
    assert all("[" in value or value == "*" for value in local.frame["age"])


@pytest.mark.parametrize("kind", ["none", "pre-sampling(2, level=1)", "budget(10%)"])
@pytest.mark.parametrize("cost", SCORES)
@pytest.mark.parametrize("model", ["k(2)", "distinct-l(2)", "t(0.35)"])
def test_scores_are_those_of_the_released_table(model, cost, kind):
    for seed in range(3):
        table = people(60, seed, missing=seed == 2)
        asked = {**PROMISES, "privacy": ["k(2)", model], "suppression": kind, "cost": cost, "priorities": PRIORITIES}
        try:
            best, found, local = (
                dc.anonymize(table, **asked, scheme=scheme, solver=solver)
                for scheme, solver in (("full-domain", "auto"), ("full-domain", "user-oriented"), ("local", "auto"))
            )
        except InfeasibleError:
            assert kind != "budget(10%)"
            continue
        before = counted(table)
        for release in (best, found, local):
            assert release.audit.passed
            assert release.frame.height == table.height - release.suppressed
            assert release.score == pytest.approx(score(cost, before, counted(release.frame), PRIORITIES))
            assert release.stats["score_before"] == pytest.approx(score(cost, before, before, PRIORITIES))
        assert found.score <= best.score + 1e-9
        assert best.score <= found.stats["score_at_most"] + 1e-9
        assert local.score >= found.score - 1e-9
        assert local.stats["global_score"] == pytest.approx(found.score)
        assert local.suppressed == found.suppressed


def test_every_kind_of_data(constructor: Constructor):
    table = people(missing=True)
    source = constructor(table)
    asked = {**PROMISES, "types": {"zip": "text"}, "priorities": PRIORITIES, "privacy": ["k(2)", "t(0.4)"]}
    for options in ({"suppression": "pre-sampling(2, level=1)"}, {"suppression": "budget(20%)", "scheme": "local"}):
        release = dc.anonymize(source, **asked, **options)
        assert release.audit.passed
        same = dc.anonymize(table, **asked, **options)
        assert (release.score, release.suppressed) == (same.score, same.suppressed)


@pytest.mark.parametrize("kind", ["pandas", "polars", "csv"])
def test_the_same_kind_comes_back(kind, tmp_path):
    table = people()
    source = make_file(kind, table, tmp_path) if kind == "csv" else make_frame(kind, table)
    target = tmp_path / "safe.csv" if kind == "csv" else None
    asked = {**PROMISES, "types": {"zip": "text"}, "priorities": PRIORITIES}
    release = dc.anonymize(source, **asked, scheme="local", suppression="pre-sampling(2, level=2)", output=target)
    assert release.audit.passed
    assert target is not None or isinstance(release.frame, type(source))
    if kind == "pandas":
        shown = pl.from_pandas(release.frame)
    else:
        shown = pl.read_csv(target, infer_schema=False) if target else release.frame
    assert release.score == score("score", {}, counted(shown), PRIORITIES)


def test_pre_sampling_leaves_out_isolated_people():
    table = pl.concat([people(), people(1).with_columns(zip=pl.lit("9999"))])
    alone = "pre-sampling(2, levels={zip: 3, age: 3, sex: 1})"
    release = dc.anonymize(table, **PROMISES, priorities=PRIORITIES, suppression=alone)
    assert release.suppressed == 1
    assert "9" not in {value[0] for value in release.frame["zip"]}
    kept = dc.anonymize(table, **PROMISES, priorities=PRIORITIES)
    assert release.score >= kept.score - 10


def test_an_own_score_in_three_lines():
    def evenly(shown, before, priorities):
        return (shown / before).min()

    release = dc.anonymize(people(), **PROMISES, cost=dc.Score(evenly))
    before, shown = counted(people()), counted(release.frame)
    assert release.score == pytest.approx(min(shown[name] / before[name] for name in before))
    assert release.job["cost"] == "score(evenly)"
    local = dc.anonymize(people(), **PROMISES, cost=dc.Score(evenly), scheme="local")
    assert local.score >= dc.anonymize(people(), **PROMISES, cost=dc.Score(evenly), solver="user-oriented").score
    with pytest.raises(UsageError, match="scoring function <lambda> must return one finite number"):
        dc.anonymize(people(), **PROMISES, cost=dc.Score(lambda shown, before, priorities: shown))


# --- on the command line and in job files ---------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    people().write_csv("people.csv")
    return tmp_path


def run(*words: str) -> Any:
    return CliRunner().invoke(program, list(words))


COMMAND = (
    "anonymize", "people.csv", "-o", "safe.csv", "--qi", "zip,age,sex", "--sensitive", "disease", "-k", "2",
    "--hierarchy", "zip=mask(digits=4)", "--hierarchy", "age=intervals(5, 10, 20)", "--type", "zip=text",
)  # fmt: skip
WISHES = ("--priority", "zip=10", "--keep-at-least", "zip=2", "--cost", "score(eta, d=5)", "--solver", "user-oriented")
JOB = """
input: people.csv
output: safe.csv
quasi_identifiers: {zip: mask(digits=4), age: 'intervals(5, 10, 20)', sex: flat}
sensitive: [disease]
types: {zip: text}
privacy: k(2)
priorities: {zip: 10, age: 5, sex: 1}
keep_at_least: {zip: 2}
"""


def test_the_command_line_says_it_in_one_line(folder):
    result = run(*COMMAND, *WISHES, "--report", "r.json", "--save-job", "job.yaml")
    assert result.exit_code == 0, result.output
    data = json.loads(Path("r.json").read_text(encoding="utf-8"))
    assert data["levels"]["zip"] <= 2
    assert data["stats"]["score"] <= data["stats"]["score_at_most"]
    assert {step["step"] for step in data["stats"]["steps"]} <= {
        "pre-computation",
        "top-down",
        "second top-down",
        "bottom-up",
    }
    assert data["job"]["priorities"] == {"zip": 10}
    job = Job.load("job.yaml")
    assert (job.priorities, job.keep_at_least, job.cost, job.solver) == (
        {"zip": 10}, {"zip": 2}, "score(eta, d=5)", "user-oriented",
    )  # fmt: skip
    first = Path("safe.csv").read_bytes()
    assert run("run", "job.yaml", "-q").exit_code == 0
    assert Path("safe.csv").read_bytes() == first


def test_a_job_says_it_in_two_lines(folder):
    Path("job.yaml").write_text(JOB, encoding="utf-8")
    release = Job.load("job.yaml").run()
    assert release.audit.passed
    assert release.levels["zip"] <= 2
    again = Job.load(Job.load("job.yaml").save("again.json"))
    assert again.model_dump() == Job.load("job.yaml").model_dump()
    Job(**json.loads(json.dumps(release.job))).save("from-release.yaml")
    assert Job.load("from-release.yaml").run().levels == release.levels


def test_a_dry_run_knows_the_wishes(folder):
    Path("job.yaml").write_text(JOB, encoding="utf-8")
    result = run("run", "job.yaml", "--dry-run")
    assert result.exit_code == 0, result.output
    assert "score(weights={zip: 10, age: 5, sex: 1})" in result.output
    assert "'zip'        text, 7 values, levels 0 to 2 of mask(digits=4)" in result.output
    assert "optimal-score, 30 possible recodings" in result.output
    sampled = run(*COMMAND, "--cost", "score", "--suppression", "pre-sampling(3, level=1)", "--dry-run", "--json")
    assert json.loads(sampled.stdout)["most_suppressed"] > 0
    assert not Path("safe.csv").exists()


def test_a_front_by_priorities():
    front = dc.pareto(people(), quasi_identifiers=HIERARCHIES, priorities=PRIORITIES, keep_at_least={"zip": 3})
    assert all(point.levels["zip"] <= 3 for point in front)
    point = front[-1]
    release = front.release(k=point.k)
    assert release.audit.passed
    assert release.cost == pytest.approx(point.loss)


# --- what cannot be -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wishes", "sentence"),
    [
        ({"priorities": {"zip": 0}}, "The priority of 'zip' must be a whole number of at least 1, not 0."),
        ({"priorities": {"zip": 1.5}}, "The priority of 'zip' must be a whole number of at least 1, not 1.5."),
        (
            {"priorities": {"zp": 2}},
            "A priority is given for 'zp', which is not a quasi-identifier; did you mean 'zip'?",
        ),
        (
            {"priorities": {"disease": 2}},
            "A priority is given for 'disease', which is not a quasi-identifier; the quasi-id",
        ),
        ({"priorities": ["zip"]}, "The priorities must map column names to whole numbers, as in {zip: 10, age: 5}."),
        ({"priorities": {"zip": 2}, "cost": "DM"}, "The cost DM has no weights, so priorities do not apply"),
        ({"priorities": {"zip": 2}, "cost": "LM(weights={zip: 3})"}, "has weights of its own; give either those or"),
        (
            {"keep_at_least": {"zip": 9}},
            "The levels 0 to 9 of 'zip' do not fit; its hierarchy has levels 0 to 4.",
        ),
        ({"keep_at_least": {"disease": 1}}, "A level limit is given for 'disease', which is not a quasi-identifier."),
        ({"keep_at_least": {"zip": 1}, "max_levels": {"zip": 1}}, "'zip' is in keep_at_least and in max_levels, which"),
        ({"cost": "score(best)"}, "The score must be one of basic, eta, log, not 'best'."),
        ({"cost": "score(eta, d=0)"}, "d of the score eta must be a whole number of at least 1, not 0."),
        ({"cost": "score", "suppression": "pre-sampling(0)"}, "k of pre-sampling must be a whole number of at least 1"),
        (
            {"cost": "score", "suppression": "pre-sampling(2, levels={zip: 9})"},
            "The pre-sampling level 9 of 'zip' does not fit; its hierarchy has levels 0 to 4.",
        ),
        (
            {"cost": "score", "suppression": "pre-sampling(2, levels={zp: 1})"},
            "Pre-sampling has a level for 'zp', which is not a quasi-identifier.",
        ),
    ],
)
def test_one_clear_sentence(wishes, sentence, folder):
    with pytest.raises(UsageError) as caught:
        dc.anonymize(people(), **{**PROMISES, **wishes})
    assert sentence in str(caught.value)


def test_the_command_line_refuses_in_the_same_words(folder):
    assert "'zip'" in run(*COMMAND, "--priority", "zip=ten").output
    assert "must be a whole number of at least 1, not 0." in run(*COMMAND, "--priority", "zip=0").output
    result = run(*COMMAND, "--keep-at-least", "zip=0", "--keep-at-least", "age=0")
    assert result.exit_code != 0
    assert "the nearest limits that work let" in result.output
    assert not Path("safe.csv").exists()


@pytest.mark.parametrize("parts", [{"suppression": "violating-records"}, {"scheme": "subtree"}])
def test_scores_of_other_schemes_and_kinds(parts):
    release = dc.anonymize(people(), **{**PROMISES, "cost": "score", **parts})
    assert release.status == "optimal"
    assert release.audit.passed


@pytest.mark.parametrize(
    "parts",
    [
        {"scheme": "subtree", "solver": "user-oriented"},
        {"cost": "LM", "solver": "user-oriented"},
    ],
)
def test_what_does_not_go_together_is_refused(parts):
    with pytest.raises(UnsupportedCombinationError):
        dc.anonymize(people(), **{**PROMISES, "cost": "score", **parts})


def test_pre_sampling_that_leaves_too_few():
    with pytest.raises(InfeasibleError, match=r"The suppression pre-sampling\(81\) leaves no record"):
        dc.anonymize(people(), **PROMISES, cost="score", suppression="pre-sampling(81)")
    few = {**PROMISES, "privacy": ["k(70)"]}
    with pytest.raises(InfeasibleError, match=r"by suppressing at most 0 of \d+ rows that pre-sampling leaves"):
        dc.anonymize(people(), **few, cost="score", suppression="pre-sampling(4, level=1)")


@pytest.mark.parametrize(
    ("model", "kind"),
    [("k", "none"), ("k", "budget(2)"), ("distinct-l", "none"), ("distinct-l", "budget(2)"), ("t", "none")],
)
def test_the_nearest_limits_work_and_none_nearer_does(model, kind):
    """Compared with every combination of limits, on small random tables."""
    rng = np.random.default_rng([len(model), len(kind)])
    alone, together = 0, 0
    for seed in rng.integers(0, 1 << 30, size=60):
        sample = random_sample(int(seed), rows=(6, 14), attributes=(2, 3), height=(1, 3))
        privacy = [f"k({rng.integers(2, 5)})"]
        if model != "k":
            privacy.append("distinct-l(2, s0)" if model == "distinct-l" else "t(0.4, s0, equal)")
        heights = [attribute.height for attribute in sample.counts.attributes]
        limits = [int(rng.integers(0, height + 1)) for height in heights]
        names = sample.counts.names
        problem = built(
            sample, privacy=privacy, cost="score", suppression=kind, max_levels=dict(zip(names, limits, strict=True))
        )
        if problem is None:
            continue
        solution = solve(problem, "lattice", Budget())
        models = plain_models(privacy, sample)

        def works(top, sample=sample, models=models, budget=problem.limit):
            return any(
                sum(
                    len(members)
                    for members in naive.classes(sample.naive, levels)
                    if not naive.all_ok(models, naive.counts(sample.naive, members, "s0"))
                )
                <= budget
                for levels in naive.level_vectors(sample.naive)
                if all(level <= high for level, high in zip(levels, top, strict=True))
            )

        assert (solution.status == "infeasible") != works(limits), int(seed)
        if solution.status != "infeasible":
            continue
        error = infeasible(problem, solution)
        assert bool(error.limits) == (works(heights) and limits != heights), int(seed)
        for way in error.limits:
            lifted = [way.get(name, high) for name, high in zip(names, limits, strict=True)]
            assert works(lifted), (int(seed), way)
            for i, name in enumerate(names):
                if name in way:
                    assert f"'{name}' up to level {way[name]}" in str(error)
                    assert not works([*lifted[:i], lifted[i] - 1, *lifted[i + 1 :]]), (int(seed), way)
            alone += len(way) == 1
            if len(way) > 1:
                together += 1
                fewest = min(
                    sum(top) - sum(limits)
                    for top in naive.level_vectors(sample.naive)
                    if all(level >= high for level, high in zip(top, limits, strict=True)) and works(top)
                )
                assert sum(lifted) - sum(limits) == fewest
    assert alone
    assert together or kind != "none"
