"""Minimality: what is learned from knowing that no more specific release was possible (Wong et al. 2007)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, FloatArray, Histogram, IntArray
from discreet.evaluate.attacks._base import ATTACKS, Attack, AttackResult, NotModelled
from discreet.evaluate.attacks._cells import Cells
from discreet.evaluate.attacks._splits import attack_splits
from discreet.evaluate.attacks._target import AttackTarget
from discreet.evaluate.candidates import Candidates, ColumnMatch
from discreet.evaluate.classes import CountedClasses, Int64Array
from discreet.evaluate.sensitive import SensitiveColumn, sensitive_groups
from discreet.problem import Classes, Groups, PrivacyModel
from discreet.runtime.integer_codes import add_up, by_appearance, numbered

__all__ = ["Minimality", "MinimalityAttack", "NotModelled", "minimality", "try_minimality"]

_DRAWS = 1_000
_ROWS_DRAWN = 4_000_000
"""About the most rows of all draws together."""


@dataclass(frozen=True)
class Minimality:
    """What the attacker gains by asking why a column was not released one level finer."""

    attribute: str
    success: float
    """The share of people whose sensitive value the attacker guesses right."""
    without: float
    """The same for the most frequent value of a person's class, without reasoning about the algorithm."""
    naive: float
    """The same for the most frequent value of the whole table."""
    credibility: float
    """The highest probability of a value that the attacker arrives at, for any person."""
    confidence: float
    """The highest share of a value in a class, which is what the release was meant to limit."""
    learnt: bool
    """Whether the finer release might have kept its promises. If it could not anyway, for instance because its classes
    are too small, nothing is learned from the fact that it was not chosen."""
    draws: int


@ATTACKS.register
@dataclass(frozen=True)
class MinimalityAttack(Attack):
    """Asks why the release is not finer: each finer one broke a promise, which makes some sensitive values likelier."""

    name: ClassVar[str] = "minimality"
    examples: ClassVar[tuple[str, ...]] = ("minimality",)
    title: ClassVar[str] = "Why is it not finer?"
    summary: ClassVar[str] = "Knowing that the release is as fine as possible can reveal a secret."
    term: ClassVar[str] = "minimality attack"
    rank: ClassVar[int] = 40
    goal: ClassVar[str] = "guess the value"
    needs: ClassVar[str] = "everybody's quasi-identifiers, the promises, and that loss was minimized"

    def run(self, target: AttackTarget) -> Sequence[AttackResult]:
        """Guess the values of every sensitive column with a promise."""
        if not target.columns:
            raise NotModelled("no sensitive column was named")
        found, reasons = [], []
        for name in target.columns:
            try:
                best = max(try_minimality(target, name), key=lambda each: each.credibility)
            except NotModelled as reason:
                reasons.append(str(reason))
                continue
            remark = (
                f"The attacker is up to {best.credibility:.1%} sure of a value; from the class alone, up to "
                f"{best.confidence:.1%}."
            )
            naive = max(best.naive, best.without)
            found.append(self.result(name, best.success, naive, target.before.rows, remark=remark))
        if not found:
            raise NotModelled(reasons[0])
        return found


def try_minimality(target: AttackTarget, column: str) -> list[Minimality]:
    """Run the attack on a sensitive column, once; raise NotModelled with the reason if it cannot be run."""
    known: dict[str, list[Minimality]] = target.minimality
    if column not in known:
        known[column] = _try_minimality(target, column)
    return known[column]


def _try_minimality(target: AttackTarget, column: str) -> list[Minimality]:
    models, hiding = target.hiding.models, target.hiding
    if not any(model.looks_at_sensitive for model in models):
        raise NotModelled("no promise about it was named")
    secret = target.columns[column]
    suppressed = hiding.suppression is not None and hiding.suppression.name != "none"
    if suppressed and (not target.overlapping or secret.unknown is not None):
        raise NotModelled("rows or values may be suppressed, which the modelled attacker cannot use")
    if not secret.missing_is_value and target.before.texts(column).null_count():
        raise NotModelled("some sensitive values are missing, which the modelled attacker cannot use")
    if target.overlapping:
        return [_by_splits(target, secret)]
    return minimality(target.before, target.after, target.candidates, secret, models, target.seed)


