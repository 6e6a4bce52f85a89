"""Small tables with missing sensitive values, and every model about sensitive values in plain Python."""

from __future__ import annotations

import math
import random

import polars as pl

import discreet as dc
import naive

__all__ = [
    "AGES",
    "KINDS",
    "MODELS",
    "QUASI",
    "SEXES",
    "TREE",
    "VALUES",
    "counts_in_order",
    "frame",
    "kept",
    "people",
    "promises",
]

AGES = [(20, "20s", "*"), (25, "20s", "*"), (31, "30s", "*"), (38, "30s", "*")]
SEXES = [("f", "*"), ("m", "*")]
VALUES = ["ache", "flu", "hiv"]
QUASI = {"age": dc.Hierarchy.from_rows(AGES), "sex": dc.Hierarchy.from_rows(SEXES)}
TREE = [("ache", "mild", "*"), ("flu", "mild", "*"), ("hiv", "bad", "*")]

MODELS = {
    "distinct-l(2, s)": lambda whole: lambda counts: naive.distinct_l(counts, 2),
    "entropy-l(1.6, s)": lambda whole: lambda counts: naive.entropy_l(counts, 1.6),
    "recursive-cl(2, 2, s)": lambda whole: lambda counts: naive.recursive_cl(counts, 2, 2),
    "l+(0.5, s)": lambda whole: lambda counts: naive.l_plus(counts, naive.thetas(naive.known(whole), 0.5)),
    "l+(0.4, s, by=frequency)": lambda whole: (
        lambda counts: naive.l_plus(counts, naive.thetas(naive.known(whole), 0.4, "frequency"))
    ),
    "alpha-k(0.6, 2, s)": lambda whole: lambda counts: naive.alpha_k(counts, 0.6, 2),
    "beta(1, s)": lambda whole: lambda counts: naive.beta_like(counts, whole, 1),
    "beta(2, s, enhanced)": lambda whole: lambda counts: naive.beta_like(counts, whole, 2, enhanced=True),
    "delta-disclosure(0.9, s)": lambda whole: lambda counts: naive.delta_disclosure(counts, whole, 0.9),
    "t(0.3, s)": lambda whole: lambda counts: naive.t_close(counts, whole, 0.3),
    "t(0.3, s, ordered)": lambda whole: lambda counts: naive.t_close(counts, whole, 0.3, "ordered"),
    "t(0.3, s, hierarchical)": lambda whole: lambda counts: naive.t_close(counts, whole, 0.3, "hierarchical", TREE),
}
KINDS = ["none", "budget(0.3)", "class-records", "violating-records", "class-values", "violating-values"]


def people(rng: random.Random, most: int = 9) -> list[dict]:
    n = rng.randint(2, most)
    share = rng.choice([0.2, 0.5, 0.8])
    return [
        {
            "age": rng.choice(AGES)[0],
            "sex": rng.choice(SEXES)[0],
            "s": None if rng.random() < share else rng.choice(VALUES),
            "y": rng.choice("ab"),
        }
        for _ in range(n)
    ]


def frame(rows: list[dict]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"age": pl.Int64, "sex": pl.String, "s": pl.String, "y": pl.String})


def counts_in_order(rows: list[dict]) -> dict:
    """Counts of each value, in order, and of None."""
    found = [row["s"] for row in rows]
    return {value: found.count(value) for value in [*VALUES, None] if value in found}


def promises(text: str, k: int, rows: list[dict]) -> list[naive.Model]:
    whole = counts_in_order(rows)
    thetas = None
    if text.startswith("l+"):
        by = "frequency" if "frequency" in text else None
        thetas = naive.thetas(naive.known(whole), 0.4 if by else 0.5, by)
    if text.startswith("beta(1"):
        n = sum(naive.known(whole).values())
        thetas = {value: min(1, 2 * count / n) for value, count in naive.known(whole).items()}
    if text.startswith("beta(2"):
        shares = {value: count / sum(naive.known(whole).values()) for value, count in naive.known(whole).items()}
        thetas = {value: min(1, p * (1 + min(2, -math.log(p)))) for value, p in shares.items()}
    return [
        naive.Model(lambda counts: naive.k_anonymous(counts, k), False),
        naive.Model(MODELS[text](whole), True, thetas),
    ]


def kept(released: pl.DataFrame, quasi: list[str], text: str, k: int, rows: list[dict], hidden: bool) -> bool:
    """Whether every class of a release keeps both promises, counted in plain Python."""
    of_class, of_values = promises(text, k, rows)
    for members in released.partition_by(quasi):
        counts = {value: members["s"].to_list().count(value) for value in members["s"].unique().to_list()}
        if not of_class.ok(counts):
            return False
        shown = {value: n for value, n in counts.items() if value != "*"}
        if hidden and not naive.known(shown):
            continue
        if hidden and "*" in counts:
            size = sum(n for value, n in counts.items() if value is not None)
            if of_values.thetas is None or any(
                n / size > of_values.thetas[v] + 1e-9 for v, n in naive.known(shown).items()
            ):
                return False
            continue
        if not of_values.ok(counts):
            return False
    return True
