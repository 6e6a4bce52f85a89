"""What leaves the studio: an archive without anything private, one release of a table, and promises at every point."""

from __future__ import annotations

import io
import json
import re
import stat
import zipfile
from random import Random
from typing import Any

import polars as pl
import pytest

import discreet as dc
from discreet.studio._studio import Studio

RANDOM = Random(11)
TOWNS = ("Leeds", "York", "Hull", "Bath")
ILLNESSES = ("Flu", "Cold", "Asthma", "Gout", "Ache")
KNOWN = pl.DataFrame(
    {
        "name": [f"CANARYNAME{n}" for n in range(400)],
        "age": [20 + RANDOM.randrange(40) for _ in range(400)],
        "town": [RANDOM.choice(TOWNS) for _ in range(400)],
        "note": [RANDOM.choice(["=1+1", "well", "ill"]) for _ in range(400)],
        "illness": [RANDOM.choice(ILLNESSES) for _ in range(400)],
    }
)
# Nobody else lives in their town, which must stay as it is, so that they are left out.
ALONE = pl.DataFrame(
    {
        "name": ["CANARYALICE", "CANARYBOB"],
        "age": [97, 98],
        "town": ["CANARYTOWN", "CANARYVILLE"],
        "note": ["CANARYNOTE", "=CANARYSUM"],
        "illness": ["CANARYITIS", "CANARYOSIS"],
    }
)
PEOPLE = pl.concat([KNOWN, ALONE]).sample(fraction=1.0, shuffle=True, seed=1)
ROLES = {
    "name": "identifier",
    "age": "quasi-identifier",
    "town": "quasi-identifier",
    "note": "insensitive",
    "illness": "sensitive",
}
HIERARCHY = "".join(f"{town};North;*\n" for town in TOWNS) + "CANARYTOWN;CANARYGROUP;*\nCANARYVILLE;CANARYGROUP;*\n"
GOALS = {
    "privacy": ["k(5)", "distinct-l(3, illness)"],
    "keep_at_least": {"town": 0},
    "suppression": "budget(10%)",
    "scheme": "full-domain",
    "seed": 9_182_736_455_463_728,
}


def new_project(visitor: Any) -> str:
    project: str = visitor.table(PEOPLE)["id"]
    assert visitor.patch(f"/projects/{project}", {"roles": ROLES, "goals": GOALS}).status_code == 200
    for column, body in (("age", {"builder": "intervals(5, 10, 20)"}), ("town", {"csv": HIERARCHY})):
        assert visitor.post(f"/projects/{project}/hierarchy", body, column=column).status_code == 200
    return project


def run(visitor: Any, project: str, **body: Any) -> str:
    job: str = visitor.post(f"/projects/{project}/jobs", {"kind": "release", **body}).json()["id"]
    fields = visitor.wait(job)
    assert fields["state"] == "done", fields["message"]
    return job


def fetch(visitor: Any, job: str, name: str) -> bytes:
    answer = visitor.get(f"/jobs/{job}/files/{name}")
    assert answer.status_code == 200, answer.text
    content: bytes = answer.content
    return content