def _by_splits(target: AttackTarget, column: SensitiveColumn) -> Minimality:
    """Attack a local recoding, whose classes are split one by one."""
    models = target.hiding.models
    if any(model.looks_at_sensitive and getattr(model, "attribute", None) != column.name for model in models):
        raise NotModelled("another sensitive column has a promise too, which may be why finer releases were rejected")
    groups = sensitive_groups(target.before, SensitiveColumn(column.name, column.hierarchy, column.type))
    if groups.whole.size != target.values[column.name].values:
        raise NotModelled("sensitive values were changed or made unknown, which the modelled attacker cannot use")
    if any(model.compares or isinstance(getattr(model, "theta", 0), Mapping) for model in models):
        raise NotModelled("a promise treats sensitive values differently, which the modelled attacker cannot use")
    found = attack_splits(target, _table(target.before, groups, column.name), column.name, models)
    return Minimality(
        attribute="classes",
        success=found.right / found.people,
        without=found.without / found.people,
        naive=float(groups.whole.max() / groups.whole.sum()),
        credibility=found.credibility,
        confidence=found.confidence,
        learnt=found.learnt,
        draws=found.draws,
    )


def minimality(
    original: CountedClasses,
    released: CountedClasses,
    candidates: Candidates,
    column: SensitiveColumn,
    models: Sequence[PrivacyModel],
    seed: int,
) -> list[Minimality]:
    """Run the attack for each column that was generalized by its hierarchy, by Monte Carlo sampling.

    The attacker knows the quasi-identifiers of all people and the hierarchies, sees the release, and knows its privacy
    models. The attacker also knows that the algorithm suppresses nothing, and that it releases a column one level finer
    whenever that keeps the promises. So the recoding that is one level finer in this column breaks a promise in at
    least one of its classes, whose sizes the attacker knows. A priori, all assignments of the sensitive values of a
    class to its people are equally likely; a posteriori only those with a broken promise somewhere in the table are.
    For a person of finer class g within class c this makes the probability of value v

        (P(v) - P(v and c keeps its promises) · Π P(c' keeps its promises)) / (1 - Π P(any class keeps its promises)),

    where the first product is over all classes except c. The probabilities are estimated from random assignments. Each
    column is considered by itself, and the attacker does not use that coarser steps were rejected as well.
    """
    classes = _classes(original, released, candidates)
    groups = sensitive_groups(original, SensitiveColumn(column.name, column.hierarchy, column.type))
    known = int(released.histogram(column.name)[2].sum())
    if known != original.rows or _unlike(original, released, classes, column.name):
        raise NotModelled("sensitive values were changed or made unknown, which the modelled attacker cannot use")
    others = [m for m in models if m.looks_at_sensitive and getattr(m, "attribute", None) != column.name]
    if others:
        raise NotModelled("another sensitive column has a promise too, which may be why finer releases were rejected")
    sampling = _Sampling(original, classes, groups, _table(original, groups, column.name), models, seed)
    found = []
    for name, match in zip(original.columns, candidates.matches, strict=True):
        level = _level(match)
        finer = match.domain.ancestors[level - 1][match.leaf] if level else _one_node_finer(match, released)
        if finer is not None:
            sub, count = numbered(classes.size, [(classes, released.sizes.size), (finer, int(finer.max()) + 1)])
            found.append(sampling.attack(name, sub, count))
    if not found:
        raise NotModelled("no column was generalized to a node or level of its hierarchy")
    return found


def _classes(original: CountedClasses, released: CountedClasses, candidates: Candidates) -> IntArray:
    """Return the released class of each original class; raise NotModelled unless everybody is in exactly one."""
    if original.rows != released.rows:
        raise NotModelled("rows were suppressed, which the modelled attacker cannot use")
    if any(match.single is None for match in candidates.matches):
        raise NotModelled("the recoding is not global: a person may be in several classes")
    classes = np.full(original.sizes.size, -1, dtype=np.int64)
    for some, index, found in candidates.found():
        classes[some[index]] = found
    if (classes < 0).any() or (add_up(classes, original.sizes, released.sizes.size) != released.sizes).any():
        raise NotModelled("rows were suppressed, which the modelled attacker cannot use")
    return classes


def _unlike(original: CountedClasses, released: CountedClasses, classes: IntArray, column: str) -> bool:
    """Whether a class has other sensitive values than its people have."""
    group, value, count = original.histogram(column)
    here, there = original.texts(column), released.texts(column)
    known = {text: i for i, text in enumerate(there.to_list())}
    index = np.array([known.get(text, -1) for text in here.to_list()], dtype=np.int64)
    width = max(len(there), 1)
    if (index < 0).any():
        return True
    keys, entry = np.unique(classes[group] * width + index[value], return_inverse=True)
    other, value_there, count_there = released.histogram(column)
    same = np.array_equal(keys, other * width + value_there)
    return not same or not np.array_equal(add_up(entry, count, keys.size), count_there)


