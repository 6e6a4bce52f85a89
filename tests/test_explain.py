"""Every error leads to a section that explains it, and every section is that of some error."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import discreet
from discreet import errors
from discreet.cli import program
from discreet.errors import DiscreetError, MissingColumnError, UsageError
from discreet.explain import errors_page, explain, topics

SOURCES = sorted(Path(discreet.__file__).parent.rglob("*.py"))
CLASSES = [item for _, item in inspect.getmembers(errors, inspect.isclass) if issubclass(item, DiscreetError)]
OF_THE_COMMAND_LINE = {"command-line", "out-of-memory"}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(program, list(arguments))


def named() -> Iterator[tuple[str, str]]:
    """Every topic that is written in the sources, and where."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                for keyword in node.keywords:
                    if keyword.arg == "topic" and isinstance(keyword.value, ast.Constant):
                        yield str(keyword.value.value), f"{path.name}:{node.lineno}"


def test_every_topic_has_a_section_and_every_section_a_topic() -> None:
    used = dict(named()) | {item.topic: item.__name__ for item in CLASSES} | dict.fromkeys(OF_THE_COMMAND_LINE, "cli")
    assert {topic: place for topic, place in used.items() if topic not in topics()} == {}
    assert set(topics()) - set(used) == set()


def test_sections_are_there_to_be_read() -> None:
    for topic in topics().values():
        assert len(topic.text) > 100, topic.name
        assert topic.title[0].isupper()
    assert errors_page().count("{#") == len(topics())


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_class_has_a_topic(kind: type[DiscreetError]) -> None:
    assert kind.topic in topics()


def test_an_error_names_its_topic_below_its_message() -> None:
    error = MissingColumnError("agee", ["age"])
    assert str(error) == "There is no column 'agee'; did you mean 'age'?"
    assert error.__notes__ == ["More: discreet explain unknown-column"]
    assert UsageError("No.", topic="parameter").topic == "parameter"
    assert UsageError("No.").topic == "usage"


def test_explain_prints_a_section() -> None:
    result = run("explain", "unknown-column")
    assert result.exit_code == 0
    assert result.stdout.startswith("A column is not there\n")
    assert explain("unknown-column").text in result.stdout


def test_explain_lists_all_topics() -> None:
    lines = run("explain").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(topics())


def test_explain_helps_with_slips_of_the_pen() -> None:
    result = run("explain", "unknwon-column")
    assert result.exit_code == 2
    assert "did you mean 'unknown-column'?" in result.stderr


def test_the_command_line_ends_with_the_topic() -> None:
    result = run("info", "no.csv", "--json")
    assert (
        result.stderr == "discreet: There is no file 'no.csv'; check the path. (more: discreet explain no-such-file)\n"
    )
    assert json.loads(result.stdout)["topic"] == "no-such-file"
    data = json.loads(run("info", "--json").stdout)
    assert data["topic"] == "command-line"
