"""Fronts as a user meets them: points, tables, releases, suggestions, files, and what goes wrong."""

from __future__ import annotations

import importlib.util
import itertools
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dc
from discreet.errors import (
    DataError,
    DiscreetError,
    MissingColumnError,
    OutputError,
    UnsupportedCombinationError,
    UsageError,
)
from discreet.pipeline.front import Front
from front_of_people import QI, check_release, find, people

AXES = ["k", "distinct-l", "entropy-l", "theta", "t", "t(disease, distance=ordered)", "average-risk"]
COSTS = ["LM", "LM(weights={age: 2})", "DM", "HDM", "CM", "NCP", "C_AVG", "precision", "entropy", "ambiguity"]


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return people()


@pytest.fixture(scope="module")
def front(table: pl.DataFrame) -> Front:
    return find(table, suppression="budget(10%)")


class TestPoints:
    def test_what_a_point_has(self, front: Front, table: pl.DataFrame) -> None:
        assert len(front) == len(front.points) > 3
        assert list(front) == list(front.points)
        assert front[0] is front.points[0]
        for before, after in itertools.pairwise(front):
            assert before.k < after.k
            assert before.loss < after.loss
        for point in front:
            assert point.values == {"k": point.k}
            assert isinstance(point.k, int)
            assert set(point.levels) == set(QI)
            assert point.suppressed <= 12
            assert point.proven
            assert 0 <= point.normalized_loss <= 1
        assert front[-1].k == front.n == table.height
        assert front[-1].normalized_loss == 1

    def test_no_node_is_better(self, front: Front, table: pl.DataFrame) -> None:
        """Every choice of levels, released one by one under the same rule, is no better than the front."""
        best: dict[int, float] = {}
        for levels in itertools.product(range(4), range(5), range(2)):
            fixed = dict(zip(QI, levels, strict=True))
            alone = find(table, suppression="budget(10%)", min_levels=fixed, max_levels=fixed)
            (point,) = alone.points
            best[int(point.k)] = min(point.loss, best.get(int(point.k), point.loss))
        expected = {k: loss for k, loss in best.items() if all(loss < best[more] for more in best if more > k)}
        assert {point.k: pytest.approx(point.loss) for point in front} == expected

    def test_how_it_was_found(self, front: Front) -> None:
        assert front.complete
        assert front.method == "exact"
        assert front.space == 4 * 5 * 2
        assert front.evaluated == front.examined / 40
        assert front.cloud.shape == (front.examined, 2)
        assert front.axes == ("k",)
        assert front.cost == "LM"
        assert repr(front).startswith(f"Front({len(front)} points, k from 1 to 120, complete, ")

    def test_level_limits(self, table: pl.DataFrame) -> None:
        front = find(table, min_levels={"age": 1}, max_levels={"zip": 2, "sex": 0})
        assert all(p.levels["age"] >= 1 and p.levels["zip"] <= 2 and p.levels["sex"] == 0 for p in front)
        assert front.space == 3 * 3

    def test_one_row(self, table: pl.DataFrame) -> None:
        front = find(table.head(1))
        assert [(point.k, point.loss) for point in front] == [(1, 0.0)]
        assert front.knee().reason == "There is no choice but k = 1, which protects nobody."
        assert ElementTree.fromstring(str(front.plot().render("svg"))) is not None

    @pytest.mark.parametrize("cost", COSTS)
    def test_every_cost(self, cost: str, table: pl.DataFrame) -> None:
        front = find(table, cost=cost, suppression="budget(5%)")
        assert front.complete
        for point in front:
            check_release(front.release(point=point), point)


class TestFrames:
    def test_pandas(self, front: Front, table: pl.DataFrame) -> None:
        frame = find(table.to_pandas(), suppression="budget(10%)").to_frame()
        assert isinstance(frame, pd.DataFrame)
        assert pl.DataFrame(frame).equals(front.to_frame())

    def test_pyarrow(self, front: Front, table: pl.DataFrame) -> None:
        frame = find(table.to_arrow(), suppression="budget(10%)").to_frame()
        assert isinstance(frame, pa.Table)
        assert pl.DataFrame(frame).equals(front.to_frame())

    @pytest.mark.parametrize("kind", ["lazy", "file"])
    def test_polars(self, kind: str, front: Front, table: pl.DataFrame, tmp_path: Path) -> None:
        table.write_parquet(tmp_path / "people.parquet")
        data = table.lazy() if kind == "lazy" else tmp_path / "people.parquet"
        assert find(data, suppression="budget(10%)").to_frame().equals(front.to_frame())

    def test_columns(self, front: Front) -> None:
        frame = front.to_frame()
        shared = ["k", "loss", "normalized_loss", "suppressed", "classes", "also", "proven"]
        assert frame.columns == [*shared, *(f"level of {name}" for name in QI)]
        assert frame["k"].to_list() == [point.k for point in front]
        assert frame["level of zip"].to_list() == [point.levels["zip"] for point in front]


