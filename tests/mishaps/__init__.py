"""Everything that can happen to a job besides being killed, and what it must leave: what was there, or all of it.

``python -m mishaps`` does all of them on the command line, in processes of their own; the tests do some.
A mishap is a function of an empty folder that does a job under bad conditions and looks at what came of it.
"""

from mishaps import caches, clocks, concurrent, disks, inputs, interrupts, memory
from mishaps.base import MISHAPS, QUICK, Skip, mishap

__all__ = [
    "MISHAPS", "QUICK", "Skip", "caches", "clocks", "concurrent", "disks", "inputs", "interrupts", "memory", "mishap",
]  # fmt: skip
