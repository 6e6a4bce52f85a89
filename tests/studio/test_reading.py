"""How a table is read: when it is opened and afterwards, with what follows for columns, jobs and undo."""

from __future__ import annotations

import io
import json
from typing import Any

import polars as pl
import pytest
import yaml

TEXT = "town;born;size;sex;ill\n" + "".join(
    f"{['Köln', 'Ulm', 'NA'][n % 3]};{1 + n % 28:02}.0{1 + n % 9}.19{60 + n % 30};1{n % 10},5;{'fm'[n % 2]};"
    f"{['Flu', 'Cold', 'NA'][n % 3]}\n"
    for n in range(60)
)
READING = {"na": ["NA"], "decimal": ",", "encoding": "latin1", "date_format": "%d.%m.%Y"}


def columns(project: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {column["name"]: column for column in project["columns"]}


def upload(visitor: Any, name: str, content: bytes, reading: Any = None) -> Any:
    query = {} if reading is None else {"reading": json.dumps(reading)}
    return visitor.client.post("/api/projects", params=query, files={"file": (name, content)})


def test_options_when_a_table_is_opened(visitor: Any) -> None:
    content = TEXT.encode("latin1")
    refused = upload(visitor, "people.csv", content)
    assert refused.status_code == 422
    assert "choose its encoding under “How to read the table”" in refused.json()["error"]["message"]
    project = upload(visitor, "people.csv", content, READING).json()
    found = columns(project)
    assert {name: column["type"] for name, column in found.items()} == {
        "town": "text",
        "born": "date",
        "size": "decimal",
        "sex": "text",
        "ill": "text",
    }
    assert found["town"]["missing"] == found["ill"]["missing"] == 20
    assert not any(column["marks"] for column in found.values())
    assert project["reading"]["possible"] == ["na", "decimal", "encoding", "date_format"]
    assert {name: project["reading"][name] for name in READING} == READING
    assert project["reading"]["changed"]
    rows = visitor.get(f"/projects/{project['id']}/rows", limit=1).json()["rows"]
    assert rows == [["Köln", "1960-01-01", "10.5", "f", "Flu"]]


def test_options_afterwards_can_be_undone(visitor: Any) -> None:
    project = upload(visitor, "people.csv", TEXT.encode()).json()
    path = f"/projects/{project['id']}"
    assert columns(project)["town"]["marks"] == {"NA": 20}
    assert not project["reading"]["changed"]
    visitor.patch(path, {"roles": {"sex": "sensitive", "ill": "quasi-identifier"}})
    now = visitor.patch(path, {"reading": {"na": ["NA"], "decimal": ","}}).json()
    found = columns(now)
    assert found["town"]["missing"] == 20
    assert found["size"]["type"] == "decimal"
    assert (found["sex"]["role"], found["ill"]["role"]) == ("sensitive", "quasi-identifier")  # as they were chosen
    assert now["undo_label"] == "change how the table is read"
    back = visitor.post(f"{path}/undo").json()
    assert columns(back)["town"]["missing"] == 0
    assert back["reading"]["na"] == []
    assert columns(visitor.post(f"{path}/redo").json())["town"]["missing"] == 20


def test_numbers_that_look_like_missing_value_codes(visitor: Any) -> None:
    ages = [*(str(20 + row % 40) for row in range(60)), "-999", "-999"]
    sizes = [*(str(row % 9) for row in range(61)), "tiny"]
    rows = "\n".join(f"{age},{size}" for age, size in zip(ages, sizes, strict=True))
    project = upload(visitor, "people.csv", f"age,size\n{rows}\n".encode()).json()
    found = columns(project)
    assert (found["age"]["codes"], found["size"]["codes"]) == ({"-999": 2}, {})
    assert found["size"]["why"].endswith(
        "1 of the 10 different values of column 'size' is not a number: 1 like a (a is any word)."
    )
    now = columns(visitor.patch(f"/projects/{project['id']}", {"reading": {"na": ["-999"]}}).json())
    assert (now["age"]["missing"], now["age"]["codes"]) == (2, {})


@pytest.mark.parametrize(
    ("reading", "message"),
    [
        ({"nas": ["NA"]}, "There is no reading option 'nas'; did you mean 'na'?"),
        ({"na": 3}, "na is a list of texts that mean a missing value"),
        ({"decimal": ";"}, "The decimal mark is '.' or ','"),
        ({"encoding": "latin99"}, "There is no encoding 'latin99'"),
        ({"encoding": "latin\0"}, "There is no encoding 'latin"),
        ({"date_format": "%d"}, "does not say where day, month and year are"),
        ({"sheet": "2024"}, "Only Excel files have sheets, and 'people.csv' is not one; leave “Sheet” out."),
        ({"missing_codes": "missing"}, "Only SPSS files declare missing-value codes"),
        ({"encoding": "utf-16"}, "people.csv"),
        ([], "How to read a table is given as a mapping"),
    ],
)
def test_wrong_options_change_nothing(visitor: Any, reading: Any, message: str) -> None:
    project = upload(visitor, "people.csv", TEXT.encode()).json()
    path = f"/projects/{project['id']}"
    answer = visitor.patch(path, {"reading": reading})
    assert answer.status_code == 422
    assert message in answer.json()["error"]["message"]
    assert visitor.get(path).json()["version"] == project["version"]
    assert upload(visitor, "people.csv", TEXT.encode(), reading).status_code == 422


def test_copies_never_replace_the_file(visitor: Any) -> None:
    """A file may be named as the studio names its copies."""
    stream = io.BytesIO()
    pl.DataFrame({"sex": ["f", "NA"] * 4}).write_parquet(stream)
    project = upload(visitor, "1_rows.parquet", stream.getvalue()).json()
    for na, missing in (["NA"], 4), (["f", "NA"], 8), ([], 0):
        now = visitor.patch(f"/projects/{project['id']}", {"reading": {"na": na}}).json()
        assert columns(now)["sex"]["missing"] == missing


def test_options_that_are_no_json(visitor: Any) -> None:
    answer = visitor.client.post("/api/projects", params={"reading": "{"}, files={"file": ("a.csv", b"a\n1\n")})
    assert answer.status_code == 422
    assert "not valid JSON" in answer.json()["error"]["message"]


def test_another_sheet_has_other_columns(visitor: Any) -> None:
    xlsxwriter = pytest.importorskip("xlsxwriter")
    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream) as book:
        pl.DataFrame({"sex": ["f", "m"] * 4, "ill": ["Flu", "Cold"] * 4}).write_excel(book, "2023")
        pl.DataFrame({"sex": ["f", "m"] * 4, "town": ["Ulm", "Bath"] * 4}).write_excel(book, "2024")
    project = upload(visitor, "people.xlsx", stream.getvalue()).json()
    path = f"/projects/{project['id']}"
    assert project["reading"]["sheets"] == ["2023", "2024"]
    visitor.patch(path, {"roles": {"sex": "class", "ill": "sensitive"}})
    now = visitor.patch(path, {"reading": {"sheet": "2024"}}).json()
    assert {name: column["role"] for name, column in columns(now).items()}["sex"] == "class"
    assert set(columns(now)) == {"sex", "town"}
    assert not any("ill" in text for text in now["goals"]["privacy"])
    assert "has no sheet '2025'" in visitor.patch(path, {"reading": {"sheet": "2025"}}).json()["error"]["message"]
    assert set(columns(visitor.post(f"{path}/undo").json())) == {"sex", "ill"}


