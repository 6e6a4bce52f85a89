"""Both tables of Fig. 2 of Kiyomoto and Tanaka, made by the mechanism from one table.

The paper does not print the table they were made from. The one here is the coarsest that both can come from: two
people of each nationality, with a birth year, a gender and a zip code as specific as any of the two tables shows, and a
last digit of the zip code that neither does.
"""

from __future__ import annotations

import polars as pl
import pytest

import discreet as dc

ORIGINAL = pl.DataFrame(
    [
        ("1984", "Male", "01241", "UK"),
        ("1984", "Male", "01242", "Italy"),
        ("1985", "Female", "01231", "UK"),
        ("1985", "Female", "01232", "Italy"),
        ("1984", "Male", "01233", "USA"),
        ("1984", "Male", "01234", "USA"),
    ],
    schema=["birth", "gender", "zip", "nationality"],
    orient="row",
)
ZIPS = sorted(ORIGINAL["zip"].to_list())
TREES = {
    "birth": dc.Hierarchy.from_rows([[year, "198*", "*"] for year in ("1984", "1985")]),
    "gender": dc.Hierarchy.from_rows([["Female", "*"], ["Male", "*"]]),
    "zip": dc.Hierarchy.from_rows([[code, f"{code[:4]}*", f"{code[:3]}**", "*"] for code in ZIPS]),
    "nationality": dc.Hierarchy.from_rows([["Italy", "Europe", "*"], ["UK", "Europe", "*"], ["USA", "America", "*"]]),
}
LOGARITHM_BASED = [
    ("198*", "*", "012**", "UK"),
    ("198*", "*", "012**", "Italy"),
    ("198*", "*", "012**", "UK"),
    ("198*", "*", "012**", "Italy"),
    ("1984", "Male", "0123*", "USA"),
    ("1984", "Male", "0123*", "USA"),
]
ETA_BASED = [
    ("1984", "Male", "0124*", "Europe"),
    ("1984", "Male", "0124*", "Europe"),
    ("1985", "Female", "0123*", "Europe"),
    ("1985", "Female", "0123*", "Europe"),
    ("1984", "Male", "0123*", "USA"),
    ("1984", "Male", "0123*", "USA"),
]


@pytest.mark.parametrize(
    ("cost", "priorities", "table", "trail"),
    [
        (
            "score(log)",
            {"nationality": 10},  # "the attribute Nationality is the most valuable attribute in the table"
            LOGARITHM_BASED,
            [("pre-computation", (1, 1, 2, 1)), ("top-down", (1, 1, 2, 0))],
        ),
        (
            "score(eta, d=3)",
            {},
            ETA_BASED,
            [
                ("pre-computation", (1, 1, 2, 1)),
                ("top-down", (1, 1, 1, 1)),
                ("top-down", (1, 0, 1, 1)),
                ("top-down", (0, 0, 1, 1)),
            ],
        ),
    ],
)
def test_fig_2(cost, priorities, table, trail):
    release = dc.anonymize(
        ORIGINAL,
        quasi_identifiers=TREES,
        privacy="k(2)",
        cost=cost,
        priorities=priorities,
        scheme="local",
        solver="user-oriented",
        order="keep",
    )
    assert release.frame.rows() == table
    assert [(step["step"], tuple(step["levels"].values())) for step in release.stats["steps"]] == trail


def test_without_partial_domain_steps_the_americans_are_as_general_as_all_others():
    release = dc.anonymize(
        ORIGINAL,
        quasi_identifiers=TREES,
        privacy="k(2)",
        cost="score(log)",
        priorities={"nationality": 10},
        solver="user-oriented",
        order="keep",
    )
    assert release.levels == {"birth": 1, "gender": 1, "zip": 2, "nationality": 0}
    assert release.frame.row(4) == ("198*", "*", "012**", "USA")
