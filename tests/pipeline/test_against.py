"""Releases made against earlier ones, compared with all recodings by brute force and with the people themselves."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli import program
from discreet.errors import InfeasibleError, OutputError, UnsupportedCombinationError, UsageError
from discreet.evaluate import together
from naive import together as naive
from naive.schemes import set_partitions

TOWNS = {"x": ["a", "b"], "y": ["c", "d"]}
COLUMNS: dict[str, Any] = {"age": "intervals(4, 8, 16)", "town": dc.groups(TOWNS)}
WIDTHS = (1, 4, 8, 16)
PRIVACY = ["k(2)", "distinct-l(2, ill)"]


def people(rng: random.Random, count: int, first: int = 0) -> dict[int, dict[str, object]]:
    return {
        first + i: {"age": rng.randrange(16), "town": rng.choice("abcd"), "ill": rng.choice("uvw")}
        for i in range(count)
    }


def shown_by(levels: Mapping[str, int]) -> naive.Shown:
    def shown(row: Mapping[str, object]) -> Hashable:
        town = str(row["town"])
        return (
            int(str(row["age"])) // WIDTHS[levels["age"]],
            (town, "x" if town in "ab" else "y", "*")[levels["town"]],
        )

    return shown


def table(rows: Mapping[int, Mapping[str, object]]) -> pl.DataFrame:
    return pl.DataFrame(list(rows.values()))


def released(rows: Mapping[int, Mapping[str, object]], levels: Mapping[str, int]) -> pl.DataFrame:
    """Return a release by levels, whatever it breaks."""
    width, town = WIDTHS[levels["age"]], levels["town"]
    age = (
        pl.col("age")
        if width == 1
        else pl.format("[{}, {})", pl.col("age") // width * width, pl.col("age") // width * width + width)
    )
    groups = {leaf: (leaf, name, "*")[town] for name, leaves in TOWNS.items() for leaf in leaves}
    return table(rows).with_columns(age=age.cast(pl.String), town=pl.col("town").replace_strict(groups))


def make(rows: Mapping[int, Mapping[str, object]], **options: Any) -> Any:
    options = {"privacy": PRIVACY, "seed": 1, **options}
    return dc.anonymize(table(rows), quasi_identifiers=COLUMNS, sensitive=["ill"], **options)


def cheapest(new: Any, earlier: Any, shown_earlier: naive.Shown, *, visible: bool) -> float | None:
    """Return the least cost of all recodings that are safe together with an earlier one; None if there is none."""
    best = None
    for age, town in product(range(4), range(3)):
        levels = {"age": age, "town": town}
        shown = shown_by(levels)
        alone = naive.groups(new, new, shown, shown)
        fine = naive.keeps(alone, 2, 2, "ill") and naive.keeps(
            naive.groups(new, earlier, shown, shown_earlier), 2, 2, "ill"
        )
        if fine and (not visible or naive.can_be_shown(new, earlier, shown, shown_earlier, "ill")):
            cost = make(new, privacy="k(1)", min_levels=levels, max_levels=levels).cost
            best = cost if best is None else min(best, cost)
    return best


@pytest.mark.parametrize("seed", range(12))
def test_the_same_people(seed: int) -> None:
    rng = random.Random(seed)
    rows = people(rng, rng.choice([24, 60, 120]))
    levels = {"age": rng.randrange(1, 4), "town": rng.randrange(3)}
    earlier = released(rows, levels)
    best = cheapest(rows, rows, shown_by(levels), visible=False)
    if best is None:
        with pytest.raises(InfeasibleError):
            make(rows, against=earlier)
        return
    release = make(rows, against=earlier)
    assert release.cost == pytest.approx(best)
    assert release.status == "optimal"


@pytest.mark.parametrize("seed", range(20))
def test_overlapping_people(seed: int) -> None:
    """People joined and left: what is released is safe for the people themselves, and the best that can be shown."""
    rng = random.Random(100 + seed)
    first = people(rng, 60)
    levels = {"age": rng.randrange(1, 4), "town": rng.randrange(1, 3)}
    shown_earlier = shown_by(levels)
    gone = set(rng.sample(sorted(first), rng.choice([0, 0, 0, 12])))
    new = {**{i: row for i, row in first.items() if i not in gone}, **people(rng, rng.choice([0, 8, 30]), first=100)}
    if naive.replaced(new, first, shown_earlier, "ill"):
        return
    best = cheapest(new, first, shown_earlier, visible=True)
    if best is None:
        with pytest.raises(InfeasibleError):
            make(new, against=released(first, levels))
        return
    release = make(new, against=released(first, levels))
    assert release.cost == pytest.approx(best)
    assert naive.keeps(naive.groups(new, first, shown_by(release.levels), shown_earlier), 2, 2, "ill")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("scheme", ["full-domain", "subtree"])
def test_suppressed_people_are_safe_too(seed: int, scheme: str) -> None:
    """Whatever the scheme and the suppression, nobody is alone in what two releases show together."""
    rng = random.Random(200 + seed)
    rows = people(rng, 80)
    levels = {"age": rng.randrange(1, 3), "town": rng.randrange(2)}
    sizes = naive.groups(rows, rows, shown_by(levels), shown_by(levels))
    kept = {i: row for i, row in rows.items() if len(sizes[(shown_by(levels)(row),) * 2]) >= 3}
    try:
        release = make(rows, against=released(kept, levels), suppression="budget(20%)", scheme=scheme)
    except InfeasibleError:
        return
    frame = table(rows).with_columns(number=pl.Series(list(rows)))
    numbered = dc.anonymize(
        frame,
        quasi_identifiers=COLUMNS,
        sensitive=["ill"],
        keep=["number"],
        privacy=PRIVACY,
        against=released(kept, levels),
        suppression="budget(20%)",
        scheme=scheme,
        seed=1,
    )
    assert numbered.cost == release.cost
    if any("Nobody was suppressed" in note for note in release.notes):
        assert release.suppressed == 0
        assert release.lower_bound <= release.cost
        assert release.status == ("optimal" if release.gap == 0 else "feasible")
    labels = {n: (age, town) for age, town, n in numbered.frame.select("age", "town", "number").iter_rows()}
    numbers = {id(row): i for i, row in rows.items()}
    found = naive.groups(rows, kept, lambda row: labels.get(numbers[id(row)]), shown_by(levels))
    assert naive.keeps(found, 2, 2, "ill")


@pytest.mark.parametrize("seed", range(6))
def test_two_earlier_releases_of_the_same_people(seed: int) -> None:
    rng = random.Random(300 + seed)
    rows = people(rng, rng.choice([40, 80, 160]))
    earlier = [{"age": rng.randrange(1, 4), "town": rng.randrange(3)} for _ in range(2)]

    def fine(levels: Mapping[str, int]) -> bool:
        groups: dict[Hashable, list[Mapping[str, object]]] = {}
        for row in rows.values():
            groups.setdefault(tuple(shown_by(each)(row) for each in (levels, *earlier)), []).append(row)
        return naive.keeps(groups, 2, 2, "ill")

    safe = [levels for a, t in product(range(4), range(3)) if fine(levels := {"age": a, "town": t})]
    tables = [released(rows, levels) for levels in earlier]
    if not safe:
        with pytest.raises(InfeasibleError):
            make(rows, against=tables)
        return
    costs = [make(rows, privacy="k(1)", min_levels=levels, max_levels=levels).cost for levels in safe]
    assert make(rows, against=tables).cost == pytest.approx(min(costs))


def test_the_composition_attack_before_and_after() -> None:
    """By age or by town, everybody has two possible illnesses; by both, one."""
    rows = {i: {"age": i // 2 % 2 * 4, "town": "ac"[i % 2], "ill": "uvwz"[i % 4]} for i in range(80)}
    by_age = make(rows, min_levels={"town": 2})
    apart = make(rows, min_levels={"age": 2})
    options: dict[str, Any] = {"earlier": [by_age], "only": "composition"}
    assert apart.attacks(**options)["composition"].success == 1.0
    release = make(rows, min_levels={"age": 2}, against=by_age)
    assert release.attacks(**options)["composition"].success == 0.5
    assert not release.attacks(**options)["composition"].better


LOCAL: list[dict[str, Any]] = [COLUMNS, {**COLUMNS, "age": None}, {"age": None, "town": None}]


@pytest.mark.parametrize("seed", range(24))
def test_a_local_recoding(seed: int) -> None:
    """Nobody is among too few for somebody who knows which group of the local recoding everybody is in."""
    rng = random.Random(400 + seed)
    first = people(rng, rng.choice([16, 30, 60]))
    levels = {"age": rng.randrange(1, 4), "town": rng.randrange(3)}
    shown_earlier = shown_by(levels)
    new, earlier = dict(first), dict(first)
    if seed % 4 == 1:  # small classes were suppressed then
        sizes = naive.groups(first, first, shown_earlier, shown_earlier)
        earlier = {i: row for i, row in first.items() if len(sizes[(shown_earlier(row),) * 2]) >= 3}
    elif seed % 4 == 2:
        new |= people(rng, rng.choice([2, 8, 20]), first=100)
    elif seed % 4 == 3:
        new = {i: row for i, row in first.items() if rng.random() < 0.8}
    if not earlier or naive.replaced(new, earlier, shown_earlier, "ill"):
        return
    k, l = rng.choice([(2, 1), (2, 2), (3, 2)])  # noqa: E741
    options: dict[str, Any] = {
        "quasi_identifiers": rng.choice(LOCAL),
        "sensitive": ["ill"],
        "keep": ["number"],
        "privacy": [f"k({k})", f"distinct-l({l}, ill)"],
        "suppression": rng.choice(["none", "budget(20%)", "class-records"]),
        "cost": rng.choice(["LM", "NCP"]),
        "scheme": "local",
        "seed": 1,
    }
    if options["quasi_identifiers"] is LOCAL[2] and (levels["town"] or len(new) < len(earlier)):
        options["quasi_identifiers"] = LOCAL[1]  # the earlier release has labels that only the hierarchy explains
    frame = table(new).with_columns(number=pl.Series(list(new)))
    try:
        release = dc.anonymize(frame, against=released(earlier, levels), **options)
    except InfeasibleError:
        everybody = naive.groups(new, earlier, lambda row: 0, shown_earlier)
        assert not naive.keeps(everybody, k, l, "ill")
        return
    alone = dc.anonymize(frame, **options)
    assert alone.lower_bound - 1e-9 <= release.lower_bound <= release.cost
    labels = {n: (age, town) for age, town, n in release.frame.select("age", "town", "number").iter_rows()}
    numbers = {id(row): i for i, row in new.items()}
    found = naive.groups(new, earlier, lambda row: labels.get(numbers[id(row)]), shown_earlier)
    assert naive.keeps(found, k, l, "ill")
    checked = together(
        frame,
        [release, released(earlier, levels)],
        quasi_identifiers=options["quasi_identifiers"],
        sensitive=["ill"],
        privacy=options["privacy"],
    )
    assert checked.passed


def least_loss(rows: Sequence[Mapping[str, Any]], earlier: Sequence[Hashable], k: int) -> float:
    """Return the least LM of all groupings whose groups, as earlier classes divide them, have k rows each."""
    ages = sorted({row["age"] for row in rows})
    best = float("inf")
    for groups in set_partitions(range(len(rows))):
        parts = [Counter(earlier[i] for i in group) for group in groups]
        if all(size >= k for part in parts for size in part.values()):
            cost = 0.0
            for group in groups:
                here, towns = [ages.index(rows[i]["age"]) for i in group], {rows[i]["town"] for i in group}
                under = 1 if len(towns) == 1 else 2 if towns in ({"a", "b"}, {"c", "d"}) else 4
                cost += len(group) * ((max(here) - min(here)) / max(len(ages) - 1, 1) + (under - 1) / 3)
            best = min(best, cost)
    return best


@pytest.mark.parametrize("seed", range(16))
def test_the_bound_of_a_local_recoding(seed: int) -> None:
    """Compared with all groupings of few rows: the bound holds, and the release is nearly the best."""
    rng = random.Random(500 + seed)
    rows = people(rng, 8)
    levels = {"age": rng.randrange(2, 4), "town": rng.randrange(1, 3)}
    shown = shown_by(levels)
    best = least_loss(list(rows.values()), [shown(row) for row in rows.values()], 2)
    options: dict[str, Any] = {"privacy": "k(2)", "scheme": "local", "cost": "LM", "seed": 1}
    columns = {**COLUMNS, "age": None}
    frame = table(rows)
    if best == float("inf"):
        with pytest.raises(InfeasibleError):
            dc.anonymize(frame, quasi_identifiers=columns, keep=["ill"], against=released(rows, levels), **options)
        return
    release = dc.anonymize(frame, quasi_identifiers=columns, keep=["ill"], against=released(rows, levels), **options)
    assert release.lower_bound <= best + 1e-9
    assert best - 1e-9 <= release.cost <= 1.2 * best + 1e-9


AGE_ALONE: dict[str, Any] = {"privacy": "k(5)", "min_levels": {"town": 2}}
"""A release that shows ages and no towns."""


def test_several_earlier_releases() -> None:
    rows = people(random.Random(5), 120)
    earlier = [released(rows, {"age": 3, "town": 0}), released(rows, {"age": 3, "town": 1})]
    alone, release = make(rows, **AGE_ALONE), make(rows, against=earlier, **AGE_ALONE)
    assert alone.cost < release.cost
    for made, passed in ((alone, False), (release, True)):
        found = together(table(rows), [made, *earlier], quasi_identifiers=COLUMNS, sensitive=["ill"], privacy="k(5)")
        assert found.passed is passed


def by_some(rows: list[tuple[str, ...]], shown: str, earlier: list[Any]) -> Any:
    """Release some of four columns as they are, and the others not at all."""
    levels = {name: int(name not in shown) for name in "wxyz"}
    data = pl.DataFrame(rows, schema=list("wxyz"), orient="row")
    options: dict[str, Any] = {"against": earlier} if earlier else {}
    columns = dict.fromkeys("wxyz", "flat")
    return dc.anonymize(
        data, quasi_identifiers=columns, privacy="k(3)", min_levels=levels, max_levels=levels, seed=1, **options
    )


def test_classes_of_several_releases_that_nobody_joined() -> None:
    """Any two of x, y and z leave four people of a kind, all three leave two; others joined classes beside them."""
    kinds = [("a", x, y, z) for x, y, z in product("01", repeat=3)]
    first = kinds * 2 + [("a", "2", "2", "2")] * 4
    now = first + [("a", "2", "2", "2")] * 4
    by_x = by_some(first, "wx", [])
    by_y = by_some(first, "wy", [by_x])
    assert by_some(now, "wz", [by_x]).levels == by_some(now, "wz", [by_y]).levels == {"w": 0, "x": 1, "y": 1, "z": 0}
    with pytest.raises(InfeasibleError):
        by_some(now, "wz", [by_x, by_y])
    assert by_some(now, "w", [by_x, by_y]).levels["z"] == 1
    found = together(
        pl.DataFrame(now, schema=list("wxyz"), orient="row"),
        [by_some(now, "wz", []), by_x, by_y],
        quasi_identifiers=dict.fromkeys("wxyz", "flat"),
        privacy="k(3)",
    )
    assert (found.passed, found.smallest) == (False, 2)
    assert found.broken == ("k(3) is broken for people who are in the release and in the other releases: reached 2.",)


@pytest.mark.parametrize("seed", [2, 4, 13, 14])
def test_a_local_recoding_against_releases_that_break_promises_without_it(seed: int) -> None:
    """What earlier releases of some of the people tell together is not held against the new one."""
    rng = random.Random(seed)
    rows = people(rng, 30)
    some = [dict(list(rows.items())[: rng.choice([14, 20, 26])]) for _ in range(2)]
    options = {"privacy": "k(2)", "suppression": "budget(30%)"}
    earlier = [make(each, scheme=rng.choice(["full-domain", "subtree"]), **options) for each in some]
    release = make(rows, privacy="k(2)", scheme="local", against=earlier)
    for each in earlier:
        pair = [release.frame, each.frame]
        assert together(table(rows), pair, quasi_identifiers=COLUMNS, sensitive=["ill"], privacy="k(2)").passed


def test_one_person_joined() -> None:
    """The row that is new gives the person away, however coarse the release is."""
    first = {i: {"age": i % 4, "town": "a", "ill": "uv"[i % 2]} for i in range(8)}
    earlier = make(first)
    with pytest.raises(InfeasibleError, match="in the release and not in earlier release 1: reached 1"):
        make({**first, 9: {"age": 1, "town": "a", "ill": "w"}}, against=earlier)
    grown = {**first, **{9 + i: {"age": 1, "town": "a", "ill": "uvw"[i]} for i in range(3)}}
    assert make(grown, against=earlier).audit.passed


def test_one_person_left() -> None:
    first = {i: {"age": i % 4, "town": "a", "ill": "uv"[i % 2]} for i in range(8)}
    earlier = make(first)
    with pytest.raises(InfeasibleError, match="in earlier release 1 and not in the release: reached 1"):
        make({i: row for i, row in first.items() if i != 3}, against=earlier)


def test_a_local_release_before() -> None:
    """Of a local recoding, only people with the same candidates certainly fit."""
    rows = {i: {"age": 1 + i // 6, "town": "a", "ill": "uvw"[i % 3]} for i in range(24)}
    ranges = ["[1, 3]", "[2, 4]"]
    local = table(rows).with_columns(age=pl.Series([ranges[row["age"] + i % 2 > 2] for i, row in rows.items()]))
    assert make(rows, against=local).levels == {"age": 0, "town": 0}
    fewer = {i: row for i, row in rows.items() if i != 2}
    with pytest.raises(InfeasibleError, match="reached 5"):
        make(fewer, against=local.filter(pl.Series([i != 2 for i in rows])), privacy="k(6)")
    with pytest.raises(UsageError, match="local recoding of other people"):
        make({**rows, 100: rows[1]}, against=local)
    with pytest.raises(UnsupportedCombinationError, match="entropy-l"):
        make(rows, privacy="entropy-l(2, ill)", against=local)


def test_what_is_written_is_compared_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that ignored the earlier release would be caught by the audit."""
    from discreet.errors import AuditError
    from discreet.pipeline.against import EarlierReleases

    rows = people(random.Random(5), 120)
    monkeypatch.setattr(EarlierReleases, "require", lambda self, problem, prepared: problem)
    monkeypatch.setattr(EarlierReleases, "holds", lambda self, problem, solution, prepared: True)
    with pytest.raises(AuditError, match="Together with the earlier releases"):
        make(rows, against=released(rows, {"age": 3, "town": 0}), output=tmp_path / "safe.csv", **AGE_ALONE)
    assert not (tmp_path / "safe.csv").exists()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"scheme": "local", "cost": "DM"}, "the cost DM"),
        ({"scheme": "local(show=mean)", "cost": "SSE"}, "one value shown for a group"),
        ({"scheme": "local", "privacy": "entropy-l(2, ill)"}, "entropy-l"),
        ({"suppression": "violating-records"}, "violating-records"),
        ({"privacy": "average-risk(0.2)"}, "average-risk"),
        ({"privacy": "k(2, any=1)"}, "k on all quasi-identifiers"),
        ({"privacy": "k(2, on=[age])", "scheme": "local"}, "k on all quasi-identifiers"),
    ],
)
def test_what_does_not_go_with_it(options: dict[str, Any], named: str) -> None:
    rows = people(random.Random(4), 40)
    with pytest.raises(UnsupportedCombinationError, match=named):
        make(rows, against=released(rows, {"age": 2, "town": 1}), **options)


