"""Random choices of models, costs and suppression kinds, as text and in the plain form of ``naive``."""

from __future__ import annotations

import naive
from discreet.errors import InfeasibleError, UsageError
from discreet.problem import Problem
from discreet.solve import Recoder, Released

__all__ = [
    "COSTS",
    "FURTHER_MODELS",
    "INCLUSIONS",
    "KINDS",
    "MODELS",
    "SCORES",
    "built",
    "evaluate_blocks",
    "exhausted_after",
    "plain_cost",
    "plain_models",
]

INCLUSIONS = [
    ("full-domain", "subtree"),
    ("subtree", "guided-ordered"),
    ("guided-ordered", "ordered"),
    ("ordered", "set"),
    ("guided-ordered", "guided-set"),
    ("guided-set", "set"),
]
"""Each scheme allows all recodings of the first one, so its optimum is no worse."""
MODELS = {
    "k": (lambda rng: [f"k({rng.integers(1, 6)})"]),
    "distinct-l": (lambda rng: [f"distinct-l({rng.integers(1, 4)}, s0)"]),
    "entropy-l": (lambda rng: [f"entropy-l({rng.choice([1.0, 1.5, 2.0, 2.5])}, s0)"]),
    "recursive-cl": (lambda rng: [f"recursive-cl({rng.choice([0.5, 1.0, 2.0, 3.5])}, {rng.integers(1, 4)}, s0)"]),
    "l+": (lambda rng: [f"l+({rng.choice([0.25, 0.34, 0.5, 0.75])}, s0)"]),
    "l+ by frequency": (lambda rng: [f"l+({rng.choice([0.25, 0.34, 0.5])}, s0, by=frequency)"]),
    "t": (
        lambda rng: [f"t({rng.choice([0.1, 0.2, 0.35, 0.5])}, s0, {rng.choice(['equal', 'ordered', 'hierarchical'])})"]
    ),
    "two": (lambda rng: [f"k({rng.integers(2, 5)})", f"l+({rng.choice([0.34, 0.5])}, s0)"]),
    "three": (lambda rng: ["k(2)", f"distinct-l({rng.integers(1, 3)}, s0)", f"t({rng.choice([0.3, 0.5])}, s0, equal)"]),
}
FURTHER_MODELS = {
    "alpha-k": (lambda rng: [f"alpha-k({rng.choice([0.34, 0.5, 0.75])}, {rng.integers(1, 5)}, s0)"]),
    "beta": (lambda rng: [f"beta({rng.choice([0.3, 1.0, 2.5])}, s0)"]),
    "enhanced": (lambda rng: [f"beta({rng.choice([0.3, 1.0, 2.5])}, s0, enhanced)"]),
    "delta-disclosure": (lambda rng: [f"delta-disclosure({rng.choice([0.3, 0.7, 1.5])}, s0)"]),
}
"""Models with the same properties as others, tested in fewer combinations."""
COSTS = [
    "LM",
    "LM(weights={q0: 2.5})",
    "LM(penalty=l+)",
    "DM",
    "HDM",
    "CM",
    "NCP",
    "C_AVG",
    "entropy",
    "ambiguity",
]
SCORES = ["score", "score(weights={q0: 2.5})", "score(eta, d=2)", "score(log)"]
KINDS = [
    "none",
    "class-records",
    "budget(0.2)",
    "budget(2)",
    "violating-records",
    "class-values",
    "violating-values",
    "violating-values(hide=ambiguous)",
]


def plain_kind(text):
    """The name of a suppression kind in the plain form."""
    return text if "hide=" in text else text.split("(")[0]


def plain_models(privacy, sample):
    """Conditions on counts for privacy models given as text."""
    return [_plain_model(text, sample) for text in privacy]


def _plain_model(text, sample):
    name, listed = text.rstrip(")").split("(", 1)
    args = [part.strip() for part in listed.split(",")]
    whole = naive.counts(sample.naive, range(len(sample.naive.rows)), "s0")
    hierarchy = sample.sensitive["s0"]
    if name == "k":
        return naive.Model(lambda counts: naive.k_anonymous(counts, int(args[0])), False)
    if name == "distinct-l":
        return naive.Model(lambda counts: naive.distinct_l(counts, int(args[0])), True)
    if name == "entropy-l":
        return naive.Model(lambda counts: naive.entropy_l(counts, float(args[0])), True)
    if name == "recursive-cl":
        return naive.Model(lambda counts: naive.recursive_cl(counts, float(args[0]), int(args[1])), True)
    if name == "l+":
        by = "frequency" if "by=frequency" in args else None
        thetas = naive.thetas(whole, float(args[0]), by)
        return naive.Model(lambda counts: naive.l_plus(counts, thetas), True, thetas)
    if name == "alpha-k":
        alpha, k = float(args[0]), int(args[1])
        return naive.Model(lambda counts: naive.alpha_k(counts, alpha, k), True)
    if name == "beta":
        enhanced = "enhanced" in args
        return naive.Model(lambda counts: naive.beta_like(counts, whole, float(args[0]), enhanced), True)
    if name == "delta-disclosure":
        return naive.Model(lambda counts: naive.delta_disclosure(counts, whole, float(args[0])), True)
    in_order = {row[0]: whole.get(row[0], 0) for row in hierarchy}
    return naive.Model(lambda counts: naive.t_close(counts, in_order, float(args[0]), args[2], hierarchy), True)


def plain_cost(text, privacy):
    """Name and options of a cost given as text; C_AVG takes k from the models."""
    name, options = text.split("(")[0], {}
    if "weights" in text:
        options["weights"] = {"q0": 2.5}
    if "eta" in text:
        options |= {"by": "eta", "d": 2}
    if "log" in text:
        options["by"] = "log"
    if "penalty" in text:
        options["penalty"] = "l+"
    if name == "C_AVG":
        options["k"] = max((int(model[2:-1]) for model in privacy if model.startswith("k(")), default=1)
    return name, options


def built(sample, **parts):
    """The problem, or None if its parts are incompatible or a model can never hold."""
    try:
        return Problem.build(sample.counts, **parts)
    except (InfeasibleError, UsageError):
        return None


def evaluate_blocks(problem, blocks):
    """Evaluate one recoding: ``blocks[i][leaf]`` is the block number of each leaf of attribute i."""
    return Recoder(problem).evaluate(Released.by_blocks(problem.table, blocks))


def exhausted_after(looks):
    """A budget that is exhausted at the next look but so many."""
    left = iter([False] * looks)
    return property(lambda self: next(left, True))
