"""What the package draws from the operating system, drawn from a seed: the same in every run.

Each test has a seed of its own, its name, so that it does not matter which tests ran before; so has each fixture of a
wider scope. Another DISCREET_TEST_SALT tries other draws.

This is a module of its own, and no part of ``conftest``, because there must be one: pytest imports ``conftest`` under a
name that no test can import it by, and whoever imports it runs it once more.
"""

from __future__ import annotations

import os
from random import Random

from discreet.engines import shuffle
from discreet.job import owner_key
from discreet.solve import _base as searches

__all__ = ["DRAWN"]


class Drawn:
    """A source of random numbers that begins anew with each test."""

    def __init__(self) -> None:
        self.source = Random()

    def begin(self, name: str) -> None:
        self.source = Random(f"{os.environ.get('DISCREET_TEST_SALT', '')} {name}")

    def randbits(self, bits: int) -> int:
        return self.source.getrandbits(bits)

    def token_hex(self, size: int) -> str:
        return self.source.randbytes(size).hex()

    def another(self) -> Random:
        return Random(self.source.getrandbits(64))


DRAWN = Drawn()
for module in (owner_key, shuffle):
    module.secrets = DRAWN
searches.SystemRandom = DRAWN.another
