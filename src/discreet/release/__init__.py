"""The release: recoded, audited, reported."""

from discreet.release._anonymize import anonymize
from discreet.release._audit import Audit, Check, audit
from discreet.release._release import Release

__all__ = ["Audit", "Check", "Release", "anonymize", "audit"]
