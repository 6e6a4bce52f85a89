"""Turn a table about people into one that is safe to share, and prove that nothing better was overlooked.

Everything here is imported when it is first used, so that ``import discreet`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet import evaluate
    from discreet.errors import (
        AuditError,
        DataError,
        DiscreetError,
        InfeasibleError,
        InterruptedRun,
        MissingColumnError,
        NothingFoundError,
        OutputError,
        UnsupportedCombinationError,
        UsageError,
    )
    from discreet.job import Job, compare
    from discreet.job._comparison import Comparison
    from discreet.problem.costs.ambiguity import Ambiguity
    from discreet.problem.costs.average_class_size import AverageClassSize
    from discreet.problem.costs.certainty import Certainty
    from discreet.problem.costs.classification import Classification
    from discreet.problem.costs.discernibility import Discernibility
    from discreet.problem.costs.hierarchical_discernibility import HierarchicalDiscernibility
    from discreet.problem.costs.loss import Loss
    from discreet.problem.costs.non_uniform_entropy import NonUniformEntropy
    from discreet.problem.costs.precision import Precision
    from discreet.problem.costs.score import Score
    from discreet.problem.privacy.alpha_k_anonymity import AlphaKAnonymity
    from discreet.problem.privacy.average_risk import AverageRisk
    from discreet.problem.privacy.beta_likeness import BetaLikeness
    from discreet.problem.privacy.delta_disclosure import DeltaDisclosure
    from discreet.problem.privacy.delta_presence import DeltaPresence
    from discreet.problem.privacy.entropy_l_diversity import EntropyLDiversity
    from discreet.problem.privacy.k_anonymity import KAnonymity
    from discreet.problem.privacy.k_map import KMap
    from discreet.problem.privacy.l_diversity import LDiversity
    from discreet.problem.privacy.l_plus_diversity import LPlusDiversity
    from discreet.problem.privacy.population_uniqueness import PopulationUniqueness
    from discreet.problem.privacy.recursive_diversity import RecursiveDiversity
    from discreet.problem.privacy.sample_uniqueness import SampleUniqueness
    from discreet.problem.privacy.t_closeness import TCloseness
    from discreet.problem.suppression.class_records import ClassRecords
    from discreet.problem.suppression.class_values import ClassValues
    from discreet.problem.suppression.none import NoSuppression
    from discreet.problem.suppression.pre_sampling import PreSampling
    from discreet.problem.suppression.suppress_records import SuppressRecords
    from discreet.problem.suppression.violating_records import ViolatingRecords
    from discreet.problem.suppression.violating_values import ViolatingValues
    from discreet.release import (
        Anonymizer,
        Applied,
        Audit,
        Front,
        Release,
        Verification,
        anonymize,
        apply_mapping,
        audit,
        pareto,
        verify,
    )
    from discreet.samples import sample
    from discreet.schema import (
        Builder,
        Hierarchy,
        Interval,
        ValueSet,
        auto,
        dates,
        flat,
        groups,
        intervals,
        mask,
        ordered,
        parse_block,
        ranges,
    )
    from discreet.solve import Budget, Progress

__version__ = "0.1.0"

_PLACES = {
    "discreet.errors": (
        "AuditError",
        "DataError",
        "DiscreetError",
        "InfeasibleError",
        "InterruptedRun",
        "MissingColumnError",
        "NothingFoundError",
        "OutputError",
        "UnsupportedCombinationError",
        "UsageError",
    ),
    "discreet.job": ("Job", "compare"),
    "discreet.job._comparison": ("Comparison",),
    "discreet.problem.costs.ambiguity": ("Ambiguity",),
    "discreet.problem.costs.average_class_size": ("AverageClassSize",),
    "discreet.problem.costs.certainty": ("Certainty",),
    "discreet.problem.costs.classification": ("Classification",),
    "discreet.problem.costs.discernibility": ("Discernibility",),
    "discreet.problem.costs.hierarchical_discernibility": ("HierarchicalDiscernibility",),
    "discreet.problem.costs.loss": ("Loss",),
    "discreet.problem.costs.non_uniform_entropy": ("NonUniformEntropy",),
    "discreet.problem.costs.precision": ("Precision",),
    "discreet.problem.costs.score": ("Score",),
    "discreet.problem.privacy.alpha_k_anonymity": ("AlphaKAnonymity",),
    "discreet.problem.privacy.average_risk": ("AverageRisk",),
    "discreet.problem.privacy.beta_likeness": ("BetaLikeness",),
    "discreet.problem.privacy.delta_disclosure": ("DeltaDisclosure",),
    "discreet.problem.privacy.delta_presence": ("DeltaPresence",),
    "discreet.problem.privacy.entropy_l_diversity": ("EntropyLDiversity",),
    "discreet.problem.privacy.k_anonymity": ("KAnonymity",),
    "discreet.problem.privacy.k_map": ("KMap",),
    "discreet.problem.privacy.l_diversity": ("LDiversity",),
    "discreet.problem.privacy.l_plus_diversity": ("LPlusDiversity",),
    "discreet.problem.privacy.population_uniqueness": ("PopulationUniqueness",),
    "discreet.problem.privacy.recursive_diversity": ("RecursiveDiversity",),
    "discreet.problem.privacy.sample_uniqueness": ("SampleUniqueness",),
    "discreet.problem.privacy.t_closeness": ("TCloseness",),
    "discreet.problem.suppression.class_records": ("ClassRecords",),
    "discreet.problem.suppression.class_values": ("ClassValues",),
    "discreet.problem.suppression.none": ("NoSuppression",),
    "discreet.problem.suppression.pre_sampling": ("PreSampling",),
    "discreet.problem.suppression.suppress_records": ("SuppressRecords",),
    "discreet.problem.suppression.violating_records": ("ViolatingRecords",),
    "discreet.problem.suppression.violating_values": ("ViolatingValues",),
    "discreet.release": (
        "Anonymizer",
        "Applied",
        "Audit",
        "Front",
        "Release",
        "Verification",
        "anonymize",
        "apply_mapping",
        "audit",
        "pareto",
        "verify",
    ),
    "discreet.samples": ("sample",),
    "discreet.schema": (
        "Builder",
        "Hierarchy",
        "Interval",
        "ValueSet",
        "auto",
        "dates",
        "flat",
        "groups",
        "intervals",
        "mask",
        "ordered",
        "parse_block",
        "ranges",
    ),
    "discreet.solve": ("Budget", "Progress"),
}
_ROOMS = ("evaluate",)
_PLACE = {name: place for place, names in _PLACES.items() for name in names}

__all__ = [
    "AlphaKAnonymity",
    "Ambiguity",
    "Anonymizer",
    "Applied",
    "Audit",
    "AuditError",
    "AverageClassSize",
    "AverageRisk",
    "BetaLikeness",
    "Budget",
    "Builder",
    "Certainty",
    "ClassRecords",
    "ClassValues",
    "Classification",
    "Comparison",
    "DataError",
    "DeltaDisclosure",
    "DeltaPresence",
    "Discernibility",
    "DiscreetError",
    "EntropyLDiversity",
    "Front",
    "HierarchicalDiscernibility",
    "Hierarchy",
    "InfeasibleError",
    "InterruptedRun",
    "Interval",
    "Job",
    "KAnonymity",
    "KMap",
    "LDiversity",
    "LPlusDiversity",
    "Loss",
    "MissingColumnError",
    "NoSuppression",
    "NonUniformEntropy",
    "NothingFoundError",
    "OutputError",
    "PopulationUniqueness",
    "PreSampling",
    "Precision",
    "Progress",
    "RecursiveDiversity",
    "Release",
    "SampleUniqueness",
    "Score",
    "SuppressRecords",
    "TCloseness",
    "UnsupportedCombinationError",
    "UsageError",
    "ValueSet",
    "Verification",
    "ViolatingRecords",
    "ViolatingValues",
    "__version__",
    "anonymize",
    "apply_mapping",
    "audit",
    "auto",
    "compare",
    "dates",
    "evaluate",
    "flat",
    "groups",
    "intervals",
    "mask",
    "ordered",
    "pareto",
    "parse_block",
    "ranges",
    "sample",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Import a name when it is asked for."""
    if name in _ROOMS:
        return import_module(f"discreet.{name}")
    place = _PLACE.get(name)
    if place is None:
        raise AttributeError(f"module 'discreet' has no attribute '{name}'")
    value = getattr(import_module(place), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACE, *_ROOMS})
