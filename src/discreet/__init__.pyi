# Written by tools/generate.py.
from discreet import evaluate as evaluate
from discreet.errors import AuditError as AuditError
from discreet.errors import DataError as DataError
from discreet.errors import DiscreetError as DiscreetError
from discreet.errors import InfeasibleError as InfeasibleError
from discreet.errors import InterruptedRun as InterruptedRun
from discreet.errors import MissingColumnError as MissingColumnError
from discreet.errors import NothingFoundError as NothingFoundError
from discreet.errors import OutputError as OutputError
from discreet.errors import UnsupportedCombinationError as UnsupportedCombinationError
from discreet.errors import UsageError as UsageError
from discreet.evaluate import find as find
from discreet.job import Job as Job
from discreet.job import Policy as Policy
from discreet.pipeline.anonymize import anonymize as anonymize
from discreet.pipeline.anonymizer import Anonymizer as Anonymizer
from discreet.pipeline.applied import Applied as Applied
from discreet.pipeline.apply import apply_mapping as apply_mapping
from discreet.pipeline.audit import Audit as Audit
from discreet.pipeline.audit import audit as audit
from discreet.pipeline.check import check as check
from discreet.pipeline.compare import compare as compare
from discreet.pipeline.front import Front as Front
from discreet.pipeline.look import Look as Look
from discreet.pipeline.look import look as look
from discreet.pipeline.pareto import pareto as pareto
from discreet.pipeline.release import Release as Release
from discreet.pipeline.verify import Verification as Verification
from discreet.pipeline.verify import verify as verify
from discreet.pipeline.view import LiveView as LiveView
from discreet.pipeline.view import create_view as create_view
from discreet.problem.costs.ambiguity import Ambiguity as Ambiguity
from discreet.problem.costs.average_class_size import AverageClassSize as AverageClassSize
from discreet.problem.costs.certainty import Certainty as Certainty
from discreet.problem.costs.classification import Classification as Classification
from discreet.problem.costs.discernibility import Discernibility as Discernibility
from discreet.problem.costs.hierarchical_discernibility import HierarchicalDiscernibility as HierarchicalDiscernibility
from discreet.problem.costs.loss import Loss as Loss
from discreet.problem.costs.non_uniform_entropy import NonUniformEntropy as NonUniformEntropy
from discreet.problem.costs.precision import Precision as Precision
from discreet.problem.costs.score import Score as Score
from discreet.problem.costs.squared_error import SquaredError as SquaredError
from discreet.problem.privacy.alpha_k_anonymity import AlphaKAnonymity as AlphaKAnonymity
from discreet.problem.privacy.average_risk import AverageRisk as AverageRisk
from discreet.problem.privacy.beta_likeness import BetaLikeness as BetaLikeness
from discreet.problem.privacy.delta_disclosure import DeltaDisclosure as DeltaDisclosure
from discreet.problem.privacy.delta_presence import DeltaPresence as DeltaPresence
from discreet.problem.privacy.differential_privacy import DifferentialPrivacy as DifferentialPrivacy
from discreet.problem.privacy.entropy_l_diversity import EntropyLDiversity as EntropyLDiversity
from discreet.problem.privacy.k_anonymity import KAnonymity as KAnonymity
from discreet.problem.privacy.k_map import KMap as KMap
from discreet.problem.privacy.l_diversity import LDiversity as LDiversity
from discreet.problem.privacy.l_plus_diversity import LPlusDiversity as LPlusDiversity
from discreet.problem.privacy.population_uniqueness import PopulationUniqueness as PopulationUniqueness
from discreet.problem.privacy.recursive_diversity import RecursiveDiversity as RecursiveDiversity
from discreet.problem.privacy.sample_uniqueness import SampleUniqueness as SampleUniqueness
from discreet.problem.privacy.t_closeness import TCloseness as TCloseness
from discreet.problem.suppression.class_records import ClassRecords as ClassRecords
from discreet.problem.suppression.class_values import ClassValues as ClassValues
from discreet.problem.suppression.no_suppression import NoSuppression as NoSuppression
from discreet.problem.suppression.pre_sampling import PreSampling as PreSampling
from discreet.problem.suppression.suppress_records import SuppressRecords as SuppressRecords
from discreet.problem.suppression.violating_records import ViolatingRecords as ViolatingRecords
from discreet.problem.suppression.violating_values import ViolatingValues as ViolatingValues
from discreet.report.check_result import CheckResult as CheckResult
from discreet.report.comparison import Comparison as Comparison
from discreet.runtime.table_path import table as table
from discreet.samples import sample as sample
from discreet.samples import sample_tables as sample_tables
from discreet.samples import sample_visits as sample_visits
from discreet.schema import Builder as Builder
from discreet.schema import Hierarchy as Hierarchy
from discreet.schema import Interval as Interval
from discreet.schema import ValueSet as ValueSet
from discreet.schema import parse_block as parse_block
from discreet.schema.builders.age import age as age
from discreet.schema.builders.auto import auto as auto
from discreet.schema.builders.bottom import bottom as bottom
from discreet.schema.builders.dates import dates as dates
from discreet.schema.builders.flat import flat as flat
from discreet.schema.builders.groups import groups as groups
from discreet.schema.builders.intervals import intervals as intervals
from discreet.schema.builders.mask import mask as mask
from discreet.schema.builders.ordered import ordered as ordered
from discreet.schema.builders.ranges import ranges as ranges
from discreet.schema.builders.rounding import rounding as rounding
from discreet.schema.builders.top import top as top
from discreet.solve import Budget as Budget
from discreet.solve import Combination as Combination
from discreet.solve import Progress as Progress
from discreet.solve import combinations as combinations

__version__: str
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
    "CheckResult",
    "ClassRecords",
    "ClassValues",
    "Classification",
    "Combination",
    "Comparison",
    "DataError",
    "DeltaDisclosure",
    "DeltaPresence",
    "DifferentialPrivacy",
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
    "LiveView",
    "Look",
    "Loss",
    "MissingColumnError",
    "NoSuppression",
    "NonUniformEntropy",
    "NothingFoundError",
    "OutputError",
    "Policy",
    "PopulationUniqueness",
    "PreSampling",
    "Precision",
    "Progress",
    "RecursiveDiversity",
    "Release",
    "SampleUniqueness",
    "Score",
    "SquaredError",
    "SuppressRecords",
    "TCloseness",
    "UnsupportedCombinationError",
    "UsageError",
    "ValueSet",
    "Verification",
    "ViolatingRecords",
    "ViolatingValues",
    "__version__",
    "age",
    "anonymize",
    "apply_mapping",
    "audit",
    "auto",
    "bottom",
    "check",
    "combinations",
    "compare",
    "create_view",
    "dates",
    "evaluate",
    "find",
    "flat",
    "groups",
    "intervals",
    "look",
    "mask",
    "ordered",
    "pareto",
    "parse_block",
    "ranges",
    "rounding",
    "sample",
    "sample_tables",
    "sample_visits",
    "table",
    "top",
    "verify",
]
