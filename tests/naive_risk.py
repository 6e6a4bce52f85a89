"""The measures of risk in their most obvious form, in plain Python. Slow, and imports nothing from the package.

Rows are dicts. ``classes(rows, columns)`` groups row numbers; ``sizes`` below is a dict from class size to how many
classes have it.

records:      ``risks(rows, columns)``, ``population_risks(rows, people, columns)``, ``expected_risk(f, fraction)``
columns:      ``distinction``, ``separation``, ``unique_rows``, ``minimal_rows``, ``keys``, ``needed``
special:      ``msus``, ``suda``, ``contributions``, ``dis_suda``, ``matches``, ``household_risks``
disclosure:   ``confidence``, ``average_confidence``, ``recursive_c``, ``beta``, ``enhanced_beta``, ``delta``
uniqueness:   ``zayatz``, ``shlosser``, ``snb_expected``, ``pitman_likelihood``, ``pitman_uniques``
attacks:      ``linkage``, ``homogeneity``, ``minimality``
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter


def classes(rows, columns):
    found = {}
    for number, row in enumerate(rows):
        found.setdefault(tuple(row[column] for column in columns), []).append(number)
    return found


# --- records ----------------------------------------------------------------------------------------------------------


def risks(rows, columns):
    """For each row 1 over the number of rows that are like it."""
    found = classes(rows, columns)
    return [1 / len(found[tuple(row[column] for column in columns)]) for row in rows]


def population_risks(rows, people, columns):
    """For each row 1 over the number of people who are like it; the people of the row's class are among them."""
    own, all_of_them = classes(rows, columns), classes(people, columns)
    keys = [tuple(row[column] for column in columns) for row in rows]
    return [1 / max(len(own[key]), len(all_of_them.get(key, []))) for key in keys]


@functools.cache
def expected_risk(f, fraction, terms=20_000):
    """The mean of 1 / F, where F - f failures come before the f-th success of a given probability."""
    total, chance = 0.0, fraction**f
    for h in range(f, f + terms):
        total += chance / h
        chance *= h / (h - f + 1) * (1 - fraction)
    return total


# --- columns ----------------------------------------------------------------------------------------------------------


def distinction(rows, columns):
    return len(classes(rows, columns)) / len(rows)


def separation(rows, columns):
    pairs = list(itertools.combinations(rows, 2))
    apart = [pair for pair in pairs if any(pair[0][column] != pair[1][column] for column in columns)]
    return len(apart) / len(pairs)


def unique_rows(rows, columns):
    return {members[0] for members in classes(rows, columns).values() if len(members) == 1}


def minimal_rows(rows, columns):
    """The rows that are unique on these columns, and not on fewer of them."""
    fewer = [part for size in range(1, len(columns)) for part in itertools.combinations(columns, size)]
    return unique_rows(rows, columns) - {row for part in fewer for row in unique_rows(rows, part)}


def keys(rows, columns, depth):
    """The smallest combinations on which every row is unique."""
    found = []
    for size in range(1, depth + 1):
        for some in itertools.combinations(columns, size):
            unique = len(unique_rows(rows, some)) == len(rows)
            if unique and not any(set(key) <= set(some) for key in found):
                found.append(some)
    return found


def needed(rows, columns, column):
    """The unique rows that are not unique without a column."""
    others = [other for other in columns if other != column]
    still = unique_rows(rows, others) if others else set(range(len(rows))) if len(rows) == 1 else set()
    return unique_rows(rows, columns) - still


# --- special uniques --------------------------------------------------------------------------------------------------


def msus(rows, columns, largest):
    """For each row the minimal sample uniques of up to so many columns: unique on them, and on no part of them."""
    found = [[] for _ in rows]
    for size in range(1, min(largest, len(columns)) + 1):
        for some in itertools.combinations(columns, size):
            for row in unique_rows(rows, some):
                if not any(set(part) < set(some) for part in found[row]):
                    found[row].append(some)
    return found


def msu_score(size, largest, columns):
    """The product of columns - i from the size to the largest size, as far as that is positive."""
    score = 1
    for i in range(size, largest + 1):
        score *= max(columns - i, 1)
    return score


