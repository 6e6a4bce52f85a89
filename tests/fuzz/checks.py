"""The checks of each case: the auditor finds nothing, the oracle nothing better, and the result is invariant.

``check`` returns how a case ended, or raises ``Broken`` with a sentence that begins with the name of the check.
"""

from __future__ import annotations

import hashlib
import math
import os
import random
import re
from collections import Counter
from dataclasses import replace

import polars as pl

import discreet as dc
from discreet.errors import AuditError, UnsupportedCombinationError, UsageError
from discreet.problem.schemes import SCHEMES
from discreet.vocabulary import families
from fuzz import auditor, oracle
from fuzz.auditor import same
from fuzz.jobs import Case, cells, table_of
from fuzz.optimum import check_best, check_cost, check_global, check_infeasible, check_local, check_matches
from fuzz.outcome import NEAR, Broken, Ran, digest, expect, near, run
from fuzz.taken import refusal

__all__ = ["check"]

WRITTEN = ("csv", "parquet", "jsonl", "csv by duckdb")
"""Kinds of data whose release is written to a file."""

KINDS = {family.kind: name for name, family in families().items()}
"""The families of the matrix by their names in messages."""


def check(case: Case, *, deep: bool = False) -> str:
    """Run the job and all checks; ``deep`` also repeats it in ways that must not change the result."""
    ran = run(case)
    if isinstance(ran.error, AuditError):  # nothing was released, but the search thought that it could be
        raise Broken("audit failed", str(ran.error))
    if any(part.name == "dp" for part in case.privacy):  # what follows compares with all rows
        check_combination(case, ran)
        if ran.release is not None:
            check_drawn(case, ran)
        return "no combination" if isinstance(ran.error, UnsupportedCombinationError) else ran.ended
    meanings = {name: meaning(case, name) for name in case.quasi}
    made = oracle.plain(case, meanings)
    check_combination(case, ran)
    if ran.release is None:
        if ran.ended == "infeasible" and case.owners is None:
            check_infeasible(case, made)
        return "no combination" if isinstance(ran.error, UnsupportedCombinationError) else ran.ended
    check_promises(case, ran)
    check_numbers(case, ran)
    if case.owners is not None:  # optima are compared in tests/properties/test_people.py
        made = None
    if not case.is_local:
        check_global(case, ran, meanings)
    elif case.counts_matches:
        check_matches(case, ran)
    elif made is not None:
        check_local(case, ran, made)
    if made is not None:
        check_cost(case, ran, made)
        check_best(case, ran, made)
    if deep and not ran.slow:
        check_what_does_not_matter(case, ran)
        check_audit(case)
    return ran.ended


def check_drawn(case: Case, ran: Ran) -> None:
    """Only drawn rows are released, and all of them except those that are said to be suppressed."""
    release, table = ran.release, table_of(case).to_dicts()
    share = min(1 - math.exp(-part.arguments["epsilon"]) for part in case.privacy if part.name == "dp")
    stream = hashlib.shake_256(f"discreet sampling {release.job['seed']}".encode()).digest(8 * len(table))
    numbers = [int.from_bytes(stream[8 * i : 8 * i + 8], "little") / 2**64 for i in range(len(table))]
    drawn = {int(row["rid"]) for row, number in zip(table, numbers, strict=True) if number < share}
    released = {int(row["rid"]) for row in ran.rows}
    expect(release.audit.passed, "numbers", "the audit did not pass")
    expect(released <= drawn, "drawn", "a row was released that was not drawn")
    gone = release.suppressed + release.dropped_missing
    expect(len(released) == len(drawn) - gone, "drawn", f"{len(drawn)} drawn, {gone} gone, {len(released)} released")


def check_combination(case: Case, ran: Ran) -> None:
    """A job is refused as a combination if and only if its parts are on any table; parts that fit are not blamed."""
    expected = refusal(case)
    if isinstance(ran.error, UnsupportedCombinationError):
        if any("limit" in part for part in ran.error.parts):
            return  # whether a scheme has blocks between two levels depends on the hierarchy
        expect(expected is not None, "refused", f"the same parts go together elsewhere: {ran.error}")
        pair = blamed(ran.error)
        fits = pair is not None and pair.works and not (pair.unusual or pair.other_forms)
        expect(not fits, "blamed", f"the matrix has it: {ran.error}")
    elif ran.release is not None:
        refused = isinstance(expected, UnsupportedCombinationError)
        expect(not refused, "taken", f"the same parts are refused elsewhere: {expected}")


def blamed(error: UnsupportedCombinationError):
    """The pair of the matrix that an error names; None if it names something else, or a third part."""
    named = [re.fullmatch(rf"[Tt]he ({'|'.join(KINDS)}) ([\w+-]+)", part) for part in error.parts]
    if not all(named):
        return None
    names = {(KINDS[match[1]], match[2]) for match in named}
    pairs = (each for each in cells() if {(each.first_family, each.first), (each.second_family, each.second)} == names)
    return next(pairs, None)


