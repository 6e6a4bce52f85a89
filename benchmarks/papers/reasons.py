"""Why statements of the papers are not reproduced, as far as it is known."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["REASONS", "reason"]

REASONS: Mapping[str, Mapping[str, str]] = {
    "optimal_l_plus_diversity": {
        "annealing is slower than the exact search": "both evaluate cuts by the same compiled code here; how the "
        "paper's annealing evaluated them, and with what parameters, it does not say.",
        "annealing ends with a worse answer": "with 100 steps for each value it reaches the optimum on this table; the "
        "paper's parameters are unknown. What it lacks is a proof.",
    },
    "pareto_optimal_k_anonymization": {
        "POkA finds the true front for each cost": "with CE hiding everything costs no more than the nodes next to it, "
        "so that the height boundary ends the search where it begins: POkA takes the loss to rise with every step up. "
        "The paper's hierarchies, with which it may have done so, are not printed.",
        "by evaluating only 20 % of the nodes": "the share depends on the hierarchies, which are not printed, and on "
        "the size of the lattice: 17,920 nodes in the paper.",
        "are identified at the average height": "the hierarchies: with ARX's the average is 2 steps, in the paper 3, "
        "and a depth of 3 finds all here too.",
        "a larger depth is of no advantage": "the hierarchies: with ARX's the average height is 2, and 3 finds more.",
        "evaluates more than 60 % of the nodes": "the hierarchies: the greatest height is 4 here and 6 in the paper.",
        "on average around 20 % of the nodes": "the share depends on the hierarchies, which are not printed, and on "
        "the size of the lattice: 17,920 nodes in the paper.",
    },
    "utility_based_local_recoding": {
        "the gap is stable": "the claim: for k = 2 all that MultiDim loses is less than 20,000.",
        "lower mean error rate of SUM queries": "a quick run asks too few queries; a full one reproduces it.",
        "lower median error rate at every selectivity": "a quick run asks too few queries; a full one reproduces it.",
        "the runtime is not sensitive to k": "the claim: groups of 100 take half as many rounds of splitting as groups "
        "of 2.",
        "better (uniform)": "a quick run asks too few queries; a full one reproduces it.",
        "better (Gaussian)": "the data: the numbers have few values, so that groups agree in the heaviest column "
        "altogether and pay for it in the others. How the paper's were drawn it does not say.",
        "penalty than MultiDim in all dimensions": "the data: in a uniform cube median cuts make boxes of k rows that "
        "do not overlap, while rows around two seeds make boxes that do; and the cut here is between the two values "
        "nearest to the median.",
        "of the greatest penalty of two points": "the claim: scans end at two rows each of which is farthest from the "
        "other, which need not be the farthest of all.",
    },
    "user_oriented_anonymization": {
        "pre-sampling does not depend on k'": "with k' = 1 no record is isolated, and nothing has to be left out.",
        "of top priority, shows most values": "the score is a maximum: once a column of lower priority is as specific "
        "as can be (race, 5), no single step of the first one raises it, and the mechanism stops; the optimum is 10.",
        "the score is larger than before": "where the promise is tight (t = 0.1) no class can be split, and the score "
        "stays as it is.",
    },
    "towards_optimal_k_anonymization": {
        "top-down is the faster one": "not known, as the paper's program is not available. Here, the bound of DM from "
        "below also knows which rows no recoding further up can save; from above, a set has exponentially many splits.",
        "the optimum can be found for all schemes": "the limit of time: a quick run has three seconds, a full one ten.",
        "seeding makes the search shorter": "likely because the order of nodes finds a good recoding at once, and a "
        "random one is worse.",
        "an early good recoding is the more effective one": "which techniques the paper means is a guess, as its "
        "sentence is damaged; here the orders save more.",
        "up to 60 % of the time": "which techniques the paper means is a guess, as its sentence is damaged.",
    },
}
"""Paper -> words of a statement -> why it is not reproduced."""


def reason(paper: str, claim: str) -> str:
    """Return why a statement is not reproduced; empty if that is not known."""
    return next((why for words, why in REASONS[paper].items() if words in claim), "")
