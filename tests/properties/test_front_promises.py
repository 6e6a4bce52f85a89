"""Fronts whose points keep promises beside their axes, against evaluating every node in plain Python."""

from __future__ import annotations

import math
import random

import polars as pl
import pytest

import discreet as dc
import naive
from depth import cases, enough
from discreet.problem.axes import axes_and_promises
from unknown_values import AGES, MODELS, QUASI, SEXES, VALUES, counts_in_order, frame, kept, people

AXES = {
    ("k",): [len],
    ("k", "distinct-l(s)"): [len, lambda counts: len(naive.known(counts))],
    ("distinct-l(s)",): [lambda counts: len(naive.known(counts))],
    ("entropy-l(s)",): [lambda counts: round(math.exp(naive.entropy(counts)), 9)],
    ("theta(s)", "k"): [
        lambda counts: -max(naive.known(counts).values(), default=0) / max(sum(naive.known(counts).values()), 1),
        len,
    ],
}
PROMISES = {text: made for text, made in MODELS.items() if "hierarchical" not in text}
BUDGETS = ["none", "budget(1)", "budget(0.3)", "budget(0.6)"]


def naive_front(rows: list[dict], axes: tuple[str, ...], promised: list, limit: int, cost: str) -> list[naive.Point]:
    table = naive.Table(rows, {"age": AGES, "sex": SEXES}, frozenset({"age"}))

    def value(axis):
        return lambda members: axis(members if axis is len else counts_in_order([rows[row] for row in members]))

    def ok(members):
        counts = counts_in_order([rows[row] for row in members])
        return all(model(counts) for model in promised)

    each = [value(axis) for axis in AXES[axes]]
    measures = [lambda published, one=one: min(map(one, published)) for one in each]
    return naive.front(table, limit, cost, each[0], measures, None, ok)


def drawn(seed: int) -> tuple:
    rng = random.Random(seed)
    rows = people(rng, 12)
    texts = rng.sample(list(PROMISES), rng.randint(1, 2))
    k = rng.randint(1, 3)
    whole = counts_in_order(rows)
    promised = [PROMISES[text](whole) for text in texts]
    if k > 1:
        texts = [*texts, f"k({k})"]
        promised.append(lambda counts: naive.k_anonymous(counts, k))
    return rows, rng.choice(list(AXES)), texts, promised, rng.choice(BUDGETS), rng.choice(["LM", "DM", "CM"]), k


def limit_of(kind: str, n: int) -> int:
    return {"none": 0, "budget(1)": 1}.get(kind, naive.budget(float(kind[7:-1] if "." in kind else 0), n))


def found(rows: list[dict], axes: tuple[str, ...], texts: list[str], kind: str, cost: str, **options) -> dc.Front:
    return dc.pareto(
        frame(rows),
        quasi_identifiers=QUASI,
        sensitive=["s"],
        class_attribute="y",
        privacy=[*axes, *texts],
        suppression=kind,
        cost=cost,
        **options,
    )


def test_points_are_those_of_the_definitions() -> None:
    """Hundreds of fronts, every node of which is evaluated; and every release keeps every promise."""
    empty = points = 0
    for seed in range(cases(300)):
        rows, axes, texts, promised, kind, cost, _ = drawn(seed)
        want = naive_front(rows, axes, promised, limit_of(kind, len(rows)), cost)
        try:
            front = found(rows, axes, texts, kind, cost)
        except dc.InfeasibleError:
            assert not want, (seed, axes, texts, kind)
            empty += 1
            continue
        assert front.complete
        assert all(point.proven for point in front)
        reached = [(*(round(value, 6) for value in point.reached), round(point.loss, 6)) for point in front]
        expected = [(*(round(value, 6) for value in point.values), round(point.loss, 6)) for point in want[::-1]]
        assert reached == expected, (seed, axes, texts, kind, cost)
        points += len(want)
    assert empty > enough(10)
    assert points > enough(300)


def test_releases_of_points_keep_every_promise() -> None:
    made = 0
    for seed in range(cases(60)):
        rows, axes, texts, _, kind, cost, k = drawn(seed)
        try:
            front = found(rows, axes, texts, kind, cost)
        except dc.InfeasibleError:
            continue
        for point in front:
            release = front.release(point=point)
            assert release.audit.passed
            assert set(texts) <= set(release.job["privacy"])
            for text in texts:
                if not text.startswith("k("):
                    assert kept(release.frame, ["age", "sex"], text, k, rows, hidden=False), (seed, text)
            made += 1
    assert made > enough(60)


