"""What every suppression kind must keep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.errors import UnsupportedCombinationError
from discreet.problem.classes import Classes
from discreet.problem.privacy import PRIVACY, PrivacyModel
from discreet.problem.suppression import SUPPRESSION, Suppressed, Suppression
from discreet.testing._samples import SENSITIVE, all_histograms, as_classes, random_table

__all__ = ["SuppressionContract"]

TABLES = 8
MODELS = (
    ["k(3)"],
    ["distinct-l(2)"],
    ["l+(0.5)"],
    ["l+({v0: 0.25, v1: 0.5})", "k(4)"],
    ["entropy-l(2.5)", "k(3)"],
    ["recursive-cl(2, 2)", "distinct-l(3)"],
    ["t(0.4)"],
)


class SuppressionContract:
    """Tests of a suppression kind; give it in a fixture ``kind``."""

    def model_sets(self) -> list[list[PrivacyModel]]:
        """Return the combinations of models that are tried, where the kind supports them."""
        return [[PRIVACY.make(text).resolve([SENSITIVE]) for text in group] for group in MODELS]

    def applied(self, kind: Suppression) -> Iterator[tuple[Classes, list[PrivacyModel], Suppressed]]:
        """Yield what the kind does to every class with up to three rows of each value, known or not."""
        for seed in range(TABLES):
            table = random_table(np.random.default_rng(seed), missing=0.3 * (seed % 2))
            classes = as_classes(table, all_histograms(4 + seed % 2, 3))
            for models in self.model_sets():
                if self.accepts(kind, models):
                    yield classes, models, kind.apply(classes, models)

    @staticmethod
    def accepts(kind: Suppression, models: Sequence[PrivacyModel]) -> bool:
        """Return whether the kind accepts the models."""
        try:
            kind.check(models)
        except UnsupportedCombinationError:
            return False
        return True

    @staticmethod
    def mended(model: PrivacyModel, classes: Classes, done: Suppressed) -> NDArray[np.bool_]:
        """Return which classes satisfy a model after suppression.

        These are classes without a row left; for a model of sensitive values, classes without a known value left; and
        classes whose remaining rows are ok, with shares of all remaining rows whose value was known before.
        """
        counts = classes.sensitive[SENSITIVE]
        left = classes.sizes - done.records
        if done.removed is None:
            known = np.where((left > 0)[:, np.newaxis], counts, 0)
        else:
            known = counts - done.removed
        empty = left == 0
        if model.limits_values:
            before = np.where(done.records > 0, known.sum(axis=1), counts.sum(axis=1))
            large = (left >= model.smallest(classes.table)) | (done.values > 0)
            return np.asarray(empty | large & (known <= model.caps(classes.table, before)).all(axis=1))
        ok = model.ok(Classes(classes.table, left, sensitive={SENSITIVE: known}))
        return np.asarray(empty | ok | (model.looks_at_sensitive & (known.sum(axis=1) == 0)))

    def test_text_form_reads_back(self, kind: Suppression) -> None:
        """The text form makes an equal kind."""
        assert SUPPRESSION.make(kind.text) == kind, kind.text
        assert hash(SUPPRESSION.make(kind.text)) == hash(kind), kind.text

    def test_budget(self, kind: Suppression) -> None:
        """The budget is a number of records of the table, and does not fall as the table grows."""
        budgets = [kind.budget(n) for n in range(200)]
        assert all(isinstance(b, int) and 0 <= b <= n for n, b in enumerate(budgets)), "the budget is off"
        assert budgets == sorted(budgets), "the budget falls as the table grows"

    def test_refusal_comes_before_any_class(self, kind: Suppression) -> None:
        """What ``check`` refuses ``apply`` refuses too, and something must be accepted."""
        classes = as_classes(random_table(np.random.default_rng(0)), all_histograms(4, 1))
        assert any(self.accepts(kind, models) for models in self.model_sets()), "it works with no model at all"
        for models in self.model_sets():
            if not self.accepts(kind, models):
                try:
                    kind.apply(classes, models)
                except UnsupportedCombinationError:
                    continue
                raise AssertionError("apply accepts what check refuses")

    def test_ok_classes_are_left_alone(self, kind: Suppression) -> None:
        """A class that all models find ok loses nothing."""
        for classes, models, done in self.applied(kind):
            ok = np.array([model.ok(classes) for model in models]).all(axis=0)
            assert done.feasible[ok].all(), "an ok class needs no mending"
            assert not done.records[ok].any(), "records of an ok class are suppressed"
            assert not done.values[ok].any(), "values of an ok class are suppressed"

    def test_counts_add_up(self, kind: Suppression) -> None:
        """No more is suppressed than there is, and ``removed`` adds up to the totals."""
        for classes, _, done in self.applied(kind):
            assert ((done.records >= 0) & (done.records <= classes.sizes)).all(), "the records are off"
            if kind.whole_classes:
                assert ((done.records == 0) | (done.records == classes.sizes)).all(), "a class is suppressed in part"
            if done.removed is not None:
                counts = classes.sensitive[SENSITIVE]
                assert ((done.removed >= 0) & (done.removed <= counts)).all(), "more is suppressed than there is"
                unknown = np.where(done.records == classes.sizes, classes.sizes - counts.sum(axis=1), 0)
                both = done.records + done.values - unknown
                assert np.array_equal(done.removed.sum(axis=1), both), "removed is off"

    def test_what_is_left_is_ok(self, kind: Suppression) -> None:
        """Where the kind says that it mends a class, no model finds fault with what is left of it."""
        for classes, models, done in self.applied(kind):
            for model in models:
                fine = self.mended(model, classes, done)
                assert fine[done.feasible].all(), f"what is left does not satisfy {model.text}"
