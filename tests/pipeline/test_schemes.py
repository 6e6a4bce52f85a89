"""Releases under every global scheme, alone and mixed: what may be joined, what it costs and what it is called."""

from __future__ import annotations

import itertools
import random
from typing import Any

import polars as pl
import pytest

import discreet as dc
import naive
from discreet.counts import CodedAttribute
from discreet.engines import open_source, to_lazy
from discreet.problem import SCHEMES
from discreet.schema import make_domain

WORK = {
    "Government": ["State-gov", "Local-gov", "Federal-gov"],
    "Private": ["Private"],
    "Self-employed": ["Inc", "Not-inc"],
}
COARSE_TO_FINE = ("full-domain", "subtree", "guided-ordered", "ordered", "set")
GLOBAL = (*COARSE_TO_FINE, "guided-set")


@pytest.fixture
def staff() -> pl.DataFrame:
    rng = random.Random(5)
    work = rng.choices([value for group in WORK.values() for value in group], [9, 2, 1, 9, 4, 5], k=80)
    return pl.DataFrame({"work": work, "age": [rng.randint(20, 23) for _ in work], "row": range(80)})


def released(table: Any, scheme: Any, quasi: Any = None, **options: Any) -> dc.Release:
    chosen = {"work": dc.groups(WORK), "age": "intervals(2)"} if quasi is None else quasi
    settings: dict[str, Any] = {"privacy": "k(4)", "suppression": "class-records", **options}
    settings["keep"] = [column for column in open_source(table).columns if column == "row"]
    release = dc.anonymize(table, quasi_identifiers=chosen, scheme=scheme, **settings)
    assert release.audit.passed
    assert release.status == "optimal"
    return release


def coded(column: str, values: pl.Series, hierarchy: Any) -> tuple[CodedAttribute, dict[Any, int]]:
    """A column as schemes see it, and the leaf of each value."""
    domain = make_domain(column, values.unique(), hierarchy)
    attribute = CodedAttribute(column, domain.ancestors, domain.ancestors[0] * 0, domain.positions)
    return attribute, dict(zip(domain.values.to_list(), domain.codes.tolist(), strict=True))


def is_allowed(scheme: str, attribute: CodedAttribute, leaf: dict[Any, int], blocks: list[set[Any]]) -> bool:
    """Whether some partition of all leaves that the scheme allows joins just the values in the blocks.

    Leaves nobody has may be in any block, so that each is tried.
    """
    sets = {frozenset(leaf[value] for value in block) for block in blocks}
    present = frozenset(leaf.values())
    for partition in SCHEMES.make(scheme).partitions(attribute):
        if {seen for block in partition if (seen := present.intersection(block))} == sets:
            return True
    return False


@pytest.mark.parametrize("scheme", GLOBAL)
def test_blocks_are_those_of_the_scheme(scheme: str, staff: pl.DataFrame) -> None:
    release = released(staff, scheme)
    assert release.job["scheme"] == scheme
    for column, hierarchy in (("work", dc.groups(WORK)), ("age", "intervals(2)")):
        blocks = release.blocks[column]
        values = [value for block in blocks for value in block]
        assert sorted(values) == sorted(staff[column].unique())
        assert is_allowed(scheme, *coded(column, staff[column], hierarchy), blocks)


@pytest.mark.parametrize("scheme", [*GLOBAL, {"work": "set", "age": "ordered"}, {"work": "guided-set"}])
def test_rows_show_the_block_of_their_value(scheme: Any, staff: pl.DataFrame) -> None:
    release = released(staff, scheme)
    tree = dc.groups(WORK).hierarchy
    for row in to_lazy(release.frame).collect().to_dicts():
        for column, hierarchy in (("work", tree), ("age", None)):
            original = staff[column][row["row"]]
            (block,) = [block for block in release.blocks[column] if original in block]
            parsed = dc.parse_block(row[column], hierarchy)
            assert {value for value in staff[column].unique() if value in parsed} == block


@pytest.mark.parametrize("cost", ["LM", "DM", "HDM"])
@pytest.mark.parametrize("suppression", ["none", "class-records"])
def test_more_freedom_never_costs_more(cost: str, suppression: str, staff: pl.DataFrame) -> None:
    quasi = {"work": dc.groups(WORK), "age": "intervals(2)"}
    costs = {
        scheme: released(staff, scheme, quasi, cost=cost, suppression=suppression, privacy="k(2)").cost
        for scheme in GLOBAL
    }
    finest = [costs[scheme] for scheme in COARSE_TO_FINE]
    assert all(coarse >= fine - 1e-9 for coarse, fine in itertools.pairwise(finest))
    assert costs["guided-ordered"] >= costs["guided-set"] - 1e-9
    assert costs["guided-set"] >= costs["set"] - 1e-9
    mixed = released(
        staff, {"work": "set", "age": "subtree"}, quasi, cost=cost, suppression=suppression, privacy="k(2)"
    )
    assert costs["subtree"] >= mixed.cost - 1e-9 >= costs["set"] - 2e-9


