"""A cost of one's own: how crowded classes are, beyond what anonymity asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.counts import CountTable, FloatArray
from discreet.errors import UsageError
from discreet.problem import Classes, Cost

__all__ = ["Crowding"]


@dataclass(frozen=True)
class Crowding(Cost):
    """Each published row costs (ln of the rows in its class) to the power ``power``; suppressed, that of the table.

    Unlike DM it does not let a few huge classes drown everything else.

    >>> Crowding().text, Crowding(2).text
    ('crowding', 'crowding(2)')
    """

    name: ClassVar[str] = "crowding"
    plain: ClassVar[tuple[str, ...]] = ("power",)
    sentence: ClassVar[str] = "How crowded the classes are, each person counted alike."
    superadditive: ClassVar[bool] = True  # rows only get more company when classes are put together

    power: float = 1

    def __post_init__(self) -> None:
        if self.power <= 0:
            raise UsageError("The power of crowding is a number above 0.", topic="parameter")

    def published(self, classes: Classes) -> FloatArray:
        """Return what the rows of each class cost together."""
        return classes.sizes * np.log(classes.sizes.astype(np.float64)) ** self.power

    def suppressed(self, classes: Classes) -> FloatArray:
        """Return what they cost if they are left out."""
        return np.asarray(classes.sizes * np.log(float(classes.table.n)) ** self.power)

    def worst(self, table: CountTable) -> float:
        """Return the cost of leaving out everything."""
        return float(table.n * np.log(float(table.n)) ** self.power)
