"""The plain definitions themselves, on examples worked out by hand or printed in the papers."""

from __future__ import annotations

import math

import pytest

import naive

AGE = [(20, "20s", "*"), (25, "20s", "*"), (31, "30s", "*"), (38, "30s", "*")]
SEX = [("f", "*"), ("m", "*")]
ROWS = [
    {"age": 20, "sex": "f", "s": "flu", "y": "a"},
    {"age": 25, "sex": "f", "s": "flu", "y": "b"},
    {"age": 25, "sex": "m", "s": "hiv", "y": "b"},
    {"age": 31, "sex": "m", "s": "flu", "y": "a"},
    {"age": 31, "sex": "m", "s": "ache", "y": "a"},
    {"age": 38, "sex": "m", "s": "hiv", "y": "b"},
]
TABLE = naive.Table(ROWS, {"age": AGE, "sex": SEX}, frozenset({"age"}))


def test_classes():
    assert naive.classes(TABLE, (0, 0)) == [[0], [1], [2], [3, 4], [5]]
    assert naive.classes(TABLE, (1, 0)) == [[0, 1], [2], [3, 4, 5]]
    assert naive.classes(TABLE, (2, 1)) == [[0, 1, 2, 3, 4, 5]]


def test_costs_of_one_recoding():
    published, suppressed = naive.recode(TABLE, (1, 0), lambda rows: len(rows) >= 2)
    assert (published, suppressed) == ([[0, 1], [3, 4, 5]], [2])

    def cost(name, **options):
        return naive.COSTS[name](TABLE, (1, 0), published, suppressed, **options)

    assert cost("DM") == 4 + 9 + 6
    assert cost("LM") == pytest.approx(5 / 3 + 2)
    assert cost("LM", penalty="l+", weights={"age": 3}) == pytest.approx(5 * 3 / 3 + 8)
    assert cost("CM") == 1 + 1 + 1
    assert cost("NCP") == pytest.approx((2 * 5 + 3 * 7) / 18 + 2)
    assert cost("C_AVG", k=2) == pytest.approx(5 / 2 / 2)
    assert cost("precision") == pytest.approx(5 * (1 / 2) / 2 + 1)
    assert cost("ambiguity") == 5 * 2 + 8
    # 20 alone of three in their twenties, 25 twice; 31 twice of three in their thirties, 38 alone; six rows in all
    assert cost("HDM") == pytest.approx((2 / 5 + 1 / 4 + 1 / 4 + 1 / 4 + 2 / 5) / 2 + 1)
    bits = math.log2(3) + 3 * math.log2(3 / 2) + math.log2(3)
    assert cost("entropy") == pytest.approx(bits + math.log2(6 / 2) + math.log2(6 / 4))


def test_search_tries_everything():
    def ok(rows):
        return len(rows) >= 2

    found = naive.search(TABLE, ok, "LM", 1)
    assert found.levels == [(1, 0)]
    assert found.cost == pytest.approx(5 / 3 + 2)
    none = naive.search(TABLE, lambda rows: len(rows) > 6, "DM", 5)
    assert none == naive.Search(False, None, [], 6)


def test_k_of_a_node():
    assert naive.k_of_node(TABLE, (0, 0), 0) == (1, [])
    assert naive.k_of_node(TABLE, (0, 0), 3) == (1, [])  # the four classes of size 1 go together or stay
    assert naive.k_of_node(TABLE, (0, 0), 4) == (2, [0, 1, 2, 5])
    assert naive.k_of_node(TABLE, (1, 0), 1) == (2, [2])
    assert naive.k_of_node(TABLE, (1, 0), 6) == (None, [0, 1, 2, 3, 4, 5])


def test_earth_mover_examples_of_the_t_closeness_paper():
    """Nine salaries 3k to 11k: {3k, 4k, 5k} is 0.375 away in order and {6k, 8k, 11k} is 0.167."""
    whole = dict.fromkeys(range(3, 12), 1)
    assert naive.emd({3: 1, 4: 1, 5: 1}, whole, "ordered") == pytest.approx(0.375)
    assert naive.emd({6: 1, 8: 1, 11: 1}, whole, "ordered") == pytest.approx(1 / 6)


def test_hierarchical_distance_of_two_values():
    """All the mass moves from one leaf to another: the level of their common ancestor over the height."""
    tree = [("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*")]
    for other, distance in (("b", 1 / 2), ("c", 1)):
        whole = {"a": 0, "b": 0, "c": 0, other: 1}
        assert naive.emd({"a": 1}, whole, "hierarchical", tree) == pytest.approx(distance)


def test_example_4_of_the_l_plus_paper():
    counts = {"Asthma": 3, "Cancer": 2, "Flu": 1}
    thetas = dict.fromkeys(counts, 1 / 3)
    assert naive.lemma_3(counts, thetas) == {"Asthma": 2, "Cancer": 1, "Flu": 0}
    parts = naive.largest_ok_parts(counts, lambda part: naive.l_plus(part, thetas))
    assert parts == [{"Asthma": 1, "Cancer": 1, "Flu": 1}]


def test_the_counterexample_to_lemma_2_of_the_l_plus_paper():
    """Ten rows in one class, one value six times, a threshold of one half: DM is 84 though the class alone is 100."""
    counts = {"x": 6, "a": 1, "b": 1, "c": 1, "d": 1}
    gone = sum(naive.lemma_3(counts, dict.fromkeys(counts, 1 / 2)).values())
    assert (10 - gone) ** 2 + gone * 10 == 84


def test_thresholds_by_frequency():
    assert naive.thetas({"a": 1, "b": 1, "c": 4}, 0.2, "frequency") == pytest.approx({"a": 0.2, "b": 0.2, "c": 0.4})
    assert naive.thetas({"a": 1, "b": 9}, 0.9, "frequency") == pytest.approx({"a": 0.9, "b": 1})
