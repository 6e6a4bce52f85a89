"""Self-contained HTML files: style and script are inline, and the content security policy forbids all else."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from html import escape
from importlib.resources import files

__all__ = ["document", "own_file"]


def own_file(name: str) -> str:
    """Return a style sheet or script of this package, by its path."""
    return files("discreet.report").joinpath(name).read_text("utf-8")


def document(
    title: str, subtitle: str, parts: Iterable[str], footer: Iterable[str], *, style: str, script: str = ""
) -> str:
    """Return a page with a heading, ``parts`` (HTML) and ``footer`` paragraphs (text).

    ``style`` is added to the style that all pages share. Without a ``script``, none may run.
    """
    style = own_file("formats/page.css") + style
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
