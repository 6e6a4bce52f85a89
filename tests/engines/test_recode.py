"""Released values and left-out classes, compared with a plain loop over the rows."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.engines import Recoding, ValueMap, recode
from discreet.engines.polars.count import small_integers

KINDS = (pl.String, pl.Categorical, pl.Int64, pl.Float64)


@st.composite
def recodings(draw: st.DrawFn) -> tuple[pl.DataFrame, Recoding]:
    """A table of some columns, a few of which get other values, and classes of them that are left out."""
    rows = draw(st.integers(1, 12))
    frame, maps, kept = {}, {}, []
    for number in range(draw(st.integers(1, 5))):
        name, kind = f"c{number}", draw(st.sampled_from(KINDS))
        numbers = draw(st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=rows, max_size=rows))
        texts = kind in (pl.String, pl.Categorical)
        values = [None if value is None else f"v{value}" if texts else value for value in numbers]
        frame[name] = pl.Series(values, dtype=kind)
        if draw(st.booleans()):
            distinct = frame[name].cast(pl.String) if texts else frame[name]
            distinct = distinct.unique()
            released = [draw(st.sampled_from(["a", "b", None])) for _ in distinct]
            maps[name] = ValueMap(distinct, pl.Series(released, dtype=pl.String))
        else:
            kept.append(name)
    table = pl.DataFrame(frame)
    shown = _shown(table, maps)
    varied = [name for name in table.columns if name not in maps or not maps[name].constant]
    gone = shown[draw(st.lists(st.integers(0, rows - 1), max_size=rows))].select(varied).unique()
    gone = gone.with_columns(pl.col(name).cast(pl.String) for name in kept if table.schema[name] == pl.Categorical)
    return table, Recoding(maps, tuple(kept), suppressed=gone if varied and gone.height else None)


def _shown(table: pl.DataFrame, maps: dict[str, ValueMap]) -> pl.DataFrame:
    """Return the table with all values looked up, one after another."""
    columns = []
    for column in table:
        if column.name in maps:
            book = dict(zip(maps[column.name].values.to_list(), maps[column.name].released.to_list(), strict=True))
            columns.append(pl.Series(column.name, [book[value] for value in column.to_list()], dtype=pl.String))
        else:
            columns.append(column)
    return pl.DataFrame(columns)


@given(recodings())
def test_rows(drawn: tuple[pl.DataFrame, Recoding]) -> None:
    table, recoding = drawn
    shown = _shown(table, dict(recoding.maps))
    wanted = shown.rows()
    if recoding.suppressed is not None:
        gone = set(recoding.suppressed.rows())
        classes = shown.select(recoding.suppressed.columns).rows()
        wanted = [row for row, own in zip(wanted, classes, strict=True) if own not in gone]
    assert recode(table.lazy(), recoding).collect().rows() == wanted
    assert recode(table.lazy(), recoding).collect(engine="streaming").rows() == wanted


def test_more_columns_than_one_number_holds() -> None:
    table = pl.DataFrame({f"c{number}": [value * 7 for value in range(300)] for number in range(12)})
    classes = table[::3]
    released = recode(table.lazy(), Recoding(kept=tuple(table.columns), suppressed=classes)).collect()
    assert released["c0"].to_list() == [value * 7 for value in range(300) if value % 3]
    other = classes.with_columns(pl.col("c11") + 1)
    assert recode(table.lazy(), Recoding(kept=tuple(table.columns), suppressed=other)).collect().equals(table)


def test_a_value_that_came_later() -> None:
    mapping = ValueMap(pl.Series(["a", "b"]), pl.Series(["x", "y"]))
    for kind in (pl.String, pl.Categorical):
        table = pl.DataFrame({"c": pl.Series(["a", "b", "new"], dtype=kind)})
        with pytest.raises(pl.exceptions.PolarsError, match="replace_strict"):
            recode(table.lazy(), Recoding({"c": mapping})).collect()


@given(st.lists(st.one_of(st.none(), st.integers(-3, 2000)), min_size=1, max_size=20))
def test_small_integers(values: list[int | None]) -> None:
    found = small_integers(pl.DataFrame({"a": pl.Series(values, dtype=pl.Int32)})).get("a")
    known = [value for value in values if value is not None]
    if known and (min(known) < 0 or max(known) > 4 * len(values) + 1000):
        assert found is None
        return
    assert found is not None
    back = [None if number == found.size - 1 else int(number) for number in found.numbers]
    assert back == values
