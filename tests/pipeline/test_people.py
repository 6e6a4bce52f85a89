"""Releases that count people: what is audited, what leaves, and what does not."""

from __future__ import annotations

import json
import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dc
import naive
from canary import found_in
from discreet.engines import counting
from discreet.errors import (
    AuditError,
    DataError,
    DiscreetError,
    InfeasibleError,
    MissingColumnError,
    UnsupportedCombinationError,
    UsageError,
)
from discreet.report.small_counts import LeftOut

MODELS = [
    "k(2)",
    "k(3)",
    "distinct-l(2, s)",
    "entropy-l(1.8, s)",
    "recursive-cl(2, 2, s)",
    "l+(0.85, s)",
    "alpha-k(0.9, 1, s)",
    "t(0.4, s, equal)",
    "t(0.3, s, ordered)",
    "beta(1.5, s)",
    "delta-disclosure(1.2, s)",
]
ILLNESSES = ["a", "b", "c", "d"]
QUASI = {"age": "intervals(5, 10, 20)", "sex": "flat"}


def visits(
    seed: int, rows: int = 40, people: int = 15, *, constant: bool = False, missing: float = 0.0
) -> pl.DataFrame:
    """Visits of some people, whose age may vary; identifiers are words that occur nowhere else."""
    rng = np.random.default_rng(seed)
    person = rng.integers(0, people, rows)
    born, home = rng.integers(20, 45, people), rng.integers(0, max(people // 2, 1), people)
    ill = [None if rng.random() < missing else ILLNESSES[rng.choice(4, p=(0.4, 0.3, 0.2, 0.1))] for _ in range(rows)]
    return pl.DataFrame(
        {
            "pid": [f"QZPerson{number:04d}" for number in person],
            "hid": [f"QZHouse{number:04d}" for number in home[person]],
            "age": born[person] + (0 if constant else rng.integers(0, 4, rows)),
            "sex": ["f" if number % 2 else "m" for number in born[person]],
            "s": pl.Series(ill, dtype=pl.String),
        }
    )


def crowds(rows: list[dict[str, Any]], person: str) -> list[naive.Crowd]:
    """The people of each class, counted in plain Python."""
    classes: dict[tuple[Any, ...], list[int]] = {}
    for number, row in enumerate(rows):
        classes.setdefault((row["age"], row["sex"]), []).append(number)
    table = naive.Table(rows, {})
    return [naive.crowd(table, members, person, "s") for members in classes.values()]


@pytest.mark.parametrize("model", MODELS)
def test_the_audit_counts_people_as_sets_do(model: str) -> None:
    verdicts = set()
    for seed in range(60):
        rng = random.Random(f"{model} {seed}")
        table = visits(seed, rng.randint(3, 30), rng.randint(1, 12), missing=rng.choice((0, 0.3)))
        table = table.with_columns(age=pl.col("age") // rng.choice((3, 10, 30, 100)))
        table = table.with_columns(sex=pl.lit("x")) if rng.random() < 0.3 else table
        if table["s"].null_count() == table.height:
            continue
        rows = table.to_dicts()
        whole = naive.crowd(naive.Table(rows, {}), range(len(rows)), "pid", "s")
        ok = naive.crowd_ok(model, [[value, "*"] for value in ILLNESSES if value in whole.counts], whole)
        found = dc.audit(table, quasi_identifiers=["age", "sex"], sensitive={"s": None}, privacy=[model], person="pid")
        counted = crowds(rows, "pid")
        assert found.passed == all(map(ok, counted)), (seed, model, rows)
        assert found.people == len(whole.people)
        assert found.smallest_class == min(len(each.people) for each in counted)
        assert found.rows == len(rows)
        verdicts.add(found.passed)
    assert verdicts == {True, False}, "both verdicts should occur"


def released_rows(release: dc.Release, table: pl.DataFrame) -> list[dict[str, Any]]:
    """The released rows with the people they are about."""
    frame = release.frame
    frame = frame.collect() if isinstance(frame, pl.LazyFrame) else frame
    whose = table[release.rows_of(table).to_numpy()].select(person="pid", house="hid", secret="s")
    return pl.concat([frame.select("age", "sex", "s"), whose], how="horizontal").to_dicts()


@pytest.mark.parametrize("suppression", ["none", "class-records", "budget(0.3)", "budget(4)", "budget(0.4, of=rows)"])
@pytest.mark.parametrize("unit", ["pid", "hid"])
def test_every_class_of_a_release_has_enough_people(suppression: str, unit: str, tmp_path: Path) -> None:
    done = 0
    for seed in range(12):
        table = visits(seed, 40, 18, constant=seed % 3 == 0, missing=0.2 * (seed % 2))
        job: dict[str, Any] = {"person": "pid"} if unit == "pid" else {"person": "pid", "household": "hid"}
        if seed % 4 == 1:
            job["output"] = tmp_path / f"{seed}.{random.Random(seed).choice(['csv', 'parquet', 'jsonl'])}"
        try:
            release = dc.anonymize(
                table,
                identifiers=[] if "household" in job else ["hid"],
                quasi_identifiers=QUASI,
                sensitive="s",
                privacy=["k(3)", "distinct-l(2, s)"],
                suppression=suppression,
                seed=seed,
                **job,
            )
        except InfeasibleError:
            continue
        done += 1
        rows = released_rows(release, table)
        assert all(row["s"] == row["secret"] for row in rows)
        key = "person" if unit == "pid" else "house"
        for crowd in crowds(rows, key):
            assert len(crowd.people) >= 3
            assert len(crowd.counts) >= 2
        left = {row[key] for row in rows}
        gone = set(table[unit]) - left
        assert release.people == table[unit].n_unique()
        assert release.audit.people == len(left)
        assert release.suppressed_people == len(gone)
        assert release.suppressed == table.height - len(rows)
        if suppression.startswith("budget") and "rows" not in suppression:
            whole = table.filter(~pl.col(unit).is_in(list(gone))).height
            assert len(rows) == whole, "suppressed people leave with all their rows, others with none"
            assert release.people_losing_rows == len(gone)
    assert done >= 4


def test_people_are_numbered_by_the_codes_of_their_rows_alone() -> None:
    table = visits(3, 200, 40, missing=0.2)
    others = {f"QZPerson{number:04d}": f"other{(number * 37) % 101:03d}" for number in range(40)}
    again = table.sample(fraction=1, shuffle=True, seed=1).with_columns(pl.col("pid").replace_strict(others))
    first, second = (_counted(each) for each in (table, again))
    assert first.people is not None
    assert second.people is not None
    for name in ("offsets", "members", "rows"):
        assert np.array_equal(getattr(first.people, name), getattr(second.people, name)), name
    for name in ("offsets", "people", "values", "totals"):
        mine, theirs = (getattr(each.people.sensitive["s"], name) for each in (first, second))
        assert np.array_equal(mine, theirs), name


def _counted(table: pl.DataFrame) -> Any:
    from discreet.engines import count, open_source
    from discreet.schema import Schema

    source = open_source(table)
    source.number_people(["pid"])
    schema = Schema.make(source.columns, ["hid"], QUASI, "s").with_owners("pid")
    return count(source, schema).table


def test_counts_of_people_are_those_of_sets() -> None:
    for seed in range(40):
        table = visits(seed, 30, 9, constant=seed % 2 == 0, missing=0.2)
        found = _counted(table)
        rows = table.to_dicts()
        pairs = {(row["age"], row["sex"], row["pid"]) for row in rows}
        if len({row["pid"] for row in rows}) == len(rows):
            assert found.people is None
            continue
        assert found.people.members.size == len(pairs)
        assert found.people.count == len({row["pid"] for row in rows})
        assert found.people.rows.sum() == len(rows)
        assert found.people.constant == (len(pairs) == found.people.count)
        triples = {(row["age"], row["sex"], row["pid"], row["s"]) for row in rows if row["s"] is not None}
        values = found.people.sensitive["s"]
        assert values.people.size == len(triples)
        having = {value: {row["pid"] for row in rows if row["s"] == value} for value in ILLNESSES}
        assert sorted(values.totals.tolist()) == sorted(len(who) for who in having.values() if who)
        for start, end in zip(found.people.offsets[:-1], found.people.offsets[1:], strict=True):
            assert (np.diff(found.people.members[start:end]) > 0).all()


def test_a_search_that_counts_rows_does_not_pass(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(counting.CountedPeople, "own_rows", True)
    table = pl.DataFrame({"pid": ["a"] * 5 + ["b"] * 5, "age": [30] * 5 + [40] * 5})
    with pytest.raises(AuditError, match=r"k\(5\) broken"):
        dc.anonymize(
            table, quasi_identifiers={"age": "flat"}, privacy="k(5)", person="pid", output=tmp_path / "safe.csv"
        )
    assert not list(tmp_path.iterdir())


def test_other_rows_than_were_counted_do_not_pass(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from discreet.pipeline import publish

    read = publish.read_people

    def one_row_less(data: Any, *others: Any) -> Any:
        rows = data.collect() if isinstance(data, pl.LazyFrame) else data
        return read(rows.head(-1), *others)

    monkeypatch.setattr(publish, "read_people", one_row_less)
    with pytest.raises(AuditError, match="other rows"):
        make(output=tmp_path / "safe.csv")
    assert not list(tmp_path.iterdir())


def make(table: pl.DataFrame | None = None, **job: Any) -> dc.Release:
    given = {"identifiers": ["hid"], "person": "pid", "quasi_identifiers": QUASI, "sensitive": "s"}
    choices = {"privacy": ["k(2)"], "suppression": "budget(0.5)", "seed": 5}
    return dc.anonymize(visits(1, 120, 40) if table is None else table, **{**given, **choices, **job})


ERRORS: dict[str, tuple[dict[str, Any], type[DiscreetError], str]] = {
    "missing column": ({"person": "pidd"}, MissingColumnError, "did you mean"),
    "quasi-identifier": ({"person": "age"}, UsageError, "quasi-identifier and the person"),
    "sensitive": ({"person": "s"}, UsageError, "sensitive and the person"),
    "both": ({"household": "pid"}, UsageError, "the person and the household"),
    "kept": ({"keep": ["pid"]}, UsageError, "cannot be kept"),
    "several": ({"person": ["pid", "hid"]}, UsageError, "one column"),
    "pseudonyms of nobody": ({"person": None, "identifiers": ["pid", "hid"], "pseudonyms": True}, UsageError, "person"),
    "weights": ({"person": "pid", "weights": "pid"}, UsageError, "choose one role"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str) -> None:
    changes, kind, text = ERRORS[name]
    with pytest.raises(kind, match=text):
        make(**changes)


def test_missing_people_are_counted_and_never_named() -> None:
    table = visits(1).with_columns(pl.when(pl.int_range(pl.len()) > 2).then("pid").alias("pid"))
    with pytest.raises(DataError, match="no value in 3 rows") as error:
        make(table)
    assert "QZ" not in str(error.value)
    with pytest.raises(DataError, match="no value in 3 rows"):
        dc.audit(table, quasi_identifiers=["age"], privacy="k(1)", person="pid")
    with pytest.raises(DataError, match="no value in 3 rows"):
        dc.evaluate.risk(table, quasi_identifiers=["age"], person="pid")


def test_an_identifier_may_be_the_person() -> None:
    release = make(identifiers=["pid", "hid"])
    assert release.frame.columns == ["age", "sex", "s"]


def test_a_person_per_row_is_a_row() -> None:
    table = visits(1, 60).with_columns(pid=pl.int_range(pl.len()))
    by_person = make(table)
    by_row = make(table, person=None, identifiers=["hid", "pid"])
    assert by_person.cost == by_row.cost
    assert by_person.audit.people == by_person.audit.rows == by_row.audit.rows
    assert any("every row" in note.lower() for note in by_person.notes)


def leaked(*contents: bytes) -> set[str]:
    words = [f"QZPerson{number:04d}" for number in range(40)] + [f"QZHouse{number:04d}" for number in range(20)]
    return set().union(*(found_in(content, words) for content in contents))


@pytest.mark.parametrize("pseudonyms", [False, True])
@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl"])
def test_no_value_of_a_person_leaves(pseudonyms: bool, form: str, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    visits(1, 120, 40).write_csv(source / "visits.csv")
    out = tmp_path / "out"
    out.mkdir()
    release = make(
        source / "visits.csv",
        identifiers=[],
        household="hid",
        pseudonyms=pseudonyms,
        output=out / f"safe.{form}",
        key=source / "key",
    )
    for name in ("report.html", "report.md", "report.json"):
        release.report(out / name)
    release.protection_page(out / "page.html", internal=True)
    release.certificate(out / "certificate.json")
    (out / "release.pickle").write_bytes(pickle.dumps(release))
    texts = [str(release), repr(release), json.dumps(release.to_dict(exact=True), default=str), release.verdict]
    contents = [path.read_bytes() for path in out.iterdir()]
    assert not leaked(*contents, *(str(text).encode() for text in texts))
    kept = ["pid", "hid"] if pseudonyms else []
    assert [column for column in release.frame.lazy().collect_schema() if column in ("pid", "hid")] == kept


def test_pseudonyms_are_consistent_and_fresh(tmp_path: Path) -> None:
    table = visits(1, 120, 40)
    release = make(table, pseudonyms=True)
    rows = pl.concat(
        [release.frame.select("pid"), table[release.rows_of(table).to_numpy()].select(was="pid")], how="horizontal"
    )
    pairs = rows.unique()
    assert pairs.height == rows["pid"].n_unique() == rows["was"].n_unique()
    assert pairs["pid"].str.len_chars().unique().to_list() == [16]
    same = make(table, pseudonyms=True).frame
    assert same.equals(release.frame)
    for other in (make(table, pseudonyms=True, seed=6), make(table, pseudonyms=True, privacy=["k(3)"])):
        assert not set(other.frame["pid"]) & set(pairs["pid"])
    ranks = pairs.sort("was")["pid"].rank().to_numpy()
    assert abs(np.corrcoef(ranks, np.arange(ranks.size))[0, 1]) < 0.6
    found = dc.audit(release.frame, quasi_identifiers=["age", "sex"], privacy="k(2)", person="pid")
    assert found.passed
    assert found.people == release.audit.people


def test_reports_say_people_where_people_are_meant(tmp_path: Path) -> None:
    release = make(visits(2, 400, 100, constant=True))
    summary = release.summary()
    assert f"people          {release.audit.people:,} of 100 released" in summary or "left out" in summary
    assert "people" in release.audit.summary()
    if release.audit.smallest_class >= 5:
        assert any("is one of at least" in sentence for sentence in release.verdict.sentences)
    page = release.report(tmp_path / "report.md").read_text()
    assert "People in the release" in page
    assert "promises count people" in page


def test_few_people_left_out_withhold_rows() -> None:
    frame = pl.DataFrame(
        {"pid": [1] * 9 + [number for number in range(2, 42) for _ in range(2)], "age": [99] * 9 + [30] * 80}
    )
    release = dc.anonymize(
        frame,
        quasi_identifiers={"age": "flat"},
        max_levels={"age": 0},
        privacy="k(5)",
        suppression="budget(0.1)",
        person="pid",
    )
    assert (release.suppressed_people, release.suppressed) == (1, 9)
    left_out = LeftOut.of(release)
    assert left_out.few
    shown = release.to_dict()
    assert shown["rows"] is shown["suppressed"] is shown["cost"] is shown["people"] is None
    assert shown["suppressed_people"] == "fewer than 5"
    assert "fewer than 5 left out" in release.summary()
    assert "89" not in release.summary()
    assert release.to_dict(exact=True)["suppressed_people"] == 1


def test_written_later_is_audited_for_people_too(tmp_path: Path) -> None:
    release = make()
    for name in ("a.csv", "a.parquet", "a.jsonl", "parts/"):
        release.write(f"{tmp_path}/{name}")
    release.write(tmp_path / "sheet.csv", for_spreadsheets=True)


def test_certificates(tmp_path: Path) -> None:
    for pseudonyms in (False, True):
        out = tmp_path / f"{pseudonyms}.csv"
        release = make(output=out, pseudonyms=pseudonyms, key=tmp_path / "key")
        release.certificate(tmp_path / "c.json")
        checked = dc.verify(out, tmp_path / "c.json", key=tmp_path / "key")
        assert checked.passed
        assert ("not checked" in checked.summary()) != pseudonyms or pseudonyms
        assert any("count people" in what for what, _ in checked.files) != pseudonyms
        assert (checked.audit.people is not None) == pseudonyms


def test_policies_count_people(tmp_path: Path) -> None:
    release = make(output=tmp_path / "safe.csv", pseudonyms=True)
    policy = release.policy()
    assert policy.person == "pid"
    assert dc.check(tmp_path / "safe.csv", policy).passed
    crowd = pl.DataFrame({"pid": ["a", "a", "b"], "age": [1, 1, 1]})
    rules = {"quasi_identifiers": ["age"], "allow": ["pid"], "identifying": "off"}
    assert dc.check(crowd, privacy="k(3)", **rules).passed
    assert not dc.check(crowd, privacy="k(3)", person="pid", **rules).passed
    assert not dc.check(crowd, privacy="k(1)", person="nobody", **rules).passed


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("unit", ["pid", "hid"])
def test_a_mapping_counts_the_people_of_other_rows(seed: int, unit: str, tmp_path: Path) -> None:
    job = {"identifiers": ["pid", "hid"], "quasi_identifiers": QUASI, "sensitive": "s", "privacy": ["k(3)"]}
    owner = {"person": "pid"} if unit == "pid" else {"household": "hid"}
    release = dc.anonymize(visits(seed, 60, 25), **job, **owner)
    mapping = release.to_mapping()
    assert mapping["person" if unit == "pid" else "household"] == unit
    assert dc.apply_mapping(mapping, visits(seed, 60, 25)).audit.people == release.people
    other = visits(seed + 100, 40, 15)
    plain = dc.apply_mapping({**mapping, "privacy": ["k(1)"]}, other, unknown="top", order="keep").frame
    owners = plain.with_columns(other[unit])
    sizes = owners.with_columns(people=pl.col(unit).n_unique().over([*QUASI]))["people"]
    if int(sizes.min()) < 3:
        with pytest.raises(AuditError, match=r"k\(3\) broken"):
            dc.apply_mapping(mapping, other, unknown="top")
    target = tmp_path / "more.csv" if seed % 2 else None
    applied = dc.apply_mapping(mapping, other, unknown="top", broken="suppress", output=target)
    kept = owners.filter(sizes >= 3)
    assert applied.audit.rows == kept.height
    assert applied.audit.people == kept[unit].n_unique()
    assert applied.people == other[unit].n_unique()
    assert unit not in applied.frame.columns
    gone = applied.people - kept[unit].n_unique()
    if applied.suppressed and gone < 5:
        assert applied.to_dict()["suppressed"] is None
        assert f"{applied.suppressed:,} left out" not in applied.summary()


def test_other_rows_must_say_whose_they_are() -> None:
    mapping = make().to_mapping()
    with pytest.raises(MissingColumnError, match="pid"):
        dc.apply_mapping(mapping, visits(1).drop("pid"), unknown="top")
    unsaid = visits(1).with_columns(pl.when(pl.int_range(pl.len()) > 3).then("pid").alias("pid"))
    with pytest.raises(DataError, match="no value in"):
        dc.apply_mapping(mapping, unsaid, unknown="top")


def test_values_of_people_are_found_in_other_columns() -> None:
    table = visits(1).with_columns(link="https://example.org/" + pl.col("pid"))
    with pytest.raises(DiscreetError, match="link"):
        make(table)


@pytest.mark.parametrize("count", [dc.anonymize, dc.pareto])
def test_all_searches_take_people(count: Callable[..., Any]) -> None:
    job = {"privacy": "k"} if count is dc.pareto else {"privacy": "k(3)"}
    found = count(
        visits(4, 90, 30, constant=True), identifiers="hid", quasi_identifiers=QUASI, sensitive="s", person="pid", **job
    )
    assert found is not None


def test_profiles_are_counted_as_multisets() -> None:
    verdicts = set()
    for seed in range(80):
        rng = random.Random(seed)
        table = visits(seed, rng.randint(2, 14), rng.randint(1, 5)).with_columns(
            age=pl.col("age") // 30, sex=pl.lit("x")
        )
        rows: dict[str, list[int]] = {}
        for row in table.to_dicts():
            rows.setdefault(row["pid"], []).append(row["age"])
        profiles: dict[tuple[int, ...], int] = {}
        for ages in rows.values():
            profile = tuple(sorted(ages))
            profiles[profile] = profiles.get(profile, 0) + 1
        found = dc.audit(table, quasi_identifiers=["age", "sex"], privacy="k(2, profile=true)", person="pid")
        assert found.checks[0].reached == min(profiles.values())
        verdicts.add(found.passed)
    assert verdicts == {True, False}
    with pytest.raises(UsageError, match="person"):
        dc.audit(visits(1), quasi_identifiers=["age"], privacy="k(2, profile=true)")


def test_profiles_of_releases() -> None:
    table = visits(5, 60, 40)
    release = make(table, privacy=["k(3, profile=true)"], suppression="budget(1.0)")
    rows = released_rows(release, table)
    shown: dict[str, list[tuple[Any, Any]]] = {}
    for row in rows:
        shown.setdefault(row["person"], []).append((str(row["age"]), row["sex"]))
    profiles = [tuple(sorted(values)) for values in shown.values()]
    assert min(profiles.count(profile) for profile in profiles) >= 3


@pytest.mark.parametrize("scheme", ["local", "local(people=apart)", "subtree"])
@pytest.mark.parametrize("output", [None, "safe.csv"])
def test_other_schemes(scheme: str, output: str | None, tmp_path: Path) -> None:
    for seed in range(4):
        table = visits(seed, 60, 24, constant=seed == 0)
        quasi = QUASI if scheme == "subtree" else dict.fromkeys(QUASI)
        target = None if output is None else tmp_path / f"{seed}-{output}"
        release = make(
            table, quasi_identifiers=quasi, scheme=scheme, privacy=["k(3)"], suppression="none", output=target
        )
        rows = released_rows(release, table)
        assert len(rows) == table.height
        assert all(len(crowd.people) >= 3 for crowd in crowds(rows, "person"))
        if scheme == "local":
            classes: dict[str, set[tuple[Any, Any]]] = {}
            for row in rows:
                classes.setdefault(row["person"], set()).add((row["age"], row["sex"]))
            assert all(len(found) == 1 for found in classes.values()), "all rows of a person stay together"


@pytest.mark.parametrize("kind", ["polars", "pandas", "csv", "duckdb"])
def test_rows_of_a_person_may_be_in_several_groups(kind: str, tmp_path: Path) -> None:
    table, apart = visits(3, 200, 60), 0
    for privacy, suppression in (
        (["k(3)"], "none"),
        (["k(3)", "distinct-l(2, s)"], "budget(10%, of=rows)"),
        (["k(2)", "t(0.6, s)"], "class-records"),
    ):
        data: Any = table
        if kind == "pandas":
            data = table.to_pandas()
        elif kind != "polars":
            data = tmp_path / "visits.csv"
            table.write_csv(data)
        release = make(
            data,
            quasi_identifiers=dict.fromkeys(QUASI),
            types={"age": "integer"},
            scheme="local(people=apart)",
            privacy=privacy,
            suppression=suppression,
            engine="duckdb" if kind == "duckdb" else "auto",
        )
        assert release.audit.passed
        assert release.lower_bound <= release.cost
        if kind == "polars":
            rows = released_rows(release, table)
            assert all(len(crowd.people) >= 2 for crowd in crowds(rows, "person"))
            shown = {(row["person"], row["age"], row["sex"]) for row in rows}
            apart += len(shown) - len({row["person"] for row in rows})
    assert apart or kind != "polars"
    with pytest.raises(UnsupportedCombinationError, match="of=rows"):
        make(table, quasi_identifiers=dict.fromkeys(QUASI), scheme="local(people=apart)")


def test_the_schemes_that_were_tried_are_compared_in_people() -> None:
    release = make(visits(6, 200, 60), scheme="best", privacy=["k(3)"], suppression="none", time_limit=6)
    tried = {each["scheme"]: each for each in release.stats["schemes"]}
    taken = tried[str(release.job["scheme"]).partition("(")[0]]
    assert taken["smallest_class"] == release.audit.smallest_class
    assert taken["classes"] == release.audit.classes


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_risk_of_released_people_counts_those_who_were_released(seed: int) -> None:
    release = dc.anonymize(
        visits(seed, rows=200, people=60),
        person="pid",
        identifiers=["hid"],
        quasi_identifiers=QUASI,
        privacy="k(4)",
        suppression="budget(30%)",
    )
    assert release.suppressed_people
    handed_over, private = release.risk(only_released=True), release.risk()
    assert handed_over.people == private.people == release.audit.people
    assert handed_over.prosecutor == private.prosecutor
    assert handed_over.prosecutor.highest <= 1 / 4
    assert not any(warning.column == "pid" for warning in handed_over.warnings)  # the column does not leave


@pytest.mark.parametrize("seed", range(12))
def test_profiles_of_people_with_the_same_values_and_different_numbers_of_rows(seed: int) -> None:
    rng = random.Random(seed)
    person = [f"p{rng.randrange(7)}" for _ in range(16)]
    home = {each: rng.choice("ab") for each in person}
    table = pl.DataFrame({"p": person, "a": [home[each] for each in person]})
    release = dc.anonymize(
        table,
        quasi_identifiers={"a": "flat"},
        person="p",
        privacy=["k(2, profile=true)", "k(3)"],
        suppression="budget(7)",
        pseudonyms=True,
    )
    rows = release.frame.group_by("p").agg(pl.col("a").sort())
    alike = rows.group_by("a").len()["len"].to_list()
    assert all(count >= 2 for count in alike)
    assert all(count >= 3 for count in release.frame.group_by("a").agg(pl.col("p").n_unique())["p"].to_list())


def test_drawn_rows_are_no_people_even_if_each_drawn_row_is_another_persons():
    table = pl.DataFrame({"age": [30, 40, 30, 40] * 10, "who": [f"p{i}" for i in range(40)]})
    with pytest.raises(dc.errors.UnsupportedCombinationError, match="rows are drawn one by one"):
        dc.anonymize(table, quasi_identifiers=["age"], privacy="dp(2, 0.01)", person="who")


def test_households_of_a_survey(data_folder: Path) -> None:
    """The figures of docs/people.md on the testdata of sdcMicro."""
    keys = ["urbrur", "roof", "walls", "water", "sex", "age"]
    table = pl.read_csv(data_folder / "sdcmicro" / "testdata.csv").select(*keys, "ori_hid")
    trees = {**dict.fromkeys(keys, "flat"), "age": "intervals(5, 10, 20, 40)"}
    job: dict[str, Any] = {"privacy": "k(3)", "cost": "NCP", "seed": 1, "household": "ori_hid"}
    by_row = dc.anonymize(
        table, quasi_identifiers=trees, identifiers="ori_hid", privacy="k(3)", cost="NCP", suppression="budget(5%)"
    )
    owners = by_row.frame.with_columns(table["ori_hid"].gather(by_row.rows_of(table)))
    homes = owners.group_by(keys).agg(pl.col("ori_hid").n_unique())["ori_hid"]
    assert (by_row.suppressed, int(homes.min()), int((homes < 3).sum())) == (131, 1, 12)
    by_household = dc.anonymize(table, quasi_identifiers=trees, suppression="budget(5%)", **job)
    assert (by_household.suppressed_people, by_household.suppressed) == (49, 218)
    apart = dc.anonymize(table, quasi_identifiers=keys, scheme="local(people=apart)", **job)
    losses = [release.normalized_cost for release in (by_row, by_household, apart)]
    assert losses == pytest.approx([0.059, 0.109, 0.006], abs=0.001)
    assert all(release.audit.smallest_class == 3 for release in (by_row, by_household, apart))
    risk = dc.evaluate.risk(table, quasi_identifiers=keys, household="ori_hid")
    assert risk.household is not None
    assert (risk.prosecutor.average, risk.household.average) == pytest.approx((0.395, 0.793), abs=0.001)


def test_pseudonyms_that_link_rows_are_a_caution_unless_profiles_are_promised():
    visits = dc.sample_visits(600, seed=3).select("patient_id", "sex", "zip", "department")
    job: dict[str, Any] = {"person": "patient_id", "quasi_identifiers": ["sex", "zip"], "keep": ["department"]}
    linked = dc.anonymize(visits, privacy="k(3)", pseudonyms=True, **job)
    assert any(each.level == "caution" and "by their pseudonyms" in each.sentence for each in linked.verdict.findings)
    for other in ({"pseudonyms": False}, {"pseudonyms": True, "privacy": "k(3, profile=true)"}):
        release = dc.anonymize(visits, **{"privacy": "k(3)", **job, **other})
        assert "by their pseudonyms" not in str(release.verdict)


def test_pseudonyms_of_a_repeated_seed_do_not_say_how_many_people_were_left_out():
    def pseudonyms(left_out: list[int]) -> set[str]:
        ages = [50 + i // 20 for i in range(40)] + left_out
        table = pl.DataFrame({"pid": [f"p{i}" for i in range(len(ages))], "age": ages})
        job: dict[str, Any] = {"person": "pid", "quasi_identifiers": {"age": "flat"}, "privacy": "k(5)", "seed": 7}
        return set(dc.anonymize(table, pseudonyms=True, suppression="budget(12%)", **job).frame["pid"])

    nobody = pseudonyms([])
    assert nobody == pseudonyms([])
    for left_out in ([1], [1, 2], [90], [1, 2, 3, 4]):
        assert not nobody & pseudonyms(left_out)


@pytest.mark.parametrize("privacy", ["k(3, any=2)", "k(3, on=[age, sex])"])
def test_key_sets_of_all_columns_hold_in_groups_of_people(privacy: str) -> None:
    visits = dc.sample_visits(120, seed=3).select("patient_id", "age", "sex")
    release = dc.anonymize(
        visits,
        person="patient_id",
        quasi_identifiers={"age": "intervals(5, 20)", "sex": "flat"},
        privacy=privacy,
        scheme="local",
        pseudonyms=True,
    )
    assert release.frame.group_by("age", "sex").agg(pl.col("patient_id").n_unique())["patient_id"].min() >= 3
