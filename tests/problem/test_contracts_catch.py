"""The contracts notice a member that promises what it does not keep."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from discreet.errors import UsageError
from discreet.problem.costs.classification import Classification
from discreet.problem.costs.discernibility import Discernibility
from discreet.problem.costs.loss import Loss
from discreet.problem.privacy.entropy_l_diversity import EntropyLDiversity
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.problem.privacy.l_diversity import LDiversity
from discreet.problem.privacy.l_plus_diversity import LPlusDiversity
from discreet.problem.privacy.t_closeness import TCloseness
from discreet.problem.schemes.ordered import Ordered
from discreet.problem.schemes.subtree import Subtree
from discreet.problem.suppression.class_records import ClassRecords
from discreet.problem.suppression.violating_records import ViolatingRecords
from discreet.testing import CostContract, PrivacyModelContract, SchemeContract, SuppressionContract

Models, Costs, Kinds, Schemes = PrivacyModelContract(), CostContract(), SuppressionContract(), SchemeContract()


@dataclass(frozen=True)
class SaysSuperset(LPlusDiversity):
    superset_closed = True


@dataclass(frozen=True)
class SaysUnion(KAnonymity):
    """Ok if the size is not a multiple of three, which no union keeps to."""

    def ok(self, classes):
        return classes.sizes % 3 != 0


@dataclass(frozen=True)
class SaysLarge(LDiversity):
    @property
    def minimum_size(self):
        return self.l + 1


@dataclass(frozen=True)
class RemovesTooMuch(EntropyLDiversity):
    def fewest_removed(self, classes):
        return np.minimum(super().fewest_removed(classes) + 1, classes.sizes)


@dataclass(frozen=True)
class SaysEven(TCloseness):
    favors_even = True


@dataclass(frozen=True)
class SaysLimits(EntropyLDiversity):
    limits_values = True

    def caps(self, table, sizes):
        return np.tile(sizes[:, np.newaxis], (1, 4))


@dataclass(frozen=True)
class MeasuresMore(KAnonymity):
    def reached(self, groups):
        return super().reached(groups) + 1


@dataclass(frozen=True)
class RefusesEverything(KAnonymity):
    def check(self, table):
        raise UsageError("It can never hold.")


@dataclass(frozen=True)
class LooksAround(KAnonymity):
    def ok(self, classes):
        return classes.sizes >= classes.sizes.max(initial=0)


@pytest.mark.parametrize(
    ("lie", "test"),
    [
        (SaysSuperset(0.5), Models.test_superset_closed),
        (SaysUnion(2), Models.test_union_closed),
        (SaysLarge(2), Models.test_minimum_size),
        (RemovesTooMuch(2), Models.test_fewest_removed),
        (SaysEven(0.3), Models.test_limits_and_evenness),
        (SaysLimits(2), Models.test_limits_and_evenness),
        (MeasuresMore(2), Models.test_reached_agrees),
        (RefusesEverything(2), Models.test_check_refuses_only_the_impossible),
        (LooksAround(2), Models.test_each_class_is_judged_by_itself),
        (SaysLarge(2), Models.test_text_form_reads_back),
    ],
    ids=lambda case: getattr(case, "__name__", type(case).__name__),
)
def test_models(lie, test):
    with pytest.raises(AssertionError):
        test(lie)


@dataclass(frozen=True)
class CheapWhole(Discernibility):
    def published(self, classes):
        return np.sqrt(classes.sizes)


@dataclass(frozen=True)
class HighFloor(Loss):
    def floor(self, classes, smallest):
        return super().floor(classes, smallest) * smallest


@dataclass(frozen=True)
class HighMargin(Classification):
    def margin(self, classes, smallest=1):
        return np.ones(len(classes))


@dataclass(frozen=True)
class OtherForm(Loss):
    def separable(self, table):
        form = super().separable(table)
        return replace(form, offset=[offset + 0.01 for offset in form.offset])


@pytest.mark.parametrize(
    ("lie", "test"),
    [
        (CheapWhole(), Costs.test_superadditive),
        (HighFloor(), Costs.test_floor),
        (HighMargin(), Costs.test_margin),
        (OtherForm(), Costs.test_separable),
    ],
    ids=lambda case: getattr(case, "__name__", type(case).__name__),
)
def test_costs(lie, test):
    with pytest.raises(AssertionError):
        test(lie)


@dataclass(frozen=True)
class TakesAll(ClassRecords):
    def apply(self, classes, models):
        return replace(super().apply(classes, models), records=classes.sizes)


@dataclass(frozen=True)
class TakesTooFew(ViolatingRecords):
    def apply(self, classes, models):
        done = super().apply(classes, models)
        if done.removed is None:
            return done
        fewer = np.maximum(done.removed - 1, 0)
        return replace(done, removed=fewer, records=fewer.sum(axis=1))


@pytest.mark.parametrize(
    ("lie", "test"),
    [(TakesAll(), Kinds.test_ok_classes_are_left_alone), (TakesTooFew(), Kinds.test_what_is_left_is_ok)],
    ids=lambda case: getattr(case, "__name__", type(case).__name__),
)
def test_kinds(lie, test):
    with pytest.raises(AssertionError):
        test(lie)


@dataclass(frozen=True)
class Twice(Subtree):
    def partitions(self, attribute):
        yield from super().partitions(attribute)
        yield from super().partitions(attribute)


@dataclass(frozen=True)
class Blind(Subtree):
    uses_hierarchy = False


@dataclass(frozen=True)
class Miscounts(Ordered):
    def count(self, attribute):
        return super().count(attribute) + 1


@pytest.mark.parametrize(
    ("lie", "test"),
    [
        (Twice(), Schemes.test_partitions_are_those_allowed),
        (Blind(), Schemes.test_hierarchy_matters_only_if_said),
        (Miscounts(), Schemes.test_partitions_are_those_allowed),
    ],
    ids=lambda case: getattr(case, "__name__", type(case).__name__),
)
def test_schemes(lie, test):
    with pytest.raises(AssertionError):
        test(lie)
