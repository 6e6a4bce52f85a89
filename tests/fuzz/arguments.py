"""Members of each family with random arguments.

For members listed here the arguments are drawn so that they often make sense; others get arguments by the names and
types of their fields.
"""

from __future__ import annotations

import dataclasses
import typing
from dataclasses import dataclass

from discreet.errors import DiscreetError
from discreet.problem.costs import COSTS
from discreet.problem.privacy import PRIVACY
from discreet.problem.schemes import SCHEMES
from discreet.problem.suppression import SUPPRESSION
from discreet.solve import SOLVERS

__all__ = ["FAMILIES", "Part", "known", "make_part"]

FAMILIES = {"privacy": PRIVACY, "cost": COSTS, "suppression": SUPPRESSION, "scheme": SCHEMES, "solver": SOLVERS}


@dataclass(frozen=True)
class Part:
    """One choice: a member of a family, its arguments and its text form."""

    name: str
    arguments: dict
    text: str


def _weights(rng, case):
    names = list(case["quasi"])
    return {name: rng.choice((0.5, 1, 2, 3)) for name in rng.sample(names, rng.randint(1, len(names)))}


def _secret(rng, case):
    return rng.choice(list(case["sensitive"]) or ["nothing"])


def _thetas(rng, case, column):
    texts = (
        {str(value) for value in case["sensitive"][column].values if value is not None}
        if column in case["sensitive"]
        else set()
    )
    if rng.random() < 0.2 and texts and all(isinstance(v, str) or v is None for v in case["sensitive"][column].values):
        some = rng.sample(sorted(texts), rng.randint(1, len(texts)))
        return {value: rng.choice((0.3, 0.5, 0.8, 1.0)) for value in some}
    return rng.choice((0.25, 0.34, 0.5, 0.75, 1.0))


def _l_plus(rng, case):
    column = _secret(rng, case)
    theta = _thetas(rng, case, column)
    by = "frequency" if rng.random() < 0.25 and not isinstance(theta, dict) else None
    return {"theta": theta, "attribute": column, "by": by}


def _t(rng, case):
    column = _secret(rng, case)
    made = case["sensitive"].get(column)
    distances = ["equal"]
    distances += ["ordered"] if made is not None and made.rows is not None else []
    distances += ["hierarchical"] if made is not None and made.given is not None else []
    return {"t": rng.choice((0.05, 0.1, 0.2, 0.35, 0.5, 1.0)), "attribute": column, "distance": rng.choice(distances)}