def unpacked(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def warned(visitor: Any, job: str) -> bool:
    fields = visitor.get(f"/jobs/{job}/result").json()["warnings"]
    return any("RELEASED BEFORE" in text for text in fields)


@pytest.fixture(scope="module")
def made(long_studio: tuple[Any, Studio]) -> tuple[Any, str, str]:
    visitor, _ = long_studio
    project = new_project(visitor)
    return visitor, project, run(visitor, project)


@pytest.fixture(scope="module")
def front(made: tuple[Any, str, str]) -> str:
    visitor, project, _ = made
    return run(visitor, project, kind="front")


def test_what_is_handed_over_holds_nothing_private(made: tuple[Any, str, str], front: str) -> None:
    visitor, project, plain = made
    for job in (plain, run(visitor, project, job=front, point=1)):
        content = fetch(visitor, job, "hand-over.zip")
        parts = unpacked(content)
        assert set(parts) == {"people-released.csv", "report.html", "certificate.json"}
        kept = unpacked(fetch(visitor, job, "keep.zip"))
        seed = re.search(rb"seed: (\d+)", kept["job.yaml"])
        key = re.search(rb"[0-9a-f]{64}", kept["discreet.key"])
        assert seed is not None
        assert key is not None
        ledger = [json.loads(line) for line in kept["discreet.ledger"].splitlines()]
        private = [seed[1], key[0], bytes.fromhex(key[0].decode()), b"CANARY", b"discreet.key"]
        private += [value.encode() for entry in ledger for name, value in entry.items() if name in ("input", "choices")]
        for name, part in {**parts, "the archive": content}.items():
            for secret in private:
                assert secret not in part, (name, secret)
        # Nor does one of the single downloads that are called safe to share.
        for name in ("data.csv", "data.parquet", "report.html", "certificate.json"):
            assert not any(secret in fetch(visitor, job, name) for secret in private), name


def test_what_is_kept_is_all_that_repeats_the_job_and_for_its_owner_alone(made: tuple[Any, str, str]) -> None:
    visitor, _, job = made
    content = fetch(visitor, job, "keep.zip")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        modes = {each.filename: stat.S_IMODE(each.external_attr >> 16) for each in archive.infolist()}
    trees = {"hierarchies/1-town.csv"}
    assert set(modes) == {"job.yaml", "script.py", "mapping.json", "discreet.key", "discreet.ledger", *trees}
    assert set(modes.values()) == {0o600}


def test_the_files_of_a_run_are_for_their_owner_alone(made: tuple[Any, str, str], long_studio: Any) -> None:
    visitor, _, job = made
    _, studio = long_studio
    fetch(visitor, job, "keep.zip")
    folder = studio.jobs.get("link", job).folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for name in ("keep.zip", "discreet.key", "discreet.ledger", "job.yaml", "mapping.json", "release.pickle"):
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600, name


@pytest.mark.parametrize("name", ["discreet.key", "discreet.ledger", "everything.zip", "release.pickle", "front.yaml"])
def test_nothing_else_can_be_downloaded(made: tuple[Any, str, str], name: str) -> None:
    visitor, _, job = made
    assert visitor.get(f"/jobs/{job}/files/{name}").status_code == 404


@pytest.mark.deep
def test_every_point_keeps_every_promise_of_the_goals(made: tuple[Any, str, str], front: str) -> None:
    visitor, project, _ = made
    fields = visitor.get(f"/jobs/{front}/result").json()
    assert fields["promises"] == GOALS["privacy"]
    assert len(fields["points"]) > 2
    assert min(point["k"] for point in fields["points"]) >= 5
    for point in fields["points"]:
        job = run(visitor, project, job=front, point=point["number"])
        result = visitor.get(f"/jobs/{job}/result").json()
        assert {each["model"] for each in result["promises"]} >= {"k(5)", "distinct-l(3, illness)"}
        table = pl.read_csv(fetch(visitor, job, "data.csv"))
        audit = dc.audit(
            table, quasi_identifiers=["age", "town"], sensitive="illness", privacy=["k(5)", "distinct-l(3, illness)"]
        )
        assert audit.passed, audit.summary()


def test_a_second_release_of_a_table_gets_a_warning_once_the_first_was_downloaded(
    long_studio: tuple[Any, Studio],
) -> None:
    visitor, _ = long_studio
    other = PEOPLE.with_columns(age=pl.col("age") + 1)  # a table that no other test downloaded
    project = visitor.table(other)["id"]
    visitor.patch(f"/projects/{project}", {"roles": ROLES, "goals": {"privacy": ["k(5)"], "scheme": "full-domain"}})
    first = run(visitor, project)
    visitor.patch(f"/projects/{project}", {"goals": {"privacy": ["k(9)"]}})
    second = run(visitor, project)
    # Trying things out is no release, nor is what stays with the owner.
    fetch(visitor, first, "keep.zip")
    fetch(visitor, first, "report.html")
    assert visitor.post(f"/projects/{project}/check").json()["notes"] == []
    assert not warned(visitor, first)
    assert not warned(visitor, second)
    fetch(visitor, first, "hand-over.zip")
    assert not warned(visitor, first)
    assert warned(visitor, second)
    assert "released before" in visitor.post(f"/projects/{project}/check").json()["notes"][0]
    # The same choices once more are the same release, in another project of the same table too.
    again = visitor.table(other)["id"]
    visitor.patch(f"/projects/{again}", {"roles": ROLES, "goals": {"privacy": ["k(5)"], "scheme": "full-domain"}})
    assert not warned(visitor, run(visitor, again))
    fetch(visitor, second, "data.parquet")
    assert warned(visitor, first)


def test_undecided_columns_stop_before_any_search(long_studio: tuple[Any, Studio]) -> None:
    visitor, _ = long_studio
    frame = KNOWN.with_columns(weight=pl.Series(range(400)) * 37 % 1009)
    project = visitor.table(frame)["id"]
    visitor.patch(f"/projects/{project}", {"roles": {**ROLES, "weight": "insensitive"}})
    for kind in ("release", "front"):
        fields = visitor.wait(visitor.post(f"/projects/{project}/jobs", {"kind": kind}).json()["id"])
        assert fields["state"] == "failed"
        assert (fields["more"]["kind"], fields["more"]["columns"]) == ("UndecidedColumnError", ["weight"])
        assert fields["best"] is None
        assert fields["points"] is None
    visitor.patch(f"/projects/{project}", {"keep": {"weight": True}})
    result = visitor.get(f"/jobs/{run(visitor, project)}/result").json()
    kept = {column["name"]: column for column in result["kept"]}
    assert kept["weight"]["confirmed"]
    assert kept["weight"]["unique"] == 1.0
    assert not kept["note"]["confirmed"]
    assert any("'weight'" in text for text in result["warnings"])
