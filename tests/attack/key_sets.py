"""Promises about key sets, recounted in plain Python on what was written, by every scheme and suppression kind.

Half of the releases count people, who are known there by pseudonyms.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

import discreet as dc
from attack.base import Outcome

__all__ = ["run"]

SCHEMES = ("full-domain", "subtree", "ordered", "set", "local")
KINDS = ("none", "budget(0.1)", "budget(3)", "class-records")
APART = ("none", "budget(0.1, of=rows)", "budget(3, of=rows)", "class-records")
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
        scheme, kind, owner = rng.choice(SCHEMES), rng.choice(KINDS), {}
        if rng.random() < 0.5:
            table = table.with_columns(pid=pl.Series([f"P{rng.randrange(18)}" for _ in range(30)]))
            owner = {"person": "pid", "pseudonyms": True}
            if scheme == "local" and rng.random() < 0.5:
                scheme, kind = "local(people=apart)", rng.choice(APART)
        path = folder / f"{seed}-{number}.csv"
        hierarchies: dict[str, Any] = dict.fromkeys(names, "flat")
        if scheme.startswith("local"):
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
                **owner,
            )
        except REFUSED:
            continue
        rows = pl.read_csv(path, infer_schema=False).rows(named=True)
        units = [row["pid"] if owner else number for number, row in enumerate(rows)]
        held = all(len(crowd) >= k for columns, k in promised for crowd in _crowds(rows, units, columns).values())
        what = f"{scheme}, {kind}, {texts}, {'people' if owner else 'rows'}"
        yield Outcome("key sets", what, held, detail="a combination of too few rows or people")


def _crowds(rows: list[dict[str, Any]], units: list[Any], columns: tuple[str, ...]) -> dict[Any, set[Any]]:
    """Return whose rows, or which, have each combination of released values."""
    found: dict[Any, set[Any]] = {}
    for row, unit in zip(rows, units, strict=True):
        found.setdefault(tuple(row[column] for column in columns), set()).add(unit)
    return found


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