@pytest.mark.parametrize(
    "output", ["safe.csv", "safe.parquet", "safe.jsonl", "safe.xlsx", "parts/", "sqlite:///{}/safe.db?table=safe"]
)
def test_every_kind_of_output(output: str, tmp_path: Path) -> None:
    rows = people(random.Random(5), 120)
    target = output.format(tmp_path) if "://" in output else f"{tmp_path}/{output}"
    earlier = released(rows, {"age": 3, "town": 0})
    earlier.write_csv(tmp_path / "first.csv")
    release = make(rows, against=tmp_path / "first.csv", output=target, **AGE_ALONE)
    assert release.levels == make(rows, against=earlier, **AGE_ALONE).levels
    if "://" not in output:
        release.write(tmp_path / "again.csv")
    assert not any("RELEASED BEFORE" in note for note in release.notes)


def test_the_earlier_release_is_not_overwritten(tmp_path: Path) -> None:
    rows = people(random.Random(5), 120)
    released(rows, {"age": 3, "town": 1}).write_csv(tmp_path / "first.csv")
    before = (tmp_path / "first.csv").read_bytes()
    with pytest.raises(OutputError):
        make(rows, against=tmp_path / "first.csv", output=tmp_path / "first.csv")
    assert (tmp_path / "first.csv").read_bytes() == before


