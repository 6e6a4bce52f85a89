"""Several tables released together: do they hold joined, and does anything tell who was left out or who is who?

Random people, visits and drugs are released by every scheme and suppression kind, as frames and as files. The tables
are read without discreet and joined by pseudonym, as whoever gets them would. Visits carry a number that finds the
person again.
"""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

import discreet as dc
import naive
from attack.base import Outcome
from canary import found_in
from discreet.errors import InterruptedRun

__all__ = ["run"]

REFUSED = (dc.InfeasibleError, dc.UsageError, dc.NothingFoundError, InterruptedRun)
SCHEMES = ["full-domain", "full-domain", "subtree", "local", "set", "ordered"]
KINDS = ["none", "budget(0.3)", "budget(4)", "class-records", "budget(0.3, of=rows)"]
MODELS = ["k(1)", "l+(0.7, s)", "alpha-k(0.8, 2, s)", "beta(2, s)", "distinct-l(2, s)"]
QUASI = {"home": "flat", "sex": "flat", "age": "intervals(5, 10, 20)", "drug": "flat"}


def run(seed: int, folder: Path) -> Iterator[Outcome]:
    """Attack some releases of random tables."""
    rng = random.Random(seed)
    for number in range(6):
        yield from _released(rng, folder / f"{seed}-{number}")


def _tables(rng: random.Random) -> dict[str, list[dict[str, Any]]]:
    people = [
        {"pid": f"QZcanaryPerson{number:03d}", "home": f"QZcanaryHome{rng.randint(0, 3)}", "sex": rng.choice("fm")}
        for number in range(rng.choice((6, 12, 25)))
    ]
    least = rng.choice((0, 1))
    often = [rng.randint(least, 3) for _ in people]
    whose = [who["pid"] for who, times in zip(people, often, strict=True) for _ in range(times)] or [people[0]["pid"]]
    rng.shuffle(whose)
    visits = [
        {"pid": who, "rid": number, "age": str(rng.randint(20, 44)), "s": rng.choice(["a", "a", "b", "c", None])}
        for number, who in enumerate(whose)
    ]
    tables = {"people": people, "visits": visits}
    if rng.random() < 0.3:
        tables["drugs"] = [{"pid": who["pid"], "drug": rng.choice("xyz")} for who in people for _ in range(least or 2)]
    return tables


