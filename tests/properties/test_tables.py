"""Several tables released together, against exhaustive search and sets of people on a join in plain Python."""

from __future__ import annotations

import random
from typing import Any

import polars as pl
import pytest

import discreet as dc
import naive
from depth import cases
from discreet.errors import DiscreetError, InfeasibleError

AREAS = {"north": ["n1", "n2"], "south": ["s1", "s2", "s3"]}
TREES = {
    "sex": [["f", "*"], ["m", "*"]],
    "area": [[leaf, node, "*"] for node, leaves in AREAS.items() for leaf in leaves],
    "ward": [["a", "*"], ["b", "*"], ["c", "*"], [None, "*"]],
    "drug": [["x", "*"], ["y", "*"], [None, "*"]],
}
QUASI = {"sex": "flat", "area": dc.groups(AREAS), "ward": "flat", "drug": "flat"}


def draw(rng: random.Random) -> dict[str, list[dict[str, Any]]]:
    """A table of people, one of their visits, and sometimes one of their drugs; some people have neither."""
    number = rng.randint(3, 9)
    people = [
        {"pid": f"QZ{i}", "sex": rng.choice("fm"), "area": rng.choice([row[0] for row in TREES["area"]])}
        for i in range(number)
    ]
    most = rng.choice((1, 3))
    least = rng.choice((0, 1))
    visits = [
        {"pid": who["pid"], "ward": rng.choice("aabc"), "s": rng.choice(["u", "v", None])}
        for who in people
        for _ in range(rng.randint(least, most))
    ]
    tables = {"people": people, "visits": visits or [{"pid": people[0]["pid"], "ward": "a", "s": "u"}]}
    if rng.random() < 0.3:
        drugs = [{"pid": who["pid"], "drug": rng.choice("xy")} for who in people for _ in range(rng.randint(least, 2))]
        tables["drugs"] = drugs or [{"pid": people[0]["pid"], "drug": "x"}]
    return tables


def joined_trees(rows: list[dict[str, Any]]) -> dict[str, list[list[Any]]]:
    """The hierarchies of a joined table: those of texts are flat and have the values that occur."""
    trees = {name: tree for name, tree in TREES.items() if name in rows[0]}
    for name in trees.keys() - {"area"}:
        trees[name] = [leaf for leaf in trees[name] if any(row[name] == leaf[0] for row in rows)]
    marks = [name for name in rows[0] if name.startswith("any ") and any(row[name] == "no" for row in rows)]
    return {**trees, **{mark: [["no"], ["yes"]] for mark in marks}}


def frames(tables: dict[str, list[dict[str, Any]]]) -> dict[str, pl.DataFrame]:
    return {name: pl.DataFrame(rows, schema=dict.fromkeys(rows[0], pl.String)) for name, rows in tables.items()}


def released(
    tables: dict[str, Any], rng: random.Random, scheme: str, suppression: str, privacy: list[str]
) -> dc.Release:
    quasi = {name: tree for name, tree in QUASI.items() if any(name in rows[0] for rows in tables.values())}
    if scheme in ("local", "set"):
        quasi = dict.fromkeys(quasi)
    return dc.anonymize(
        frames(tables),
        person="pid",
        quasi_identifiers=quasi,
        sensitive=["s"],
        privacy=privacy,
        suppression=suppression,
        scheme=scheme,
        seed=rng.randint(0, 9),
        time_limit=5,
    )


@pytest.mark.parametrize("part", range(4))
def test_full_domain_equals_exhaustive_search(part: int) -> None:
    compared = 0
    for seed in range(part, cases(1600), 4):
        rng = random.Random(seed)
        tables, k = draw(rng), rng.randint(1, 3)
        kind = rng.choice(["none", "budget(0.5)", "budget(2)"] + ["class-records"] * (len(tables) == 2))
        profile = rng.random() < 0.2 and kind != "class-records"
        theta = rng.random() < 0.3
        privacy = [f"k({k}, profile=true)" if profile else f"k({k})", *(["l+(0.7, s)"] if theta else [])]
        rows = naive.join_tables(tables, "pid")
        table = naive.Table(rows, joined_trees(rows))
        whole = naive.crowd(table, range(len(rows)), "pid", "s")
        within = naive.crowd_ok("l+(0.7)", [["u"], ["v"]], whole) if theta else lambda crowd: True

        def ok(members, table=table, k=1 if profile else k, within=within):
            crowd = naive.crowd(table, members, "pid", "s")
            return len(crowd.people) >= k and within(crowd)

        people = len(tables["people"])
        limit = {"none": 0, "class-records": len(rows), "budget(2)": 2}.get(kind, people // 2)
        unit = "rows" if kind in ("none", "class-records") and not profile else "people"
        free = {name: 0 for name in table.hierarchies if name.startswith("any ")}  # they cost nothing
        want = naive.search_people(table, ok, "pid", "LM", limit, unit=unit, profile=k if profile else 0, weights=free)
        try:
            release = released(tables, rng, "full-domain", kind, privacy)
        except InfeasibleError as error:
            refused = error.topic
        else:
            refused = ""
        if refused:  # what no class of the table could keep is refused, even if everything may be suppressed
            assert not want.feasible or refused == "never-possible", (seed, privacy, kind)
            continue
        assert want.feasible, (seed, privacy, kind)
        assert release.status == "optimal"
        assert release.cost == pytest.approx(want.cost, rel=1e-9, abs=1e-9), (seed, privacy, kind)
        compared += 1
    assert compared > 20


@pytest.mark.parametrize("scheme", ["full-domain", "subtree", "set", "local"])
def test_what_is_released_keeps_its_promises_joined(scheme: str) -> None:
    kept = 0
    for seed in range(cases(400)):
        rng = random.Random(f"{scheme} {seed}")
        tables, k = draw(rng), rng.randint(1, 3)
        kind = rng.choice(["none", "budget(0.6)", "class-records", "budget(3)"])
        try:
            release = released(tables, rng, scheme, kind, [f"k({k})", "l+(0.8, s)"])
        except DiscreetError:
            continue
        shown = {name: frame.to_dicts() for name, frame in release.frames.items()}
        assert naive.whole_links(shown, "pid")
        rows = naive.join_tables(shown, "pid")
        quasi = [name for name in rows[0] if name not in ("pid", "s")] if rows else []
        classes: dict[tuple[Any, ...], list[int]] = {}
        for number, row in enumerate(rows):
            classes.setdefault(tuple(row[name] for name in quasi), []).append(number)
        original = naive.join_tables(tables, "pid")
        before = naive.crowd(naive.Table(original, {}), range(len(original)), "pid", "s")
        within = naive.crowd_ok("l+(0.8)", [["u"], ["v"]], before)
        for members in classes.values():
            crowd = naive.crowd(naive.Table(rows, {}), members, "pid", "s")
            assert len(crowd.people) >= k, (seed, kind)
            assert within(crowd), (seed, kind)
        assert len(classes) == release.classes
        assert len(rows) == release.audit.rows == release.n - release.suppressed
        if kind != "class-records":
            assert len(shown["people"]) == len(tables["people"]) - release.suppressed_people
        kept += 1
    assert kept > 5