def test_the_ledger_does_not_warn_of_releases_that_were_considered(tmp_path: Path) -> None:
    rows = people(random.Random(5), 120)
    table(rows).write_csv(tmp_path / "people.csv")
    options = {"quasi_identifiers": COLUMNS, "sensitive": ["ill"], "privacy": "k(5)", "key": tmp_path / "key"}
    dc.anonymize(tmp_path / "people.csv", output=tmp_path / "1.csv", min_levels={"age": 3, "town": 1}, **options)
    alone = dc.anonymize(tmp_path / "people.csv", output=tmp_path / "2.csv", **options)
    assert any("RELEASED BEFORE" in note for note in alone.notes)
    both = [tmp_path / "1.csv", tmp_path / "2.csv"]
    third = dc.anonymize(tmp_path / "people.csv", output=tmp_path / "3.csv", against=both, cost="DM", **options)
    assert not any("RELEASED BEFORE" in note for note in third.notes)
    one = dc.anonymize(tmp_path / "people.csv", output=tmp_path / "4.csv", against=both[:1], cost="NCP", **options)
    assert any("RELEASED BEFORE" in note for note in one.notes)


@pytest.mark.parametrize("scheme", ["full-domain", "subtree", "local"])
def test_people_who_were_suppressed_before(scheme: str) -> None:
    """One person is alone and was left out before: the new release may leave the person out as well."""
    rows = {i: {"age": i % 4, "town": "a", "ill": "uv"[i % 2]} for i in range(8)}
    rows[9] = {"age": 15, "town": "d", "ill": "w"}
    first = make(rows, suppression="budget(1)")
    assert first.suppressed == 1
    again = make(rows, suppression="budget(1)", against=first, scheme=scheme)
    assert again.suppressed == 1
    with pytest.raises(InfeasibleError, match="in the release and not in earlier release 1: reached 1"):
        make(rows, against=first, scheme=scheme)