def _released(rng: random.Random, target: Path) -> Iterator[Outcome]:
    tables, k = _tables(rng), rng.randint(1, 3)
    text, kind, scheme = rng.choice(MODELS), rng.choice(KINDS), rng.choice(SCHEMES)
    keyed = rng.choice([[], ["age", "sex"], ["age"], ["home", "sex"]])
    least = rng.randint(2, 3)
    ending = rng.choice(["", "csv", "parquet"])
    data: dict[str, Any] = {
        name: pl.DataFrame(rows, schema={c: pl.Int64 if c == "rid" else pl.String for c in rows[0]})
        for name, rows in tables.items()
    }
    output: dict[str, Any] = {}
    if ending:
        target.mkdir()
        for name, frame in data.items():
            path = target / f"{name}.{ending}"
            if ending == "csv":
                frame.write_csv(path)
            else:
                frame.write_parquet(path)
            data[name] = path
        output = {"output": f"{target}-safe/"}
    columns = {column for rows in tables.values() for column in rows[0]}
    quasi = {name: tree for name, tree in QUASI.items() if name in columns}
    try:
        release = dc.anonymize(
            data,
            person="pid",
            quasi_identifiers=dict.fromkeys(quasi) if scheme == "local" else quasi,
            types={"age": "integer"},
            sensitive=["s"],
            privacy=[f"k({k})", text, *([f"k({least}, on=[{', '.join(keyed)}])"] if keyed else [])],
            suppression=kind,
            scheme=scheme,
            keep=["rid"],
            seed=rng.randint(0, 9),
            time_limit=3,
            **output,
        )
    except REFUSED as error:
        yield Outcome(
            "tables", f"refusal of {scheme}, {kind}", not found_in(str(error).encode(), ["QZcanary"]), str(error)
        )
        return
    what = f"{scheme}, {kind}, {text}, {len(tables)} tables, {ending or 'frames'}"
    folder = Path(f"{target}-safe")
    shown = {name: _read(folder / f"{name}.{ending}") if ending else release.frames[name] for name in tables}
    rows = {name: frame.to_dicts() for name, frame in shown.items()}
    yield Outcome(
        "tables", f"{what}: links", naive.whole_links(rows, "pid"), "a row is of nobody, or somebody is twice"
    )
    joined = naive.join_tables(rows, "pid")
    yield Outcome("tables", what, _crowds_hold(tables, joined, list(quasi), k, text), "a class has too few people")
    crowds: dict[Any, set[Any]] = {}
    for row in joined if keyed else []:
        crowds.setdefault(tuple(row[name] for name in keyed), set()).add(row["pid"])
    fine = all(len(crowd) >= least for crowd in crowds.values())
    yield Outcome("tables", f"{what}: key set {keyed}", fine, "a combination of too few people")
    who = {row["rid"]: row["pid"] for row in tables["visits"]}
    pairs = {(row["pid"], who[int(row["rid"])]) for row in rows["visits"]}
    one_each = len(pairs) == len({name for name, _ in pairs}) == len({person for _, person in pairs})
    yield Outcome("tables", f"{what}: pseudonyms", one_each, "a pseudonym is not one person")
    gone = {row["pid"] for row in tables["people"]} - {person for _, person in pairs}
    absent = {row["pid"] for row in tables["people"]} - set(who.values())
    left = len(rows["people"]) - len(pairs)
    yield Outcome("tables", f"{what}: left out", left <= len(gone & absent), "somebody who was left out is in a table")
    contents = [str(release).encode(), pickle.dumps(release), repr(release.to_dict()).encode()]
    contents += [path.read_bytes() for path in folder.iterdir()] if ending else [repr(rows).encode()]
    leaked = set().union(*(found_in(content, [row["pid"] for row in tables["people"]]) for content in contents))
    yield Outcome("tables", f"{what}: values", not leaked, "a value of a person left")
    homes = {row["home"] for row in tables["people"]} - {
        row["home"] for row in tables["people"] if row["pid"] not in gone - absent
    }
    told = set().union(*(found_in(content, homes) for content in contents))
    yield Outcome("tables", f"{what}: canaries", not told, "a value of people who were left out appears")
    if ending and len(tables["visits"]) >= 12:
        order = [int(row["rid"]) for row in rows["visits"]]
        known = [str(row["home"]) for row in rows["people"]]
        sorted_too = (order == sorted(order) and len(order) > 8) or (known == sorted(known) and len(set(known)) > 3)
        yield Outcome("tables", f"{what}: order", not sorted_too, "rows are in the order they came in")


def _read(path: Path) -> pl.DataFrame:
    """Read an output without discreet."""
    return pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path, infer_schema=False)


def _crowds_hold(
    tables: dict[str, list[dict[str, Any]]], joined: list[dict[str, Any]], quasi: list[str], k: int, text: str
) -> bool:
    """Whether every class of the joined tables has enough people and keeps a promise, by sets of people."""
    before = naive.join_tables(tables, "pid")
    whole = naive.crowd(naive.Table(before, {}), range(len(before)), "pid", "s")
    keeps = naive.crowd_ok(text, [[value, "*"] for value in sorted(whole.counts)], whole)
    marks = [f"any {name}" for name in list(tables)[1:]]
    classes: dict[tuple[Any, ...], list[int]] = {}
    for number, row in enumerate(joined):
        classes.setdefault(tuple(row[name] for name in (*quasi, *marks)), []).append(number)
    for members in classes.values():
        crowd = naive.crowd(naive.Table(joined, {}), members, "pid", "s")
        if len(crowd.people) < k or not keeps(crowd):
            return False
    return True
