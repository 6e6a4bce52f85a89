"""Checks the promises and the truth of a released table by the definitions. Imports nothing of discreet.

Rows are dicts. A row of the original table has its number in ``rid``, and a released row still has it. A class is all
released rows with the same quasi-identifiers. What is wrong is returned as a list of sentences; none is good.
"""

from __future__ import annotations

import datetime
import itertools
import math
from collections import Counter, defaultdict

import naive_risk
from naive.cells import matches

__all__ = [
    "CONDITIONS",
    "OF_PEOPLE",
    "OF_TABLE",
    "asks_for_people",
    "broken_crowds",
    "broken_promises",
    "classes_of",
    "known_values",
    "lies",
    "same",
    "unknown",
]

NEAR = 1e-9


def same(value):
    """A value as normalized text, equal in every kind of file and frame; None if missing."""
    if value is None or value == "" or value != value:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat(" ")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    text = str(value)
    return text[:-2] if text.endswith(".0") and text[:-2].lstrip("-").isdigit() else text


def classes_of(rows, quasi):
    """Equivalence classes of released rows, as lists of rows."""
    found = defaultdict(list)
    for row in rows:
        found[tuple(same(row[name]) for name in quasi)].append(row)
    return list(found.values())


# --- conditions on one class: counts of the values that are shown, size, rows with a known value (those hidden since
# among them), counts in the whole table, arguments, hierarchy


def k_anonymity(counts, size, known, whole, arguments, tree):
    """Of a class of all quasi-identifiers nothing is asked if the promise is about others; see :func:`key_sets`."""
    return size >= arguments["k"] or "on" in arguments or "any" in arguments


def key_sets(name, arguments, quasi):
    """The combinations of columns that a promise of k is about, beside all of them."""
    if name != "k":
        return []
    if "any" in arguments:
        return list(itertools.combinations(quasi, arguments["any"]))
    return [tuple(arguments["on"])] if "on" in arguments else []


def distinct_l(counts, size, known, whole, arguments, tree):
    return len(counts) >= arguments["l"]


def entropy_l(counts, size, known, whole, arguments, tree):
    shown = sum(counts.values())
    entropy = -sum(n / shown * math.log(n / shown) for n in counts.values())
    return entropy >= math.log(arguments["l"]) - NEAR


def recursive_cl(counts, size, known, whole, arguments, tree):
    n = sorted(counts.values(), reverse=True)
    return bool(n) and n[0] < arguments["c"] * sum(n[arguments["l"] - 1 :])


def thresholds(whole, theta, by):
    if isinstance(theta, dict):
        return {value: theta.get(value or "", 1) for value in whole}
    if by is None:
        return dict.fromkeys(whole, theta)
    average = sum(whole.values()) / len(whole)
    return {value: theta if n <= average else min(1, theta * n / average) for value, n in whole.items()}


def l_plus(counts, size, known, whole, arguments, tree):
    most = thresholds(whole, arguments["theta"], arguments.get("by"))
    return all(n / known <= most[value] + NEAR for value, n in counts.items())


def alpha_k(counts, size, known, whole, arguments, tree):
    return size >= arguments["k"] and all(n / known <= arguments["alpha"] + NEAR for n in counts.values())


def beta_likeness(counts, size, known, whole, arguments, tree):
    total = sum(whole.values())
    for value, n in counts.items():
        p = whole[value] / total
        most = min(arguments["beta"], -math.log(p)) if arguments.get("form") == "enhanced" else arguments["beta"]
        if n / known > p * (1 + most) + NEAR:
            return False
    return True


def delta_disclosure(counts, size, known, whole, arguments, tree):
    total = sum(whole.values())
    return all(abs(math.log(n / known / (whole[value] / total))) < arguments["delta"] for value, n in counts.items())


def t_closeness(counts, size, known, whole, arguments, tree):
    shown, total = sum(counts.values()), sum(whole.values())
    if not shown:
        return True
    extra = {value: counts.get(value, 0) / shown - n / total for value, n in whole.items()}
    distance = arguments.get("distance", "equal")
    if distance == "equal":
        moved = sum(abs(e) for e in extra.values()) / 2
    elif distance == "ordered":
        order = [value for value in tree if value in extra]
        carried = moved = 0.0
        for value in order:
            carried += extra[value]
            moved += abs(carried)
        moved /= max(len(order) - 1, 1)
    else:
        height = len(next(iter(tree.values()))) - 1
        moved = 0.0  # per level below the root: half the sum of the differences of shares; then the mean
        for level in range(height):
            shares = defaultdict(float)
            for value, e in extra.items():
                shares[tree[value][level]] += e
            moved += sum(abs(share) for share in shares.values()) / 2 / height
    return moved <= arguments["t"] + NEAR