def suda(rows, columns, largest):
    """The SUDA score of each row."""
    most = min(largest, len(columns))
    return [sum(msu_score(len(one), most, len(columns)) for one in each) for each in msus(rows, columns, largest)]


def contributions(rows, columns, largest, column):
    """For each row the part of its SUDA score that comes from minimal sample uniques with a column."""
    most = min(largest, len(columns))
    return [
        sum(msu_score(len(one), most, len(columns)) for one in each if column in one)
        for each in msus(rows, columns, largest)
    ]


def dis(rows, columns, fraction):
    """How likely a match is right, if a match with one row alone is looked for."""
    sizes = [len(members) for members in classes(rows, columns).values()]
    uniques, in_pairs = sizes.count(1), 2 * sizes.count(2)
    return uniques * fraction / (uniques * fraction + in_pairs * (1 - fraction)) if uniques else 0.0


def dis_suda(scores, dis, uniques, columns):
    """The risk of each row: DIS distributed by the scores of unique rows."""
    power = 1 + (8 - columns) / 20
    harmonic = sum(1 / score**power for score in scores if score)
    found = []
    for score in scores:
        odds = score**power * harmonic * dis if score else 0
        found.append(odds / (odds + uniques * (1 - dis)) if odds else 0.0)
    return found


def matches(rows, columns, hidden, amounts):
    """For each row the sum of the amounts of the rows that agree with it wherever both have a value that is shown."""
    return [
        sum(
            amount
            for other, amount in zip(rows, amounts, strict=True)
            if all(row[c] in hidden or other[c] in hidden or row[c] == other[c] for c in columns)
        )
        for row in rows
    ]


def household_risks(risks, households):
    """For each row the risk that anybody of its household is found; without one, its own risk."""
    return [
        own if home is None else 1 - math.prod(1 - r for r, h in zip(risks, households, strict=True) if h == home)
        for own, home in zip(risks, households, strict=True)
    ]


# --- disclosure -------------------------------------------------------------------------------------------------------


def histograms(rows, columns, secret):
    """The counts of the sensitive values of each class."""
    return [Counter(rows[row][secret] for row in members) for members in classes(rows, columns).values()]


def whole(rows, secret):
    return Counter(row[secret] for row in rows)


def confidence(rows, columns, secret):
    return max(max(counts.values()) / sum(counts.values()) for counts in histograms(rows, columns, secret))


def average_confidence(rows, columns, secret):
    return sum(max(counts.values()) for counts in histograms(rows, columns, secret)) / len(rows)


def recursive_c(rows, columns, secret, l):  # noqa: E741
    found = []
    for counts in histograms(rows, columns, secret):
        n = sorted(counts.values(), reverse=True)
        rest = sum(n[l - 1 :])
        found.append(n[0] / rest if rest else math.inf)
    return max(found)


def gains(rows, columns, secret, reference):
    """For each class and value that occurs in it, its share in the reference and in the class."""
    everything = whole(reference, secret)
    return [
        (everything[value] / len(reference), count / sum(counts.values()))
        for counts in histograms(rows, columns, secret)
        for value, count in counts.items()
    ]


def beta(rows, columns, secret, reference):
    return max([0.0, *((q - p) / p for p, q in gains(rows, columns, secret, reference) if q > p)])


def enhanced_beta(rows, columns, secret, reference):
    over = any((q - p) / p > -math.log(p) * (1 + 1e-9) for p, q in gains(rows, columns, secret, reference) if q > p)
    return math.inf if over else beta(rows, columns, secret, reference)


def delta(rows, columns, secret, reference):
    return max(abs(math.log(q / p)) for p, q in gains(rows, columns, secret, reference))


# --- uniqueness: ``sizes`` maps a class size of the sample to how many classes have it --------------------------------


def zayatz(sizes, population):
    n, u = sum(size * count for size, count in sizes.items()), sum(sizes.values())

    def once(j):
        """How likely a sample of n people holds just one of j."""
        return j * math.comb(population - j, n - 1) / math.comb(population, n)

    given = sizes[1] / u * once(1) / sum(count / u * once(j) for j, count in sizes.items())
    return sizes[1] * given * population / n


