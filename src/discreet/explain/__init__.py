"""What every error means and what to do about it: ``errors.md``, a section for each topic, to be read offline."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from discreet.errors import UsageError, did_you_mean

__all__ = ["Topic", "errors_page", "explain", "topics"]

_HEADING = re.compile(r"^## (?P<title>.+?) \{ *#(?P<name>[a-z-]+) *\}$", re.MULTILINE)


@dataclass(frozen=True)
class Topic:
    """A section of the page: its name, its title, and its text in Markdown."""

    name: str
    title: str
    text: str


def errors_page() -> str:
    """Return the whole page in Markdown."""
    return (files("discreet.explain") / "errors.md").read_text(encoding="utf-8")


@cache
def topics() -> dict[str, Topic]:
    """Return all topics by name, in the order of the page.

    >>> topics()["unknown-column"].title
    'A column is not there'
    """
    page = errors_page()
    headings = list(_HEADING.finditer(page))
    ends = [*(heading.start() for heading in headings[1:]), len(page)]
    return {
        heading["name"]: Topic(heading["name"], heading["title"], page[heading.end() : end].strip())
        for heading, end in zip(headings, ends, strict=True)
    }


def explain(name: str) -> Topic:
    """Return a topic by its name."""
    topic = topics().get(name.strip().lower())
    if topic is None:
        hint = did_you_mean(name, topics()) or "'discreet explain' lists them all."
        raise UsageError(f"There is no topic '{name}'; {hint}", topic="unknown-name")
    return topic