class TestReleases:
    @pytest.mark.parametrize("suppression", ["none", "budget(10%)", "budget(1)"])
    @pytest.mark.parametrize("axis", AXES)
    def test_every_point(self, axis: str, suppression: str, table: pl.DataFrame) -> None:
        front = find(table, privacy=axis, suppression=suppression)
        assert front.complete
        for point in front:
            release = front.release(point.k)
            check_release(release, point)
            classes = release.frame.group_by(list(QI)).agg(
                size=pl.len(),
                distinct=pl.col("disease").n_unique(),
                theta=pl.col("disease").value_counts(sort=True).first().struct.field("count") / pl.len(),
            )
            reached = {
                "k": classes["size"].min(),
                "distinct-l": classes["distinct"].min(),
                "theta": classes["theta"].max(),
                "average-risk": classes.height / release.frame.height,
            }
            if axis in reached:
                assert point.k == pytest.approx(reached[axis])

    def test_by_k(self, front: Front) -> None:
        wanted = front[2]
        between = (int(front[1].k) + int(front[2].k) + 1) // 2
        for k in (wanted.k, between):
            assert front.point(k) is wanted
            check_release(front.release(k=k), wanted)
        assert "name" not in front.release(k=wanted.k).frame.columns

    def test_the_knee_by_default(self, front: Front) -> None:
        check_release(front.release(), front.knee().point)

    def test_pandas_come_back(self, table: pl.DataFrame) -> None:
        front = find(table.to_pandas())
        assert isinstance(front.release(k=2).frame, pd.DataFrame)

    def test_to_a_file(self, table: pl.DataFrame, tmp_path: Path) -> None:
        table.write_csv(tmp_path / "people.csv")
        front = find(tmp_path / "people.csv", suppression="budget(10%)", types={"zip": "text"})
        release = front.release(k=5, output=tmp_path / "safe.csv")
        check_release(release, front.point(5))
        verdict = dc.audit(tmp_path / "safe.csv", quasi_identifiers=list(QI), privacy=f"k({front.point(5).k})")
        assert verdict.passed
        assert release.job["privacy"] == [f"k({front.point(5).k})"]
        with pytest.raises(OutputError, match="is the input itself"):
            front.release(k=5, output=tmp_path / "people.csv")
        with pytest.raises(OutputError, match="overwrite a file that is read"):
            front.save(tmp_path / "people.csv")
        assert pl.read_csv(tmp_path / "people.csv").height == table.height

    def test_a_proven_optimum_where_it_is_one(self, table: pl.DataFrame) -> None:
        """Without suppression each point is the best release for its k, and the release knows."""
        for point in (front := find(table)):
            release = front.release(point=point)
            alone = dc.anonymize(
                table, identifiers="name", quasi_identifiers=QI, sensitive="disease", privacy=f"k({point.k})"
            )
            assert release.status == alone.status == "optimal"
            assert release.cost == pytest.approx(alone.cost)

    def test_missing_rows_left_out(self, table: pl.DataFrame) -> None:
        holes = table.with_columns(age=pl.when(pl.col("age") % 9 > 0).then("age"))
        front = find(holes, missing="suppress")
        release = front.release(k=3)
        assert front.n == holes["age"].count() == release.frame.height

    def test_k_beyond_the_table(self, front: Front) -> None:
        with pytest.raises(UsageError, match=r"^No point of the front reaches k = 1,000; the best has 120\.(\n|$)"):
            front.release(k=1000)

    def test_less_is_better(self, table: pl.DataFrame) -> None:
        front = find(table, privacy="theta")
        assert [point.k for point in front] == sorted((point.k for point in front), reverse=True)
        assert front.point(0.9).k <= 0.9
        with pytest.raises(UsageError, match=r"reaches theta\(disease\) = 0.01; the best has 0\."):
            front.point(0.01)

    def test_one_way_to_choose(self, front: Front) -> None:
        with pytest.raises(UsageError, match="say k, or give the point"):
            front.release(k=2, point=front[0])


