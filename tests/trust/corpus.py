# ruff: noqa: E501 - a sentence is kept in one piece
"""Bad inputs: what is asked, the exit code, and the sentence that answers, or its beginning where it lists what there is.

The sentences are what people read: a change here is a change of the product. Nothing in them is a value of the data.
"""

from __future__ import annotations

from typing import Any

__all__ = ["COMMANDS", "FILES", "JOBS", "JOB_FILES", "TREES"]

JOBS: dict[str, tuple[Any, int, str]] = {
    "k is none": ({"privacy": "k(none)"}, 2, "k of k-anonymity must be a whole number of at least 1, not None."),
    "k is true": ({"privacy": "k(true)"}, 2, "k of k-anonymity must be a whole number of at least 1, not True."),
    "k with two numbers": ({"privacy": "k(2, 3)"}, 2, "'k(2, 3)' has the wrong arguments; the form is k(k)."),
    "k without a number": ({"privacy": "k"}, 2, "'k' has the wrong arguments; the form is k(k)."),
    "k by another name": ({"privacy": "k(m=2)"}, 2, "'k(m=2)' has the wrong arguments; the form is k(k)."),
    "k nested": ({"privacy": "k(k(2))"}, 2, "k of k-anonymity must be a whole number of at least 1, not 'k(2)'."),
    "empty text": ({"privacy": ""}, 2, "'' is not a text form; write name or name(arguments), as in k(5)."),
    "blank text": ({"privacy": "  "}, 2, "'  ' is not a text form; write name or name(arguments), as in k(5)."),
    "bracket too many": (
        {"privacy": "k(2))"},
        2,
        "'k(2))' is not a text form; it has more closing brackets than opening ones.",
    ),
    "text after": (
        {"privacy": "k(2) and more"},
        2,
        "'k(2) and more' is not a text form; the arguments of 'k' go in one pair of brackets.",
    ),
    "no comma": (
        {"privacy": "distinct-l(2 s)"},
        2,
        "l of distinct l-diversity must be a whole number of at least 1, not '2 s'.",
    ),
    "a number as model": ({"privacy": 5}, 2, "A privacy model is given as text or as an object, not as int."),
    "none as model": ({"privacy": None}, 2, "A privacy model is given as text or as an object, not as NoneType."),
    "a list in a list": ({"privacy": [["k(2)"]]}, 2, "A privacy model is given as text or as an object, not as list."),
    "quote left open": (
        {"privacy": "distinct-l(2, 's)"},
        2,
        "'distinct-l(2, 's)' is not a text form; a quote or bracket is left open.",
    ),
    "l of zero": (
        {"privacy": "distinct-l(0, s)"},
        2,
        "l of distinct l-diversity must be a whole number of at least 1, not 0.",
    ),
    "l of half": (
        {"privacy": "distinct-l(1.5, s)"},
        2,
        "l of distinct l-diversity must be a whole number of at least 1, not 1.5.",
    ),
    "l above the values": (
        {"privacy": "distinct-l(9, s)"},
        4,
        "'distinct-l(9, s)' needs 9 different values of 's' in each class and the whole table has 3; ask for less.",
    ),
    "k above the rows": (
        {"privacy": "k(7)"},
        4,
        "'k(7)' needs classes of 7 rows and the whole table has 6; k can be 6 at most.",
    ),
    "k above the rows of alpha-k": (
        {"privacy": "alpha-k(0.5, 7, s)"},
        4,
        "'alpha-k(0.5, 7, s)' needs classes of 7 rows and the whole table has 6; k can be 6 at most.",
    ),
    "k above the rows, and wrong usage": (
        {"privacy": "k(7)", "cost": "DM", "scheme": "local"},
        2,
        "The cost DM does not go with the scheme local: choose NCP or LM, which say what each value loses.",
    ),
    "l of a quasi-identifier": (
        {"privacy": "distinct-l(2, sex)"},
        2,
        "'distinct-l(2, sex)' looks at column 'sex', which is not sensitive; add it to the sensitive columns.",
    ),
    "l of nobody": (
        {"privacy": "distinct-l(2, nobody)"},
        2,
        "'distinct-l(2, nobody)' looks at column 'nobody', which is not sensitive; add it to the sensitive columns.",
    ),
    "entropy below one": (
        {"privacy": "entropy-l(0.5, s)"},
        2,
        "l of entropy l-diversity must be a number of at least 1, not 0.5.",
    ),
    "entropy too high": (
        {"privacy": "entropy-l(4.5, s)"},
        4,
        "'entropy-l(4.5, s)' needs 5 different values of 's' in each class and the whole table has 3; ask for less.",
    ),
    "c of zero": (
        {"privacy": "recursive-cl(0, 2, s)"},
        2,
        "c of recursive (c,l)-diversity must be a number above 0, not 0.",
    ),
    "c not a number": (
        {"privacy": "recursive-cl(x, 2, s)"},
        2,
        "c of recursive (c,l)-diversity must be a number above 0, not 'x'.",
    ),
    "recursive l of zero": (
        {"privacy": "recursive-cl(2, 0, s)"},
        2,
        "l of recursive (c,l)-diversity must be a whole number of at least 1, not 0.",
    ),
    "theta of zero": (
        {"privacy": "l+(0, s)"},
        2,
        "theta of l+-diversity must be a number above 0 and of at most 1, not 0.",
    ),
    "theta above one": (
        {"privacy": "l+(1.2, s)"},
        2,
        "theta of l+-diversity must be a number above 0 and of at most 1, not 1.2.",
    ),
    "theta by colour": (
        {"privacy": "l+(0.5, s, by=colour)"},
        2,
        "by of l+-diversity must be one of frequency, not 'colour'.",
    ),
    "thetas by frequency": (
        {"privacy": "l+({a: 0.5}, s, by=frequency)"},
        2,
        "With by=frequency, theta of l+-diversity must be one number for all values.",
    ),
    "theta of an unknown value": (
        {"privacy": "l+({zzz: 0.5}, s)"},
        2,
        "'l+' has thresholds for 1 value that 's' does not have; correct the spelling or leave them out.",
    ),
    "theta of nothing": (
        {"privacy": "l+({}, s)"},
        2,
        "theta of l+-diversity must be a number or map values, as text, to numbers.",
    ),
    "theta nobody can keep": (
        {"privacy": "l+(0.2, s)"},
        4,
        "No class can keep to the thresholds of 'l+' for 's'; raise them.",
    ),
    "t below zero": (
        {"privacy": "t(-0.1, s)"},
        2,
        "t of t-closeness must be a number of at least 0 and of at most 1, not -0.1.",
    ),
    "t above one": (
        {"privacy": "t(1.5, s)"},
        2,
        "t of t-closeness must be a number of at least 0 and of at most 1, not 1.5.",
    ),
    "t by miles": (
        {"privacy": "t(0.5, s, miles)"},
        2,
        "The distance of t-closeness must be one of equal, ordered, hierarchical, not 'miles'.",
    ),
    "t without a tree": (
        {"privacy": "t(0.5, s, hierarchical)"},
        2,
        "'t(0.5, s, hierarchical)' needs a hierarchy of 's'; give one or choose another distance.",
    ),
    "alpha above one": (
        {"privacy": "alpha-k(2, 2, s)"},
        2,
        "alpha of (alpha, k)-anonymity must be a number above 0 and of at most 1, not 2.",
    ),
    "alpha-k of zero": (
        {"privacy": "alpha-k(0.5, 0, s)"},
        2,
        "k of (alpha, k)-anonymity must be a whole number of at least 1, not 0.",
    ),
    "alpha-k with values hidden": (
        {"privacy": "alpha-k(0.5, 2, s)", "suppression": "class-values", "scheme": "subtree"},
        2,
        "'alpha-k(0.5, 2, s)' does not go with a suppression that makes values unknown; give k(2) and l+(0.5) apart.",
    ),
    "beta of zero": ({"privacy": "beta(0, s)"}, 2, "beta of beta-likeness must be a number above 0, not 0."),
    "beta strange": (
        {"privacy": "beta(1, s, strange)"},
        2,
        "The form of beta-likeness must be one of basic, enhanced, not 'strange'.",
    ),
    "delta of zero": (
        {"privacy": "delta-disclosure(0, s)"},
        2,
        "delta of delta-disclosure must be a number above 0, not 0.",
    ),
    "k-map of no share": (
        {"privacy": "k-map(5, 0)"},
        2,
        "The fraction of the population for k-map must be a number above 0 and of at most 1, not 0.",
    ),
    "k-map of two shares": (
        {"privacy": "k-map(5, 2)"},
        2,
        "The fraction of the population for k-map must be a number above 0 and of at most 1, not 2.",
    ),
    "k-map by a guess": (
        {"privacy": "k-map(5, 0.1, guess)"},
        2,
        "The estimator of k-map must be one of poisson, truncated, not 'guess'.",
    ),
    "k-map too significant": (
        {"privacy": "k-map(5, 0.1, significance=0.9)"},
        2,
        "The significance of k-map must be a number above 0 and of at most 0.5, not 0.9.",
    ),
    "risk of zero": (
        {"privacy": "average-risk(0)"},
        2,
        "The average risk must be a number above 0 and of at most 1, not 0.",
    ),
    "risk above one": (
        {"privacy": "average-risk(2)"},
        2,
        "The average risk must be a number above 0 and of at most 1, not 2.",
    ),
    "uniques below zero": (
        {"privacy": "sample-uniqueness(-1)"},
        2,
        "The share of unique rows must be a number of at least 0 and of at most 1, not -1.",
    ),
    "risk of the table locally": (
        {"privacy": "average-risk(0.5)", "scheme": "local"},
        2,
        "The privacy model average-risk does not go with the scheme local: choose full-domain.",
    ),
    "risk of the table with parts": (
        {
            "privacy": ["average-risk(0.5)", "distinct-l(2, s)"],
            "suppression": "violating-records",
            "scheme": "full-domain",
        },
        2,
        "The suppression violating-records does not go with the privacy model average-risk: choose class-records.",
    ),
    "highest level where there are none": (
        {"scheme": "local", "cost": "NCP", "max_levels": {"age": 3}},
        2,
        "A limit on the levels of 'age' does not go with the scheme local: leave the limit out or choose the scheme subtree.",
    ),
    "lowest level where there are none": (
        {"scheme": "local", "cost": "NCP", "min_levels": {"age": 0}},
        2,
        "A limit on the levels of 'age' does not go with the scheme local: leave the limit out or choose the scheme subtree.",
    ),
    "effort unheard of": (
        {"solver": "local(effort=extreme)", "scheme": "local", "cost": "NCP"},
        2,
        "The effort of local must be one of low, default, high, not 'extreme'.",
    ),
    "effort misspelt": (
        {"solver": "local(effort=hihg)", "scheme": "local", "cost": "NCP"},
        2,
        "The effort of local must be one of low, default, high, not 'hihg'; did you mean 'high'?",
    ),
    "argument misspelt": (
        {"solver": "local(effrt=high)", "scheme": "local", "cost": "NCP"},
        2,
        "'local(effrt=high)' has no argument 'effrt'; did you mean 'effort'?",
    ),
    "argument given twice": (
        {"solver": "local(effort=high, effort=low)", "scheme": "local", "cost": "NCP"},
        2,
        "'local(effort=high, effort=low)' gives 'effort' twice; leave one out.",
    ),
    "distance misspelt": (
        {"privacy": "t(0.5, s, orderd)"},
        2,
        "The distance of t-closeness must be one of equal, ordered, hierarchical, not 'orderd'; did you mean 'ordered'?",
    ),
    "cost as a number": ({"cost": 5}, 2, "A cost is given as text or as an object, not as int."),
    "cost with an unknown option": (
        {"cost": "LM(speed=2)"},
        2,
        "'LM(speed=2)' has the wrong arguments; the form is LM(weights, penalty).",
    ),
    "weights no numbers": (
        {"cost": "LM(weights={age: much})"},
        2,
        "The weight of 'age' must be a number above 0 and of at most 1e+12, not 'much'.",
    ),
    "weights negative": (
        {"cost": "LM(weights={age: -1})"},
        2,
        "The weight of 'age' must be a number above 0 and of at most 1e+12, not -1.",
    ),
    "weights no mapping": (
        {"cost": "LM(weights=3)"},
        2,
        "The weights of LM must map column names to numbers, as in {age: 2}.",
    ),
    "weights all zero": (
        {"cost": "LM(weights={age: 0, sex: 0})"},
        2,
        "The weight of 'age' must be a number above 0 and of at most 1e+12, not 0.",
    ),
    "penalty unknown": (
        {"cost": "LM(penalty=double)"},
        2,
        "The penalty of LM must be one of iyengar, l+, not 'double'.",
    ),
    "C_AVG of zero": ({"cost": "C_AVG(k=0)"}, 2, "k of C_AVG must be a whole number of at least 1, not 0."),
    "score by luck": ({"cost": "score(luck)"}, 2, "The score must be one of basic, eta, log, not 'luck'."),
    "score of zero d": (
        {"cost": "score(eta, d=0)"},
        2,
        "d of the score eta must be a whole number of at least 1, not 0.",
    ),
    "precision of cuts": (
        {"cost": "precision", "scheme": "subtree"},
        2,
        "The cost precision does not go with the scheme subtree of 'age': it is only defined for full-domain levels.",
    ),
    "node weights of nobody": (
        {"cost": "NCP(node_weights={zip: {a: 2}})"},
        2,
        "The cost NCP has node weights for 'zip', which is not a quasi-identifier.",
    ),
    "node weights of no node": (
        {"cost": "NCP(node_weights={sex: {zzz: 2}})", "scheme": "local"},
        2,
        "The cost NCP has a weight for 'zzz', but the hierarchy of 'sex' has no such node above two values or more; name one as it is released.",
    ),
    "node weights below": (
        {"cost": "NCP(node_weights={sex: 5})"},
        2,
        "The node weights of NCP must map column names to nodes and numbers, as in {work: {Government: 2}}.",
    ),
    "DM locally": (
        {"cost": "DM", "scheme": "local"},
        2,
        "The cost DM does not go with the scheme local: choose NCP or LM, which say what each value loses.",
    ),
    "CM without labels": (
        {"cost": "CM"},
        2,
        "The cost CM needs a class attribute; name its column with class_attribute.",
    ),
    "values hidden for DM": (
        {"cost": "DM", "suppression": "class-values", "scheme": "subtree", "privacy": "distinct-l(2, s)"},
        2,
        "The cost DM does not go with the suppression class-values: it does not say what a value made unknown costs; choose LM or the suppression class-records.",
    ),
    "records of NCP": (
        {"cost": "NCP", "suppression": "violating-records", "scheme": "subtree", "privacy": "distinct-l(2, s)"},
        2,
        "The cost NCP does not go with the suppression violating-records: it depends on which rows of a class go; choose LM, DM or CM, or the suppression class-records.",
    ),
    "budget without a limit": (
        {"suppression": "budget"},
        2,
        "'budget' has the wrong arguments; the form is budget(limit).",
    ),
    "budget negative": (
        {"suppression": "budget(-1)"},
        2,
        "The number of records to suppress must be a whole number of at least 0, not -1.",
    ),
    "budget of words": (
        {"suppression": "budget(some)"},
        2,
        "The number of records to suppress must be a whole number of at least 0, not 'some'.",
    ),
    "budget of 150 %": (
        {"suppression": "budget(150%)"},
        2,
        "The share of records to suppress must be a number of at least 0 and of at most 1, not 1.5.",
    ),
    "none with a limit": ({"suppression": "none(3)"}, 2, "'none(3)' has the wrong arguments; the form is none."),
    "pre-sampling for LM": (
        {"suppression": "pre-sampling(2)", "cost": "LM"},
        2,
        "The suppression pre-sampling does not go with the cost LM: choose the cost score, or the suppression budget.",
    ),
    "pre-sampling of zero": (
        {"suppression": "pre-sampling(0)", "cost": "score"},
        2,
        "k of pre-sampling must be a whole number of at least 1, not 0.",
    ),
    "pre-sampling too high": (
        {"suppression": "pre-sampling(2, levels={age: 9})", "cost": "score"},
        2,
        "The pre-sampling level 9 of 'age' does not fit; its hierarchy has levels 0 to 3.",
    ),
    "pre-sampling of nobody": (
        {"suppression": "pre-sampling(2, levels={zip: 1})", "cost": "score"},
        2,
        "Pre-sampling has a level for 'zip', which is not a quasi-identifier.",
    ),
    "limits under which no row could stay": (
        {"max_levels": {"age": 0, "sex": 0}},
        4,
        "No recoding keeps k(2) with the limits on the levels of 'age' and 'sex' by suppressing at most 0 of 6 rows; the nearest limits that work let 'age' up to level 3; otherwise promise less: whatever the budget, no row could stay.",
    ),
    "pre-sampling takes all": (
        {"suppression": "pre-sampling(9)", "cost": "score"},
        4,
        "The suppression pre-sampling(9) leaves no record; choose a smaller k or higher levels.",
    ),
    "violating values of k": (
        {"suppression": "violating-values", "privacy": ["k(2)", "entropy-l(1.5, s)"], "scheme": "subtree"},
        2,
        "The suppression violating-values does not go with the privacy model entropy-l: choose l+ or the suppression class-values.",
    ),
    "violating records of t": (
        {"suppression": "violating-records", "privacy": ["k(2)", "t(0.5, s)"], "scheme": "subtree"},
        2,
        "The suppression violating-records does not go with the privacy model t: choose class-records.",
    ),
    "parts of two columns": (
        {
            "suppression": "violating-records",
            "privacy": ["distinct-l(2, s)", "distinct-l(2, u)"],
            "sensitive": ["s", "u"],
            "scheme": "subtree",
        },
        2,
        "The suppression violating-records does not go with privacy models of several attributes (s, u): keep to one sensitive attribute or choose class-records.",
    ),
    "records of levels": (
        {"suppression": "violating-records", "privacy": "distinct-l(2, s)"},
        2,
        "The scheme full-domain does not go with the suppression violating-records: choose budget, class-records, none or pre-sampling.",
    ),
    "values of sets": (
        {"suppression": "class-values", "privacy": "distinct-l(2, s)", "scheme": "set"},
        2,
        "The scheme set does not go with the suppression class-values: choose budget, class-records or none.",
    ),
    "local with a limit": (
        {"scheme": "local", "max_levels": {"age": 1}},
        2,
        "A limit on the levels of 'age' does not go with the scheme local: leave the limit out or choose the scheme subtree.",
    ),
    "local shows luck": (
        {"scheme": "local(show=luck)"},
        2,
        "What a class shows under the scheme local must be one of cover, mean, median, mode, not 'luck'.",
    ),
    "local and global": (
        {"scheme": {"age": "local", "sex": "subtree"}},
        2,
        "The scheme local does not go with the scheme subtree of another attribute: choose one scheme for all.",
    ),
    "scheme of words": (
        {"scheme": "sub tree"},
        2,
        "'sub tree' is not a text form; the arguments of 'sub' go in one pair of brackets.",
    ),
    "scheme as a number": ({"scheme": 3}, 2, "A scheme is given as text or as an object, not as int."),
    "set with limits": (
        {"scheme": "set", "min_levels": {"age": 1}},
        2,
        "The scheme set of 'age' does not go with limits of its level: choose full-domain, subtree, ordered or guided-ordered for it, or leave the limits out.",
    ),
    "solver for another scheme": (
        {"solver": "cuts"},
        2,
        "The solver cuts does not go with the scheme full-domain of 'age': it searches subtree.",
    ),
    "lattice of cuts": (
        {"solver": "lattice", "scheme": "subtree"},
        2,
        "The solver lattice does not go with the scheme subtree of 'age': it searches full-domain.",
    ),
    "mondrian of levels": (
        {"solver": "mondrian"},
        2,
        "The solver mondrian does not go with the scheme full-domain of 'age': it searches local.",
    ),
    "incognito with a budget": (
        {"solver": "incognito", "suppression": "budget(1)"},
        2,
        "The solver incognito does not go with the suppression budget: it applies none, pre-sampling.",
    ),
    "incognito of delta": (
        {"solver": "incognito", "privacy": "delta-disclosure(1, s)"},
        2,
        "The solver incognito does not go with the privacy model delta-disclosure: choose the solver lattice.",
    ),
    "user-oriented for LM": (
        {"solver": "user-oriented", "cost": "LM"},
        2,
        "The solver user-oriented does not go with the cost LM: choose the solver auto or another cost.",
    ),
    "annealing without steps": (
        {"solver": "annealing(steps=0)", "scheme": "subtree"},
        2,
        "The steps of annealing must be a whole number of at least 1, not 0.",
    ),
    "annealing that heats": (
        {"solver": "annealing(cooling=2)", "scheme": "subtree"},
        2,
        "The cooling of annealing must be a number above 0 and of at most 1, not 2.",
    ),
    "cuts in no order": (
        {"solver": "cuts(order=none)", "scheme": "subtree"},
        2,
        "The order of cuts must be one of entropy, descending, ascending, not None.",
    ),
    "cuts of the zero best": (
        {"solver": "cuts(top=0)", "scheme": "subtree"},
        2,
        "top of cuts must be a whole number of at least 1, not 0.",
    ),
    "local with great effort": (
        {"solver": "local(effort=great)", "scheme": "local"},
        2,
        "The effort of local must be one of low, default, high, not 'great'.",
    ),
    "bound unknown": (
        {"solver": "mdav(bound=tight)", "scheme": "local"},
        2,
        "The bound of mdav must be one of nearest, prices, none, not 'tight'.",
    ),
    "top-down without rounds": (
        {"solver": "top-down(rounds=0)", "scheme": "local"},
        2,
        "The rounds of top-down must be a whole number of at least 1, not 0.",
    ),
    "partitions sideways": (
        {"solver": "partitions(direction=left)", "scheme": "set"},
        2,
        "The direction of partitions must be one of auto, bottom-up, top-down, not 'left'.",
    ),
    "partitions without a technique": (
        {"solver": "partitions(useful=false)", "scheme": "set"},
        2,
        "useful is a technique of the published search; add bounds=paper to switch it off.",
    ),
    "mondrian cut": (
        {"solver": "mondrian(cut=twice)", "scheme": "local"},
        2,
        "The cut of mondrian must be one of strict, relaxed, not 'twice'.",
    ),
    "partitions for precision": (
        {"solver": "partitions", "cost": "NCP", "scheme": "set"},
        2,
        "The solver partitions does not go with the cost NCP: it does not say what any block of values costs; choose LM, DM, HDM, CM or entropy.",
    ),
    "the published partitions for precision": (
        {"solver": "partitions(bounds=paper)", "cost": "precision"},
        2,
        "The cost precision does not go with a search over partitions: it is only defined for full-domain levels.",
    ),
    "priority of nobody": (
        {"priorities": {"zip": 3}},
        2,
        "A priority is given for 'zip', which is not a quasi-identifier; the quasi-identifiers are age, sex.",
    ),
    "priority of zero": (
        {"priorities": {"age": 0}},
        2,
        "The priority of 'age' must be a whole number of at least 1, not 0.",
    ),
    "priority of half": (
        {"priorities": {"age": 1.5}},
        2,
        "The priority of 'age' must be a whole number of at least 1, not 1.5.",
    ),
    "priorities of DM": (
        {"priorities": {"age": 2}, "cost": "DM"},
        2,
        "The cost DM has no weights, so that it knows no priorities; choose score or LM.",
    ),
    "priorities and weights": (
        {"priorities": {"age": 2}, "cost": "LM(weights={age: 3})"},
        2,
        "The cost LM(weights={age: 3}) has weights of its own; give either those or priorities.",
    ),
    "priorities no mapping": (
        {"priorities": ["age"]},
        2,
        "The priorities must map column names to whole numbers, as in {zip: 10, age: 5}.",
    ),
    "keep and max": (
        {"keep_at_least": {"age": 1}, "max_levels": {"age": 1}},
        2,
        "'age' is in keep_at_least and in max_levels, which mean the same; give one.",
    ),
    "keep of nobody": (
        {"keep_at_least": {"zip": 1}},
        2,
        "A level limit is given for 'zip', which is not a quasi-identifier.",
    ),
    "level of words": ({"max_levels": {"age": "low"}}, 2, "A level of 'age' must be a whole number."),
    "level below zero": (
        {"min_levels": {"age": -1}},
        2,
        "The levels -1 to 3 asked for 'age' do not fit; its hierarchy has levels 0 to 3.",
    ),
    "level true": ({"min_levels": {"age": True}}, 2, "A level of 'age' must be a whole number."),
    "time of zero": ({"time_limit": 0}, 2, "The time limit is a number of seconds above 0, not 0."),
    "time that is no number": (
        {"time_limit": float("nan")},
        2,
        "The time limit is a number of seconds above 0, not nan.",
    ),
    "time true": ({"time_limit": True}, 2, "The time limit is a number of seconds above 0, not True."),
    "seed below zero": ({"seed": -1}, 2, "The seed is a whole number of at least 0."),
    "seed true": ({"seed": True}, 2, "The seed is a whole number of at least 0."),
    "engine unknown": ({"engine": "oracle"}, 2, "There is no engine 'oracle'; the engines are"),
    "engine of a frame": (
        {"engine": "duckdb"},
        2,
        "The engine duckdb is for files, and this is a frame of polars, which works on it itself; leave the engine out.",
    ),
    "memory of words": (
        {"memory_limit": "much"},
        2,
        "Only DuckDB has a memory limit; choose the engine duckdb, or leave it out.",
    ),
    "memory without an engine": (
        {"memory_limit": "4GB"},
        2,
        "Only DuckDB has a memory limit; choose the engine duckdb, or leave it out.",
    ),
    "missing unknown": ({"missing": "ignore"}, 2, "missing is one of value, suppress, error, not 'ignore'."),
    "missing refused": (
        {"missing": "error", "quasi_identifiers": ["gap"]},
        3,
        "Column 'gap' has missing values in 1 row; fill them in, or choose missing='value' (a value of its own) or missing='suppress' (no such rows).",
    ),
    "types of nobody": (
        {"types": {"zip": "text"}},
        3,
        "There is no column 'zip'; there are 9 others, which 'discreet info FILE' lists.",
    ),
    "types unknown": ({"types": {"age": "number"}}, 2, "There is no type 'number'; known are"),
    "text as numbers": (
        {"types": {"sex": "integer"}},
        3,
        "Column 'sex': 2 of its 2 distinct values are not whole numbers; mend them, or let the type of the column be text.",
    ),
    "text as dates": (
        {"types": {"sex": "date"}},
        3,
        "Column 'sex': 2 of its 2 distinct values are not dates (YYYY-MM-DD); mend them, or let the type of the column be text.",
    ),
    "numbers as dates": (
        {"types": {"age": "date"}, "quasi_identifiers": ["age"]},
        3,
        "Column 'age': 6 of its 6 distinct values are not dates (YYYY-MM-DD); mend them, or let the type of the column be integer.",
    ),
    "one text among numbers": (
        {"types": {"mixed": "integer"}, "quasi_identifiers": ["mixed"]},
        3,
        "Column 'mixed': 1 of its 3 distinct values is not a whole number; mend it, or let the type of the column be text.",
    ),
    "one number that is not whole": (
        {"types": {"half": "integer"}, "quasi_identifiers": ["half"]},
        3,
        "Column 'half': 1 of its 3 distinct values is not a whole number; mend it, or let the type of the column be decimal.",
    ),
    "one endless number": (
        {"quasi_identifiers": ["endless"]},
        3,
        "Column 'endless' has 1 infinite value; replace it by a number or leave it empty.",
    ),
    "one value that the hierarchy lacks": (
        {"quasi_identifiers": {"mixed": "groups([1, 2])"}},
        3,
        "Column 'mixed': 1 of its 3 distinct values (in 2 rows) is not in the hierarchy given for it; add a row for it to the hierarchy, or leave those records out.",
    ),
    "identifier is sensitive": (
        {"identifiers": ["s"]},
        2,
        "Column 's' cannot be both identifier and sensitive; choose one role.",
    ),
    "class is an identifier": (
        {"identifiers": ["u"], "class_attribute": "u"},
        2,
        "Column 'u' cannot be both identifier and the class attribute; choose one role.",
    ),
    "quasi-identifiers are a number": (
        {"quasi_identifiers": 5},
        2,
        "Columns are given by name or as a list of names, not as int.",
    ),
    "a name that is none": (
        {"quasi_identifiers": [5]},
        2,
        "Columns are named by text; give numbered columns names first, as in frame.columns = frame.columns.astype(str).",
    ),
    "sensitive twice": ({"sensitive": ["s", "s"]}, 2, "Column 's' is named twice as sensitive; name it once."),
    "star in a sensitive column": (
        {"suppression": "class-values", "privacy": "distinct-l(2, star)", "sensitive": ["star"], "scheme": "subtree"},
        2,
        "Column 'star' has the value '*', which class-values writes for a value it suppresses; give it another name in the data first.",
    ),
}
"""What is changed in a good job, the exit code and the sentence."""

