"""Frames and files carry nothing but cells, names and index: canaries in every other place of a frame stay behind."""

from __future__ import annotations

import io
import pickle
from typing import Any

import polars as pl
import pytest

import discreet as dc
from canary import found_in

pd = pytest.importorskip("pandas", reason="pandas is not here; it comes with the extra pandas")
pa = pytest.importorskip("pyarrow", reason="pyarrow is not here; it comes with the extra pandas")

CANARY = "zqCANARYzqCANARYzq"
CELLS = {"q": ["a"] * 12 + ["b"] * 12, "s": list("wxyz") * 6}
MORE = {name: [*values, CANARY] for name, values in CELLS.items()}


pytestmark = pytest.mark.usefixtures("columns_kept")


def release(table: Any, **choices: Any) -> Any:
    settings = {
        "quasi_identifiers": {"q": "flat"},
        "privacy": "k(2)",
        "suppression": "budget(1)",
        "max_levels": {"q": 0},
    }
    return dc.anonymize(table, **{**settings, **choices}).frame


def leaks(frame: Any) -> bool:
    """Whether the canary is in a frame as it is stored."""
    frame = frame.collect() if isinstance(frame, pl.LazyFrame) else frame
    table = frame.to_arrow() if isinstance(frame, pl.DataFrame) else frame
    table = pa.Table.from_pandas(table) if isinstance(table, pd.DataFrame) else table
    stream = io.BytesIO()
    with pa.ipc.new_file(stream, table.schema) as writer:
        writer.write_table(table)
    contents = [pickle.dumps(frame), stream.getvalue()]
    if isinstance(frame, pl.DataFrame):
        own = io.BytesIO()
        frame.write_ipc(own)
        contents.append(own.getvalue())
    return any(found_in(content, [CANARY]) for content in contents)


def dictionary(values: list[str]) -> Any:
    known = sorted({*values, CANARY})
    return pa.DictionaryArray.from_arrays([known.index(value) for value in values], known)


def with_attributes() -> Any:
    frame = pd.DataFrame(CELLS).rename_axis(columns=CANARY)
    frame.attrs["note"] = CANARY
    return frame


TABLES = {
    "attributes": with_attributes(),
    "categories": pd.DataFrame({n: pd.Categorical(v, categories=sorted({*v, CANARY})) for n, v in CELLS.items()}),
    "levels": pd.DataFrame(MORE, index=pd.MultiIndex.from_arrays([MORE["q"], range(25)])).iloc[:24],
    "index": pd.DataFrame(CELLS, index=pd.CategoricalIndex(CELLS["q"], categories=["a", "b", CANARY])),
    "cut pandas": pd.DataFrame(MORE).iloc[:24],
    "arrow in pandas": pd.DataFrame(
        {n: pd.Series(dictionary(v), dtype=pd.ArrowDtype(dictionary(v).type)) for n, v in CELLS.items()}
    ),
    "metadata": pa.table(CELLS).replace_schema_metadata({"note": CANARY}),
    "metadata of fields": pa.table(CELLS).cast(
        pa.schema([pa.field(name, pa.string(), metadata={"note": CANARY}) for name in CELLS])
    ),
    "metadata inside": pa.table(
        {**CELLS, "r": pa.array([{"v": 1}] * 24, pa.struct([pa.field("v", pa.int64(), metadata={"note": CANARY})]))}
    ),
    "dictionary": pa.table({name: dictionary(values) for name, values in CELLS.items()}),
    "dictionary inside": pa.table(
        {"q": CELLS["q"], "s": pa.ListArray.from_arrays(list(range(25)), dictionary(CELLS["s"]))}
    ),
    "cut arrow": pa.table(MORE).slice(0, 24),
    "enum": pl.DataFrame(CELLS).cast({"s": pl.Enum([*"wxyz", CANARY]), "q": pl.Enum(["a", "b", CANARY])}),
    "cut polars": pl.DataFrame(MORE).head(24),
    "cut lazy": pl.DataFrame(MORE).lazy().head(24),
}


@pytest.mark.parametrize("name", TABLES)
def test_nothing_hidden_goes_along(name: str) -> None:
    table = TABLES[name]
    before = table.clone() if isinstance(table, pl.DataFrame) else table
    frame = release(table)
    assert leaks(table)
    assert not leaks(frame)
    if isinstance(table, pd.DataFrame):
        assert frame.index.tolist() == table.index.tolist()
        assert list(frame.columns) == list(table.columns)
        assert table.attrs == before.attrs


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "arrow"])
def test_text_of_suppressed_rows_is_in_no_buffer(kind: str) -> None:
    rows = pl.DataFrame(MORE)
    table = {"polars": rows, "lazy": rows.lazy(), "pandas": rows.to_pandas(), "arrow": rows.to_arrow()}[kind]
    frame = release(table)
    assert not leaks(frame)


def test_what_came_in_is_left_as_it_was() -> None:
    table = with_attributes()
    table["s"] = pd.Categorical(table["s"], categories=[*"wxyz", CANARY])
    release(table)
    assert (table.attrs, table.columns.name, list(table["s"].cat.categories)) == (
        {"note": CANARY},
        CANARY,
        [*"wxyz", CANARY],
    )