def meaning(case: Case, name: str):
    """The rows of a hierarchy for ``naive``; None if discreet made it automatically."""
    column = case.quasi[name]
    if case.options.get("missing") == "suppress":
        values = [row[name] for row in case.original()]
        people = case.people()
        others = None if people is None else [row[name] for row in people]
        if not values:
            return None
        rows = column.rows
        if isinstance(column.given, str) and not column.given.startswith("ordered"):
            rows = rows and [row for row in rows if row[0] in {*values, *(others or ())}]
        column = replace(column, values=values, people=others, rows=rows)
    if column.given is not None:
        return column.leaves()
    counts_values = (case.cost is not None and case.cost.name == "score") or (
        case.cost is None and bool(case.options.get("priorities"))
    )
    if counts_values or SCHEMES.members()[case.schemes[name].name].uses_hierarchy:
        return None
    present = sorted({value for value in column.everything if value is not None})
    return replace(column, rows=[(value, "*") for value in present]).leaves()


def hides(case: Case) -> str | None:
    return "*" if case.suppression.name in ("class-values", "violating-values") else None


def missing(case: Case) -> str:
    return case.options.get("missing_sensitive", "unknown")


def people_like(case: Case, ran: Ran, meanings):
    """Function that counts the people who match a class; None if that is not known."""
    original = {row["rid"]: row for row in case.original()}
    if case.weights is not None:
        return lambda group: sum(original[row["rid"]]["w"] for row in group)
    people = case.people()
    if people is None or case.is_local or any(rows is None for rows in meanings.values()):
        return None
    names = {}
    for name, rows in meanings.items():
        level = ran.release.levels.get(name)
        names[name] = (
            {same(value): i for i, block in enumerate(ran.release.blocks[name]) for value in block}
            if level is None
            else {same(row[0]): row[level] if level < len(row) else "*" for row in rows}  # a root may be added
        )
    shown = Counter(tuple(names[name][same(person[name])] for name in names) for person in people)
    return lambda group: shown[tuple(names[name][same(original[group[0]["rid"]][name])] for name in names)]


def check_promises(case: Case, ran: Ran) -> None:
    original, released = case.original(), ran.rows
    meanings = {name: meaning(case, name) for name in case.quasi}
    trees = {name: oracle.tree_of(column) for name, column in case.sensitive.items() if column.rows is not None}
    models = [(part.name, part.arguments) for part in case.privacy]
    people = people_like(case, ran, meanings)
    if case.owners is not None and len({row["p"] for row in original}) < len(original):  # else people are rows
        wrong = auditor.broken_crowds(original, released, list(case.quasi), models, trees, missing(case))
    else:
        wrong = auditor.broken_promises(
            original, released, list(case.quasi), models, trees, hides(case), people, missing(case)
        )
    if wrong:
        raise Broken("promise", "; ".join(wrong))
    others = [*case.sensitive, *(["y"] if case.label is not None else []), *(["w"] if case.weights else [])]
    in_order = case.frame not in ("duckdb", "csv by duckdb")
    wrong = auditor.lies(
        original,
        released,
        list(case.quasi),
        others,
        dropped=ran.release.suppressed,
        hidden=hides(case),
        in_order=in_order,
    )
    if wrong:
        raise Broken("truth", "; ".join(wrong))


def check_numbers(case: Case, ran: Ran) -> None:
    release = ran.release
    expect(release.audit.passed, "numbers", "the audit did not pass")
    expect(
        0 <= release.lower_bound <= release.cost + NEAR * max(1, abs(release.cost)),
        "numbers",
        f"bound {release.lower_bound} and cost {release.cost}",
    )
    expect(release.status in ("optimal", "feasible"), "numbers", release.status)
    if release.status == "optimal":
        expect(release.gap == 0 and near(release.lower_bound, release.cost), "numbers", "optimal with a gap")
    groups = auditor.classes_of(ran.rows, list(case.quasi))
    expect(release.classes == len(groups), "numbers", f"{release.classes} classes are said and {len(groups)} are there")
    hidden = sum(row[name] == "*" for row in ran.rows for name in case.sensitive) if hides(case) else 0
    expect(release.suppressed_values == hidden, "numbers", f"{release.suppressed_values} values hidden, and {hidden}")
    n = len(case.original())
    expect(release.n == n, "numbers", f"n is {release.n} and not {n}")
    if case.owners is not None and check_people_left(case, ran):
        return
    limit = oracle_limit(case, n)
    expect(release.suppressed <= limit, "numbers", f"{release.suppressed} of at most {limit} rows were suppressed")


