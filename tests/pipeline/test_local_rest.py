"""Local recoding where not even all rows together keep the promises: as few rows as possible go first."""

from __future__ import annotations

import polars as pl
import pytest

import discreet as dc

SOLVERS = ["local", "mondrian", "top-down", "bottom-up", "mdav"]


def released(values: str, privacy: list[str], suppression: str, solver: str = "local") -> dc.Release:
    table = pl.DataFrame({"age": range(len(values)), "s": list(values), "u": list("xy" * len(values))[: len(values)]})
    return dc.anonymize(
        table, quasi_identifiers=["age"], sensitive=["s", "u"], privacy=privacy, suppression=suppression,
        scheme="local", cost="NCP", solver=solver, seed=1,
    )  # fmt: skip


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_frequent_value_is_cut_down(solver: str) -> None:
    """Of five a and two b, three a must go so that no value has more than half of a class."""
    for kind in ("budget(3)", "budget(5)", "class-records"):
        release = released("aaaaabb", ["l+(0.5, s)"], kind, solver)
        assert release.audit.passed
        assert release.suppressed >= 3
        assert release.suppressed <= {"budget(3)": 3, "budget(5)": 5}.get(kind, 7)
        assert release.lower_bound <= release.cost


def test_too_small_a_budget_is_proven_to_be_one() -> None:
    with pytest.raises(dc.InfeasibleError, match=r"budget\(3\)") as caught:
        released("aaaaabb", ["l+(0.5, s)"], "budget(2)")
    assert caught.value.smallest_budget == 3


def test_two_columns() -> None:
    release = released("aaaaabb", ["l+(0.5, s)", "l+(0.75, u)"], "budget(6)")
    assert release.audit.passed
    assert 3 <= release.suppressed <= 6


def test_nothing_may_go() -> None:
    with pytest.raises(dc.InfeasibleError):
        released("aaaaabb", ["l+(0.5, s)"], "none")
