"""Optimal means optimal, however large or small the numbers are; and what is equal is released alike."""

from __future__ import annotations

import polars as pl
import pytest

import discreet as dc
from discreet.errors import OutputError
from discreet.solve import Solution


def test_large_costs_are_told_apart():
    n = 100_000
    table = pl.DataFrame({"a": [0] * n + [1, 2, 3, 4], "b": ["z"] * n + ["u", "u", "v", "v"]})
    tree = dc.Hierarchy.from_rows([["z", "z", "*"], ["u", "g", "*"], ["v", "g", "*"]])
    keys = {"a": "flat", "b": tree}
    release = dc.anonymize(table, quasi_identifiers=keys, privacy="k(2)", cost="DM")
    limited = dc.anonymize(table, quasi_identifiers=keys, privacy="k(2)", cost="DM", max_levels={"b": 0})
    assert release.cost == limited.cost == 10_000_000_008


@pytest.mark.parametrize(("a", "b", "cost"), [(1e9, 1.0, 4e9), (1e-11, 1e-11, 4e-11)])
def test_weights_of_any_size(a, b, cost):
    table = pl.DataFrame({"a": ["1", "2", "3", "4"], "b": ["x", "x", "y", "y"]})
    loss = dc.Loss(weights={"a": a, "b": b})
    release = dc.anonymize(table, quasi_identifiers={"a": "flat", "b": "flat"}, privacy="k(2)", cost=loss)
    assert release.cost == pytest.approx(cost, rel=1e-12)
    assert release.levels == {"a": 1, "b": 0}


def test_negative_zero_is_zero(tmp_path):
    table = pl.DataFrame({"q": [0.0, 0.0, 0.0, -0.0]})
    release = dc.anonymize(table, quasi_identifiers=["q"], privacy="k(4)", output=tmp_path / "o.csv")
    assert release.audit.passed
    assert "-0" not in (tmp_path / "o.csv").read_text()
    assert "-0" not in dc.anonymize(table, quasi_identifiers=["q"], privacy="k(4)").frame.write_csv()
    assert "-0" not in dc.anonymize(table.to_pandas(), quasi_identifiers=["q"], privacy="k(4)").frame.to_csv()


def test_objects_that_are_equal_are_released_alike():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"q": pandas.Series([1, 1, 1, 1.0], dtype=object)})
    release = dc.anonymize(table, quasi_identifiers=["q"], privacy="k(4)")
    assert len(set(release.frame["q"].astype(str))) == 1


@pytest.mark.parametrize("kind", ["eager", "lazy", "parquet"])
def test_an_enum_does_not_list_what_was_suppressed(tmp_path, kind):
    table = pl.DataFrame({"q": ["a", "a", "CANARY"]}, schema={"q": pl.Enum(["a", "CANARY"])})
    table.write_parquet(tmp_path / "e.parquet")
    data = {"eager": table, "lazy": table.lazy(), "parquet": tmp_path / "e.parquet"}[kind]
    release = dc.anonymize(
        data, quasi_identifiers={"q": "flat"}, privacy="k(2)", suppression="budget(1)", max_levels={"q": 0}
    )
    assert release.suppressed == 1
    assert "CANARY" not in repr(release.frame.lazy().collect_schema())


def test_no_cost_is_below_zero():
    rounded = Solution("optimal", -4e-16, -4e-16)
    assert (str(rounded.cost), str(rounded.lower_bound), rounded.gap) == ("0.0", "0.0", 0)
    assert Solution("feasible", 1.0, -1.0).lower_bound == -1, "a wrong bound is not hidden"


def test_a_release_is_not_written_over_its_input(tmp_path):
    source = tmp_path / "in.csv"
    source.write_text("a\n" + "1\n" * 4)
    release = dc.anonymize(source, quasi_identifiers=["a"], privacy="k(2)")
    with pytest.raises(OutputError):
        release.write(source)
    assert source.read_text().startswith("a\n1")
