"""One HTML file that asks for nothing from anywhere: its style is in it, and its policy lets nothing else in."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from html import escape
from importlib.resources import files

__all__ = ["document", "own_file"]


def own_file(name: str) -> str:
    """Return the text of a style sheet or script that is part of the package."""
    return files("discreet.release").joinpath(name).read_text("utf-8")


def document(
    title: str, subtitle: str, parts: Iterable[str], footer: Iterable[str], *, style: str, script: str = ""
) -> str:
    """Write a page: its heading, its parts (HTML) and the paragraphs (text) at its foot.

    ``style`` comes after the style all pages share. Without a ``script`` none may run.
    """
    style = own_file("_page.css") + style
    scripts = f"script-src '{_hash(script)}'; " if script else ""
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; {scripts}img-src data:; base-uri 'none'; form-action 'none'"
    )
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            '<head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="referrer" content="no-referrer"><link rel="icon" href="data:,">',
            f"<title>{escape(title)}</title>",
            f"<style>{style}</style></head>",
            f"<body><header><h1>{escape(title)}</h1><p>{escape(subtitle)}</p></header>",
            "<main>",
            *parts,
            "</main>",
            f"<footer>{''.join(f'<p>{escape(text)}</p>' for text in footer)}</footer>",
            *([f"<script>{script}</script>"] if script else []),
            "</body></html>\n",
        ]
    )


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
