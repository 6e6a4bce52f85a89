"""The checks of each case: the auditor finds nothing, the oracle nothing better, and the result is invariant.

``check`` returns how a case ended, or raises ``Broken`` with a sentence that begins with the name of the check.
"""

from __future__ import annotations

import hashlib
import math
import os
import random
import re
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import replace
from pathlib import Path

import polars as pl

import discreet as dc
from discreet.errors import (
    AuditError,
    DiscreetError,
    InfeasibleError,
    InterruptedRun,
    UnsupportedCombinationError,
    UsageError,
)
from discreet.problem.schemes import SCHEMES
from discreet.vocabulary import families
from fuzz import auditor, oracle
from fuzz.auditor import same
from fuzz.jobs import Case, cells, data_of, options_of, table_of
from fuzz.taken import refusal
from naive.cells import fewest_cells as naive_cells
from naive.cells import matches

__all__ = ["Broken", "Ran", "check", "digest", "run"]

NEAR = 1e-7
SLOW = 4.0
"""Seconds after which a job is not repeated; jobs have a time limit of 20."""
WRITTEN = ("csv", "parquet", "jsonl", "csv by duckdb")
"""Kinds of data whose release is written to a file."""


KINDS = {family.kind: name for name, family in families().items()}
"""The families of the matrix by their names in messages."""


