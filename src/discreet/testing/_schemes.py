"""What every scheme must keep."""

from __future__ import annotations

import itertools

import numpy as np

from discreet.counts import CodedAttribute
from discreet.errors import UnsupportedCombinationError
from discreet.problem.schemes import SCHEMES, Partition, Scheme, set_partitions
from discreet.testing._samples import random_attribute

__all__ = ["SchemeContract"]

ATTRIBUTES = 60


class SchemeContract:
    """Tests of a scheme; give it in a fixture ``scheme``.

    Attributes have up to six leaves and random hierarchies, so that all partitions can be tried.
    """

    def attributes(self) -> list[CodedAttribute]:
        """Return the attributes that are tried."""
        made = []
        for seed in range(ATTRIBUTES):
            rng = np.random.default_rng(seed)
            leaves = int(rng.integers(1, 7))
            made.append(random_attribute(rng, "q", rng.integers(0, leaves, 10), leaves))
        return made

    def every_partition(self, attribute: CodedAttribute) -> list[Partition]:
        """Return every partition of the leaves."""
        return [tuple(tuple(block) for block in blocks) for blocks in set_partitions(range(attribute.leaves))]

    def test_text_form_reads_back(self, scheme: Scheme) -> None:
        """The text form makes an equal scheme."""
        assert SCHEMES.make(scheme.text) == scheme, scheme.text

    def test_partitions_are_those_allowed(self, scheme: Scheme) -> None:
        """Each allowed partition is yielded once, in canonical form, and the count is right."""
        if not scheme.is_global:
            return
        for attribute in self.attributes():
            found = list(scheme.partitions(attribute))
            allowed = [p for p in self.every_partition(attribute) if scheme.allows(attribute, p)]
            assert len(found) == len(set(found)), "a partition is yielded twice"
            assert set(found) == set(allowed), "partitions and allows disagree"
            assert scheme.count(attribute) == len(found), "the count is off"
            assert scheme.formal_count(attribute) >= len(found), "the formal count is below the count"

    def test_original_values_are_allowed(self, scheme: Scheme) -> None:
        """Original values are allowed, and blocks that are no partition are not."""
        for attribute in self.attributes():
            single = tuple((leaf,) for leaf in range(attribute.leaves))
            assert scheme.allows(attribute, single), "original values are not allowed"
            assert not scheme.allows(attribute, single[1:]), "a leaf is left out"
            assert not scheme.allows(attribute, (*single, (0,))), "a leaf is there twice"
            assert not scheme.allows(attribute, (*single, (attribute.leaves,))), "a leaf is not one of the attribute's"

    def test_hierarchy_matters_only_if_said(self, scheme: Scheme) -> None:
        """A scheme that does not use the hierarchy allows the same with another one."""
        if scheme.uses_hierarchy:
            return
        for attribute in self.attributes():
            flat = CodedAttribute(attribute.name, attribute.ancestors[[0, -1]], attribute.rows, attribute.positions)
            assert scheme.count(flat) == scheme.count(attribute), "the hierarchy changes the count"

    def test_large_domains(self, scheme: Scheme) -> None:
        """A hundred leaves are counted, and the first partitions come at once."""
        leaf = np.arange(100)
        attribute = CodedAttribute("q", np.array([leaf, leaf // 5, leaf // 20, leaf * 0]), np.ones(100, dtype=np.int64))
        assert scheme.count(attribute) >= 2, "a hundred leaves in three levels leave some choice"
        try:
            few = list(itertools.islice(scheme.partitions(attribute), 3))
        except UnsupportedCombinationError:
            assert not scheme.is_global, "a global scheme enumerates its partitions"
            return
        assert all(scheme.allows(attribute, partition) for partition in few)
