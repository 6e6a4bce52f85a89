"""Promises about sensitive values with many missing ones, recounted in plain Python.

Covers releases of random tables by every scheme, suppression kind and model, and points of fronts with promises. Every
equivalence class must keep every promise by the definitions: a missing value counts in the size of its class and is
not a value.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

import discreet as dc
import naive
from attack.base import Outcome
from attack.outputs import FORMATS, release_into
from discreet.problem import COSTS as FAMILY
from discreet.problem import SCHEMES
from unknown_values import KINDS, MODELS, QUASI, frame, kept, people

__all__ = ["run"]

COSTS = [name for name, cost in FAMILY.members().items() if "labels" not in cost.needs]
TEXTS = [text for text in MODELS if "hierarchical" not in text]
REFUSED = (dc.InfeasibleError, dc.UsageError, dc.NothingFoundError)


def run(seed: int, folder: Path) -> Iterator[Outcome]:
    """Attack releases by several schemes, and the points of a front with promises."""
    rng = random.Random(seed)
    for number in range(4):
        rows = people(rng, 24)
        if not any(row["s"] for row in rows):
            continue
        yield from _released(rng, rows, folder / f"{seed}-{number}")
    yield from _of_front(rng, people(rng, 24))


def _released(rng: random.Random, rows: list[dict[str, Any]], target: Path) -> Iterator[Outcome]:
    text, k, kind, scheme = rng.choice(TEXTS), rng.randint(1, 4), rng.choice(KINDS), rng.choice(list(SCHEMES.members()))
    ending, engine = rng.choice(FORMATS), rng.choice(["auto", "duckdb"])
    try:
        released = release_into(
            ending,
            target,
            frame(rows),
            quasi=QUASI,
            scheme=scheme,
            engine=engine,
            privacy=[f"k({k})", text],
            suppression=kind,
            cost=rng.choice(COSTS),
            seed=rng.randint(0, 9),
        )
    except REFUSED:
        return
    hidden = kind.endswith("values")
    held = kept(released.shown, ["age", "sex"], text, k, rows, hidden=hidden)
    yield Outcome("promises", f"{scheme}, {kind}, {text}, {ending or 'frame'}", held)


def _of_front(rng: random.Random, rows: list[dict[str, Any]]) -> Iterator[Outcome]:
    texts, k = rng.sample(TEXTS, rng.randint(1, 2)), rng.randint(2, 3)
    axes = rng.choice([["k"], ["k", "distinct-l(s)"], ["theta(s)"], []])
    scheme = rng.choice(["full-domain", "full-domain", "subtree"]) if axes in (["k"], []) else "full-domain"
    try:
        front = dc.pareto(
            frame(rows),
            quasi_identifiers=QUASI,
            sensitive=["s"],
            privacy=[*axes, *texts, f"k({k})"],
            suppression=rng.choice(["none", "budget(0.2)", "budget(3)"]),
            scheme=scheme,
            cost=rng.choice(["LM", "DM"]),
        )
        points = rng.sample(list(front), min(2, len(front)))
        released = [(point, front.release(point=point)) for point in points]
    except REFUSED:
        return
    for point, release in released:
        kept_all = all(kept(release.frame, ["age", "sex"], text, k, rows, hidden=False) for text in texts)
        reached = _reaches(release.frame, point.values)
        yield Outcome("promises", f"front over {', '.join(front.axes)} of {scheme}: {texts}", kept_all and reached)


def _reaches(released: pl.DataFrame, values: dict[str, Any]) -> bool:
    """Whether a release has the k and the number of values of its point."""
    classes = [naive.known(_counts(part)) for part in released.partition_by(["age", "sex"])]
    sizes = [part.height for part in released.partition_by(["age", "sex"])]
    enough = values.get("k", 0) <= min(sizes)
    return enough and values.get("distinct-l(s)", 0) <= min(map(len, classes))


def _counts(part: pl.DataFrame) -> dict[str | None, int]:
    found = part["s"].to_list()
    return {value: found.count(value) for value in set(found)}
