"""Whatever values, numbers and files are given: an error is one sentence of discreet that names the column."""

from __future__ import annotations

import copy
import datetime
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dc
from discreet.errors import DataError, DiscreetError, OutputError, UsageError
from discreet.job import Job

ROWS = 8
COLUMNS = {
    "zone": pl.Series([datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)] * ROWS),
    "huge": pl.Series([2**100] * ROWS, dtype=pl.Int128),
    "duration": pl.Series([datetime.timedelta(1)] * ROWS),
    "time": pl.Series([datetime.time(1)] * ROWS),
    "decimal": pl.Series([Decimal("1.50")] * ROWS),
    "bytes": pl.Series([b"a"] * ROWS),
    "list": pl.Series([[1]] * ROWS),
    "record": pl.Series([{"a": 1}] * ROWS),
    "empty record": pl.Series([{}] * ROWS, dtype=pl.Struct([])),
    "object": pl.Series([object()] * ROWS, dtype=pl.Object),
    "null": pl.Series([None] * ROWS),
    "enum": pl.Series(["x"] * ROWS, dtype=pl.Enum(["x", "y"])),
    "infinite": pl.Series([float("inf")] * ROWS),
    "unsigned": pl.Series([2**64 - 1] * ROWS, dtype=pl.UInt64),
}
PLACES = ("parquet", "csv", "jsonl", "xlsx", "duckdb", "sqlite")


@pytest.mark.parametrize("place", [None, *PLACES])
@pytest.mark.parametrize("name", COLUMNS)
def test_every_type_to_every_place(name: str, place: str | None, tmp_path: Path) -> None:
    target: Any = None if place is None else tmp_path / f"safe.{place}"
    if place in ("duckdb", "sqlite"):
        target = f"{place}:///{tmp_path}/safe.{place}?table=people"
    table = pl.DataFrame({"q": ["a", "b"] * 4, "x": COLUMNS[name]})
    for roles in ({"quasi_identifiers": "q"}, {"quasi_identifiers": ["q", "x"]}):
        said = _error_of(table, **roles, privacy="k(2)", output=target)
        assert said is None or "'x'" in said


@pytest.mark.parametrize(
    ("name", "place", "words"),
    [
        ("duration", "csv", "holds durations, which CSV cannot hold"),
        ("bytes", "xlsx", "bytes, which an Excel sheet cannot hold"),
        ("zone", "xlsx", "times with a time zone"),
        ("empty record", "parquet", "records without a field"),
    ],
)
def test_columns_a_format_cannot_hold_are_named(name: str, place: str, words: str, tmp_path: Path) -> None:
    table = pl.DataFrame({"q": ["a", "b"] * 4, "x": COLUMNS[name]})
    with pytest.raises(OutputError, match=f"Column 'x' holds .*{words.removeprefix('holds ')}"):
        dc.anonymize(table, quasi_identifiers="q", privacy="k(2)", keep="x", output=tmp_path / f"safe.{place}")


def test_types_of_arrow_without_a_form_in_polars() -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not here; it comes with the extra pandas")
    column = pa.array([Decimal("1.1")] * ROWS, pa.decimal256(50, 3))
    with pytest.raises(DataError, match=r"Column 'x' holds decimal256\(50, 3\) values"):
        dc.anonymize(pa.table({"x": column}), quasi_identifiers="x", privacy="k(2)")


@pytest.mark.parametrize(
    "width", ["1e-320", "1e308", "1e400", "1, 1e308", "9" * 300, "0.000000000000001, 1000000000000000"]
)
@pytest.mark.parametrize("values", [[1, 2, 3, 4], [0.5, 1.5, 2.5, 3.5], ["2020-01-01"] * 4])
def test_absurd_intervals(width: str, values: list[Any]) -> None:
    with pytest.raises(UsageError, match="interval"):
        dc.anonymize(pl.DataFrame({"x": values}), quasi_identifiers={"x": f"intervals({width})"}, privacy="k(2)")


@pytest.mark.parametrize(
    "choices",
    [
        {"privacy": f"k({'1' * 5000})"},
        {"privacy": f"k({'[' * 20000}{']' * 20000})"},
        {"privacy": "recursive-cl(1e-320, 2, x)", "sensitive": "x", "quasi_identifiers": "q"},
        {"privacy": f"entropy-l({'9' * 300}, x)", "sensitive": "x", "quasi_identifiers": "q"},
    ],
)
def test_absurd_numbers(choices: dict[str, Any]) -> None:
    settings = {"quasi_identifiers": "x", **choices}
    with pytest.raises(DiscreetError) as caught:
        dc.anonymize(pl.DataFrame({"x": [1, 2, 3, 4], "q": list("aabb")}), **settings)
    assert len(str(caught.value)) < 1000


