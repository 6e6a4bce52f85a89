"""Releases made against an earlier one, recounted for somebody who knows who is in which class of both.

The earlier release is of the same people, of fewer or of others; the new one is global or local, with suppression. The
people of each pair of classes have to keep the promises, and those who are in one release only. ``discreet audit
--with`` must never call a pair of releases safe together that is not, also if rows are missing inside classes.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

import discreet as dc
from attack.base import Outcome
from naive import together as naive

__all__ = ["run"]

TREES: dict[str, Any] = {"age": "intervals(4, 8, 16)", "town": dc.groups({"x": ["a", "b"], "y": ["c", "d"]})}
REFUSED = (dc.InfeasibleError, dc.UsageError, dc.NothingFoundError)
People = dict[int, dict[str, Any]]
Labels = Mapping[int, Hashable]


def run(seed: int, folder: Path) -> Iterator[Outcome]:
    """Make releases against earlier ones, and audit pairs of releases that were made apart."""
    rng = random.Random(seed)
    for _ in range(6):
        before, share = _people(rng, rng.choice([20, 40, 60]), 0), rng.choice([1, 1, 0.8])
        now = {i: row for i, row in before.items() if rng.random() < share}
        now |= _people(rng, rng.choice([0, 0, 6, 15]), 100)
        l = rng.choice([1, 2])  # noqa: E741
        privacy = ["k(2)", f"distinct-l({l}, ill)"]
        made = _released(rng, before, privacy, scheme=rng.choice(["full-domain", "subtree"]))
        if made is None:
            continue
        earlier, known = made
        if _replaced(now, before, known):
            continue
        scheme = rng.choice(["full-domain", "subtree", "local", "local", "local(ends=rounded)"])
        made = _released(rng, now, privacy, scheme=scheme, against=earlier)
        if made is not None:
            kept = _keeps(_groups(now, before, made[1], known), l)
            yield Outcome("earlier", f"{scheme}, against", kept)
        alone = _released(rng, now, privacy, scheme="full-domain")
        if alone is not None:
            yield _audited(rng, alone, (earlier, known), now, before, privacy, l)


def _people(rng: random.Random, count: int, first: int) -> People:
    return {
        first + i: {"age": rng.randrange(16), "town": rng.choice("abcd"), "ill": rng.choice("uvw")}
        for i in range(count)
    }


def _released(
    rng: random.Random, rows: People, privacy: list[str], **options: Any
) -> tuple[pl.DataFrame, dict[int, Hashable]] | None:
    """Return a release, and the class of everybody in it; None if there is none."""
    try:
        release = dc.anonymize(
            _table(rows),
            quasi_identifiers=TREES,
            sensitive=["ill"],
            keep=["number"],
            privacy=privacy,
            suppression=rng.choice(["none", "budget(20%)", "class-records"]),
            cost=rng.choice(["LM", "NCP"]),
            seed=rng.randrange(9),
            **options,
        )
    except REFUSED:
        return None
    shown = release.frame.select("number", "age", "town")
    labels: dict[int, Hashable] = {number: (age, town) for number, age, town in shown.iter_rows()}
    return release.frame.drop("number"), labels


def _table(rows: People) -> pl.DataFrame:
    return pl.DataFrame([{"number": i, **row} for i, row in rows.items()])


def _groups(now: People, before: People, new: Labels, old: Labels) -> dict[Hashable, list[Any]]:
    numbers = {id(row): i for rows in (now, before) for i, row in rows.items()}
    return naive.groups(now, before, lambda row: new.get(numbers[id(row)]), lambda row: old.get(numbers[id(row)]))


def _keeps(groups: dict[Hashable, list[Any]], l: int) -> bool:  # noqa: E741
    return naive.keeps(groups, 2, l, "ill")


def _replaced(now: People, before: People, known: Labels) -> bool:
    """Return whether somebody may have joined an earlier class that somebody with the same value left."""
    gone = {before[i]["ill"] for i in before if i not in now}
    return bool(gone & {row["ill"] for i, row in now.items() if i not in known})


def _audited(
    rng: random.Random,
    new: tuple[pl.DataFrame, dict[int, Hashable]],
    old: tuple[pl.DataFrame, dict[int, Hashable]],
    now: People,
    before: People,
    privacy: list[str],
    l: int,  # noqa: E741
) -> Outcome:
    """Audit a release from which some rows are missing together with one that was made apart."""
    (frame, labels), (earlier, known) = new, old
    stay = [rng.random() < 0.7 for _ in labels] if rng.random() < 0.5 else [True] * len(labels)
    left = {number: label for (number, label), here in zip(labels.items(), stay, strict=True) if here}
    shown = frame.filter(pl.Series(stay, dtype=pl.Boolean))
    if not left:
        return Outcome("earlier", "audit", held=True)
    try:
        said = dc.evaluate.together(
            _table(now), [shown, earlier], quasi_identifiers=TREES, sensitive=["ill"], privacy=privacy
        )
    except REFUSED:
        return Outcome("earlier", "audit", held=True)
    return Outcome("earlier", "audit", said.passed <= _keeps(_groups(now, before, left, known), l))
