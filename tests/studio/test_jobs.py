"""Jobs in processes of their own: results against plain counting, cancelling, crashes, queues, downloads."""

from __future__ import annotations

import io
import json
import os
import runpy
import shutil
import signal
import zipfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

import discreet as dc
from discreet.cli._program import program
from discreet.report.plain_labels import plain_label
from discreet.studio._jobs import _silent_end
from discreet.studio._studio import Studio

RANDOM = Random(7)
TOWNS = {"Leeds": "North", "York": "North", "Hull": "North", "Bath": "South", "Poole": "South", "Wells": "South"}
PEOPLE = pl.DataFrame(
    {
        "name": [f"Person {n}" for n in range(400)],
        "age": [RANDOM.randrange(18, 90) for _ in range(400)],
        "sex": [RANDOM.choice("fm") for _ in range(400)],
        "city": [RANDOM.choice([*TOWNS, None]) for _ in range(400)],
        "note": [["=1+1", "-5", "@x", "fine", "'=a", None][RANDOM.randrange(6)] for _ in range(400)],
        "diagnosis": [RANDOM.choice(["Flu", "Cold", "Asthma", "None"]) for _ in range(400)],
    }
)
HIERARCHY = "".join(f"{town};{region};*\n" for town, region in TOWNS.items())
ROLES = {
    "name": "identifier",
    "age": "quasi-identifier",
    "sex": "quasi-identifier",
    "city": "quasi-identifier",
    "note": "insensitive",
    "diagnosis": "sensitive",
}
LONG = {"scheme": "set", "suppression": "none", "time_limit": None, "privacy": ["k(7)", "t(0.05, secret)"]}
"""Goals that take far longer than any test."""


def set_up(visitor: Any) -> str:
    project = visitor.table(PEOPLE)["id"]
    assert visitor.patch(f"/projects/{project}", {"roles": ROLES}).status_code == 200
    for column, body in (("age", {"builder": "intervals(5, 10, 20, 40)"}), ("city", {"csv": HIERARCHY})):
        assert visitor.post(f"/projects/{project}/hierarchy", body, column=column).status_code == 200
    goals = {"privacy": ["k(4)", "distinct-l(2, diagnosis)"], "suppression": "budget(10%)", "scheme": "full-domain"}
    assert visitor.patch(f"/projects/{project}", {"goals": goals}).status_code == 200
    return project


@pytest.fixture(scope="module")
def done(long_studio: tuple[Any, Studio]) -> tuple[Any, str, str]:
    """A visitor, a project and a release of it that is done and evaluated."""
    visitor, _ = long_studio
    project = set_up(visitor)
    job = visitor.post(f"/projects/{project}/jobs", {"kind": "release"}).json()["id"]
    fields = visitor.wait(job)
    assert fields["state"] == "done", fields["message"]
    return visitor, project, job


@pytest.fixture(scope="module")
def front(done: tuple[Any, str, str]) -> str:
    visitor, project, _ = done
    job: str = visitor.post(f"/projects/{project}/jobs", {"kind": "front", "axes": ["k"]}).json()["id"]
    assert visitor.wait(job)["state"] == "done"
    return job


@pytest.fixture(scope="module")
def point(done: tuple[Any, str, str], front: str) -> str:
    """The release of the fourth point of the front."""
    visitor, project, _ = done
    body = {"kind": "release", "job": front, "point": 3}
    fields = visitor.post(f"/projects/{project}/jobs", body).json()
    assert fields["point"] == 3
    assert visitor.wait(fields["id"])["state"] == "done"
    job: str = fields["id"]
    return job


def released(visitor: Any, job: str) -> pl.DataFrame:
    return pl.read_parquet(io.BytesIO(visitor.get(f"/jobs/{job}/files/data.parquet").content))


def test_the_release_keeps_its_promises(done: tuple[Any, str, str]) -> None:
    visitor, _, job = done
    fields = visitor.get(f"/jobs/{job}/result").json()
    frame = released(visitor, job)
    groups = Counter(frame.select("age", "sex", "city").rows())
    assert min(groups.values()) >= 4
    assert fields["smallest_class"] == min(groups.values())
    assert fields["classes"] == len(groups)
    assert fields["released"] == frame.height
    assert fields["suppressed"] == 400 - frame.height <= 40
    assert fields["status"] == "optimal"
    assert fields["audit"]["passed"]
    assert all(promise["passed"] and promise["words"] for promise in fields["promises"])
    assert "name" not in frame.columns