def shlosser(sizes, fraction):
    """The number of classes of the population, by Shlosser's estimator as Haas and Stokes improved it."""
    q = fraction
    first = sum(i * q**2 * (1 - q**2) ** (i - 1) * f for i, f in sizes.items())
    second = sum((1 - q) ** i * ((1 + q) ** i - 1) * f for i, f in sizes.items())
    third = sum((1 - q) ** i * f for i, f in sizes.items()) / sum(
        i * q * (1 - q) ** (i - 1) * f for i, f in sizes.items()
    )
    return sum(sizes.values()) + sizes[1] * first / second * third**2


def snb_expected(total, alpha, beta, fraction, size, terms=5_000):
    """How many classes of a size a sample is expected to have, if class sizes less 1 are negative binomial."""
    chance, found = beta**alpha, 0.0
    for m in range(terms):
        people = m + 1
        found += chance * math.comb(people, size) * fraction**size * (1 - fraction) ** max(people - size, 0)
        chance *= (alpha + m) / (m + 1) * (1 - beta)
    return total * found


def pitman_likelihood(sizes, theta, alpha):
    """The logarithm of Pitman's sampling formula, but for what does not depend on its parameters."""
    n, u = sum(size * count for size, count in sizes.items()), sum(sizes.values())
    found = sum(math.log(theta + i * alpha) for i in range(1, u)) - sum(math.log(theta + i) for i in range(1, n))
    return found + sum(count * math.log(j - alpha) for size, count in sizes.items() for j in range(1, size))


def pitman_uniques(theta, alpha, population):
    """The expected number of classes of size 1 among so many people, person by person."""
    found = float(population)
    for i in range(1, population):
        found *= (theta + alpha + i - 1) / (theta + i)
    return found


# --- attacks ----------------------------------------------------------------------------------------------------------


def compatible(person, shown, columns):
    """The numbers of the released rows whose cells (sets of values here) all hold what the person has."""
    return [i for i, cells in enumerate(shown) if all(person[column] in cells[column] for column in columns)]


def most_frequent(values, whole_table):
    """The most frequent value; of equals the one most frequent in the whole table, and then the first."""
    counts, everywhere = Counter(values), Counter(whole_table)
    return min(counts, key=lambda value: (-counts[value], -everywhere[value], value))


def linkage(people, shown, secrets, columns, secret):
    """How many people match, match one row, are found, and have their value guessed among the released ``secrets``."""
    matched = single = found = right = 0
    for person in people:
        rows = compatible(person, shown, columns)
        matched += bool(rows)
        single += len(rows) == 1
        found += 1 / len(rows) if rows else 0
        guess = most_frequent([secrets[row] for row in rows] or secrets, secrets)
        right += guess == person[secret]
    return [number / len(people) for number in (matched, single, found, right)]


def homogeneity(rows, columns, secret):
    """The shares of rows in classes of one value, with a value of 80 % and of 50 %."""
    found = [0, 0, 0]
    for counts in histograms(rows, columns, secret):
        size, top = sum(counts.values()), max(counts.values())
        for place, least in enumerate((1, 0.8, 0.5)):
            found[place] += size if top / size >= least - 1e-12 else 0
    return [number / len(rows) for number in found]


def minimality(groups, ok, spare=0):
    """The probability of each value for the people of each finer class, once some finer class is known to be not ok.

    If so many rows could still have been suppressed, finer classes that are not ok have more rows than that.

    ``groups`` lists the classes, each as (sizes of its finer classes, values of its people); all ways to deal out the
    values are tried. The result is for each class and finer class a dict from value to probability; None if there is
    no such way.
    """
    deals = [list(_deals(sizes, values)) for sizes, values in groups]
    weight, found = 0, [[Counter() for _ in sizes] for sizes, _ in groups]
    for deal in itertools.product(*deals):
        if sum(len(part) for parts in deal for part in parts if not ok(part)) <= spare:
            continue
        weight += 1
        for parts, counters in zip(deal, found, strict=True):
            for part, counter in zip(parts, counters, strict=True):
                for value in part:
                    counter[value] += 1 / len(part)
    if not weight:
        return None
    return [[{value: n / weight for value, n in counter.items()} for counter in counters] for counters in found]


def _deals(sizes, values):
    for order in itertools.permutations(values):
        parts, start = [], 0
        for size in sizes:
            parts.append(order[start : start + size])
            start += size
        yield parts
