"""The type of a column does not depend on the order of its values."""

from __future__ import annotations

import polars as pl
import pytest

from discreet import flat
from discreet.schema import make_domain


@pytest.mark.parametrize("values", [["2020-1-1", "2020-01-01"], ["2020-01-01", "2020-1-1"]])
def test_text_that_is_like_a_date(values: list[str]) -> None:
    domain = make_domain("day", pl.Series(values), flat())
    assert str(domain.type) == "text"
    assert len(domain.labels[0]) == 2
