"""Frames that only speak Arrow's PyCapsule interface, pipes, and the methods that frames get."""

from __future__ import annotations

import importlib
from typing import Any

import pandas as pd
import polars as pl
import pytest

import discreet as dc

TABLE = pl.DataFrame({"age": [21, 22, 23, 61, 62, 63], "sex": list("ffmmff"), "ill": list("abcabc")})
ARGUMENTS: dict[str, Any] = {"quasi_identifiers": {"age": "intervals(50)", "sex": None}, "privacy": "k(3)"}


class Capsule:
    """A frame of a library nobody listed."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)


def test_a_frame_that_speaks_arrow_is_read() -> None:
    expected = dc.anonymize(TABLE, **ARGUMENTS)
    release = dc.anonymize(Capsule(TABLE), **ARGUMENTS)
    assert isinstance(release.frame, pl.DataFrame)
    assert release.frame.equals(expected.frame)
    assert dc.audit(Capsule(release.frame), quasi_identifiers=["age", "sex"], privacy="k(3)").passed
    assert dc.evaluate.risk(Capsule(release.frame), quasi_identifiers=["age", "sex"]).prosecutor.highest == 1 / 3


def test_pipes() -> None:
    assert TABLE.pipe(dc.anonymize, **ARGUMENTS).classes == 2
    assert isinstance(TABLE.to_pandas().pipe(dc.anonymize, **ARGUMENTS).frame, pd.DataFrame)


@pytest.mark.parametrize(
    ("module", "frame"), [("polars", TABLE), ("polars", TABLE.lazy()), ("pandas", TABLE.to_pandas())]
)
def test_methods_of_frames(module: str, frame: Any) -> None:
    importlib.import_module(f"discreet.{module}")
    release = frame.discreet.anonymize(**ARGUMENTS)
    assert release.classes == 2
    assert type(release.frame) is type(frame) or isinstance(frame, pl.LazyFrame)
    assert not frame.discreet.audit(quasi_identifiers=["age"], privacy="k(2)").passed
    assert not frame.discreet.check(quasi_identifiers=["age"], privacy="k(2)").passed
    assert frame.discreet.risk(quasi_identifiers=["age"]).uniques == 6
    assert [column.name for column in frame.discreet.look().columns] == TABLE.columns
    assert frame.discreet.find({"age": TABLE["age"][0]}, quasi_identifiers=["age"]).found
    assert frame.discreet.pareto(quasi_identifiers=ARGUMENTS["quasi_identifiers"], cost="LM").points
