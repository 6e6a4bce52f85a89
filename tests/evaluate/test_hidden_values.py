"""Hidden values in risk, attacks, audit and notes: what ``*`` can be."""

from __future__ import annotations

import json
import pickle

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import discreet as dc
import naive
from discreet.cli import program
from discreet.evaluate import attacks, risk

SIX = pl.DataFrame({"zip": ["11"] * 6, "ill": list("aaaabc")})
ASKED = {
    "quasi_identifiers": {"zip": "flat"},
    "sensitive": ["ill"],
    "privacy": "l+(0.5, ill)",
    "scheme": "subtree",
    "order": "keep",
}


def test_a_value_that_everybody_can_name():
    """a a a a b c under one half is released as * * * * b c."""
    release = dc.anonymize(SIX, suppression="violating-values", **ASKED)
    assert release.frame["ill"].to_list() == list("****bc")
    assert "In 1 class a hidden value of 'ill' can only be one value" in release.warnings[0]
    for hidden in (
        release.audit.hidden["ill"],
        release.risk().disclosure["ill"].hidden,
        risk(release).disclosure["ill"].hidden,
        release.attacks().homogeneity["ill"].hidden,
    ):
        assert (hidden.values, hidden.known, hidden.known_classes, hidden.confidence) == (4, 4, 1, 1.0)
    assert release.attacks().homogeneity["ill"].success == pytest.approx(4 / 6)
    assert "can only be one value (4 of them)" in release.risk().summary()
    assert "can only be one value (4 of them)" in release.attacks().summary()


def test_a_value_that_nobody_can_name():
    release = dc.anonymize(SIX, suppression="violating-values(hide=ambiguous)", **ASKED)
    assert "".join(release.frame["ill"]) in ("*****c", "****b*")
    assert (release.suppressed_values, release.status, release.warnings) == (5, "optimal", ())
    hidden = release.risk().disclosure["ill"].hidden
    assert (hidden.values, hidden.known, hidden.fewest, hidden.clear_classes) == (5, 0, 2, 0)
    assert release.audit.checks[1].model == release.job["suppression"] == "violating-values(hide=ambiguous)"
    every = dc.anonymize(SIX, suppression="class-values", **ASKED)
    assert every.audit.hidden["ill"].fewest == 3


@pytest.mark.parametrize("scheme", ["subtree", "local"])
def test_which_of_equally_frequent_values_is_hidden_is_drawn(scheme):
    """Whoever knows the values and the rules cannot tell which of them it was; the same seed hides the same."""
    asked = {**ASKED, "scheme": scheme, "cost": "LM", "suppression": "violating-values(hide=ambiguous)"}
    if scheme == "local":
        asked["quasi_identifiers"] = {"zip": None}
    releases = [dc.anonymize(SIX, seed=seed, **asked) for seed in (*range(12), *range(12))]
    shown = ["".join(release.frame["ill"]) for release in releases]
    assert set(shown) == {"*****c", "****b*"}
    assert shown[:12] == shown[12:]
    assert {release.cost for release in releases} == {releases[0].cost}
    assert all(release.audit.passed for release in releases)


def test_the_audit_finds_what_is_clear():
    asked = {"quasi_identifiers": ["zip"], "privacy": "l+(0.5, ill)", "unknown": "*", "reference": SIX}
    kind = "violating-values(hide=ambiguous)"
    for values, fine in (("****bc", False), ("*****c", True), ("******", True)):
        shown = SIX.with_columns(ill=pl.Series(list(values)))
        assert dc.audit(shown, suppression=kind, **asked).passed == fine
        assert dc.audit(shown, **asked).passed


def test_marks_in_a_plain_table_are_taken_for_hidden_values():
    shown = SIX.with_columns(ill=pl.Series(list("****bc")))
    asked = {"quasi_identifiers": ["zip"], "sensitive": ["ill"]}
    report = risk(shown, **asked)
    assert report.disclosure["ill"].confidence == pytest.approx(1 / 6)
    assert "'*' in the sensitive column 'ill' was taken for suppressed values" in report.notes[0]
    assert "was taken for" in report.summary()
    assert any("was taken for" in note for note in attacks(SIX, shown, **asked).notes)
    own = risk(shown, unknown="", **asked)
    assert own.disclosure["ill"].confidence == pytest.approx(4 / 6)
    assert (own.disclosure["ill"].hidden, own.notes) == (None, ())
    assert risk(shown, unknown="*", **asked).notes == ()
    assert risk(SIX, **asked).notes == ()


def test_a_release_that_was_pickled_still_knows_what_is_hidden():
    """Its job only counts the values that thresholds name, so that the thresholds are not known any more."""
    asked = {**ASKED, "privacy": "l+({a: 0.5, b: 0.9}, ill)", "suppression": "violating-values"}
    release = pickle.loads(pickle.dumps(dc.anonymize(SIX, **asked)))
    assert risk(release).disclosure["ill"].hidden.values == release.risk(SIX).disclosure["ill"].hidden.values == 4


