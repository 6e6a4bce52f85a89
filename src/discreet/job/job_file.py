"""The text of a job file: JSON, or YAML without the surprises of YAML 1.1."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from discreet.errors import UsageError
from discreet.runtime.atomic_write import check_target, replacing
from discreet.runtime.locations import read_text

__all__ = ["read_fields", "write_fields"]

_PRIVATE = "# Private: it has a seed or values of the data. Keep it as safe as the data, and do not hand it over."


def read_fields(path: Path, what: str = "job", keys: str = "input and privacy") -> dict[str, Any]:
    """Read a mapping: JSON if the name ends in ``.json``, YAML otherwise.

    ``what`` the file is and some of its ``keys`` are for messages.
    """
    topic = "job-file" if what == "job" else what
    try:
        text = read_text(path, f"{what} file")
    except UnicodeDecodeError:
        raise UsageError(f"The {what} file '{path}' is not UTF-8 text; save it as UTF-8.", topic=topic) from None
    try:
        if path.suffix.lower() == ".json":
            fields = json.loads(text, object_pairs_hook=_without_duplicates)
        else:
            fields = yaml.load(text, Loader=_PlainLoader)
    except json.JSONDecodeError as error:
        raise UsageError(
            f"The {what} file '{path}' is not JSON: line {error.lineno}, {error.msg}.", topic=topic
        ) from None
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}, " if error.problem_mark else ""
        raise UsageError(f"The {what} file '{path}' is not YAML: {line}{error.problem}.", topic=topic) from None
    except RecursionError:
        raise UsageError(
            f"The {what} file '{path}' is nested too deeply; a {what} has lists and mappings a few levels deep.",
            topic=topic,
        ) from None
    except (yaml.YAMLError, ValueError) as error:
        raise UsageError(f"The {what} file '{path}' is not well formed: {error}.", topic=topic) from None
    if not isinstance(fields, dict):
        raise UsageError(f"'{path}' is no {what} file; it must have keys such as {keys}.", topic=topic)
    return {str(key): value for key, value in fields.items()}


def write_fields(path: Path, fields: dict[str, Any], *, private: bool = False, schema: str | None = None) -> None:
    """Write a mapping in the format of the suffix; the file appears when it is complete.

    A ``private`` file is readable by its owner alone, and in YAML a comment says so. The first line of YAML names the
    JSON ``schema`` that editors check it by, if there is one.
    """
    if path.suffix.lower() == ".json":
        text = json.dumps(fields, indent=2, ensure_ascii=False) + "\n"
    else:
        text = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=110)
        text = f"{_PRIVATE}\n{text}" if private else text
        text = f"# yaml-language-server: $schema={schema}\n{text}" if schema is not None else text
    with replacing(check_target(path), private=private) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, value in pairs:
        if key in fields:
            raise ValueError(f"the key '{key}' occurs twice")
        fields[key] = value
    return fields


class _PlainLoader(yaml.SafeLoader):
    """YAML in which ``no``, ``2020-01-01`` and ``01234`` are text, and duplicate keys are errors."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Refuse duplicate keys."""
        mapping = super().construct_mapping(node, deep)
        if len(mapping) < len(node.value):
            raise yaml.constructor.ConstructorError(None, None, "a key occurs twice", node.start_mark)
        return mapping


_RESOLVERS = (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", list("-+0123456789")),
    ("float", r"[-+]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?", list("-+.0123456789")),
)
for _tag, _pattern, _first in _RESOLVERS:
    _PlainLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_pattern})\Z"), _first)
