"""What every privacy model must keep."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable
from discreet.errors import InfeasibleError, UsageError
from discreet.problem.classes import Classes
from discreet.problem.privacy import PRIVACY, PrivacyModel
from discreet.testing._samples import SENSITIVE, all_histograms, as_classes, as_groups, random_table

__all__ = ["PrivacyModelContract"]

TABLES = 12
PAIRS = 2000
MISSING = 2
"""The most rows of a class without a known value."""


@cache
def _tables() -> tuple[CountTable, ...]:
    return tuple(random_table(np.random.default_rng(seed), missing=0.3 * (seed % 2)) for seed in range(TABLES))


class PrivacyModelContract:
    """Tests of a privacy model; give it in a fixture ``model``.

    Every table has a sensitive attribute with four values v0 to v3, which are numbers and have a hierarchy. Claims are
    tried on every class with up to four rows of each value, so that bounds can be compared with the best of all
    subsets of a class. Every other table has rows without a known value, and classes with up to two of them.
    """

    def tables(self) -> list[CountTable]:
        """Return the tables that are tried."""
        return list(_tables())

    def histograms(self, table: CountTable) -> NDArray[np.int64]:
        """Return every class with up to four rows of each value, or three and up to two without a known value."""
        if not table.sensitive[SENSITIVE].missing:
            return all_histograms(4, 4)
        every = all_histograms(5, 3)
        return every[every[:, -1] <= MISSING]

    def every_class(self, table: CountTable) -> Classes:
        """Return every class that is tried."""
        return as_classes(table, self.histograms(table))

    def pairs(self, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return random pairs of classes for the table of the same number."""
        rng = np.random.default_rng(seed)
        shape = (2, PAIRS, 4 + seed % 2)
        first, second = rng.integers(0, 9, shape) * rng.integers(0, 2, shape)
        fine = (first.sum(axis=1) > 0) & (second.sum(axis=1) > 0)
        return first[fine], second[fine]

    def resolved(self, model: PrivacyModel) -> PrivacyModel:
        """Return the model with its sensitive attribute filled in."""
        return model.resolve([SENSITIVE])

    def test_text_form_reads_back(self, model: PrivacyModel) -> None:
        """The text form makes an equal model, resolved or not."""
        for form in (model, self.resolved(model)):
            assert PRIVACY.make(form.text) == form, form.text
            assert hash(PRIVACY.make(form.text)) == hash(form), form.text

    def test_each_class_is_judged_by_itself(self, model: PrivacyModel) -> None:
        """The answer for a class does not depend on the others, and nothing given is changed."""
        model = self.resolved(model)
        for table in self.tables()[:3]:
            classes = self.every_class(table)
            before = self.histograms(table)
            ok = model.ok(classes)
            order = np.random.default_rng(0).permutation(len(classes))[:50]
            alone = [model.ok(as_classes(table, before[[i]]))[0] for i in order]
            assert ok.dtype == np.bool_, "ok must be a mask"
            assert ok.shape == (len(classes),), "ok must have an answer for each class"
            assert np.array_equal(alone, ok[order]), "ok depends on the other classes"
            assert np.array_equal(classes.sensitive[SENSITIVE], before[:, :4]), "ok changed its input"
            assert model.ok(as_classes(table, before[:0])).shape == (0,), "no classes, no answers"

    def test_union_closed(self, model: PrivacyModel) -> None:
        """If the model says so, the union of two ok classes is ok."""
        model = self.resolved(model)
        if not model.union_closed:
            return
        for seed, table in enumerate(self.tables()):
            first, second = self.pairs(seed)
            both = model.ok(as_classes(table, first)) & model.ok(as_classes(table, second))
            assert model.ok(as_classes(table, (first + second)[both])).all(), "a union of ok classes is not ok"

    def test_superset_closed(self, model: PrivacyModel) -> None:
        """If the model says so, an ok class stays ok whatever is added."""
        model = self.resolved(model)
        if not model.superset_closed:
            return
        for seed, table in enumerate(self.tables()):
            first, second = self.pairs(seed)
            ok = model.ok(as_classes(table, first))
            assert model.ok(as_classes(table, (first + second)[ok])).all(), "rows added made an ok class fail"

    def test_flags_tell_what_it_looks_at(self, model: PrivacyModel) -> None:
        """A model that does not say that it looks at something does not depend on it."""
        model = self.resolved(model)
        for table in self.tables():
            classes = self.every_class(table)
            ok = model.ok(classes)
            if model.of_table:
                assert ok.all(), "a condition on the whole table finds no fault with single classes"
            if not model.looks_at_population:
                assert np.array_equal(ok, model.ok(replace(classes, population=None))), "it looks at the population"
            if not model.looks_at_sensitive:
                assert np.array_equal(ok, model.ok(replace(classes, sensitive={}))), "it looks at sensitive values"
            if not model.compares:
                groups = as_groups(table, self.histograms(table)[:50])
                other = replace(groups, whole=groups.whole[::-1] + 1)
                assert model.reached(groups) == model.reached(other), "it compares with the whole table"

    def test_holds_looks_at_the_sizes(self, model: PrivacyModel) -> None:
        """A condition on the whole table does not depend on the order of the classes; others always hold."""
        model = self.resolved(model)
        rng = np.random.default_rng(0)
        for _ in range(50):
            sizes = rng.integers(1, 9, int(rng.integers(1, 30)))
            assert model.holds(sizes) == model.holds(np.sort(sizes)), "the order of the classes decides"
            assert model.of_table or model.holds(sizes), "only a model with of_table may refuse a whole table"

    def test_minimum_size(self, model: PrivacyModel) -> None:
        """No smaller class is ok."""
        model = self.resolved(model)
        for table in self.tables():
            classes = self.every_class(table)
            small = classes.sizes < model.smallest(table)
            assert not model.ok(classes)[small].any(), "a class smaller than the smallest is ok"
            small = (classes.sizes < model.minimum_size) & (self.histograms(table)[:, 4:].sum(axis=1) == 0)
            assert not model.ok(classes)[small].any(), "a class smaller than minimum_size is ok"

    def test_fewest_removed(self, model: PrivacyModel) -> None:
        """The bound does not exceed what the largest ok part of a class leaves out."""
        model = self.resolved(model)
        for table in self.tables():
            classes = self.every_class(table)
            removed = model.fewest_removed(classes)
            assert np.issubdtype(removed.dtype, np.integer), "rows are counted in whole numbers"
            assert ((removed >= 0) & (removed <= classes.sizes)).all(), "more is removed than there is"
            least = self.least_removal(self.histograms(table), model.ok(classes))
            assert (removed <= least).all(), "the bound is not valid"

    @staticmethod
    def least_removal(counts: NDArray[np.int64], ok: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the fewest rows to remove from each class, by trying every subset."""
        fine = counts[ok]
        subset = np.ones((len(counts), len(fine)), dtype=np.bool_)
        for column in range(counts.shape[1]):
            subset &= fine[:, column] <= counts[:, column, np.newaxis]
        most = np.where(subset, fine.sum(axis=1), 0).max(axis=1, initial=0)
        return np.asarray(counts.sum(axis=1) - most)

    def test_limits_and_evenness(self, model: PrivacyModel) -> None:
        """If the model says so, ok means within the caps, and evening out within them keeps a class ok."""
        model = self.resolved(model)
        for seed, table in enumerate(self.tables()):
            classes = self.every_class(table)
            counts, ok = classes.sensitive[SENSITIVE], model.ok(classes)
            caps = np.full(counts.shape, np.iinfo(np.int64).max)
            if model.limits_values:
                known = counts.sum(axis=1)
                caps = model.caps(table, known)
                within = (counts <= caps).all(axis=1) & (classes.sizes >= model.smallest(table))
                assert np.array_equal(ok, within), "ok is not the same as large enough and within the caps"
                assert (model.caps(table, known + 1) >= caps).all(), "caps fall as the class grows"
            if not model.favors_even:
                continue
            rng = np.random.default_rng(seed)
            giver, taker = rng.integers(0, 4, (2, len(classes)))
            every = np.arange(len(classes))
            moves = ok & (counts[every, giver] > counts[every, taker] + 1)
            moves &= counts[every, taker] < caps[every, taker]
            evener = self.histograms(table)
            evener[every, giver] -= 1
            evener[every, taker] += 1
            assert model.ok(as_classes(table, evener[moves])).all(), "evening out made an ok class fail"

    def test_reached_agrees(self, model: PrivacyModel) -> None:
        """What the audit measures keeps the promise exactly where every class is ok."""
        model = self.resolved(model)
        for seed, table in enumerate(self.tables()):
            rng = np.random.default_rng(seed)
            every = self.histograms(table)
            ok = model.ok(as_classes(table, every))
            if model.key_sets(table.names):
                assert ok.all(), "a model with key sets must call every class of all quasi-identifiers ok"
                continue
            for trial in range(40):
                pool = every[ok] if trial % 2 and ok.any() else every
                chosen = pool[rng.integers(0, len(pool), int(rng.integers(1, 4)))]
                kept = model.satisfied_by(model.reached(as_groups(table, chosen)))
                fine = bool(model.ok(as_classes(table, chosen)).all()) and model.holds(chosen.sum(axis=1))
                assert kept == fine, (model.text, chosen.tolist())
            nothing = as_groups(table, every[:0])
            assert model.satisfied_by(model.reached(nothing)), "a table without rows breaks no promise"

    def test_check_refuses_only_the_impossible(self, model: PrivacyModel) -> None:
        """A model refused for a table is ok for no part of it."""
        model = self.resolved(model)
        for table in self.tables():
            secret = table.sensitive[SENSITIVE]
            every = self.histograms(table)
            parts = every[(every <= np.append(secret.totals, secret.missing)[: every.shape[1]]).all(axis=1)]
            try:
                model.check(table)
            except (InfeasibleError, UsageError):
                assert not model.ok(as_classes(table, parts)).any(), "the model is refused but can hold"