class TestWords:
    def test_knee(self, front: Front) -> None:
        knee = front.knee()
        assert knee.point in front.points
        assert knee.reason.startswith(f"Suggested: k = {knee.point.k}. Compared with k = ")
        assert str(knee) == knee.reason
        assert front.summary().endswith(knee.reason)

    @pytest.mark.parametrize(
        ("axis", "words"), [("t", "distance falls"), ("average-risk", "average risk falls"), ("theta", "highest risk")]
    )
    def test_what_falls(self, axis: str, words: str) -> None:
        people = dc.sample(400, seed=2).select("birth_date", "sex", "marital_status", "diagnosis")
        quasi_identifiers = {"birth_date": "dates(year, decade)", "sex": "flat", "marital_status": None}
        front = dc.pareto(people, quasi_identifiers=quasi_identifiers, sensitive="diagnosis", privacy=axis)
        assert words in front.knee().reason

    def test_steps(self, front: Front) -> None:
        steps = front.steps()
        assert len(steps) == len(front) - 1
        for step, (before, after) in zip(steps, itertools.pairwise(front), strict=True):
            assert (step.before, step.after) == (before, after)
            changed = {name for name in QI if before.levels[name] != after.levels[name]}
            assert {change.attribute for change in step.changes} == changed
            for change in step.changes:
                assert change.levels == (before.levels[change.attribute], after.levels[change.attribute])
                coarser = change.levels[0] < change.levels[1]
                assert coarser == (change.values[0] > change.values[1]) == (change.detail[0] > change.detail[1])
                assert (" loses: " if coarser else " gains: ") in change.text
            assert step.gained[0] == f"k {before.k} → {after.k}"
            assert step.lost[0].startswith("loss ")
        assert front.explain().splitlines() == [step.text for step in steps]

    def test_explain_counts_what_is_there(self, table: pl.DataFrame) -> None:
        front = find(table, quasi_identifiers={"sex": "flat"})
        assert [(point.k, point.loss) for point in front] == [(40, 0.0), (120, 120.0)]
        assert front.explain() == (
            "k 40 → 120: loss 0 → 120; 'sex' loses: 2 → 1 different values (level 0 → 1), detail 100 → 0 %."
        )

    def test_summary(self, front: Front) -> None:
        lines = front.summary().splitlines()
        assert lines[0].split()[:2] == ["k", "loss"]
        assert len(lines) == 1 + len(front) + 2
        assert str(front) == front.summary()
        assert f"of 40 nodes were evaluated ({100 * front.evaluated:.1f} %)." in lines[-2]


class TestFiles:
    def test_json(self, front: Front, tmp_path: Path) -> None:
        data = json.loads(front.save(tmp_path / "front.json").read_text())
        assert data["axes"] == ["k"]
        assert (data["rows"], data["space"], data["complete"]) == (120, 40, True)
        assert [(p["values"]["k"], p["loss"]) for p in data["points"]] == [(p.k, p.loss) for p in front]
        assert data["points"][1]["levels"] == front[1].levels
        assert data["knee"] == {"values": front.knee().point.values, "reason": front.knee().reason}

    @pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow"])
    def test_csv(self, kind: str, table: pl.DataFrame, tmp_path: Path) -> None:
        data = {"polars": table, "pandas": table.to_pandas(), "pyarrow": table.to_arrow()}[kind]
        front = find(data)
        frame = pl.read_csv(front.save(tmp_path / "front.CSV"))
        assert frame["k"].to_list() == [point.k for point in front]
        assert frame["loss"].to_list() == pytest.approx([point.loss for point in front])

    def test_pictures(self, front: Front, tmp_path: Path) -> None:
        text = front.save(tmp_path / "front.svg").read_text()
        ElementTree.fromstring(text)
        assert "<svg" in front._repr_html_()
        page = front.save(str(tmp_path / "front.html")).read_text()
        assert page.startswith("<!doctype html>")
        assert front.knee().reason in page
        assert f"release = front.release({front[1].k})" in page
        if importlib.util.find_spec("resvg_py") is not None:
            assert front.save(tmp_path / "front.png").read_bytes().startswith(b"\x89PNG")
        wide = front.plot(width=900, height=300, dark=True).save(tmp_path / "wide.svg").read_text()
        assert 'width="900"' in wide

    @pytest.mark.parametrize("suffix", ["html", "svg", "json", "csv"])
    def test_every_kind_of_front(self, suffix: str, table: pl.DataFrame, tmp_path: Path) -> None:
        for number, options in enumerate(
            (
                {"privacy": ["k", "theta"]},
                {"privacy": ["distinct-l", "k"]},
                {"method": "poka"},
                {"scheme": "subtree", "quasi_identifiers": {"sex": "flat", "age": "intervals(20)"}},
                {"privacy": "average-risk", "suppression": "budget(10%)"},
            )
        ):
            assert find(table, **options).save(tmp_path / f"{number}.{suffix}").stat().st_size > 50

    def test_names_that_say_nothing(self, front: Front, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=r"written as \.html, \.svg, .*; 'front.pdf' says none of these"):
            front.save(tmp_path / "front.pdf")
        with pytest.raises(OutputError, match="There is no folder"):
            front.save(tmp_path / "no" / "front.html")
        with pytest.raises(UsageError, match=r"not as \.pdf"):
            front.plot().save(tmp_path / "front.pdf")
        with pytest.raises(UsageError, match="has no option 'colour'"):
            front.plot(colour="red")
        assert not list(tmp_path.iterdir())

    def test_no_value_of_the_data(self, tmp_path: Path) -> None:
        secrets = ["Zebulon", "Aspatria", "Cumbria", "Kuru", "Wizard", "7654321"]
        table = pl.DataFrame(
            {
                "name": ["Zebulon"] * 24,
                "town": ["Aspatria", "Zwickau", "Plauen"] * 8,
                "pay": [7654321, 1, 2, 3] * 6,
                "disease": ["Kuru", "Flu", "Ache", "Flu", "Flu", "Flu"] * 4,
                "label": ["Wizard", "Witch"] * 12,
            }
        )
        tree = {"Cumbria": ["Aspatria"], "Saxony": ["Zwickau", "Plauen"]}
        for options in (
            {"privacy": ["k", "distinct-l"]},
            {"cost": "CM", "suppression": "budget(10%)"},
            {"method": "poka"},
            {"scheme": "subtree"},
        ):
            front = dc.pareto(
                table,
                identifiers="name",
                quasi_identifiers={"town": dc.groups(tree), "pay": "intervals(10)"},
                sensitive="disease",
                class_attribute="label",
                **options,
            )
            texts = [front.to_json(), front.summary(), front.explain(), repr(front), str(front.points)]
            for suffix in ("html", "svg", "csv", "json"):
                texts.append(front.save(tmp_path / f"front.{suffix}").read_text())
            assert [word for word in secrets if any(word in text for text in texts)] == []