TREES: dict[str, tuple[Any, int, str]] = {
    "intervals of nothing": ("intervals()", 2, "intervals needs at least one width, as in intervals(5, 10, 20)."),
    "intervals of zero": (
        "intervals(0)",
        2,
        "The widths of intervals must be numbers above 0 and the origin a number.",
    ),
    "intervals below zero": (
        "intervals(-5)",
        2,
        "The widths of intervals must be numbers above 0 and the origin a number.",
    ),
    "intervals of words": ("intervals(five)", 2, "The width of intervals is a number, not 'five'."),
    "mask from nowhere": ("mask(from_right=maybe)", 2, "from_right of mask is true or false, not 'maybe'."),
    "intervals that cut across": (
        "intervals(5, 12)",
        2,
        "In 'intervals(5, 12)', 12 is not a multiple of 5, so its intervals would cut across narrower ones; make each width a multiple of the one before.",
    ),
    "intervals that shrink": (
        "intervals(10, 5)",
        2,
        "In 'intervals(10, 5)', 5 is not a multiple of 10, so its intervals would cut across narrower ones; make each width a multiple of the one before.",
    ),
    "intervals from words": (
        "intervals(5, origin=start)",
        2,
        "The origin of intervals is a number or a date, not 'start'.",
    ),
    "ranges of nothing": (
        "ranges()",
        2,
        "ranges needs lists of cut points, as in ranges([0, 18, 65]) or ranges([0, 5, 18, 65], [0, 18, 65]).",
    ),
    "ranges unsorted": ("ranges([5, 1])", 2, "The cut points of each level in 'ranges([5, 1])' must rise."),
    "ranges twice": ("ranges([5, 5])", 2, "The cut points of each level in 'ranges([5, 5])' must rise."),
    "ranges not nested": (
        "ranges([10, 20], [15])",
        2,
        "In 'ranges([10, 20], [15])' a coarser level has a cut point the finer one before it lacks, so its ranges would cut across finer ones; add it there.",
    ),
    "mask of zero": (
        "mask(digits=0)",
        2,
        "The digits of mask are a whole number of characters to hide, 1 or more, not 0.",
    ),
    "mask of words": (
        "mask(digits=some)",
        2,
        "The digits of mask are a whole number of characters to hide, 1 or more, not 'some'.",
    ),
    "mask below": (
        "mask(digits=-1)",
        2,
        "The digits of mask are a whole number of characters to hide, 1 or more, not -1.",
    ),
    "dates of numbers": (
        "dates(year)",
        3,
        "Column 'age': 6 of its 6 distinct values are not dates (YYYY-MM-DD); mend them, or choose a hierarchy for text.",
    ),
    "dates of centuries": ("dates(century)", 2, "There is no calendar unit 'century' for dates; known are"),
    "dates upside down": (
        "dates(year, month)",
        2,
        "The units of 'dates(year, month)' must go from fine to coarse, each once: day, week, month, quarter, year, decade.",
    ),
    "dates of nothing": (
        "dates()",
        3,
        "Column 'age': 6 of its 6 distinct values are not dates (YYYY-MM-DD); mend them, or choose a hierarchy for text.",
    ),
    "groups of nothing": (
        "groups()",
        2,
        "The hierarchy 'groups' does not take these arguments; write it as in groups({Government: [State, Local], Other: [Private]}).",
    ),
    "groups of one word": ("groups(a)", 2, "groups needs a list of values or a mapping from names to values."),
    "groups that lack values": (
        "groups([1, 2])",
        3,
        "Column 'age': 6 of its 6 distinct values (in 6 rows) are not in the hierarchy given for it; add a row for each to the hierarchy, or leave those records out.",
    ),
    "groups of an empty group": ("groups({a: []})", 2, "A group in groups is empty; leave it out or give it values."),
    "flat of something": ("flat(3)", 2, "The hierarchy 'flat' does not take these arguments; write it as in flat."),
    "ordered of nothing": (
        "ordered()",
        2,
        "The hierarchy 'ordered' does not take these arguments; write it as in ordered([low, middle, high]).",
    ),
    "unknown builder": ("buckets(3)", 2, "There is no hierarchy 'buckets(3)'; known are"),
    "no file": ("trees/none.csv", 3, "There is no hierarchy file 'trees/none.csv'; check the path."),
    "open bracket of a tree": ("intervals(5", 2, "There is no hierarchy 'intervals(5'; did you mean 'intervals'?"),
    "auto of something": ("auto(x=1)", 2, "The hierarchy 'auto' does not take these arguments; write it as in auto."),
}
"""The hierarchy of a column of ages."""

