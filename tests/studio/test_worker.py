"""Results and downloads of releases of every kind, made in this process."""

from __future__ import annotations

import json
from typing import Any

import pytest

from discreet.solve import Budget
from discreet.studio import _worker
from discreet.studio._downloads import download
from discreet.studio._jobs import Run
from discreet.studio._script import write_job
from discreet.studio._studio import Studio

PLAIN = dict.fromkeys(["income", "occupation", "city", "children", "birth_date"], "insensitive")
ALWAYS = {
    *("data.csv", "data.parquet", "report.html", "certificate.json", "job.yaml", "script.py"),
    *("hand-over.zip", "keep.zip"),
}


class Told:
    """Listens in the place of the studio."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    def __call__(self, **fields: Any) -> None:
        self.messages.append(fields)

    def stage(self, name: str) -> None:
        self(stage=name)

    def scheme(self, name: str, tried: Any) -> None:
        self(scheme=name, tried=[each.scheme for each in tried])

    def progress(self, moment: Any) -> None:
        self(progress=moment)


@pytest.mark.parametrize(
    ("goals", "with_mapping"),
    [
        ({"scheme": "local", "suppression": "budget(5%)", "cost": "NCP"}, False),
        ({"scheme": "subtree", "suppression": "class-values", "privacy": ["l+(0.5, diagnosis)"]}, False),
        ({"scheme": "subtree", "suppression": "violating-records", "privacy": ["distinct-l(2, diagnosis)"]}, False),
        ({"scheme": "full-domain", "missing": "suppress", "weights": {"zip": 3, "name": 2}}, True),
        ({"scheme": "full-domain", "priorities": {"zip": 3}, "cost": "score"}, True),
        ({"privacy": ["k(2)", "average-risk(0.2)"], "suppression": "none"}, True),
    ],
    ids=str,
)
def test_every_kind_of_release(
    studio: Studio, monkeypatch: pytest.MonkeyPatch, goals: dict[str, Any], with_mapping: bool
) -> None:
    project = studio.open_sample("somebody", "people", 200)
    project.patch({"roles": PLAIN, "keep": {"birth_date": True}, "goals": {**goals, "time_limit": 20}})
    folder = studio.workspace.new_folder()
    write_job(project, project.settings, folder)
    task = {"kind": "release", "rows": str(project.table.parquet), "folder": str(folder)}
    fields = Told()
    with monkeypatch.context() as context:
        context.chdir(folder)
        _worker._release(task, fields, Budget())  # type: ignore[arg-type]
    stages = [message["stage"] for message in fields.messages if "stage" in message]
    assert [stage for stage in stages if stage != "prepare"][:2] == ["read", "count"]
    assert stages[-1] == "finish"
    assert [message["ended"] for message in fields.messages if "ended" in message] == ["done"]
    evaluated = {message["evaluation"]: message["state"] for message in fields.messages if "evaluation" in message}
    assert evaluated == {"risk": "done", "utility": "done"}
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert result["audit"]["passed"]
    assert [each["name"] for each in result["attributes"]] == ["sex", "zip", "education", "marital_status"]
    run = Run("somebody", project.id, "release", folder, project.settings, task)
    ledger = studio.handovers("somebody")
    names = (*ALWAYS, "mapping.json")
    found = {name for name in names if download(run, project.table.file, name, ledger) is not None}
    assert found == (ALWAYS | {"mapping.json"} if with_mapping else ALWAYS)
