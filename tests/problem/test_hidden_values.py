"""What a hidden value can be, against trying every table that would be released alike."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import naive
from discreet.problem import PRIVACY, Groups
from discreet.problem.hidden_values import hiding_classes, thresholds

RULES = {
    "violating": lambda counts, thetas, values: naive.violating_values(counts, thetas),
    "ambiguous": naive.ambiguous_values,
}


def ways(h, values):
    """All counts of some values that add up to h."""
    for chosen in itertools.product(range(h + 1), repeat=len(values)):
        if sum(chosen) == h:
            yield {value: n for value, n in zip(values, chosen, strict=True) if n}


def possible(shown, h, thetas, values, rule):
    """The values that are hidden in some class that looks like this one once its values are hidden."""
    found = set()
    for secret in ways(h, [value for value in values if value not in shown]):
        gone = rule({**shown, **secret}, thetas, values)
        if gone == {**dict.fromkeys(shown, 0), **secret}:
            found |= set(secret)
    return found


def as_groups(shown, h, values):
    """One class as the evaluations and the audit see it."""
    count = np.array(list(shown.values()), dtype=np.int64)
    value = np.array([values.index(name) for name in shown], dtype=np.int64)
    size = np.array([count.sum() + h])
    return Groups(
        size, np.zeros(count.size, np.int64), value, count, np.ones(len(values), np.int64), names=values, hides=True
    )


@pytest.mark.parametrize("hide", RULES)
def test_candidates_are_what_some_table_hides(hide):
    """With one threshold for all values, whether or not further values are hidden."""
    values = ["v0", "v1", "v2", "v3"]
    compared = 0
    for theta in (0.5, 1 / 3, 0.3):
        thetas, seen = dict.fromkeys(values, theta), set()
        model = PRIVACY.make(f"l+({theta!r}, s)")
        for chosen in itertools.product(range(4), repeat=4):
            counts = {value: n for value, n in zip(values, chosen, strict=True) if n}
            gone = RULES[hide](counts, thetas, values)
            shown, h = {value: n for value, n in counts.items() if not gone[value]}, sum(gone.values())
            if not h or (tuple(shown.items()), h) in seen:
                continue
            seen.add((tuple(shown.items()), h))
            groups = as_groups(shown, h, values)
            found = hiding_classes(groups, thresholds([model], "s", groups))
            want = possible(shown, h, thetas, values, RULES[hide])
            assert found.candidates.tolist() == [len(want)], (counts, theta)
            assert found.summed_up().known == (h if len(want) == 1 else 0)
            clear = bool(shown) and len(want) * theta < 1 - 1e-9
            assert found.clear.tolist() == [clear], (counts, theta)
            assert hide == "violating" or not clear
            compared += 1
    assert compared > 60


def test_values_with_thresholds_of_their_own():
    """A value that may fill a whole class is never hidden for being too frequent."""
    values = ["a", "b", "c"]
    model = PRIVACY.make("l+({a: 0.5, b: 0.5}, s)")
    groups = as_groups({"b": 1}, 3, values)
    assert hiding_classes(groups, thresholds([model], "s", groups)).candidates.tolist() == [1]
    assert hiding_classes(groups).candidates.tolist() == [2]


def test_nothing_is_hidden():
    groups = as_groups({"a": 1}, 0, ["a", "b"])
    assert hiding_classes(groups).summed_up() is None
