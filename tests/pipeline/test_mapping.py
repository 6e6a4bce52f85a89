"""Mappings: the same recoding again, on the same rows and on others, and never a value that is not known."""

from __future__ import annotations

import json
import random
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.engines import to_lazy
from discreet.errors import AuditError, DataError, MissingColumnError, UsageError
from sources import Constructor

COLUMNS = ["birth_date", "sex", "zip", "education", "diagnosis"]
SETTINGS: dict[str, Any] = {
    "quasi_identifiers": {
        "birth_date": "dates(year, decade)",
        "sex": "flat",
        "zip": "mask(digits=5)",
        "education": dc.groups(
            {
                "low": ["No schooling", "Primary school", "Middle school", "High school"],
                "high": ["Vocational", "Bachelor", "Master", "Doctorate"],
            }
        ),
    },
    "sensitive": ["diagnosis"],
    "privacy": ["k(5)", "distinct-l(2, diagnosis)"],
    "suppression": "budget(10%)",
}


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return dc.sample(1500, seed=3).select(COLUMNS)


@pytest.fixture(scope="module")
def release(people: pl.DataFrame) -> dc.Release:
    return dc.anonymize(people, **SETTINGS)


def test_the_same_rows_become_the_same(release: dc.Release, people: pl.DataFrame, tmp_path: Path) -> None:
    path = release.mapping(tmp_path / "mapping.json")
    applied = dc.apply_mapping(path, people)
    assert applied.frame.equals(release.frame)
    assert applied.suppressed == release.suppressed > 0
    assert applied.audit.passed
    data = json.loads(path.read_text())
    assert "keep it as safe" in data["warning"]
    assert len(data["suppressed"][0]) == 4


@pytest.mark.parametrize("scheme", ["subtree", "ordered", "set", "guided-set", {"zip": "set", "education": "subtree"}])
def test_every_global_scheme(scheme: Any, people: pl.DataFrame) -> None:
    table = people.select("sex", "education", "diagnosis", zip=pl.col("zip").cast(pl.String).str.head(1)).head(300)
    quasi = {"sex": None, "education": SETTINGS["quasi_identifiers"]["education"], "zip": None}
    scheme = {"sex": "full-domain", **scheme} if isinstance(scheme, dict) else scheme
    release = dc.anonymize(
        table, quasi_identifiers=quasi, privacy="k(6)", suppression="class-records", scheme=scheme, time_limit=20
    )
    assert dc.apply_mapping(release.to_mapping(), table).frame.equals(release.frame)


def test_every_kind_of_data(constructor: Constructor, people: pl.DataFrame) -> None:
    data = constructor(people.head(400))
    release = dc.anonymize(data, **SETTINGS)
    mapping = json.loads(json.dumps(release.to_mapping()))
    again = to_lazy(dc.apply_mapping(mapping, data).frame).collect()
    assert again.equals(to_lazy(release.frame).collect())


def test_types_may_differ(release: dc.Release, people: pl.DataFrame) -> None:
    """A mapping made from dates and numbers fits the same table as text, and the other way round."""
    text = people.with_columns(pl.all().cast(pl.String))
    assert dc.apply_mapping(release.to_mapping(), text).frame.equals(
        release.frame.with_columns(pl.all().cast(pl.String))
    )
    from_text = dc.anonymize(text, **SETTINGS)
    assert dc.apply_mapping(from_text.to_mapping(), people).audit.rows == from_text.audit.rows


