"""The release: recoded, audited, reported."""

from discreet.release._anonymize import anonymize
from discreet.release._anonymizer import Anonymizer
from discreet.release._applied import Applied
from discreet.release._apply import apply_mapping
from discreet.release._audit import Audit, Check, audit
from discreet.release._front import Front, FrontPoint
from discreet.release._pareto import pareto
from discreet.release._release import Release
from discreet.release._verify import Verification, verify

__all__ = [
    "Anonymizer",
    "Applied",
    "Audit",
    "Check",
    "Front",
    "FrontPoint",
    "Release",
    "Verification",
    "anonymize",
    "apply_mapping",
    "audit",
    "pareto",
    "verify",
]