def k_map(counts, size, known, whole, arguments, tree):
    mean = arguments["k"] * arguments["fraction"]
    least = arguments.get("significance", 0.05)
    if arguments.get("estimator") == "truncated":
        least *= 1 - math.exp(-mean)

    def at_least(rows):
        return 1 - sum(math.exp(-mean) * mean**i / math.factorial(i) for i in range(rows))

    return size >= arguments["k"] or at_least(size) <= least + NEAR


CONDITIONS = {
    "k": k_anonymity,
    "distinct-l": distinct_l,
    "entropy-l": entropy_l,
    "recursive-cl": recursive_cl,
    "l+": l_plus,
    "alpha-k": alpha_k,
    "beta": beta_likeness,
    "delta-disclosure": delta_disclosure,
    "t": t_closeness,
    "k-map": k_map,
}


def population_uniqueness(sizes, arguments):
    """By Zayatz' model, and by every other model if no row is unique; see ``unknown`` for the rest."""
    if 1 not in sizes:
        return True
    people = max(arguments["population"], sum(sizes))
    return naive_risk.zayatz(Counter(sizes), people) / people <= arguments["share"] + NEAR


OF_TABLE = {
    "population-uniqueness": population_uniqueness,
    "average-risk": lambda sizes, arguments: not sizes or len(sizes) / sum(sizes) <= arguments["risk"] + NEAR,
    "sample-uniqueness": lambda sizes, arguments: not sizes or sizes.count(1) / sum(sizes) <= arguments["share"] + NEAR,
}


OF_PEOPLE = {
    "k-map": lambda people, size, arguments: people >= arguments["k"] * (1 - NEAR),
    "delta-presence": lambda people, size, arguments: (
        arguments["least"] * people * (1 - NEAR) <= size <= arguments["most"] * people * (1 + NEAR)
    ),
}


def asks_for_people(name, arguments):
    """Whether a promise counts people of the population."""
    return name in OF_PEOPLE and arguments.get("fraction") is None


def known_values(values, missing):
    """Counts of sensitive values; missing ones only if they count as a value."""
    counts = Counter(map(same, values))
    if missing == "unknown":
        counts.pop(None, None)
    return counts


def unknown(name, arguments, sizes=(1,)):
    """Whether this auditor cannot check a promise."""
    if name == "population-uniqueness":  # the other models need numerical fits
        return arguments["model"] != "zayatz" and 1 in sizes
    return name not in CONDITIONS and name not in OF_TABLE and name not in OF_PEOPLE


def broken_promises(original, released, quasi, models, trees, hidden=None, people=None, missing="unknown"):
    """The promises that a released table breaks.

    ``models`` are names with arguments; ``trees`` maps sensitive columns to ``{value: path}`` in their order;
    ``hidden`` is what stands for a sensitive value made unknown; ``people`` says how many people of the population
    have the released values of a class. A missing sensitive value is ``unknown``, or one more ``value``.
    """
    found = []
    groups = classes_of(released, quasi)
    sizes = [len(group) for group in groups]
    for name, arguments in models:
        if unknown(name, arguments, sizes):
            continue  # reported by the run
        if arguments.get("unknown") == "matches":
            least = min(matches([tuple(same(row[column]) for column in quasi) for row in released]), default=math.inf)
            if least < arguments["k"]:
                found.append(f"a row is matched by {least} rows, which breaks {name} {arguments}")
            continue
        if name in OF_TABLE:
            if not OF_TABLE[name](sizes, arguments):
                found.append(f"the table breaks {name} {arguments}")
            continue
        if asks_for_people(name, arguments):
            counted = [] if people is None else [(people(group), len(group)) for group in groups]
            bad = [each for each in counted if not OF_PEOPLE[name](*each, arguments)]
            if bad:
                found.append(f"classes of (people, rows) {bad[:3]} break {name} {arguments}")
            continue
        for columns in key_sets(name, arguments, quasi):
            fewest = min(map(len, classes_of(released, columns)), default=arguments["k"])
            if fewest < arguments["k"]:
                found.append(f"{fewest} rows share their {columns}, which breaks {name} {arguments}")
        column = arguments.get("attribute")
        whole = known_values((row[column] for row in original), missing) if column else {}
        for group in groups:
            values = known_values((row[column] for row in group), missing) if column else {}
            counts = Counter({value: n for value, n in values.items() if hidden is None or value != hidden})
            if column and not counts and hidden is not None:
                continue
            known = sum(values.values())
            if not CONDITIONS[name](counts, len(group), known, whole, arguments, trees.get(column)):
                found.append(f"a class of {len(group)} rows breaks {name} {arguments}: {dict(counts)}")
                break
    return found


