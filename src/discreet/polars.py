"""Importing this module gives frames of polars a namespace: ``frame.discreet.anonymize(...)``.

>>> import polars as pl
>>> import discreet.polars
>>> table = pl.DataFrame({"sex": ["f", "f", "m", "m"]})
>>> table.discreet.check(quasi_identifiers=["sex"], privacy="k(2)").passed
True
"""

from __future__ import annotations

import polars as pl

from discreet.pipeline.frame_methods import FrameMethods

__all__: list[str] = []

pl.api.register_dataframe_namespace("discreet")(FrameMethods)
pl.api.register_lazyframe_namespace("discreet")(FrameMethods)
