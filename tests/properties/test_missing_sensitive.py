"""Missing sensitive values are unknown: every solver, suppression kind and the audit against plain definitions."""

from __future__ import annotations

import itertools
import math
import random

import polars as pl
import pytest

import discreet as dc
import naive
from depth import cases, enough
from unknown_values import AGES, KINDS, MODELS, QUASI, SEXES, TREE, counts_in_order, frame, kept, people, promises


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
    for seed in range(cases(400)):
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
    assert tried > enough(150)


def test_hidden_values_stay_ambiguous_beside_missing_ones() -> None:
    """A missing value is in no share, and is no value that a hidden one can be."""
    tried = more = 0
    kind = "violating-values(hide=ambiguous)"
    for seed in range(150):
        rows, _, k, _, _ = draw(seed)
        text = [name for name in MODELS if name.startswith("l+")][seed % 2]
        if not naive.known(counts_in_order(rows)):
            continue
        table = naive.Table(rows, {"age": AGES, "sex": SEXES}, frozenset({"age"}))
        models = promises(text, k, rows)
        best = naive.search_cuts(table, models, kind, len(rows), "LM", "s", "subtree")
        release = solved(rows, text, k, kind, "subtree", "LM")
        assert same_cost(best.cost, release), (seed, text, k)
        less = naive.search_cuts(table, models, "violating-values", len(rows), "LM", "s", "subtree")
        tried, more = tried + 1, more + (best.cost is not None and best.cost > less.cost)
    assert tried > 80
    assert more > 5


def test_local_releases_keep_the_promises() -> None:
    """Groups of local recoding are counted by the same definition; infeasible is only said where it is so."""
    made = 0
    for seed in range(cases(400)):
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
    assert made > enough(100)


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
    for seed in range(cases(600)):
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
    for seed in range(cases(120)):
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