OF_DISTRIBUTION = ("beta", "delta-disclosure")
"""Models that compare the distribution of the values of a class, in which one person may have several."""


def broken_crowds(original, released, quasi, models, trees, missing="unknown"):
    """The promises that a released table breaks if they count the people ``p`` of rows."""
    owner = {row["rid"]: row["p"] for row in original}
    groups = classes_of(released, quasi)
    sizes = [len({owner[row["rid"]] for row in group}) for group in groups]
    found = []
    for name, arguments in models:
        if unknown(name, arguments, sizes) or asks_for_people(name, arguments):
            continue
        if name in OF_TABLE:
            found += [] if OF_TABLE[name](sizes, arguments) else [f"the table breaks {name} {arguments}"]
            continue
        for columns in key_sets(name, arguments, quasi):
            crowds = [len({owner[row["rid"]] for row in group}) for group in classes_of(released, columns)]
            if min(crowds, default=arguments["k"]) < arguments["k"]:
                found.append(f"{min(crowds)} people share their {columns}, which breaks {name} {arguments}")
        column = arguments.get("attribute")
        whole = _having(original, column, owner, missing) if column else {}
        for group, size in zip(groups, sizes, strict=True):
            having = _having(group, column, owner, missing) if column else {}
            counts = Counter({value: len(who) for value, who in having.items()})
            known = sum(counts.values()) if name in OF_DISTRIBUTION else len(set().union(*having.values()))
            totals = Counter({value: len(who) for value, who in whole.items()})
            if not CONDITIONS[name](counts, size, known, totals, arguments, trees.get(column)):
                found.append(f"a class of {size} people breaks {name} {arguments}: {dict(counts)}")
                break
    if any(name == "k" and arguments.get("profile") for name, arguments in models):
        found += _rare_profiles(released, quasi, owner, models)
    return found


def _having(rows, column, owner, missing):
    """The people who have each value of a column."""
    found = defaultdict(set)
    for row in rows:
        value = same(row[column])
        if value is not None or missing == "value":
            found[value].add(owner[row["rid"]])
    return found


def _rare_profiles(released, quasi, owner, models):
    """Profiles that fewer people have than was promised."""
    shown = defaultdict(Counter)
    for row in released:
        shown[owner[row["rid"]]][tuple(same(row[name]) for name in quasi)] += 1
    profiles = Counter(frozenset(rows.items()) for rows in shown.values())
    least = max(arguments["k"] for name, arguments in models if name == "k" and arguments.get("profile"))
    return [f"a profile has {n} people of {least}" for n in profiles.values() if n < least][:1]


def lies(original, released, quasi, others, *, dropped, hidden=None, in_order=True):
    """False statements of a released table: invented rows, changed values, identifiers."""
    found = []
    by_number = {row["rid"]: row for row in original}
    numbers = [int(row["rid"]) for row in released]
    if len(set(numbers)) < len(numbers) or not set(numbers) <= set(by_number):
        return [f"rows {Counter(numbers)} are not those of the original"]
    if in_order and numbers != sorted(numbers):
        found.append("rows are in another order")
    if len(original) - len(numbers) != dropped:
        found.append(f"{len(original) - len(numbers)} rows are missing where {dropped} are said to be suppressed")
    for number, row in zip(numbers, released, strict=True):
        if "name" in row:
            return ["an identifier was released"]
        for column in others:
            value = same(row[column])
            if value != same(by_number[number][column]) and (hidden is None or value != hidden):
                found.append(f"column {column} of row {number} was {by_number[number][column]!r} and is {value!r}")
        if set(row) - {"rid", *quasi, *others}:
            found.append(f"columns {sorted(row)} were released")
    return found[:3]