def test_the_job_tells_how_it_went(done: tuple[Any, str, str]) -> None:
    visitor, project, job = done
    fields = visitor.get(f"/jobs/{job}").json()
    assert fields["best"] == pytest.approx(fields["bound"])
    assert fields["gap"] == pytest.approx(0)
    assert fields["trace"][-1][1] == fields["best"]
    assert fields["evaluation"] == {"risk": "done", "utility": "done"}
    assert [each["id"] for each in visitor.get(f"/projects/{project}").json()["jobs"]][-1] == job


def test_histograms_are_counts(done: tuple[Any, str, str]) -> None:
    visitor, _, job = done
    fields = visitor.get(f"/jobs/{job}/result").json()
    frame = released(visitor, job)
    assert [each["name"] for each in fields["attributes"]] == ["age", "sex", "city"]
    for each in fields["attributes"]:
        column = each["name"]
        assert sum(bar["count"] for bar in each["before"]) == 400 - PEOPLE[column].null_count()
        assert {bar["label"]: bar["count"] for bar in each["after"]} == Counter(frame[column].drop_nulls().to_list())
        assert each["level"] == fields["levels"][column]
        assert [level["chosen"] for level in each["levels"]].index(True) == each["level"]
    ages = next(each for each in fields["attributes"] if each["name"] == "age")["before"]
    for bar in ages:
        assert bar["count"] == PEOPLE.filter(pl.col("age").is_between(int(bar["label"]), int(bar["to"]), "left")).height
    assert {each["name"] for each in fields["others"]} == {"note", "diagnosis"}
    sizes = fields["class_sizes"]
    before = Counter(PEOPLE.select("age", "sex", "city").rows())
    for sides, groups in (("before", before), ("after", Counter(frame.select("age", "sex", "city").rows()))):
        for place, start in enumerate(sizes["edges"]):
            end = sizes["edges"][place + 1] if place + 1 < len(sizes["edges"]) else 10**9
            assert sizes[sides][place] == sum(size for size in groups.values() if start <= size < end)


def test_one_step_along_the_lattice(done: tuple[Any, str, str]) -> None:
    visitor, _, job = done
    fields = visitor.get(f"/jobs/{job}/result").json()["lattice"]
    assert fields["least"] == 4

    def at(column: str, level: int, value: Any) -> Any:
        if value is None and level < fields["heights"][column]:
            return None
        if level == fields["heights"][column]:
            return "*"
        if not level:
            return value
        return value // [1, 5, 10, 20, 40][level] if column == "age" else TOWNS[value]

    assert fields["steps"]
    for step in fields["steps"]:
        levels = {**fields["levels"], step["column"]: step["level"]}
        assert step["level"] - fields["levels"][step["column"]] == step["change"]
        groups = Counter(
            tuple(at(column, levels[column], row[column]) for column in levels) for row in PEOPLE.to_dicts()
        )
        assert step["classes"] == len(groups)
        assert step["smallest"] == min(groups.values())
        assert step["small_rows"] == sum(size for size in groups.values() if size < 4)


def test_rows_before_and_after_stand_side_by_side(done: tuple[Any, str, str]) -> None:
    visitor, project, job = done
    frame = released(visitor, job)
    plain = [(plain_label(age, "integer"), *others) for age, *others in frame.rows()]  # ranges as the page writes them
    after = Counter(tuple(None if value is None else str(value) for value in row) for row in plain)
    seen = 0
    for offset in range(0, 400, 150):
        page = visitor.get(f"/projects/{project}/rows", release=job, offset=offset, limit=150).json()
        assert page["dropped"] == ["name"]
        for place, (old, new, changed, gone) in enumerate(
            zip(page["before"], page["after"], page["changed"], page["suppressed"], strict=True)
        ):
            assert old == [None if value is None else str(value) for value in PEOPLE.row(offset + place)]
            assert gone is (new is None)
            if new is None:
                assert changed is None
                continue
            seen += 1
            assert new[0] is None
            after[tuple(new[1:])] -= 1
            assert new[4:] == old[4:]
            assert changed == [False, *(left != right for left, right in zip(old[1:], new[1:], strict=True))]
    assert seen == frame.height
    assert not any(after.values())