def _level(match: ColumnMatch) -> int:
    """Return the lowest hierarchy level whose nodes are the released values; 0 if there is none."""
    if match.single is None:
        return 0
    leaves = np.unique(match.leaf)
    shown = by_appearance(match.single[leaves])
    for level, blocks in enumerate(match.domain.ancestors):
        if np.array_equal(by_appearance(blocks[leaves]), shown):
            return level
    return 0


def _one_node_finer(match: ColumnMatch, released: CountedClasses) -> IntArray | None:
    """Return the child of each original class in the largest generalized node, 0 outside; None if there is none."""
    cells = Cells(match, add_up(match.value, released.sizes, match.spread.low.size))
    finer = [value for value in range(cells.values) if len(match.domain.ancestors) > 2 and cells.children(value).size]
    if not finer:
        return None
    return np.asarray(cells.child_of_leaves(max(finer, key=lambda value: int(cells.rows[value])))[0][match.leaf] + 1)


def _table(original: CountedClasses, groups: Groups, column: str) -> CountTable:
    """Return the original table in the form that privacy models take."""
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


@dataclass(frozen=True, eq=False)
class _Sampling:
    """Assigns the sensitive values of each class to its people at random."""

    original: CountedClasses
    classes: IntArray
    """The released class of each original class."""
    groups: Groups
    table: CountTable
    models: Sequence[PrivacyModel]
    seed: int

    def attack(self, attribute: str, sub: IntArray, subs: int) -> Minimality:
        """Attack one column; ``sub`` is the finer class of each original class."""
        original, classes, groups = self.original, self.classes, self.groups
        values, count = groups.whole.size, int(classes.max()) + 1
        class_of_sub = np.zeros(subs, dtype=np.int64)
        class_of_sub[sub] = classes
        sizes = add_up(sub, original.sizes, subs)
        # every row of the table, sorted by class: its class, its finer class and its value
        entry = np.repeat(np.arange(groups.count.size), groups.count)
        order = np.argsort(classes[groups.group[entry]], kind="stable")
        row_class, row_sub = classes[groups.group[entry]][order], sub[groups.group[entry]][order]
        row_value = groups.value[entry][order]
        truth = np.bincount(row_sub * values + row_value, minlength=subs * values).reshape(subs, values)
        share = np.bincount(row_class * values + row_value, minlength=count * values).reshape(count, values)
        prior = (share / share.sum(axis=1, keepdims=True))[class_of_sub]
        draws = int(min(_DRAWS, max(_ROWS_DRAWN // original.rows, 20)))
        rng = np.random.default_rng(self.seed)
        kept, joint = np.zeros(count), np.zeros((subs, values))
        for _ in range(draws):
            shuffled = row_value[np.argsort(row_class + rng.random(row_class.size))]
            counts = np.bincount(row_sub * values + shuffled, minlength=subs * values).reshape(subs, values)
            broken = class_of_sub[~self._ok(sizes, counts)]
            keeps = np.bincount(broken, minlength=count) == 0
            kept += keeps
            joint += counts * keeps[class_of_sub, np.newaxis]
        credible = _posterior(prior, joint / (draws * sizes[:, np.newaxis]), kept / draws, class_of_sub)
        plain, guess, each = prior.argmax(axis=1), credible.argmax(axis=1), np.arange(subs)
        # a lead within the sampling error does not change the guess
        guess = np.where(credible[each, guess] - credible[each, plain] > 2 / np.sqrt(draws), guess, plain)
        return Minimality(
            attribute=attribute,
            success=float(truth[each, guess].sum() / original.rows),
            without=float(truth[each, plain].sum() / original.rows),
            naive=float(groups.whole.max() / groups.whole.sum()),
            credibility=float(credible.max()),
            confidence=float(prior.max()),
            learnt=bool(0 < np.prod(kept / draws) < 1),
            draws=draws,
        )

    def _ok(self, sizes: Int64Array, counts: IntArray) -> NDArray[np.bool_]:
        """Return which finer classes keep every promise."""
        (column,) = self.table.sensitive
        finer = Classes(self.table, sizes, sensitive={column: counts})
        return np.asarray(np.logical_and.reduce([model.ok(finer) for model in self.models]))


def _posterior(prior: FloatArray, joint: FloatArray, kept: FloatArray, class_of_sub: IntArray) -> FloatArray:
    """Return the probability of each value for the people of each finer class, given that a promise is broken."""
    everywhere = float(np.prod(kept))
    if everywhere >= 1:
        return prior
    elsewhere = np.divide(everywhere, kept, out=np.zeros_like(kept), where=kept > 0)
    posterior = (prior - joint * elsewhere[class_of_sub, np.newaxis]) / (1 - everywhere)
    return np.asarray(np.clip(posterior, 0, 1))
