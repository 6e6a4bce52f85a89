"""Promises about key sets, recounted in plain Python on what was written, by every scheme and suppression kind."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

import discreet as dc
from attack.base import Outcome

__all__ = ["run"]

SCHEMES = ("full-domain", "subtree", "ordered", "set", "local")
KINDS = ("none", "budget(0.1)", "budget(3)", "class-records")
COLUMNS = ("a", "b", "c", "d")
REFUSED = (dc.InfeasibleError, dc.UsageError, dc.NothingFoundError)


def run(seed: int, folder: Path) -> Iterator[Outcome]:
    """Release random tables with random key sets, and count every combination that was promised."""
    rng = random.Random(seed)
    for number in range(4):
        names = COLUMNS[: rng.randint(2, 4)]
        values = {name: [f"{name}{i}" for i in range(rng.randint(2, 5))] for name in names}
        table = pl.DataFrame({name: rng.choices(values[name], k=30) for name in names})
        texts, promised = _promises(rng, names)
        scheme, kind = rng.choice(SCHEMES), rng.choice(KINDS)
        path = folder / f"{seed}-{number}.csv"
        hierarchies: dict[str, Any] = dict.fromkeys(names, "flat")
        if scheme == "local":
            hierarchies |= dict.fromkeys(rng.sample(names, rng.randint(0, len(names))))
        try:
            dc.anonymize(
                table,
                quasi_identifiers=hierarchies,
                privacy=texts,
                scheme=scheme,
                suppression=kind,
                output=path,
                seed=rng.randint(0, 9),
            )
        except REFUSED:
            continue
        rows = pl.read_csv(path, infer_schema=False).rows(named=True)
        held = all(
            count >= k
            for columns, k in promised
            for count in Counter(tuple(r[c] for c in columns) for r in rows).values()
        )
        yield Outcome("key sets", f"{scheme}, {kind}, {texts}", held, detail="a combination of too few rows")


def _promises(rng: random.Random, names: tuple[str, ...]) -> tuple[list[str], list[tuple[tuple[str, ...], int]]]:
    """Draw promises, as text forms and as pairs of columns and k."""
    texts, pairs = [], []
    for _ in range(rng.randint(1, 3)):
        k, number = rng.randint(2, 5), rng.randint(1, len(names))
        if rng.random() < 0.5:
            texts.append(f"k({k}, any={number})")
            pairs += [(some, k) for some in itertools.combinations(names, number)]
        else:
            some = tuple(rng.sample(names, number))
            texts.append(f"k({k}, on=[{', '.join(some)}])")
            pairs.append((some, k))
    return list(dict.fromkeys(texts)), pairs