def test_risk_and_utility(done: tuple[Any, str, str]) -> None:
    visitor, _, job = done
    frame = released(visitor, job)
    fields = visitor.get(f"/jobs/{job}/risk").json()
    groups = Counter(frame.select("age", "sex", "city").rows())
    assert fields["prosecutor"]["highest"] == pytest.approx(1 / min(groups.values()))
    assert fields["prosecutor"]["average"] == pytest.approx(len(groups) / frame.height)
    assert sum(fields["sizes"]["rows"]) == frame.height
    before = Counter(PEOPLE.select("age", "sex", "city").rows())
    assert fields["original"]["uniques"] == sum(size == 1 for size in before.values())
    assert fields["attacks"]["linkage"]["success"] < 1
    fields = visitor.get(f"/jobs/{job}/utility").json()
    assert (fields["rows"], fields["released_rows"]) == (400, frame.height)
    assert {each["column"] for each in fields["attributes"]} >= {"age", "sex", "city"}


def test_evaluation_can_be_asked_for_again(done: tuple[Any, str, str], long_studio: tuple[Any, Studio]) -> None:
    visitor, _, job = done
    run = long_studio[1].job("link", job)
    first = visitor.get(f"/jobs/{job}/utility").json()
    (run.folder / "utility.json").unlink()
    while visitor.get(f"/jobs/{job}/utility").status_code == 202:
        visitor.wait(job)
    assert visitor.wait(job)["evaluation"] == {"risk": "done", "utility": "done"}
    assert visitor.get(f"/jobs/{job}/utility").json() == first


