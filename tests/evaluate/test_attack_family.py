"""The family of attacks: contracts, and tables that are built to be vulnerable or safe."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli import program
from discreet.errors import UsageError
from discreet.evaluate import attacks
from discreet.evaluate.attacks import ATTACKS, Attack
from discreet.evaluate.attacks._statistics import interval
from discreet.evaluate.attacks.downcoding import shares_given_rejected_splits
from discreet.testing import AttackContract, check_description, contract_parts

NAMES = [
    *("linkage", "homogeneity", "order", "minimality", "downcoding", "refinement"),
    *("singling-out", "composition", "definetti", "membership", "inference", "distance"),
]


class TestContract(AttackContract):
    @pytest.fixture(params=contract_parts(ATTACKS), ids=str)
    def attack(self, request: pytest.FixtureRequest) -> Attack:
        return request.param


@pytest.mark.parametrize("name", NAMES)
def test_description(name: str) -> None:
    check_description(ATTACKS.members()[name], ATTACKS)


def test_a_row_for_each() -> None:
    assert list(ATTACKS.members()) == NAMES
    people = pl.DataFrame({"age": [21, 24, 27, 52], "ill": ["flu", "flu", "cold", "hiv"]})
    shown = people.with_columns(age=pl.Series(["[21, 24]", "[21, 24]", "[27, 52]", "[27, 52]"]))
    frame = attacks(people, shown, quasi_identifiers=["age"], sensitive=["ill"]).to_frame()
    assert frame["attack"].to_list() == NAMES
    assert frame.columns == ["attack", "guessed", "success", "naive", "control", "low", "high", "sentence"]
    by_name = {row["attack"]: row for row in frame.to_dicts()}
    assert by_name["composition"]["success"] is None
    assert by_name["composition"]["sentence"] == "Not run: no earlier release of these people was given."
    assert "population" in by_name["membership"]["sentence"]
    some = attacks(people, shown, quasi_identifiers=["age"], only=["linkage", "distance"])
    assert some.to_frame()["attack"].to_list() == ["linkage", "distance"]
    with pytest.raises(UsageError, match="did you mean 'linkage'"):
        attacks(people, shown, quasi_identifiers=["age"], only="linkige")
    with pytest.raises(UsageError, match="There is no attack 'order' in this report"):
        some["order"]


def test_interval_by_its_definition() -> None:
    """Wilson's interval holds the shares from which the one observed is less than 1.96 deviations away."""
    for share, attempts in ((0.0, 20), (0.1, 50), (0.5, 7), (1.0, 300)):
        inside = [
            p for p in np.linspace(0, 1, 100_001) if (share - p) ** 2 <= 1.959963984540054**2 * p * (1 - p) / attempts
        ]
        assert interval(share, attempts) == pytest.approx(
            (min(inside, default=share), max(inside, default=share)), abs=2e-5
        )


def people(count: int, seed: int, columns: int = 3) -> pl.DataFrame:
    """Quasi-identifiers and a sensitive value that have nothing to do with each other."""
    rng = np.random.default_rng(seed)
    data: dict[str, object] = {"age": rng.integers(0, 200, count)}
    data |= {f"q{i}": rng.choice(list("abcd"), count) for i in range(columns - 1)}
    return pl.DataFrame(data | {"ill": rng.choice(list("uvwxyz"), count)})


