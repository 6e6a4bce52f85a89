"""Linkage: find the released rows each person of the original table can be, and guess among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet._numbers import add_up
from discreet.counts import IntArray
from discreet.evaluate._attacks._secrets import Secrets
from discreet.evaluate._cells import Cells
from discreet.evaluate._covering import Candidates

__all__ = ["Linkage", "link"]

_PAIRS = 400_000_000
"""The pairs of a person and a class that are looked at; where there are more, people are drawn at random."""


@dataclass(frozen=True)
class Linkage:
    """How well the people of the original table are found in the release by those who know their quasi-identifiers."""

    records: int
    """The rows of the original table whose people were looked for; all of them, unless that takes too long."""
    matched: float
    """The share of them for whom there is at least one released row that they can be."""
    singled_out: float
    """The share of them for whom there is just one."""
    success: float
    """The share of people whose row is guessed right, one of those they can be being taken at random."""
    naive: float
    """The same for somebody who takes any released row."""
    values: dict[str, float]
    """For each sensitive column how often the most frequent value of the rows somebody can be is theirs."""
    naive_values: dict[str, float]
    """The same for somebody who always guesses the most frequent value of the whole release."""


def link(original: Cells, released: Cells, candidates: Candidates, secrets: Sequence[Secrets], seed: int) -> Linkage:
    """Run the attack.

    The guess for a row assumes, to the safe side, that every person with a matching row is in the release. Who has
    no matching row, or only rows of unknown value, is given the most frequent value of the release.
    """
    chosen = _chosen(original, candidates, seed)
    rows = np.zeros(original.sizes.size, dtype=np.int64)
    guesses = [np.zeros(original.sizes.size, dtype=np.int64) for _ in secrets]
    for some, place, found in candidates.found(chosen):
        rows[some] = add_up(place, released.sizes[found], some.size)
        for guess, secret in zip(guesses, secrets, strict=True):
            guess[some] = _most_frequent(secret, place, found, some.size)
    weight = np.zeros_like(original.sizes)
    weight[chosen] = original.sizes[chosen]
    total = int(weight.sum())
    chance = np.divide(1.0, rows, out=np.zeros(rows.size), where=rows > 0)
    return Linkage(
        records=total,
        matched=float(weight[rows > 0].sum() / total),
        singled_out=float(weight[rows == 1].sum() / total),
        success=float((weight * chance).sum() / total),
        naive=1 / released.rows,
        values={s.column: _right(s, guess, weight) for s, guess in zip(secrets, guesses, strict=True)},
        naive_values={s.column: _right(s, np.zeros_like(rows), weight) for s in secrets},
    )


def _chosen(original: Cells, candidates: Candidates, seed: int) -> IntArray:
    """Return the classes of the original table to look for: all, or as many drawn at random as time allows."""
    count = original.sizes.size
    share = _PAIRS / max(candidates.pairs, 1)
    if share >= 1:
        return np.arange(count)
    drawn = np.random.default_rng(seed).choice(count, max(int(count * share), 1), replace=False)
    return np.sort(drawn)


def _most_frequent(secret: Secrets, place: IntArray, found: IntArray, people: int) -> IntArray:
    """Return for each of some people the value most frequent among the rows they can be; of equals, the first."""
    group, value, count = secret.released
    first, last = np.searchsorted(group, found, "left"), np.searchsorted(group, found, "right")
    length = last - first
    owner = np.repeat(place, length)
    entry = np.arange(owner.size) - np.repeat(np.cumsum(length) - length, length) + np.repeat(first, length)
    keys, which = np.unique(owner * secret.values + value[entry], return_inverse=True)
    rows = add_up(which, count[entry], keys.size)
    best = np.lexsort([keys % secret.values, -rows, keys // secret.values])
    who, start = np.unique(keys[best] // secret.values, return_index=True)
    guess = np.zeros(people, dtype=np.int64)
    guess[who] = keys[best][start] % secret.values
    return guess


def _right(secret: Secrets, guess: IntArray, weight: IntArray) -> float:
    """Return the share of rows whose value was guessed."""
    group, value, count = secret.original
    asked = weight[group] > 0
    return float(count[asked & (guess[group] == value)].sum() / max(int(count[asked].sum()), 1))
