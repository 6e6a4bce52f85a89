"""Bad input: what is given, the exit code, and the message, or its beginning where the rest is a list.

The cases are in the YAML files of this folder. Their messages are what people read: changing one changes the product.
No message may quote a value of the data.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from trust.corpus.files import FILES

__all__ = ["COMMANDS", "FILES", "JOBS", "JOB_FILES", "TREES", "Case"]


class Case(NamedTuple):
    """One bad input and how it is refused."""

    given: Any
    exit_code: int
    message: str


def _load(name: str, key: str) -> dict[str, Case]:
    """Read the cases of a file; ``key`` holds what is given."""
    items = yaml.safe_load((Path(__file__).parent / f"{name}.yaml").read_text(encoding="utf-8"))
    cases = {item["name"]: Case(item[key], item["exit_code"], item["message"]) for item in items}
    assert len(cases) == len(items), f"two cases in {name}.yaml have the same name"
    return cases


JOBS = _load("jobs", "job")
"""Arguments of ``anonymize``."""
TREES = _load("hierarchies", "hierarchy")
"""Hierarchies for a column of numbers."""
COMMANDS = {name: case._replace(given=shlex.split(case.given)) for name, case in _load("commands", "command").items()}
"""Command lines, in a folder that holds ``FILES``."""
JOB_FILES = _load("job_files", "text")
"""Job files."""
