"""Row order: an attacker with a sorted register of names against the release of a sorted table."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import discreet as dc
from attack.base import Outcome
from discreet.engines import to_lazy

FORMATS = ["csv", "tsv", "parquet", "jsonl", "csv.gz", "csv.bz2", "xlsx", "folder", "sqlite", "duckdb"]
WAYS = ["path", "path by duckdb", "path scattered", "frame", "write", "relation", "table"]


def run(seed: int, folder: Path) -> Iterator[Outcome]:
    """Release a sorted table by several paths, and try to find people by row position."""
    rng = np.random.default_rng(seed)
    for number in range(4):
        path = WAYS[(4 * seed + number) % len(WAYS)]
        kind = str(rng.choice(FORMATS))
        if path == "table" and kind not in ("sqlite", "duckdb"):
            kind = str(rng.choice(["sqlite", "duckdb"]))
        people = _people(rng)
        options: dict[str, Any] = {"suppression": "budget(20%)"} if rng.random() < 0.3 else {}
        target = f"{path} to {kind}"
        own = folder / f"{number}"
        own.mkdir()
        released = _release(people, path, kind, own / "first", options)
        yield _by_place(people, released, target)
        # With a seed the order must not depend on that of the table, so that there is nothing in it to invert.
        same = {**options, "seed": int(rng.integers(20))}
        one = _release(people, path, kind, own / "one", same)
        other = _release(people.sample(fraction=1, shuffle=True, seed=seed), path, kind, own / "other", same)
        yield Outcome("order-seed", target, one.equals(other), "the order follows that of the table")


def _people(rng: np.random.Generator) -> pl.DataFrame:
    """People sorted by a column that is not released."""
    n = int(rng.integers(120, 400))
    table = pl.DataFrame(
        {
            "name": [f"{rng.choice(['Ann', 'Bo', 'Cy', 'Di'])} {number:04}" for number in rng.permutation(n)],
            "born": rng.integers(1930, 2010, n),
            "sex": rng.choice(["f", "m"], n),
            "area": rng.choice(["north", "south", "west"], n),
            "disease": rng.choice(["flu", "cold", "gout", "none"], n),
            "amount": rng.normal(size=n).round(6),
        }
    )
    return table.sort(str(rng.choice(["name", "born", "amount"])), descending=bool(rng.random() < 0.5))


def _release(people: pl.DataFrame, path: str, kind: str, own: Path, options: dict[str, Any]) -> pl.DataFrame:
    """Make a release by one of the paths, and return the rows in written order."""
    own.mkdir()
    options = {
        "identifiers": ["name", "born"],
        "quasi_identifiers": ["sex", "area"],
        "sensitive": ["disease"],
        "keep": ["amount"],
        "privacy": "k(3)",
        **options,
    }
    output = _output(own, kind)
    data: Any = people
    if path.startswith("path"):
        people.write_parquet(own / "people.parquet")
        data = own / "people.parquet"
    elif path == "table":
        data = _output(own, kind).replace("table=safe", "table=people")
        _write_table(people, kind, own)
    elif path == "relation":
        import duckdb

        connection = duckdb.connect()
        data = connection.from_arrow(people.to_arrow())
    if path == "write":
        dc.anonymize(data, **options).write(output)
    elif path == "path scattered":
        with _scattered():
            dc.anonymize(data, output=output, **options)
    else:
        engine = {"engine": "duckdb"} if path == "path by duckdb" else {}
        dc.anonymize(data, output=output, **options, **engine)
    return to_lazy(output).collect()


def _output(own: Path, kind: str) -> str:
    if kind in ("sqlite", "duckdb"):
        return f"{kind}:///{own}/safe.{kind}?table=safe"
    return f"{own}/safe/" if kind == "folder" else f"{own}/safe.{kind}"


def _write_table(people: pl.DataFrame, kind: str, own: Path) -> None:
    if kind == "sqlite":
        with sqlite3.connect(own / "safe.sqlite") as connection:
            connection.execute("CREATE TABLE people (name, born, sex, area, disease, amount)")
            connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)", people.rows())
        connection.close()
        return
    import duckdb

    with duckdb.connect(str(own / "safe.duckdb")) as connection:
        rows = people.to_arrow()  # noqa: F841 - named in the query
        connection.execute("CREATE TABLE people AS SELECT * FROM rows")


@contextmanager
def _scattered() -> Iterator[None]:
    """Make small tables take the code path of large ones, through files."""
    from discreet.engines import shuffle as _shuffle

    before = _shuffle.IN_MEMORY
    _shuffle.IN_MEMORY = 0
    try:
        yield
    finally:
        _shuffle.IN_MEMORY = before


def _by_place(people: pl.DataFrame, released: pl.DataFrame, target: str) -> Outcome:
    """Match the first released row with the first person and so on.

    The places of people and of their rows, who are known here by an amount only they have, may not go together more
    than places drawn at random would, and neither may the diseases guessed be right more often.
    """
    amounts = released["amount"].cast(pl.Float64).to_list()
    position = {amount: number for number, amount in enumerate(people["amount"].to_list())}
    true = np.array([position[amount] for amount in amounts])
    n = len(true)
    ranks = np.argsort(np.argsort(true))
    together = float(np.corrcoef(np.arange(n), ranks)[0, 1]) * np.sqrt(n - 1)  # about normal if drawn at random
    follows = int((np.abs(np.diff(ranks)) == 1).sum())  # about Poisson of mean 2
    guessed = int((ranks == np.arange(n)).sum())  # about Poisson of mean 1
    held = abs(together) < 6 and follows < 20 and guessed < 15
    return Outcome("order", target, held, f"{guessed} of {n} people found, {follows} beside their neighbour")
