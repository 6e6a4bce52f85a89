from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import polars as pl
import pytest

from discreet.errors import UsageError
from discreet.schema import Type, as_type, infer_type


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1", "20", "-3", "0"], Type.INTEGER),
        (["1", None, "20"], Type.INTEGER),
        (["00501", "94110"], Type.TEXT),
        (["007"], Type.TEXT),
        (["+1", "2"], Type.TEXT),
        (["-0", "1"], Type.TEXT),
        ([" 1", "2"], Type.TEXT),
        (["12345678901234567890123", "1"], Type.DECIMAL),
        (["1.5", "2"], Type.DECIMAL),
        (["-0.5", "1e-05"], Type.DECIMAL),
        (["1e5", "2.5"], Type.TEXT),
        (["1E5", "2E7"], Type.TEXT),
        (["01.5", "2"], Type.TEXT),
        (["1.5", "NaN"], Type.TEXT),
        (["1.5", "inf"], Type.DECIMAL),
        (["inf"], Type.TEXT),
        (["2024-03-01", "1999-12-31"], Type.DATE),
        (["2024-03-01T10:00:00", "2024-03-01"], Type.DATE),
        (["2024-03-01 10:00", "2024-03-01 10:00:00.5"], Type.DATE),
        (["2024-13-01"], Type.TEXT),
        (["2024-03-01", "x"], Type.TEXT),
        (["", "1"], Type.TEXT),
        (["1-2", "3"], Type.TEXT),
        ([None, None], Type.TEXT),
        ([True, False], Type.TEXT),
        ([1, 2, None], Type.INTEGER),
        ([1.0, 2.0, None, float("nan")], Type.INTEGER),
        ([1.5, 2.0], Type.DECIMAL),
        ([1e300], Type.DECIMAL),
        ([float("inf"), 1.0], Type.DECIMAL),
        ([Decimal("1.50")], Type.DECIMAL),
        ([date(2024, 3, 1)], Type.DATE),
        ([datetime(2024, 3, 1, 10)], Type.DATE),
    ],
)
def test_inferred_from_all_values(values, expected):
    assert infer_type(pl.Series(values)) is expected


def test_inferred_from_other_column_types():
    assert infer_type(pl.Series(["1", "2"], dtype=pl.Categorical)) is Type.INTEGER
    assert infer_type(pl.Series(["a", "b"], dtype=pl.Enum(["a", "b"]))) is Type.TEXT
    assert infer_type(pl.Series([1], dtype=pl.UInt64)) is Type.INTEGER
    assert infer_type(pl.Series([2**63], dtype=pl.UInt64)) is Type.DECIMAL
    assert infer_type(pl.Series([Decimal(3)], dtype=pl.Decimal(10, 0))) is Type.INTEGER
    assert infer_type(pl.Series([], dtype=pl.String)) is Type.TEXT


def test_as_type():
    assert as_type("date") is Type.DATE
    assert as_type(Type.TEXT) is Type.TEXT
    with pytest.raises(UsageError, match="no type 'intger'; did you mean 'integer'"):
        as_type("intger")