def check_people_left(case: Case, ran: Ran) -> bool:
    """People are counted as they are there; return whether the budget is one of people, which is checked."""
    release, whole = ran.release, {row["p"] for row in case.original()}
    owner = {row["rid"]: row["p"] for row in case.original()}
    left = {owner[row["rid"]] for row in ran.rows}
    said = (release.people, release.audit.people, release.suppressed_people)
    expect(said == (len(whole), len(left), len(whole - left)), "people", f"{said} are said of {len(whole)}")
    if case.suppression.name != "budget" or case.suppression.arguments.get("of") == "rows":
        return False
    limit = oracle_limit(case, len(whole))
    expect(len(whole - left) <= limit, "people", f"{len(whole - left)} of at most {limit} people were suppressed")
    lost = [row for row in case.original() if row["p"] in left]
    expect(len(lost) == len(ran.rows), "people", "somebody who stays lost a row")
    return True


def oracle_limit(case, n):
    if case.suppression.name == "budget":
        import naive

        return naive.budget(case.suppression.arguments["limit"], n)
    return 0 if case.suppression.name in ("none", "class-values", "violating-values") else n


def check_audit(case: Case) -> None:
    """discreet's audit of the raw table agrees with the auditor on each promise."""
    original = case.original()
    trees = {name: oracle.tree_of(column) for name, column in case.sensitive.items() if column.rows is not None}
    given = {name: column.given for name, column in case.sensitive.items() if isinstance(column.given, list)}
    for part in case.privacy:
        if auditor.unknown(part.name, part.arguments) or auditor.asks_for_people(part.name, part.arguments):
            continue
        wrong = auditor.broken_promises(
            original, original, list(case.quasi), [(part.name, part.arguments)], trees, missing=missing(case)
        )
        table = table_of(case).filter(pl.col("rid").is_in([row["rid"] for row in original]))
        sensitive = {name: dc.Hierarchy.from_rows(rows) for name, rows in given.items()}
        try:
            verdict = dc.audit(
                table,
                quasi_identifiers=list(case.quasi),
                privacy=part.text,
                sensitive={name: sensitive.get(name) for name in case.sensitive},
                missing_sensitive=missing(case),
            )
        except UsageError:
            continue
        expect(verdict.passed == (not wrong), "audit", f"{part.text}: {verdict.passed} and {wrong}")


def check_what_does_not_matter(case: Case, ran: Ran) -> None:
    """The same job gives the same rows; row and column order, threads and the kind of frame do not matter."""
    again = run(case)
    repeated = again.rows == ran.rows and digest(again) == digest(ran)
    expect(repeated or again.cut_short, "repeat", f"{digest(ran)} and then {digest(again)}")
    check_shuffle(case)
    rng = random.Random(case.seed)
    table = table_of(case)
    order = rng.sample(range(case.rows), case.rows)
    names = rng.sample(table.columns, len(table.columns))
    _alike(case, ran, run(case, table[order].select(names)), "row order")
    turned = dict(rng.sample(list(case.quasi.items()), len(case.quasi)))
    if len(turned) > 1:
        _alike(case, ran, run(replace(case, quasi=turned)), "column order", rows=False)
    threads = os.sched_getaffinity
    try:
        os.sched_getaffinity = lambda process: {0} if len(threads(process)) > 1 else {0, 1, 2}
        other = run(case)
    finally:
        os.sched_getaffinity = threads
    expect(digest(other) == digest(ran) or other.cut_short, "threads", f"{digest(ran)} and {digest(other)}")
    if case.frame != "polars" and not any(column.kind == "decimal" for column in case.quasi.values()):
        _alike(case, ran, run(replace(case, frame="polars")), "frame", rows=False)


def check_shuffle(case: Case) -> None:
    """Rows written in random order are the same rows."""
    written = case if case.frame in WRITTEN else replace(case, frame="parquet")
    kept, mixed = run(written), run(written, order="random")
    if kept.cut_short or mixed.cut_short:
        return
    expect(kept.ended == mixed.ended, "shuffle", f"{kept.ended}, and in random order {mixed.ended}")
    if kept.release is not None:
        expect(_by_number(kept.rows) == _by_number(mixed.rows), "shuffle", "other rows are written in random order")


def _by_number(rows):
    return sorted(rows, key=lambda row: row["rid"])


def _alike(case, first, second, what, *, rows=True):
    """Cost and status are the same for exact solvers; a heuristic must only give a valid release."""
    if second.cut_short:
        if second.release is not None:
            check_promises(replace(case, frame="duckdb"), second)
        return
    if second.release is None:
        raise Broken(what, f"no release: {second.error}")
    a, b = first.release, second.release
    exact = case.exact and a.status == "optimal"
    if exact:
        expect(near(a.cost, b.cost) and a.status == b.status, what, f"{digest(first)} and {digest(second)}")
    check_promises(replace(case, frame="duckdb"), second)  # rows may be in another order
    if rows and exact and case.suppression.name not in ("violating-records", "violating-values"):
        expect(_by_number(first.rows) == _by_number(second.rows), what, "another of the best releases is chosen")