class TestUnknown:
    @pytest.fixture
    def table(self) -> pl.DataFrame:
        return pl.DataFrame({"town": ["Ulm", "Bonn"] * 20, "age": [31, 47] * 20})

    @pytest.fixture
    def mapping(self, table: pl.DataFrame) -> dict[str, Any]:
        release = dc.anonymize(
            table, quasi_identifiers={"town": None, "age": "intervals(10, 50)"}, privacy="k(5)", min_levels={"age": 1}
        )
        assert release.levels == {"town": 0, "age": 1}
        return release.to_mapping()

    @pytest.fixture
    def new(self, table: pl.DataFrame) -> pl.DataFrame:
        return pl.concat([table, pl.DataFrame({"town": ["Kyoto"] * 8, "age": [31] * 8})])

    def test_an_error_by_default(self, mapping: dict[str, Any], new: pl.DataFrame) -> None:
        with pytest.raises(
            DataError, match=r"Column 'town' has 1 value \(8 rows\) that the mapping does not know"
        ) as error:
            dc.apply_mapping(mapping, new)
        assert error.value.column == "town"
        assert "Kyoto" not in str(error.value)

    def test_suppressed(self, mapping: dict[str, Any], new: pl.DataFrame, table: pl.DataFrame) -> None:
        applied = dc.apply_mapping(mapping, new, unknown="suppress")
        assert applied.frame["town"].to_list() == table["town"].to_list()
        assert applied.unknown == {"town": 8}
        assert applied.suppressed == 8

    def test_top(self, mapping: dict[str, Any], new: pl.DataFrame) -> None:
        applied = dc.apply_mapping(mapping, new, unknown="top")
        assert applied.frame["town"].to_list()[-1] == "*"
        assert "Kyoto" not in applied.frame["town"].to_list()

    def test_a_missing_value_is_unknown_where_none_was(self, mapping: dict[str, Any], table: pl.DataFrame) -> None:
        new = pl.concat([table, pl.DataFrame({"town": [None] * 6, "age": [31] * 6}, schema=table.schema)])
        with pytest.raises(DataError, match="'town'"):
            dc.apply_mapping(mapping, new)
        assert dc.apply_mapping(mapping, new, unknown="suppress").audit.rows == table.height

    def test_numbers_follow_the_rule_of_their_hierarchy(self, mapping: dict[str, Any], table: pl.DataFrame) -> None:
        new = table.with_columns(age=pl.col("age") + 2)
        applied = dc.apply_mapping(mapping, new)
        assert set(applied.frame["age"]) == {"[30, 40)", "[40, 50)"}
        assert applied.by_rule == {"age": 2}

    def test_a_rule_that_would_change_known_values_is_not_followed(self, mapping: dict[str, Any]) -> None:
        mapping["columns"]["age"]["released"][0] = "[0, 40)"
        new = pl.DataFrame({"town": ["Ulm"] * 5, "age": [33] * 5})
        with pytest.raises(DataError, match="'age'"):
            dc.apply_mapping(mapping, new)

    def test_what_is_no_number_is_unknown(self, mapping: dict[str, Any]) -> None:
        new = pl.DataFrame({"town": ["Ulm"] * 5, "age": ["old"] * 5})
        with pytest.raises(DataError, match="'age'"):
            dc.apply_mapping(mapping, new)
        assert dc.apply_mapping(mapping, new, unknown="top").frame["age"].to_list() == ["*"] * 5


@settings(max_examples=40, deadline=None)
@given(
    first=st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), min_size=8, max_size=40),
    second=st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 5)), min_size=1, max_size=40),
    unknown=st.sampled_from(["suppress", "top"]),
)
def test_what_comes_out_is_always_safe_and_known(first: Any, second: Any, unknown: Any) -> None:
    """On any tables: no value that was not released before but the top, and every class large enough."""
    schema = {"a": pl.String, "b": pl.Int64}
    release = dc.anonymize(
        pl.DataFrame(first, schema, orient="row"),
        quasi_identifiers={"a": dc.groups({"ab": ["a", "b"], "cd": ["c"]}), "b": "flat"},
        privacy="k(2)",
        suppression="class-records",
    )
    try:
        mapping = release.to_mapping()
    except UsageError:
        assert release.audit.rows == 0
        return
    applied = dc.apply_mapping(mapping, pl.DataFrame(second, schema, orient="row"), unknown=unknown, broken="suppress")
    frame = applied.frame.with_columns(pl.all().cast(pl.String))
    for name, column in mapping["columns"].items():
        allowed = {*(column["released"] or column["values"]), "*"}
        assert set(frame[name]) <= allowed
    sizes = frame.group_by("a", "b").len()["len"]
    assert (sizes >= 2).all()
    gone = {tuple(row) for row in mapping["suppressed"]}
    assert not gone & set(frame.iter_rows())


@pytest.mark.parametrize("seed", range(24))
def test_classes_are_left_out_until_all_promises_hold(seed: int) -> None:
    """Promises that compare with the whole table do so with all rows of the new one, whatever else is left out."""
    rng = random.Random(seed)

    def made(n: int) -> pl.DataFrame:
        columns = {"a": "abcd", "b": "xyz", "c": "12"}
        values: dict[str, Any] = {name: rng.choices(letters, k=n) for name, letters in columns.items()}
        values["s"] = rng.choices(["u", "u", "v", "w", None], k=n)
        values["pid"] = [f"P{rng.randrange(20)}" for _ in range(n)]
        return pl.DataFrame(values, schema_overrides={"s": pl.String})

    keyed = rng.choice(["k(2, any=2)", "k(2, any=1)", "k(3, on=[a])", "k(2, on=[b, c])"])
    model = rng.choice(["t(0.4, s, equal)", "beta(1, s)", "delta-disclosure(1, s)"])
    owner: dict[str, Any] = {"person": "pid"} if rng.random() < 0.5 else {"identifiers": ["pid"]}
    settings = {"quasi_identifiers": dict.fromkeys("abc", "flat"), "sensitive": ["s"], **owner}
    first = dc.anonymize(made(60), **settings, privacy=[keyed, model], suppression="class-records")
    try:
        mapping = first.to_mapping()
    except UsageError:
        assert first.audit.rows == 0
        return
    assert dc.apply_mapping(mapping, made(25), unknown="suppress", broken="suppress").audit.passed


