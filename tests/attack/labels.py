"""Labels in a release must not reveal values of suppressed rows.

Rare values are planted so that most of them are suppressed. The first attack searches everything handed over for values
that no released row has. The second replaces the suppressed values by others: as long as the same rows are released in
the same blocks, every byte of the release must stay the same.
"""

from __future__ import annotations

import datetime
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

import discreet as dc
from attack.base import Outcome, going_together
from canary import found_in
from discreet.errors import DiscreetError
from discreet.pipeline.release import Release

__all__ = [
    "KINDS",
    "SUPPRESSIONS",
    "Case",
    "attempt",
    "fitting",
    "never_released",
    "planted",
    "run",
    "search",
]

SUPPRESSIONS = (
    "budget(20%)",
    "class-records",
    "violating-records",
    "class-values",
    "violating-values",
    "pre-sampling(2)",
    "missing",
)
"""Kinds of suppression; ``missing`` drops rows with a missing value before the search."""
_WEIGHTS = (10, 6, 4, 1, 1, 2, 2)
KINDS = ("text", "words", "rare", "codes", "integer", "skewed", "decimal", "date", "datetime", "boolean")
"""Kinds of values: texts for which automatic hierarchies differ, and other types."""
ENGINES = ("polars", "pandas", "file", "duckdb")
"""Engines; with DuckDB, :meth:`Release.rows_of` does not know which single records were suppressed."""
_DAY = datetime.date(1980, 1, 1)


@dataclass(frozen=True)
class Case:
    """One job: the kind of values, and how they are released."""

    kind: str
    scheme: str
    cost: str
    suppression: str
    given: bool
    engine: str = "polars"
    suffix: str = "csv"

    @property
    def target(self) -> str:
        """Key by which outcomes are counted."""
        return f"{self.scheme}, {self.suppression}"


def run(seed: int, folder: Path) -> Iterator[Outcome]:
    """Attack some releases of random tables."""
    rng = random.Random(seed)
    for number in range(4):
        suppression = rng.choices(SUPPRESSIONS, weights=_WEIGHTS)[0]
        pairs = fitting(suppression)
        scheme = rng.choice(sorted({scheme for scheme, _ in pairs}))
        cost = rng.choice([cost for each, cost in pairs if each == scheme])
        case = Case(
            kind=rng.choice(KINDS),
            scheme=scheme,
            cost=cost,
            suppression=suppression,
            given=rng.random() < 0.4,
            engine=rng.choice(ENGINES[:-1] if suppression == "violating-records" or scheme == "local" else ENGINES),
            suffix=rng.choice(("csv", "parquet", "jsonl")),
        )
        own = folder / str(number)
        own.mkdir()
        yield from attempt(case, rng.randrange(2**32), own)


def fitting(suppression: str) -> list[tuple[str, str]]:
    """Schemes and costs that go with a suppression kind."""
    kind = "none" if suppression == "missing" else suppression
    return going_together(kind, _privacy(suppression, "disease"))


def _privacy(suppression: str, secret: str) -> str:
    """A promise that the suppression kind can mend."""
    diversity = suppression.startswith("violating") or suppression == "class-values"
    return f"l+(0.5, {secret})" if diversity else "k(6)"


def attempt(case: Case, seed: int, folder: Path) -> Iterator[Outcome]:
    """Run both attacks on one release; yields nothing if the job is refused or infeasible."""
    rng = random.Random(seed)
    table, other = planted(case.kind, rng, rows_without_value=case.suppression == "missing")
    if case.engine == "pandas":
        table = pl.from_pandas(table.to_pandas())  # has no dates, but datetimes
        pairs = pl.DataFrame([list(other), list(other.values())], schema=["one", "two"])
        other = dict(pairs.cast(table["x"].dtype).iter_rows())
    tree = _tree(case.kind, table, other) if case.given else None
    release = _release(table, case, tree, folder)
    if release is None:
        return
    left_out = never_released(release, table)
    marked = [value for value in left_out if value in other]
    if marked:
        found = search(release, marked, folder, f"out.{case.suffix}")
        yield Outcome("labels", case.target, not found, f"{case}: {found}")
    twin = _swapped(table, other, left_out)
    if twin is None:
        return
    beside = folder / "twin"
    beside.mkdir()
    again = _release(twin, case, tree, beside)
    if again is not None and _comparable(release, table, again, twin, names_of_blocks=_made_up(case)):
        yield Outcome("labels differ", case.target, _bytes(release) == _bytes(again), f"{case}, seed {seed}")


