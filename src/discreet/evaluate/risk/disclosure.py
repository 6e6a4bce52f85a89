"""What classes give away about the sensitive values of their people, by every privacy model about such values."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from discreet.evaluate.classes import CountedClasses
from discreet.evaluate.inputs import Hiding
from discreet.evaluate.sensitive import SensitiveColumn, sensitive_groups
from discreet.problem import PrivacyModel
from discreet.problem.hidden_values import HiddenValues
from discreet.problem.privacy.beta_likeness import BetaLikeness
from discreet.problem.privacy.delta_disclosure import DeltaDisclosure
from discreet.problem.privacy.entropy_l_diversity import EntropyLDiversity
from discreet.problem.privacy.l_diversity import LDiversity
from discreet.problem.privacy.recursive_diversity import RecursiveDiversity
from discreet.problem.privacy.t_closeness import TCloseness

__all__ = ["Disclosure", "disclosure"]


@dataclass(frozen=True)
class Disclosure:
    """How much the classes give away about a sensitive column, as measured by each model.

    A measure is infinite if no parameter of its model would hold, and None in :meth:`to_dict`. Missing and suppressed
    values are not counted as values; shares are of the values known before suppression.
    """

    column: str
    values: int
    """The number of distinct values."""
    confidence: float
    """The largest share of a value in a class: how sure of it an attacker can be at most."""
    average_confidence: float
    """The share of rows that have the most frequent value of their class."""
    distinct_l: float
    entropy_l: float
    recursive_c2: float
    """Recursive (c, 2)-diversity holds for every c above this."""
    recursive_c3: float
    t_equal: float
    t_ordered: float
    t_hierarchical: float | None
    """Known where the column has a hierarchy."""
    beta: float
    """Basic β-likeness: the largest (q - p) / p of a value with the share p in the whole table and q > p in a class."""
    enhanced_beta: float
    """The same; infinite if a value gains more than -ln p, the most that enhanced β-likeness allows."""
    delta: float
    """δ-disclosure: the largest |ln(q / p)| of a value that occurs in a class."""
    hidden: HiddenValues | None = None
    """What the suppressed values can be; None if there are none."""

    def to_dict(self) -> dict[str, Any]:
        """Return the measures as plain data, ready for JSON."""
        known = asdict(self)
        return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in known.items()}


def disclosure(classes: CountedClasses, column: SensitiveColumn, original: Any, hiding: Hiding) -> Disclosure:
    """Measure what the classes give away about a column, compared with the original table if there is one.

    What a suppressed value can be is inferred from the values of the original table, or else of the classes.
    """
    groups = sensitive_groups(classes, column, original)

    def reached(model: PrivacyModel) -> float:
        return float(model.reached(groups))

    name = column.name
    top = np.zeros(groups.sizes.size, dtype=np.int64)
    np.maximum.at(top, groups.group, groups.count)
    return Disclosure(
        column=name,
        values=int(np.unique(groups.value).size),
        confidence=float(groups.shares.max(initial=0.0)),
        average_confidence=float(top.sum() / classes.rows),
        distinct_l=reached(LDiversity(1, name)),
        entropy_l=reached(EntropyLDiversity(1, name)),
        recursive_c2=reached(RecursiveDiversity(1, 2, name)),
        recursive_c3=reached(RecursiveDiversity(1, 3, name)),
        t_equal=reached(TCloseness(1, name)),
        t_ordered=reached(TCloseness(1, name, "ordered")),
        t_hierarchical=None if column.hierarchy is None else reached(TCloseness(1, name, "hierarchical")),
        beta=reached(BetaLikeness(1, name)),
        enhanced_beta=reached(BetaLikeness(1, name, "enhanced")),
        delta=reached(DeltaDisclosure(1, name)),
        hidden=hiding.classes(groups, name).summed_up() if groups.hides else None,
    )
