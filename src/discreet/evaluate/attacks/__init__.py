"""Attacks on a release, one module each. Dropping a module into this folder adds an attack."""

from discreet.evaluate.attacks._base import ATTACKS, Attack, AttackResult, NotModelled
from discreet.evaluate.attacks._report import AttackReport
from discreet.evaluate.attacks._run import attacks
from discreet.evaluate.attacks._target import AttackTarget

__all__ = ["ATTACKS", "Attack", "AttackReport", "AttackResult", "AttackTarget", "NotModelled", "attacks"]