COMMANDS: dict[str, tuple[Any, int, str]] = {
    "no command": (("frobnicate",), 2, "No such command 'frobnicate'. (try: discreet --help)"),
    "two inputs": (
        ("anonymize", "people.csv", "more.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv"),
        2,
        "Got unexpected extra argument (more.csv) (try: discreet anonymize --help)",
    ),
    "k without a number": (
        ("anonymize", "people.csv", "--qi", "sex", "-k"),
        2,
        "Option '-k' requires an argument. (try: discreet --help)",
    ),
    "qi empty": (
        ("anonymize", "people.csv", "--qi", "", "-k", "2", "-o", "safe.csv"),
        2,
        "Which columns could identify a person? Name them with --qi; 'discreet info people.csv' helps.",
    ),
    "sensitive unknown": (
        ("anonymize", "people.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv", "--sensitive", "illness"),
        3,
        "There is no column 'illness'; there are 4 others, which 'discreet info FILE' lists.",
    ),
    "identifiers unknown": (
        ("anonymize", "people.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv", "--identifiers", "name"),
        3,
        "There is no column 'name'; there are 4 others, which 'discreet info FILE' lists.",
    ),
    "l of zero": (
        ("anonymize", "people.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv", "--sensitive", "s", "-l", "0"),
        2,
        "l of distinct l-diversity must be a whole number of at least 1, not 0.",
    ),
    "type without a name": (
        ("anonymize", "people.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv", "--type", "text"),
        2,
        "--type is written NAME=VALUE, and 'text' is not.",
    ),
    "weight without a name": (
        ("anonymize", "people.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv", "--weight", "2"),
        2,
        "--weight is written NAME=VALUE, and '2' is not.",
    ),
    "weight of zero": (
        ("anonymize", "people.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv", "--weight", "age=0"),
        2,
        "The weight of 'age' must be a number above 0 and of at most 1e+12, not 0.",
    ),
    "priority of words": (
        ("anonymize", "people.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv", "--priority", "age=high"),
        2,
        "--priority of 'age' must be a whole number, 0 or more.",
    ),
    "keep without a level": (
        ("anonymize", "people.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv", "--keep-at-least", "age"),
        2,
        "--keep-at-least is written NAME=VALUE, and 'age' is not.",
    ),
    "max level below": (
        ("anonymize", "people.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv", "--max-level", "age=-1"),
        2,
        "--max-level of 'age' must be a whole number, 0 or more.",
    ),
    "time of words": (
        ("anonymize", "people.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv", "--time-limit", "long"),
        2,
        "Invalid value for '--time-limit': 'long' is not a number. (try: discreet anonymize --help)",
    ),
    "seed of words": (
        ("anonymize", "people.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv", "--seed", "x"),
        2,
        "Invalid value for '--seed': 'x' is not a whole number. (try: discreet anonymize --help)",
    ),
    "engine unknown": (
        ("anonymize", "people.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv", "--engine", "oracle"),
        2,
        "Invalid value for '--engine': 'oracle' is not one of 'auto', 'polars', 'duckdb', 'spark'. (try: discreet anonymize --help)",
    ),
    "memory without engine": (
        ("anonymize", "people.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv", "--memory-limit", "1GB"),
        2,
        "Only DuckDB has a memory limit; choose the engine duckdb, or leave it out.",
    ),
    "memory of words": (
        (
            "anonymize",
            "people.csv",
            "--qi",
            "sex,age",
            "-k",
            "2",
            "-o",
            "safe.csv",
            "--engine",
            "duckdb",
            "--memory-limit",
            "much",
        ),
        2,
        "The memory limit is a size such as 4GB, not 'much'.",
    ),
    "spark without engine": (
        ("anonymize", "people.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv", "--spark-master", "local"),
        2,
        "A session of Spark goes with the engine spark; choose that one, or leave it out.",
    ),
    "output without a suffix": (
        ("anonymize", "people.csv", "--qi", "sex", "-k", "2", "-o", "safe"),
        2,
        "The name 'safe' does not say which format it is; end it in .csv",
    ),
    "output of text": (
        ("anonymize", "people.csv", "--qi", "sex", "-k", "2", "-o", "safe.txt"),
        2,
        "The name 'safe.txt' does not say which format it is; end it in .csv",
    ),
    "output is the report": (
        ("anonymize", "people.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv", "--report", "safe.csv"),
        2,
        "A report cannot be written as 'safe.csv'; end the name in",
    ),
    "output is the certificate": (
        ("anonymize", "people.csv", "--qi", "sex", "-k", "2", "-o", "x.jsonl", "--certificate", "x.jsonl"),
        2,
        "A certificate is written as JSON; end the name 'x.jsonl' in .json.",
    ),
    "report over the input": (
        ("anonymize", "people.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv", "--certificate", "people.csv"),
        2,
        "A certificate is written as JSON; end the name 'people.csv' in .json.",
    ),
    "two reports to one file": (
        (
            "anonymize",
            "people.csv",
            "--qi",
            "sex,age",
            "-k",
            "2",
            "-o",
            "safe.csv",
            "--report",
            "r.html",
            "--report",
            "r.html",
        ),
        6,
        "Two things would be written to 'r.html'; give one of them another name.",
    ),
    "job over the input": (
        ("anonymize", "people.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv", "--save-job", "people.csv"),
        6,
        "Writing 'people.csv' would overwrite a file that is read; give it another name.",
    ),
    "certificate in no folder": (
        ("anonymize", "people.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv", "--certificate", "no/c.json"),
        6,
        "There is no folder 'no'; make it first or write elsewhere.",
    ),
    "mapping in no folder": (
        ("anonymize", "people.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv", "--mapping", "no/m.json"),
        6,
        "There is no folder 'no'; make it first or write elsewhere.",
    ),
    "mapping of a local recoding": (
        (
            "anonymize",
            "people.csv",
            "--qi",
            "sex,age",
            "-k",
            "2",
            "-o",
            "safe.csv",
            "--scheme",
            "local",
            "--mapping",
            "m.json",
        ),
        2,
        "With the scheme local equal values become different ones, so that there is no mapping; choose another scheme and the suppression none, budget or class-records.",
    ),
    "output to a url of nothing": (
        ("anonymize", "people.csv", "--qi", "sex", "-k", "2", "-o", "oracle://x/y"),
        2,
        "There is no way to open 'oracle://…'; a table of a database is written duckdb",
    ),
    "output url without a table": (
        ("anonymize", "people.csv", "--qi", "sex", "-k", "2", "-o", "sqlite:///x.db"),
        2,
        "The URL does not say which table is meant; end it in ?table=NAME: sqlite:///people.db?table=people.",
    ),
    "input url without a table": (
        ("anonymize", "sqlite:///not.db", "--qi", "sex,age", "-k", "2", "-o", "safe.csv"),
        2,
        "The URL does not say which table is meant; end it in ?table=NAME: sqlite:///people.db?table=people.",
    ),
    "input is no database": (
        ("anonymize", "sqlite:///not.db?table=people", "--qi", "sex,age", "-k", "2", "-o", "safe.csv"),
        3,
        "'not.db' is damaged or no SQLite file.",
    ),
    "input database is not there": (
        ("anonymize", "sqlite:///none.db?table=people", "--qi", "sex,age", "-k", "2", "-o", "safe.csv"),
        3,
        "There is no database 'none.db'.",
    ),
    "input is a folder without tables": (
        ("anonymize", "folder", "--qi", "sex,age", "-k", "2", "-o", "safe.csv"),
        3,
        "There is no table in 'folder'; it should hold files such as part-0.parquet.",
    ),
    "pattern of nothing": (
        ("anonymize", "none-*.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv"),
        3,
        "There is no table in 'none-*.csv'; it should hold files such as part-0.parquet.",
    ),
    "input without a suffix": (
        ("anonymize", "people", "--qi", "sex,age", "-k", "2", "-o", "safe.csv"),
        2,
        "The name 'people' does not say which format it is; end it in .csv",
    ),
    "input empty": (
        ("anonymize", "empty.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv"),
        3,
        "'empty.csv' is empty.",
    ),
    "input has a header alone": (
        ("anonymize", "header.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv"),
        3,
        "The data has no rows; there is nothing to release.",
    ),
    "input ragged": (
        ("anonymize", "ragged.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv"),
        3,
        "Line 3 of 'ragged.csv' has 3 fields where the header has 2; correct the line and try again.",
    ),
    "column twice": (
        ("anonymize", "twice.csv", "--qi", "age", "-k", "2", "-o", "safe.csv"),
        3,
        "The header of 'twice.csv' names the column 'age' 2 times; give every column its own name.",
    ),
    "input binary": (
        ("anonymize", "binary.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv"),
        3,
        "'binary.csv' is not UTF-8; convert it first, as in: iconv -f WINDOWS-1252 -t UTF-8 'binary.csv' > 'utf8-binary.csv'.",
    ),
    "input in another encoding": (
        ("anonymize", "latin.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv"),
        3,
        "'latin.csv' is not UTF-8; convert it first, as in: iconv -f WINDOWS-1252 -t UTF-8 'latin.csv' > 'utf8-latin.csv'.",
    ),
    "quote left open": (
        ("anonymize", "open.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv"),
        3,
        "'open.csv' has a quotation mark that is never closed; correct it and try again.",
    ),
    "column without a name": (
        ("anonymize", "blank.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv"),
        3,
        "There is no column 'age'; there are 2 others, which 'discreet info FILE' lists.",
    ),
    "not gzipped": (
        ("anonymize", "notgz.csv.gz", "--qi", "sex,age", "-k", "2", "-o", "safe.csv"),
        3,
        "'notgz.csv.gz' cannot be read; it is damaged or not in the format its name says.",
    ),
    "not Parquet": (
        ("anonymize", "not.parquet", "--qi", "sex,age", "-k", "2", "-o", "safe.csv"),
        3,
        "'not.parquet' cannot be read; it is damaged or not in the format its name says.",
    ),
    "broken JSON lines": (
        ("anonymize", "broken.jsonl", "--qi", "sex,age", "-k", "2", "-o", "safe.csv"),
        3,
        "'broken.jsonl' cannot be read; it is damaged or not in the format its name says.",
    ),
    "JSON lines of lists": (
        ("anonymize", "list.jsonl", "--qi", "sex,age", "-k", "2", "-o", "safe.csv"),
        3,
        "'list.jsonl' cannot be read; it is damaged or not in the format its name says.",
    ),
    "not Excel": (
        ("anonymize", "not.xlsx", "--qi", "sex,age", "-k", "2", "-o", "safe.csv"),
        3,
        "'not.xlsx' cannot be read; it is damaged or not in the format its name says.",
    ),
    "tree with two parents": (
        (
            "anonymize",
            "people.csv",
            "--qi",
            "sex,age",
            "-k",
            "2",
            "-o",
            "safe.csv",
            "--hierarchy",
            "sex=two-parents.csv",
        ),
        3,
        "Hierarchy 'two-parents.csv': 'A' at level 1 has two parents at level 2 (rows 1 and 2); give it one parent, or use two names.",
    ),
    "tree with a gap": (
        ("anonymize", "people.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv", "--hierarchy", "sex=gap.csv"),
        3,
        "Hierarchy 'gap.csv', row 1: level 1 is missing; fill the empty cell (to pad a shallow leaf, repeat it).",
    ),
    "tree with a leaf twice": (
        (
            "anonymize",
            "people.csv",
            "--qi",
            "sex,age",
            "-k",
            "2",
            "-o",
            "safe.csv",
            "--hierarchy",
            "sex=leaf-twice.csv",
        ),
        3,
        "Hierarchy 'leaf-twice.csv': rows 1 and 2 list the same leaf with different parents; keep one of them.",
    ),
    "tree lacks a value": (
        ("anonymize", "people.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv", "--hierarchy", "sex=lacks.csv"),
        3,
        "Column 'sex': 1 of its 2 distinct values (in 12 rows) is not in the hierarchy 'lacks.csv'; add a row for it to the hierarchy, or leave those records out.",
    ),
    "tree empty": (
        ("anonymize", "people.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv", "--hierarchy", "sex=nothing.csv"),
        3,
        "Hierarchy 'nothing.csv' has no rows; give one row per leaf.",
    ),
    "tree binary": (
        ("anonymize", "people.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv", "--hierarchy", "sex=binary.csv"),
        3,
        "Hierarchy 'binary.csv' is not UTF-8 text; save it as UTF-8 first.",
    ),
    "tree is a folder": (
        ("anonymize", "people.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv", "--hierarchy", "sex=folder"),
        2,
        "There is no hierarchy 'folder'; did you mean 'ordered'?",
    ),
    "missing values refused": (
        ("anonymize", "gaps.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv", "--missing", "error"),
        3,
        "Column 'sex' has missing values in 1 row; fill them in, or choose --missing value (a value of its own) or --missing suppress (no such rows).",
    ),
    "CM without a class attribute": (
        ("anonymize", "people.csv", "--qi", "sex,age", "-k", "2", "-o", "safe.csv", "--cost", "CM"),
        2,
        "The cost CM needs a class attribute; name its column with --class-attribute.",
    ),
    "a limit told twice": (
        ("pareto", "people.csv", "--qi", "sex,age", "--max-level", "sex=1", "--keep-at-least", "sex=1"),
        2,
        "'sex' is in --keep-at-least and in --max-level, which mean the same; give one.",
    ),
    "audit without a file": (("audit",), 2, "Missing argument 'FILE'. (try: discreet audit --help)"),
    "audit by no certificate": (
        ("audit", "people.csv", "--certificate", "none.json"),
        3,
        "There is no certificate 'none.json'.",
    ),
    "audit by another certificate": (
        ("audit", "people.csv", "--certificate", "certificate.json"),
        3,
        "'certificate.json' is no certificate of a release, or it was damaged: it is something else.",
    ),
    "audit by a broken certificate": (
        ("audit", "people.csv", "--certificate", "broken.json"),
        3,
        "'broken.json' is no certificate of a release, or it was damaged: it is not JSON.",
    ),
    "audit of l without a column": (
        ("audit", "people.csv", "--qi", "age", "-l", "2"),
        2,
        "-l needs to know which column is sensitive; name it with --sensitive.",
    ),
    "apply without a mapping": (
        ("apply", "people.csv", "-o", "x.csv"),
        2,
        "Missing argument 'INPUT'. (try: discreet apply --help)",
    ),
    "apply a broken mapping": (
        ("apply", "broken.json", "people.csv", "-o", "x.csv"),
        3,
        "'broken.json' is no mapping of a release.",
    ),
    "apply another mapping": (
        ("apply", "mapping.json", "people.csv", "-o", "x.csv"),
        3,
        "'mapping.json' is no mapping of a release.",
    ),
    "apply no mapping": (
        ("apply", "none.json", "people.csv", "-o", "x.csv"),
        3,
        "There is no mapping 'none.json'.",
    ),
    "pareto without qi": (
        ("pareto", "people.csv"),
        2,
        "Which columns could identify a person? Name them with --qi; 'discreet info people.csv' helps.",
    ),
    "pareto to text": (
        ("pareto", "people.csv", "--qi", "sex,age", "-o", "f.doc"),
        2,
        "A front is written as .html, .svg, .png, .json, .csv; 'f.doc' says none of these.",
    ),
    "pareto of no axis": (
        ("pareto", "people.csv", "--qi", "sex,age", "--axis", "luck"),
        2,
        "There is no axis 'luck'; known are",
    ),
    "pareto of local": (
        ("pareto", "people.csv", "--qi", "sex,age", "--scheme", "local"),
        2,
        "A front does not go with the scheme local: choose full-domain or another global one.",
    ),
    "risk of no file": (("risk", "none.csv", "--qi", "age"), 3, "There is no file 'none.csv'."),
    "risk without qi": (
        ("risk", "people.csv"),
        2,
        "Which columns could identify a person? Name them with --qi; 'discreet info people.csv' helps.",
    ),
    "utility of one": (("utility", "people.csv"), 2, "Missing argument 'RELEASED'. (try: discreet utility --help)"),
    "info of a folder": (
        ("info", "folder"),
        3,
        "There is no table in 'folder'; it should hold files such as part-0.parquet.",
    ),
    "sample of words": (
        ("sample", "-n", "many", "-o", "x.csv"),
        2,
        "Invalid value for '-n' / '--rows': 'many' is not a whole number. (try: discreet sample --help)",
    ),
    "hierarchy with an unknown builder": (
        ("hierarchy", "make", "people.csv", "--column", "age", "--with", "buckets", "-o", "h.csv"),
        2,
        "There is no hierarchy 'buckets'; known are",
    ),
    "run nothing": (("run",), 2, "Missing argument 'JOB'. (try: discreet run --help)"),
    "run a list": (("run", "list.yaml"), 2, "'list.yaml' is no job file; it must have keys such as input and privacy."),
    "run text": (("run", "text.yaml"), 2, "'text.yaml' is no job file; it must have keys such as input and privacy."),
    "run tabs": (
        ("run", "tabs.yaml"),
        2,
        "The job file 'tabs.yaml' is not YAML: line 1, found character '\\t' that cannot start any token.",
    ),
    "run a key twice": (("run", "twice.yaml"), 2, "The job file 'twice.yaml' is not YAML: line 1, a key occurs twice."),
    "run broken JSON": (
        ("run", "broken.json"),
        2,
        "The job file 'broken.json' is not JSON: line 1, Expecting property name enclosed in double quotes.",
    ),
    "run a table": (
        ("run", "people.csv"),
        2,
        "'people.csv' is no job file; it must have keys such as input and privacy.",
    ),
    "run binary": (("run", "binary.csv"), 2, "The job file 'binary.csv' is not UTF-8 text."),
    "run a folder": (("run", "folder"), 3, "'folder' is a folder; name a file in it."),
}
"""The arguments of the command line, in a folder with the files below."""