def _k(rng, case):
    n = case["n"]
    return n + 1 if rng.random() < 0.02 else min(n, rng.choice((1, 2, 2, 3, 3, 4, 5, max(n // 2, 1), n)))


def _k_anonymity(rng, case):
    names = list(case["quasi"])
    if len(names) < 2 or rng.random() < 0.7:
        return {"k": _k(rng, case), **({"unknown": "matches"} if rng.random() < 0.03 else {})}
    few = {"k": rng.choice((1, 2, 2, 3, 4))}
    if rng.random() < 0.5:
        return {**few, "any": rng.randint(1, len(names))}
    return {**few, "on": rng.sample(names, rng.randint(1, len(names)))}


def _l(rng, case, column):
    values = case["sensitive"][column].values if column in case["sensitive"] else ["x"]
    return max(1, min(rng.randint(1, 4), len(set(values) - {None}) + (rng.random() < 0.02)))


def _distinct_l(rng, case):
    column = _secret(rng, case)
    return {"l": _l(rng, case, column), "attribute": column}


def _k_map(rng, case):
    if case["population"] and rng.random() < 0.8:
        return {"k": rng.choice((1, 2, 3, 4, 6, 9))}
    return {
        "k": rng.randint(1, 9), "fraction": rng.choice((0.01, 0.1, 0.5, 1.0)),
        "estimator": rng.choice(("poisson", "truncated")), "significance": rng.choice((0.05, 0.3)),
    }  # fmt: skip


def _pre_sampling(rng, case):
    level = rng.randint(0, 2)
    return {"k": rng.randint(1, 4), **({"level": level} if level else {})}


def _switches(rng, names):
    return {name: False for name in names if rng.random() < 0.3}


def _cuts(rng, case):
    found = {}
    if rng.random() < 0.3:
        found = {"order": rng.choice(("entropy", "descending", "ascending")), "bounds": rng.choice(("tight", "paper"))}
        found |= _switches(rng, ("update", "incumbent"))
        found |= {"formal": True} if rng.random() < 0.3 else {}
    if rng.random() < 0.1:
        found |= rng.choice(({"top": rng.randint(2, 4)}, {"extra": rng.randint(1, 2)}))
    return found


def _partitions(rng, case):
    if rng.random() < 0.7:
        return {}
    found = {"direction": rng.choice(("auto", "bottom-up", "top-down"))}
    if rng.random() < 0.6:
        techniques = ("node_pruning", "useless", "useful", "seeding", "modified_bfs", "node_order", "applicator_order")
        found |= {"bounds": "paper", **_switches(rng, techniques)}
    return found


def _local(rng, case):
    found = {"bound": rng.choice(("nearest", "prices", "none"))} if rng.random() < 0.4 else {}
    return found | ({"effort": rng.choice(("low", "high"))} if rng.random() < 0.3 else {})


DRAWN = {
    "privacy": {
        "k": _k_anonymity,
        "distinct-l": _distinct_l,
        "entropy-l": lambda rng, case: {"l": rng.choice((1.0, 1.2, 1.5, 2.0, 2.5)), "attribute": _secret(rng, case)},
        "recursive-cl": lambda rng, case: {
            "c": rng.choice((0.5, 1.0, 2.0, 3.5)), "l": rng.randint(1, 2), "attribute": _secret(rng, case)
        },
        "l+": _l_plus,
        "t": _t,
        "alpha-k": lambda rng, case: {
            "alpha": rng.choice((0.34, 0.5, 0.75, 0.9, 1.0)), "k": min(case["n"], rng.randint(1, 4)),
            "attribute": _secret(rng, case),
        },
        "beta": lambda rng, case: {
            "beta": rng.choice((0.3, 1.0, 2.5)), "attribute": _secret(rng, case),
            "form": rng.choice(("basic", "enhanced")),
        },
        "delta-disclosure": lambda rng, case: {
            "delta": rng.choice((0.3, 0.7, 1.5, 3.0)), "attribute": _secret(rng, case)
        },
        "k-map": _k_map,
        "delta-presence": lambda rng, case: {
            "least": rng.choice((0.0, 0.0, 0.0, 0.05, 0.1, 0.3)), "most": rng.choice((0.3, 0.5, 0.7, 0.9, 1.0))
        },
        "average-risk": lambda rng, case: {"risk": rng.choice((0.1, 0.3, 0.5, 0.8, 1.0))},
        "population-uniqueness": lambda rng, case: {
            "share": rng.choice((0.0, 0.1, 0.5, 1.0)),
            "model": rng.choice(("dankar", "pitman", "zayatz", "zayatz", "snb")),
            "population": case["n"] * rng.choice((1, 2, 10, 1000)),
        },
        "sample-uniqueness": lambda rng, case: {"share": rng.choice((0.0, 0.1, 0.3, 1.0))},
    },
    "cost": {
        "LM": lambda rng, case: {
            **({"weights": _weights(rng, case)} if rng.random() < 0.3 else {}),
            **({"penalty": "l+"} if rng.random() < 0.3 else {}),
        },
        "NCP": lambda rng, case: {"weights": _weights(rng, case)} if rng.random() < 0.3 else {},
        "precision": lambda rng, case: {"weights": _weights(rng, case)} if rng.random() < 0.3 else {},
        "entropy": lambda rng, case: {"weights": _weights(rng, case)} if rng.random() < 0.3 else {},
        "C_AVG": lambda rng, case: {"k": rng.randint(1, 4)} if rng.random() < 0.3 else {},
        "score": lambda rng, case: {
            **({"by": rng.choice(("eta", "log")), "d": rng.randint(1, 5)} if rng.random() < 0.4 else {}),
            **({"weights": {n: rng.randint(1, 9) for n in _weights(rng, case)}} if rng.random() < 0.4 else {}),
        },
    },
    "suppression": {
        "violating-values": lambda rng, case: {"hide": rng.choice(("violating", "ambiguous"))},
        "budget": lambda rng, case: {"limit": rng.choice((0, 1, 2, case["n"], 0.05, 0.1, 0.3, 1.0))},
        "pre-sampling": _pre_sampling,
    },
    "scheme": {
        "local": lambda rng, case: {"show": rng.choice(("mean", "median", "mode"))} if rng.random() < 0.15 else {},
        "cells": lambda rng, case: {"most": rng.randint(1, 3)} if rng.random() < 0.2 else {},
    },
    "solver": {
        "cuts": _cuts,
        "partitions": _partitions,
        "annealing": lambda rng, case: {"steps": rng.randint(1, 300), "restarts": rng.randint(0, 1)},
        "user-oriented": lambda rng, case: {"p": rng.randint(0, 2), "skip": rng.random() < 0.7},
        "local": _local,
        "cells": _local,
        "mondrian": lambda rng, case: (
            {"cut": rng.choice(("strict", "relaxed")), "categories": rng.choice(("ordered", "tree"))}
            if rng.random() < 0.6 else {}
        ),
        "top-down": lambda rng, case: {"rounds": rng.randint(1, 4)} if rng.random() < 0.3 else {},
    },
}  # fmt: skip


def known(kind):
    """The members of a family, sorted by name."""
    return dict(sorted(FAMILIES[kind].members().items()))


def by_fields(rng, member, case):
    """Arguments for a member without a rule, by the names and types of its fields."""
    types = typing.get_type_hints(member)
    found = {}
    for item in dataclasses.fields(member):
        required = item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING
        if not item.init or (not required and item.name != "attribute" and rng.random() < 0.6):
            continue
        kind = types.get(item.name)
        if item.name == "attribute":
            found[item.name] = _secret(rng, case)
        elif item.name == "weights":
            found[item.name] = _weights(rng, case)
        elif kind is int:
            found[item.name] = rng.randint(1, 5)
        elif kind is float or kind == float | int:
            found[item.name] = rng.choice((0.1, 0.5, 1.0, 2.0))
        elif kind is bool:
            found[item.name] = rng.random() < 0.5
        elif typing.get_origin(kind) is typing.Literal:
            found[item.name] = rng.choice(typing.get_args(kind))
        elif required:
            found[item.name] = rng.choice((1, 0.5, _secret(rng, case)))
    return found


def make_part(rng, kind, name, case):
    """A member of a family with random arguments, drawn again if they are refused."""
    member = known(kind)[name]
    drawn = DRAWN[kind].get(name)
    has_fields = any(item.init for item in dataclasses.fields(member))
    for _ in range(8):
        arguments = drawn(rng, case) if drawn else by_fields(rng, member, case) if has_fields else {}
        try:
            return Part(name, arguments, member(**arguments).text)
        except (DiscreetError, TypeError):
            continue
    return None
