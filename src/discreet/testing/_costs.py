"""What every cost must keep."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, IntArray
from discreet.problem.classes import Classes
from discreet.problem.costs import COSTS, Cost, required
from discreet.testing._samples import SENSITIVE, classes_of, random_table

__all__ = ["CostContract"]

TABLES = 60
SLACK = 1e-9


Case = tuple[Cost, CountTable, Classes, Classes, NDArray[np.int64]]


@cache
def _cases(cost: Cost) -> tuple[Case, ...]:
    """Return the cases of a cost; each test looks at the same."""
    cases = []
    for seed in range(TABLES):
        rng = np.random.default_rng(seed)
        table = random_table(
            rng,
            rows=int(rng.integers(1, 40)),
            leaves=int(rng.integers(1, 6)),
            missing=0.3 * float(rng.random() < 0.3),
        )
        resolved = cost.resolve(table, [])
        low = [int(rng.integers(0, attribute.height + 1)) for attribute in table.attributes]
        high = [
            int(rng.integers(level, attribute.height + 1))
            for level, attribute in zip(low, table.attributes, strict=True)
        ]
        fine, coarse = classes_of(table, low, resolved), classes_of(table, high, resolved)
        cases.append((resolved, table, fine, coarse, _containing(table, fine, coarse, high)))
    return tuple(cases)


def _containing(table: CountTable, fine: Classes, coarse: Classes, high: list[int]) -> NDArray[np.int64]:
    names = [attribute.ancestors[level] for attribute, level in zip(table.attributes, high, strict=True)]
    keys = {
        tuple(int(name[leaf]) for name, leaf in zip(names, row, strict=True)): i
        for i, row in enumerate(required(coarse.low).tolist())
    }
    found = [
        keys[tuple(int(name[leaf]) for name, leaf in zip(names, row, strict=True))]
        for row in required(fine.low).tolist()
    ]
    return np.array(found, dtype=np.int64)


class CostContract:
    """Tests of a cost; give it in a fixture ``cost``.

    Each claim is tried on random tables with a random level vector and a more general one. Weights may name the
    columns q0 and q1.
    """

    def cases(self, cost: Cost) -> list[Case]:
        """Return tables with the classes of two recodings and, for each finer class, the coarser one that holds it."""
        return list(_cases(cost))

    def test_text_form_reads_back(self, cost: Cost) -> None:
        """The text form makes an equal cost."""
        assert COSTS.make(cost.text) == cost, cost.text
        assert hash(COSTS.make(cost.text)) == hash(cost), cost.text

    def test_numbers_are_sane(self, cost: Cost) -> None:
        """Costs are finite and not negative, one per class."""
        for resolved, _, fine, _, _ in self.cases(cost):
            for numbers in (resolved.published(fine), resolved.suppressed(fine), resolved.floor(fine, 3)):
                assert numbers.shape == (len(fine),), "one number per class"
                assert np.isfinite(numbers).all(), "costs must be finite"
                assert (numbers >= -SLACK).all(), "costs must not be negative"

    def test_total(self, cost: Cost) -> None:
        """An additive total is the sum over the classes, and the worst is to suppress everything."""
        for seed, (resolved, table, fine, _, _) in enumerate(self.cases(cost)):
            ok = np.random.default_rng(seed).random(len(fine)) < 0.5
            total = resolved.total(fine, ok)
            assert np.isfinite(total), "the total must be finite"
            if resolved.additive:
                parts = np.where(ok, resolved.published(fine), resolved.suppressed(fine)).sum()
                assert np.isclose(total, parts, rtol=SLACK), "the total is not the sum over the classes"
                worst = resolved.total(fine, np.zeros(len(fine), dtype=np.bool_))
                assert np.isclose(worst, resolved.worst(table), rtol=SLACK), "worst is not suppressing all"

    def test_superadditive(self, cost: Cost) -> None:
        """If the cost says so, a class costs no less than its parts and no more than suppressing it."""
        if not cost.superadditive:
            return
        for resolved, _, fine, coarse, parent in self.cases(cost):
            whole = resolved.published(coarse)
            parts = np.bincount(parent, weights=resolved.published(fine), minlength=len(coarse))
            slack = SLACK * (1 + whole)
            assert (parts <= whole + slack).all(), "the parts of a class cost more than the class"
            assert (whole <= resolved.suppressed(coarse) + slack).all(), "suppressing is cheaper than publishing"

    def test_floor(self, cost: Cost) -> None:
        """No more general recoding costs a class's rows less than its floor."""
        if not cost.superadditive:
            return
        for resolved, _, fine, coarse, parent in self.cases(cost):
            for smallest in (1, 2, 5):
                floor = np.bincount(parent, weights=resolved.floor(fine, smallest), minlength=len(coarse))
                slack = SLACK * (1 + floor)
                may_stay = coarse.sizes >= smallest
                assert (floor <= resolved.suppressed(coarse) + slack).all(), "the floor exceeds suppressing"
                published = resolved.published(coarse)
                assert (floor <= published + slack)[may_stay].all(), "the floor exceeds publishing"

    def test_margin(self, cost: Cost) -> None:
        """Suppressing a part of a class adds at least the margin for each of its rows to the part's floor."""
        if not cost.superadditive:
            return
        for resolved, _, fine, coarse, parent in self.cases(cost):
            for smallest in (1, 2, 5):
                adds = resolved.suppressed(fine) - resolved.floor(fine, smallest)
                margin = resolved.margin(coarse, smallest)[parent] * fine.sizes
                slack = SLACK * (1 + resolved.suppressed(fine))
                assert (margin <= adds + slack).all(), "suppressing a part adds less than the margin"

    def test_by_attribute(self, cost: Cost) -> None:
        """The parts of the attributes add up, never shrink in a more general recoding and leave the margin."""
        for resolved, _, fine, coarse, parent in self.cases(cost):
            parts, whole = resolved.by_attribute(fine), resolved.by_attribute(coarse)
            if parts is None or whole is None:
                return
            published, rows = parts.published, fine.sizes[:, np.newaxis]
            assert np.allclose(published.sum(axis=1), resolved.published(fine), rtol=SLACK), "the parts do not add up"
            penalty = parts.penalty.sum() * fine.sizes
            assert np.allclose(penalty, resolved.suppressed(fine), rtol=SLACK), "the penalties do not add up"
            for column in range(published.shape[1]):
                below = np.bincount(parent, weights=published[:, column], minlength=len(coarse))
                above = whole.published[:, column]
                assert (below <= above + SLACK * (1 + above)).all(), "a part shrinks in a more general recoding"
            adds = parts.penalty * rows - published
            assert (parts.margin * rows <= adds + SLACK * (1 + adds)).all(), "suppressing adds less than the margin"

    def test_partly(self, cost: Cost) -> None:
        """If the cost says so, part of a class may be suppressed; nothing and everything are the plain costs."""
        if not cost.divisible:
            return
        for seed, (resolved, _, _, coarse, _) in enumerate(self.cases(cost)):
            counts = coarse.sensitive[SENSITIVE]
            published, suppressed = resolved.published(coarse), resolved.suppressed(coarse)
            nothing = resolved.partly(coarse, SENSITIVE, np.zeros_like(counts))
            assert np.allclose(nothing, published, rtol=SLACK), "taking nothing changes the cost"
            everything = resolved.partly(coarse, SENSITIVE, counts)
            whole = counts.sum(axis=1) == coarse.sizes  # else rows without a known value stay
            assert np.allclose(everything[whole], suppressed[whole], rtol=SLACK), "taking all is not suppressing"
            removed = np.random.default_rng(seed).integers(0, counts + 1)
            found = resolved.partly(coarse, SENSITIVE, removed)
            if resolved.removal_never_pays:
                assert (found >= published - SLACK * (1 + published)).all(), "a removal pays"
            if "moments" in resolved.needs:  # those of the rest depend on which rows go
                continue
            out, rest = self._split(resolved, coarse, removed)
            parts = resolved.published(rest) + resolved.suppressed(out)
            assert np.allclose(found, parts, rtol=SLACK), "the cost is not that of the rest and the suppressed part"

    @staticmethod
    def _split(cost: Cost, classes: Classes, removed: IntArray) -> tuple[Classes, Classes]:
        """Return the suppressed part of each class and the rest, by the labels the cost chooses."""
        counts, joint = classes.sensitive[SENSITIVE], classes.joint[SENSITIVE]
        taken = cost.labels_removed(classes, SENSITIVE, removed)
        if taken is None:
            taken = np.zeros_like(joint)
        else:
            assert ((taken >= 0) & (taken <= joint)).all(), "more is suppressed than there is"
            assert np.array_equal(taken.sum(axis=2), removed), "the labels do not add up to the values"

        unknown = classes.sizes - counts.sum(axis=1)
        labels = None if classes.labels is None else classes.labels - joint.sum(axis=1)

        def part(values: IntArray, both: IntArray, *, stays: bool) -> Classes:
            by_label = both.sum(axis=1)
            return replace(
                classes,
                sizes=values.sum(axis=1) + (unknown if stays else 0),
                sensitive={SENSITIVE: values},
                labels=by_label if labels is None or not stays else by_label + labels,
                joint={SENSITIVE: both},
            )

        return part(removed, taken, stays=False), part(counts - removed, joint - taken, stays=True)

    def test_lower(self, cost: Cost) -> None:
        """Whatever a more general recoding suppresses, a total that is no sum keeps to its bound."""
        if cost.additive:
            return
        for seed, (resolved, _, fine, coarse, _) in enumerate(self.cases(cost)):
            for share in (0.0, 0.3, 0.9, 1.0):
                ok = np.random.default_rng(seed).random(len(coarse)) >= share
                lower = resolved.lower(fine, int(coarse.sizes[~ok].sum()))
                assert lower <= resolved.total(coarse, ok) * (1 + SLACK), "the bound exceeds a total"

    def test_separable(self, cost: Cost) -> None:
        """The row-by-row form, if there is one, gives the same numbers, at least if nothing is suppressed."""
        for resolved, table, fine, coarse, _ in self.cases(cost):
            form = resolved.separable(table)
            if form is None:
                continue
            for classes in (fine, coarse):
                published, suppressed = 0.0, 0.0
                for i, (attribute, codes) in enumerate(zip(table.attributes, table.codes, strict=True)):
                    level = int(required(classes.block_levels)[0, i])
                    rate = form.rate[i][level][attribute.ancestors[level][codes]]
                    row = rate * form.moment[i][codes] + form.offset[i][codes]
                    published += float((table.weights * row).sum())
                    suppressed += float((table.weights * form.penalty[i][codes]).sum())
                if not resolved.additive:
                    total = resolved.total(classes, np.ones(len(classes), dtype=np.bool_))
                    assert np.isclose(published, total, rtol=SLACK, atol=SLACK)
                    continue
                assert np.isclose(published, resolved.published(classes).sum(), rtol=SLACK, atol=SLACK)
                assert np.isclose(suppressed, resolved.suppressed(classes).sum(), rtol=SLACK, atol=SLACK)
