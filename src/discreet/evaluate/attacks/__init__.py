"""Attacks on a release: linkage, homogeneity and minimality."""

from discreet.evaluate.attacks.attacks import attacks
from discreet.evaluate.attacks.report import AttackReport

__all__ = ["AttackReport", "attacks"]