JOB_FILES: dict[str, tuple[Any, int, str]] = {
    "nothing": ("", 2, "'job.yaml' is no job file; it must have keys such as input and privacy."),
    "no input": ("quasi_identifiers: [age]\nprivacy: k(2)\n", 2, "In 'job.yaml': The key 'input' is missing."),
    "no privacy": ("input: people.csv\nquasi_identifiers: [age]\n", 2, "In 'job.yaml': The key 'privacy' is missing."),
    "no quasi-identifiers": (
        "input: people.csv\nprivacy: k(2)\n",
        2,
        "In 'job.yaml': The key 'quasi_identifiers' is missing.",
    ),
    "quasi-identifiers empty": (
        "input: people.csv\nquasi_identifiers: []\nprivacy: k(2)\n",
        2,
        "In 'job.yaml': The key 'quasi_identifiers' must not be empty.",
    ),
    "privacy empty": (
        "input: people.csv\nquasi_identifiers: [age]\nprivacy: []\n",
        2,
        "In 'job.yaml': The key 'privacy' must not be empty.",
    ),
    "key misspelt": (
        "input: people.csv\noutput: safe.csv\nquasi_identifiers: [age, sex]\nprivacy: k(2)\nsupression: none\n",
        2,
        "In 'job.yaml': There is no key 'supression'; did you mean 'suppression'?",
    ),
    "missing values refused": (
        "input: gaps.csv\noutput: safe.csv\nquasi_identifiers: [age, sex]\nprivacy: k(2)\nmissing: error\n",
        3,
        "Column 'sex' has missing values in 1 row; fill them in, or choose missing: value (a value of its own) or missing: suppress (no such rows).",
    ),
    "required key misspelt": (
        "input: people.csv\noutput: safe.csv\nquasi_identifier: [age, sex]\nprivacy: k(2)\n",
        2,
        "In 'job.yaml': There is no key 'quasi_identifier'; did you mean 'quasi_identifiers'?",
    ),
    "key misspelt among others that are missing": (
        "imput: people.csv\n",
        2,
        "In 'job.yaml': There is no key 'imput'; did you mean 'input'?",
    ),
    "key as on the command line": (
        "input: people.csv\nqi: [age, sex]\nprivacy: k(2)\n",
        2,
        "In 'job.yaml': There is no key 'qi'; write quasi_identifiers: [age, sex].",
    ),
    "k as a key": (
        "input: people.csv\nquasi_identifiers: [age, sex]\nk: 2\n",
        2,
        "In 'job.yaml': There is no key 'k'; write privacy: k(5).",
    ),
    "key unknown": (
        "input: people.csv\noutput: safe.csv\nquasi_identifiers: [age, sex]\nprivacy: k(2)\ncolour: red\n",
        2,
        "In 'job.yaml': There is no key 'colour'; the keys are",
    ),
    "input a number": (
        "input: 5\noutput: safe.csv\nquasi_identifiers: [age, sex]\nprivacy: k(2)\n",
        2,
        "In 'job.yaml': The key 'input' must be text.",
    ),
    "input a list": (
        "input: [people.csv]\noutput: safe.csv\nquasi_identifiers: [age, sex]\nprivacy: k(2)\n",
        2,
        "In 'job.yaml': The key 'input' must be text.",
    ),
    "privacy a number": (
        "input: people.csv\noutput: safe.csv\nquasi_identifiers: [age, sex]\nprivacy: 5\n",
        2,
        "In 'job.yaml': The key 'privacy' must be text or a list of texts.",
    ),
    "privacy a mapping": (
        "input: people.csv\noutput: safe.csv\nquasi_identifiers: [age, sex]\nprivacy: {k: 2}\n",
        2,
        "In 'job.yaml': The key 'privacy' must be text or a list of texts.",
    ),
    "cost a number": (
        "input: people.csv\noutput: safe.csv\nquasi_identifiers: [age, sex]\nprivacy: k(2)\ncost: 3\n",
        2,
        "In 'job.yaml': The key 'cost' must be text.",
    ),
    "cost a list": (
        "input: people.csv\noutput: safe.csv\nquasi_identifiers: [age, sex]\nprivacy: k(2)\ncost: [LM]\n",
        2,
        "In 'job.yaml': The key 'cost' must be text.",
    ),
    "suppression a number": (
        "input: people.csv\noutput: safe.csv\nquasi_identifiers: [age, sex]\nprivacy: k(2)\nsuppression: 0.05\n",
        2,
        "In 'job.yaml': The key 'suppression' must be text.",
    ),
    "scheme a list": (
        "input: people.csv\noutput: safe.csv\nquasi_identifiers: [age, sex]\nprivacy: k(2)\nscheme: [subtree]\n",
        2,
        "In 'job.yaml': The key 'scheme' must be text, or a mapping from column to text.",
    ),
    "time of zero": (
        "input: people.csv\noutput: safe.csv\nquasi_identifiers: [age, sex]\nprivacy: k(2)\ntime_limit: 0\n",
        2,
        "In 'job.yaml': The key 'time_limit' must be more than 0.",
    ),
    "time of words": (
        "input: people.csv\noutput: safe.csv\nquasi_identifiers: [age, sex]\nprivacy: k(2)\ntime_limit: long\n",
        2,
        "In 'job.yaml': The key 'time_limit' must be a number.",
    ),
    "seed below zero": (
        "input: people.csv\noutput: safe.csv\nquasi_identifiers: [age, sex]\nprivacy: k(2)\nseed: -1\n",
        2,
        "In 'job.yaml': The key 'seed' must be 0 or more.",
    ),
    "seed of half": (
        "input: people.csv\noutput: safe.csv\nquasi_identifiers: [age, sex]\nprivacy: k(2)\nseed: 1.5\n",
        2,
        "In 'job.yaml': The key 'seed' must be a whole number.",
    ),
    "levels a number": (
        "input: people.csv\noutput: safe.csv\nquasi_identifiers: [age, sex]\nprivacy: k(2)\nmin_levels: 2\n",
        2,
        "In 'job.yaml': The key 'min_levels' must be a mapping.",
    ),
    "level of words": (
        "input: people.csv\noutput: safe.csv\nquasi_identifiers: [age, sex]\nprivacy: k(2)\nmin_levels: {age: high}\n",
        2,
        "In 'job.yaml': The key 'min_levels', entry 'age', must be a whole number.",
    ),
    "priority of half": (
        "input: people.csv\noutput: safe.csv\nquasi_identifiers: [age, sex]\nprivacy: k(2)\npriorities: {age: 1.5}\n",
        2,
        "In 'job.yaml': The key 'priorities', entry 'age', must be a whole number.",
    ),
    "types a list": (
        "input: people.csv\noutput: safe.csv\nquasi_identifiers: [age, sex]\nprivacy: k(2)\ntypes: [age]\n",
        2,
        "In 'job.yaml': The key 'types' must be a mapping.",
    ),
    "report a number": (
        "input: people.csv\noutput: safe.csv\nquasi_identifiers: [age, sex]\nprivacy: k(2)\nreport: 5\n",
        2,
        "In 'job.yaml': The key 'report' must be text or a list of texts.",
    ),
    "hierarchy a number": (
        "input: people.csv\noutput: safe.csv\nquasi_identifiers: {age: 5}\nprivacy: k(2)\n",
        2,
        "In 'job.yaml': The key 'quasi_identifiers' gives 'age' no hierarchy; write text, a CSV file, groups or null.",
    ),
    "column twice": (
        "input: people.csv\noutput: safe.csv\nquasi_identifiers: [age, age]\nprivacy: k(2)\n",
        2,
        "In 'job.yaml': The key 'quasi_identifiers' names the column 'age' twice.",
    ),
    "column a number": (
        "input: people.csv\noutput: safe.csv\nquasi_identifiers: [1, 2]\nprivacy: k(2)\n",
        2,
        "In 'job.yaml': The key 'quasi_identifiers' must be a list of column names, or a mapping from column to hierarchy.",
    ),
    "missing unknown": (
        "input: people.csv\noutput: safe.csv\nquasi_identifiers: [age, sex]\nprivacy: k(2)\nmissing: drop\n",
        2,
        "missing is one of value, suppress, error, not 'drop'.",
    ),
    "engine unknown": (
        "input: people.csv\noutput: safe.csv\nquasi_identifiers: [age, sex]\nprivacy: k(2)\nengine: oracle\n",
        2,
        "There is no engine 'oracle'; the engines are",
    ),
    "model unknown": (
        "input: people.csv\noutput: safe.csv\nquasi_identifiers: [age, sex]\nprivacy: kk(2)\n",
        2,
        "There is no privacy model 'kk'; did you mean 'k'?",
    ),
    "no such column": (
        "input: people.csv\noutput: safe.csv\nquasi_identifiers: [age, six]\nprivacy: k(2)\n",
        3,
        "There is no column 'six'; did you mean 'sex'?",
    ),
    "no such file": (
        "input: none.csv\noutput: safe.csv\nquasi_identifiers: [age, sex]\nprivacy: k(2)\n",
        3,
        "There is no file 'none.csv'.",
    ),
    "output missing": (
        "input: people.csv\nquasi_identifiers: [age, sex]\nprivacy: k(2)\n",
        2,
        "Where should the release go? Name a file with -o, or as output in the job file.",
    ),
    "brace left open": (
        "input: people.csv\noutput: safe.csv\nquasi_identifiers: [age, sex]\nprivacy: k(2)\ntypes: {age: text\n",
        2,
        "The job file 'job.yaml' is not YAML: line 6, expected ',' or '}', but got '<stream end>'.",
    ),
    "anchor unknown": (
        "input: people.csv\noutput: safe.csv\nquasi_identifiers: [age, sex]\nprivacy: k(2)\ntypes: *x\n",
        2,
        "The job file 'job.yaml' is not YAML: line 5, found undefined alias 'x'.",
    ),
    "class unknown": (
        "input: people.csv\noutput: safe.csv\nquasi_identifiers: [age, sex]\nprivacy: k(2)\nclass_attribute: y\n",
        3,
        "There is no column 'y'; there are 4 others, which 'discreet info FILE' lists.",
    ),
}
"""The text of a job file."""

