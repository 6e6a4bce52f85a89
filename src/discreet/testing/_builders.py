"""What every hierarchy builder must keep."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl

from discreet.errors import DiscreetError
from discreet.schema import BUILDERS, Builder, Hierarchy, Type, make_domain, text_of

__all__ = ["BuilderContract"]


class BuilderContract:
    """Tests of a builder; give it in a fixture ``builder``.

    It is tried on columns of all types it suits. Override ``columns`` if it needs certain values.
    """

    def columns(self, builder: Builder) -> list[pl.Series]:
        """Return the distinct values of the columns that are tried."""
        tree = getattr(builder, "hierarchy", None)
        if isinstance(tree, Hierarchy):
            return [pl.Series(tree.leaves)]
        types = builder.types or tuple(Type)
        return [values for type_, each in _samples().items() if type_ in types for values in each]

    def built(self, builder: Builder) -> list[tuple[pl.Series, Hierarchy]]:
        """Return each column with its hierarchy; columns that the builder refuses are left out."""
        found = []
        for values in self.columns(builder):
            try:
                found.append((values, builder.build(values)))
            except DiscreetError:  # such as numbers where cut points are dates
                continue
        assert found, "the builder refuses every column"
        return found

    def test_text_form_reads_back(self, builder: Builder) -> None:
        """The text form makes an equal builder."""
        assert BUILDERS.make(builder.text) == builder, builder.text
        assert hash(BUILDERS.make(builder.text)) == hash(builder), builder.text

    def test_every_value_has_a_leaf(self, builder: Builder) -> None:
        """Each value is a leaf, and the leaves are the distinct values or those the builder names."""
        for values, tree in self.built(builder):
            assert (tree.find(text_of(values)) >= 0).all(), "a value has no leaf"
            assert len(set(tree.leaves)) == len(tree.leaves), "two leaves have the same name"

    def test_levels_nest(self, builder: Builder) -> None:
        """A block lies in one block of the next level, and everything lies under one root."""
        for _, tree in self.built(builder):
            assert (tree.ancestors[0] == np.arange(len(tree.leaves))).all(), "level 0 is not the values"
            for lower, upper in zip(tree.ancestors, tree.ancestors[1:], strict=False):
                pairs = np.unique(np.stack([lower, upper]), axis=1)
                assert pairs.shape[1] == np.unique(lower).size, "a block lies in two blocks of the next level"
            assert tree.labels[-1] == ("*",), "the root is not *"
            assert all(
                len(labels) == blocks.max() + 1 for labels, blocks in zip(tree.labels, tree.ancestors, strict=True)
            )

    def test_missing_values_stay_missing(self, builder: Builder) -> None:
        """A missing value is a leaf of its own up to the root, and changes nothing else."""
        for values, tree in self.built(builder):
            domain = make_domain("q", values.extend_constant(None, 1), builder)
            leaf = domain.codes[-1]
            for level, labels in enumerate(domain.labels[:-1]):
                block = domain.ancestors[level, leaf]
                assert labels[block] is None, "a missing value has a name"
                assert (domain.ancestors[level] == block).sum() == 1, "a missing value shares a block with a value"
            assert domain.height == tree.height, "a missing value changes the levels"

    def test_the_order_of_rows_leaves_no_trace(self, builder: Builder) -> None:
        """The same values in another order have the same hierarchy, and nothing given is changed."""
        for values, tree in self.built(builder):
            shuffled = values.gather(np.random.default_rng(1).permutation(len(values)))
            before = shuffled.to_list()
            again = builder.build(shuffled)
            assert sorted(again.rows()) == sorted(tree.rows()), "the order of the values decides"
            assert shuffled.to_list() == before, "the builder changed its input"

    def test_an_empty_column(self, builder: Builder) -> None:
        """A column without values, as one in which all are missing, has nothing but the root."""
        if isinstance(getattr(builder, "hierarchy", None), Hierarchy):
            return
        tree = builder.build(pl.Series([], dtype=pl.String))
        assert tree.leaves == []
        assert tree.labels[-1] == ("*",)


def _samples() -> dict[Type, list[pl.Series]]:
    rng = np.random.default_rng(7)
    day = datetime.date(2019, 12, 30)
    days = [day + datetime.timedelta(days=int(offset)) for offset in np.unique(rng.integers(0, 2000, 60))]
    words = ["Ale", "Bread", "Cider", "Dill", "Eggs", "Flour", "Ginger", "Honey", "Ink", "Jam"]
    return {
        Type.INTEGER: [pl.Series(range(17, 91)), pl.Series([-5, 0, 3, 1_000_000]), pl.Series([7])],
        Type.DECIMAL: [pl.Series(np.unique(rng.normal(0, 20, 50).round(2))), pl.Series([0.1, 0.2, 0.3])],
        Type.DATE: [pl.Series(days), pl.Series([day.isoformat() for day in days])],
        Type.TEXT: [
            pl.Series(words),
            pl.Series([f"{code:05}" for code in np.unique(rng.integers(0, 99_999, 40))]),
            pl.Series([f"{first} {second}" for first in words[:4] for second in words[4:]]),
            pl.Series(["", " ", "*", "a, b", "{x}"]),
        ],
    }
