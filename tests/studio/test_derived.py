"""Derived columns, households, pseudonyms and hidden cells, asked for as the page does."""

from __future__ import annotations

import datetime
import io
import json
from typing import Any

import polars as pl
import pytest
import yaml

VISITS = pl.DataFrame(
    {
        "patient": [f"Ann Number {n // 2}" for n in range(60)],
        "family": [f"F{n // 6}" for n in range(60)],
        "seen": [datetime.date(2026, 1, 1) + datetime.timedelta(days=n) for n in range(60)],
        "sex": ["f", "f", "m", "m"] * 15,
        "ward": [["A", "B", "C"][n // 2 % 3] for n in range(60)],
        "ill": [["Flu", "Cold"][n % 2] for n in range(60)],
    }
)
ROLES = {
    "patient": "insensitive",
    "family": "identifier",
    "seen": "insensitive",
    "sex": "quasi-identifier",
    "ward": "quasi-identifier",
    "ill": "insensitive",
}
GOALS = {"privacy": ["k(5)"], "scheme": "full-domain", "suppression": "none"}
SHIFT = "shift_dates(person=patient, days=30)"


def opened(visitor: Any, **changes: Any) -> str:
    """Open the visits, and return the path of the project."""
    path = f"/projects/{visitor.table(VISITS)['id']}"
    answer = visitor.patch(path, {"roles": {**ROLES, **changes.pop("roles", {})}, "goals": GOALS})
    assert answer.status_code == 200, answer.text
    if changes:
        answer = visitor.patch(path, changes)
        assert answer.status_code == 200, answer.text
    return path


def ran(visitor: Any, path: str, **fields: Any) -> dict[str, Any]:
    """Run a job to its end."""
    answer = visitor.post(f"{path}/jobs", {"kind": "release", **fields})
    assert answer.status_code == 200, answer.text
    done = visitor.wait(answer.json()["id"])
    assert done["state"] == "done", done["message"]
    return done


def file(visitor: Any, run: dict[str, Any], name: str) -> bytes:
    answer = visitor.client.get(f"/api/jobs/{run['id']}/files/{name}")
    assert answer.status_code == 200, answer.text
    content: bytes = answer.content
    return content


def test_derived_columns_are_settings_like_others(visitor: Any) -> None:
    path = opened(visitor, keep={"patient": True, "seen": True})
    now = visitor.patch(path, {"derive": {"patient": "pseudonym", "seen": SHIFT}}).json()
    forms = {column["name"]: column["derive"] for column in now["columns"]}
    assert (forms["patient"], forms["seen"], forms["sex"]) == ("pseudonym", SHIFT, None)
    assert visitor.post(f"{path}/check").json()["ok"]
    now = visitor.patch(path, {"derive": {"seen": None}}).json()
    assert now["undo_label"] == "replace the values of 'seen'"
    assert {column["name"]: column["derive"] for column in now["columns"]}["seen"] is None
    back = visitor.post(f"{path}/undo").json()
    assert {column["name"]: column["derive"] for column in back["columns"]}["seen"] == SHIFT


@pytest.mark.parametrize(
    ("derive", "message"),
    [
        ({"seen": "shift_date(person=patient)"}, "There is no derivation 'shift_date'; did you mean 'shift_dates'?"),
        ({"seen": "shift_dates(person=patient, days=0)"}, "a number of days from 1 to 36,525"),
        ({"seen": "shift_dates(person=nobody)"}, "There is no column 'nobody'"),
        ({"patient": "pseudonym(length=3)"}, "The length of a pseudonym is a whole number from 16 to 64"),
        ({"nobody": "pseudonym"}, "There is no column 'nobody'"),
        ({"patient": 3}, "derive maps columns to how they are derived"),
        ([], "The derived columns must be a mapping"),
    ],
)
def test_wrong_derivations(visitor: Any, derive: Any, message: str) -> None:
    path = opened(visitor)
    answer = visitor.patch(path, {"derive": derive})
    assert answer.status_code == 422
    assert message in answer.json()["error"]["message"]


def test_a_release_with_derived_columns(long_studio: Any) -> None:
    """Pseudonyms are by the key in the archive to keep; there is no mapping, and the release says what they are."""
    visitor, _ = long_studio
    path = opened(visitor, keep={"patient": True, "seen": True}, derive={"patient": "pseudonym", "seen": SHIFT})
    runs = [ran(visitor, path), ran(visitor, path)]
    assert runs[0]["evaluation"] == {"risk": "done", "utility": "done"}
    tables = [pl.read_csv(io.BytesIO(file(visitor, run, "data.csv"))).sort(pl.all()) for run in runs]
    assert tables[0].equals(tables[1])
    assert tables[0]["patient"].n_unique() == 30
    assert not set(tables[0]["patient"]) & set(VISITS["patient"])
    job = yaml.safe_load(file(visitor, runs[0], "job.yaml"))
    assert job["derive"] == {"patient": "pseudonym", "seen": SHIFT}
    assert visitor.client.get(f"/api/jobs/{runs[0]['id']}/files/mapping.json").status_code == 404
    result = visitor.get(f"/jobs/{runs[0]['id']}/result").json()
    told = json.dumps([result["verdict"], result["warnings"]])
    assert "keyed pseudonyms. They are pseudonymous and not anonymous" in told
    page = visitor.get(f"{path}/rows", release=runs[0]["id"], limit=2).json()
    assert page["rows"][0][0] == "Ann Number 0"


def test_a_front_with_derived_columns_has_the_same_key(long_studio: Any) -> None:
    visitor, _ = long_studio
    path = opened(visitor, keep={"patient": True, "seen": True}, derive={"patient": "pseudonym", "seen": SHIFT})
    release = ran(visitor, path)
    front = ran(visitor, path, kind="front")
    chosen = ran(visitor, path, job=front["id"], point=0)
    tables = [pl.read_csv(io.BytesIO(file(visitor, run, "data.csv"))) for run in (release, chosen)]
    assert set(tables[0]["patient"]) == set(tables[1]["patient"])
    calls = file(visitor, chosen, "script.py").decode().partition("front.release")
    assert "key='discreet.key'" in calls[0]
    assert "key='discreet.key'" in calls[2]


def test_households_and_pseudonyms(long_studio: Any) -> None:
    visitor, _ = long_studio
    roles = {"patient": "person", "family": "household", "seen": "identifier"}
    path = opened(visitor, roles=roles, pseudonyms=True)
    other = visitor.patch(path, {"roles": {"seen": "household"}}).json()
    assert {column["name"]: column["role"] for column in other["columns"]}["family"] == "identifier"  # there is one
    visitor.post(f"{path}/undo")
    visitor.patch(path, {"goals": {"privacy": ["k(3)"]}})
    plan = visitor.post(f"{path}/check").json()
    assert plan["ok"], plan
    run = ran(visitor, path)
    job = yaml.safe_load(file(visitor, run, "job.yaml"))
    assert (job["person"], job["household"], job["pseudonyms"]) == ("patient", "family", True)
    released = pl.read_csv(io.BytesIO(file(visitor, run, "data.csv")))
    assert released["family"].n_unique() == 10
    families = {"released": 10, "suppressed": VISITS["family"].n_unique() - 10}
    assert visitor.get(f"/jobs/{run['id']}/result").json()["people"] == families
    assert run["facts"]["suppressed"] == families["suppressed"]
    assert not set(released["patient"]) & set(VISITS["patient"])
    now = visitor.patch(path, {"pseudonyms": False}).json()
    assert now["pseudonyms"] is False
    assert now["jobs"][0]["changed_since"] == ["whether there are pseudonyms"]
    assert "pseudonyms" in visitor.patch(path, {"pseudonyms": "yes"}).json()["error"]["message"]


def test_hidden_cells_leave_trees_out(long_studio: Any) -> None:
    visitor, _ = long_studio
    roles = {"patient": "identifier", "seen": "identifier", "ill": "quasi-identifier"}
    path = opened(visitor, roles=roles)
    visitor.post(f"{path}/hierarchy?column=ward", {"builder": "mask"})
    visitor.patch(path, {"goals": {"scheme": "cells", "privacy": ["k(20)"], "suppression": "budget(5%)"}})
    plan = visitor.post(f"{path}/check").json()
    assert plan["ok"], plan
    job = yaml.safe_load(file(visitor, ran(visitor, path), "job.yaml"))
    assert job["scheme"] == "cells"
    assert set(job["quasi_identifiers"].values()) == {None}
    weaker = {"privacy": ["k(12, unknown=matches)"], "scheme": "cells(most=2)", "suppression": "none"}
    visitor.patch(path, {"goals": weaker})
    plan = visitor.post(f"{path}/check").json()
    assert plan["ok"], plan
    assert "weaker" in plan["privacy"][0]["words"]
    visitor.patch(path, {"goals": {"scheme": "local"}})
    assert "unknown=matches" in visitor.post(f"{path}/check").json()["message"]
