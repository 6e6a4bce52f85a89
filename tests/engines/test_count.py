"""From rows to a count table, against counting row by row in plain Python."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest

from discreet.counts import CountTable, Histogram
from discreet.engines import SensitiveOptions, count, open_source
from discreet.engines import population as _people
from discreet.errors import DataError
from discreet.schema import Hierarchy, Schema

TREE = {
    "a": Hierarchy.from_rows([[f"v{i}", f"g{i // 2}", "*"] for i in range(7)]),
    "b": "intervals(2, 4)",
    "c": None,
}


def random_rows(rng: np.random.Generator, n: int) -> list[dict[str, Any]]:
    return [
        {
            "a": None if (v := int(rng.integers(0, 8))) == 7 else f"v{v}",
            "b": None if (v := int(rng.integers(-3, 9))) == 8 else v,
            "c": None if (v := int(rng.integers(0, 4))) == 0 else "xyz"[v - 1],
            "s": None if (v := int(rng.integers(0, 5))) == 0 else "pqrs"[v - 1],
            "t": None if (v := int(rng.integers(0, 5))) == 0 else v * 5,
            "label": "no" if rng.random() < 0.5 else "yes",
        }
        for _ in range(n)
    ]


def decoded(table: CountTable, domains: Any) -> list[tuple[Any, ...]]:
    """The original values of every tuple."""
    names = []
    for domain in domains.values():
        by_code = dict(zip(domain.codes.tolist(), domain.values.to_list(), strict=True))
        names.append(by_code)
    return [tuple(names[i][code] for i, code in enumerate(column)) for column in table.codes.T.tolist()]


def histogram_of(table: Histogram, place: int) -> dict[str, int]:
    low, high = table.offsets[place], table.offsets[place + 1]
    return {table.labels[v]: int(c) for v, c in zip(table.values[low:high], table.counts[low:high], strict=True)}


def label_of(value: Any) -> str:
    return "" if value is None else str(value)


@pytest.mark.parametrize("missing", ["unknown", "value"])
@pytest.mark.parametrize("seed", range(30))
def test_counts_agree_with_counting_rows(seed: int, missing: Any) -> None:
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, int(rng.integers(1, 60)))
    frame = pl.DataFrame(rows, schema_overrides={"a": pl.String, "b": pl.Int64, "c": pl.String, "t": pl.Int64})
    schema = Schema.make(frame.columns, (), TREE, ["s", "t"], "label")
    counted = count(open_source(frame), schema, sensitive=SensitiveOptions(missing=missing))
    table = counted.table
    keys = [tuple(row[c] for c in "abc") for row in rows]
    tuples = decoded(table, counted.domains)
    assert dict(zip(tuples, table.weights.tolist(), strict=True)) == Counter(keys)
    assert table.n == len(rows)
    assert table.codes.T.tolist() == sorted(table.codes.T.tolist())
    assert table.codes.dtype == np.int32
    assert table.weights.dtype == np.int64
    for place, key in enumerate(tuples):
        mine = [row for row, other in zip(rows, keys, strict=True) if other == key]
        for column, histogram in [*table.sensitive.items(), ("label", table.labels)]:
            assert histogram_of(histogram, place) == Counter(
                label_of(row[column]) for row in mine if row[column] is not None or missing == "value"
            )
        for column, joint in table.joint.items():
            values, labels = table.sensitive[column].labels, table.labels.labels
            low, high = joint.offsets[place], joint.offsets[place + 1]
            pairs = [(values[code // len(labels)], labels[code % len(labels)]) for code in joint.values[low:high]]
            assert joint.cardinality == len(values) * len(labels)
            counted_pairs = dict(zip(pairs, joint.counts[low:high].tolist(), strict=True))
            assert counted_pairs == Counter(
                (label_of(row[column]), row["label"]) for row in mine if row[column] is not None or missing == "value"
            )
    assert list(table.joint) == ["s", "t"]
    for column, coded in counted.codes.items():
        names = [*table.sensitive.values(), table.labels]
        labels = next(histogram.labels for histogram in names if histogram.name == column)
        assert [labels[code] for code in coded["code"]] == [label_of(value) for value in coded["value"]]
    for i, attribute in enumerate(table.attributes):
        leaves = np.repeat(table.codes[i], table.weights)
        assert attribute.rows.tolist() == np.bincount(leaves, minlength=attribute.leaves).tolist()
    for column in "st":
        counts = dict(zip(*counted.reference[column].to_dict(as_series=False).values(), strict=True))
        assert counts == Counter(row[column] for row in rows)


def test_values_are_counted_with_labels_only_where_there_are_labels_and_only_when_asked() -> None:
    frame = pl.DataFrame({"q": ["x", "x", "y"], "s": ["a", "b", "a"], "label": ["no", "yes", "yes"]})
    without = count(open_source(frame), Schema.make(frame.columns, (), ["q"], ["s"])).table
    assert not without.joint
    table = count(open_source(frame), Schema.make(frame.columns, (), ["q"], ["s"], "s")).table
    assert table.joint["s"] is table.joint["s"]
    assert table.joint["s"].values.tolist() == [0, 3, 0]  # the label is the value itself
    with pytest.raises(KeyError):
        table.joint["label"]
    assert not count(open_source(frame), Schema.make(frame.columns, (), ["q"], (), "label")).table.joint


def test_values_are_coded_in_their_order() -> None:
    frame = pl.DataFrame({"q": ["x"] * 6, "n": ["10", "9", None, "2", "10", "9"], "t": ["b", "a", "c", None, "b", "B"]})
    table = count(open_source(frame), Schema.make(frame.columns, (), ["q"], ["n", "t"], "t")).table
    assert table.sensitive["n"].labels == ("2", "9", "10")
    assert table.sensitive["n"].totals.tolist() == [1, 2, 2]
    assert table.sensitive["n"].missing == 1
    assert table.sensitive["t"].labels == ("B", "a", "b", "c")
    assert table.labels is not None
    assert table.labels.labels == ("B", "a", "b", "c", "")  # a label that is missing is one
    assert table.sensitive["n"].ancestors is None


def test_a_hierarchy_orders_a_sensitive_column() -> None:
    tree = Hierarchy.from_rows([["flu", "lung", "*"], ["ulcer", "gut", "*"], ["cough", "lung", "*"], ["x", "gut", "*"]])
    frame = pl.DataFrame({"q": ["1", "2", "1"], "s": ["cough", "ulcer", "flu"]})
    schema = Schema.make(frame.columns, (), ["q"], ["s"])
    histogram = count(open_source(frame), schema, sensitive=SensitiveOptions(hierarchies={"s": tree})).table.sensitive[
        "s"
    ]
    assert histogram.cardinality == 3
    assert histogram.labels == ("flu", "cough", "ulcer")
    assert histogram.ancestors.tolist() == [[0, 1, 2], [0, 0, 1], [0, 0, 0]]


def test_order_of_rows_leaves_no_trace() -> None:
    rng = np.random.default_rng(3)
    rows = pl.DataFrame(random_rows(rng, 80))
    schema = Schema.make(rows.columns, (), TREE, ["s"])
    first = count(open_source(rows), schema).table
    second = count(open_source(rows.sample(fraction=1, shuffle=True, seed=1)), schema).table
    assert first.codes.tolist() == second.codes.tolist()
    assert first.weights.tolist() == second.weights.tolist()
    assert first.sensitive["s"].values.tolist() == second.sensitive["s"].values.tolist()


def test_tuples_too_many_for_one_number() -> None:
    rng = np.random.default_rng(5)
    columns = [rng.integers(0, 50_000, 300) for _ in range(9)]
    columns = [np.concatenate([column, column[:100]]).astype(np.int32) for column in columns]
    index, tuples = _people.collapse(columns, [50_000] * 9)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    assert [tuple(column) for column in tuples.T.tolist()] == sorted(set(rows))
    assert [sorted(set(rows))[place] for place in index] == rows


def test_many_columns_that_do_not_fit_one_number() -> None:
    rng = np.random.default_rng(6)
    frame = pl.DataFrame({f"c{i}": rng.integers(0, 400, 500) for i in range(12)})
    table = count(open_source(frame), Schema.make(frame.columns, (), dict.fromkeys(frame.columns, "flat()"))).table
    assert table.tuples == 500
    assert table.codes.T.tolist() == sorted(table.codes.T.tolist())


@pytest.mark.parametrize(
    "column",
    ["rows", "rows_", "short", "len", "row", "literal", "count", "value", "q0", "a b", "ä", '"'],
)
def test_columns_may_have_any_name(column: str, tmp_path: Any) -> None:
    frame = pl.DataFrame({column: ["a", "b", "a"], "other": ["x", "x", "x"], "rows__": ["1", "2", None]})
    frame.write_csv(tmp_path / "a.csv")
    for data in (frame, frame.to_pandas(), tmp_path / "a.csv"):
        counted = count(open_source(data), Schema.make(frame.columns, (), [column, "rows__"], ["other"]))
        assert counted.table.weights.tolist() == [1, 1, 1]


def test_missing_policies(constructor: Any) -> None:
    table = pl.DataFrame({"a": ["x", None, "y", "x"], "b": ["u", "v", None, "u"]})
    data = constructor(table)
    schema = Schema.make(["a", "b"], (), ["a", "b"])
    as_value = count(open_source(data), schema)
    assert as_value.table.n == 4
    assert as_value.missing == {"a": 1, "b": 1}
    without = count(open_source(data), schema, missing="suppress")
    assert (without.table.n, without.dropped) == (2, 2)
    with pytest.raises(DataError, match="Column 'a' has missing values in 1 row") as caught:
        count(open_source(data), schema, missing="error")
    assert caught.value.column == "a"


def test_nothing_left() -> None:
    frame = pl.DataFrame({"a": [None, None], "b": ["x", "y"]})
    with pytest.raises(DataError, match="leaves none"):
        count(open_source(frame), Schema.make(["a", "b"], (), ["a", "b"]), missing="suppress")
    with pytest.raises(DataError, match="no rows"):
        count(open_source(frame.head(0)), Schema.make(["a", "b"], (), ["a", "b"]))


@pytest.mark.parametrize("column", ["*", "^o.*$", ""])
def test_names_that_read_like_patterns(column: str) -> None:
    frame = pl.DataFrame({column: ["a", "b"], "other": ["x", "x"]})
    with pytest.raises(DataError, match="rename it") as caught:
        count(open_source(frame), Schema.make(frame.columns, (), [column]))
    assert caught.value.column == column
    assert count(open_source(frame), Schema.make(frame.columns, [column], ["other"])).table.n == 2