def test_dry_run_says_what_breaks(tmp_path: Path) -> None:
    rows = people(random.Random(5), 120)
    table(rows).write_csv(tmp_path / "people.csv")
    job = dc.Job(
        input=str(tmp_path / "people.csv"),
        quasi_identifiers={"age": "intervals(4, 8, 16)", "town": "flat"},
        privacy="k(2)",
        against=str(tmp_path / "people.csv"),
    )
    with pytest.raises(InfeasibleError, match="reached 1"):
        job.plan()


def test_what_people_are_known_by_in_an_earlier_release() -> None:
    """A column that an earlier release shows cannot be forgotten, but it need not be shown again."""
    rows = people(random.Random(5), 120)
    earlier = make(rows, privacy="k(5)")
    options: dict[str, Any] = {"sensitive": ["ill"], "privacy": "k(5)", "seed": 1}
    for table_before in (earlier, earlier.frame):
        with pytest.raises(UsageError, match="'age'"):
            dc.anonymize(
                table(rows),
                identifiers=["age"],
                quasi_identifiers={"town": COLUMNS["town"]},
                against=table_before,
                **options,
            )
    hidden = make(rows, privacy="k(5)", against=earlier, min_levels={"age": 3})
    assert hidden.frame["age"].n_unique() == 1


