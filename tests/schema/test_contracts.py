"""Every builder keeps the contract that others are asked to keep, and the contract notices one that does not."""

from __future__ import annotations

import dataclasses

import polars as pl
import pytest

from discreet.schema import BUILDERS, Hierarchy
from discreet.schema.builders.flat import Flat
from discreet.schema.builders.mask import Mask
from discreet.testing import BuilderContract, check_description, contract_parts

MORE_FORMS = [
    "intervals(0.5, 2)",
    "intervals(10, origin=3)",
    "intervals(30, origin=2020-01-01)",
    "ranges([0, 18, 65])",
    "dates(week, month, quarter, year)",
    "dates(day, decade)",
    "mask(digits=2, from_right=false)",
    "mask(keep_length=false)",
    "groups([a, b, c])",
    "groups({North: {East: [1, 2], West: [3]}, South: [4]})",
    "ordered({few: [0, 1], many: [2, 3]})",
]


@pytest.mark.parametrize("member", BUILDERS.members().values(), ids=lambda member: member.name)
def test_every_builder_describes_itself(member):
    check_description(member, BUILDERS)


class TestBuilders(BuilderContract):
    @pytest.fixture(params=[*(part.text for part in contract_parts(BUILDERS)), *BUILDERS.examples(), *MORE_FORMS])
    def builder(self, request):
        return BUILDERS.make(request.param)


Contract = BuilderContract()


@dataclasses.dataclass(frozen=True)
class Forgets(Flat):
    """Leaves a value out."""

    def build(self, values, kind=None, name="values"):
        return super().build(values.slice(1), kind, name)


@dataclasses.dataclass(frozen=True)
class DependsOnOrder(Flat):
    """Names the first value."""

    def build(self, values, kind=None, name="values"):
        first = str(values[0]) if len(values) else ""
        return Hierarchy.from_rows([[text, "first" if text == first else "other"] for text in map(str, values)])


@dataclasses.dataclass(frozen=True)
class ChangesInput(Flat):
    """Appends to what it was given."""

    def build(self, values, kind=None, name="values"):
        tree = super().build(values, kind, name)
        values.append(pl.Series(values[:1]))
        return tree


@dataclasses.dataclass(frozen=True)
class AnotherText(Mask):
    """Says that it hides other characters."""

    def arguments(self):
        return [], {"digits": 9}


@pytest.mark.parametrize(
    ("lie", "test"),
    [
        (Forgets(), Contract.test_every_value_has_a_leaf),
        (DependsOnOrder(), Contract.test_the_order_of_rows_leaves_no_trace),
        (ChangesInput(), Contract.test_the_order_of_rows_leaves_no_trace),
        (AnotherText(), Contract.test_text_form_reads_back),
    ],
    ids=lambda case: getattr(case, "__name__", type(case).__name__),
)
def test_the_contract_notices(lie, test):
    with pytest.raises(AssertionError):
        test(lie)
