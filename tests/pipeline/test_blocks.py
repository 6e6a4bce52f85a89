"""Any partition of the leaves, released: names for people, one for each block and none for two."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from discreet.engines import to_lazy
from discreet.pipeline.anonymize import anonymize
from discreet.pipeline.release import Release
from discreet.problem import SCHEMES
from discreet.schema import Hierarchy, make_domain
from discreet.schema._blocks import block_names
from discreet.solve import Budget, Progress, Solution
from exhaustive import Exhaustive, as_blocks
from tables import coded, random_hierarchy

WORK = Hierarchy.from_rows(
    [
        ["State-gov", "Government"],
        ["Local-gov", "Government"],
        ["Federal-gov", "Government"],
        ["Private", "Private"],
        ["Inc", "Self-employed"],
        ["Not-inc", "Self-employed"],
        ["Without-pay", "Unemployed"],
        ["Never-worked", "Unemployed"],
    ]
)


def released(values: list[Any], hierarchy: Any, blocks: list[int], **options: Any) -> list[Any]:
    domain = make_domain("q", pl.Series(values), hierarchy, **options)
    assert domain.ancestors.shape[1] == len(blocks)
    return domain.released_as(np.array(blocks)).to_list()


def test_nodes_have_their_names() -> None:
    values = WORK.leaves
    names = released(values, WORK, [0, 0, 0, 1, 2, 2, 3, 4])
    assert names == ["Government"] * 3 + ["Private"] + ["Self-employed"] * 2 + ["Without-pay", "Never-worked"]
    assert released(values, WORK, [0] * 8) == ["*"] * 8
    assert released(values, WORK, [7, 7, 7, 3, 1, 1, 2, 2])[3] == "Private"  # blocks may be numbered in any way


def test_the_lowest_of_several_names() -> None:
    tree = Hierarchy.from_rows(
        [["a", "A", "letters"], ["b", "B", "letters"], ["c", "B", "letters"], ["1", "digits", "digits"]]
    )
    assert released(["a", "b", "c", "1"], tree, [0, 1, 1, 2]) == ["a", "B", "B", "1"]
    assert released(["a", "b", "c", "1"], tree, [0, 0, 0, 2]) == ["letters", "letters", "letters", "1"]


def test_leaves_that_do_not_occur_belong_to_their_node() -> None:
    assert released(["State-gov", "Private"], WORK, [0, 0, 0, 1, 2, 3, 4, 5]) == ["Government", "Private"]


def test_single_leaves_keep_values_and_type() -> None:
    domain = make_domain("age", pl.Series([38, 21, None]), "intervals(5, 10)")
    assert domain.released_as(np.array([0, 1, 2])) is domain.values
    text = domain.released_as(np.array([0, 0, 1]))
    assert text.dtype == pl.String
    assert text.to_list() == ["[21, 38]", "[21, 38]", None]
    spelled = make_domain("x", pl.Series(["1.5", "1.50", "2.5"]), "intervals(1)")
    assert spelled.released_as(np.array([0, 1])).to_list() == ["1.5", "1.5", "2.5"]
    assert spelled.released_as(np.array([0, 0])).to_list() == ["*", "*", "*"]
    # Leaves that nobody has may be joined without any trace.
    hidden = make_domain("w", pl.Series(["Private", "Inc"]), WORK)
    assert hidden.released_as(np.array([0, 0, 0, 1, 2, 3, 4, 4])) is hidden.values


def test_ranges_and_sets() -> None:
    ages = [18, 21, 25, 33, 40]
    assert released(ages, "intervals(10)", [0, 0, 0, 1, 2]) == ["[18, 25]"] * 3 + ["33", "40"]
    assert released(ages, "intervals(10)", [0, 1, 1, 2, 3]) == ["18", "[20, 30)", "[20, 30)", "33", "40"]
    assert released(ages, "flat", [0, 1, 0, 1, 1])[:2] == ["{18, 25}", "{21, 33, 40}"]
    days = [f"2024-0{month}-01" for month in (1, 2, 5)]
    assert released(days, "dates(year)", [0, 0, 1])[0] == "[2024-01-01, 2024-02-01]"
    assert released(["x", "y", "z"], "flat", [0, 1, 0]) == ["{x, z}", "y", "{x, z}"]
    assert released(["x", "y", "z", None], "flat", [0, 1, 0, 1]) == ["{x, z}", "y or missing", "{x, z}", "y or missing"]
    assert released([1.5, 2.0, 3.25, None], "flat", [0, 0, 1, 0]) == ["[1.5, 2] or missing"] * 2 + ["3.25"] + [
        "[1.5, 2] or missing"
    ]


def test_sets_that_would_read_alike() -> None:
    values = ["a, b", "c", "a", "b, c", '"c', "{", "", " a"]
    domain = make_domain("q", pl.Series(values), "flat")
    place = dict(zip(values, domain.codes.tolist(), strict=True))
    for first, second in itertools.combinations(itertools.combinations(values, 2), 2):
        if set(first).isdisjoint(second):
            blocks = np.arange(8)
            blocks[place[first[1]]] = place[first[0]]
            blocks[place[second[1]]] = place[second[0]]
            names = domain.released_as(blocks)
            assert names.n_unique() == 6, (first, second)


def test_a_leaf_called_as_a_node() -> None:
    tree = Hierarchy.from_rows([["Other", "Rest"], ["x", "Other"], ["y", "Other"], ["z", "Rest"]])
    names = released(["Other", "x", "y", "z"], tree, [0, 1, 1, 2] if tree.leaves[1] != "z" else [0, 1, 2, 2])
    assert names == ["Other", "Other (level 1)", "Other (level 1)", "z"]
    tree = Hierarchy.from_rows(
        [["Other", "Rest"], ["Other (level 1)", "Rest"], ["x", "Other"], ["y", "Other"], ["{x, Other}", "More"]]
    )
    assert len(set(released(tree.leaves, tree, [0, 1, 2, 2, 3]))) == 4


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("scheme", ["full-domain", "subtree", "ordered", "set"])
def test_one_name_for_each_block(seed: int, scheme: str) -> None:
    rng = random.Random(seed)
    leaves = [f"v{number}" for number in range(rng.randint(1, 6))]
    rows = random_hierarchy(rng, leaves, rng.randint(1, 3), prefix=rng.choice(["n", "v"]), ragged=True)
    tree = Hierarchy.from_rows(rows)
    domain = make_domain("q", pl.Series([*leaves, *([None] if rng.random() < 0.5 else [])]), tree)
    names = [None if label is None else label for label in domain.labels[0]]
    attribute = coded("q", [(label, *("*" for _ in rows[0][1:])) for label in names], [])
    attribute = type(attribute)("q", domain.ancestors, attribute.rows)
    for partition in itertools.islice(SCHEMES.make(scheme).partitions(attribute), 60):
        found = block_names(domain.labels, domain.ancestors, as_blocks(partition))
        assert len(set(found)) == len(partition)
        text = domain.released_as(as_blocks(partition)).to_list()
        assert len(set(text)) == len(partition)
        if scheme == "subtree":  # every name is in the tree
            known = {label for level in domain.labels for label in level}
            assert all(name in known or " (level " in str(name) for name in found)


def test_many_leaves_are_named_quickly() -> None:
    domain = make_domain("q", pl.Series(range(100_000)), "intervals(10, 100, 1000)")
    blocks = np.concatenate([domain.ancestors[2][:50_000], np.arange(10**6, 10**6 + 50_000)])
    names = domain.released_as(blocks)
    assert names[0] == "[0, 100)"
    assert names[99_999] == "99999"
    assert names.n_unique() == 50_500


# --- whole releases --------------------------------------------------------------------------------------------------


@pytest.fixture
def staff() -> pl.DataFrame:
    rng = np.random.default_rng(5)
    work = rng.choice(WORK.leaves[:-1], 60, p=[0.3, 0.05, 0.05, 0.3, 0.1, 0.15, 0.05])
    sex = rng.choice(["m", "f"], 60)
    return pl.DataFrame({"work": work, "age": rng.integers(20, 28, 60), "sex": sex, "row": range(60)})


@pytest.mark.parametrize("scheme", ["subtree", "ordered", {"work": "subtree", "sex": "full-domain"}])
def test_every_kind_of_data(scheme: Any, constructor: Any, staff: pl.DataFrame) -> None:
    release = anonymize(
        constructor(staff),
        quasi_identifiers={"work": WORK, "sex": "flat()"},
        keep="row",
        privacy="k(4)",
        scheme=scheme,
        solver=Exhaustive(),
        suppression="class-records",
    )
    assert release.levels == {}
    assert release.audit.passed
    check(release, staff, ("work", "sex"))
    assert release.job["scheme"] == scheme


def check(release: Release, original: pl.DataFrame, columns: tuple[str, ...]) -> None:
    """Rows have one released value exactly if their values are in one block."""
    frame = to_lazy(release.frame).collect()
    rows = [int(number) for number in frame["row"].to_list()]
    assert rows == sorted(rows)
    for column in columns:
        values = [str(original[column][row]) for row in rows]
        blocks = {str(value): number for number, block in enumerate(release.blocks[column]) for value in block}
        assert set(blocks) == set(map(str, original[column].to_list()))
        pairs = set(zip(map(str, frame[column].to_list()), (blocks[value] for value in values), strict=True))
        assert len(pairs) == len({name for name, _ in pairs}) == len({block for _, block in pairs})
        assert release.released_values[column] == frame[column].n_unique()
    sizes = frame.group_by(columns).len()["len"]
    assert (sizes >= 4).all()
    assert release.suppressed == original.height - frame.height


def test_an_attribute_that_stays_keeps_its_type(staff: pl.DataFrame) -> None:
    quasi = {"work": WORK, "age": "intervals(2)"}
    settings: dict[str, Any] = {"quasi_identifiers": quasi, "keep": "row", "privacy": "k(1)", "scheme": "subtree"}
    release = anonymize(staff, **settings, solver=Exhaustive())
    assert release.frame.equals(staff)
    assert release.released_values == {"work": 7, "age": 8}


class Slow(Exhaustive):
    """Tells of itself what real solvers do."""

    def solve(self, problem: Any, budget: Budget, progress: Any = None) -> Solution:
        self.seeds.append(budget.seed)
        found = super().solve(problem, budget, progress)
        stats = {
            "space": 10**30,
            "formal_space": 3 * 10**31,
            "examined": 1234,
            "pruned": {"knapsack": 56, "symmetric": 0},
            "seconds_to_best": 0.25,
            "seconds_to_proof": 1.5,
        }
        trace = (Progress(0.1, np.inf, 1.0, 1), Progress(0.25, 9.0, 3.0, 5), Progress(1.5, 9.0, 9.0, 9))
        return Solution("optimal", 9.0, 9.0, found.blocks, suppressed=found.suppressed, stats=stats, trace=trace)

    seeds: list[int | None] = []  # noqa: RUF012


def test_what_is_told_about_the_search(staff: pl.DataFrame, tmp_path: Path) -> None:
    job: dict[str, Any] = {
        "quasi_identifiers": {"work": WORK},
        "keep": "row",
        "privacy": "k(1)",
        "scheme": "subtree",
        "solver": Slow(),
    }
    Slow.seeds.clear()
    release = anonymize(staff, **job)
    drawn = release.job["seed"]
    assert drawn >= 0
    assert anonymize(staff, **job, seed=7).job["seed"] == 7
    assert Slow.seeds == [drawn, 7]
    summary = release.summary()
    assert "examined        1,234 of about 10^30 recodings (1.2e-25 %)\n" in summary
    assert "pruned" not in summary
    verbose = release.summary(exact=True)
    assert (
        "examined        1,234 of about 10^30 recodings (1.2e-25 %); about 10^31 as the literature counts\n" in verbose
    )
    assert "pruned          knapsack 56\n" in verbose
    assert "search          best after 0.25 s, proof after 1.50 s" in summary
    assert "released        different values: work 7 of 7" in summary
    assert len(release.trace) == 3
    drawn = release.trace_text()
    assert max(map(len, drawn.splitlines())) <= 100
    assert drawn.isascii()
    assert drawn in release.report(tmp_path / "r.md").read_text()
    facts = json.loads(release.report(tmp_path / "r.json").read_text())
    assert facts["trace"][0] == {"seconds": 0.1, "best": None, "bound": 1.0, "examined": 1}
    assert facts["trace"][2]["best"] == 9.0
    assert facts["stats"]["pruned"]["knapsack"] == 56


def test_the_picture_of_a_search_that_told_nothing(staff: pl.DataFrame) -> None:
    job: dict[str, Any] = {"quasi_identifiers": {"work": WORK}, "keep": "row", "privacy": "k(1)"}
    job["scheme"] = "subtree"
    assert anonymize(staff, **job, solver=Exhaustive()).trace_text() == "The search recorded no progress."
