"""Searches for fronts: several axes, POkA, schemes other than full-domain, and searches that were stopped."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dc
from discreet.errors import (
    InterruptedRun,
    UnsupportedCombinationError,
)
from discreet.pipeline.front import Front
from front_of_people import check_release, find, people


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return people()


@pytest.fixture(scope="module")
def front(table: pl.DataFrame) -> Front:
    return find(table, suppression="budget(10%)")


class TestSeveralAxes:
    def test_k_and_l(self, table: pl.DataFrame) -> None:
        front = find(table, privacy=["k", "distinct-l(disease)"], suppression="budget(10%)")
        assert front.axes == ("k", "distinct-l(disease)")
        assert front.complete
        for one, other in itertools.permutations(front, 2):
            better = [a >= b for a, b in zip(one.reached, other.reached, strict=True)]
            assert not (all(better) and one.loss <= other.loss)
        for point in front:
            release = front.release(point=point)
            check_release(release, point)
            assert release.job["privacy"] == [
                f"k({point.k})",
                f"distinct-l({point.values['distinct-l(disease)']}, disease)",
            ]
        assert front.to_frame().columns[:3] == ["k", "distinct-l(disease)", "loss"]
        assert front.cloud.shape[1] == 3
        ends = {(point.k, round(point.loss, 9)) for point in front}
        alone = find(table, suppression="budget(10%)")
        assert {(point.k, round(point.loss, 9)) for point in alone} <= ends

    def test_k_need_not_come_first(self, table: pl.DataFrame) -> None:
        front = find(table, privacy=["theta", "k"])
        assert front.point(k=5).values["k"] >= 5
        assert front.knee().reason.startswith(f"Suggested: k = {front.knee().point.k}")
        check_release(front.release(k=5), front.point(5))
        assert f"release = front.release({front[1].values['k']})" in str(front.plot().render("html"))

    def test_a_step_may_lead_down_on_one_axis(self, table: pl.DataFrame) -> None:
        front = find(table, privacy=["k", "t"], suppression="budget(10%)")
        for step in front.steps():
            for number, axis in enumerate(front.axes):
                up = step.after.reached[number] - step.before.reached[number]
                assert any(text.startswith(f"{axis} ") for text in step.gained) == (up > 0)
                assert any(text.startswith(f"{axis} ") for text in step.lost) == (up < 0)


class TestPoka:
    def test_missed_and_false(self, table: pl.DataFrame) -> None:
        for cost, depth in itertools.product(["LM", "DM", "CM"], [None, 1, 2]):
            options = {"cost": cost, "suppression": "budget(10%)"}
            truth = {(p.k, round(p.loss, 6)) for p in find(table, **options)}
            found = find(table, method="poka", depth=depth, **options)
            said = {(p.k, round(p.loss, 6)) for p in found}
            assert found.compared
            assert {(p.k, round(p.loss, 6)) for p in found.missed} == truth - said
            assert {(p.k, round(p.loss, 6)) for p in found.false} == said - truth
            assert not found.complete
            assert not any(point.proven for point in found)
            assert f"missed {len(found.missed)} of {len(truth)} true points" in found.summary()
            data = found.to_dict()
            assert (data["method"], data["depth"]) == ("poka", found.stats["depth"])
            assert len(data["missed"]) == len(found.missed)

    def test_the_other_way_to_ask(self, table: pl.DataFrame) -> None:
        assert find(table, exact=False).method == "poka"
        assert find(table, method="poka(depth=1)", exact=False).stats["depth"] == 1

    def test_release(self, table: pl.DataFrame) -> None:
        front = find(table, method="poka", suppression="budget(10%)")
        check_release(front.release(k=3), front.point(3))

    def test_no_time_to_compare(self, table: pl.DataFrame) -> None:
        front = find(table, privacy="theta", suppression="budget(10%)", method="poka", time_limit=1e-9)
        assert not front.compared
        assert front.missed == front.false == ()
        assert "What POkA missed is not known" in front.summary()
        assert "missed" not in str(front.plot().render("svg"))


class TestOtherSchemes:
    TREES: dict[str, Any] = {"sex": "flat", "age": "intervals(10, 20)", "zip": "mask(digits=4)"}  # noqa: RUF012

    @pytest.mark.parametrize("suppression", ["none", "budget(5%)"])
    @pytest.mark.parametrize("scheme", ["subtree", {"sex": "set", "age": "subtree", "zip": "full-domain"}])
    def test_equals_repeated_releases(self, scheme: Any, suppression: str, table: pl.DataFrame) -> None:
        small = table.head(18)
        settings = {
            "identifiers": "name", "quasi_identifiers": self.TREES, "sensitive": "disease", "suppression": suppression,
            "scheme": scheme,
        }  # fmt: skip
        front = dc.pareto(small, **settings)
        assert front.complete
        assert all(point.proven for point in front)
        for k in range(1, 19):
            alone = dc.anonymize(small, privacy=f"k({k})", **settings)
            assert front.point(k).loss == pytest.approx(alone.cost)
        for point in front:
            release = front.release(point=point)
            check_release(release, point)
            assert release.audit.smallest_class == point.k
        assert front[0].levels == {}
        assert "level of sex" not in front.to_frame().columns

    def test_explained_without_levels(self, table: pl.DataFrame) -> None:
        front = find(table, scheme="subtree", suppression="budget(5%)")
        for step in front.steps():
            left = front.release(point=step.after).released_values
            for change in step.changes:
                assert change.levels is None
                assert change.values[1] <= left[change.attribute]
                assert "level" not in change.text
        assert "no attribute changes" not in front.explain()

    def test_no_worse_than_full_domain(self, table: pl.DataFrame) -> None:
        cuts, levels = find(table, scheme="subtree"), find(table)
        for point in levels:
            assert cuts.point(point.k).loss <= point.loss + 1e-9

    def test_stopped_early(self, table: pl.DataFrame) -> None:
        front = find(table, scheme="subtree", suppression="budget(5%)", time_limit=1e-9)
        assert len(front) == 1
        assert not front.complete
        assert front.point(1).lower_bound is not None
        assert front.point(1).lower_bound <= front.point(1).loss
        assert "evaluated" not in repr(front)

    @pytest.mark.parametrize("options", [{"privacy": "theta"}, {"privacy": ["k", "theta"]}, {"method": "poka"}])
    def test_only_k(self, options: dict[str, Any], table: pl.DataFrame) -> None:
        with pytest.raises(UnsupportedCombinationError, match="A front over a scheme other than full-domain"):
            find(table, scheme="subtree", **options)

    def test_local(self, table: pl.DataFrame) -> None:
        with pytest.raises(UnsupportedCombinationError, match="A front does not go with the scheme local"):
            find(table, scheme="local")


def interrupting(after: int) -> Callable[[object], None]:
    """Press Ctrl-C after so many progress reports."""
    calls = itertools.count(1)

    def interrupt(progress: object) -> None:
        if next(calls) == after:
            raise KeyboardInterrupt

    return interrupt


class TestStopping:
    SLOW: dict[str, Any] = {"privacy": "theta", "suppression": "budget(10%)"}  # noqa: RUF012

    def test_time_limit(self, table: pl.DataFrame) -> None:
        front = find(table, **self.SLOW, time_limit=1e-9)
        assert not front.complete
        assert 0 < front.examined < front.space
        assert "The search is not complete" in front.summary()
        true = {(point.k, point.loss) for point in find(table, **self.SLOW)}
        assert {(point.k, point.loss) for point in front if point.proven} <= true
        check_release(front.release(point=front[0]), front[0])

    @pytest.mark.parametrize(
        "options", [{}, SLOW, {"privacy": ["k", "theta"]}, {"scheme": "subtree"}, {"method": "poka"}]
    )
    def test_a_switch(self, options: dict[str, Any], table: pl.DataFrame) -> None:
        budget = dc.Budget()
        budget.stop.set()
        front = find(table, **options, budget=budget)
        assert len(front) > 0
        assert all(front.release(point=point).audit.passed for point in front)

    @pytest.mark.parametrize("options", [SLOW, {"privacy": ["k", "theta"], "suppression": "budget(10%)"}])
    def test_ctrl_c_keeps_the_front_so_far(self, options: dict[str, Any], table: pl.DataFrame) -> None:
        budget = dc.Budget()
        front = find(table, **options, budget=budget, progress=interrupting(2))
        assert budget.stop.is_set()
        assert not front.complete
        assert 0 < front.examined < front.space
        true = {(point.reached, round(point.loss, 9)) for point in find(table, **options)}
        assert {(point.reached, round(point.loss, 9)) for point in front if point.proven} <= true

    def test_ctrl_c_before_there_is_anything(self, table: pl.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupted(*arguments: object, **options: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("discreet.pipeline.prepare.count", interrupted)
        with pytest.raises(InterruptedRun, match="nothing was written"):
            find(table)

    def test_ctrl_c_while_releasing(self, front: Front, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupted(*arguments: object, **options: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("discreet.pipeline.make_release.publish", interrupted)
        with pytest.raises(InterruptedRun, match="nothing was written"):
            front.release(k=2, output=tmp_path / "safe.csv")
        assert not list(tmp_path.iterdir())

    def test_progress(self, table: pl.DataFrame) -> None:
        seen: list[Any] = []
        front = find(table, progress=seen.append)
        assert seen[-1].points == len(front)
        assert seen[-1].evaluated == front.examined
        assert seen[-1].open == 0