def never_released(release: Release, table: pl.DataFrame) -> list[Any]:
    """Values of the column that occur in the table but in no released row."""
    kept = table[release.rows_of(table).to_list(), "x"]
    return sorted(set(table["x"].drop_nulls().to_list()) - set(kept.to_list()))


def search(release: Release, values: list[Any], folder: Path, output: str) -> dict[str, set[str]]:
    """Which of the values occur in which file."""
    texts = {
        "repr": repr(release),
        "summary": release.summary(),
        "notes": "\n".join(release.notes),
        "dict": json.dumps(release.to_dict(), default=str),
        "schema": str(pl.DataFrame(release.frame).schema),
        "frame": _csv(release),
    }
    contents = {name: text.encode() for name, text in texts.items()}
    for suffix in ("html", "md", "txt", "json"):
        contents[suffix] = release.report(folder / f"report.{suffix}", evaluate=False).read_bytes()
    contents["protection page"] = release.protection_page(folder / "page.md").read_bytes()
    if (folder / output).exists():
        contents["output"] = (folder / output).read_bytes()
        contents["certificate"] = release.certificate(folder / "certificate.json").read_bytes()
    words = [text for value in values for text in _spellings(value)]
    found = {name: found_in(content, words) for name, content in contents.items()}
    return {name: each for name, each in found.items() if each}