def test_different_schemes_for_different_columns(staff: pl.DataFrame) -> None:
    mixed = {"work": "set", "age": "ordered"}
    release = released(staff, mixed, {"work": dc.groups(WORK), "age": None})
    assert release.job["scheme"] == mixed
    assert release.levels == {}
    assert "work set, age ordered" in release.summary()
    runs = [sorted(block) for block in release.blocks["age"]]
    assert all(run == list(range(run[0], run[-1] + 1)) for run in runs)
    left_out = released(staff, {"work": "set"}, {"work": dc.groups(WORK), "age": "intervals(2)"})
    attribute, leaf = coded("age", staff["age"], "intervals(2)")
    assert is_allowed("full-domain", attribute, leaf, left_out.blocks["age"])


@pytest.mark.parametrize(
    ("alias", "name"),
    [("BHS", "full-domain"), ("GHS", "subtree"), ("OPS", "ordered"), ("GOPS", "guided-ordered"), ("SPS", "set"),
     ("GSPS", "guided-set"), ("ops", "ordered")],
)  # fmt: skip
def test_aliases(alias: str, name: str, staff: pl.DataFrame) -> None:
    quasi = {"age": "intervals(2)"}
    release = released(staff, {"age": alias}, quasi)
    assert release.job["scheme"] == {"age": name}
    assert release.cost == released(staff, name, quasi).cost


# --- columns without a hierarchy --------------------------------------------------------------------------------------


@pytest.fixture
def visits() -> pl.DataFrame:
    rng = random.Random(3)
    ages = [rng.randint(20, 31) for _ in range(60)]
    days = [f"2024-0{rng.randint(1, 6)}-0{rng.randint(1, 2)}" for _ in ages]
    return pl.DataFrame({"age": ages, "day": days, "ward": [rng.choice("CABED") for _ in ages]})


def test_numbers_without_a_hierarchy_become_ranges(visits: pl.DataFrame) -> None:
    release = released(visits, "ordered", ["age"], privacy="k(12)", suppression="none")
    assert not any("hierarchy" in note for note in release.notes)
    assert release.job["quasi_identifiers"] == {"age": None}
    runs = [sorted(block) for block in release.blocks["age"]]
    assert len(runs) > 1
    parsed = {name: dc.parse_block(name) for name in release.frame["age"].unique()}
    for run in runs:
        assert any(block == dc.Interval(run[0], run[-1]) for block in parsed.values())


def test_dates_without_a_hierarchy_become_ranges(visits: pl.DataFrame) -> None:
    release = released(visits.with_columns(pl.col("day").str.to_date()), "ordered", ["day"], privacy="k(12)")
    ends = [(min(block), max(block)) for block in release.blocks["day"] if len(block) > 1]
    assert ends
    assert {dc.Interval(*pair) for pair in ends} <= {dc.parse_block(name) for name in release.frame["day"].unique()}
    as_text = released(visits, "ordered", ["day"], privacy="k(12)")
    assert as_text.frame["day"].to_list() == release.frame["day"].to_list()


@pytest.mark.parametrize("scheme", ["set", "ordered"])
def test_text_without_a_hierarchy_becomes_sets(scheme: str, visits: pl.DataFrame) -> None:
    release = released(visits, scheme, ["ward"], privacy="k(14)", suppression="none")
    assert {frozenset(block) for block in release.blocks["ward"]} == {
        block.values
        for name in release.frame["ward"].unique()
        if isinstance(block := dc.parse_block(name, list("ABCDE")), dc.ValueSet)
    }
    said = [note for note in release.notes if "alphabetical" in note]
    assert bool(said) == (scheme == "ordered")
    assert not any("automatic hierarchy" in note for note in release.notes)


def test_a_hierarchy_is_made_only_where_one_is_needed(visits: pl.DataFrame) -> None:
    many = visits.with_columns(age=pl.int_range(pl.len()) % 12 + 20)
    schemes = {"age": "subtree", "ward": "set"}
    release = released(many, schemes, ["age", "ward"], privacy="k(2)")
    (note,) = [note for note in release.notes if "automatic hierarchy" in note]
    assert "'age' (auto)" in note
    assert "ward" not in note
    assert release.job["quasi_identifiers"] == {"age": None, "ward": None}


