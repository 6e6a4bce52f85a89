"""Documentation for assistants, written when the site is built: ``llms.txt``, an index, and ``llms-full.txt``.

Pages that only refer to docstrings are written out here, so that one file holds the whole reference.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
_SPEC = importlib.util.spec_from_file_location("site_pages", Path(__file__).with_name("pages.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
pages = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(pages)

INTRODUCTION = (
    "# discreet\n\n> Turn a table about people into one that is safe to share, with a proof that nothing better was "
    "overlooked: a Python library, a command line and a local web studio.\n"
)


def text_of(page: str) -> str:
    """Return the text of a page, with the docstrings it refers to."""
    text = pages.GENERATED[page]() if page in pages.GENERATED else (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.sub(r"^::: (\S+)$", lambda found: described(found[1]), text, flags=re.MULTILINE)


def described(place: str) -> str:
    """Return the signature and the docstring of an object by its full name."""
    module, _, name = place.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        return f"### {place}"
    try:
        signature = str(inspect.signature(found))
    except (TypeError, ValueError):
        signature = ""
    return f"### {name}\n\n```python\n{name}{signature}\n```\n\n{inspect.getdoc(found) or ''}"


def title_and_summary(text: str) -> tuple[str, str]:
    r"""Return the heading of a page and its first sentence.

    >>> title_and_summary("# Risk\n\nHow likely people are found. More.")
    ('Risk', 'How likely people are found.')
    """
    heading = re.search(r"^# (.+)$", text, re.MULTILINE)
    rest = text[heading.end() :] if heading else text
    paragraph = next((each for each in rest.split("\n\n") if re.match(r"\s*(?!```)[A-Z`*\[]", each)), "")
    sentence = re.split(r"(?<=[.!?])\s", " ".join(re.sub(r"\]\([^)]*\)|[\[*`]", "", paragraph).split()))[0]
    return (heading[1] if heading else "", sentence)


def index(nav: Any) -> str:
    """Return ``llms.txt``: every page with a link and a sentence."""
    lines = [INTRODUCTION]
    for page in pages.named(nav):
        title, summary = title_and_summary(text_of(page))
        lines.append(f"- [{title}]({page.removesuffix('.md')}.html): {summary}")
    return "\n".join(lines) + "\n"


def whole(nav: Any) -> str:
    """Return ``llms-full.txt``: all pages, one after the other."""
    return "\n\n".join([INTRODUCTION, *sections(nav)]) + "\n"


def sections(nav: Any) -> Iterator[str]:
    """Yield each page with its name."""
    for page in pages.named(nav):
        yield f"<!-- {page} -->\n\n{text_of(page).strip()}"


def on_post_build(config: Any) -> None:
    """Write both files into the site."""
    site = Path(config.site_dir)
    (site / "llms.txt").write_text(index(config.nav), encoding="utf-8")
    (site / "llms-full.txt").write_text(whole(config.nav), encoding="utf-8")