def test_broken_promises(release: dc.Release, people: pl.DataFrame, tmp_path: Path) -> None:
    few = people.head(60)
    with pytest.raises(AuditError, match=r"k\(5\) broken.*broken: suppress"):
        dc.apply_mapping(release.to_mapping(), few, output=tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []
    applied = dc.apply_mapping(release.to_mapping(), few, broken="suppress", output=tmp_path / "out.csv")
    assert applied.audit.passed
    assert applied.suppressed > 0
    assert dc.audit(
        tmp_path / "out.csv", quasi_identifiers=COLUMNS[:-1], privacy=SETTINGS["privacy"], sensitive="diagnosis"
    ).passed


def test_columns_nobody_knows_are_refused(release: dc.Release, people: pl.DataFrame) -> None:
    new = people.with_columns(phone=pl.lit("555-0100"))
    with pytest.raises(DataError, match=r"Column 'phone' was not in the table"):
        dc.apply_mapping(release.to_mapping(), new)
    assert "phone" not in dc.apply_mapping(release.to_mapping(), new, identifiers="phone").frame.columns
    with pytest.raises(MissingColumnError):
        dc.apply_mapping(release.to_mapping(), people.drop("sex"))


def test_missing_rows_are_left_out_again(people: pl.DataFrame) -> None:
    release = dc.anonymize(people, **SETTINGS, missing="suppress")
    assert release.dropped_missing > 0
    assert dc.apply_mapping(release.to_mapping(), people).frame.equals(release.frame)


def test_hierarchical_closeness(people: pl.DataFrame) -> None:
    illnesses = people["diagnosis"].unique().sort().to_list()
    tree = {"some": illnesses[:9], "others": illnesses[9:]}
    arguments = {**SETTINGS, "sensitive": {"diagnosis": tree}, "privacy": ["k(5)", "t(0.5, diagnosis, hierarchical)"]}
    release = dc.anonymize(people, **arguments)
    mapping = json.loads(json.dumps(release.to_mapping()))
    assert dc.apply_mapping(mapping, people).audit.passed


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"scheme": "local", "cost": "NCP"}, "Equal values became different ones"),
        ({"privacy": "l+(0.2, diagnosis)", "suppression": "violating-records", "scheme": "subtree"}, "Single records"),
        ({"privacy": "l+(0.2, diagnosis)", "suppression": "violating-values", "scheme": "subtree"}, "Single records"),
    ],
)
def test_what_has_no_mapping(more: dict[str, Any], why: str, people: pl.DataFrame, tmp_path: Path) -> None:
    arguments = {**SETTINGS, "quasi_identifiers": {"sex": "flat", "education": None}, **more}
    release = dc.anonymize(people.head(300).drop("birth_date", "zip"), **arguments)
    with pytest.raises(UsageError, match=why):
        release.mapping(tmp_path / "mapping.json")
    assert list(tmp_path.iterdir()) == []


def test_bad_files(people: pl.DataFrame, tmp_path: Path, release: dc.Release) -> None:
    with pytest.raises(DataError, match="There is no mapping"):
        dc.apply_mapping(tmp_path / "nowhere.json", people)
    (tmp_path / "m.json").write_text('{"kind": "x"}')
    with pytest.raises(DataError, match=r"'m\.json' is no mapping"):
        dc.apply_mapping(tmp_path / "m.json", people)
    with pytest.raises(DataError, match="another version"):
        dc.apply_mapping({**release.to_mapping(), "format": 99}, people)
    with pytest.raises(UsageError, match=r"end the name 'm\.csv' in \.json"):
        release.mapping(tmp_path / "m.csv")
    with pytest.raises(UsageError, match="unknown is one of"):
        dc.apply_mapping(release.to_mapping(), people, unknown="pass")  # type: ignore[arg-type]


