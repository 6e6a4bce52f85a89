"""Missing sensitive values are unknown: every solver, suppression kind and the audit against plain definitions."""

from __future__ import annotations

import itertools
import math
import random

import polars as pl
import pytest

import discreet as dc
import naive

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
    """How often each value occurs, in order, and None."""
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


def solved(rows: list[dict], text: str, k: int, kind: str, scheme: str, cost: str, **options) -> dc.Release | None:
    """The release, None if there is none; what does not go together is skipped by the caller."""
    sensitive = {"s": dc.Hierarchy.from_rows(TREE)} if "hierarchical" in text else ["s"]
    try:
        return dc.anonymize(
            frame(rows),
            quasi_identifiers=QUASI if scheme != "local" else ["age", "sex"],
            sensitive=sensitive,
            class_attribute="y",
            privacy=[f"k({k})", text],
            suppression=kind,
            scheme=scheme,
            cost=cost,
            seed=1,
            **options,
        )
    except dc.InfeasibleError:
        return None


def same_cost(found: float | None, release: dc.Release | None) -> bool:
    if found is None or release is None:
        return found is None and release is None
    return math.isclose(found, release.cost, rel_tol=1e-9, abs_tol=1e-9)


def draw(seed: int) -> tuple:
    rng = random.Random(seed)
    return (
        people(rng),
        rng.choice(list(MODELS)),
        rng.randint(1, 3),
        rng.choice(KINDS),
        rng.choice(["LM", "DM", "CM"]),
    )


@pytest.mark.parametrize("scheme", ["full-domain", "subtree", "ordered", "set"])
def test_the_best_release_is_that_of_the_definitions(scheme: str) -> None:
    """Among all recodings of hundreds of small tables nothing is cheaper, and infeasible means that there is none."""
    tried = 0
    for seed in range(400):
        rows, text, k, kind, cost = draw(seed)
        models = promises(text, k, rows)
        table = naive.Table(rows, {"age": AGES, "sex": SEXES}, frozenset({"age"}))
        limit = naive.budget(0.3, len(rows)) if kind.startswith("budget") else len(rows) * kind.endswith("records")
        if kind.endswith("values") and not naive.known(counts_in_order(rows)):
            continue
        try:
            release = solved(rows, text, k, kind, scheme, cost)
        except dc.UsageError:
            continue
        best = naive.search_cuts(table, models, kind.split("(")[0], limit, cost, "s", scheme)
        if release is None and kind.endswith("records"):  # a table without rows is no release
            everything = naive.COSTS[cost](table, (0, 0), [], list(range(len(rows))))
            assert math.isclose(best.cost, everything)
            continue
        assert same_cost(best.cost, release), (seed, text, k, kind, cost, best.cost, release and release.cost)
        tried += 1
    assert tried > 150


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


def test_local_releases_keep_the_promises() -> None:
    """Groups of local recoding are counted by the same definition; infeasible is only said where it is so."""
    made = 0
    for seed in range(400):
        rows, text, k, kind, _ = draw(seed)
        if kind not in ("none", "budget(0.3)", "class-records"):
            continue
        try:
            release = solved(rows, text, k, kind, "local", "NCP")
        except dc.NothingFoundError:
            continue
        limit = naive.budget(0.3, len(rows)) if kind.startswith("budget") else len(rows) * kind.endswith("records")
        if release is None:
            assert not any_grouping(rows, promises(text, k, rows), limit), (seed, text, k, kind)
            continue
        made += 1
        assert release.suppressed <= limit
        assert kept(release.frame, ["age", "sex"], text, k, rows, hidden=False), (seed, text, k, kind)
    assert made > 100


def any_grouping(rows: list[dict], models: list[naive.Model], limit: int) -> bool:
    """Whether rows can be put into groups that keep the models, but for so many."""
    for size in range(min(limit, len(rows) - 1) + 1):
        for gone in itertools.combinations(range(len(rows)), size):
            stay = [row for row in range(len(rows)) if row not in gone]
            for partition in naive.set_partitions(stay):
                if all(naive.all_ok(models, counts_in_order([rows[row] for row in group])) for group in partition):
                    return True
    return False


