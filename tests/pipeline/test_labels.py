"""Names in a release come from values of released rows only."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dc
from attack.labels import KINDS, SUPPRESSIONS, Case, attempt, fitting
from depth import every
from discreet.engines import Recoding, to_lazy
from discreet.errors import DataError
from discreet.problem import COSTS
from discreet.report.columns import released_names
from discreet.schema import make_domain
from exhaustive import Exhaustive, solution_of

CANARY = "pzCANARY"


@pytest.fixture
def table() -> pl.DataFrame:
    """Four towns of six people each, and two people of a fifth whom nobody is like."""
    rows = [(x, y) for x in ("pa", "qa", "ra", "sa") for y in "AB" for _ in range(3)]
    return pl.DataFrame([*rows, (CANARY, "C"), (CANARY, "C")], schema=["x", "y"], orient="row")


def released(table: Any, scheme: str = "ordered", **options: Any) -> dc.Release:
    job: dict[str, Any] = {"quasi_identifiers": ["x", "y"], "privacy": "k(6)", "suppression": "budget(10%)"}
    return dc.anonymize(table, scheme=scheme, **{**job, **options})


def names(release: dc.Release, column: str = "x") -> list[Any]:
    return sorted(to_lazy(release.frame).collect()[column].unique().to_list(), key=str)


@pytest.mark.parametrize("scheme", ["ordered", "guided-ordered"])
def test_a_run_of_text_skips_what_nobody_released_has(scheme: str, table: pl.DataFrame) -> None:
    assert names(released(table, scheme)) == ["{pa, qa}", "{ra, sa}"]


PAIRS = list(dict.fromkeys((scheme, kind) for kind in SUPPRESSIONS for scheme, _ in fitting(kind)))


@pytest.mark.parametrize(("scheme", "suppression"), every(8, PAIRS))
def test_canaries_stay_inside(scheme: str, suppression: str, tmp_path: Path) -> None:
    costs = itertools.cycle([cost for each, cost in fitting(suppression) if each == scheme])
    tried = 0
    for number, kind in enumerate(KINDS):
        case = Case(kind, scheme, next(costs), suppression, given=number % 3 == 1)
        folder = tmp_path / kind
        folder.mkdir()
        outcomes = list(attempt(case, number, folder))
        assert [outcome for outcome in outcomes if not outcome.held] == []
        tried += len(outcomes)
    assert tried or suppression.endswith("-values")  # there every record stays


def test_every_cost_is_tried() -> None:
    tried = {cost for suppression in SUPPRESSIONS for _, cost in fitting(suppression)}
    assert {*tried, "SSE"} == set(COSTS.members())  # means are no labels


@pytest.mark.parametrize("scheme", ["ordered", "set"])
def test_ranges_end_at_released_numbers(scheme: str) -> None:
    ages = [n for n in (20, 30, 40, 50) for _ in range(4)]
    data = pl.DataFrame({"x": [*ages, 3, 35, 97], "y": ["A"] * 16 + ["B", "C", "D"]})
    release = dc.anonymize(data, quasi_identifiers=["x", "y"], privacy="k(8)", scheme=scheme, suppression="budget(3)")
    for name in names(release):
        block = dc.parse_block(name)
        ends = {block.left, block.right} if isinstance(block, dc.Interval) else set(map(int, block.values))
        assert ends <= set(ages)


def test_a_column_that_only_left_out_values_share_blocks_in_keeps_its_type() -> None:
    data = pl.DataFrame({"x": [20] * 4 + [30] * 4 + [29], "y": ["A"] * 8 + ["B"]})
    together = {"x": dc.groups({"low": [20], "high": [29, 30]}), "y": None}
    plain = dc.anonymize(data, quasi_identifiers=["x", "y"], privacy="k(4)", scheme="set", suppression="budget(1)")
    assert plain.frame["x"].dtype == pl.Int64
    named = dc.anonymize(data, quasi_identifiers=together, privacy="k(4)", suppression="budget(1)", min_levels={"x": 1})
    assert names(named) == ["high", "low"]  # what the user wrote stays


@pytest.mark.parametrize("values", [["rare", "usual", "other"], ["usual", "rare", "other"]])
def test_reports_name_blocks_by_released_values(values: list[str]) -> None:
    """Where a rare value that is left out shares the block of a usual one, that stays as it is and names the block."""
    domain = make_domain("x", pl.Series("x", values), None, needed=False)
    leaves = dict(zip(values, domain.codes.tolist(), strict=True))
    there = np.ones(3, dtype=np.bool_)
    there[leaves["rare"]] = False
    block = np.zeros(3, dtype=np.int64)
    block[leaves["other"]] = 1
    named = domain.named_by(there)
    assert named.released_as(block) is named.values
    assert released_names(named, block, 2, Recoding()) == ["usual", "other"]


def test_leaves_of_a_given_hierarchy_that_nobody_has_are_not_listed() -> None:
    data = pl.DataFrame({"x": ["b", "b", "d", "d"]})
    tree = dc.groups([["a", "b"], ["c", "d", "e"]])
    release = dc.anonymize(data, quasi_identifiers={"x": tree}, privacy="k(4)", scheme="ordered", max_levels=None)
    assert names(release) in (["*"], ["{b, d}"])
    release = dc.anonymize(
        data, quasi_identifiers={"x": dc.ordered(["a", "b", "c", "d", "e"])}, privacy="k(4)", scheme="ordered"
    )
    assert names(release) in (["*"], ["{b, d}"])


def many(kind: str) -> pl.DataFrame:
    """A column for which an automatic hierarchy takes its names from the values, with a canary that is suppressed."""
    if kind == "quantiles":
        values = [n for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 90_000) for _ in range(5)]
        return pl.DataFrame({"x": [*values, 777_777, 777_777], "y": ["A"] * len(values) + ["B", "C"]})
    ends = [f"{'Ober-' if kind == 'words' else ''}{letter}x" for letter in "abcdefghijklmnop"]
    values = [text for place, text in enumerate(ends) for _ in range(2 + place // 4)]
    canaries = ["Nieder-canary", "Nieder-warbler"] if kind == "words" else ["zcanary", "zzcanary"]
    return pl.DataFrame({"x": [*values, *canaries], "y": ["A"] * len(values) + ["B", "C"]})


@pytest.mark.parametrize("form", [None, "auto"])
@pytest.mark.parametrize("scheme", ["full-domain", "subtree", "guided-ordered"])
@pytest.mark.parametrize("kind", ["quantiles", "words", "rare"])
def test_automatic_hierarchies(kind: str, scheme: str, form: str | None) -> None:
    data = many(kind)
    release = dc.anonymize(
        data,
        quasi_identifiers={"x": form, "y": None},
        privacy="k(5)",
        scheme=scheme,
        suppression="budget(2)",
        min_levels={"x": 1} if scheme == "full-domain" else None,
    )
    shown = str(names(release))
    assert "canary" not in shown
    assert "77" not in shown
    assert "rare" not in shown
    assert release.audit.passed
    assert release.utility().to_dict()  # names are read back


def test_names_of_many_values_are_short() -> None:
    words = [one + two + "q" for one in "abcdefghij" for two in "klmnoprstuvw"]
    values = [word for place, word in enumerate(words) for _ in range(5 if place < 20 else 1)]
    release = dc.anonymize(
        pl.DataFrame({"x": values}), quasi_identifiers=["x"], privacy="k(3)", scheme="subtree", suppression="budget(9)"
    )
    assert any(name.endswith(" more") for name in names(release))
    assert max(len(name) for name in names(release)) < 300
    assert release.utility().to_dict()


def test_masks_are_as_long_as_the_longest_released_value() -> None:
    data = pl.DataFrame({"x": ["12345", "12346", "12399"] * 3 + ["1234567890"]})
    for tree in ("mask()", "mask(from_right=false)"):
        release = dc.anonymize(
            data, quasi_identifiers={"x": tree}, privacy="k(3)", scheme="subtree", suppression="budget(1)"
        )
        assert max(map(len, names(release))) <= 5


def divided(seed: int = 0) -> pl.DataFrame:
    """Values of one or two rows each, so that classes lose all rows of a value where they lose single records."""
    rng = random.Random(seed)
    x = [letter for letter in "abcdefgh" for _ in range(rng.choice((1, 2, 3)))]
    illness = [rng.choice(("flu", "flu", "flu", "ache", "cold", "gout")) for _ in x]
    return pl.DataFrame({"x": x, "illness": illness}).sample(fraction=1.0, shuffle=True, seed=seed)


class Threes(Exhaustive):
    """Puts three neighbours in a block, whatever that costs: the best recodings seldom lose all rows of a value."""

    name = "threes"

    def solve(self, problem: Any, budget: Any, progress: Any = None) -> Any:
        return solution_of(problem, [np.arange(attribute.leaves) // 3 for attribute in problem.table.attributes])


def job(scheme: str = "ordered") -> dict[str, Any]:
    return {
        "quasi_identifiers": ["x"],
        "sensitive": "illness",
        "privacy": "l+(0.5, illness)",
        "scheme": scheme,
        "cost": "DM",
        "solver": Threes(),
        "suppression": "violating-records",
    }


def listed_values(release: dc.Release) -> set[str]:
    """The values that names list."""
    return {value for name in names(release) if name != "*" for value in dc.parse_block(name).values}


@pytest.mark.parametrize("scheme", ["ordered", "set"])
def test_records_taken_out_of_classes(scheme: str) -> None:
    """Which records of a class go depends on the order of the rows, which counts do not tell."""
    lost = 0
    for seed in range(20):
        data = divided(seed)
        release = dc.anonymize(data, **job(scheme))
        kept = set(data[release.rows_of(data).to_list(), "x"].to_list())
        assert listed_values(release) == kept
        merged = {value for block in release.blocks["x"] if len(block) > 1 and block & kept for value in block}
        lost += len(merged - kept)
    assert lost > 5


@pytest.mark.parametrize("seed", [1, 2])
def test_records_taken_out_of_every_kind_of_data(seed: int, constructor: Any) -> None:
    data = divided(seed)
    release = dc.anonymize(constructor(data), **job())
    kept = set(data[release.rows_of(data).to_list(), "x"].to_list())
    assert listed_values(release) == kept


@pytest.mark.parametrize("seed", range(6))
def test_records_taken_out_by_duckdb(seed: int, tmp_path: Path) -> None:
    """DuckDB keeps no order of rows, and takes other records out than polars does."""
    pytest.importorskip("duckdb", reason="DuckDB is not here; it comes with the extra duckdb")
    data = divided(seed).with_row_index("row")
    data.write_parquet(tmp_path / "in.parquet")
    asked = {**job(), "engine": "duckdb", "keep": "row"}
    release = dc.anonymize(tmp_path / "in.parquet", **asked, output=tmp_path / "out.parquet")
    rows = pl.read_parquet(tmp_path / "out.parquet")["row"].to_list()
    kept = set(data.filter(pl.col("row").is_in(rows))["x"].to_list())
    assert listed_values(release) == kept


def test_what_a_mapping_says_of_values_that_were_left_out(table: pl.DataFrame) -> None:
    release = released(table)
    mapping = release.to_mapping()
    column = mapping["columns"]["x"]
    assert CANARY not in column["values"]
    assert column["left_out"] == [CANARY]
    assert dc.apply_mapping(mapping, table).frame.equals(release.frame)
    more = pl.concat([table, pl.DataFrame({"x": [CANARY] * 9, "y": ["A"] * 9})])
    for unknown in ("error", "suppress", "top"):
        applied = dc.apply_mapping(mapping, more, unknown=unknown)
        assert applied.frame.equals(release.frame)
        assert not applied.unknown
    new = pl.concat([table, pl.DataFrame({"x": ["new"] * 9, "y": ["A"] * 9})])
    with pytest.raises(DataError, match="does not know"):
        dc.apply_mapping(mapping, new)


def test_a_mapping_knows_what_a_mask_covers() -> None:
    rows = [(code, y) for code in ("94110", "94117", "10001", "10002") for y in "AB" for _ in range(2)]
    data = pl.DataFrame([*rows, ("94119", "C"), ("9411234", "D")], schema=["x", "y"], orient="row")
    release = dc.anonymize(
        data, quasi_identifiers={"x": "mask()", "y": None}, privacy="k(4)", suppression="budget(2)", scheme="subtree"
    )
    assert names(release) == ["1000*", "9411*"]
    column = release.to_mapping()["columns"]["x"]
    assert dict(zip(column["values"], column["released"], strict=True))["94119"] == "9411*"
    assert column["left_out"] == ["9411234"]
    assert dc.apply_mapping(release.to_mapping(), data).frame.equals(release.frame)


def test_an_anonymizer_leaves_them_out_again(table: pl.DataFrame) -> None:
    step = dc.Anonymizer(quasi_identifiers=["x", "y"], privacy="k(6)", scheme="ordered", suppression="budget(10%)").fit(
        table
    )
    assert step.transform(table).equals(step.release_.frame)
    with pytest.raises(DataError, match="does not know"):
        step.set_params(broken="keep").transform(table)
    assert "*" in step.set_params(unknown="top").transform(table)["x"].to_list()


def test_missing_values_only_left_out_rows_have(table: pl.DataFrame) -> None:
    data = table.with_columns(x=pl.when(pl.col("y") == "C").then(None).otherwise(pl.col("x")))
    release = released(data)
    assert not any("missing" in str(name) for name in names(release))
    assert dc.apply_mapping(release.to_mapping(), data).frame.equals(release.frame)


def test_numbers_inside_a_released_range_are_known_to_the_mapping() -> None:
    ages = [n for n in (20, 30, 40, 50) for _ in range(4)]
    data = pl.DataFrame({"x": [*ages, 3, 35], "y": ["A"] * 16 + ["B", "C"]})
    release = dc.anonymize(
        data, quasi_identifiers=["x", "y"], privacy="k(8)", scheme="ordered", suppression="budget(2)"
    )
    for column in [release.to_mapping()["columns"]["x"]]:
        shown = dict(zip(column["values"], column["released"] or column["values"], strict=True))
        assert all(int(value) in dc.parse_block(name) for value, name in shown.items())
        assert {"3", "35"} <= {*shown, *column["left_out"]}


@pytest.mark.parametrize(("scheme", "solver"), [("full-domain", "auto"), ("subtree", "annealing")])
def test_people_of_the_population_are_counted_as_names_are_read(scheme: str, solver: str, table: pl.DataFrame) -> None:
    others = pl.DataFrame({"x": ["pb", "qb", "rb", CANARY] * 2, "y": ["A", "B"] * 4})
    population = pl.concat([table, others])
    options: dict[str, Any] = {"privacy": ["k(3)", "k-map(8)"], "population": population, "solver": solver, "seed": 1}
    release = released(table, scheme, suppression="budget(30%)", **options)
    assert release.audit.passed
    known = {*population["x"].to_list()}
    for name in names(release):
        assert name == "*" or dc.parse_block(name).values <= known
    absent = table.with_columns(x=pl.col("x").replace(CANARY, "pzNOWHERE"))
    assert "pzNOWHERE" not in str(names(released(absent, scheme, suppression="budget(30%)", **options)))


def test_names_cover_the_population_the_search_counted() -> None:
    """A rare group that is named by fewer values than were counted would have too few people to be released."""
    usual = [letter for letter in "abc" for _ in range(30)]
    rare = [f"{letter}x" for letter in "defghijkl"]
    elsewhere = [f"{letter}y" for letter in "mnopqrstuvwx"]
    release = dc.anonymize(
        pl.DataFrame({"x": usual + rare}),
        quasi_identifiers=["x"],
        privacy="k-map(20)",
        population=pl.DataFrame({"x": usual + rare + elsewhere}),
    )
    assert release.audit.passed
    assert names(release)[:3] == ["a", "b", "c"]
    assert dc.parse_block(names(release)[3]).values == {*rare, *elsewhere}


def test_a_population_no_promise_is_about_names_nothing(table: pl.DataFrame) -> None:
    population = pl.concat([table, pl.DataFrame({"x": ["pb", "qb"], "y": ["A", "B"]})])
    assert names(released(table, population=population)) == ["{pa, qa}", "{ra, sa}"]
