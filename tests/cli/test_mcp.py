"""The tools for assistants, through the protocol itself: what they do, what they refuse, and that no value is seen."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet

mcp = pytest.importorskip("mcp", reason="the extra mcp is not installed")

from discreet.cli.mcp import make_server  # noqa: E402

JOB = {
    "input": "people.csv",
    "output": "safe.csv",
    "identifiers": ["name"],
    "quasi_identifiers": {"age": "intervals(5, 10, 20, 40)", "city": None},
    "sensitive": ["disease"],
    "privacy": ["k(3)"],
    "suppression": "budget(10%)",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = range(120)
    frame = pl.DataFrame(
        {
            "name": [f"CANARYname{row}" for row in rows],
            "age": [20 + row % 40 for row in rows],
            "city": [("CANARYville", "CANARYtown", "CANARYburg")[row % 3] for row in rows],
            "disease": [("CANARYflu", "CANARYcold")[row % 2] for row in rows],
        }
    )
    (tmp_path / "tables").mkdir()
    frame.write_csv(tmp_path / "tables" / "people.csv")
    frame.write_csv(tmp_path / "outside.csv")
    return tmp_path / "tables"


def call(server: Any, *calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    async def talk() -> list[dict[str, Any]]:
        async with mcp.Client(server) as client:
            results = [await client.call_tool(name, arguments) for name, arguments in calls]
        for result in results:
            assert not result.is_error, result
        assert "CANARY" not in "".join(result.model_dump_json() for result in results)
        return [result.structured_content for result in results]

    return asyncio.run(talk())


def test_the_whole_way(folder: Path) -> None:
    looked, planned, front, made, checked = call(
        make_server(str(folder)),
        ("look", {"table": "people.csv"}),
        ("plan", {"job": JOB}),
        ("trade_offs", {"job": {key: JOB[key] for key in ("input", "identifiers", "quasi_identifiers")}}),
        ("anonymize", {"job": JOB}),
        ("check", {"table": "safe.csv", "policy": {"quasi_identifiers": ["age", "city"], "privacy": ["k(3)"]}}),
    )
    assert looked["rows"] == 120
    assert planned["rows"] == 120
    assert len(front["points"]) > 1
    assert made["audit"]["passed"]
    assert made["verdict"]["level"] in {"ok", "caution", "danger"}
    assert (folder / "safe.csv").exists()
    assert checked["passed"]


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("look", {"table": "../outside.csv"}, "inside the folder"),
        ("look", {"table": "/etc/passwd"}, "inside the folder"),
        ("check", {"table": "link.csv"}, "inside the folder"),
        ("look", {"table": "sqlite:///x.db?table=t"}, "inside the folder"),
        ("look", {"table": "none.csv"}, "none.csv"),
        ("anonymize", {"job": {**JOB, "output": "../stolen.csv"}}, "inside the folder"),
        ("anonymize", {"job": {**JOB, "report": "/tmp/report.html"}}, "inside the folder"),
        ("anonymize", {"job": {**JOB, "quasi_identifiers": {"city": "../outside.csv"}}}, "inside the folder"),
        ("anonymize", {"job": {**JOB, "output": "people.csv"}}, "people.csv"),
        ("anonymize", {"job": {key: JOB[key] for key in JOB if key != "output"}}, "output"),
        ("anonymize", {"job": {**JOB, "mapping": "mapping.json"}}, "owner"),
        ("anonymize", {"job": {**JOB, "seed": 1}}, "owner"),
        ("anonymize", {"job": {**JOB, "privacy": ["k(500)"]}}, "k"),
        ("plan", {"job": {**JOB, "colour": "red"}}, "colour"),
        ("parts", {"family": "colours"}, "privacy"),
        ("explain", {"topic": "colours"}, "colours"),
    ],
)
def test_what_is_refused_is_answered_in_one_sentence(
    folder: Path, tool: str, arguments: dict[str, Any], words: str
) -> None:
    (folder / "link.csv").symlink_to(folder.parent / "outside.csv")
    before = sorted(folder.parent.rglob("*"))
    [answer] = call(make_server(str(folder)), (tool, arguments))
    assert words in answer["error"]
    assert answer["topic"]
    assert sorted(folder.parent.rglob("*")) == before


def test_the_vocabulary(folder: Path) -> None:
    parts, schema, topic = call(
        make_server(str(folder)),
        ("parts", {"family": "privacy"}),
        ("job_schema", {}),
        ("explain", {"topic": "job-file"}),
    )
    assert "k" in json.dumps(parts)
    assert "quasi_identifiers" in schema["properties"]
    assert topic["title"]


def test_the_command_speaks_the_protocol(folder: Path) -> None:
    async def talk() -> list[str]:
        server = mcp.StdioServerParameters(
            command=sys.executable,
            args=["-m", "discreet", "mcp"],
            cwd=str(folder),
            env={**os.environ, "PYTHONPATH": str(Path(discreet.__file__).parents[1])},
        )
        async with mcp.Client(server) as client:
            listed = await client.list_tools()
            found = await client.call_tool("look", {"table": "people.csv"})
        assert found.structured_content["rows"] == 120
        return [tool.name for tool in listed.tools]

    assert {"look", "anonymize", "check"} <= set(asyncio.run(talk()))
