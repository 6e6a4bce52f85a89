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


def test_import_loads_nothing() -> None:
    code = "import discreet, sys; print([m for m in ('numpy', 'polars', 'numba', 'pandas', 'narwhals') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_release_does_not_load_what_it_may_not_need() -> None:
    code = "import discreet.release, sys; print([m for m in ('numba', 'pandas', 'narwhals', 'pydantic') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
