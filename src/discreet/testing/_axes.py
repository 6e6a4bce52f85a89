"""What every axis of a front must keep."""

from __future__ import annotations

import numpy as np

from discreet.problem.axes import AXES, Axis
from discreet.problem.privacy import PRIVACY
from discreet.testing._samples import SENSITIVE, all_histograms, as_classes, as_groups, random_table

__all__ = ["AxisContract"]

TABLES = 8
PAIRS = 500


class AxisContract:
    """Tests of an axis; give it in a fixture ``axis``."""

    def test_text_form_reads_back(self, axis: Axis) -> None:
        """The text form makes an equal axis."""
        assert AXES.make(axis.text) == axis, axis.text

    def test_flags(self, axis: Axis) -> None:
        """If the axis says so, a class never gets worse by more rows, nor a union worse than both parts."""
        for seed in range(TABLES):
            rng = np.random.default_rng(seed)
            table = random_table(rng)
            resolved = axis.resolve(table)
            first, second = rng.integers(0, 5, (2, PAIRS, 4)) + (rng.random((2, PAIRS, 1)) < 0.3)
            fine = (first.sum(axis=1) > 0) & (second.sum(axis=1) > 0)
            first, second = first[fine], second[fine]
            one, two, both = (resolved.values(as_classes(table, rows)) for rows in (first, second, first + second))
            assert one.shape == (len(first),), "one number for each class"
            if resolved.union_closed:
                assert (both >= np.minimum(one, two) - 1e-9).all(), "a union is worse than both its parts"
            if resolved.superset_closed:
                assert (both >= one - 1e-9).all(), "more rows made a class worse"

    def test_a_recoding_keeps_what_it_promises(self, axis: Axis) -> None:
        """The model that an axis promises for a number is kept by the classes that have the number."""
        every = all_histograms(4, 3)
        for seed in range(TABLES):
            rng = np.random.default_rng(seed)
            table = random_table(rng)
            resolved = axis.resolve(table)
            for _ in range(20):
                chosen = every[rng.integers(0, len(every), int(rng.integers(1, 5)))]
                classes = as_classes(table, chosen)
                number = resolved.of(resolved.values(classes), classes.sizes.astype(np.float64))
                promise = resolved.promise(number)
                if promise is not None:
                    model = PRIVACY.make(promise).resolve([SENSITIVE])
                    assert model.satisfied_by(model.reached(as_groups(table, chosen))), promise
