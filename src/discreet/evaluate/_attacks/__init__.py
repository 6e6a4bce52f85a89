"""Attacks on a release, run: linkage, homogeneity and minimality."""

from discreet.evaluate._attacks._attacks import attacks
from discreet.evaluate._attacks._report import AttackReport

__all__ = ["AttackReport", "attacks"]
