"""What the page asks for before anything runs: projects, columns, roles, hierarchies, goals, undo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.errors import UsageError
from discreet.problem import AXES, COSTS, PRIVACY, SCHEMES, SUPPRESSION
from discreet.schema.builders import BUILDERS
from discreet.solve import SOLVERS
from discreet.studio._vocabulary import vocabulary

PEOPLE = pl.DataFrame(
    {
        "id": [f"P{n}" for n in range(40)],
        "age": [20 + n % 17 for n in range(40)],
        "sex": ["f", "m"] * 20,
        "city": [["Leeds", "York", "Bath", None][n % 4] for n in range(40)],
        "diagnosis": [["Flu", "Cold", "Asthma"][n % 3] for n in range(40)],
    }
)


@pytest.fixture
def project(visitor: Any) -> str:
    return visitor.table(PEOPLE)["id"]


def test_about(visitor: Any) -> None:
    fields = visitor.get("/about").json()
    assert fields["limits"]["page"] == 200
    assert {each["name"] for each in fields["samples"]} == {"people"}
    assert fields["vocabulary"]["privacy"][0]["prevents"]


def test_the_vocabulary_is_what_the_library_knows() -> None:
    fields = vocabulary()
    families = {"privacy": PRIVACY, "costs": COSTS, "suppression": SUPPRESSION, "schemes": SCHEMES, "axes": AXES}
    for name, family in families.items():
        names = [entry["name"] for entry in fields[name]]
        left_out = {"suppression": {"pre-sampling"}, "privacy": {"delta-presence", "dp"}}.get(name, set())
        if name == "schemes":  # several of them, one after the other
            assert names.pop(0) == "best"
            assert set(fields[name][0]["tries"]) <= set(names)
        assert set(names) == set(family.members()) - left_out
        for entry in (each for each in fields[name] if each["name"] in names):
            defaults = [_default(parameter) for parameter in entry["parameters"]]
            text = f"{entry['name']}({', '.join(defaults)})" if defaults else entry["name"]
            family.make(text)
    assert {entry["name"] for entry in fields["solvers"]} - {"auto"} <= set(SOLVERS.members())
    for entry in fields["builders"]:
        assert entry["name"] in BUILDERS
    for entry in fields["privacy"]:
        assert entry["prevents"]
        assert entry["example"]
    for entries in fields.values():
        for entry in entries:
            assert entry["title"]
            assert entry["text"].endswith(".")


def test_what_does_not_go_with_a_scheme_comes_with_the_reason() -> None:
    fields, refused = vocabulary(), 0
    for family in ("costs", "suppression"):
        for entry in fields[family]:
            for scheme, reason in entry.get("refused", {}).items():
                assert scheme in SCHEMES.members()
                assert reason.endswith(".")
                refused += 1
    assert refused
    precise = next(entry for entry in fields["costs"] if entry["name"] == "precision")
    assert "full-domain" in precise["refused"]["set"]
    refusing = {entry["name"] for entry in fields["costs"] if "full-domain" in entry.get("refused", {})}
    assert refusing <= {"SSE"}  # the distance from means


def _default(parameter: dict[str, Any]) -> str:
    return "disease" if parameter["kind"] == "column" else str(parameter["default"])


def test_a_table_and_what_is_suggested(visitor: Any) -> None:
    fields = visitor.table(PEOPLE)
    assert fields["rows"] == 40
    columns = {column["name"]: column for column in fields["columns"]}
    assert {name: column["role"] for name, column in columns.items()} == {
        "id": "identifier",
        "age": "quasi-identifier",
        "sex": "quasi-identifier",
        "city": "quasi-identifier",
        "diagnosis": "sensitive",
    }
    assert {name: column["type"] for name, column in columns.items()}["age"] == "integer"
    assert (columns["city"]["missing"], columns["city"]["distinct"]) == (10, 3)
    assert columns["id"]["unique"] == 1.0
    assert "codes of a person" in columns["id"]["warning"]
    assert columns["id"]["stops"]
    assert columns["id"]["direct"]
    assert columns["sex"]["warning"] is None
    assert set(fields["hierarchies"]) == {"age", "sex", "city"}
    assert all(each["ok"] and each["automatic"] for each in fields["hierarchies"].values())
    assert fields["can_undo"] is False
    assert fields["goals"]["privacy"] == ["k(5)", "distinct-l(3, diagnosis)"]


def test_protecting_a_column_switches_a_diversity_on(visitor: Any, project: str) -> None:
    path = f"/projects/{project}"
    before = visitor.get(path).json()["goals"]["privacy"]

    def promised(body: dict[str, Any]) -> list[str]:
        fields = visitor.patch(path, body).json()
        of = {column["name"]: column["promised"] for column in fields["columns"]}
        assert {text for texts in of.values() for text in texts} == set(fields["goals"]["privacy"]) - {"k(5)"}
        found: list[str] = fields["goals"]["privacy"]
        return found

    # No more different values are promised than there are: sex has two.
    assert promised({"roles": {"sex": "sensitive"}}) == [*before, "distinct-l(2, sex)"]
    visitor.post(f"{path}/undo")
    assert visitor.get(path).json()["goals"]["privacy"] == before
    visitor.post(f"{path}/redo")
    # What is not protected any more is promised nothing, and another promise about a column is left alone.
    assert promised({"roles": {"sex": "quasi-identifier"}}) == before
    assert promised({"goals": {"privacy": ["k(5)", "t(0.4, diagnosis)"]}}) == ["k(5)", "t(0.4, diagnosis)"]
    assert promised({"roles": {"diagnosis": "sensitive"}}) == ["k(5)", "t(0.4, diagnosis)"]
    # It can be switched off, and stays off.
    assert promised({"goals": {"privacy": ["k(5)"]}}) == ["k(5)"]
    assert promised({"roles": {"city": "insensitive"}}) == ["k(5)"]


def test_a_column_without_values_to_tell_apart_gets_no_diversity(visitor: Any) -> None:
    frame = pl.DataFrame({"age": [20, 30, 40] * 10, "same": ["x"] * 30, "a, b": ["u", "v", "w"] * 10})
    path = f"/projects/{visitor.table(frame)['id']}"
    fields = visitor.patch(
        path, {"roles": {"age": "quasi-identifier", "same": "sensitive", "a, b": "sensitive"}}
    ).json()
    assert fields["goals"]["privacy"] == ["k(5)", "distinct-l(3, 'a, b')"]
    assert visitor.post(f"{path}/check").json()["ok"]


def test_a_column_that_singles_people_out_needs_a_decision(visitor: Any) -> None:
    frame = pl.DataFrame(
        {
            "weight": [n * 37 % 1009 for n in range(300)],
            "born": [f"{1930 + n % 70}-{1 + n % 12:02}-{1 + n % 28:02}" for n in range(300)],
            "age": [20 + n % 5 for n in range(300)],
        }
    )
    fields = visitor.table(frame)
    path = f"/projects/{fields['id']}"
    assert all(column["suggested"] != "insensitive" for column in fields["columns"] if column["name"] != "age")
    roles = {"weight": "insensitive", "born": "identifier", "age": "quasi-identifier"}
    fields = visitor.patch(path, {"roles": roles}).json()
    columns = {column["name"]: column for column in fields["columns"]}
    assert columns["weight"]["undecided"]
    check = visitor.post(f"{path}/check").json()
    assert not check["ok"]
    assert (check["kind"], check["columns"]) == ("UndecidedColumnError", ["weight"])
    fields = visitor.patch(path, {"keep": {"weight": True}}).json()
    assert fields["undo_label"] == "release 'weight' unchanged"
    assert visitor.post(f"{path}/check").json()["ok"]
    # The decision is about the column as it is: with another role it is forgotten.
    visitor.patch(path, {"roles": {"weight": "identifier"}})
    fields = visitor.patch(path, {"roles": {"weight": "insensitive"}}).json()
    assert {column["name"]: column["undecided"] for column in fields["columns"]}["weight"]
    visitor.patch(path, {"keep": {"weight": True}})
    visitor.patch(path, {"keep": {"weight": False}})
    assert not visitor.post(f"{path}/check").json()["ok"]


def test_pages_of_rows(visitor: Any, project: str) -> None:
    page = visitor.get(f"/projects/{project}/rows", offset=2, limit=3).json()
    assert page["total"] == 40
    assert page["rows"] == [[*map(_text, row)] for row in PEOPLE.rows()[2:5]]
    assert len(visitor.get(f"/projects/{project}/rows", limit=100000).json()["rows"]) == 40
    assert visitor.get(f"/projects/{project}/rows", offset=100).json()["rows"] == []
    for bad in ("-1", "x", "1e3", "9" * 30, ""):
        assert visitor.get(f"/projects/{project}/rows", offset=bad).status_code == 422


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def test_columns_in_numbers(visitor: Any, project: str) -> None:
    city = visitor.get(f"/projects/{project}/column", name="city").json()
    assert (city["distinct"], city["missing"], city["rows"]) == (3, 10, 40)
    assert sorted((bar["label"], bar["count"]) for bar in city["histogram"]) == [
        ("Bath", 10),
        ("Leeds", 10),
        ("York", 10),
    ]
    numbers = visitor.table(pl.DataFrame({"n": range(1000), "note": [f"n{n}" for n in range(1000)]}))["id"]
    fields = visitor.get(f"/projects/{numbers}/column", name="n").json()
    assert [(bar["label"], bar["to"]) for bar in fields["histogram"]] == [
        (str(start), str(start + 50)) for start in range(0, 1000, 50)
    ]
    assert sum(bar["count"] for bar in fields["histogram"]) == 1000
    note = visitor.get(f"/projects/{numbers}/column", name="note").json()
    assert len(note["histogram"]) == 40
    assert sum(bar["count"] for bar in note["histogram"]) == 1000
    assert visitor.get(f"/projects/{project}/column", name="nope").status_code == 422
    assert visitor.get(f"/projects/{project}/column").status_code == 422


def test_columns_with_awkward_names(visitor: Any) -> None:
    names = ["..", "a/b", "x?y=1&z", "%2e%2e", "=cmd|' /C calc'!A0", "<script>", "né"]
    frame = pl.DataFrame({name: ["a", "b", "c"] for name in names})
    fields = visitor.table(frame)
    assert [column["name"] for column in fields["columns"]] == names
    for name in names:
        assert visitor.get(f"/projects/{fields['id']}/column", name=name).json()["distinct"] == 3
        answer = visitor.post(f"/projects/{fields['id']}/hierarchy", {"builder": "flat"}, column=name)
        assert answer.json()["column"] == name
        exported = visitor.get(f"/projects/{fields['id']}/hierarchy.csv", column=name)
        assert exported.text == "a;*\nb;*\nc;*\n"
        assert "/" not in exported.headers["content-disposition"].partition("filename=")[2]


def test_changes_are_undone_and_done_again(visitor: Any, project: str) -> None:
    path = f"/projects/{project}"
    first = visitor.get(path).json()
    fields = visitor.patch(path, {"roles": {"sex": "insensitive", "age": "sensitive"}}).json()
    assert fields["undo_label"] == "change roles"
    fields = visitor.patch(path, {"goals": {"privacy": ["k(3)", "distinct-l(2, diagnosis)"]}}).json()
    fields = visitor.post(f"{path}/hierarchy", {"builder": "flat"}, column="city").json()
    fields = visitor.patch(path, {"name": "Trial"}).json()
    last = visitor.get(path).json()
    assert last["name"] == "Trial"
    for _ in range(4):
        assert visitor.post(f"{path}/undo").status_code == 200
    undone = visitor.get(path).json()
    assert {key: undone[key] for key in ("name", "columns", "goals", "hierarchies")} == {
        key: first[key] for key in ("name", "columns", "goals", "hierarchies")
    }
    assert visitor.post(f"{path}/undo").status_code == 422
    assert undone["redo_label"] == "change roles"
    for _ in range(4):
        assert visitor.post(f"{path}/redo").status_code == 200
    again = visitor.get(path).json()
    assert {key: again[key] for key in ("name", "columns", "goals", "hierarchies")} == {
        key: last[key] for key in ("name", "columns", "goals", "hierarchies")
    }
    assert visitor.post(f"{path}/redo").status_code == 422
    visitor.post(f"{path}/undo")
    assert visitor.patch(path, {"name": "Other"}).json()["can_redo"] is False


def test_a_change_that_changes_nothing_is_none(visitor: Any, project: str) -> None:
    assert visitor.patch(f"/projects/{project}", {"roles": {"sex": "quasi-identifier"}}).json()["can_undo"] is False


def test_one_column_says_whose_row_it_is(visitor: Any, project: str) -> None:
    path = f"/projects/{project}"
    visitor.patch(path, {"roles": {"sex": "person"}})
    fields = visitor.patch(path, {"roles": {"city": "person"}}).json()
    roles = {column["name"]: column["role"] for column in fields["columns"]}
    assert (roles["sex"], roles["city"]) == ("identifier", "person")


def test_there_is_one_class(visitor: Any, project: str) -> None:
    path = f"/projects/{project}"
    visitor.patch(path, {"roles": {"sex": "class"}})
    fields = visitor.patch(path, {"roles": {"city": "class"}}).json()
    roles = {column["name"]: column["role"] for column in fields["columns"]}
    assert (roles["sex"], roles["city"]) == ("insensitive", "class")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"roles": {"nope": "identifier"}}, "nope"),
        ({"roles": {"age": "boss"}}, "age"),
        ({"roles": []}, None),
        ({"types": {"age": "colour"}}, None),
        ({"goals": {"privacy": []}}, "privacy"),
        ({"goals": {"privacy": ["k(0)"]}}, "privacy"),
        ({"goals": {"privacy": ["q(5)"]}}, "privacy"),
        ({"goals": {"privacy": "k(5)"}}, "privacy"),
        ({"goals": {"cost": "XX"}}, "cost"),
        ({"goals": {"suppression": "budget(-1)"}}, "suppression"),
        ({"goals": {"scheme": "fulldomain"}}, "scheme"),
        ({"goals": {"solver": "magic"}}, "solver"),
        ({"goals": {"weights": {"age": -1}}}, "age"),
        ({"goals": {"weights": {"age": "much"}}}, "age"),
        ({"goals": {"weights": {"nope": 1}}}, "nope"),
        ({"goals": {"priorities": {"age": 1.5}}}, "age"),
        ({"goals": {"time_limit": 0}}, "time_limit"),
        ({"goals": {"time_limit": "soon"}}, "time_limit"),
        ({"goals": {"missing": "lost"}}, "missing"),
        ({"goals": {"missing_sensitive": "lost"}}, "missing_sensitive"),
        ({"keep": {"nope": True}}, "nope"),
        ({"keep": {"age": True}}, "age"),
        ({"keep": {"age": 1}}, "age"),
        ({"keep": []}, None),
        ({"goals": {"seed": -1}}, "seed"),
        ({"goals": {"luck": 1}}, None),
        ({"name": ""}, None),
        ({"rowz": 1}, None),
        ([], None),
    ],
)
def test_changes_that_make_no_sense(visitor: Any, project: str, body: Any, field: str | None) -> None:
    before = visitor.get(f"/projects/{project}").json()
    answer = visitor.patch(f"/projects/{project}", body)
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert error["field"] == field
    assert error["message"].endswith((".", "?"))
    assert visitor.get(f"/projects/{project}").json() == before


def test_hierarchies(visitor: Any, project: str) -> None:
    path = f"/projects/{project}/hierarchy"
    fields = visitor.get(path, column="age").json()
    assert fields["automatic"]
    assert fields["check"] == {"ok": True, "message": None}
    assert fields["tree"]["count"] == 40
    fields = visitor.post(path, {"builder": "intervals(5, 10)"}, column="age").json()
    assert (fields["form"], fields["height"]) == ("intervals(5, 10)", 3)
    fields = visitor.post(
        path, {"edit": {"op": "rename", "level": 1, "name": "[20, 25)", "to": "young"}}, column="age"
    ).json()
    assert fields["edited"]
    assert "young" in [child["name"] for node in fields["tree"]["children"] for child in node["children"]]
    exported = visitor.get(f"{path}.csv", column="age").text
    fields = visitor.post(path, {"builder": "auto"}, column="age").json()
    assert fields["automatic"]
    fields = visitor.post(path, {"csv": exported}, column="age").json()
    assert fields["edited"]
    assert visitor.get(f"{path}.csv", column="age").text == exported
    assert visitor.get(f"/projects/{project}").json()["undo_label"] == "import the hierarchy of 'age'"


@pytest.mark.parametrize(
    "body",
    [
        {"csv": ""},
        {"csv": "20;x\n\0"},
        {"csv": "20;x;*\n"},
        {"csv": "20;x;*\n20;y;*\n"},
        {"builder": "intervals(5, 7)"},
        {"builder": "dates(month)"},
        {"builder": 5},
        {"builder": "("},
        {"edit": {"op": "rename"}},
        {"edit": 3},
        {},
        {"csv": "x", "builder": "flat"},
    ],
)
def test_hierarchies_that_do_not_fit(visitor: Any, project: str, body: Any) -> None:
    before = visitor.get(f"/projects/{project}").json()
    answer = visitor.post(f"/projects/{project}/hierarchy", body, column="age")
    assert answer.status_code == 422
    assert answer.json()["error"]["message"]
    assert visitor.get(f"/projects/{project}").json() == before


@pytest.mark.parametrize(
    ("rule", "start"),
    [
        ("top(900)", "Level 1 leaves all values as they are. They go from "),
        ("bottom(-20, -10)", "Levels 1 and 2 leave all values as they are. They go from "),
        ("rounding(1, 10)", "Level 1 leaves all values as they are. They go from "),
        ("top(0)", None),
        ("intervals(5, 10)", None),
        ("flat", None),
    ],
)
def test_levels_that_change_nothing_are_reported(visitor: Any, project: str, rule: str, start: str | None) -> None:
    fields = visitor.post(f"/projects/{project}/hierarchy", {"builder": rule}, column="age").json()
    assert fields["check"]["ok"]
    message = fields["check"]["message"]
    if start is None:
        assert message is None
    else:
        values = sorted(int(name) for name, *_ in fields["table"]["rows"])
        assert message == f"{start}{values[0]} to {values[-1]}; choose other settings."


def test_a_type_that_breaks_a_hierarchy_is_reported(visitor: Any, project: str) -> None:
    visitor.post(f"/projects/{project}/hierarchy", {"builder": "mask(digits=2)"}, column="city")
    visitor.patch(f"/projects/{project}", {"types": {"city": "integer"}})
    fields = visitor.get(f"/projects/{project}/hierarchy", column="city").json()
    project_fields = visitor.get(f"/projects/{project}").json()
    assert project_fields["hierarchies"]["city"]["ok"] is fields["check"]["ok"]
    visitor.post(f"/projects/{project}/hierarchy", {"builder": "auto"}, column="city")
    assert visitor.patch(f"/projects/{project}", {"types": {"city": None}}).json()["hierarchies"]["city"]["ok"]


def test_check_says_what_would_be_done(visitor: Any, project: str) -> None:
    path = f"/projects/{project}"
    fields = visitor.post(f"{path}/check").json()
    assert fields["ok"], fields
    assert (fields["solver"], fields["exact"], fields["rows"]) == ("lattice", True, 40)
    assert "proves" in fields["why"]
    assert fields["privacy"][0]["words"] == "Every person is one of at least 5 who look the same."
    visitor.patch(path, {"goals": {"scheme": "local"}})
    assert visitor.post(f"{path}/check").json()["solver"] == "local"
    visitor.patch(path, {"goals": {"privacy": ["k(100)"]}})
    fields = visitor.post(f"{path}/check").json()
    assert fields["ok"] is False
    assert "100" in fields["message"]
    visitor.patch(path, {"roles": dict.fromkeys(["age", "sex", "city"], "insensitive")})
    fields = visitor.post(f"{path}/check").json()
    assert fields["ok"] is False
    assert fields["message"]


def test_errors_name_the_controls_of_the_page(visitor: Any, project: str) -> None:
    visitor.patch(f"/projects/{project}", {"goals": {"missing": "error"}, "roles": {"id": "identifier"}})
    fields = visitor.post(f"/projects/{project}/check").json()
    assert fields["field"] == "city"
    assert "“Empty cells: A value of its own”" in fields["message"]
    assert "missing=" not in fields["message"]


def test_projects_come_and_go(visitor: Any, studio: Any) -> None:
    first, second = (visitor.table(PEOPLE)["id"] for _ in range(2))
    assert [each["id"] for each in visitor.get("/projects").json()] == [second, first]
    assert visitor.client.delete(f"/api/projects/{first}").status_code == 200
    assert visitor.get(f"/projects/{first}").status_code == 404
    assert len([path for path in studio.workspace.folder.iterdir() if path.is_dir()]) == 1


def test_samples(visitor: Any) -> None:
    answer = visitor.post("/projects", {"sample": "people", "rows": 300})
    assert answer.status_code == 201
    fields = answer.json()
    assert fields["rows"] == 300
    assert all(each["ok"] for each in fields["hierarchies"].values())
    assert fields["hierarchies"]["zip"]["form"] == "mask(digits=5)"
    for body in ({"sample": "dogs"}, {"sample": "people", "rows": 0}, {"sample": "people", "rows": "all"}, {}):
        assert visitor.post("/projects", body).status_code == 422


def test_unknown_addresses(visitor: Any) -> None:
    for path in ("/nothing", "/projects/0123", "/jobs/0123", "/jobs/0123/result", "/jobs/0123/events"):
        answer = visitor.get(path)
        assert answer.status_code == 404
        assert answer.json()["error"]["message"]


def test_the_studio_cannot_be_asked_for_more_than_it_has(visitor: Any, project: str) -> None:
    assert visitor.post(f"/projects/{project}/jobs", {"kind": "party"}).status_code == 422
    assert visitor.post(f"/projects/{project}/jobs", {"kind": "front", "axes": ["nope"]}).status_code == 422
    assert visitor.post(f"/projects/{project}/jobs", {"kind": "release", "point": 1, "job": "x"}).status_code == 404
    with pytest.raises(UsageError):
        PRIVACY.make("party")


WORDS = ["roles", "types", "goals", "privacy", "edit", "op", "level", "name", "names", "to", "parts", "builder", "csv"]
WORDS += ["age", "city", "merge", "split", "move", "rename", "add-level", "k(5)", "groups({a: [b]})", "kind", "release"]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 5)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(WORDS)
    | st.text(max_size=3),
    lambda inside: (
        st.lists(inside, max_size=3) | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=3), inside, max_size=4)
    ),
    max_leaves=8,
)


PLACES = ["", "goals", "roles", "edit", "types", "reading", "derive", "pseudonyms"]
PLACES += [f"reading.{name}" for name in ("na", "decimal", "encoding", "date_format", "sheet", "missing_codes")]
PLACES += ["derive.age"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=JSON, of=st.sampled_from(PLACES))
def test_whatever_is_sent_there_is_an_answer(visitor: Any, studio: Any, body: Any, of: str) -> None:
    known = studio.projects("link")
    project = known[0].id if known else visitor.table(PEOPLE)["id"]
    fields = body
    for part in reversed(of.split(".") if of else []):
        fields = {part: fields}
    answers = [
        visitor.patch(f"/projects/{project}", fields),
        visitor.client.post(f"/api/projects/{project}/hierarchy", params={"column": "age"}, json=fields),
        visitor.client.post("/api/projects", json=fields),
    ]
    for answer in answers:
        assert answer.status_code in (200, 422), (fields, answer.text)
        if answer.status_code == 422:
            assert answer.json()["error"]["message"]
    assert visitor.get(f"/projects/{project}").status_code == 200


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "1" * 400])
def test_numbers_that_are_none(visitor: Any, project: str, number: str) -> None:
    before = visitor.get(f"/projects/{project}").json()
    for goal in (f'"weights": {{"age": {number}}}', f'"keep_at_least": {{"age": {number}}}', f'"time_limit": {number}'):
        headers = {"content-type": "application/json"}
        body = f'{{"goals": {{{goal}}}}}'
        assert visitor.client.patch(f"/api/projects/{project}", content=body, headers=headers).status_code == 422
    assert visitor.get(f"/projects/{project}").json() == before


def test_a_file_of_spss(visitor: Any, tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat", reason="pyreadstat is not here; it comes with the extra stats")
    table = PEOPLE.select("age", "sex").with_columns(answer=pl.Series([1.0, 9.0] * 20))
    pyreadstat.write_sav(table, tmp_path / "people.sav", missing_ranges={"answer": [9.0]})
    answer = visitor.upload("people.sav", (tmp_path / "people.sav").read_bytes())
    assert answer.status_code == 201, answer.text
    columns = visitor.get(f"/projects/{answer.json()['id']}").json()["columns"]
    assert {column["name"]: column["missing"] for column in columns} == {"age": 0, "sex": 0, "answer": 20}
    refused = visitor.upload("people.sav", b"no SPSS file")
    assert refused.status_code == 422
    assert "it is damaged or not in the format its name says" in refused.json()["error"]["message"]