def test_dates(people: pl.DataFrame, release: dc.Release) -> None:
    """A new day is recoded by the rule, also one before all others."""
    new = people.with_columns(
        birth_date=pl.when(pl.int_range(pl.len()) % 2 == 0).then(date(1987, 7, 7)).otherwise("birth_date")
    )
    applied = dc.apply_mapping(release.to_mapping(), new, broken="suppress")
    assert applied.by_rule.get("birth_date", 0) >= 1 or "birth_date" not in applied.unknown


@pytest.mark.parametrize("broken", ["error", "suppress"])
def test_the_separator_stays_and_the_share_left_out_is_told(tmp_path: Path, broken: Any) -> None:
    table = pl.DataFrame({"q": ["a"] * 8 + ["b"] * 7 + ["c"], "n": ["1.50"] * 15 + ["2.5"]})
    asked: dict[str, Any] = {"quasi_identifiers": {"q": "flat"}, "privacy": "k(2)", "max_levels": {"q": 0}}
    release = dc.anonymize(table, **asked, suppression="budget(1)")
    table.write_csv(tmp_path / "more.csv", separator=";")
    applied = dc.apply_mapping(release.to_mapping(), tmp_path / "more.csv", broken=broken, output=tmp_path / "safe.csv")
    lines = (tmp_path / "safe.csv").read_text().splitlines()
    assert (lines[0], set(lines[1:])) == ("q;n", {"a;1.50", "b;1.50"})
    assert (applied.suppressed, applied.left_out) == (1, 1 / 16)
    assert applied.to_dict(exact=True)["left_out"] == 1 / 16
    assert "15 of 16 rows released, 1 left out (6.2%)" in applied.summary(exact=True)


def test_few_people_left_out_are_not_counted_in_what_may_be_handed_over() -> None:
    table = pl.DataFrame({"q": ["a"] * 8 + ["b"] * 7 + ["c"], "s": ["x", "y"] * 8})
    asked: dict[str, Any] = {"quasi_identifiers": {"q": "flat"}, "max_levels": {"q": 0}, "sensitive": "s"}
    release = dc.anonymize(table, **asked, privacy=["k(2)", "t(0.9, s)"], suppression="budget(1)")
    more = pl.DataFrame({"q": ["a"] * 8 + ["b"] * 7 + ["new"] * 3, "s": ["x", "y"] * 9})
    applied = dc.apply_mapping(release.to_mapping(), more, unknown="suppress")
    data = applied.to_dict()
    assert (applied.rows, applied.suppressed, applied.unknown) == (18, 3, {"q": 3})
    assert (data["rows"], data["released"], data["suppressed"], data["left_out"]) == (None, 15, None, "fewer than 5")
    assert data["unknown"] == {"q": "fewer than 5"}
    assert [check["reached"] is None for check in data["audit"]["checks"]] == [False, True]
    assert applied.summary().splitlines()[:2] == [
        "15 rows released, fewer than 5 left out",
        "'q' has values the mapping lacks in fewer than 5 rows",
    ]
    assert "18" not in applied.summary() + repr(applied) + json.dumps(data)
    assert "reached 0." not in applied.summary()
    exact = applied.to_dict(exact=True)
    assert (exact["rows"], exact["suppressed"], exact["unknown"]) == (18, 3, {"q": 3})
    assert all(check["reached"] is not None for check in exact["audit"]["checks"])
    assert "15 of 18 rows released, 3 left out (16.7%)" in applied.summary(exact=True)


def test_a_night_without_new_people_is_no_error(tmp_path: Path) -> None:
    born = [date(1990, 1, 1), date(1980, 2, 2)]
    table = pl.DataFrame({"born": born * 4, "sex": ["f", "m"] * 4})
    release = dc.anonymize(table, quasi_identifiers={"born": "dates(year, decade)", "sex": None}, privacy="k(3)")
    release.mapping(tmp_path / "mapping.json")
    assert dc.apply_mapping(tmp_path / "mapping.json", table.clear()).frame.is_empty()


def test_no_rows_of_any_kind_are_released_as_text(constructor: Constructor) -> None:
    """A level above the values is text, also where there is no value to look up."""
    table = pl.DataFrame({"born": [date(1990, 1, 1), date(1980, 2, 2)] * 4, "sex": ["f", "m"] * 4})
    quasi = {"born": "dates(year, decade)", "sex": "flat"}
    release = dc.anonymize(table, quasi_identifiers=quasi, privacy="k(3)", min_levels={"born": 1})
    data = constructor(table.clear())
    if "json" in Path(str(data)).name:
        pytest.skip("without rows, such a file has no columns")
    applied = dc.apply_mapping(release.to_mapping(), data)
    assert to_lazy(applied.frame).collect().schema == {"born": pl.String, "sex": pl.String}
