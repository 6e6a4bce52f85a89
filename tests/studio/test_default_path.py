"""What a person gets who changes nothing: several schemes, an honest list of runs, and no settings of other tabs."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

from discreet.job import Job
from discreet.studio._studio import Studio

RANDOM = Random(5)
PEOPLE = pl.DataFrame(
    {
        "name": [f"Person {n}" for n in range(240)],
        "age": [RANDOM.randrange(18, 80) for _ in range(240)],
        "sex": [RANDOM.choice("fm") for _ in range(240)],
        "zip": [f"{RANDOM.randrange(10000, 10060)}" for _ in range(240)],
        "diagnosis": [RANDOM.choice(["Flu", "Cold", "Asthma", "Gout"]) for _ in range(240)],
    }
)


@pytest.fixture(scope="module")
def done(long_studio: tuple[Any, Studio]) -> tuple[Any, Studio, str, str]:
    """A visitor, the studio, a project and its first release, made without changing anything."""
    visitor, studio = long_studio
    project = visitor.table(PEOPLE)
    job = visitor.post(f"/projects/{project['id']}/jobs", {"kind": "release", "version": project["version"]}).json()
    fields = visitor.wait(job["id"])
    assert fields["state"] == "done", fields["message"]
    return visitor, studio, project["id"], job["id"]


def test_several_schemes_are_tried_and_compared(done: tuple[Any, Studio, str, str]) -> None:
    visitor, studio, _, job = done
    result = visitor.get(f"/jobs/{job}/result").json()
    tried = {each["scheme"]: each for each in result["schemes"]}
    assert list(tried) == ["full-domain", "subtree", "local"]
    taken = tried[result["scheme"]]
    assert taken["normalized_cost"] == min(each["normalized_cost"] for each in tried.values())
    assert taken["normalized_cost"] == pytest.approx(result["normalized_cost"])
    assert taken["suppressed"] == result["suppressed"]
    assert (taken["smallest_class"], taken["classes"]) == (result["smallest_class"], result["classes"])
    assert taken["average_risk"] == pytest.approx(result["average_risk"])
    assert all(each["smallest_class"] >= 5 for each in tried.values())
    facts = visitor.get(f"/jobs/{job}").json()["facts"]
    assert facts["scheme"] == result["scheme"]
    assert facts["verdict"] == result["verdict"]["level"]
    saved = Job.load(studio.jobs._runs[job].folder / "job.yaml")
    assert saved.scheme == "best"
    assert (visitor.get(f"/jobs/{job}/files/mapping.json").status_code == 200) is result["mapping"]


def test_whatever_was_not_measured_has_a_reason(done: tuple[Any, Studio, str, str]) -> None:
    visitor, _, _, job = done
    risk, utility = (visitor.get(f"/jobs/{job}/{part}").json() for part in ("risk", "utility"))
    assert risk["journalist"] is None
    assert "population" in risk["missing"]["journalist"]
    assert utility["classifiers"] is None
    assert "Predict" in utility["missing"]["classifiers"]


def test_a_changed_goal_makes_runs_out_of_date(done: tuple[Any, Studio, str, str]) -> None:
    visitor, _, project, job = done
    path = f"/projects/{project}"

    def listed() -> dict[str, Any]:
        return next(each for each in visitor.get(path).json()["jobs"] if each["id"] == job)

    assert (listed()["number"], listed()["changed_since"], listed()["differs"]) == (1, [], [])
    visitor.patch(path, {"goals": {"privacy": ["k(7)"]}, "roles": {"zip": "identifier"}, "name": "Other"})
    assert listed()["changed_since"] == ["the role of zip", "what is promised"]
    visitor.post(f"{path}/hierarchy", {"builder": "intervals(10)"}, column="age")
    assert "the tree of age" in listed()["changed_since"]
    for _ in range(2):
        visitor.post(f"{path}/undo")
    assert listed()["changed_since"] == []


def test_runs_have_numbers_and_names(done: tuple[Any, Studio, str, str]) -> None:
    visitor, _, project, job = done
    visitor.patch(f"/projects/{project}", {"goals": {"cost": "NCP"}})
    second = visitor.post(f"/projects/{project}/jobs", {"kind": "front"}).json()["id"]
    third = visitor.post(f"/projects/{project}/jobs", {"kind": "release"}).json()["id"]
    jobs = {each["id"]: each for each in visitor.get(f"/projects/{project}").json()["jobs"]}
    assert [jobs[each]["number"] for each in (job, second, third)] == [1, 2, 3]
    assert jobs[third]["differs"] == ["what is kept low"]
    assert jobs[second]["goals"]["scheme"] == "full-domain"  # a front has one scheme
    assert jobs[second]["changed_since"] == []
    assert visitor.patch(f"/jobs/{job}", {"name": " For the council "}).json()["name"] == "For the council"
    assert visitor.patch(f"/jobs/{job}", {"name": ""}).status_code == 422
    for each in (second, third):
        assert visitor.client.delete(f"/api/jobs/{each}").status_code == 200
    visitor.post(f"/projects/{project}/undo")


def test_a_tab_does_not_run_the_goals_of_another(done: tuple[Any, Studio, str, str]) -> None:
    visitor, _, project, _ = done
    seen = visitor.get(f"/projects/{project}").json()
    visitor.patch(f"/projects/{project}", {"goals": {"privacy": ["k(2)"]}})  # in another tab
    refused = visitor.post(f"/projects/{project}/jobs", {"kind": "release", "version": seen["version"]})
    assert refused.status_code == 409
    assert "another tab" in refused.json()["error"]["message"]
    assert visitor.post(f"/projects/{project}/undo").json()["goals"] == seen["goals"]
    stale = visitor.post(f"/projects/{project}/jobs", {"kind": "front", "version": seen["version"]})
    assert stale.status_code == 409  # the other tab may have shown what was undone


def test_one_edit_can_be_undone_while_later_ones_stay(done: tuple[Any, Studio, str, str]) -> None:
    visitor, _, project, _ = done
    path = f"/projects/{project}"
    first = visitor.get(path).json()
    edit = {"op": "group", "members": [{"level": 0, "name": "f"}, {"level": 0, "name": "m"}], "to": "both"}
    grouped = visitor.post(f"{path}/hierarchy", {"edit": edit}, column="sex").json()
    assert grouped["touched"] == "both"
    visitor.patch(path, {"goals": {"privacy": ["k(9)"]}})
    undone = visitor.post(f"{path}/undo", {"change": grouped["change"]}).json()
    assert undone["hierarchies"]["sex"] == first["hierarchies"]["sex"]
    assert undone["goals"]["privacy"] == ["k(9)"]
    again = visitor.post(f"{path}/hierarchy", {"edit": edit}, column="sex").json()
    visitor.post(f"{path}/hierarchy", {"edit": {"op": "rename", "level": 1, "name": "both", "to": "all"}}, column="sex")
    refused = visitor.post(f"{path}/undo", {"change": again["change"]})
    assert refused.status_code == 422
    assert "another change of the same thing" in refused.json()["error"]["message"]
    assert visitor.post(f"{path}/undo", {"change": 99_999}).status_code == 422
    while visitor.get(path).json()["can_undo"]:
        visitor.post(f"{path}/undo")


def test_rows_of_a_front_are_those_of_its_releases(done: tuple[Any, Studio, str, str]) -> None:
    visitor, _, project, _ = done
    front = visitor.post(f"/projects/{project}/jobs", {"kind": "front"}).json()["id"]
    assert visitor.wait(front)["state"] == "done"
    found = visitor.get(f"/jobs/{front}/result").json()
    live = found["live"]
    number = len(found["points"]) // 2
    assert len(live["points"]) == len(found["points"])
    job = visitor.post(f"/projects/{project}/jobs", {"kind": "release", "job": front, "point": number}).json()["id"]
    assert visitor.wait(job)["state"] == "done"
    result = visitor.get(f"/jobs/{job}/result").json()
    now = live["points"][number]
    assert (now["left_out"], now["smallest"]) == (result["suppressed"], result["smallest_class"])
    assert now["average_risk"] == pytest.approx(result["average_risk"])
    page = visitor.get(f"/projects/{project}/rows", release=job, offset=0, limit=live["rows"]).json()
    for row, after in enumerate(page["after"]):
        assert (now["groups"][row] is None) is (after is None)
        if after is not None:
            levels = found["points"][number]["levels"]
            for column in live["columns"]:
                assert live["labels"][column][levels[column]][row] == after[page["columns"].index(column)]
    assert found["knee"]["recommended"] is (found["points"][found["knee"]["point"]]["normalized_loss"] < 0.75)


def test_a_release_from_a_front_is_out_of_date_after_a_change_too(done: tuple[Any, Studio, str, str]) -> None:
    visitor, _, project, _ = done
    path = f"/projects/{project}"
    jobs = [each for each in visitor.get(path).json()["jobs"] if each["point"] is not None]
    assert [each["changed_since"] for each in jobs] == [[]]
    assert jobs[0]["reaches"]["k"] >= 5
    visitor.patch(path, {"roles": {"sex": "identifier"}})
    changed = next(each for each in visitor.get(path).json()["jobs"] if each["id"] == jobs[0]["id"])
    assert changed["changed_since"] == ["the role of sex"]
    visitor.post(f"{path}/undo")


def test_three_hundred_columns(visitor: Any, tmp_path: Path) -> None:
    wide = pl.DataFrame({f"c{n:03}": [(row * (n + 3)) % (n % 7 + 2) for row in range(60)] for n in range(300)})
    project = visitor.table(wide)
    roles = {f"c{n:03}": "quasi-identifier" for n in range(300)}
    changed = visitor.patch(f"/projects/{project['id']}", {"roles": roles})
    assert changed.status_code == 200
    assert {each["role"] for each in changed.json()["columns"]} == {"quasi-identifier"}
    assert changed.json()["undo_label"] == "change roles"
    assert len(changed.json()["hierarchies"]) == 300
