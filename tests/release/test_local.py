"""Local recoding from a table to a table: rows keep their places and other columns, and show their class's values."""

from __future__ import annotations

import datetime
import random
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray

import discreet as dc
from discreet.engines import open_table, to_lazy
from discreet.problem import Classes, PrivacyModel
from discreet.problem.privacy import Groups
from discreet.problem.privacy._sensitive import SensitiveModel

WARDS = {"inside": ["A", "B", "C"], "outside": ["D", "E"]}
GRADES = ["low", "middle", "high"]
QUASI: dict[str, Any] = {
    "age": None,
    "day": None,
    "dose": None,
    "ward": dc.groups(WARDS),
    "grade": None,
    "zip": "mask(digits=5)",
}
SOLVERS = [
    "local",
    "local(effort=low)",
    "mondrian(cut=relaxed, categories=tree)",
    "mondrian",
    "top-down",
    "bottom-up",
    "mdav",
]


def visits(n: int = 90, seed: int = 4) -> pl.DataFrame:
    """A table with all kinds of columns, missing values and repeated tuples; ``row`` numbers its rows."""
    rng = random.Random(seed)
    rows = [
        {
            "age": rng.choice([None, 20, 21, 30, 30, 31, 45, 80]),
            "note": rng.choice([None, 'said "hi", twice', "line\nbreak", "plain"]),
            "day": rng.choice([None, *(datetime.date(2024, month, 1) for month in (1, 1, 2, 7, 12))]),
            "dose": rng.choice([None, float("nan"), -0.0, 0.0, 0.5, 0.5, 12.25]),
            "ward": rng.choice("AABCDE"),
            "grade": rng.choice([None, *GRADES]),
            "zip": f"0{rng.choice([1000, 1001, 1010, 2000])}",
            "disease": rng.choice(["flu", "flu", "ache", "hiv", "cold", None]),
        }
        for _ in range(n)
    ]
    table = pl.DataFrame(rows + rows[: n // 3], schema_overrides={"dose": pl.Float64}, strict=False)
    return table.with_columns(
        pl.col("ward").cast(pl.Categorical), pl.col("grade").cast(pl.Enum(GRADES))
    ).with_row_index("row")


def released(table: Any, quasi: Any = None, **options: Any) -> dc.Release:
    """Recode locally, with a seed and an audit."""
    told: dict[str, Any] = {"privacy": "k(4)", "scheme": "local", "cost": "NCP", "seed": 1, **options}
    release = dc.anonymize(table, quasi_identifiers=QUASI if quasi is None else quasi, **told)
    assert release.audit.passed
    assert 0.0 <= release.lower_bound <= release.cost
    return release


def same(value: Any) -> Any:
    """A cell as text: a number is the same number, and missing is missing, however a file or a frame holds it."""
    if value in (None, "", "NaN") or value != value:
        return None
    return str(value).removesuffix(".0").removesuffix(" 00:00:00")


def checked(before: pl.DataFrame, release: dc.Release, quasi: Any = None, k: int = 4, *, covers: bool = True) -> None:
    """Check row by row what was released against what was there, and the sizes of the classes."""
    chosen = QUASI if quasi is None else quasi
    trees = chosen if isinstance(chosen, dict) else dict.fromkeys(chosen)
    after = to_lazy(release.frame).collect()
    assert release.levels == {}
    assert release.blocks == {}
    numbers = [int(row) for row in after["row"]]
    assert numbers == sorted(set(numbers))
    assert len(numbers) == len(before) - release.suppressed
    originals = {row["row"]: row for row in before.to_dicts()}
    told: dict[tuple[str, Any], Any] = {}
    for number, row in zip(numbers, after.to_dicts(), strict=True):
        original = originals[number]
        for column, value in row.items():
            if column not in trees:
                assert same(value) == same(original[column])
            elif covers and column == "zip":
                assert value == "*" or re.fullmatch(value.replace("*", "."), original[column])
            elif covers:
                if (column, value) not in told:
                    told[column, value] = dc.parse_block(value, trees[column])
                assert original[column] in told[column, value], column
    sizes = Counter(after.select(list(trees)).cast(pl.String).rows())
    assert len(sizes) == release.classes
    assert min(sizes.values(), default=k) >= k


# --- kinds of tables --------------------------------------------------------------------------------------------------


def test_every_kind_of_table(constructor: Any) -> None:
    table = visits()
    release = released(constructor(table.with_columns(pl.col("dose").fill_nan(None))))
    checked(table, release)
    assert release.classes > 5


def test_the_same_kind_comes_out(frame_constructor: Any) -> None:
    given = frame_constructor(visits())
    assert type(released(given).frame) is type(given)


@pytest.mark.parametrize("name", ["safe.csv", "safe.parquet", "safe.jsonl", "safe.tsv.gz"])
def test_every_kind_of_file(name: str, tmp_path: Path) -> None:
    table = visits()
    release = released(table, output=tmp_path / name, sensitive="disease", privacy=["k(4)", "distinct-l(2)"])
    checked(table, release)
    assert open_table(tmp_path / name).scan().collect().height == table.height
    again = dc.audit(
        tmp_path / name, quasi_identifiers=list(QUASI), sensitive="disease", privacy=["k(4)", "distinct-l(2)"]
    )
    assert again.passed


def test_nan_and_negative_zero_are_no_values_of_their_own(frame_constructor: Any) -> None:
    table = pl.DataFrame({"x": [0.0, -0.0, 0.0, float("nan"), None, float("nan"), 1.5, 1.5, 1.5]}).with_row_index("row")
    release = released(frame_constructor(table), ["x"], privacy="k(3)")
    checked(table, release, ["x"], 3)
    assert (release.cost, release.classes, release.status) == (0.0, 3, "optimal")


def test_columns_that_need_no_change_keep_their_type() -> None:
    table = pl.DataFrame(
        {
            "x": [1.5, 1.5, 2.5, 2.5],
            "day": [datetime.date(2024, 1, 1)] * 4,
            "c": pl.Series(list("aabb"), dtype=pl.Categorical),
            "age": [1, 2, 3, 4],
        }
    ).with_row_index("row")
    release = released(table, ["x", "day", "c", "age"], privacy="k(2)")
    assert release.frame.drop("age").equals(table.drop("age"))
    assert release.frame["age"].to_list() == ["[1, 2]", "[1, 2]", "[3, 4]", "[3, 4]"]
    assert release.released_values["age"] == 2


def test_equal_rows_may_go_to_different_classes() -> None:
    table = pl.DataFrame({"x": [1] * 2 + [5] * 6}).with_row_index("row")
    release = released(table, ["x"], privacy="k(3)")
    checked(table, release, ["x"], 3)
    assert release.frame["x"][2:].n_unique() == 2
    assert release.cost == pytest.approx(3)


def test_odd_names_of_columns() -> None:
    names = ["group", "tuple", "place", "code0", "shown0", "dealt", "rows", "count", "leaf", "level_0"]
    rng = random.Random(2)
    columns = {name: [rng.choice([1, 1, 2, 3, 9]) for _ in range(60)] for name in names}
    table = pl.DataFrame({**columns, "value": ["a", "b", "c"] * 20, "code1": [*range(60)]}).with_row_index("row")
    quasi = names[:5]
    for show in ("cover", "mean"):
        release = released(
            table, quasi, scheme=f"local(show={show})", sensitive="value", privacy=["k(3)", "distinct-l(2)"]
        )
        assert release.frame.columns == table.columns
        checked(table, release, quasi, 3, covers=show == "cover")


def test_texts_that_look_like_something_else() -> None:
    odd = ["{a, b}", "a", "b", 'say "x"', "a or missing", None, "*", "[1, 2]", "x, y", " ", "ä"]
    rng = random.Random(3)
    table = pl.DataFrame({"t": [rng.choice(odd) for _ in range(40)], "u": [rng.choice("pq") for _ in range(40)]})
    table = table.with_row_index("row")
    release = released(table, ["t", "u"], privacy="k(5)")
    leaves = [text for text in odd if text is not None]
    shown = release.frame["t"].to_list()
    blocks = [dc.parse_block(text, leaves) for text in shown]
    assert all(value in block for value, block in zip(table["t"], blocks, strict=True))


def test_spellings_of_one_number_are_one_value() -> None:
    table = pl.DataFrame({"x": ["1.5", "1.50", "2", "2.0"], "row": range(4)})
    release = released(table, ["x"], privacy="k(2)")
    assert release.cost == 0.0
    assert release.frame["x"].n_unique() == 2


def test_empty_text_in_a_sensitive_column_of_a_file(tmp_path: Path) -> None:
    table = pl.DataFrame({"x": [*range(12)], "s": ["", None, "a", "b"] * 3}).with_row_index("row")
    release = released(table, ["x"], sensitive="s", privacy=["k(2)", "distinct-l(3, s)"], output=tmp_path / "safe.csv")
    checked(table, release, ["x"], 2)


def test_times_of_day_and_whole_numbers_without_end() -> None:
    when = [datetime.datetime(2024, 1, 1 + day, 12, 30) for day in range(8)]
    table = pl.DataFrame({"when": when, "n": [10**15 + i for i in range(8)]}).with_row_index("row")
    for show in ("cover", "mean", "median", "mode"):
        release = released(table, ["when", "n"], privacy="k(4)", scheme=f"local(show={show})")
        checked(table, release, ["when", "n"], 4, covers=show == "cover")


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
    release = released(
        table, quasi, suppression=kind, solver=solver, sensitive="disease", privacy=["k(4)", "distinct-l(2)"]
    )
    checked(table, release, quasi)
    assert release.suppressed <= {"budget(10%)": len(table) // 10, "budget(3)": 3}.get(kind, len(table))
    if solver == "local" and kind == "budget(3)":
        assert release.suppressed
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


@dataclass(frozen=True)
class SmallClasses(PrivacyModel):
    """At most so many rows: two classes that are ok need not be ok together."""

    name = "small"
    most: int

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        return classes.sizes <= self.most

    def reached(self, groups: Groups) -> float:
        return float(groups.sizes.max(initial=0))

    def satisfied_by(self, reached: float) -> bool:
        return reached <= self.most


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
    with pytest.raises(dc.InfeasibleError):
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
    }
    quasi["age"] = None
    options |= {"sensitive": ["disease", "grade"], "solver": rng.choice(SOLVERS)}
    try:
        release = released(frame_constructor(table), quasi, privacy=privacy, **options)
    except (dc.InfeasibleError, dc.UsageError, dc.DataError):
        return
    if options["missing"] == "suppress":
        known = [pl.col(column).is_not_null() for column in quasi]
        table = table.filter(*known, pl.col("dose").is_not_nan() if "dose" in quasi else True)
    checked(table, release, quasi, int(privacy[0][2]) if privacy[0].startswith("k(") else 1)


# --- one value for each class -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("show", ["mean", "median"])
def test_microaggregation(show: str) -> None:
    table = pl.DataFrame(
        {
            "age": [20, 21, 25, 60, 61, 80],
            "day": [datetime.date(2024, 1, day) for day in (1, 2, 6)]
            + [datetime.date(2025, 6, day) for day in (1, 2, 6)],
            "ward": ["A", "B", "B", "C", "C", "A"],
        }
    ).with_row_index("row")
    release = released(table, ["age", "day", "ward"], privacy="k(3)", scheme=f"local(show={show})")
    checked(table, release, ["age", "day", "ward"], 3, covers=False)
    frame = release.frame
    assert frame["age"].to_list() == ([22.0] * 3 + [67.0] * 3 if show == "mean" else [21.0] * 3 + [61.0] * 3)
    days = [(1, 3), (6, 3)] if show == "mean" else [(1, 2), (6, 2)]
    assert frame["day"].dtype == pl.Date
    assert [(day.month, day.day) for day in frame["day"].unique(maintain_order=True)] == days
    assert frame["ward"].to_list() == ["B"] * 3 + ["C"] * 3


def test_the_most_frequent_value() -> None:
    table = pl.DataFrame(
        {
            "age": [21, 20, 20, 61, 60, 80],
            "day": [datetime.date(2024, 1, day) for day in (6, 6, 2)] + [None, None, datetime.date(2025, 6, 6)],
            "ward": ["A", "B", "B", "C", "C", "A"],
        }
    ).with_row_index("row")
    release = released(table, ["age", "day", "ward"], privacy="k(3)", scheme="local(show=mode)")
    checked(table, release, ["age", "day", "ward"], 3, covers=False)
    frame = release.frame
    assert frame["age"].to_list() == [20.0] * 3 + [60.0] * 3
    assert frame["day"].to_list() == [datetime.date(2024, 1, 6)] * 3 + [None] * 3
    assert frame["ward"].to_list() == ["B"] * 3 + ["C"] * 3
    assert release.stats["covered"]["age"] > 0


@pytest.mark.parametrize("show", ["mean", "median", "mode"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_groups_that_show_the_same_are_one_class_to_every_model(show: str, solver: str) -> None:
    for seed in range(4):
        table, quasi = visits(80, seed), {name: QUASI[name] for name in ("age", "day", "ward")}
        try:
            release = released(
                table, quasi, privacy=["k(3)", SmallClasses(9)], scheme=f"local(show={show})", solver=solver
            )
        except dc.InfeasibleError:
            continue
        checked(table, release, quasi, 3, covers=False)


@pytest.mark.parametrize("show", ["mean", "median", "mode"])
def test_microaggregation_of_every_kind(show: str, constructor: Any) -> None:
    table = visits()
    release = released(constructor(table.with_columns(pl.col("dose").fill_nan(None))), scheme=f"local(show={show})")
    checked(table, release, covers=False)


def test_there_is_no_negative_zero_in_the_middle(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("row,x\n0,-0.0\n1,0.0\n2,-0.0\n3,0.0\n")
    release = released(tmp_path / "x.csv", ["x"], privacy="k(2)", scheme="local(show=median)")
    assert {str(value) for value in release.frame["x"]} == {"0.0"}


def test_a_class_most_of_which_is_missing_shows_nothing() -> None:
    table = pl.DataFrame({"x": [None, None, 5, 7, 8, 8]}).with_row_index("row")
    release = released(table, ["x"], privacy="k(3)", scheme="local(show=mean)")
    assert release.frame["x"].null_count() in (0, 3)
    checked(table, release, ["x"], 3, covers=False)


# --- missing values ---------------------------------------------------------------------------------------------------


def test_rows_with_missing_values_may_be_left_out(frame_constructor: Any) -> None:
    """A sensitive value that only rows left out have is no value of the release."""
    table = visits().with_columns(disease=pl.when(pl.col("age").is_null()).then(pl.lit("rare")).otherwise("disease"))
    told: dict[str, Any] = {"sensitive": "disease", "privacy": ["k(4)", "distinct-l(2)"], "missing": "suppress"}
    release = released(frame_constructor(table), ["age", "ward"], **told)
    checked(table.drop_nulls("age"), release, ["age", "ward"])
    assert release.dropped_missing == table["age"].null_count()
    with pytest.raises(dc.DataError, match="missing"):
        released(table, ["age"], missing="error")


# --- small and extreme tables -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
def test_one_row(solver: str) -> None:
    table = pl.DataFrame({"x": [3], "t": ["a"], "row": [0]})
    release = released(table, ["x", "t"], privacy="k(1)", solver=solver)
    assert release.frame.equals(table)
    assert (release.cost, release.status) == (0.0, "optimal")


@pytest.mark.parametrize("solver", SOLVERS)
def test_constant_columns(solver: str) -> None:
    table = pl.DataFrame({"x": [3] * 9, "none": pl.Series([None] * 9, dtype=pl.Float64), "y": [*range(9)]})
    table = table.with_row_index("row")
    release = released(table, ["x", "none", "y"], privacy="k(3)", solver=solver)
    checked(table, release, ["x", "none", "y"], 3)
    alone = released(table, ["x", "none"], privacy="k(3)", solver=solver)
    assert (alone.cost, alone.classes) == (0.0, 1)


@pytest.mark.parametrize("solver", SOLVERS)
def test_k_of_the_whole_table(solver: str) -> None:
    table = visits(30)
    release = released(table, privacy=f"k({len(table)})", solver=solver)
    checked(table, release, k=len(table))
    assert release.classes == 1


def test_more_than_there_are_rows() -> None:
    with pytest.raises(dc.DiscreetError, match="rows"):
        released(visits(3), privacy="k(50)")


def test_what_can_never_be_kept() -> None:
    table = visits().with_columns(pl.when(pl.col("row") > 3).then(pl.lit("flu")).otherwise("disease").alias("disease"))
    told: dict[str, Any] = {"sensitive": "disease"}
    with pytest.raises(dc.DiscreetError, match=r"l\+\(0.5, disease\)"):
        released(table, privacy="l+(0.5, disease)", **told)
    with pytest.raises(dc.DiscreetError, match="No recoding keeps"):
        released(table, privacy=["k(2)", SmallClasses(1)], **told)


def test_nothing_left() -> None:
    table = visits()
    release = released(table, privacy=["k(2)", SmallClasses(1)], suppression="class-records")
    assert to_lazy(release.frame).collect().height == 0
    assert release.suppressed == len(table)
    assert any("Every row was suppressed" in note for note in release.notes)


# --- what does not go together ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("cost", ["DM", "HDM", "CM", "C_AVG", "entropy", "ambiguity"])
def test_other_costs_are_refused(cost: str) -> None:
    with pytest.raises(dc.UsageError, match=r"does not go with the scheme local.*choose NCP or LM"):
        released(visits(), cost=cost, class_attribute="disease" if cost == "CM" else None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scheme": {"age": "local"}}, "scheme local"),
        ({"scheme": {**dict.fromkeys(QUASI, "local"), "zip": "subtree"}}, "scheme"),
        ({"cost": "precision"}, "precision"),
        ({"suppression": "violating-records"}, "violating-records"),
        ({"solver": "lattice"}, "lattice"),
        ({"solver": "cuts"}, "cuts"),
        ({"scheme": "full-domain", "solver": "mondrian", "cost": "LM"}, "it searches local"),
        ({"scheme": "local(show=middle)"}, "cover, mean, median, mode"),
        ({"solver": "local(effort=much)"}, "low, default, high"),
        ({"solver": "local(bound=tight)"}, "nearest, prices, none"),
        ({"solver": "mondrian(cut=loose)"}, "strict, relaxed"),
        ({"min_levels": {"zip": 1}}, "A limit on the levels of 'zip'"),
        ({"max_levels": {"zip": 2}}, "A limit on the levels of 'zip'"),
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
        told = {text: dc.parse_block(text) for text in release.frame["age"].unique()}
        return sum(
            100.0 if getattr(block, "everything", False) else block.right - block.left
            for text in release.frame["age"]
            if (block := told[text]) and (isinstance(block, dc.Interval) or block.everything)
        )

    assert spread(heavy) <= spread(plain)


def test_pandas_index_stays() -> None:
    table = visits()
    index = [f"i{number}" for number in range(len(table))]
    frame = table.to_pandas().set_index(pd.Index(index))
    release = released(frame, ["age", "day"], suppression="budget(5)")
    kept = release.frame
    assert [index[number] for number in kept["row"]] == list(kept.index)


def test_the_same_seed_gives_the_same_release_where_text_is_sensitive() -> None:
    people = dc.sample(700, seed=4)
    told: dict[str, Any] = {
        "quasi_identifiers": ["birth_date", "sex", "education"],
        "sensitive": "occupation",
        "privacy": ["k(3)", "distinct-l(3, occupation)"],
        "scheme": "local",
        "seed": 2,
    }
    frames = [dc.anonymize(people, **told).frame for _ in range(3)]
    assert frames[0].equals(frames[1])
    assert frames[0].equals(frames[2])


@pytest.mark.parametrize(("rows", "k"), [(20, 10), (21, 10), (25, 10), (100, 50)])
def test_a_table_of_little_more_than_two_classes_is_cut(rows: int, k: int) -> None:
    table = pl.DataFrame({"x": list(range(rows))})
    told: dict[str, Any] = {"quasi_identifiers": ["x"], "privacy": f"k({k})", "cost": "NCP", "scheme": "local"}
    assert dc.anonymize(table, seed=1, **told).cost <= dc.anonymize(table, solver="mondrian", **told).cost


def test_numbers_too_far_apart_to_compare() -> None:
    table = pl.DataFrame({"x": [1e308, -1e308, 1.0, 2.0]})
    with pytest.raises(dc.DataError, match="too far apart"):
        dc.anonymize(table, quasi_identifiers=["x"], privacy="k(2)", cost="NCP", scheme="local")


def test_a_bound_is_told_although_the_time_is_over() -> None:
    told: dict[str, Any] = {"quasi_identifiers": ["birth_date", "sex", "zip"], "privacy": "k(4)", "scheme": "local"}
    release = dc.anonymize(dc.sample(500, seed=3), time_limit=1e-6, **told)
    assert 0 < release.lower_bound <= release.cost
