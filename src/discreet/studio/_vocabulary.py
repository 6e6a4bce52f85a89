"""Everything a release can be asked for, in plain words: what the goals of a project are chosen from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["reason_for", "vocabulary"]


def vocabulary() -> dict[str, list[dict[str, Any]]]:
    """Return everything that can be chosen, each with a title, a sentence and its parameters in order."""
    return {
        "privacy": _PRIVACY,
        "costs": _COSTS,
        "suppression": _SUPPRESSION,
        "schemes": _SCHEMES,
        "solvers": _SOLVERS,
        "axes": _AXES,
        "builders": _BUILDERS,
        "roles": _ROLES,
        "types": _TYPES,
        "missing": _MISSING,
        "missing_sensitive": _MISSING_SENSITIVE,
    }


def reason_for(solver: str, exact: bool, space: int | None) -> str:
    """Say why a method is taken."""
    many = f"all {space:,} possible recodings" if space is not None and space < 10**15 else "all possible recodings"
    told = {
        "lattice": f"It looks through {many} by level, leaves out what cannot win, and proves that nothing better "
        "was overlooked.",
        "cuts": f"It looks through {many} by branches of the trees, leaves out what cannot win, and proves that "
        "nothing better was overlooked.",
        "partitions": f"It looks through {many}, leaves out what cannot win, and proves that nothing better was "
        "overlooked.",
        "optimal-score": "It is made for this cost, and proves that no table has a higher score.",
        "local": "Every group of rows may be made coarser by itself, which keeps most; a proven bound says how far "
        "from the best it can be at most.",
    }
    otherwise = "It proves its result." if exact else "It finds a good release; a bound says how good."
    return told.get(solver, otherwise)


def _number(name: str, label: str, default: float, low: float, high: float, step: float) -> dict[str, Any]:
    whole = all(isinstance(number, int) for number in (default, low, high, step))
    kind = "int" if whole else "float"
    return {"name": name, "label": label, "kind": kind, "default": default, "min": low, "max": high, "step": step}


def _choice(name: str, label: str, choices: Mapping[str, str]) -> dict[str, Any]:
    named = [{"name": choice, "title": title} for choice, title in choices.items()]
    return {"name": name, "label": label, "kind": "choice", "default": next(iter(choices)), "choices": named}


_COLUMN = {"name": "attribute", "label": "Sensitive column", "kind": "column", "default": None, "role": "sensitive"}


def _entry(name: str, title: str, text: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "title": title, "text": text, "parameters": [], **more}


_PRIVACY = [
    _entry(
        "k",
        "Nobody stands out",
        "Every person looks the same as at least so many people together, in all columns others may know.",
        term="k-anonymity",
        recommended=True,
        prevents="Being found: a neighbour who knows somebody's age, town and job cannot tell which row is theirs.",
        example="With 5, whoever knows that Ann is 34 and lives in Leeds finds five rows or more, not one.",
        parameters=[_number("k", "How many look the same, at least", 5, 2, 100, 1)],
    ),
    _entry(
        "distinct-l",
        "No group gives itself away",
        "People who look the same have at least so many different values of the sensitive column.",
        term="distinct l-diversity",
        prevents="Learning a secret without finding the row: everybody in the group has the same illness.",
        example="With 3, the five rows that could be Ann's name three illnesses or more.",
        parameters=[_number("l", "Different values, at least", 3, 2, 20, 1), _COLUMN],
    ),
    _entry(
        "entropy-l",
        "No group makes guessing easy",
        "Among people who look the same, the sensitive value is as hard to guess as one of so many likely ones.",
        term="entropy l-diversity",
        prevents="A safe guess: two illnesses are in the group, but nine people in ten have the first.",
        example="With 2, guessing Ann's illness is at least as hard as calling a coin.",
        parameters=[_number("l", "As hard as guessing one of", 2.0, 1.1, 20.0, 0.1), _COLUMN],
    ),
    _entry(
        "recursive-cl",
        "The frequent do not drown the rare",
        "Among people who look the same, the most frequent value stays below c times all values from the rank l on.",
        term="recursive (c, l)-diversity",
        prevents="Ruling values out: somebody knows that Ann does not have the flu, and few illnesses are left.",
        example="With c = 4 and l = 2, the most frequent illness has less than 4 times the rows of all others.",
        parameters=[
            _number("c", "Factor", 4.0, 0.1, 100.0, 0.1),
            _number("l", "From this rank on", 2, 2, 20, 1),
            _COLUMN,
        ],
    ),
    _entry(
        "l+",
        "No value is too likely",
        "Among people who look the same, no sensitive value has a larger share than this.",
        term="l+-diversity",
        prevents="A good guess: half of those who could be Ann have the same illness.",
        example="With 0.3, no illness is had by more than 3 in 10 of the rows that could be Ann's.",
        parameters=[_number("theta", "Largest share", 0.3, 0.01, 1.0, 0.01), _COLUMN],
    ),
    _entry(
        "t",
        "Groups are like everybody",
        "Among people who look the same, the sensitive column is spread almost as in the whole table.",
        term="t-closeness",
        prevents="Learning something about a group: those who could be Ann are far more often ill than others.",
        example="With 0.2, at most a fifth of the group would have to change to look like everybody.",
        parameters=[
            _number("t", "Largest distance", 0.2, 0.01, 1.0, 0.01),
            _COLUMN,
            _choice(
                "distance",
                "Distance between values",
                {
                    "equal": "all the same",
                    "ordered": "by their order",
                    "hierarchical": "by their hierarchy",
                },
            ),
        ],
    ),
    _entry(
        "alpha-k",
        "Nobody stands out, and no value is too likely",
        "Every person looks the same as so many, and no sensitive value has a larger share of them than this.",
        term="(α, k)-anonymity",
        prevents="Being found, and a good guess at the secret, both at once.",
        example="With 0.5 and 5, Ann is one of five or more, of whom at most half have the same illness.",
        parameters=[
            _number("alpha", "Largest share of a value", 0.5, 0.01, 1.0, 0.01),
            _number("k", "How many look the same, at least", 5, 2, 100, 1),
            _COLUMN,
        ],
    ),
    _entry(
        "beta",
        "No value is much more likely than it was",
        "Among people who look the same, no value is more frequent than in the whole table by more than this factor.",
        term="β-likeness",
        prevents="Suspicion: a rare illness is three times as frequent in Ann's group as among everybody.",
        example="With 1, an illness of 2 % of all people has at most 4 % of any group.",
        parameters=[_number("beta", "More frequent by", 1.0, 0.1, 10.0, 0.1), _COLUMN],
    ),
    _entry(
        "delta-disclosure",
        "Groups tell next to nothing",
        "Among people who look the same, every value is about as frequent as in the whole table, up or down.",
        term="δ-disclosure privacy",
        prevents="Learning that somebody is more likely, or less likely, to have a value than anybody else.",
        example="With 1, no illness is more than 2.7 times as frequent in a group as among everybody, or as rare.",
        parameters=[_number("delta", "Largest difference (logarithm)", 1.0, 0.1, 5.0, 0.1), _COLUMN],
    ),
    _entry(
        "average-risk",
        "Few are found on average",
        "The chance of picking the right row, on average over all people, is at most this.",
        term="average risk",
        prevents="Mass re-identification: somebody matches the table with a register of everybody.",
        example="With 0.05, one match in twenty is right on average; single people may still stand out.",
        parameters=[_number("risk", "Average chance", 0.05, 0.001, 1.0, 0.001)],
    ),
    _entry(
        "sample-uniqueness",
        "Few are alone",
        "At most this share of people have a combination of values that nobody else has.",
        term="sample uniqueness",
        prevents="Certain matches: rows that only one person can be.",
        example="With 0.01, at most one row in a hundred is the only one of its kind.",
        parameters=[_number("share", "Largest share of people", 0.01, 0.001, 1.0, 0.001)],
    ),
    _entry(
        "k-map",
        "Nobody stands out in the population",
        "Every row could be one of so many people of the population the table was drawn from.",
        term="k-map, estimated",
        prevents="Being found by somebody who does not know who is in the table.",
        example="With 20 and a sample of a tenth, each row could be 20 people of the country.",
        parameters=[
            _number("k", "People of the population, at least", 20, 2, 1000, 1),
            _number("fraction", "Share of the population that is in the table", 0.1, 0.001, 1.0, 0.001),
        ],
    ),
    _entry(
        "population-uniqueness",
        "Few are unique in the population",
        "Of the population the table was drawn from, at most this share of people are estimated to be unique.",
        term="population uniqueness",
        prevents="Certain matches by somebody who does not know who is in the table.",
        example="With 0.01, an estimated one person in a hundred of the country at most has values nobody else has.",
        parameters=[
            _number("share", "Largest share of people", 0.01, 0.001, 1.0, 0.001),
            _choice(
                "model",
                "Estimated by",
                {
                    "dankar": "the rule that chooses (Dankar)",
                    "pitman": "Pitman",
                    "zayatz": "Zayatz",
                    "snb": "negative binomial (SNB)",
                },
            ),
            _number("population", "People in the population", 1_000_000, 1, 10_000_000_000, 1),
        ],
    ),
]
"""All but ``delta-presence``, which wants a table of the population."""
_COSTS = [
    _entry(
        "LM",
        "Loss of detail",
        "For each value, the share of all values it could stand for now. Good for general use.",
        recommended=True,
        weights=True,
    ),
    _entry("NCP", "Width", "How wide the released ranges and groups are, as a share of the column.", weights=True),
    _entry("DM", "Size of groups", "How many people look the same, added up over all people: small groups are good."),
    _entry("HDM", "Harder to tell apart", "How many people became harder to tell apart in each column."),
    _entry(
        "CM",
        "Prediction",
        "How many people lose the most frequent label of those who look the same: for training a classifier. It needs "
        "a column with the role 'class'.",
        needs="class",
    ),
    _entry("entropy", "Information", "How many bits it would take to guess the original values.", weights=True),
    _entry("precision", "Levels", "How far values were lifted in their hierarchies.", weights=True),
    _entry("C_AVG", "Average size", "How many people look the same on average."),
    _entry("ambiguity", "Possible originals", "How many combinations of original values a row could stand for."),
    _entry("score", "Different values", "How many different values are left, by the priorities.", weights=True),
]
_SUPPRESSION = [
    _entry(
        "budget",
        "Some people may be left out",
        "People who fit into no group are left out, but no more than this share. A few outliers fewer often keep much "
        "detail for all others.",
        recommended=True,
        parameters=[{**_number("limit", "At most this share of all people", 0.05, 0.0, 1.0, 0.005), "percent": True}],
    ),
    _entry("none", "Nobody may be left out", "Every person stays in the table."),
    _entry("class-records", "As many as it takes", "Every group that breaks a promise is left out, however many."),
    _entry(
        "violating-records",
        "As few as possible from each group",
        "From a group that breaks a promise about the sensitive column, only so many are left out that it keeps it.",
        schemes=["subtree"],
    ),
    _entry(
        "class-values",
        "Hide the sensitive values of a group",
        "People stay, and the sensitive values of a group that breaks a promise become unknown.",
        schemes=["subtree"],
    ),
    _entry(
        "violating-values",
        "Hide sensitive values that are too frequent",
        "People stay, and only the values that are too frequent in their group become unknown.",
        schemes=["subtree"],
    ),
]
_SCHEMES = [
    _entry(
        "full-domain",
        "The same level for a whole column",
        "All values of a column are shown at one level, such as all ages in steps of ten. Easy to read and to analyse.",
        recommended=True,
    ),
    _entry(
        "subtree",
        "Branches of the tree",
        "Each branch may be shown at its own level: crowded regions by town, empty ones by county. Keeps more.",
    ),
    _entry(
        "ordered", "Ranges that fit", "Neighbouring values are joined wherever that is best; no hierarchy is needed."
    ),
    _entry(
        "guided-ordered", "Ranges along the groups", "Like ranges that fit, but groups of the hierarchy stay whole."
    ),
    _entry("set", "Any sets", "Any values may be joined. Keeps most, and takes longest: for few values."),
    _entry("guided-set", "Sets along the groups", "Like any sets, but groups of the hierarchy stay whole."),
    _entry(
        "local",
        "Each group by itself",
        "The same age may be a range in one group and exact in another. Keeps most; harder to analyse.",
    ),
]
_SOLVERS = [
    _entry(
        "auto",
        "Automatic",
        "Takes the method that proves its result for the choices you made.",
        recommended=True,
        why="It is never worse: whichever choices you make, it takes the method that finds the best release and "
        "proves it, or the one that comes nearest.",
    ),
    _entry(
        "lattice", "Lattice", "The optimum with a proof, for the same level in a whole column.", schemes=["full-domain"]
    ),
    _entry("cuts", "Cuts", "The optimum with a proof, for branches of the tree.", schemes=["subtree"]),
    _entry(
        "partitions",
        "Partitions",
        "The optimum with a proof, for ranges and sets.",
        schemes=["full-domain", "subtree", "ordered", "guided-ordered", "set", "guided-set"],
    ),
    _entry("local", "Local search", "A good release with a bound, for each group by itself.", schemes=["local"]),
    _entry("mondrian", "Mondrian", "Cuts at the median: quick, for comparison.", schemes=["local"]),
    _entry("incognito", "Incognito", "Looks at every possible release: slow, for comparison.", schemes=["full-domain"]),
    _entry("annealing", "Annealing", "A random walk without a proof, for comparison.", schemes=["subtree"]),
]
_AXES = [
    _entry("k", "How many look the same", "The size of the smallest group of people who look the same."),
    _entry("distinct-l", "Different sensitive values", "The fewest different values in a group.", needs="sensitive"),
    _entry(
        "entropy-l", "How hard guessing is", "As hard as one of so many equally frequent values.", needs="sensitive"
    ),
    _entry("theta", "Most likely value", "The largest share of one sensitive value in a group.", needs="sensitive"),
    _entry("t", "Distance from everybody", "How far a group is from the whole table, at most.", needs="sensitive"),
    _entry("average-risk", "Average risk", "The chance of picking the right row, on average."),
]
_BUILDERS = [
    _entry("auto", "Automatic", "Levels are chosen by looking at the values.", recommended=True, example="auto"),
    _entry(
        "intervals",
        "Steps of equal width",
        "One width for each level, each a multiple of the one before.",
        types=["integer", "decimal", "date"],
        example="intervals(5, 10, 20)",
    ),
    _entry(
        "ranges",
        "My own steps",
        "Where each range begins; one list for each level.",
        types=["integer", "decimal", "date"],
        example="ranges([18, 30, 45, 65], [30, 65])",
    ),
    _entry("dates", "Calendar", "Months, years, decades.", types=["date"], example="dates(month, year, decade)"),
    _entry("mask", "Hide characters", "One more character at each level, from the right.", example="mask(digits=5)"),
    _entry("flat", "All or nothing", "The value itself, or nothing at all.", example="flat"),
]
_ROLES = [
    _entry("identifier", "Identifier", "Names a person. It is never released."),
    _entry("quasi-identifier", "Known to others", "Others may know it and find a person by it. It is made coarser."),
    _entry("sensitive", "Sensitive", "Nobody should learn it about a person. It is released, and protected."),
    _entry("class", "To predict", "What the released table should still be able to predict. It is released."),
    _entry("insensitive", "Ordinary", "Neither of these. It is released as it is."),
]
_TYPES = [
    _entry("text", "Text", "Words and codes."),
    _entry("integer", "Whole numbers", "Numbers without a fraction."),
    _entry("decimal", "Numbers", "Numbers with a fraction."),
    _entry("date", "Dates", "Days, as in 2024-03-01."),
    _entry("ordered", "Ordered text", "Words that have an order."),
]
_MISSING = [
    _entry(
        "value", "A value of its own", "People with a missing value look the same as others with it.", recommended=True
    ),
    _entry("suppress", "A reason to leave out", "Rows with a missing value in a column others know are left out."),
    _entry("error", "A mistake", "The job stops if one is missing."),
]
_MISSING_SENSITIVE = [
    _entry(
        "unknown",
        "Not known, so no value",
        "A group needs its different values among those that are known.",
        recommended=True,
    ),
    _entry("value", "A value like any other", "An empty cell counts as one of the different values of a group."),
]