def test_events_tell_the_job_and_end(done: tuple[Any, str, str]) -> None:
    visitor, _, job = done
    answer = visitor.get(f"/jobs/{job}/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    fields = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith('data: {"id')]
    assert fields[-1]["state"] == "done"
    assert "event: end" in answer.text


class TestDownloads:
    def fetch(self, done: tuple[Any, str, str], name: str, job: str | None = None) -> Any:
        visitor, _, own = done
        answer = visitor.get(f"/jobs/{job or own}/files/{name}")
        assert answer.status_code == 200, name
        assert answer.headers["content-disposition"].startswith("attachment")
        assert answer.headers["cache-control"] == "no-store"
        return answer

    def save(self, done: tuple[Any, str, str], folder: Path, job: str | None = None) -> Path:
        for name in ("hand-over.zip", "keep.zip"):
            zipfile.ZipFile(io.BytesIO(self.fetch(done, name, job).content)).extractall(folder)
        (folder / "discreet.key").chmod(0o600)  # Python unpacks without modes
        PEOPLE.write_csv(folder / "people.csv")
        return folder

    def test_data_are_safe_in_a_spreadsheet(self, done: tuple[Any, str, str]) -> None:
        visitor, _, job = done
        answer = self.fetch(done, "data.csv")
        assert 'filename="people-released.csv"' in answer.headers["content-disposition"]
        safe = pl.read_csv(io.BytesIO(answer.content), infer_schema=False)
        plain = released(visitor, job)
        assert safe.drop("note").rows() == plain.drop("note").rows()
        fields = {"=1+1": "'=1+1", "@x": "'@x", "'=a": "''=a"}
        assert safe["note"].to_list() == [fields.get(value, value) for value in plain["note"].to_list()]
        changed = sum(value in fields for value in plain["note"].to_list())
        assert visitor.get(f"/jobs/{job}/result").json()["formulas"] == changed > 0

    def test_the_certificate_speaks_of_the_file_that_is_downloaded(
        self, done: tuple[Any, str, str], tmp_path: Path
    ) -> None:
        folder = self.save(done, tmp_path)
        verdict = dc.verify(
            folder / "people-released.csv",
            folder / "certificate.json",
            original=folder / "people.csv",
            job=folder / "job.yaml",
            key=folder / "discreet.key",
        )
        assert verdict.passed, verdict.summary()

    def test_audit_from_the_command_line(
        self, done: tuple[Any, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(self.save(done, tmp_path))
        fields = ["audit", "people-released.csv", "--qi", "age,sex,city", "-k", "4", "--sensitive", "diagnosis"]
        with pytest.raises(SystemExit) as ending:
            program.main([*fields, "--privacy", "distinct-l(2, diagnosis)"])
        assert ending.value.code == 0
        with pytest.raises(SystemExit) as ending:
            program.main([*fields, "--privacy", "k(400)"])
        assert ending.value.code == 5

    @pytest.mark.parametrize("way", ["script", "job", "script of a point", "job of a point"])
    def test_everything_can_be_repeated(
        self,
        done: tuple[Any, str, str],
        point: str,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        way: str,
    ) -> None:
        visitor, _, job = done
        chosen = point if way.endswith("point") else job
        monkeypatch.chdir(self.save(done, tmp_path, chosen))
        Path("people-released.csv").unlink()
        if way.startswith("script"):
            shutil.rmtree("hierarchies")
            runpy.run_path("script.py")
        else:
            dc.Job.load("job.yaml").run()
        again = pl.read_csv("people-released.csv", infer_schema=False)
        assert Counter(again.rows()) == Counter(released(visitor, chosen).cast(pl.String).rows())
        if way.startswith("script"):
            safe = Path("for-spreadsheets-people-released.csv").read_bytes()
            assert sorted(safe.splitlines()) == sorted(self.fetch(done, "data.csv", chosen).content.splitlines())

    def test_the_report_is_sandboxed(self, done: tuple[Any, str, str]) -> None:
        visitor, _, job = done
        answer = visitor.client.get(f"/api/jobs/{job}/files/report.html?inline")
        assert "attachment" not in answer.headers.get("content-disposition", "")
        assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
        assert answer.text.count("Who could be found, and what would be learned about them</h2>") == 1
        assert "Utility before and after" in answer.text
        assert "Person 1" not in answer.text

    def test_what_there_is_not(self, done: tuple[Any, str, str], front: str) -> None:
        visitor, _, job = done
        for name in ("release.pickle", "people.csv", "kept.npy", "front.svg", "nothing", "%2e%2e%2fin-use"):
            assert visitor.get(f"/jobs/{job}/files/{name}").status_code == 404
        assert visitor.get(f"/jobs/{front}/files/data.csv").status_code == 404
        assert b"<svg" in visitor.get(f"/jobs/{front}/files/front.svg").content


def test_a_front_and_the_release_of_any_point(done: tuple[Any, str, str], front: str, point: str) -> None:
    visitor, project, _ = done
    fields = visitor.get(f"/jobs/{front}/result").json()
    assert [point["number"] for point in fields["points"]] == list(range(len(fields["points"])))
    assert all(point["proven"] for point in fields["points"])
    assert 0 <= fields["knee"]["point"] < len(fields["points"])
    losses = [point["loss"] for point in fields["points"]]
    assert losses == sorted(losses)
    chosen = fields["points"][3]
    result = visitor.get(f"/jobs/{point}/result").json()
    assert result["levels"] == chosen["levels"]
    assert result["cost"] == pytest.approx(chosen["loss"])
    assert result["smallest_class"] >= chosen["k"]
    assert result["suppressed"] == chosen["suppressed"]
    for bad in (-1, 10_000, "3", True, 1.5):
        body = {"kind": "release", "job": front, "point": bad}
        assert visitor.post(f"/projects/{project}/jobs", body).status_code == 422
    assert visitor.get(f"/jobs/{front}/risk").status_code == 422


def test_impossible_requests_are_refused(done: tuple[Any, str, str]) -> None:
    visitor, project, _ = done
    before = visitor.get(f"/projects/{project}").json()["goals"]
    goals = {"keep_at_least": {"age": 0}, "suppression": "none"}
    visitor.patch(f"/projects/{project}", {"goals": goals})
    job = visitor.post(f"/projects/{project}/jobs", {"kind": "release"}).json()["id"]
    visitor.patch(f"/projects/{project}", {"goals": before})
    fields = visitor.wait(job)
    assert fields["state"] == "failed"
    assert fields["message"].endswith(".")
    assert fields["more"]["kind"] == "InfeasibleError"
    assert fields["goals"]["suppression"] == "none"
    assert visitor.get(f"/jobs/{job}/result").status_code == 422


def long_job(visitor: Any) -> tuple[str, str]:
    """Start a search that does not end by itself, and return the project and the job once it has found something."""
    chance = Random(7)  # of its own, so that the table does not depend on which tests ran before
    frame = pl.DataFrame(
        {
            **{f"q{c}": [f"v{chance.randrange(14)}" for _ in range(300)] for c in range(5)},
            "secret": [chance.choice("abcd") for _ in range(300)],
        }
    )
    project = visitor.table(frame)["id"]
    roles = {column: "sensitive" if column == "secret" else "quasi-identifier" for column in frame.columns}
    answer = visitor.patch(f"/projects/{project}", {"roles": roles, "goals": LONG})
    assert answer.status_code == 200, answer.text
    return project, visitor.post(f"/projects/{project}/jobs", {"kind": "release"}).json()["id"]


def searching(fields: dict[str, Any]) -> bool:
    assert fields["state"] in ("waiting", "running"), fields["message"]
    return fields["best"] is not None


def test_cancelling_keeps_the_best_so_far(long_studio: tuple[Any, Studio]) -> None:
    visitor, _ = long_studio
    _, job = long_job(visitor)
    visitor.wait(job, searching)
    assert visitor.post(f"/jobs/{job}/cancel").json()["state"] == "running"
    fields = visitor.wait(job, lambda fields: fields["state"] != "running")
    assert (fields["state"], fields["status"]) == ("done", "feasible")
    assert fields["gap"] > 0
    result = visitor.get(f"/jobs/{job}/result").json()
    assert result["audit"]["passed"]
    frame = released(visitor, job)
    assert min(Counter(frame.drop("secret").rows()).values()) >= 7
    visitor.client.delete(f"/api/jobs/{job}")
    assert visitor.get(f"/jobs/{job}").status_code == 404


def test_a_crash_of_a_worker_is_reported(long_studio: tuple[Any, Studio]) -> None:
    visitor, studio = long_studio
    project, job = long_job(visitor)
    visitor.wait(job, searching)
    reloaded = visitor.get(f"/projects/{project}").json()
    assert [each["state"] for each in reloaded["jobs"]] == ["running"]
    os.kill(studio.job("link", job).process.pid, signal.SIGKILL)
    fields = visitor.wait(job)
    assert fields["state"] == "failed"
    assert "SIGKILL" in fields["message"]
    assert fields["best"] is not None
    assert visitor.get("/about").status_code == 200
    assert visitor.get(f"/projects/{project}").json()["goals"]["scheme"] == "set"
    assert visitor.get(f"/jobs/{job}/files/data.csv").status_code == 422


def test_a_third_job_waits_for_its_turn(long_studio: tuple[Any, Studio]) -> None:
    visitor, studio = long_studio
    jobs = [long_job(visitor) for _ in range(3)]
    states = [visitor.get(f"/jobs/{job}").json()["state"] for _, job in jobs]
    assert states == ["running", "running", "waiting"]
    project, last = jobs[2]
    assert visitor.post(f"/jobs/{last}/cancel").json()["state"] == "cancelled"
    again = visitor.post(f"/projects/{project}/jobs", {"kind": "release"}).json()
    assert again["state"] == "waiting"
    process = studio.job("link", jobs[0][1]).process
    assert visitor.post(f"/jobs/{jobs[0][1]}/cancel", {"now": True}).status_code == 200
    assert visitor.wait(jobs[0][1])["state"] == "cancelled"
    visitor.wait(again["id"], lambda fields: fields["state"] == "running")
    assert not process.is_alive()
    workers = [studio.job("link", job).process for job in (jobs[1][1], again["id"])]
    for number, _ in (*jobs, (project, None)):
        visitor.client.delete(f"/api/projects/{number}")
    assert not any(worker.is_alive() for worker in workers)


def test_every_way_a_worker_can_go_has_its_sentence() -> None:
    for code in (0, 1, -9, -11, -15, -250, None):
        for asked in (True, False):
            state, said = _silent_end(code, asked)
            assert state == ("cancelled" if asked else "failed")
            assert said.endswith((".", "again."))
