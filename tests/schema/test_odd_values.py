"""Values that do not fit the others of a column: what is noticed, what is not, and that no other value is told."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import discreet as dc
from discreet.schema import odd_values

AGES = [20, 31, 44, 58, 71, 90]


def noticed(values: list[object] | pl.Series, rows: int = 2) -> list[str]:
    return [what for what, _ in odd_values("x", pl.Series(values), [rows] * len(values))]


@pytest.mark.parametrize("code", [-9, -99, -999, 999, 99_999])
@pytest.mark.parametrize("kind", [int, float, str])
def test_codes_far_from_all_other_values(code: int, kind: type) -> None:
    ages = [1, 2, 3, 4, 5, 6] if code == -9 else AGES
    values = [kind(number) for number in [*ages, code]]
    assert noticed(values) == [f"2 cells of column 'x' are {values[-1]}, far from all other values"]
    categories = pl.Series([str(value) for value in values], dtype=pl.Categorical)
    assert noticed(categories) == noticed(values)
    assert noticed(values, rows=1) == []  # one extreme value is a value


@pytest.mark.parametrize("values", [[*AGES, 99], [*AGES, -9], [*AGES, 998], [1, 2, -999], [5] * 9, [None, 1.5]])
def test_ordinary_numbers(values: list[object]) -> None:
    assert noticed(values) == []


def test_text_among_numbers() -> None:
    texts = [str(age) for age in AGES]
    expected = "1 of the 7 different values of column 'x' is not a number: 1 like 9-9 (9 is any number)"
    assert noticed([*texts, "30-39"]) == [expected]
    assert noticed([*texts, "NA", "?"]) == []  # these have a note of their own
    assert noticed(texts) == noticed(["a", "b", "c", "1", "2", "3", "4", "5"]) == []
    assert noticed(["00501", "01234", "02115", "10001", "94110", "A1"]) == []  # codes


def test_look_and_releases_say_so(tmp_path: Path) -> None:
    ages = [str(20 + n % 30) for n in range(300)] + ["-999"] * 20
    path = tmp_path / "people.csv"
    pl.DataFrame({"age": ages, "size": [*(str(n % 9) for n in range(318)), "about 3", "tiny"]}).write_csv(path)
    seen = " ".join(dc.look(path).notes)
    assert "20 cells of column 'age' are -999" in seen
    assert "--na=-999" in seen
    assert "2 of the 11 different values of column 'size' are not numbers: 1 like a and 1 like a 9" in seen
    release = dc.anonymize(path, quasi_identifiers=["age", "size"], privacy="k(2)")
    notes = [str(note) for note in release.notes]
    assert any("column 'age' are -999" in note for note in notes)
    assert any("column 'size' are not numbers" in note for note in notes)
    assert not any(text in release.summary() for text in ("-999, far", "not numbers"))  # for the owner alone
    assert "are -999" not in " ".join(dc.look(dc.table(path, na="-999")).notes)
