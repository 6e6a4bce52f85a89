"""Names of nodes and blocks when only some leaves may be named."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import discreet as dc
from discreet.schema import Domain, Naming, make_domain
from discreet.schema._blocks import block_names


def flags(domain: Domain, *hidden: str) -> np.ndarray:
    return np.array([label not in hidden for label in domain.labels[0]])


def test_cut_points_become_ends_of_released_values() -> None:
    numbers = pl.Series([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 5_000, 90_000])
    domain = make_domain("x", numbers)
    assert domain.naming is Naming.BY_VALUES
    named = domain.named_by(flags(domain, "90000", "10"))
    for level in range(1, domain.height):
        shown = {
            name
            for name, there in zip(named.released(level), named.released_leaves[domain.codes], strict=True)
            if there
        }
        ends = {end for name in shown for end in name.strip("[]").split(", ")}
        assert ends <= {"1", "2", "3", "4", "5", "6", "7", "8", "9", "5000"}
        assert len(shown) == len({domain.ancestors[level, leaf] for leaf in np.flatnonzero(named.released_leaves)})


@pytest.mark.parametrize(
    ("values", "hierarchy", "naming"),
    [
        (list(range(17, 91)), None, Naming.FIXED),
        ([f"2024-{month:02}-01" for month in range(1, 13)], None, Naming.FIXED),
        ([f"{n:05}" for n in range(100, 140)], None, Naming.PADDED_END),
        ([f"{n:05}" for n in range(100, 140)], "mask(from_right=false)", Naming.PADDED_START),
        ([f"{n:05}" for n in range(100, 140)], "mask(keep_length=false)", Naming.FIXED),
        ([f"Ober-{letter}x" for letter in "abcdefghij"] + ["Bad-xy", "Bad-xz"], None, Naming.BY_VALUES),
        (["low", "high"], "ordered([low, high])", Naming.FIXED),
        (list(range(17, 91)), "intervals(5, 10)", Naming.FIXED),
    ],
)
def test_what_names_come_from(values: list[object], hierarchy: str | None, naming: Naming) -> None:
    assert make_domain("x", pl.Series(values), hierarchy).naming is naming


def test_a_shared_word_needs_two_released_values() -> None:
    domain = make_domain("x", pl.Series([f"Ober-{c}x" for c in "abcde"] + [f"Bad-{c}x" for c in "abcde"]))
    whole = domain.named_by(flags(domain))
    assert set(whole.released(1)) == {"Ober-*", "Bad-*"}
    named = domain.named_by(flags(domain, *(f"Bad-{c}x" for c in "bcde")))
    shown = dict(zip(domain.values, named.released(1), strict=True))
    assert (shown["Ober-ax"], shown["Bad-ax"]) == ("Ober-*", "Bad-ax")


def test_rare_values_are_listed_or_counted_among_released_ones() -> None:
    words = [one + two + "q" for one in "abcdefghij" for two in "klmnoprstuvw"]
    domain = make_domain("x", pl.Series(words), rows=[200 - n for n in range(120)])
    assert domain.naming is Naming.BY_VALUES
    name = domain.named_by(flags(domain, words[-1])).released(1).to_list()[-2]
    assert name == f"{', '.join(words[46:49])} and 70 more"
    few = domain.named_by(flags(domain, *words[48:]))
    assert f"{{{words[46]}, {words[47]}}}" in few.released(1).to_list()


def test_leaves_that_are_not_there_decide_nothing() -> None:
    labels = [["1", "2", "3", "4"], ["*"]]
    ancestors = np.array([[0, 1, 2, 3], [0, 0, 0, 0]])
    there = np.array([True, False, True, True])
    names = block_names(labels, ancestors, np.array([0, 1, 0, 2]), ranges=True, released=there)
    assert names == ["[1, 3]", "2", "4"]  # no released value lies between 1 and 3
    assert block_names(labels, ancestors, np.array([0, 1, 0, 2]), ranges=True) == ["{1, 3}", "2", "4"]


def test_blocks_that_are_not_released_have_names_of_their_own() -> None:
    labels = [["a", "b", "c"], ["b", "c"], ["*"]]
    ancestors = np.array([[0, 1, 2], [0, 0, 1], [0, 0, 0]])
    names = block_names(labels, ancestors, np.array([0, 0, 1]), released=np.array([True, True, False]))
    assert names[0] == "b"
    assert len(set(names)) == 2
    tree = dc.groups({"c": ["a", "b"], "d": ["c"]}).hierarchy
    names = block_names(tree.labels, tree.ancestors, np.array([0, 0, 1]), released=np.array([True, True, False]))
    assert names[0] == "c"  # whether a suppressed value has the same name does not show
    assert names[1] != "c"
