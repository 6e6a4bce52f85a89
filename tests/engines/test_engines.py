"""The same table gives the same release, with the same numbers, on every engine and by every way to release."""

from __future__ import annotations

import datetime
from collections import Counter
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import pytest

import discreet as dc
from discreet.errors import DataError, UsageError
from lazy import ENGINES, duckdb, make_relation, rows_of

QUASI: dict[str, Any] = {
    "age": "intervals(10, 20, 40)",
    "zip": "mask(digits=3)",
    "sex": "flat()",
    "dose": "intervals(1, 4)",
}
GLOBAL: dict[str, Any] = {"quasi_identifiers": QUASI, "sensitive": "disease", "class_attribute": "income"}
L_PLUS = {**GLOBAL, "privacy": "l+(0.5, disease)", "scheme": "subtree", "time_limit": 20}
LOCAL = {"quasi_identifiers": [*QUASI], "sensitive": "disease", "scheme": "local", "cost": "NCP", "seed": 1}

JOBS: dict[str, dict[str, Any]] = {
    "budget": {**GLOBAL, "privacy": ["k(4)", "distinct-l(2, disease)"], "suppression": "budget(0.3)"},
    "missing": {
        **GLOBAL,
        "identifiers": "name",
        "privacy": "k(3)",
        "suppression": "budget(0.5)",
        "missing": "suppress",
        "max_levels": {"age": 1, "zip": 1},
    },
    "everything": {**GLOBAL, "privacy": "k(120)", "suppression": "budget(1.0)", "max_levels": dict.fromkeys(QUASI, 0)},
    "subtree": {**GLOBAL, "privacy": "k(4)", "scheme": "subtree", "suppression": "budget(0.1)"},
    "partitions": {
        **GLOBAL,
        "privacy": "k(8)",
        "scheme": {"age": "ordered", "sex": "set"},
        "solver": "partitions",
        "time_limit": 20,
    },
    "class-records": {**L_PLUS, "suppression": "class-records"},
    "violating-records": {**L_PLUS, "suppression": "violating-records", "cost": "CM"},
    "class-values": {**L_PLUS, "suppression": "class-values"},
    "violating-values": {**L_PLUS, "suppression": "violating-values"},
    "local": {**LOCAL, "privacy": "k(4)"},
    "local, diverse": {**LOCAL, "privacy": ["k(3)", "distinct-l(2, disease)"]},
    "local, middle": {**LOCAL, "privacy": "k(4)", "scheme": "local(show=mean)"},
}


def people(n: int = 150, seed: int = 5) -> pl.DataFrame:
    """Nulls, NaN, negative zeros and equal rows, in an order of all columns: then the order of rows is that of values."""
    rng = np.random.default_rng(seed)

    def pick(values: list[Any], shares: list[float]) -> list[Any]:
        return [values[place] for place in rng.choice(len(values), n, p=shares)]

    table = pl.DataFrame(
        {
            "name": pick(["Ann", "Bob", "Cy", None], [0.3, 0.3, 0.3, 0.1]),
            "age": pick([21, 24, 33, 57, None], [0.3, 0.3, 0.2, 0.1, 0.1]),
            "disease": pick(["flu", "hiv", "ache", None], [0.45, 0.25, 0.2, 0.1]),
            "zip": pick(["011", "012", "020"], [0.4, 0.4, 0.2]),
            "sex": pick(["m", "f", None], [0.5, 0.4, 0.1]),
            "dose": pick([0.0, 1.5, None], [0.5, 0.4, 0.1]),
            "income": pick(["low", "high"], [0.6, 0.4]),
            "note": pick(["x", 'say "y"', None], [0.4, 0.4, 0.2]),
        },
        schema_overrides={"dose": pl.Float64},
    )
    return table.sort(table.columns)


def odd_numbers(table: pl.DataFrame) -> pl.DataFrame:
    """Write some zeros as negative ones, and what is missing as NaN."""
    dose, sign = pl.col("dose"), pl.int_range(pl.len()) % 2 == 0
    return table.with_columns(pl.when(dose == 0.0).then(pl.when(sign).then(-0.0).otherwise(0.0)).otherwise(dose.fill_null(float("nan"))))


def multiset(frame: Any) -> Counter[tuple[Any, ...]]:
    return Counter(rows_of(frame).rows())


def figures(release: dc.Release) -> dict[str, Any]:
    facts = release.to_dict()
    for key in ("seconds", "stats", "trace", "versions", "notes"):
        facts.pop(key, None)
    return facts


_expected: dict[str, dc.Release] = {}


def expected(job: str) -> dc.Release:
    if job not in _expected:
        _expected[job] = dc.anonymize(people(), **JOBS[job])
    return _expected[job]


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize("job", JOBS)
def test_same_release_on_every_engine(kind: str, job: str) -> None:
    data = make_relation(kind, people())
    release = dc.anonymize(data, **JOBS[job])
    assert type(release.frame) is type(data)
    assert figures(release) == figures(expected(job))
    assert multiset(release.frame) == multiset(expected(job).frame)
    assert list(nw.from_native(release.frame).columns) == expected(job).frame.columns
    told = {"quasi_identifiers": [*QUASI], "privacy": "k(1)"}
    assert dc.audit(release.frame, **told) == dc.audit(expected(job).frame, **told)


def test_the_jobs_do_what_they_should_show() -> None:
    """Every way to leave something out is used, and rows of one tuple are shared between groups."""
    assert all(expected(job).suppressed for job in ("budget", "missing", "everything", "class-records", "violating-records"))
    assert all(expected(job).suppressed_values for job in ("class-values", "violating-values"))
    assert expected("missing").dropped_missing
    table, shared = people(), 0
    both = table.select(*QUASI).hstack([s.alias(f"to {s.name}") for s in expected("local").frame.select(*QUASI)])
    shared = both.group_by([*QUASI]).agg(pl.struct(pl.exclude(*QUASI)).n_unique().alias("ways"))["ways"].max()
    assert shared > 1