def test_deep_files(tmp_path: Path) -> None:
    for name, text in (
        ("job.yaml", "input: people.csv\nquasi_identifiers: " + "[" * 20_000 + "]" * 20_000),
        ("job.json", '{"quasi_identifiers":' + "[" * 200_000 + "]" * 200_000 + "}"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(UsageError, match="nested too deeply"):
            Job.load(tmp_path / name)
    (tmp_path / "mapping.json").write_text("[" * 200_000)
    with pytest.raises(DataError, match="is no mapping"):
        dc.apply_mapping(tmp_path / "mapping.json", pl.DataFrame({"x": [1]}))
    deep: Any = ["a"]
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(UsageError, match="nested too deeply"):
        dc.anonymize(pl.DataFrame({"x": ["a"]}), quasi_identifiers={"x": deep}, privacy="k(1)")


def test_every_altered_mapping_ends_in_a_sentence() -> None:
    table = pl.DataFrame({"age": [21, 24, 38, 39, 50, 51], "zip": list("aabbcd"), "s": list("xyxyzz")})
    release = dc.anonymize(
        table,
        quasi_identifiers={"age": "intervals(10)", "zip": None},
        sensitive={"s": {"l": ["x", "y"], "r": ["z"]}},
        privacy=["k(2)", "t(0.9, s)"],
        suppression="budget(0.4)",
        types={"zip": "text"},
    )
    mapping = json.loads(json.dumps(release.to_mapping()))
    others = (None, [], {}, "x", -1, 1.5, True, [[]], [None], {"a": 1}, 10**30, {"rows": [["a", "b"], ["c"]]})
    broken = 0
    for path in _paths(mapping):
        for other in ("gone", *others):
            altered = copy.deepcopy(mapping)
            inside = altered
            for key in path[:-1]:
                inside = inside[key]
            if other == "gone":
                del inside[path[-1]]
            else:
                inside[path[-1]] = other
            try:
                dc.apply_mapping(altered, table, unknown="suppress")
            except DiscreetError:
                broken += 1
    assert broken > 200


@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("keep", "remark"),
        ("keep", ["remark", "remark"]),
        ("keep", ["age"]),
        ("keep", [None]),
        ("weights", None),
        ("weights", ["w"]),
        ("missing_sensitive", None),
        ("missing_sensitive", "drop"),
        ("missing_sensitive", ["value"]),
        ("age/left_out", None),
        ("age/left_out", "50"),
        ("age/left_out", [50]),
        ("age/left_out", ["50", "50"]),
        ("age/left_out", ["21"]),
        ("age/hierarchy", "intervals(10)"),
        ("age/hierarchy", {"rows": [["21", "[20, 30)"]]}),
        ("age/hierarchy", {"automatic": 1, "rows": [["21", "[20, 30)"]]}),
        ("age/hierarchy", {"automatic": False}),
        ("age/hierarchy", {"automatic": False, "rows": [[]]}),
        ("age/hierarchy", {"automatic": False, "rows": [["21", None]]}),
        ("age/hierarchy", {"automatic": False, "rows": [["21", "*"], ["24"]]}),
    ],
)
def test_an_altered_field_of_a_mapping_is_named(field: str, other: Any) -> None:
    table = pl.DataFrame({"age": [21, 24, 38, 39, 50], "remark": list("aabbc"), "w": [2] * 5, "s": list("xyxyz")})
    release = dc.anonymize(
        table,
        quasi_identifiers={"age": "intervals(10)"},
        sensitive="s",
        weights="w",
        keep=["remark"],
        privacy=["k-map(4)", "k(2)"],
        suppression="budget(1)",
    )
    mapping = json.loads(json.dumps(release.to_mapping()))
    column, _, name = field.rpartition("/")
    inside = mapping["columns"][column] if column else mapping
    assert name in inside
    earlier = inside.pop(name)
    if name not in ("weights", "keep"):  # mappings of earlier versions have no such field
        assert dc.apply_mapping(mapping, table, unknown="suppress", keep="remark").audit.passed
    inside[name] = earlier
    assert dc.apply_mapping(mapping, table).audit.passed
    inside[name] = other
    where = f" of column '{column}'" if column else ""
    for read in (dc.apply_mapping, lambda given, table: dc.evaluate.utility(table, release.frame, mapping=given)):
        with pytest.raises(DataError, match=f"'{name}'{where} is missing or damaged; write the mapping again"):
            read(mapping, table)


def _error_of(table: pl.DataFrame, **choices: Any) -> str | None:
    try:
        dc.anonymize(table, **choices)
    except DiscreetError as error:
        return str(error)
    return None


def _paths(item: Any, before: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = item.items() if isinstance(item, dict) else enumerate(item[:2]) if isinstance(item, list) else ()
    return [path for key, value in inner for path in ((*before, key), *_paths(value, (*before, key)))]