class Broken(AssertionError):  # noqa: N818 - reads as the outcome of a check
    """A check failed; ``what`` names it."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(f"{what}: {why}")
        self.what = what


class Ran:
    """Outcome of a job: a release with its rows, or an error."""

    def __init__(self, release=None, rows=None, error=None, seconds=0.0):
        self.release, self.rows, self.error, self.seconds = release, rows, error, seconds

    @property
    def slow(self) -> bool:
        """Whether the time limit may have decided what came out, or would the next time."""
        return self.seconds > SLOW

    @property
    def cut_short(self) -> bool:
        """Whether the time limit may have decided it: another process may need the cores all of a sudden."""
        return self.slow or self.ended == "stopped"

    @property
    def ended(self) -> str:
        if self.release is not None:
            return "released"
        if isinstance(self.error, InfeasibleError) and self.error.topic == InfeasibleError.topic:
            return "infeasible"  # after a search; an empty release is refused
        return "stopped" if isinstance(self.error, InterruptedRun) else "refused"


def run(case: Case, table: pl.DataFrame | None = None, **changes) -> Ran:
    """Run the job; every exception that is not a DiscreetError is a failure."""
    with tempfile.TemporaryDirectory(prefix="fuzz") as name:
        folder, begun = Path(name), time.monotonic()
        try:
            options = {**options_of(case, folder), **changes}
            data = data_of(case, folder, table)
            if isinstance(data, Path):
                options = {"output": folder / f"safe{data.suffix}", "order": "keep", **options}
            release = dc.anonymize(data, **options)
            return Ran(release, rows_of(release, case), seconds=time.monotonic() - begun)
        except DiscreetError as error:
            _one_sentence(error)
            if list(folder.glob("safe*")) or list(folder.glob(".*")):
                raise Broken("left behind", "a job that failed left a file") from None
            return Ran(error=error, seconds=time.monotonic() - begun)
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            raise Broken(
                f"crash {type(error).__name__} in {Path(place.filename).name}:{place.lineno}", str(error)[:300]
            ) from error


def _one_sentence(error: DiscreetError) -> None:
    text = str(error)
    if "\n" in text or not text.endswith((".", "?")) or not (text[0].isupper() or text[0] == "'"):
        raise Broken("sentence", f"an error is no sentence: {text!r}")
    if "Person " in text:
        raise Broken("sentence", f"an error holds an identifier: {text!r}")


def rows_of(release, case: Case) -> list[dict]:
    """The released rows as plain Python."""
    frame = release.frame
    if case.frame == "duckdb":
        frame = frame.pl()
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if not isinstance(frame, pl.DataFrame):
        frame = pl.from_dataframe(frame) if case.frame == "pyarrow" else pl.from_pandas(frame)
    return [
        {key: same(value) if key != "rid" else int(value) for key, value in row.items()} for row in frame.to_dicts()
    ]


def digest(ran: Ran) -> str:
    """Digest of the result."""
    if ran.release is None:
        return f"{ran.ended} {type(ran.error).__name__}"
    rows = hashlib.sha256(repr(ran.rows).encode()).hexdigest()[:16]
    return f"{ran.release.status} {ran.release.cost:.9g} {ran.release.lower_bound:.9g} {ran.release.suppressed} {rows}"


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
    _expect(release.audit.passed, "numbers", "the audit did not pass")
    _expect(released <= drawn, "drawn", "a row was released that was not drawn")
    gone = release.suppressed + release.dropped_missing
    _expect(len(released) == len(drawn) - gone, "drawn", f"{len(drawn)} drawn, {gone} gone, {len(released)} released")


def check_combination(case: Case, ran: Ran) -> None:
    """A job is refused as a combination if and only if its parts are on any table; parts that fit are not blamed."""
    expected = refusal(case)
    if isinstance(ran.error, UnsupportedCombinationError):
        if any("limit" in part for part in ran.error.parts):
            return  # whether a scheme has blocks between two levels depends on the hierarchy
        _expect(expected is not None, "refused", f"the same parts go together elsewhere: {ran.error}")
        pair = blamed(ran.error)
        fits = pair is not None and pair.works and not (pair.unusual or pair.other_forms)
        _expect(not fits, "blamed", f"the matrix has it: {ran.error}")
    elif ran.release is not None:
        refused = isinstance(expected, UnsupportedCombinationError)
        _expect(not refused, "taken", f"the same parts are refused elsewhere: {expected}")


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
    _expect(release.audit.passed, "numbers", "the audit did not pass")
    _expect(
        0 <= release.lower_bound <= release.cost + NEAR * max(1, abs(release.cost)),
        "numbers",
        f"bound {release.lower_bound} and cost {release.cost}",
    )
    _expect(release.status in ("optimal", "feasible"), "numbers", release.status)
    if release.status == "optimal":
        _expect(release.gap == 0 and _near(release.lower_bound, release.cost), "numbers", "optimal with a gap")
    groups = auditor.classes_of(ran.rows, list(case.quasi))
    _expect(
        release.classes == len(groups), "numbers", f"{release.classes} classes are said and {len(groups)} are there"
    )
    hidden = sum(row[name] == "*" for row in ran.rows for name in case.sensitive) if hides(case) else 0
    _expect(release.suppressed_values == hidden, "numbers", f"{release.suppressed_values} values hidden, and {hidden}")
    n = len(case.original())
    _expect(release.n == n, "numbers", f"n is {release.n} and not {n}")
    if case.owners is not None and check_people_left(case, ran):
        return
    limit = oracle_limit(case, n)
    _expect(release.suppressed <= limit, "numbers", f"{release.suppressed} of at most {limit} rows were suppressed")


def check_people_left(case: Case, ran: Ran) -> bool:
    """People are counted as they are there; return whether the budget is one of people, which is checked."""
    release, whole = ran.release, {row["p"] for row in case.original()}
    owner = {row["rid"]: row["p"] for row in case.original()}
    left = {owner[row["rid"]] for row in ran.rows}
    said = (release.people, release.audit.people, release.suppressed_people)
    _expect(said == (len(whole), len(left), len(whole - left)), "people", f"{said} are said of {len(whole)}")
    if case.suppression.name != "budget" or case.suppression.arguments.get("of") == "rows":
        return False
    limit = oracle_limit(case, len(whole))
    _expect(len(whole - left) <= limit, "people", f"{len(whole - left)} of at most {limit} people were suppressed")
    lost = [row for row in case.original() if row["p"] in left]
    _expect(len(lost) == len(ran.rows), "people", "somebody who stays lost a row")
    return True


def oracle_limit(case, n):
    if case.suppression.name == "budget":
        import naive

        return naive.budget(case.suppression.arguments["limit"], n)
    return 0 if case.suppression.name in ("none", "class-values", "violating-values") else n


def check_global(case: Case, ran: Ran, meanings) -> None:
    """Equal values are released equally, by a level or partition that the scheme allows."""
    original = {row["rid"]: row for row in case.original()}
    for name, rows in meanings.items():
        shown: dict = {}
        for row in ran.rows:
            value = original[row["rid"]][name]
            if shown.setdefault(same(value), row[name]) != row[name]:
                raise Broken("global", f"a value of {name} is released in two ways")
        if rows is None:
            continue
        blocks = shown_blocks(case, ran, name)
        level = ran.release.levels.get(name)
        if level is not None:
            _expect(level < len(rows[0]), "global", f"level {level} of {name}")
            expected = {frozenset(same(r[0]) for r in rows if r[level] == row[level]) for row in rows}
            if isinstance(case.quasi[name].given, list) and level:
                names = {same(row[0]): row[level] for row in rows if row[0] is not None or level == len(rows[0]) - 1}
                for value, text in shown.items():
                    wrong = value in names and text != same(names[value])
                    _expect(not wrong, "global", f"{name}: {value!r} is shown as {text!r} and not {names.get(value)!r}")
        else:
            expected = None
        present = occurring(case, name)
        for block in blocks:
            if expected is not None:
                _expect(
                    any(block == whole & present for whole in expected),
                    "global",
                    f"{name}: {block} is no block of level {level}",
                )
            _expect(
                allowed(case.schemes[name].name, block, rows, present),
                "global",
                f"{name}: {sorted(map(str, block))} is no block of {case.schemes[name].name}",
            )
        for block in blocks:
            texts = {shown[value] for value in block if value in shown}
            _expect(len(texts) <= 1, "global", f"{name}: a block is shown as {texts}")


def occurring(case, name):
    """The values of a column in the table and in the population."""
    return {same(row[name]) for row in [*case.original(), *(case.people() or ())]}


def shown_blocks(case, ran, name):
    blocks = [frozenset(same(value) for value in block) for block in ran.release.blocks[name]]
    present = occurring(case, name)
    _expect(
        sorted(v or "" for block in blocks for v in block) == sorted(v or "" for v in present),
        "global",
        f"{name}: blocks {blocks}",
    )
    return blocks


def allowed(scheme, block, rows, present):
    """Whether the scheme allows a block, judged by the values that occur."""
    import naive

    place = {same(row[0]): i for i, row in enumerate(rows) if same(row[0]) in present}
    if scheme in ("full-domain", "subtree"):
        nodes = [{same(leaf) for leaf in node} & present for node in naive.nodes(rows)]
        return block in nodes
    if scheme in ("ordered", "guided-ordered"):
        order = sorted(place.values())
        places = sorted(order.index(place[value]) for value in block)
        return places == list(range(places[0], places[-1] + 1))
    return True


def check_local(case: Case, ran: Ran, made) -> None:
    """Each class shows the smallest cover of its values, unless key sets let classes share covers."""
    if made.key_sets:
        return
    if case.schemes[next(iter(case.quasi))].arguments.get("show", "cover") != "cover" or not oracle.knows_local(made):
        return
    place = {row["rid"]: i for i, row in enumerate(made.rows)}
    groups = [[place[row["rid"]] for row in group] for group in auditor.classes_of(ran.rows, list(case.quasi))]
    there = {row for group in groups for row in group}
    gone = [i for i in range(len(made.rows)) if i not in there]
    cost = oracle.local_price(made, groups, gone, ran.release.suppressed_values)
    _expect(_near(cost, ran.release.cost), "local cost", f"{ran.release.cost} is said and {cost} is so")
    least = oracle.best_local(made)
    if least is None:
        return
    _expect(
        ran.release.lower_bound <= least + NEAR * max(1, least), "bound", f"{ran.release.lower_bound} is above {least}"
    )
    if ran.release.status == "optimal":
        _expect(_near(ran.release.cost, least), "optimal", f"{ran.release.cost} is not {least}")


def check_matches(case: Case, ran: Ran) -> None:
    """Each hidden cell costs its weight, no row hides more than it may, and nothing is better than what is proven."""
    weights = cell_weights(case)
    most = next(iter(case.schemes.values())).arguments.get("most", len(weights))
    hidden = [[name for name in case.quasi if row[name] == "*"] for row in ran.rows]
    _expect(max(map(len, hidden), default=0) <= most, "cells", f"a row hides more than {most} cells")
    cost = sum(weights[name] for row in hidden for name in row)
    _expect(_near(cost, ran.release.cost), "cells cost", f"{ran.release.cost} is said and {cost} is so")
    least = fewest_cells(case)
    if least is None:
        return
    bound = ran.release.lower_bound
    _expect(bound <= least + NEAR * max(1, least), "bound", f"{bound} is above {least}")
    if not ran.slow or ran.release.status == "optimal":
        _expect(ran.release.status == "optimal" and _near(cost, least), "optimal", f"{cost} is not {least}")


def cell_weights(case: Case) -> dict[str, float]:
    """What hiding a cell of each column costs: nothing if the column has one value."""
    weights = {} if case.cost is None else case.cost.arguments.get("weights", {})
    return {name: weights.get(name, 1) for name in case.quasi}


def fewest_cells(case: Case, most_cells: int = 12) -> float | None:
    """The least cost of hidden cells that match; None if there are too many cells to try."""
    rows = [tuple(same(row[name]) for name in case.quasi) for row in case.original()]
    if not rows or len(rows) * len(case.quasi) > most_cells:
        return None
    k = max(part.arguments["k"] for part in case.privacy)
    most = next(iter(case.schemes.values())).arguments.get("most", len(case.quasi))

    def count(shown):
        return [0] if any(row.count("*") > most for row in shown) else matches(shown)

    return naive_cells(rows, k, list(cell_weights(case).values()), count)


def check_cost(case: Case, ran: Ran, made) -> None:
    """The cost equals that computed from the release by the definitions."""
    if case.is_local:
        return
    names = list(case.quasi)
    if oracle.hides_values(made) and oracle.value_penalty(made) is None:
        return
    spare = any(len(rows) > len({row[name] for row in made.rows}) for name, rows in made.table.hierarchies.items())
    levels = []
    for name in names:
        level = ran.release.levels.get(name)
        if level is None:
            if spare:
                return  # the blocks of values that do not occur are not known
            texts = {same(row[0]): row[0] for row in made.table.hierarchies[name]}
            level = frozenset(frozenset(texts[v] for v in block) for block in shown_blocks(case, ran, name))
        levels.append(level)
    place = {row["rid"]: i for i, row in enumerate(made.rows)}
    published = [[place[row["rid"]] for row in group] for group in auditor.classes_of(ran.rows, names)]
    there = {row for group in published for row in group}
    gone = [i for i in range(len(made.rows)) if i not in there]
    cost = oracle.price(made, levels, published, gone, ran.release.suppressed_values)
    _expect(_near(cost, ran.release.cost), "cost", f"{ran.release.cost} is said and {cost} is so")


def check_best(case: Case, ran: Ran, made) -> None:
    """Nothing is better than a proven optimum, and no bound exceeds the optimum."""
    if case.is_local:
        return
    least = oracle.best(made)
    if least is None:
        return
    release = ran.release
    _expect(
        release.lower_bound <= least + NEAR * max(1, abs(least)), "bound", f"{release.lower_bound} is above {least}"
    )
    _expect(release.cost >= least - NEAR * max(1, abs(least)), "impossible", f"{release.cost} is below {least}")
    if release.status == "optimal":
        _expect(_near(release.cost, least), "optimal", f"{release.cost} is not {least}")
    elif case.exact and not ran.slow:
        raise Broken("optimal", f"a small problem was not solved to the end: {release.status}")


def check_infeasible(case: Case, made) -> None:
    if made is None:
        return
    if case.counts_matches:
        least = fewest_cells(case)
    else:
        least = oracle.best_local(made) if case.is_local else oracle.best(made)
    if least is not None and least < float("inf"):
        raise Broken("infeasible", f"a recoding of cost {least} was overlooked")


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
        _expect(verdict.passed == (not wrong), "audit", f"{part.text}: {verdict.passed} and {wrong}")


def check_what_does_not_matter(case: Case, ran: Ran) -> None:
    """The same job gives the same rows; row and column order, threads and the kind of frame do not matter."""
    again = run(case)
    repeated = again.rows == ran.rows and digest(again) == digest(ran)
    _expect(repeated or again.cut_short, "repeat", f"{digest(ran)} and then {digest(again)}")
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
    _expect(digest(other) == digest(ran) or other.cut_short, "threads", f"{digest(ran)} and {digest(other)}")
    if case.frame != "polars" and not any(column.kind == "decimal" for column in case.quasi.values()):
        _alike(case, ran, run(replace(case, frame="polars")), "frame", rows=False)


def check_shuffle(case: Case) -> None:
    """Rows written in random order are the same rows."""
    written = case if case.frame in WRITTEN else replace(case, frame="parquet")
    kept, mixed = run(written), run(written, order="random")
    if kept.cut_short or mixed.cut_short:
        return
    _expect(kept.ended == mixed.ended, "shuffle", f"{kept.ended}, and in random order {mixed.ended}")
    if kept.release is not None:
        _expect(_by_number(kept.rows) == _by_number(mixed.rows), "shuffle", "other rows are written in random order")


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
        _expect(_near(a.cost, b.cost) and a.status == b.status, what, f"{digest(first)} and {digest(second)}")
    check_promises(replace(case, frame="duckdb"), second)  # rows may be in another order
    if rows and exact and case.suppression.name not in ("violating-records", "violating-values"):
        _expect(_by_number(first.rows) == _by_number(second.rows), what, "another of the best releases is chosen")


def _near(a, b):
    return abs(a - b) <= NEAR * max(1, abs(a), abs(b))


def _expect(holds, what, why):
    if not holds:
        raise Broken(what, why)
