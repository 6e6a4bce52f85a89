"""What a class tells about the sensitive values of its people, measured by every model there is for it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from discreet._numbers import add_up
from discreet.evaluate._cells import Cells
from discreet.problem import Groups, PrivacyModel
from discreet.problem.privacy.beta_likeness import BetaLikeness
from discreet.problem.privacy.delta_disclosure import DeltaDisclosure
from discreet.problem.privacy.entropy_l_diversity import EntropyLDiversity
from discreet.problem.privacy.l_diversity import LDiversity
from discreet.problem.privacy.recursive_diversity import RecursiveDiversity
from discreet.problem.privacy.t_closeness import TCloseness
from discreet.release._audit._reference import make_reference, original_counts

__all__ = ["Disclosure", "disclosure", "sensitive_groups"]


@dataclass(frozen=True)
class Disclosure:
    """How much the classes give away about one sensitive column: what each model has really reached.

    What no parameter of a model allows is infinite here, and None in :meth:`to_dict`. Values that are missing or were
    made unknown are no values; shares are of those known before.
    """

    column: str
    values: int
    """The distinct values that occur."""
    confidence: float
    """The largest share of one value in a class: how sure of it an attacker can be."""
    average_confidence: float
    """The share of rows whose value the most frequent one of their class is."""
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
    """The same, infinite if a value gains more than the -ln p that enhanced β-likeness allows at most."""
    delta: float
    """δ-disclosure: the largest |ln(q / p)| of a value that occurs in a class."""

    def to_dict(self) -> dict[str, Any]:
        """Return the measures as plain data, ready for JSON."""
        known = asdict(self)
        return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in known.items()}


def disclosure(
    cells: Cells,
    column: str,
    original: Any,
    hierarchy: Any,
    types: Mapping[str, Any],
    unknown: str | None,
    missing_sensitive: str = "unknown",
) -> Disclosure:
    """Measure what the classes give away about a column, compared with the original table if there is one."""
    groups = sensitive_groups(cells, column, original, hierarchy, types, unknown, missing_sensitive)

    def reached(model: PrivacyModel) -> float:
        return float(model.reached(groups))

    share = groups.shares
    top = np.zeros(groups.sizes.size, dtype=np.int64)
    np.maximum.at(top, groups.group, groups.count)
    return Disclosure(
        column=column,
        values=int(np.unique(groups.value).size),
        confidence=float(share.max(initial=0.0)),
        average_confidence=float(top.sum() / cells.rows),
        distinct_l=reached(LDiversity(1, column)),
        entropy_l=reached(EntropyLDiversity(1, column)),
        recursive_c2=reached(RecursiveDiversity(1, 2, column)),
        recursive_c3=reached(RecursiveDiversity(1, 3, column)),
        t_equal=reached(TCloseness(1, column)),
        t_ordered=reached(TCloseness(1, column, "ordered")),
        t_hierarchical=None if hierarchy is None else reached(TCloseness(1, column, "hierarchical")),
        beta=reached(BetaLikeness(1, column)),
        enhanced_beta=reached(BetaLikeness(1, column, "enhanced")),
        delta=reached(DeltaDisclosure(1, column)),
    )


def sensitive_groups(
    cells: Cells,
    column: str,
    original: Any,
    hierarchy: Any,
    types: Mapping[str, Any],
    unknown: str | None,
    missing_sensitive: str = "unknown",
) -> Groups:
    """Return the classes with the values of a sensitive column, in the form privacy models measure."""
    group, value, count = cells.histogram(column)
    texts = cells.texts(column)
    there = texts.is_not_null().to_numpy() | (missing_sensitive == "value")
    told = there if unknown is None else there & texts.ne_missing(unknown).to_numpy()
    rows = add_up(value, count, len(texts))
    here = pl.DataFrame({"value": cells.values[column], "rows": rows}).filter(told)
    counted = original_counts(column, original, here, None, cells.parts(column))
    if missing_sensitive == "unknown":
        counted = counted.filter(counted["value"].is_not_null())
    known = make_reference(column, counted, hierarchy, types.get(column))
    place = np.full(len(texts), -1, dtype=np.int64)
    place[told] = known.find(here["value"])
    kept = told[value]
    width = max(known.whole.size, 1)
    keys, entry = np.unique(group[kept] * width + place[value[kept]], return_inverse=True)
    return Groups(
        sizes=cells.sizes,
        group=keys // width,
        value=keys % width,
        count=add_up(entry, count[kept], keys.size),
        whole=known.whole,
        ancestors=known.ancestors,
        names=known.names,
        known=add_up(group[there[value]], count[there[value]], cells.sizes.size),
        hides=unknown is not None,
    )
