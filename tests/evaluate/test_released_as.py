"""What released values stand for: known from the release, from its mapping or job, or read where that is clear."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dc
from discreet.evaluate import attacks, risk, utility
from discreet.job import Job
from discreet.schema import Hierarchy


def people(seed: int = 1, rows: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(0, 100, rows),
            "job": rng.choice([f"job {i}" for i in range(30)], rows, p=np.arange(1, 31) / 465),
            "illness": rng.choice(["flu", "cold", "gout"], rows),
        }
    )


def rounded(values: range) -> Hierarchy:
    """Numbers that are rounded to tens and then to fifties: groups are named as values are."""
    return Hierarchy.from_rows([[str(v), str(v // 10 * 10), str(v // 50 * 50), "*"] for v in values])


@pytest.fixture
def release() -> Any:
    return dc.anonymize(
        people(),
        quasi_identifiers={"age": rounded(range(100)), "job": None},
        sensitive=["illness"],
        privacy="k(5)",
        suppression="budget(5%)",
        max_levels={"age": 2},
    )


def test_a_release_knows_that_its_numbers_are_rounded(release: Any) -> None:
    assert release.levels["age"] > 0
    assert set(release.frame["age"].to_list()) & {str(age) for age in people()["age"].to_list()}
    report = release.utility()
    assert report.unclear == ()
    assert report.cost("LM") == pytest.approx(release.cost)
    assert report.cost("LM", normalized=True) == pytest.approx(release.normalized_cost)


def test_without_hierarchies_rounded_numbers_are_said_to_be_unclear(release: Any) -> None:
    shuffled = release.frame.sample(fraction=1.0, shuffle=True, seed=1)
    for frame in (release.frame, shuffled):
        report = utility(people(), frame, quasi_identifiers=["age", "job"])
        assert report.unclear == ("age",)
        assert "LM" not in report.costs["cost"].to_list()
        assert report.attributes.filter(column="age")["loss"].item() is None
        assert "of 'age' stand for cannot be derived" in report.summary()
        assert report.to_dict()["unclear"] == ["age"]


def test_numbers_that_stay_are_clear() -> None:
    table = people().with_columns(age=pl.col("age") // 30)
    release = dc.anonymize(table, quasi_identifiers={"age": "flat", "job": None}, privacy="k(2)")
    assert release.levels["age"] == 0
    report = utility(table, release.frame, quasi_identifiers=["age", "job"])
    assert report.unclear == ()
    assert report.cost("LM") == pytest.approx(release.cost)


def test_automatic_hierarchies_need_not_be_named() -> None:
    table = people()
    release = dc.anonymize(table, quasi_identifiers=["age", "job"], sensitive=["illness"], privacy="k(5)")
    for report in (release.utility(), utility(table, release.frame, quasi_identifiers=["age", "job"])):
        assert report.cost("LM") == pytest.approx(release.cost)
    assert risk(release.frame, original=table, quasi_identifiers=["age", "job"]).before is not None
    found = attacks(table, release.frame, quasi_identifiers=["age", "job"], sensitive=["illness"])
    assert found.linkage.success == pytest.approx(release.attacks().linkage.success)


@pytest.mark.parametrize("scheme", ["full-domain", "subtree", "ordered", "set", "local", "guided-set"])
@pytest.mark.parametrize("given", [True, False])
def test_the_loss_is_that_of_the_release(scheme: str, given: bool) -> None:
    choices: dict[str, Any] = {"seed": 1} if scheme == "local" else {"suppression": "budget(5%)"}
    choices |= {"time_limit": 0.5} if scheme in ("ordered", "set") else {}  # any release will do
    release = dc.anonymize(
        people(2, 120).with_columns(age=pl.col("age") // 4),
        quasi_identifiers={"age": "intervals(5, 10)" if given else None, "job": "auto" if given else None},
        sensitive=["illness"],
        privacy="k(4)",
        scheme=scheme,
        cost="LM",
        **choices,
    )
    assert release.utility(queries=5).cost("LM") == pytest.approx(release.cost)
    assert release.attacks().linkage.matched == pytest.approx((release.n - release.suppressed) / release.n, abs=0.1)


def test_a_mapping_says_what_values_stand_for(release: Any, tmp_path: Path) -> None:
    mapping = release.mapping(tmp_path / "mapping.json")
    for given in (mapping, release.to_mapping()):
        report = utility(people(), release.frame, mapping=given)
        assert report.cost("LM") == pytest.approx(release.cost)
    found = attacks(people(), release.frame, mapping=mapping, sensitive=["illness"])
    assert found.linkage.success == pytest.approx(release.attacks().linkage.success)
    data = json.loads(mapping.read_text())
    del data["columns"]["age"]["values"]
    with pytest.raises(dc.DataError, match="mapping"):
        utility(people(), release.frame, mapping=data)


def test_only_released_people() -> None:
    release = dc.anonymize(
        people(),
        quasi_identifiers={"age": rounded(range(100)), "job": None},
        sensitive=["illness"],
        privacy="k(5)",
        suppression="budget(5%)",
    )
    assert release.suppressed
    report = release.utility(only_released=True)
    assert report.rows == report.released_rows == release.audit.rows
    kept = people()[release.rows_of(people()).to_numpy()]
    assert report.attributes.filter(column="job")["values"].item() == kept["job"].n_unique()
    assert release.risk(only_released=True).original_rows == release.audit.rows
    assert release.attacks(only_released=True).linkage.records == release.audit.rows


def test_more_released_than_original_rows_is_refused() -> None:
    with pytest.raises(dc.UsageError, match="released table has 400 rows and the original table 10"):
        utility(people().head(10), people(), quasi_identifiers=["job"])


def test_a_written_release_is_measured_in_any_order(tmp_path: Path) -> None:
    people().write_csv(tmp_path / "people.csv")
    job = Job(
        input=str(tmp_path / "people.csv"),
        output=str(tmp_path / "safe.csv"),
        quasi_identifiers=["age", "job"],
        sensitive=["illness"],
        privacy="k(5)",
    )
    release = job.run()
    shuffled = pl.read_csv(tmp_path / "safe.csv").sample(fraction=1.0, shuffle=True, seed=3)
    shuffled.write_csv(tmp_path / "safe.csv")
    report = release.utility()
    assert report.linked
    assert report.cost("LM") == pytest.approx(release.cost)


def test_rows_without_a_quasi_identifier_that_were_left_out_stop_no_measure() -> None:
    table = pl.DataFrame(
        {
            "age": [31, 32, 33, 34, 35, 36, None, 71],
            "zip": ["10001", "10002", "10003", "10001", "10002", "10003", "99999", "10001"],
            "illness": ["flu", "cold"] * 4,
        }
    )
    settings = {"quasi_identifiers": {"age": "intervals(5, 10)", "zip": "mask"}, "sensitive": "illness"}
    release = dc.anonymize(table, **settings, privacy="k(2)", suppression="budget(1)", missing="suppress")
    assert release.dropped_missing == 1
    assert release.utility(queries=5).rows == 8  # the row that was left out for a missing value counts as lost
    assert release.risk().original_rows == 8
    assert release.utility(only_released=True).rows == release.audit.rows
    assert release.attacks().to_dict()
