"""Minimality: what can be learnt from knowing that no more specific release was possible (Wong et al. 2007)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._numbers import add_up, by_appearance, numbered
from discreet.counts import CountTable, FloatArray, Histogram, IntArray
from discreet.evaluate._cells import Cells, Int64Array
from discreet.evaluate._covering import Candidates, Cover
from discreet.evaluate._risk._disclosure import sensitive_groups
from discreet.problem import Classes, Groups, PrivacyModel

__all__ = ["Minimality", "NotModelled", "minimality"]

_DRAWS = 1_000
_ROWS_DRAWN = 20_000_000
"""The rows of all draws together are at most about this many."""


class NotModelled(Exception):  # noqa: N818 - a reason, not an error
    """Why the attack says nothing about a release."""


@dataclass(frozen=True)
class Minimality:
    """What the attacker wins by asking why one column was not released one level finer."""

    attribute: str
    success: float
    """The share of people whose sensitive value the attacker guesses right."""
    without: float
    """The same for who guesses the most frequent value of a person's class, without thinking of the algorithm."""
    naive: float
    """The same for who always guesses the most frequent value of the whole table."""
    credibility: float
    """The highest probability of a value the attacker arrives at, for any person."""
    confidence: float
    """The highest share of a value in a class, which is what the release was meant to limit."""
    learnt: bool
    """Whether the finer release would have kept its promises with some probability, but not for sure. If not, as
    where its classes are too small already, that it was not chosen tells nothing."""
    draws: int


def minimality(
    original: Cells,
    released: Cells,
    candidates: Candidates,
    column: str,
    models: Sequence[PrivacyModel],
    hierarchy: Any,
    types: Mapping[str, Any],
    seed: int,
) -> list[Minimality]:
    """Run the attack for each column that was generalized to a level of its hierarchy, by drawing at random.

    What is modelled: the attacker knows the quasi-identifiers of all people and the hierarchies, sees the release,
    knows the privacy models it was made for, and that of two recodings one of which is more specific in one column,
    the algorithm takes that one if it keeps the promises and nothing is suppressed. So the recoding that is one level
    finer in this column breaks a promise: at least one of its classes does, whose sizes the attacker knows. Before
    that, all ways to deal out the sensitive values of a class among its people are equally likely; afterwards only
    those that are left with a broken promise somewhere in the table. For a person of finer class g inside class c
    this makes a value v as likely as

        (P(v) - P(v and c keeps its promises) · Π P(c' keeps its promises)) / (1 - Π P(any class keeps its promises)),

    the first product being over all classes but c. The probabilities are estimated from random deals. One column is
    looked at at a time, and that the algorithm rejected even coarser steps is not used.
    """
    classes = _classes(original, released, candidates)
    groups = sensitive_groups(original, column, None, hierarchy, types, None)
    told = int(released.histogram(column)[2].sum())
    if told != original.rows or _unlike(original, released, classes, column):
        raise NotModelled("sensitive values were changed or made unknown, which the modelled attacker cannot use")
    others = [m for m in models if m.looks_at_sensitive and getattr(m, "attribute", None) != column]
    if others:
        raise NotModelled("another sensitive column has a promise too, which may be why finer releases were rejected")
    table = _table(original, groups, column)
    found = []
    for name, cover in zip(original.columns, candidates.covers, strict=True):
        level = _level(cover)
        if level:
            finer = cover.domain.ancestors[level - 1][cover.leaf]
            sub, count = numbered(classes.size, [(classes, released.sizes.size), (finer, int(finer.max()) + 1)])
            found.append(_attack(name, original, classes, sub, count, groups, table, column, models, seed))
    if not found:
        raise NotModelled("no column was generalized to a level of its hierarchy")
    return found


def _classes(original: Cells, released: Cells, candidates: Candidates) -> IntArray:
    """Return the released class of each original one, where everybody is in just one and nobody was left out."""
    if original.rows != released.rows:
        raise NotModelled("rows were suppressed, which the modelled attacker cannot use")
    if any(cover.single is None for cover in candidates.covers):
        raise NotModelled("the recoding is not global: a person may be in several classes")
    classes = np.full(original.sizes.size, -1, dtype=np.int64)
    for some, place, found in candidates.found():
        classes[some[place]] = found
    if (classes < 0).any() or (add_up(classes, original.sizes, released.sizes.size) != released.sizes).any():
        raise NotModelled("rows were suppressed, which the modelled attacker cannot use")
    return classes


def _unlike(original: Cells, released: Cells, classes: IntArray, column: str) -> bool:
    """Whether the sensitive values of some class are not those of its people."""
    group, value, count = original.histogram(column)
    here, there = original.texts(column), released.texts(column)
    known = {text: place for place, text in enumerate(there.to_list())}
    place = np.array([known.get(text, -1) for text in here.to_list()], dtype=np.int64)
    width = max(len(there), 1)
    if (place < 0).any():
        return True
    keys, entry = np.unique(classes[group] * width + place[value], return_inverse=True)
    other, value_there, count_there = released.histogram(column)
    same = np.array_equal(keys, other * width + value_there)
    return not same or not np.array_equal(add_up(entry, count, keys.size), count_there)


