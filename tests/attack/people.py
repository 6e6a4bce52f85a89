"""People with several rows: is every class a crowd of people, and does anything tell who they are?

Random visits are released by every scheme, suppression kind and format, counted in people or households, with and
without pseudonyms. What was written is read without discreet. Rows carry a number that finds the person again.
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
from attack.outputs import FORMATS, release_into
from canary import found_in
from discreet.errors import InterruptedRun
from discreet.problem import SCHEMES, SUPPRESSION

__all__ = ["run"]

REFUSED = (dc.InfeasibleError, dc.UsageError, dc.NothingFoundError, InterruptedRun)
QUASI = {"age": "intervals(5, 10, 20)", "sex": "flat"}
MODELS = ["k(1)", "distinct-l(2, s)", "l+(0.7, s)", "entropy-l(1.5, s)", "alpha-k(0.8, 2, s)", "beta(2, s)"]
KINDS = [kind for kind in SUPPRESSION.members() if kind != "pre-sampling"] + [
    "budget(0.3)",
    "budget(4)",
    "budget(0.3, of=rows)",
]


def run(seed: int, folder: Path) -> Iterator[Outcome]:
    """Attack some releases of random visits."""
    rng = random.Random(seed)
    for number in range(6):
        yield from _released(rng, folder / f"{seed}-{number}")


def _visits(rng: random.Random, rows: int) -> list[dict[str, Any]]:
    people = rng.randint(2, rows)
    varies = rng.random() < 0.6
    born = [rng.randint(20, 44) for _ in range(people)]
    home = [rng.randint(0, people // 2) for _ in range(people)]
    found = []
    for number in range(rows):
        who = rng.randrange(people)
        found.append(
            {
                "rid": number,
                "pid": f"QZPerson{who:03d}",
                "hid": f"QZHouse{home[who]:03d}",
                "age": born[who] + (rng.randint(0, 3) if varies else 0),
                "sex": "fm"[born[who] % 2],
                "s": rng.choice("aabbcd") if rng.random() < 0.85 else None,
            }
        )
    return found


def _released(rng: random.Random, target: Path) -> Iterator[Outcome]:
    rows = _visits(rng, rng.choice((12, 30, 60)))
    text, k, kind = rng.choice(MODELS), rng.randint(1, 4), _suppression(rng)
    scheme, ending, pseudonyms = _scheme(rng), rng.choice(FORMATS), rng.random() < 0.4
    unit = rng.choice(("pid", "hid"))
    owners = {"person": "pid", **({"household": "hid"} if unit == "hid" else {"identifiers": ["hid"]})}
    try:
        released = release_into(
            ending,
            target,
            pl.DataFrame(rows, schema_overrides={"s": pl.String}),
            quasi=QUASI,
            scheme=scheme,
            engine=rng.choice(["auto", "duckdb"]) if ending else "auto",
            privacy=[f"k({k})", text],
            suppression=kind,
            keep=["rid"],
            pseudonyms=pseudonyms,
            seed=rng.randint(0, 9),
            time_limit=3,
            **owners,
        )
    except REFUSED as error:
        yield Outcome("people", f"refusal of {scheme}, {kind}", not found_in(str(error).encode(), ["QZ"]), str(error))
        return
    what = f"{scheme}, {kind}, {text}, {unit}, {ending or 'frame'}"
    release, shown = released.release, released.shown
    yield Outcome("people", what, _crowds_hold(rows, shown, unit, k, text), "a class has too few people")
    gone = {row[unit] for row in rows} - {rows[int(rid)][unit] for rid in shown["rid"]}
    if kind.startswith("budget") and "rows" not in kind:
        lost = [row for row in rows if row["rid"] not in set(map(int, shown["rid"])) and row[unit] not in gone]
        yield Outcome("people", f"{what}: whole people", not lost, "somebody lost some rows only")
    yield Outcome("people", f"{what}: counted", release.suppressed_people == len(gone), "another number was left out")
    contents = [str(release).encode(), pickle.dumps(release), repr(release.to_dict()).encode(), released.content]
    words = sorted({row["pid"] for row in rows} | {row["hid"] for row in rows})
    leaked = set().union(*(found_in(content, words) for content in contents))
    yield Outcome("people", f"{what}: values", not leaked, "a value of a person left")
    if pseudonyms:
        yield Outcome("people", f"{what}: pseudonyms", _one_each(rows, shown), "a pseudonym is not one person")


def _suppression(rng: random.Random) -> str:
    kind = rng.choice(KINDS)
    return "budget(0.2)" if kind == "budget" else kind


def _crowds_hold(rows: list[dict[str, Any]], shown: pl.DataFrame, unit: str, k: int, text: str) -> bool:
    """Whether every class has enough people and keeps a promise about their values, by sets of people."""
    table = naive.Table(rows, {})
    whole = naive.crowd(table, range(len(rows)), unit, "s")
    order = [[value, "*"] for value in sorted(whole.counts)]
    keeps = naive.crowd_ok(text, order, whole)
    for part in shown.partition_by(["age", "sex"]):
        crowd = naive.crowd(table, [int(rid) for rid in part["rid"]], unit, "s")
        if len(crowd.people) < k or not keeps(crowd):
            return False
    return True


def _one_each(rows: list[dict[str, Any]], shown: pl.DataFrame) -> bool:
    """Whether pseudonyms and released people correspond one to one."""
    pairs = {(name, rows[int(rid)]["pid"]) for name, rid in zip(shown["pid"], shown["rid"], strict=True)}
    return len(pairs) == len({name for name, _ in pairs}) == len({who for _, who in pairs})


def _scheme(rng: random.Random) -> str:
    return rng.choice(["full-domain", "subtree", "local", *SCHEMES.members()])