FILES = {
    "people.csv": b"id,age,sex,s\n"
    + b"".join(b"%d,%d,%c,%c\n" % (i, 30 + i % 7, b"mf"[i % 2], b"abc"[i % 3]) for i in range(24)),
    "empty.csv": b"",
    "header.csv": b"age,sex\n",
    "ragged.csv": b"age,sex\n30,m\n31,f,x\n",
    "twice.csv": b"age,age\n1,2\n3,4\n",
    "binary.csv": b"\x00\xff\xfe\x01" * 50,
    "latin.csv": b"age,sex\n30,m\xe4nnlich\n",
    "open.csv": b'age,sex\n30,"m\n31,f\n',
    "blank.csv": b",sex\n1,m\n",
    "notgz.csv.gz": b"age,sex\n1,m\n",
    "not.parquet": b"age,sex\n1,m\n",
    "broken.jsonl": b'{"age": 1}\n{"age": \n',
    "list.jsonl": b"[1, 2]\n[3, 4]\n",
    "not.xlsx": b"hello",
    "not.db": b"this is not a database at all, is it? " * 40,
    "tree.csv": b"m;*\nf;*\n",
    "gaps.csv": b"age,sex\n30,m\n31,\n32,f\n33,m\n",
    "two-parents.csv": b"m;A;*\nf;A;+\nx;B;*\n",
    "gap.csv": b"m;;*\nf;A;*\n",
    "leaf-twice.csv": b"m;A;*\nm;B;*\nf;B;*\n",
    "lacks.csv": b"m;A;*\n",
    "nothing.csv": b"\n\n",
    "mapping.json": b"{}",
    "certificate.json": b'{"format": "other"}',
    "broken.json": b"{",
    "tabs.yaml": b"input:\tpeople.csv\n\tx: 1\n",
    "list.yaml": b"- a\n- b\n",
    "text.yaml": b"hello\n",
    "twice.yaml": b"input: a.csv\ninput: b.csv\n",
}
"""Files that are there, good and bad."""