def test_the_raw_values_give_more_freedom_than_any_hierarchy(visits: pl.DataFrame) -> None:
    bare = released(visits, "ordered", ["age"], privacy="k(7)", suppression="none")
    for hierarchy in ("auto", "flat", "intervals(3, 6)"):
        assert released(visits, "ordered", {"age": hierarchy}, privacy="k(7)", suppression="none").cost == bare.cost
        guided = released(visits, "guided-ordered", {"age": hierarchy}, privacy="k(7)", suppression="none")
        assert guided.cost >= bare.cost - 1e-9


# --- text with an order -----------------------------------------------------------------------------------------------

GRADES = ["none", "low", "middle", "high", "top"]


@pytest.mark.parametrize("form", [dc.ordered(GRADES), f"ordered([{', '.join(repr(g) for g in GRADES)}])"])
def test_text_in_a_given_order(form: Any) -> None:
    table = pl.DataFrame({"grade": ["none"] + ["low"] * 3 + ["middle"] + ["high"] * 3 + ["top"]})
    release = released(table, "ordered", {"grade": form}, privacy="k(3)", suppression="none")
    assert not any("alphabetical" in note for note in release.notes)
    blocks = release.blocks["grade"]
    places = [sorted(GRADES.index(value) for value in block) for block in blocks]
    assert all(place == list(range(place[0], place[-1] + 1)) for place in places)
    assert len(blocks) == 2
    names = set(release.frame["grade"])
    assert {frozenset(block) for block in blocks} == {dc.parse_block(name).values for name in names}  # type: ignore[union-attr]
    with pytest.raises(dc.DataError, match="not in the hierarchy given for it"):
        released(table, "ordered", {"grade": dc.ordered(GRADES[1:])})


def test_missing_values_are_in_a_block_like_any_other() -> None:
    table = pl.DataFrame({"x": [1] * 3 + [2] * 3 + [3] * 1 + [None] * 2})
    release = released(table, "ordered", ["x"], privacy="k(3)", suppression="none")
    assert {None, 3} in release.blocks["x"]
    assert set(release.frame["x"]) == {"1", "2", "3 or missing"}


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scheme", "column", "message"),
    [
        ("orderd", None, "There is no scheme 'orderd'; did you mean 'ordered'?"),
        ("bst", None, "There is no scheme 'bst'; did you mean 'best'?"),
        ("bset", None, "There is no scheme 'bset'; did you mean 'best' or 'set'?"),
        ({"age": "gopps"}, "age", "The scheme of 'age': There is no scheme 'gopps'; did you mean 'GOPS'?"),
        ({"age": "cubes"}, "age", "known are cells, full-domain, guided-ordered, guided-set, local, ordered, set, sub"),
        ({"age": 3}, "age", "The scheme of 'age': A scheme is given as text or as an object, not as int."),
        ({"sex": "set"}, "sex", "A scheme is given for 'sex', which is not a quasi-identifier."),
    ],
)
def test_errors(scheme: Any, column: str | None, message: str, staff: pl.DataFrame) -> None:
    with pytest.raises(dc.UsageError) as error:
        dc.anonymize(staff, quasi_identifiers=["age"], keep="row", privacy="k(2)", scheme=scheme)
    assert message in error.value.message
    assert error.value.column == column


def test_an_order_that_the_hierarchy_does_not_follow(staff: pl.DataFrame) -> None:
    odd = {"even": [20, 22], "odd": [21, 23]}
    with pytest.raises(dc.UsageError, match="needs the order of 'age' to agree with its hierarchy") as error:
        dc.anonymize(staff, quasi_identifiers={"age": odd}, keep="row", privacy="k(2)", scheme="guided-ordered")
    assert error.value.column == "age"
    released(staff, "guided-set", {"age": odd}, privacy="k(20)")


def test_the_definitions_agree(staff: pl.DataFrame) -> None:
    """The cost under ``set`` is the least that any partition has, by plain enumeration."""
    ages = staff["age"].to_list()
    best = min(
        loss
        for partition in naive.set_partitions(sorted(set(ages)))
        if (loss := _loss(ages, partition, 15)) is not None
    )
    release = released(staff, "set", ["age"], privacy="k(15)", suppression="none")
    assert release.cost == pytest.approx(best)


def _loss(values: list[int], partition: list[list[int]], k: int) -> float | None:
    """LM of one column without suppression; None if a class is smaller than k."""
    total, width = 0.0, len({value for block in partition for value in block}) - 1
    for block in partition:
        rows = sum(value in block for value in values)
        if rows < k:
            return None
        total += rows * (len(block) - 1) / width
    return total
