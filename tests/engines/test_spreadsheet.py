"""No cell of what is written for spreadsheets begins like a formula, and different values stay different."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.engines import count_formulas, without_formulas

TEXTS = st.text(alphabet="=+-@'\t\r\n 5.ea", max_size=6)
NUMBERS = ("-5", "+5", "-5.5", "+.5", "-5e5", "5")


def is_formula(text: str) -> bool:
    try:
        float(text)
        number = text.strip() == text and not set(text) & set("_")
    except ValueError:
        number = False
    return text.lstrip("'")[:1] in tuple("=+-@\t\r\n") and text.lstrip("'") != "" and not number


@given(st.lists(st.one_of(TEXTS, st.sampled_from(NUMBERS), st.none()), min_size=1))
def test_cells(cells: list[str | None]) -> None:
    frame = pl.DataFrame({"a": cells, "n": range(len(cells))}, schema={"a": pl.String, "n": pl.Int64})
    safe = without_formulas(frame).collect()["a"].to_list()
    assert safe == [f"'{cell}" if cell is not None and is_formula(cell) else cell for cell in cells]
    assert len(set(safe)) == len(set(cells))
    assert count_formulas(frame) == sum(cell is not None and is_formula(cell) for cell in cells)


def test_names_and_kinds() -> None:
    frame = pl.DataFrame({"=a": ["x"], "b": pl.Series(["=1"], dtype=pl.Categorical), "c": [-1]})
    safe = without_formulas(frame).collect()
    assert safe.columns == ["'=a", "b", "c"]
    assert safe.row(0) == ("x", "'=1", -1)
    assert count_formulas(frame) == 1
    assert count_formulas(frame.select("c")) == 0


def test_a_release(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [31, 32], "note": ["=HYPERLINK(1)", "-5"]})
    release = dc.anonymize(frame, quasi_identifiers={"age": "intervals(10)"}, privacy="k(2)")
    release.write(tmp_path / "plain.csv", order="keep")
    release.write(tmp_path / "safe.csv", for_spreadsheets=True, order="keep")
    assert pl.read_csv(tmp_path / "plain.csv")["note"].to_list() == ["=HYPERLINK(1)", "-5"]
    assert pl.read_csv(tmp_path / "safe.csv")["note"].to_list() == ["'=HYPERLINK(1)", "-5"]