WRONG: dict[str, tuple[dict[str, Any], type[DiscreetError], str]] = {
    "unknown axis": ({"privacy": "kk"}, UsageError, "There is no axis 'kk'; did you mean 'k'"),
    "no axis": ({"privacy": []}, UsageError, "needs something on its axis of privacy"),
    "axis twice": ({"privacy": ["k", "k"]}, UsageError, "The axis k is given twice"),
    "axis twice in other words": ({"privacy": ["l", "distinct-l(disease)"]}, UsageError, "is given twice"),
    "axis of another column": ({"privacy": "theta(sex)"}, UsageError, "'sex', which is not a sensitive column"),
    "axis of no column": ({"privacy": "t", "sensitive": ()}, UsageError, "needs a sensitive column"),
    "poka with a promise": ({"privacy": ["k", "k(5)"], "method": "poka"}, UnsupportedCombinationError, "exact method"),
    "class-records": ({"suppression": "class-records"}, UnsupportedCombinationError, "choose none or a budget"),
    "unknown method": ({"method": "magic"}, UsageError, "as in poka(depth=2), not 'magic'"),
    "depth of zero": ({"method": "poka", "depth": 0}, UsageError, "whole number from 1 on"),
    "depth of the exact method": ({"depth": 2}, UsageError, "leave it out, or choose that method"),
    "poka on two axes": ({"method": "poka", "privacy": ["k", "l"]}, UnsupportedCombinationError, "several axes"),
    "no time": ({"time_limit": 0}, UsageError, "a number of seconds above 0"),
    "unknown column": ({"quasi_identifiers": ["agee"]}, MissingColumnError, "did you mean 'age'?"),
    "level too high": ({"min_levels": {"sex": 7}}, UsageError, "levels 0 to 1"),
    "cost without its column": ({"cost": "CM", "class_attribute": None}, UsageError, "class"),
    "unknown cost": ({"cost": "LMM"}, UsageError, "did you mean 'LM'?"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_makes_no_sense(case: str, table: pl.DataFrame) -> None:
    options, kind, sentence = WRONG[case]
    with pytest.raises(kind) as caught:
        find(table, **options)
    assert sentence in caught.value.message
    assert caught.value.message.rstrip(".?").count(". ") == 0


def test_no_rows(table: pl.DataFrame) -> None:
    with pytest.raises(DataError, match="has no rows"):
        find(table.head(0))
