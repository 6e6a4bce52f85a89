"""Local recoding from a table to a table: rows keep their places and other columns, and show their class's values."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray

import discreet as dc
from discreet.problem import Classes, PrivacyModel
from discreet.problem.privacy import Groups, SensitiveModel
from visits import QUASI, SOLVERS, SmallClasses, checked, released, visits

# --- promises ---------------------------------------------------------------------------------------------------------

MODELS = [
    ["k(3)"],
    ["k(3)", "distinct-l(3, disease)"],
    ["entropy-l(2, disease)"],
    ["recursive-cl(3, 2, disease)"],
    ["l+(0.5, disease)"],
    ["k(2)", "t(0.3, disease)"],
    ["k(2)", "t(0.3, disease, ordered)"],
    ["k(4)", "distinct-l(2, disease)", "l+(0.6, grade)", "distinct-l(2, grade)"],
]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("privacy", MODELS, ids=lambda privacy: " ".join(privacy))
def test_every_model_with_every_solver(privacy: list[str], solver: str) -> None:
    table = visits()
    quasi = {name: QUASI[name] for name in ("age", "dose", "ward", "zip")}
    release = released(table, quasi, sensitive=["disease", "grade"], privacy=privacy, solver=solver)
    checked(table, release, quasi, int(privacy[0][2]) if privacy[0].startswith("k(") else 1)
    assert release.suppressed == 0


@pytest.mark.parametrize("kind", ["budget(10%)", "budget(3)", "class-records"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_suppression(kind: str, solver: str) -> None:
    table = pl.concat([visits(), visits(1).with_columns(pl.lit(10_000, dtype=pl.Int64).alias("age"))])
    table = table.drop("row").with_row_index("row")
    quasi = {name: QUASI[name] for name in ("age", "day", "ward")}
    job = {"suppression": kind, "solver": solver, "sensitive": "disease", "privacy": ["k(4)", "distinct-l(2)"]}
    releases = [released(table, quasi, seed=seed, **job) for seed in (1, 2)]
    for release in releases:
        checked(table, release, quasi)
        assert release.suppressed <= {"budget(10%)": len(table) // 10, "budget(3)": 3}.get(kind, len(table))
    if solver == "local" and kind == "budget(3)":  # the row that is far from all others
        assert any(release.suppressed for release in releases)
        assert 10_000 not in {int(shown) for shown in release.frame["age"] if str(shown).isdigit()}


@dataclass(frozen=True)
class NoMajority(SensitiveModel):
    """At most a share of a class has the same sensitive value: l+ in plain numpy, and not known to be closed."""

    name = "no-majority"
    plain = ("attribute",)

    share: float
    attribute: str | None = None

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        return np.asarray(self.counts(classes).max(axis=1) <= self.share * classes.sizes + 1e-9)

    def reached(self, groups: Groups) -> float:
        return max((groups.count / groups.sizes[groups.group]).tolist(), default=0.0)

    def satisfied_by(self, reached: float) -> bool:
        return reached <= self.share + 1e-9


@dataclass(frozen=True)
class EvenClasses(PrivacyModel):
    """The number of rows is even; nothing says so but the arrays."""

    name = "even"

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        return classes.sizes % 2 == 0

    def reached(self, groups: Groups) -> float:
        return float((groups.sizes % 2).max(initial=0))

    def satisfied_by(self, reached: float) -> bool:
        return reached == 0


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("model", [NoMajority(0.5, "disease"), EvenClasses()], ids=["no-majority", "even"])
def test_a_model_of_the_users_own(model: PrivacyModel, solver: str) -> None:
    table = visits()
    quasi = {name: QUASI[name] for name in ("age", "ward")}
    release = released(table, quasi, sensitive="disease", privacy=["k(3)", model], solver=solver)
    checked(table, release, quasi, 3)
    assert release.classes > 1


def test_classes_that_look_alike_are_one_class() -> None:
    """Groups that show the same values are one class to whoever reads them, and are judged as one."""
    table = pl.DataFrame({"x": [1] * 8 + [2] * 4}).with_row_index("row")
    release = released(table, ["x"], privacy=["k(2)", SmallClasses(8)])
    checked(table, release, ["x"], 2)
    with pytest.raises(dc.NothingFoundError, match="no proof that there is none"):
        released(table, ["x"], privacy=["k(2)", SmallClasses(7)])


@pytest.mark.parametrize("seed", range(12))
def test_random_jobs(seed: int, frame_constructor: Any, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    rng = random.Random(request.node.name)
    table = visits(rng.randint(2, 120), seed)
    quasi = {name: QUASI[name] for name in rng.sample(sorted(QUASI), rng.randint(1, 5)) if name != "grade"}
    own: list[list[Any]] = [["k(2)", NoMajority(0.5, "disease")], ["k(2)", EvenClasses()], ["k(2)", SmallClasses(9)]]
    privacy = rng.choice([*MODELS, *own])
    options: dict[str, Any] = {
        "cost": rng.choice(["NCP", "LM", "LM(penalty=l+)", "NCP(weights={age: 3})"]),
        "suppression": rng.choice(["none", "budget(10%)", "class-records"]),
        "missing": rng.choice(["value", "suppress"]),
        "time_limit": rng.choice([None, None, 1e-6]),
        "output": rng.choice([None, tmp_path / "safe.csv", tmp_path / "safe.parquet"]),
        "order": "keep",
    }
    quasi["age"] = None
    options |= {"sensitive": ["disease", "grade"], "solver": rng.choice(SOLVERS)}
    try:
        release = released(frame_constructor(table), quasi, privacy=privacy, **options)
    except (dc.InfeasibleError, dc.NothingFoundError, dc.UsageError, dc.DataError):
        return
    if options["missing"] == "suppress":
        known = [pl.col(column).is_not_null() for column in quasi]
        table = table.filter(*known, pl.col("dose").is_not_nan() if "dose" in quasi else True)
    checked(table, release, quasi, int(privacy[0][2]) if privacy[0].startswith("k(") else 1)


# --- other costs and suppression --------------------------------------------------------------------------------------


@pytest.mark.parametrize("cost", ["DM", "HDM", "CM", "C_AVG", "entropy", "ambiguity"])
def test_other_costs(cost: str) -> None:
    release = released(visits(), cost=cost, class_attribute="disease" if cost == "CM" else None)
    assert release.audit.passed
    assert 0 <= release.lower_bound <= release.cost


# --- what does not go together ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scheme": {"age": "local"}}, "scheme local"),
        ({"scheme": {**dict.fromkeys(QUASI, "local"), "zip": "subtree"}}, "scheme"),
        ({"cost": "precision"}, "precision"),
        ({"cost": "C_AVG", "suppression": "class-values", "privacy": ["k(2)", "distinct-l(2)"]}, "class-values"),
        ({"solver": "lattice"}, "lattice"),
        ({"solver": "cuts"}, "cuts"),
        ({"scheme": "full-domain", "solver": "mondrian", "cost": "LM"}, "it searches local"),
        ({"scheme": "local(show=middle)"}, "cover, mean, median, mode"),
        ({"solver": "local(effort=much)"}, "low, default, high"),
        ({"solver": "local(bound=tight)"}, "nearest, prices, none"),
        ({"solver": "mondrian(cut=loose)"}, "strict, relaxed"),
        ({"min_levels": {"age": 1}}, "A limit on the levels of 'age'"),
        ({"max_levels": {"age": 1}}, "A limit on the levels of 'age'"),
    ],
    ids=str,
)
def test_refusals(options: dict[str, Any], message: str) -> None:
    with pytest.raises(dc.UsageError) as error:
        released(visits(), sensitive="disease", **options)
    assert message in error.value.message
    assert error.value.message.count(". ") == 0


def test_one_scheme_for_all_as_a_mapping() -> None:
    table = visits()
    release = released(table, scheme=dict.fromkeys(QUASI, "local"))
    checked(table, release)


# --- the same again ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", [*SOLVERS, "local(effort=high)"])
def test_same_seed_same_bytes(solver: str, tmp_path: Path) -> None:
    table = visits()
    for number in (1, 2):
        released(table, output=tmp_path / f"{number}.csv", solver=solver, seed=7)
    assert (tmp_path / "1.csv").read_bytes() == (tmp_path / "2.csv").read_bytes()


def test_bounds() -> None:
    table = visits(25)
    quasi = ["age", "day"]
    quick, tight, none = (
        released(table, quasi, privacy="k(3)", solver=f"local(bound={bound})")
        for bound in ("nearest", "prices", "none")
    )
    assert none.lower_bound == 0.0 < quick.lower_bound <= tight.lower_bound + 1e-6 <= tight.cost + 1e-6
    assert quick.cost == tight.cost == none.cost


def test_weights() -> None:
    table = visits()
    quasi = ["age", "day"]
    plain = released(table, quasi)
    heavy = released(table, quasi, cost="NCP(weights={age: 20})")

    def spread(release: dc.Release) -> float:
        parsed = {text: dc.parse_block(text) for text in release.frame["age"].unique()}
        return sum(
            100.0 if getattr(block, "everything", False) else block.right - block.left
            for text in release.frame["age"]
            if (block := parsed[text]) and (isinstance(block, dc.Interval) or block.everything)
        )

    assert spread(heavy) <= spread(plain)


def test_pandas_index_stays() -> None:
    table = visits()
    index = [f"i{number}" for number in range(len(table))]
    frame = table.to_pandas().set_index(pd.Index(index))
    release = released(frame, ["age", "day"], suppression="budget(5)", keep=["index"])
    kept = release.frame
    assert [index[number] for number in kept["row"]] == list(kept.index)


def test_the_same_seed_gives_the_same_release_where_text_is_sensitive() -> None:
    people = dc.sample(700, seed=4).select("birth_date", "sex", "education", "occupation")
    settings: dict[str, Any] = {
        "quasi_identifiers": ["birth_date", "sex", "education"],
        "sensitive": "occupation",
        "privacy": ["k(3)", "distinct-l(3, occupation)"],
        "scheme": "local",
        "seed": 2,
    }
    frames = [dc.anonymize(people, **settings).frame for _ in range(3)]
    assert frames[0].equals(frames[1])
    assert frames[0].equals(frames[2])


@pytest.mark.parametrize(("rows", "k"), [(20, 10), (21, 10), (25, 10), (100, 50)])
def test_a_table_of_little_more_than_two_classes_is_cut(rows: int, k: int) -> None:
    table = pl.DataFrame({"x": list(range(rows))})
    settings: dict[str, Any] = {"quasi_identifiers": ["x"], "privacy": f"k({k})", "cost": "NCP", "scheme": "local"}
    assert dc.anonymize(table, seed=1, **settings).cost <= dc.anonymize(table, solver="mondrian", **settings).cost


def test_numbers_too_far_apart_to_compare() -> None:
    table = pl.DataFrame({"x": [1e308, -1e308, 1.0, 2.0]})
    with pytest.raises(dc.DataError, match="too far apart"):
        dc.anonymize(table, quasi_identifiers=["x"], privacy="k(2)", cost="NCP", scheme="local")


def test_a_bound_is_told_although_the_time_is_over() -> None:
    settings: dict[str, Any] = {"quasi_identifiers": ["birth_date", "sex", "zip"], "privacy": "k(4)", "scheme": "local"}
    release = dc.anonymize(dc.sample(500, seed=3).select("birth_date", "sex", "zip"), time_limit=1e-6, **settings)
    assert 0 < release.lower_bound <= release.cost