def test_a_release_of_a_table_that_was_read_otherwise(long_studio: Any) -> None:
    """The job says how to read the file, and everything that compares with the original reads it alike."""
    visitor, _ = long_studio
    project = upload(visitor, "people.csv", TEXT.encode("latin1"), READING).json()
    path = f"/projects/{project['id']}"
    roles = {"town": "quasi-identifier", "born": "quasi-identifier", "sex": "quasi-identifier", "ill": "sensitive"}
    goals = {"privacy": ["k(3)"], "scheme": "full-domain", "suppression": "budget(10%)"}
    visitor.patch(path, {"roles": {**roles, "size": "identifier"}, "goals": goals})
    assert visitor.post(f"{path}/check").json()["ok"]
    run = visitor.post(f"{path}/jobs", {"kind": "release"}).json()
    done = visitor.wait(run["id"])
    assert done["state"] == "done", done["message"]
    assert done["evaluation"] == {"risk": "done", "utility": "done"}
    job = yaml.safe_load(visitor.client.get(f"/api/jobs/{run['id']}/files/job.yaml").text)
    assert {name: job[name] for name in READING} == READING
    assert "na=['NA']" in visitor.client.get(f"/api/jobs/{run['id']}/files/script.py").text
    # Read in another way since, the release is still compared with the table it was made from.
    changed = visitor.patch(path, {"reading": {**READING, "na": []}}).json()
    assert changed["jobs"][0]["changed_since"] == ["how the table is read"]
    rows = visitor.get(f"{path}/rows", release=run["id"], limit=3).json()
    assert rows["rows"][2][0] is None
    found = visitor.post(f"/jobs/{run['id']}/find", {"known": {"sex": "f"}}).json()
    assert found["before"] == 30