def test_values_that_nobody_has_any_more() -> None:
    """All people with some values left: the earlier release shows them still."""
    rows = people(random.Random(7), 120)
    levels = {"age": 0, "town": 2}
    for gone in ({"age": 3}, {"town": "d"}):
        (name, value), *_ = gone.items()
        fewer = {i: row for i, row in rows.items() if row[name] != value}
        shown = levels if name == "age" else {"age": 3, "town": 0}
        kept = naive.keeps(naive.groups(fewer, rows, shown_by({"age": 3, "town": 2}), shown_by(shown)), 2, 1, "ill")
        assert kept
        release = make(fewer, against=released(rows, shown), privacy="k(2)")
        found = naive.groups(fewer, rows, shown_by(release.levels), shown_by(shown))
        assert naive.keeps(found, 2, 1, "ill")


def test_a_release_that_cannot_be_read() -> None:
    rows = people(random.Random(4), 40)
    with pytest.raises(UsageError, match="cannot be read"):
        make(rows, against=table(rows).with_columns(town=pl.lit("nowhere")))
    with pytest.raises(UsageError, match="none of the quasi-identifiers"):
        make(rows, against=pl.DataFrame({"other": [1]}))


def test_command_line_and_job_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = people(random.Random(5), 120)
    table(rows).write_csv("people.csv")
    released(rows, {"age": 3, "town": 1}).write_csv("first.csv")
    (tmp_path / "town.csv").write_text("a;x;*\nb;x;*\nc;y;*\nd;y;*\n")
    command = ["anonymize", "people.csv", "--qi", "age,town", "--sensitive", "ill", "-k", "2", "-l", "2"]
    command += ["--hierarchy", "age=intervals(4,8,16)", "--hierarchy", "town=town.csv", "--against", "first.csv"]
    done = CliRunner().invoke(program, [*command, "-o", "second.csv", "--save-job", "job.yaml"])
    assert done.exit_code == 0, done.output
    assert "also hold together with 1 earlier release" in done.output
    check = ["audit", "second.csv", *command[2:-2], "--reference", "people.csv", "--with", "first.csv"]
    audited = CliRunner().invoke(program, check)
    assert audited.exit_code == 0, audited.output
    assert "against: first.csv" in Path("job.yaml").read_text() or "- first.csv" in Path("job.yaml").read_text()
    assert CliRunner().invoke(program, ["run", "job.yaml"]).exit_code == 0
    same = CliRunner().invoke(program, [*command, "-o", "first.csv"])
    assert same.exit_code == 6, same.output
    missing = CliRunner().invoke(program, [*command[:-1], "nothing.csv", "-o", "third.csv"])
    assert missing.exit_code == 3, missing.output