def test_a_release_without_hidden_values_may_have_the_mark_as_a_value():
    table = pl.DataFrame({"zip": ["11"] * 4, "ill": list("**ab")})
    release = dc.anonymize(table, **{**ASKED, "suppression": "none"})
    assert risk(release).disclosure["ill"].confidence == release.risk().disclosure["ill"].confidence == 0.5


def test_the_command_line_and_a_job(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    SIX.write_csv("six.csv")
    kind = "violating-values(hide=ambiguous)"
    job = {"input": "six.csv", "output": "safe.csv", "quasi_identifiers": {"zip": "flat"}, "sensitive": ["ill"]}
    job |= {"privacy": "l+(0.5, ill)", "scheme": "subtree", "suppression": kind, "types": {"zip": "text"}, "seed": 1}
    (tmp_path / "job.yaml").write_text(json.dumps(job))
    run = CliRunner().invoke
    assert run(program, ["run", "job.yaml"]).exit_code == 0
    shown = run(program, ["risk", "safe.csv", "--job", "job.yaml", "--original", "six.csv", "--json"])
    hidden = json.loads(shown.stdout)["disclosure"]["ill"]["hidden"]
    assert (hidden["values"], hidden["fewest"], hidden["clear_classes"]) == (5, 2, 0)
    options = [
        "--qi",
        "zip",
        "--sensitive",
        "ill",
        "--scheme",
        "subtree",
        "--privacy",
        "l+(0.5, ill)",
        "--type",
        "zip=text",
    ]
    again = run(program, ["anonymize", "six.csv", "-o", "again.csv", *options, "--suppression", kind, "--seed", "1"])
    assert again.exit_code == 0, again.output
    assert pl.read_csv("again.csv").sort("ill").equals(pl.read_csv("safe.csv").sort("ill"))
    audited = [
        "--qi",
        "zip",
        "--sensitive",
        "ill",
        "--privacy",
        "l+(0.5, ill)",
        "--unknown",
        "*",
        "--reference",
        "six.csv",
    ]
    assert run(program, ["audit", "safe.csv", *audited, "--suppression", kind]).exit_code == 0
    (tmp_path / "clear.csv").write_text((tmp_path / "safe.csv").read_text().replace("*", "b", 1))
    assert run(program, ["audit", "clear.csv", *audited, "--suppression", kind]).exit_code == 5
    named = ["--privacy", "l+(0.5, ill)", "--suppression", "violating-values", "--json"]
    shown = run(program, ["risk", "safe.csv", "--qi", "zip", "--sensitive", "ill", *named])
    assert json.loads(shown.stdout)["disclosure"]["ill"]["hidden"]["values"] == 5


def test_random_releases():
    """Figures of the release against those of its classes, and every class is as ambiguous as was asked for."""
    known = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        table = pl.DataFrame({"q": rng.choice(list("xyz"), 40), "r": rng.choice(list("mn"), 40)})
        table = table.with_columns(ill=pl.Series(rng.choice(list("abcd"), 40, p=[0.6, 0.2, 0.15, 0.05])))
        values = sorted(set(table["ill"]))
        thetas = dict.fromkeys(values, 0.4)
        asked = {"quasi_identifiers": {"q": "flat", "r": "flat"}, "sensitive": ["ill"], "privacy": "l+(0.4, ill)"}
        for kind in ("violating-values", "violating-values(hide=ambiguous)"):
            release = dc.anonymize(table, scheme="subtree", suppression=kind, order="keep", **asked)
            keys = list(zip(release.frame["q"], release.frame["r"], strict=True))
            candidates, stars, sure = [], 0, 0
            for key in set(keys):
                here = [row for row, own in enumerate(keys) if own == key]
                shown = {release.frame["ill"][row] for row in here} - {"*"}
                counts = {value: sum(table["ill"][row] == value for row in here) for value in values}
                hidden = [value for value in values if value not in shown]
                h = sum(release.frame["ill"][row] == "*" for row in here)
                if h:
                    candidates.append(len(naive.star_candidates(counts, hidden, thetas, values)))
                    stars, sure = stars + h, sure + h * (candidates[-1] == 1)
                    assert "ambiguous" not in kind or not shown or naive.is_ambiguous(counts, hidden, thetas, values)
            found = release.risk().disclosure["ill"].hidden
            assert (found is None) == (not candidates)
            if found is not None:
                assert (found.values, found.fewest, found.known) == (stars, min(candidates), sure)
                assert bool(release.warnings) == bool(sure or found.clear_classes)
                known += bool(sure)
    assert known > 3
