"""Reports of two tables that differ only in suppressed rows must be the same.

Each seed draws two originals with the same people and different outliers, which are suppressed; if they are few, also
another number of them. If both have the same release, everything handed over with it must be the same byte for byte,
except for times. With five or more suppressed rows, the cost may differ.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import discreet as dc
from attack.base import Outcome
from discreet.engines import to_lazy
from discreet.problem import SCHEMES

__all__ = ["handed_over", "run"]

_MOST, _TRIES = 3, 24
"""Pairs of releases that are compared, and pairs that are made to find them."""
_SCHEMES = tuple(SCHEMES.members())
_KINDS = ("budget(15%)", "budget(15%)", "class-records", "violating-records")
_PROMISES = (["k(4)"], ["k(5)", "distinct-l(2, illness)"], ["k(3)", "t(0.6, illness)"])
_COST = ("cost", "normalized_cost", "lower_bound", "gap")


def run(seed: int, folder: Path) -> Iterator[Outcome]:
    """Attack a few pairs of releases."""
    rng = np.random.default_rng([seed, 5])
    compared = 0
    for number in range(_TRIES):
        if compared == _MOST:
            break
        scheme = _SCHEMES[(seed + number) % len(_SCHEMES)]
        few = bool(rng.integers(2))
        kind = str(rng.choice(["polars", "pandas", "pyarrow", "dates"]))
        job = _job(rng, scheme, kind)
        common = _common(rng)
        counts = rng.integers(1, 5, 2) if few else np.repeat(rng.integers(5, 9), 2)
        pair = [_released(_as(pl.concat([common, _odd(rng, int(count))]), kind), job) for count in counts]
        if any(release is None for release in pair):
            continue
        first, second = pair
        if not _same(first, second) or not all(0 < one.suppressed < 5 if few else one.suppressed >= 5 for one in pair):
            continue
        compared += 1
        documents = [handed_over(release, folder, cost=few) for release in (first, second)]
        differs = [name for name in documents[0] if documents[0][name] != documents[1][name]]
        counted = f"{first.suppressed} and {second.suppressed} left out"
        detail = f"{counted}; they differ in {', '.join(differs)}" if differs else ""
        yield Outcome("figures", f"{scheme}, {kind}, {'few' if few else 'some'} left out", not differs, detail)


def _job(rng: np.random.Generator, scheme: str, kind: str) -> dict[str, Any]:
    """A random job, with given or automatic hierarchies."""
    towns = dc.groups({"north": ["aa", "ab", "ac"], "south": ["ba", "bb", "bc"], "far": ["za", "zb", "zc"]})
    years = ["intervals(10, 20, 40)", "intervals(5, 10, 50)"][int(rng.integers(2))]
    years = "dates(decade)" if kind == "dates" else years
    plain = bool(rng.integers(2))
    return {
        "identifiers": ["name"],
        "quasi_identifiers": {"year": None, "town": None} if plain else {"year": years, "town": towns},
        "sensitive": ["illness"],
        "privacy": _PROMISES[int(rng.integers(len(_PROMISES)))],
        "scheme": scheme,
        "suppression": str(rng.choice(_KINDS)),
        **({"seed": 1} if scheme == "local" else {}),
    }


def _common(rng: np.random.Generator) -> pl.DataFrame:
    """People in groups of equal quasi-identifiers."""
    groups = int(rng.integers(4, 8))
    years = rng.choice(np.arange(1950, 1990), groups, replace=False)
    towns = rng.choice(["aa", "ab", "ba", "bb"], groups)
    of = np.repeat(np.arange(groups), rng.integers(9, 25, groups))
    illness = rng.choice(["cold", "flu", "gout"], of.size)
    illness[np.flatnonzero(np.diff(of, prepend=-1))] = "cold"
    illness[np.flatnonzero(np.diff(of, prepend=-1)) + 1] = "flu"
    return _people(years[of], towns[of], illness)


def _odd(rng: np.random.Generator, count: int) -> pl.DataFrame:
    """People with unique quasi-identifiers."""
    years = rng.choice([1875, 1893, 1899, 2021, 2044, 2067, 2088, 2101, 2110], count, replace=False)
    illness = rng.choice(["cold", "flu", "gout", "scurvy"], count)
    return _people(years, rng.choice(["za", "zb", "zc"], count), illness)


def _as(table: pl.DataFrame, kind: str) -> Any:
    """The table as another kind of frame, or with dates instead of years."""
    if kind == "dates":
        return table.with_columns(pl.date("year", 1, 1).alias("year"))
    return table.to_pandas() if kind == "pandas" else table.to_arrow() if kind == "pyarrow" else table


def _people(years: Any, towns: Any, illness: Any) -> pl.DataFrame:
    names = [f"person {i}" for i in range(len(years))]
    return pl.DataFrame({"name": names, "year": np.asarray(years), "town": towns, "illness": illness})


def _released(table: Any, job: dict[str, Any]) -> Any:
    try:
        return dc.anonymize(table, **job)
    except dc.DiscreetError:
        return None


def _same(first: Any, second: Any) -> bool:
    tables = [to_lazy(one.frame).collect().cast(pl.String) for one in (first, second)]
    tables = [table.sort(table.columns) for table in tables]
    return tables[0].equals(tables[1]) and first.status == second.status


def handed_over(release: Any, folder: Path, *, cost: bool) -> dict[str, str]:
    """Everything handed over with a release, without times, and without its cost unless ``cost``."""
    release = dataclasses.replace(release, made="2000-01-01T00:00:00+00:00", stats={**release.stats, "seconds": {}})
    facts = release.to_dict()
    documents = {
        "repr": repr(release),
        "notebook": release._repr_html_(),
        "summary": release.summary(),
        "json": json.dumps({key: facts[key] for key in facts if cost or key not in _COST}, sort_keys=True),
    }
    for suffix in ("md", "html", "txt"):
        documents[suffix] = release.report(folder / f"report.{suffix}").read_text("utf-8")
    documents["protection page"] = release.protection_page(folder / "page.md").read_text("utf-8")
    return documents if cost else {name: _without_cost(text, release) for name, text in documents.items()}


def _without_cost(text: str, release: Any) -> str:
    """Remove the cost and its bound from a text: they may differ if at least five rows are suppressed."""
    for pattern in (
        r"cost=[^,]*, gap=[^,]*, ",
        r"\ncost .*",
        r"cost\*\*:.*",
        r"<dt>cost</dt><dd>[^<]*</dd>",
        r"The release costs [^:]*",
        r"(Loss|Best possible\?)(</\w+>|\*\*:)?(<\w+[^>]*>)?[^\n<]*(<[^>]*>)*[^\n<]*",
    ):
        text = re.sub(pattern, "", text)
    return text