def _level(cover: Cover) -> int:
    """Return the lowest level of the hierarchy whose nodes are the released values; 0 where it is no level."""
    if cover.single is None:
        return 0
    leaves = np.unique(cover.leaf)
    shown = by_appearance(cover.single[leaves])
    for level, blocks in enumerate(cover.domain.ancestors):
        if np.array_equal(by_appearance(blocks[leaves]), shown):
            return level
    return 0


def _table(original: Cells, groups: Groups, column: str) -> CountTable:
    """Return the original table in the form privacy models look things up in."""
    count = original.sizes.size
    histogram = Histogram(
        name=column,
        cardinality=groups.whole.size,
        offsets=np.searchsorted(groups.group, np.arange(count + 1)),
        values=groups.value,
        counts=groups.count,
        ancestors=groups.ancestors,
        labels=tuple(groups.names),
    )
    return CountTable((), np.zeros((0, count), dtype=np.int32), original.sizes, sensitive={column: histogram})


def _attack(
    attribute: str,
    original: Cells,
    classes: IntArray,
    sub: IntArray,
    subs: int,
    groups: Groups,
    table: CountTable,
    column: str,
    models: Sequence[PrivacyModel],
    seed: int,
) -> Minimality:
    """Deal out the values of each class at random, and see how often its finer classes keep their promises."""
    values, count = groups.whole.size, int(classes.max()) + 1
    class_of_sub = np.zeros(subs, dtype=np.int64)
    class_of_sub[sub] = classes
    sizes = add_up(sub, original.sizes, subs)
    # every row of the table: its class, its finer class and its value, in the order of the classes
    entry = np.repeat(np.arange(groups.count.size), groups.count)
    order = np.argsort(classes[groups.group[entry]], kind="stable")
    row_class, row_sub = classes[groups.group[entry]][order], sub[groups.group[entry]][order]
    row_value = groups.value[entry][order]
    truth = np.bincount(row_sub * values + row_value, minlength=subs * values).reshape(subs, values)
    share = np.bincount(row_class * values + row_value, minlength=count * values).reshape(count, values)
    prior = (share / share.sum(axis=1, keepdims=True))[class_of_sub]
    draws = int(min(_DRAWS, max(_ROWS_DRAWN // original.rows, 20)))
    rng = np.random.default_rng(seed)
    kept, joint = np.zeros(count), np.zeros((subs, values))
    for _ in range(draws):
        dealt = row_value[np.argsort(row_class + rng.random(row_class.size))]
        held = np.bincount(row_sub * values + dealt, minlength=subs * values).reshape(subs, values)
        keeps = _keep(models, table, column, sizes, held, class_of_sub, count)
        kept += keeps
        joint += held * keeps[class_of_sub, np.newaxis]
    credible = _posterior(prior, joint / (draws * sizes[:, np.newaxis]), kept / draws, class_of_sub)
    plain = prior.argmax(axis=1)
    guess = credible.argmax(axis=1)
    here = np.arange(subs)
    # only a lead that is no chance of the draws changes the guess
    guess = np.where(credible[here, guess] - credible[here, plain] > 2 / np.sqrt(draws), guess, plain)
    return Minimality(
        attribute=attribute,
        success=float(truth[here, guess].sum() / original.rows),
        without=float(truth[here, plain].sum() / original.rows),
        naive=float(groups.whole.max() / groups.whole.sum()),
        credibility=float(credible.max()),
        confidence=float(prior.max()),
        learnt=bool(0 < np.prod(kept / draws) < 1),
        draws=draws,
    )


def _keep(
    models: Sequence[PrivacyModel],
    table: CountTable,
    column: str,
    sizes: Int64Array,
    held: IntArray,
    class_of_sub: IntArray,
    count: int,
) -> NDArray[np.bool_]:
    """Return for each class whether all its finer classes keep every promise."""
    finer = Classes(table, sizes, sensitive={column: held})
    ok = np.logical_and.reduce([model.ok(finer) for model in models])
    return np.asarray(np.bincount(class_of_sub[~ok], minlength=count) == 0)


def _posterior(prior: FloatArray, joint: FloatArray, kept: FloatArray, class_of_sub: IntArray) -> FloatArray:
    """Return how likely each value is for the people of each finer class, once a promise is known to be broken."""
    everywhere = float(np.prod(kept))
    if everywhere >= 1:
        return prior
    elsewhere = np.divide(everywhere, kept, out=np.zeros_like(kept), where=kept > 0)
    learnt = (prior - joint * elsewhere[class_of_sub, np.newaxis]) / (1 - everywhere)
    return np.asarray(np.clip(learnt, 0, 1))
