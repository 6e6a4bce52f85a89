"""The index of a pandas frame leaves with its rows: what names people in it does not, or stops the job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.errors import MissingColumnError, UndecidedColumnError

ROLES: dict[str, Any] = {"quasi_identifiers": {"age": "intervals(10, 40)", "sex": "flat"}, "privacy": "k(3)"}
NAMES = [f"Ada{number} Lov{number}" for number in range(100)]


def people(rows: int = 100) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame({"age": rng.integers(20, 60, rows), "sex": rng.choice(["f", "m"], rows)})


def release(frame: pd.DataFrame, **settings: Any) -> dc.Release:
    return dc.anonymize(frame, **ROLES, **settings)


def test_numbered_rows_need_no_word() -> None:
    found = release(people())
    assert not any("index" in note for note in found.notes)
    assert found.frame.index.equals(people().index)


def test_an_index_called_like_an_identifier_is_left_out() -> None:
    frame = people().assign(name=NAMES)
    frame.index = pd.Index(range(1000, 1100), name="name")
    found = release(frame, identifiers="name")
    assert found.frame.index.equals(pd.RangeIndex(100))
    assert any("'name'" in note and "left out" in note for note in found.notes)
    assert not found.warnings


@pytest.mark.parametrize("named", ["who", None])
def test_an_index_with_the_values_of_an_identifier_is_left_out(named: str | None) -> None:
    frame = people().assign(name=NAMES)
    frame.index = pd.Index(NAMES, name=named)
    found = release(frame, identifiers="name")
    assert found.frame.index.equals(pd.RangeIndex(100))
    fitted = dc.Anonymizer(**ROLES, identifiers="name")
    assert fitted.fit_transform(frame).index.equals(pd.RangeIndex(100))
    assert fitted.transform(frame).index.equals(pd.RangeIndex(100))


def test_one_level_of_several() -> None:
    frame = people().assign(name=NAMES)
    frame.index = pd.MultiIndex.from_arrays([NAMES, [1, 2] * 50], names=["name", "ward"])
    found = release(frame, identifiers="name")
    assert found.frame.index.names == ["ward"]
    assert "('ward')" in found.warnings[0]


@pytest.mark.parametrize(
    "index",
    [
        pd.Index(NAMES, name="who"),
        pd.Index(NAMES),
        pd.Index([1000 + n % 25 for n in range(100)], name="Pat_ID"),
        pd.Index([f"p{n}@example.org" for n in range(100)]),
    ],
)
def test_an_index_that_names_people_stops(index: pd.Index) -> None:
    frame = people().set_axis(index)
    name = index.name or "index"
    for run in (release, lambda frame: dc.Anonymizer(**ROLES).fit_transform(frame)):
        with pytest.raises(UndecidedColumnError, match=f"the index '{name}'") as error:
            run(frame)
        assert error.value.columns == [name]
        assert "reset_index" in error.value.message
    found = release(frame, keep=[name])
    assert found.frame.index.equals(index)
    assert f"('{name}')" in found.warnings[0]
    assert dc.Anonymizer(**ROLES, keep=[name]).fit_transform(frame).index.equals(index)
    assert not release(frame.reset_index(drop=True)).warnings


@pytest.mark.parametrize(
    "index", [range(5, 105), pd.date_range("2024-01-01", periods=100), [n % 3 for n in range(100)]]
)
def test_any_other_index_is_kept_and_named_loudly(index: Any) -> None:
    frame = people().set_axis(pd.Index(index))
    found = release(frame)
    assert found.frame.index.equals(frame.index)
    assert "index of the frame ('index')" in found.notes[0]
    assert found.notes[0] in found.warnings


def test_what_is_written_has_no_index(tmp_path: Path) -> None:
    frame = people().set_axis(pd.Index(NAMES, name="who"))
    written = release(frame, output=tmp_path / "safe.csv")
    assert [note for note in written.notes if "index" in note] == ["The index of the frame was not written."]
    release(frame, keep="who").write(tmp_path / "again.csv")
    for name in ("safe.csv", "again.csv"):
        assert (tmp_path / name).read_text(encoding="utf-8").splitlines()[0] == "age,sex"
        assert "Ada" not in (tmp_path / name).read_text(encoding="utf-8")


def test_a_mapping_looks_at_the_index_too() -> None:
    mapping = release(people()).to_mapping()
    frame = people().set_axis(pd.Index(NAMES, name="who"))
    with pytest.raises(UndecidedColumnError, match="the index 'who'"):
        dc.apply_mapping(mapping, frame)
    with pytest.raises(MissingColumnError):
        dc.apply_mapping(mapping, frame, keep="nobody")
    applied = dc.apply_mapping(mapping, frame, keep="who", broken="suppress")
    assert applied.frame.index.equals(frame.index)
    assert any("('who')" in note for note in applied.notes)