def planted(kind: str, rng: random.Random, rows_without_value: bool = False) -> tuple[pl.DataFrame, dict[Any, Any]]:
    """A table with rare values, and for each of them a replacement with the same position in the order."""
    usual, rare, other = _values(kind, rng)
    even = rng.random() < 0.7  # then pairs of values are enough for a class, which is where a rare one gets between
    rows = []
    for value in usual:
        ys = "AAABBB" if even else rng.choices("AB", k=rng.choice((2, 3, 4, 6, 9)))
        rows += [(value, y, rng.choice(("flu", "ache", "cold", "gout")), rng.choice("uv")) for y in ys]
    rng.shuffle(rows)
    for value in rare:
        for _ in range(rng.choice((1, 1, 2))):
            y = None if rows_without_value else rng.choice("CCCDA")
            rows.insert(rng.randrange(len(rows) + 1), (value, y, rng.choice(("flu", "ache", "cold")), rng.choice("uv")))
    if rows_without_value:
        rows += [(value, None, "flu", "u") for value in rare]
    dtype = {"date": pl.Date, "datetime": pl.Datetime, "decimal": pl.Float64, "boolean": pl.Boolean}.get(kind)
    if kind in ("integer", "skewed"):
        dtype = pl.Int64
    schema = {"x": dtype or pl.String, "y": pl.String, "illness": pl.String, "label": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row"), dict(zip(rare, other, strict=True))


def _values(kind: str, rng: random.Random) -> tuple[list[Any], list[Any], list[Any]]:
    """Frequent values, rare ones between and around them, and replacements at the same positions."""
    count, few = rng.randint(5, 16), rng.randint(1, 5)
    if kind == "boolean":
        return [True], [False], [False]
    if kind in ("integer", "skewed", "decimal", "date", "datetime"):
        steps = [rng.randint(2, 9) if kind != "skewed" else rng.choice((2, 3, 40, 4000)) for _ in range(count + few)]
        numbers = [sum(steps[: index + 1]) for index in range(count + few)]
        chosen = set(rng.sample(range(count + few), few))
        usual = [number for index, number in enumerate(numbers) if index not in chosen]
        rare = [number for index, number in enumerate(numbers) if index in chosen]
        return (
            [_typed(kind, n, 0) for n in usual],
            [_typed(kind, n, 1) for n in rare],
            [_typed(kind, n, 2) for n in rare],
        )
    ends = [f"{rng.choice('kmprst')}{rng.choice('aeiou')}{number}" for number in range(count + few)]
    starts = {"words": ["Ober-", "Unter-", "Bad-"], "codes": ["10", "12", "94"]}.get(kind, [""])
    if kind == "codes":
        ends = [f"{rng.randrange(10**3):03}" for _ in ends]
    texts = sorted({rng.choice(starts) + end for end in ends})
    chosen = set(rng.sample(range(len(texts)), min(few, len(texts) - 1)))
    rare = [text for index, text in enumerate(texts) if index in chosen]
    marks = ("7771", "7772") if kind == "codes" else ("Xcanary", "Xwarbler")
    usual = [text for index, text in enumerate(texts) if index not in chosen]
    return usual, [text + marks[0] for text in rare], [text + marks[1] for text in rare]


def _typed(kind: str, number: int, mark: int) -> Any:
    """A number as a value; a mark other than 0 makes it recognizable without changing its position."""
    if kind == "date":
        return _DAY + datetime.timedelta(days=37 * number + 11 * mark)
    if kind == "datetime":
        start = datetime.datetime.combine(_DAY, datetime.time())
        return start + datetime.timedelta(hours=7 * number, minutes=13 * mark, seconds=17 * mark)
    if kind == "decimal":
        return number / 2 + (0, 0.12347, 0.20891)[mark]
    return 3_710_000 + 10 * number + (0, 3, 7)[mark]


def _tree(kind: str, table: pl.DataFrame, other: dict[Any, Any]) -> Any:
    """A hierarchy with all values of both tables."""
    if kind in ("integer", "skewed", "decimal"):
        return "intervals(50, 100, 1000)"
    if kind in ("date", "datetime"):
        return "dates(month, year)"
    if kind == "codes":
        return "mask()"
    values = sorted({_text(value) for value in [*table["x"].drop_nulls().to_list(), *other.values()]})
    half = max(1, len(values) // 3)
    return dc.groups({f"group {n}": values[n * half : (n + 1) * half] for n in range(4) if values[n * half :]})


def _release(table: pl.DataFrame, case: Case, tree: Any, folder: Path) -> Release | None:
    data: Any = table
    engine = "auto"
    if case.engine == "pandas":
        data = table.to_pandas()
    elif case.engine in ("file", "duckdb"):
        data = folder / "in.parquet"
        table.write_parquet(data)
        engine = "duckdb" if case.engine == "duckdb" else "auto"
    missing = "suppress" if case.suppression == "missing" else "value"
    output = None if case.engine == "pandas" else folder / f"out.{case.suffix}"
    try:
        return dc.anonymize(
            data,
            quasi_identifiers={"x": tree, "y": None},
            sensitive="illness",
            class_attribute="label",
            privacy=_privacy(case.suppression, "illness"),
            scheme=case.scheme,
            cost=case.cost,
            suppression="none" if case.suppression == "missing" else case.suppression,
            missing=missing,
            seed=1,
            engine=engine,
            time_limit=1.0,
            output=output,
            order="keep" if case.engine == "duckdb" else "random",  # rows_of cannot follow what DuckDB shuffled
        )
    except DiscreetError as error:
        if type(error).__name__ == "AuditError":
            raise
        return None


def _swapped(table: pl.DataFrame, other: dict[Any, Any], left_out: list[Any]) -> pl.DataFrame | None:
    """The table with replacements for the suppressed values."""
    changes = {value: other[value] for value in left_out if value in other and other[value] != value}
    if not changes:
        return None
    column = pl.Series("x", [changes.get(value, value) for value in table["x"].to_list()], dtype=table["x"].dtype)
    return table.with_columns(column)


def _made_up(case: Case) -> bool:
    """Whether all labels are made from values; otherwise some are names of nodes, which depend on the block."""
    if case.given:
        return False
    return case.kind in ("text", "words", "rare") or case.scheme in ("ordered", "set")


def _comparable(one: Release, table: pl.DataFrame, other: Release, twin: pl.DataFrame, names_of_blocks: bool) -> bool:
    """Whether two releases have the same rows in the same blocks, so that only labels can differ.

    Where not all names are those of blocks, rows that were left out must be in the same blocks too.
    """
    kept = one.rows_of(table).to_list()
    if kept != other.rows_of(twin).to_list() or one.levels != other.levels:
        return False
    if not one.block_ids or not other.block_ids:
        return _partition_of(one) == _partition_of(other)
    same = []
    for release, data in ((one, table), (other, twin)):
        blocks = {value: number for number, block in enumerate(release.blocks["x"]) for value in block}
        rows = data[kept] if names_of_blocks else data
        found = [blocks.get(value) for value in rows["x"].to_list()]
        first: dict[Any, int] = {}
        same.append([first.setdefault(block, len(first)) for block in found])
    return same[0] == same[1]


def _partition_of(release: Release) -> list[int]:
    first: dict[Any, int] = {}
    frame = pl.DataFrame(release.frame)
    return [first.setdefault(row, len(first)) for row in frame.select("x", "y").rows()]


def _bytes(release: Release) -> tuple[str, str]:
    frame = pl.DataFrame(release.frame)
    return str(frame.schema), _csv(release)


def _csv(release: Release) -> str:
    frame = pl.DataFrame(release.frame)
    return str(frame.select(pl.all().cast(pl.String)).sort(pl.all(), nulls_last=True).write_csv())


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _spellings(value: Any) -> list[str]:
    """Spellings of a value, if it is long enough to be searched for."""
    texts = [_text(value)] + ([value.isoformat()] if isinstance(value, datetime.datetime) else [])
    return [text for text in texts if len(text) >= 5]