@pytest.mark.parametrize("scheme", ["subtree", "ordered", "set"])
def test_other_schemes_keep_promises_too(scheme: str) -> None:
    """Each point is the cheapest recoding with its k and the promises; nothing with more k is cheaper."""
    tried = 0
    for seed in range(cases(40)):
        rows, _, texts, promised, kind, _, _ = drawn(seed)
        table = naive.Table(rows, {"age": AGES, "sex": SEXES}, frozenset({"age"}))
        limit = limit_of(kind, len(rows))

        def best(k: int, promised=promised, table=table, limit=limit) -> float | None:
            models = [naive.Model(model, True) for model in promised]
            models.append(naive.Model(lambda counts: naive.k_anonymous(counts, k), False))
            return naive.search_cuts(table, models, "budget", limit, "LM", "s", scheme).cost

        try:
            front = found(rows, ("k",), texts, kind, "LM", scheme=scheme)
        except dc.InfeasibleError:
            assert best(1) is None or limit >= len(rows) - 1, (seed, texts)
            continue
        for point in front:
            assert math.isclose(best(point.k), point.loss, abs_tol=1e-9), (seed, texts, kind, point)
            release = front.release(point=point)
            assert set(texts) <= set(release.job["privacy"])
            assert release.audit.passed
        tried += 1
    assert tried > enough(10)


def test_axes_and_promises_are_told_apart() -> None:
    def split(*given):
        axes, promises = axes_and_promises(given)
        return [axis.text for axis in axes], [model.text for model in promises]

    assert split("k", "distinct-l(3, disease)") == (["k"], ["distinct-l(3, disease)"])
    assert split("k(5)") == (["k"], ["k(5)"])
    assert split("distinct-l(disease)", "k(5)") == (["distinct-l(disease)"], ["k(5)"])
    assert split("t(disease, ordered)", "t(0.2, disease, ordered)") == (
        ["t(disease, ordered)"],
        ["t(0.2, disease, ordered)"],
    )
    assert split("l(3)") == (["k"], ["distinct-l(3)"])
    assert split("distinct-l('3')") == (["distinct-l('3')"], [])
    assert split("l+(disease)", "l+({flu: 0.5}, disease)") == (["theta(disease)"], ["l+({flu: 0.5}, disease)"])
    assert split("average-risk", "recursive-cl(4, 3)") == (["average-risk"], ["recursive-cl(4, 3)"])
    assert split("distinct-l(l=3)") == (["k"], ["distinct-l(3)"])
    assert split("distinct-l(column=disease)") == (["distinct-l(disease)"], [])
    assert split(dc.KAnonymity(4)) == (["k"], ["k(4)"])
    with pytest.raises(dc.UsageError):
        split("nothing")


def test_poka_knows_no_promises() -> None:
    rows = people(random.Random(1), 12)
    with pytest.raises(dc.UnsupportedCombinationError, match="poka"):
        found(rows, ("k",), ["k(2)"], "none", "LM", method="poka")


def test_a_front_says_what_every_point_keeps() -> None:
    table = pl.DataFrame({"age": [20, 20, 25, 25, 31, 31, 38, 38], "sex": ["f"] * 8, "s": VALUES[:2] * 4})
    front = dc.pareto(table, quasi_identifiers=QUASI, sensitive=["s"], privacy=["distinct-l(2, s)"])
    assert front.axes == ("k",)
    assert front.promises == ("distinct-l(2, s)",)
    assert front.to_dict()["promises"] == ["distinct-l(2, s)"]
    assert "Every point keeps distinct-l(2, s)." in front.summary()
    with pytest.raises(dc.InfeasibleError, match="No recoding keeps entropy-l"):
        dc.pareto(
            table.with_columns(s=pl.Series(["flu"] * 7 + ["hiv"])),
            quasi_identifiers=QUASI,
            sensitive=["s"],
            privacy=["k", "entropy-l(1.9)", "distinct-l(2)"],
        )