def test_order() -> None:
    table = people(2000, 1).sort("age", "q0")
    kept = table.with_columns(age=(pl.col("age") // 20).cast(pl.String).replace_strict(bands(), default=None))
    names = {"quasi_identifiers": {"age": dc.intervals(20, 40), "q0": None, "q1": None}, "only": "order"}
    found = attacks(table, kept, **names)["order"]
    assert found.success == 1.0
    assert found.better
    fewer = kept.filter(pl.col("ill") != "u")
    assert attacks(table, fewer, **names)["order"].success == 1.0
    for shuffled in (kept.sample(fraction=1, shuffle=True, seed=1), fewer.sample(fraction=1, shuffle=True, seed=1)):
        safe = attacks(table, shuffled, **names)["order"]
        assert not safe.better
        assert safe.success == pytest.approx(safe.naive, abs=0.03)


def test_a_random_order_is_no_better_than_another() -> None:
    """Where rows were suppressed, how far an alignment gets is a matter of luck."""
    table = dc.sample(1500, seed=1).select("birth_date", "sex", "zip")
    release = dc.anonymize(table, quasi_identifiers=table.columns, privacy="k(5)", suppression="budget(5%)", seed=1)
    assert release.suppressed > 0
    found = [attacks(table, release, only="order", seed=seed)["order"] for seed in range(30)]
    assert sum(each.better for each in found) <= 1


def bands() -> dict[str, str]:
    return {str(i): f"[{20 * i}, {20 * i + 20})" for i in range(10)}


def test_order_of_releases(tmp_path: Path) -> None:
    table = people(400, 2).drop("q1", "ill").sort("age", "q0")
    known = {"quasi_identifiers": {"age": dc.intervals(20, 40), "q0": None}, "privacy": "k(3)", "seed": 1}
    in_memory = dc.anonymize(table, **known)
    assert not attacks(table, in_memory, only="order")["order"].better
    kept = dc.anonymize(table, **known, order="keep", output=tmp_path / "kept.csv")
    assert attacks(table, kept, only="order")["order"].success == 1.0
    shuffled = dc.anonymize(table, **known, output=tmp_path / "shuffled.csv")
    assert not attacks(table, shuffled, only="order")["order"].better


def clustered(seed: int, clusters: int, outliers: tuple[int, int], k: int = 5) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Cohen's idea: in each cluster nearly everybody has one value, and a few others keep it from being shown.

    Clusters of the north have mostly A1, those of the south mostly A2. A minimal method shows a cluster's value as it
    is where there are no others, and as A where there are fewer than k.
    """
    rng = np.random.default_rng(seed)
    rows, shown = [], []
    for number in range(clusters):
        side, usual, other = [("north", "A1", "A2"), ("south", "A2", "A1")][number % 2]
        few = int(rng.integers(*outliers)) if number % 4 > 1 else 0
        values = [usual] * (4 * k) + [other] * few
        rows += [(side, f"c{number}", value) for value in values]
        shown += [(side, f"c{number}" if few else side, "A" if few else value) for value in values]
    columns = ["side", "cluster", "value"]
    return pl.DataFrame(rows, columns, orient="row"), pl.DataFrame(shown, columns, orient="row")


CLUSTERS = 24
TREES = {
    "side": None,
    "cluster": dc.Hierarchy.from_rows(
        [[f"c{i}", ["north", "south"][i % 2], "*"] for i in range(CLUSTERS)],
    ),
    "value": dc.groups({"A": ["A1", "A2"]}),
}


@pytest.mark.parametrize("seed", range(5))
def test_downcoding_of_clusters(seed: int) -> None:
    table, released = clustered(seed, CLUSTERS, (1, 5))
    known = {"quasi_identifiers": TREES, "privacy": "k(5)", "only": "downcoding"}
    found = attacks(table, released, **known)["downcoding"]
    assert found.better
    assert found.success is not None
    assert found.naive is not None
    assert found.success > found.naive + 0.1


@pytest.mark.parametrize("seed", range(5))
def test_downcoding_finds_nothing_where_nothing_is(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = pl.DataFrame({"q": rng.choice(list("abcd"), 2000), "value": rng.choice(["A1", "A2", "B1", "B2"], 2000)})
    released = table.with_columns(value=pl.col("value").str.head(1))
    trees = {"q": None, "value": dc.groups({"A": ["A1", "A2"], "B": ["B1", "B2"]})}
    found = attacks(table, released, quasi_identifiers=trees, privacy="k(5)", only="downcoding")["downcoding"]
    assert not found.better
    assert found.success == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(
    ("prior", "size", "k"),
    [((0.5, 0.5), 9, 3), ((0.7, 0.3), 8, 4), ((0.2, 0.3, 0.5), 7, 3), ((0.25,) * 4, 8, 3), ((0.6, 0.4), 4, 5)],
)
def test_rejected_splits_by_trying_all(prior: tuple[float, ...], size: int, k: int) -> None:
    """The expected shares are those of all compositions that could not be split, weighted by their probability."""
    from itertools import product
    from math import factorial, prod

    total, sums = 0.0, np.zeros(len(prior))
    for counts in product(range(size + 1), repeat=len(prior)):
        split = any(n >= k and size - n >= k for n in counts)
        if sum(counts) != size or split or sum(n > 0 for n in counts) < 2:
            continue
        chance = factorial(size) * prod(p**n / factorial(n) for p, n in zip(prior, counts, strict=True))
        total += chance
        sums += chance * np.array(counts) / size
    expected = shares_given_rejected_splits(np.array(prior), size, k)
    assert expected.sum() == pytest.approx(1)
    tolerance = 1e-9 if size < 2 * k or len(prior) == 2 else 0.03  # the part without a dominant value is approximated
    assert expected == pytest.approx(sums / total, abs=tolerance)


def test_refinement_of_local_ranges() -> None:
    table = people(600, 3, 2)
    release = dc.anonymize(
        table, quasi_identifiers=["age", "q0"], sensitive=["ill"], privacy="k(5)", scheme="local", time_limit=60, seed=1
    )
    found = attacks(table, release, only="refinement")["refinement"]
    assert found.better
    assert "Both ends are values of people in the class for 100.0%" in found.sentence
    coarse = {"quasi_identifiers": {"age": dc.intervals(50, 100), "q0": None}, "sensitive": ["ill"], "privacy": "k(5)"}
    safe = attacks(table, dc.anonymize(table, **coarse), only="refinement")["refinement"]
    assert not safe.better


def test_refinement_of_clusters() -> None:
    """Where pairs of people are far from all others, the ends of the shortest ranges are the people."""
    women = [{"age": 20 * pair + end, "sex": "f"} for pair in range(20) for end in (0, 5)]
    men = [{"age": age, "sex": "m"} for age in range(400) if age % 20 not in (0, 5) for _ in range(2)]
    table = pl.DataFrame([*women, *men])
    known: dict[str, object] = {"quasi_identifiers": ["age", "sex"], "privacy": "k(2)"}
    exact = dc.anonymize(table, scheme="local", cost="LM(weights={sex: 100})", seed=1, **known)
    found = attacks(table, exact, only="refinement")["refinement"]
    assert (found.success, found.naive) == (0.5, 0.0)
    assert found.better
    low = pl.col("age") // 20 * 20
    for shown in (pl.format("[{}, {}]", low, low + 19), pl.lit("*")):
        safe = attacks(table, table.with_columns(age=shown), only="refinement", **known)["refinement"]
        assert not safe.better


def test_singling_out_by_the_ends_of_ranges() -> None:
    table = people(600, 3, 2)
    local = dc.anonymize(
        table, quasi_identifiers=["age", "q0"], sensitive=["ill"], privacy="k(5)", scheme="local", time_limit=60, seed=1
    )
    found = attacks(table, local, only="singling-out", control=people(600, 9, 2))["singling-out"]
    assert found.better
    assert found.success is not None
    assert found.success > 0.5
    assert found.control is not None
    assert found.control < 0.45
    coarse = table.with_columns(age=pl.lit("*"))
    safe = attacks(table, coarse, quasi_identifiers=["age", "q0"], only="singling-out")["singling-out"]
    assert not safe.better
    assert safe.naive == pytest.approx((1 - 1 / 600) ** 599)


def test_composition_of_two_releases() -> None:
    """By age or by town, everybody has two possible illnesses; by both, one."""
    table = pl.DataFrame({"age": [1, 1, 2, 2] * 25, "town": ["a", "b"] * 50, "ill": ["w", "x", "y", "z"] * 25})
    by_age = table.with_columns(town=pl.lit("*"))
    by_town = table.with_columns(age=pl.lit("*"))
    known = {"quasi_identifiers": ["age", "town"], "sensitive": ["ill"], "only": "composition"}
    found = attacks(table, by_age, earlier=by_town, **known)["composition"]
    assert (found.success, found.naive, found.guessed) == (1.0, 0.5, "ill")
    assert "certain for 100.0% of the people; from one release alone, for 0.0%" in found.sentence
    same = attacks(table, by_age, earlier=[by_age, by_age], **known)["composition"]
    assert same.success == same.naive == 0.5
    assert not same.better
    rows = attacks(table, by_age, earlier=by_town.drop("ill"), quasi_identifiers=["age", "town"], only="composition")
    assert rows["composition"].guessed == "row"
    assert (rows["composition"].success, rows["composition"].naive) == (pytest.approx(1 / 25), pytest.approx(1 / 50))
    other = attacks(table, by_age, earlier=by_town.select("ill"), **known)["composition"]
    assert "Not run: an earlier release cannot be used" in other.sentence
    assert "none of the quasi-identifiers" in other.sentence


def test_composition_with_a_control_group() -> None:
    """The values of people who are in no release cannot be found by joining releases of others."""
    rng = random.Random(1)
    table = pl.DataFrame({"age": [1, 1, 2, 2] * 25, "town": ["a", "b"] * 50, "ill": ["w", "x", "y", "z"] * 25})
    others = table.with_columns(ill=pl.Series([rng.choice("wxyz") for _ in range(100)]))
    by_age, by_town = table.with_columns(town=pl.lit("*")), table.with_columns(age=pl.lit("*"))
    known = {"quasi_identifiers": ["age", "town"], "sensitive": ["ill"], "only": "composition", "control": others}
    found = attacks(table, by_age, earlier=by_town, **known)["composition"]
    assert found.success == 1.0
    assert found.control is not None
    assert found.control < 0.4
    assert found.better


def test_composition_of_releases_with_other_frequencies() -> None:
    """The values of each release are compared by what they are, not by how frequent they are."""
    table = pl.DataFrame({"age": [1, 1, 1, 2, 2], "ill": ["u", "u", "v", "v", "v"]})
    earlier = pl.DataFrame({"age": ["1", "1", "1", "2", "2"], "ill": ["u", "u", "u", "v", "u"]})
    found = attacks(table, table, earlier=earlier, quasi_identifiers=["age"], sensitive=["ill"], only="composition")[
        "composition"
    ]
    assert (found.success, found.naive) == (pytest.approx(4 / 5), pytest.approx(4 / 5))


@pytest.mark.parametrize("seed", range(3))
def test_definetti(seed: int) -> None:
    """Which illness goes with a sex is not shown in a class, and shown by all classes together."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], 2000)
    ill = np.where(rng.random(2000) < 0.9, np.where(sex == "f", "x", "y"), np.where(sex == "f", "y", "x"))
    table = pl.DataFrame({"sex": sex, "town": rng.choice([f"t{i}" for i in range(80)], 2000), "ill": ill})
    released = table.with_columns(sex=pl.lit("*"))
    known = {"quasi_identifiers": ["sex", "town"], "sensitive": ["ill"], "only": "definetti"}
    found = attacks(table, released, **known)["definetti"]
    assert found.better
    assert found.success is not None
    assert found.success > 0.7
    shuffled = table.with_columns(pl.col("ill").shuffle(seed))
    safe = attacks(shuffled, shuffled.with_columns(sex=pl.lit("*")), **known)["definetti"]
    assert not safe.better


def test_membership() -> None:
    everybody = people(3000, 4)
    known = {"quasi_identifiers": ["age", "q0", "q1"], "sensitive": ["ill"], "only": "membership"}
    members = everybody.head(1000)
    found = attacks(members, members, population=everybody, **known)["membership"]
    assert found.better
    assert found.success is not None
    assert found.success > 0.8
    coarse = members.with_columns(age=pl.lit("*"), q0=pl.lit("*"), q1=pl.lit("*"))
    safe = attacks(members, coarse, population=everybody, **known)["membership"]
    assert not safe.better
    by_control = attacks(members, members, control=everybody.tail(2000), **known)["membership"]
    assert by_control.better
    nobody = attacks(members, members, population=members, **known)["membership"]
    assert nobody.sentence == "Not run: everybody in the population is in the original table."


def test_inference_with_and_without_a_control_group() -> None:
    known = {"quasi_identifiers": ["age", "q0", "q1"], "sensitive": ["ill"], "only": "inference"}
    table, others = people(1000, 5), people(1000, 6)
    exact = attacks(table, table, control=others, **known)["inference"]
    assert exact.better, "the model knows the people it was trained on"
    assert exact.control == pytest.approx(1 / 6, abs=0.05)
    without = attacks(table, table, **known)["inference"]
    assert without.control == pytest.approx(1 / 6, abs=0.06)
    coarse = table.with_columns(age=pl.lit("*"), q0=pl.lit("*"), q1=pl.lit("*"))
    assert not attacks(table, coarse, control=others, **known)["inference"].better


def test_knowledge_about_everybody_is_no_success() -> None:
    """What follows from the quasi-identifiers for anybody is predicted for the control group as well."""
    rng = np.random.default_rng(7)
    sex = rng.choice(["f", "m"], 4000)
    everybody = pl.DataFrame({"sex": sex, "ill": np.where(rng.random(4000) < 0.8, sex, "other")})
    table, others = everybody.head(2000), everybody.tail(2000)
    known = {"quasi_identifiers": ["sex"], "sensitive": ["ill"]}
    report = attacks(table, table, control=others, **known)
    for name in ("homogeneity", "inference"):
        assert report[name].success == pytest.approx(0.8, abs=0.03)
        assert not report[name].better


def test_distance() -> None:
    table = people(500, 8)
    known = {"quasi_identifiers": ["age", "q0", "q1"], "sensitive": ["ill"]}
    release = dc.anonymize(
        table.select("age", "ill"),
        quasi_identifiers=["age"],
        sensitive=["ill"],
        privacy="k(4)",
        scheme="local(show=mean)",
        cost="NCP",
        time_limit=60,
        seed=1,
    )
    found = attacks(table.select("age", "ill"), release, only="distance")["distance"]
    assert found.better
    assert found.success is not None
    assert found.success > 0.15
    safe = attacks(table, table.with_columns(age=pl.lit("*")), **known, only="distance")["distance"]
    assert not safe.better
    none = attacks(table, table, quasi_identifiers=["q0"], only="distance")["distance"]
    assert none.sentence == "Not run: no quasi-identifier is a number or a date."


class Made:
    """A release that knows which row is whose."""

    def __init__(self, frame: pl.DataFrame, **job: object) -> None:
        self.frame, self.job = frame, {"scheme": "local", **job}

    def rows_of(self, table: pl.DataFrame) -> pl.Series:
        return pl.Series(range(table.height))


def test_minimality_of_local_classes() -> None:
    """Of two and four people the two would have been shown apart, unless both have the only value that occurs twice."""
    rows = [("a1", "x"), ("a1", "x"), *(("a2", each) for each in "yzvw"), ("a2", "y"), ("a2", "z")]
    table = pl.DataFrame(rows, ["place", "ill"], orient="row")
    released = table.with_columns(place=pl.Series(["{a1, a2}"] * 6 + ["a2"] * 2))
    known = {"quasi_identifiers": ["place"], "sensitive": ["ill"], "privacy": ["k(2)", "distinct-l(2, ill)"]}
    found = attacks(table, Made(released, **known))
    (figures,) = found.minimality["ill"]
    assert (figures.credibility, figures.confidence, figures.learnt) == (1.0, pytest.approx(1 / 3), True)
    assert figures.without == pytest.approx(2 / 6)
    assert figures.success > 0.4  # both of the two, and one of the four
    assert "pass the release itself" in attacks(table, released, **known)["minimality"].sentence
    safe = table.with_columns(ill=pl.Series(["x", "y", "x", "y", "x", "y", "y", "x"]))
    nothing = attacks(safe, Made(released.with_columns(safe["ill"]), **known))["minimality"]
    assert nothing.success == nothing.naive == 0.5


def test_minimality_of_a_node() -> None:
    """In a cut, the node with the most rows is asked why its children were not released."""
    rows = [
        ("a1", "A", "x"),
        ("a1", "A", "x"),
        *(("a2", "A", each) for each in "yzvw"),
        *(("b1", "b1", each) for each in "xy"),
        *(("b2", "b2", each) for each in "xz"),
    ]
    table = pl.DataFrame([(leaf, ill) for leaf, _, ill in rows], ["place", "ill"], orient="row")
    released = table.with_columns(place=pl.Series([shown for _, shown, _ in rows]))
    tree = dc.groups({"A": ["a1", "a2"], "B": ["b1", "b2"]})
    known = {"quasi_identifiers": {"place": tree}, "sensitive": ["ill"], "privacy": ["distinct-l(2, ill)"]}
    (figures,) = attacks(table, released, **known).minimality["ill"]
    assert figures.learnt
    assert figures.credibility > 0.9


def test_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = people(200, 9)
    table.write_csv("people.csv")
    people(100, 10).write_csv("others.csv")
    job = {"quasi_identifiers": {"age": "intervals(50, 100)", "q0": None, "q1": None}, "sensitive": ["ill"]}
    release = dc.anonymize("people.csv", **job, privacy="k(3)", output="safe.csv")
    release.mapping("mapping.json")
    command = ["attack", "people.csv", "safe.csv", "--mapping", "mapping.json", "--control", "others.csv"]
    result = CliRunner().invoke(program, [*command, "--earlier", "safe.csv", "--population", "people.csv"])
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Attack")
    assert "singling-out" in result.stdout
    result = CliRunner().invoke(program, [*command, "--json", "--only", "linkage"])
    assert list(json.loads(result.stdout)["results"]) == ["linkage"]
    listed = CliRunner().invoke(program, ["parts", "attacks"])
    assert all(name in listed.stdout for name in NAMES)
