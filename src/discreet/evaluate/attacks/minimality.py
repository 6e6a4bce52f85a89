"""Minimality: what is learned from knowing that no more specific release was possible (Wong et al. 2007)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, FloatArray, Histogram, IntArray
from discreet.evaluate.attacks._base import ATTACKS, Attack, AttackResult, NotModelled
from discreet.evaluate.attacks._cells import ReleasedCells
from discreet.evaluate.attacks._splits import attack_splits
from discreet.evaluate.attacks._target import AttackTarget
from discreet.evaluate.candidates import Candidates, ColumnMatch
from discreet.evaluate.classes import CountedClasses, Int64Array
from discreet.evaluate.sensitive import SensitiveColumn, sensitive_groups
from discreet.problem import Classes, Groups, PrivacyModel
from discreet.runtime.integer_codes import add_up, by_appearance, numbered

__all__ = ["Minimality", "MinimalityAttack", "NotModelled", "minimality", "try_minimality"]

_DRAWS = 1_000
_TINY = 1e-9
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
    people: int = 0
    """The people attacked: those who were not suppressed."""
    control: float | None = None
    """The success for people who are not in the release; None if there is no control group."""


@ATTACKS.register
@dataclass(frozen=True)
class MinimalityAttack(Attack):
    """Asks why the release is not finer: each finer one broke a promise, which makes some sensitive values likelier.

    If rows could be suppressed, a finer release would have suppressed more than allowed. People of the control group
    are guessed as if they were in the class that covers them; in local recodings there is no such class.
    """

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
            others = 0 if best.control is None or target.control is None else target.control.classes.rows
            figures = (best.success, naive, best.people)
            found.append(self.result(name, *figures, control=best.control, control_attempts=others, remark=remark))
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
    if target.people is not None:
        raise NotModelled("the promises count people, and the modelled attacker reasons about rows")
    secret = target.columns[column]
    kind = hiding.suppression
    if kind is not None and secret.unknown is not None:
        raise NotModelled("values may be suppressed, which the modelled attacker cannot use")
    if kind is not None and not target.overlapping and not (kind.whole_classes and not kind.hides_values):
        raise NotModelled("parts of classes may be suppressed, which the modelled attacker cannot use")
    if not secret.missing_is_value and target.before.texts(column).null_count():
        raise NotModelled("some sensitive values are missing, which the modelled attacker cannot use")
    if target.overlapping:
        return [_by_splits(target, secret)]
    return minimality(target, secret)


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
        naive=found.naive / found.people,
        credibility=found.credibility,
        confidence=found.confidence,
        learnt=found.learnt,
        draws=found.draws,
        people=round(found.people),
    )


def minimality(target: AttackTarget, column: SensitiveColumn) -> list[Minimality]:
    """Run the attack for each column that was generalized by its hierarchy, by Monte Carlo sampling.

    The attacker knows the quasi-identifiers of all people and the hierarchies, sees the release, and knows its privacy
    models. The attacker also knows how many rows may be suppressed, and that the algorithm releases a column one level
    finer whenever that keeps the promises without suppressing more. So the recoding that is one level finer in this
    column breaks a promise in at least one of its classes, whose sizes the attacker knows. A priori, all assignments of
    the sensitive values of a class to its people are equally likely; a posteriori only those with a broken promise
    somewhere in the table are.
    For a person of finer class g within class c this makes the probability of value v

        (P(v) - P(v and c keeps its promises) · Π P(c' keeps its promises)) / (1 - Π P(any class keeps its promises)),

    where the first product is over all classes except c. The probabilities are estimated from random assignments. Each
    column is considered by itself, and the attacker does not use that coarser steps were rejected as well.

    If rows may be suppressed, the finer recoding has more rows in classes with a broken promise than were still
    allowed. People who were suppressed are not attacked, and taken to be suppressed in finer recodings as well.
    """
    released, models, seed = target.after, target.hiding.models, target.seed
    classes = _classes(target.before, released, target.candidates)
    inside = classes >= 0
    original = _some(target.before, inside)
    matches = [replace(match, leaf=match.leaf[inside]) for match in target.candidates.matches]
    classes = classes[inside]
    spare = _spare_rows(target, target.before.rows - original.rows)
    groups = sensitive_groups(original, SensitiveColumn(column.name, column.hierarchy, column.type))
    known = int(released.histogram(column.name)[2].sum())
    if known != original.rows or _unlike(original, released, classes, column.name):
        raise NotModelled("sensitive values were changed or made unknown, which the modelled attacker cannot use")
    others = [m for m in models if m.looks_at_sensitive and getattr(m, "attribute", None) != column.name]
    if others:
        raise NotModelled("another sensitive column has a promise too, which may be why finer releases were rejected")
    sampling = _Sampling(original, classes, groups, _table(original, groups, column.name), models, seed, spare)
    outsiders = _others(target, column.name, groups)
    found = []
    for index, (name, match) in enumerate(zip(original.columns, matches, strict=True)):
        level = _level(match)
        finer = match.domain.ancestors[level - 1][match.leaf] if level else _one_node_finer(match, released)
        if finer is not None:
            control = None if outsiders is None else outsiders.finer(match, finer, index)
            both = [np.concatenate([classes, outsiders.classes]) if outsiders is not None else classes]
            both.append(np.concatenate([finer, control]) if control is not None else finer)
            sub, count = numbered(both[0].size, [(each + 1, int(each.max(initial=0)) + 2) for each in both])
            found.append(sampling.attack(name, sub[: classes.size], count, outsiders, sub[classes.size :]))
    if not found:
        raise NotModelled("no column was generalized to a node or level of its hierarchy")
    return found


@dataclass(frozen=True, eq=False)
class _ControlClasses:
    """The control group: the released class of each of its classes, its leaves, and its sensitive values."""

    classes: IntArray
    leaves: Sequence[IntArray]
    values: FloatArray
    """(class, value) the rows with each sensitive value, by the codes of the original table."""
    people: int

    def finer(self, match: ColumnMatch, finer: IntArray, index: int) -> IntArray:
        """Return the finer value of each class, as people of the original table with the same value have it."""
        known = np.full(match.domain.ancestors.shape[1], -1, dtype=np.int64)
        known[match.leaf] = finer
        return np.where(self.leaves[index] >= 0, known[self.leaves[index]], -1)


def _others(target: AttackTarget, column: str, groups: Groups) -> _ControlClasses | None:
    """Return the control group; None if there is none with this column."""
    outsiders = target.control
    if outsiders is None or column not in outsiders.values:
        return None
    classes = np.full(outsiders.classes.sizes.size, -1, dtype=np.int64)
    for some, index, found in outsiders.candidates.found():
        classes[some[index]] = found
    group, value, count = outsiders.classes.histogram(column)
    known = {name: code for code, name in enumerate(groups.names)}
    code = np.array([known.get(text, -1) for text in outsiders.classes.texts(column).to_list()], dtype=np.int64)
    values = np.zeros((classes.size, groups.whole.size))
    there = code[value] >= 0
    np.add.at(values, (group[there], code[value[there]]), count[there])
    leaves = [match.leaf for match in outsiders.candidates.matches]
    return _ControlClasses(classes, leaves, values, outsiders.classes.rows)


def _some(classes: CountedClasses, kept: NDArray[np.bool_]) -> CountedClasses:
    """Return some of the classes."""
    entries = kept[classes.group]
    number = np.cumsum(kept) - 1
    return replace(
        classes,
        codes=[codes[kept] for codes in classes.codes],
        sizes=classes.sizes[kept],
        group=number[classes.group[entries]],
        count=classes.count[entries],
        secret={name: codes[entries] for name, codes in classes.secret.items()},
    )


def _spare_rows(target: AttackTarget, suppressed: int) -> int:
    """Return how many more rows could have been suppressed; raise NotModelled if there was no limit."""
    kind = target.hiding.suppression
    limit = 0 if kind is None else kind.budget(target.before.rows)
    if suppressed and limit < suppressed:
        raise NotModelled("rows were suppressed, and it is not known how many could have been")
    if limit >= target.before.rows:
        raise NotModelled("any number of rows may be suppressed, so that a finer release broke no promise")
    return limit - suppressed


def _classes(original: CountedClasses, released: CountedClasses, candidates: Candidates) -> IntArray:
    """Return the released class of each original class, -1 for suppressed people.

    Raise NotModelled if somebody may be in several classes, or if a class lacks some of its people.
    """
    if any(match.single is None for match in candidates.matches):
        raise NotModelled("the recoding is not global: a person may be in several classes")
    classes = np.full(original.sizes.size, -1, dtype=np.int64)
    for some, index, found in candidates.found():
        classes[some[index]] = found
    inside = classes >= 0
    if (add_up(classes[inside], original.sizes[inside], released.sizes.size) != released.sizes).any():
        raise NotModelled("parts of classes were suppressed, which the modelled attacker cannot use")
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
    cells = ReleasedCells(match, add_up(match.value, released.sizes, match.spread.low.size))
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
    spare: int
    """How many more rows could have been suppressed."""

    def attack(
        self, attribute: str, sub: IntArray, subs: int, others: _ControlClasses | None, others_sub: IntArray
    ) -> Minimality:
        """Attack one column; ``sub`` is the finer class of each original class, and of the control group.

        ``subs`` is the number of finer classes of both.
        """
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
        there = np.bincount(sub, minlength=subs) > 0
        lost = np.zeros((draws, count), dtype=np.int64)  # rows of each class that the finer recoding would suppress

        def drawn() -> Iterator[IntArray]:
            rng = np.random.default_rng(self.seed)
            for _ in range(draws):
                shuffled = row_value[np.argsort(row_class + rng.random(row_class.size))]
                yield np.bincount(row_sub * values + shuffled, minlength=subs * values).reshape(subs, values)

        for number, counts in enumerate(drawn()):
            broken = there.copy()
            broken[there] = ~self._ok(sizes[there], counts[there])
            lost[number] = add_up(class_of_sub[broken], sizes[broken], count)
        possible = _chance_that_it_was_possible(lost, self.spare)
        accepted, refused = np.zeros((subs, values)), np.zeros((subs, values))
        for counts, chance in zip(drawn(), possible.each, strict=True):
            accepted += counts * chance[class_of_sub, np.newaxis]
            refused += counts * (1 - chance)[class_of_sub, np.newaxis]
        each_row = draws * np.maximum(sizes, 1)[:, np.newaxis]
        share_refused = 1 - possible.each.mean(axis=0)[class_of_sub]
        credible = _posterior(prior, accepted / each_row, refused / each_row, share_refused)
        plain, guess, each = prior.argmax(axis=1), credible.argmax(axis=1), np.arange(subs)
        # a lead within the sampling error does not change the guess
        guess = np.where(credible[each, guess] - credible[each, plain] > 2 / np.sqrt(draws), guess, plain)
        usual = int(groups.whole.argmax())
        control = None
        if others is not None:
            outside = np.where(others.classes >= 0, _values_of_class(share, others.classes).argmax(axis=1), usual)
            own = np.where(there[others_sub], guess[others_sub], outside)
            control = float(others.values[np.arange(own.size), own].sum() / others.people)
        return Minimality(
            attribute=attribute,
            success=float(truth[each, guess].sum() / original.rows),
            without=float(truth[each, plain].sum() / original.rows),
            naive=float(groups.whole.max() / groups.whole.sum()),
            credibility=float(credible[there].max()),
            confidence=float(prior[there].max()),
            learnt=bool(0 < possible.whole < 1),
            draws=draws,
            people=original.rows,
            control=control,
        )

    def _ok(self, sizes: Int64Array, counts: IntArray) -> NDArray[np.bool_]:
        """Return which finer classes keep every promise."""
        (column,) = self.table.sensitive
        finer = Classes(self.table, sizes, sensitive={column: counts})
        return np.asarray(np.logical_and.reduce([model.ok(finer) for model in self.models]))


def _values_of_class(share: IntArray, classes: IntArray) -> FloatArray:
    """Return the values of the class of each person; those of any class for people in none."""
    return np.asarray(share[np.maximum(classes, 0)], dtype=np.float64)


class _Possible(NamedTuple):
    """How likely the finer recoding was possible: in the whole table, and given each draw of a class."""

    whole: float
    each: FloatArray
    """(draw, class) the chance that the finer recoding is possible if the class is as in this draw."""


def _chance_that_it_was_possible(lost: IntArray, spare: int) -> _Possible:
    """Return how likely the rows that the finer recoding would suppress are no more than were allowed.

    Classes are independent, so that each draw of a class can be combined with all draws of the others.
    """
    if spare == 0:
        kept = (lost == 0).mean(axis=0)
        everywhere = float(np.prod(kept))
        elsewhere = np.divide(everywhere, kept, out=np.zeros_like(kept), where=kept > 0)
        return _Possible(everywhere, (lost == 0) * elsewhere)
    total = lost.sum(axis=1)
    each = np.empty(lost.shape)
    for number in range(lost.shape[1]):
        others = np.sort(total - lost[:, number])
        each[:, number] = np.searchsorted(others, spare - lost[:, number], "right") / len(total)
    return _Possible(float((total <= spare).mean()), each)


def _posterior(prior: FloatArray, accepted: FloatArray, refused: FloatArray, share: FloatArray) -> FloatArray:
    """Return the probability of each value for the people of each finer class, given that that was not possible.

    ``accepted`` and ``refused`` are the estimated probabilities of each value and that the finer recoding is possible,
    or not, and ``share`` that of the second. What is estimated from fewer draws is subtracted, or else divided.
    """
    whole = np.maximum(share, _TINY)[:, np.newaxis]
    found = np.where(share[:, np.newaxis] > 0.5, (prior - accepted) / whole, refused / whole)
    return np.clip(np.where(share[:, np.newaxis] > _TINY, found, prior), 0, 1)
