from __future__ import annotations

import copy
import pickle
from datetime import date

import polars as pl
import pytest

from discreet import intervals
from discreet.errors import DataError, MissingColumnError, UsageError
from discreet.schema import ColumnFacts, Hierarchy, Role, Schema, Type, detect

COLUMNS = ["name", "age", "zip", "disease", "income", "note"]


def test_roles():
    schema = Schema.make(
        COLUMNS, ["name"], {"age": "intervals(5, 10)", "zip": None}, ["disease"], "income", {"zip": "text"}
    )
    assert schema.identifiers == ("name",)
    assert schema.quasi_identifiers == {"age": intervals(5, 10), "zip": None}
    assert schema.sensitive == ("disease",)
    assert schema.class_attribute == "income"
    assert schema.insensitive == ("note",)
    assert schema.types == {"zip": Type.TEXT}
    assert [schema.role(column) for column in COLUMNS] == [
        Role.IDENTIFIER,
        Role.QUASI_IDENTIFIER,
        Role.QUASI_IDENTIFIER,
        Role.SENSITIVE,
        Role.CLASS,
        Role.INSENSITIVE,
    ]
    assert pickle.loads(pickle.dumps(schema)) == schema == copy.deepcopy(schema)


def test_lists_and_single_names():
    assert Schema.make(COLUMNS, quasi_identifiers=["age", "zip"]).quasi_identifiers == {
        "age": None,
        "zip": None,
    }
    schema = Schema.make(COLUMNS, "name", "age", "disease")
    assert (schema.identifiers, list(schema.quasi_identifiers), schema.sensitive) == (
        ("name",),
        ["age"],
        ("disease",),
    )


def test_a_sensitive_column_may_be_the_class_attribute():
    schema = Schema.make(COLUMNS, (), ["age"], ["income"], "income")
    assert schema.role("income") is Role.SENSITIVE


def test_hierarchy_files_are_relative_to_the_current_folder(tmp_path, monkeypatch):
    Hierarchy.from_rows([["1", "x"]]).to_csv(tmp_path / "age.csv")
    monkeypatch.chdir(tmp_path)
    schema = Schema.make(COLUMNS, (), {"age": "age.csv", "zip": ["94110"]})
    assert schema.quasi_identifiers["age"].source == "age.csv"


@pytest.mark.parametrize(
    "roles",
    [
        {"identifiers": ["agge"], "quasi_identifiers": ["zip"]},
        {"quasi_identifiers": ["agge"]},
        {"quasi_identifiers": {"agge": "flat"}},
        {"quasi_identifiers": ["zip"], "sensitive": ["agge"]},
        {"quasi_identifiers": ["zip"], "class_attribute": "agge"},
        {"quasi_identifiers": ["zip"], "types": {"agge": "text"}},
    ],
)
def test_no_such_column(roles):
    with pytest.raises(MissingColumnError, match="There is no column 'agge'; did you mean 'age'") as caught:
        Schema.make(COLUMNS, **roles)
    assert caught.value.column == "agge"
    assert caught.value.available == COLUMNS


@pytest.mark.parametrize(
    ("columns", "roles", "error", "message"),
    [
        (["a", "b", "a"], {"quasi_identifiers": ["b"]}, DataError, "The data has two columns called 'a'"),
        (["a"], {}, UsageError, "There is no quasi-identifier"),
        (["a", "b"], {"quasi_identifiers": ["a", "a"]}, UsageError, "'a' is named twice as quasi-identifier"),
        (
            ["a", "b"],
            {"identifiers": ["a", "a"], "quasi_identifiers": "b"},
            UsageError,
            "twice as identifier",
        ),
        (["a", "b"], {"sensitive": ["a", "a"], "quasi_identifiers": "b"}, UsageError, "twice as sensitive"),
        (
            ["a"],
            {"identifiers": "a", "quasi_identifiers": "a"},
            UsageError,
            "both identifier and quasi-identifier",
        ),
        (
            ["a"],
            {"sensitive": "a", "quasi_identifiers": "a"},
            UsageError,
            "both quasi-identifier and sensitive",
        ),
        (
            ["a", "b"],
            {"class_attribute": "a", "quasi_identifiers": "b", "identifiers": "a"},
            UsageError,
            "both identifier and the class attribute",
        ),
        (
            ["a", "b"],
            {"identifiers": "a", "sensitive": "a", "quasi_identifiers": "b"},
            UsageError,
            "both identifier and sensitive",
        ),
        (
            ["a", "b"],
            {"identifiers": "a", "class_attribute": "a", "quasi_identifiers": "b"},
            UsageError,
            "both identifier and the class attribute",
        ),
        (["a"], {"quasi_identifiers": {"a": "fla"}}, UsageError, "There is no hierarchy 'fla'"),
        (
            ["a"],
            {"quasi_identifiers": "a", "types": {"a": "number"}},
            UsageError,
            "There is no type 'number'",
        ),
    ],
)
def test_roles_that_make_no_sense(columns, roles, error, message):
    with pytest.raises(error, match=message):
        Schema.make(columns, **roles)


@pytest.mark.parametrize(
    ("name", "values", "rows", "role"),
    [
        ("patient_id", range(100), 100, Role.IDENTIFIER),
        ("PatientID", range(100), 100, Role.IDENTIFIER),
        ("SSN", [f"{number:09}" for number in range(100)], 100, Role.IDENTIFIER),
        ("first_name", [f"n{number}" for number in range(40)], 100, Role.IDENTIFIER),
        ("comment", [f"word {number} and more" for number in range(100)], 100, Role.IDENTIFIER),
        ("nr", range(100), 100, Role.IDENTIFIER),
        ("education_id", range(16), 30_000, Role.QUASI_IDENTIFIER),
        ("age", range(17, 90), 1000, Role.QUASI_IDENTIFIER),
        ("birthDate", [date(1950, 1, 1 + day) for day in range(30)], 30, Role.QUASI_IDENTIFIER),
        ("Zip Code", ["94110", "94117"], 1000, Role.QUASI_IDENTIFIER),
        ("marital-status", ["single"], 1000, Role.QUASI_IDENTIFIER),
        ("plant", ["00501", "10001"], 1000, Role.QUASI_IDENTIFIER),
        ("diagnosis", ["flu"], 1000, Role.SENSITIVE),
        ("Disease", [f"d{number}" for number in range(100)], 100, Role.SENSITIVE),
        ("monthly_income", range(1000), 1000, Role.SENSITIVE),
        ("fnlwgt", [number * 1.5 for number in range(900)], 1000, Role.QUASI_IDENTIFIER),
        ("flag", [True, False], 1000, Role.INSENSITIVE),
        ("colour", ["red", "green"], 1000, Role.INSENSITIVE),
        ("empty", [None], 1000, Role.INSENSITIVE),
    ],
)
def test_suggested_roles(name, values, rows, role):
    distinct = pl.Series(list(values))
    sizes = pl.Series([rows // len(distinct) + (place < rows % len(distinct)) for place in range(len(distinct))])
    assert detect(ColumnFacts.of(name, distinct, sizes)).role is role
