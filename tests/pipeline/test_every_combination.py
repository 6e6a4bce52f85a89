"""Releases of all global schemes with all suppression kinds and costs: made, audited and measured again."""

from __future__ import annotations

import polars as pl
import pytest

import discreet as dc
from discreet.errors import UnsupportedCombinationError
from discreet.problem import COSTS, SCHEMES

KINDS = ("budget(0.2)", "violating-records", "class-values", "violating-values")
REFUSED = {
    "class-values": {"C_AVG", "precision", "entropy", "ambiguity", "score"},
    "violating-values": {"C_AVG", "precision", "entropy", "ambiguity", "score"},
}
"""Costs that do not define what a kind does."""
NO_NODES = {"ordered", "guided-ordered", "set", "guided-set"}


@pytest.fixture(scope="module")
def people():
    rows = [(i * 7 % 5, "pqrst"[i * 3 % 5], "xyz"[(i * i) % 7 % 3], "uv"[i % 3 == 0]) for i in range(40)]
    return pl.DataFrame(rows, schema=["b", "a", "s", "c"], orient="row")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scheme", [name for name, scheme in SCHEMES.members().items() if scheme.is_global])
def test_released_and_audited(people, scheme, kind):
    for cost in COSTS.members():
        options = {
            "quasi_identifiers": {"a": dc.groups({"g": ["p", "q"], "h": ["r", "s", "t"]}), "b": dc.intervals(2, 4)},
            "sensitive": ["s"],
            "class_attribute": "c",
            "privacy": ["k(2)", "l+(0.6, s)"],
            "suppression": kind,
            "scheme": scheme,
            "cost": cost,
        }
        if cost in REFUSED.get(kind, ()) or cost == "SSE" or (cost == "precision" and scheme in NO_NODES):
            with pytest.raises(UnsupportedCombinationError) as caught:
                dc.anonymize(people, **options)
            assert caught.value.parts[0] == f"The cost {cost}"
            continue
        release = dc.anonymize(people, **options, seed=1)
        assert release.status == "optimal", cost
        assert release.audit.passed, cost
        sizes = release.frame.group_by("a", "b").len()["len"]
        assert sizes.min() >= 2, cost
        if "values" in kind:
            assert release.frame.height == people.height
            assert (release.frame["s"] == "*").sum() == release.suppressed_values
