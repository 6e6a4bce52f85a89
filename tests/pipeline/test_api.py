"""The public face: everything is there, and nothing is loaded before it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import discreet


def test_every_name_is_there() -> None:
    for name in discreet.__all__:
        assert getattr(discreet, name) is not None
    assert set(discreet.__all__) <= set(dir(discreet))


def test_names_of_the_first_example() -> None:
    for name in ("anonymize", "audit", "intervals", "mask", "flat", "groups", "Hierarchy", "KAnonymity", "LDiversity"):
        assert name in discreet.__all__
    assert discreet.Loss(weights={"age": 2}).text == "LM(weights={age: 2})"
    assert discreet.SuppressRecords(limit=0.05).text == "budget(0.05)"


def test_unknown_names() -> None:
    with pytest.raises(AttributeError, match="no attribute 'anonymise'"):
        discreet.anonymise  # noqa: B018


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("discreet", ["numpy", "polars", "numba", "pandas", "narwhals", "pydantic"]),
        ("discreet.pipeline", ["numba", "pandas", "narwhals", "pydantic"]),
        ("discreet.pipeline.anonymize", ["numba", "pandas", "pydantic", "yaml", "discreet.evaluate"]),
    ],
)
def test_import_loads_no_more_than_it_needs(module: str, heavy: list[str]) -> None:
    code = f"import {module}, sys; print([name for name in {heavy} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
