"""Docstrings as Markdown: examples become code blocks, and the roles of other tools go."""

from __future__ import annotations

import re
from typing import Any

import griffe

ROLE = re.compile(r":(?:class|meth|mod|func|attr|data):`~?([^`]+)`")
SECTION = re.compile(r"^-{3,}$", re.MULTILINE)


class Docstrings(griffe.Extension):
    """Rewrites every docstring before it is rendered."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of an object, if it has one."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """Return a docstring as Markdown.

    Where it has sections, examples become the last one, which the parser knows how to show.
    """
    text = ROLE.sub(r"`\1`", text)
    if SECTION.search(text):
        before, begin, examples = text.partition(">>>")
        heading = "Examples\n--------\n" if begin and "Examples\n---" not in before else ""
        return f"{before}{heading}{begin}{examples}"
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        begins = line.lstrip().startswith(">>>")
        if begins and not inside:
            lines += ["", "```pycon"]
            inside = True
        elif inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line if inside else re.sub(r"::$", ":", line))
    return "\n".join([*lines, "```"] if inside else lines)