def test_the_audit_counts_as_the_definitions() -> None:
    """Of raw tables, with and without hidden values, and with a missing value as one more value."""
    for seed in range(600):
        rows, text, k, _, _ = draw(seed)
        if not naive.known(counts_in_order(rows)):
            continue
        tree = {"s": dc.Hierarchy.from_rows(TREE)} if "hierarchical" in text else ["s"]
        verdict = dc.audit(frame(rows), quasi_identifiers=["sex"], sensitive=tree, privacy=[f"k({k})", text])
        assert verdict.passed == kept(frame(rows), ["sex"], text, k, rows, hidden=False), (seed, text, k)
        if "hierarchical" in text or "ordered" in text:
            continue
        filled = [{**row, "s": row["s"] or "zz"} for row in rows]
        as_value = dc.audit(
            frame(rows),
            quasi_identifiers=["sex"],
            sensitive=["s"],
            privacy=[f"k({k})", text],
            missing_sensitive="value",
        )
        spelled = dc.audit(frame(filled), quasi_identifiers=["sex"], sensitive=["s"], privacy=[f"k({k})", text])
        assert as_value.passed == spelled.passed


def test_value_is_as_if_it_had_a_name() -> None:
    """With missing_sensitive="value" the release is that of a table in which the missing value has a name."""
    for seed in range(120):
        rows, text, k, kind, cost = draw(seed)
        if "hierarchical" in text or "ordered" in text:
            continue
        filled = [{**row, "s": row["s"] or "zz"} for row in rows]
        try:
            named = solved(filled, text, k, kind, "full-domain", cost)
            release = solved(rows, text, k, kind, "full-domain", cost, missing_sensitive="value")
        except dc.UsageError:
            continue
        assert (named is None) == (release is None)
        if named is not None:
            assert release.cost == named.cost, (seed, text)


def test_two_missing_and_one_known_value_are_not_two() -> None:
    """Three people, of whom one has flu and the others are not known to have anything: one value."""
    table = pl.DataFrame({"q": ["a"] * 3, "s": ["flu", None, None]})
    asked = {"quasi_identifiers": ["q"], "sensitive": ["s"], "privacy": ["k(3)", "distinct-l(2)"]}
    assert not dc.audit(table, **asked).passed
    assert dc.audit(table, **asked, missing_sensitive="value").passed
    with pytest.raises(dc.InfeasibleError):
        dc.anonymize(table, **asked)
    assert dc.anonymize(table, **asked, missing_sensitive="value").audit.passed


def test_not_a_number_is_missing() -> None:
    table = pl.DataFrame({"q": ["a"] * 4, "s": [1.0, float("nan"), None, 1.0]})
    asked = {"quasi_identifiers": ["q"], "sensitive": ["s"]}
    assert not dc.audit(table, **asked, privacy="distinct-l(2)").passed
    with pytest.raises(dc.InfeasibleError):
        dc.anonymize(table, **asked, privacy="distinct-l(2)")
    assert dc.audit(table, **asked, privacy="k(4)").passed


def test_a_column_without_any_known_value() -> None:
    table = pl.DataFrame({"q": ["a", "a", "b", "b"], "s": pl.Series([None] * 4, dtype=pl.String)})
    asked = {"quasi_identifiers": ["q"], "sensitive": ["s"]}
    assert dc.anonymize(table, **asked, privacy=["k(2)", "t(0.1)", "l+(0.2)"]).audit.passed
    with pytest.raises(dc.InfeasibleError):
        dc.anonymize(table, **asked, privacy="distinct-l(1)")


def test_several_columns_are_missing_where_all_are() -> None:
    """With one of them known a combination tells something, and counts."""
    table = pl.DataFrame({"q": ["a"] * 4, "s": ["flu", None, None, "flu"], "t": [None, None, None, "I"]})
    asked = {"quasi_identifiers": ["q"], "sensitive": ["s+t"]}
    assert dc.audit(table, **asked, privacy="distinct-l(2)").passed
    assert not dc.audit(table, **asked, privacy="distinct-l(3)").passed
    assert dc.audit(table, **asked, privacy="distinct-l(3)", missing_sensitive="value").passed
    with pytest.raises(dc.InfeasibleError):
        dc.anonymize(table, **asked, privacy="distinct-l(3)")


def test_what_it_may_be_is_said() -> None:
    with pytest.raises(dc.UsageError, match="missing_sensitive is one of unknown, value"):
        dc.audit(pl.DataFrame({"q": ["a"]}), quasi_identifiers=["q"], privacy="k(1)", missing_sensitive="other")
