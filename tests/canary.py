"""Canaries: values that must not get out, and a search for them in every byte a program leaves anywhere.

A :class:`Cage` is a folder of its own with a home, a place for temporary files and one to work in. Whatever runs in it
has nowhere else to write to; ``escaped`` says which canaries are in which file or stream. Canaries are looked for as
they are, in other encodings, and inside compressed files.
"""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import json
import os
import re
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

__all__ = ["Cage", "found_in", "spellings"]

SOURCE = str(Path(__file__).parents[1] / "src")
_DEEPEST = 3


def spellings(word: str) -> list[bytes]:
    """How a word may stand in a file: as text of several encodings, escaped, and as hexadecimal digits or base 64."""
    plain = word.encode()
    ways = [plain, word.encode("utf-16-le"), word.encode("utf-16-be"), plain.hex().encode(), word[::-1].encode()]
    ways += [json.dumps(word)[1:-1].encode(), word.upper().encode(), word.lower().encode()]
    for shift in range(3):  # base 64 of a text in which the word begins anywhere
        coded = base64.b64encode(b"\0" * shift + plain)
        ways.append(coded[(8 * shift + 5) // 6 : len(coded) - 4])
    return [way for way in dict.fromkeys(ways) if len(way) >= 4]


def found_in(content: bytes, words: Iterable[str], depth: int = 0) -> set[str]:
    """The words that are in some bytes, or in what they are when unpacked."""
    found = {word for word in words if any(way in content for way in spellings(word))}
    if depth < _DEEPEST:
        for inner in _unpacked(content):
            found |= found_in(inner, words, depth + 1)
    return found


def _unpacked(content: bytes) -> Iterator[bytes]:
    """What is inside: archives, compressed streams, streams of a PDF, pages of Parquet, texts in base 64."""
    if content[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            yield from (archive.read(name) for name in archive.namelist())
    for start, opened in ((b"\x1f\x8b", gzip.decompress), (b"BZh", bz2.decompress)):
        if content.startswith(start):
            yield opened(content)
    for match in re.finditer(rb"stream\r?\n(.*?)endstream", content, re.DOTALL):
        try:
            yield zlib.decompress(match[1])
        except zlib.error:
            continue
    if content[:4] == b"PAR1" and content[-4:] == b"PAR1":
        import polars as pl

        yield pl.read_parquet(io.BytesIO(content)).write_csv().encode()
    for match in re.finditer(rb"base64,([A-Za-z0-9+/=]{40,})", content):
        yield base64.b64decode(match[1] + b"==")


class Cage:
    """A folder that holds everything a program may touch."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.work, self.home, self.temporary = (folder / name for name in ("work", "home", "tmp"))
        for place in (self.work, self.home, self.temporary):
            place.mkdir(parents=True, exist_ok=True)
        self.streams: dict[str, bytes] = {}

    @property
    def environment(self) -> dict[str, str]:
        """Variables by which everything is in the folder, but for kernels that were compiled before."""
        kept = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
        changes = {"HOME": str(self.home), "TMPDIR": str(self.temporary), "NUMBA_CACHE_DIR": kept}
        changes |= {"PYTHONPATH": SOURCE, "PYTHONDONTWRITEBYTECODE": "1", "XDG_CONFIG_HOME": str(self.home)}
        return {**os.environ, **changes}

    def start(self, *arguments: str, code: str | None = None, **options: Any) -> subprocess.Popen[bytes]:
        """Start the command line, or some code, in the cage."""
        how = ["-m", "discreet"] if code is None else ["-c", code]
        return subprocess.Popen(
            [sys.executable, *how, *arguments],
            cwd=self.work,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )

    def run(self, *arguments: str, code: str | None = None) -> int:
        """Run the command line to its end, keep what it printed, and return its exit code."""
        with self.start(*arguments, code=code) as process:
            out, err = process.communicate(timeout=600)
        self.keep(" ".join(arguments), out, err)
        return process.returncode

    def keep(self, what: str, *contents: bytes) -> None:
        """Remember what was printed or answered, to be searched too."""
        self.streams[f"{len(self.streams)}: {what}"] = b"\n".join(contents)

    def escaped(self, words: Iterable[str], *, but: Iterable[str] = ()) -> dict[str, set[str]]:
        """Which words are in which file or stream; ``but`` names files of the working folder that may hold them."""
        allowed, words = {self.work / name for name in but}, list(words)
        found = {}
        for path in sorted(self.folder.rglob("*")):
            name = str(path.relative_to(self.folder))
            if path not in allowed:
                content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
                found[name] = found_in(name.encode() + b"\n" + content, words)
        for name, content in self.streams.items():
            found[name] = found_in(content, words)
        return {name: each for name, each in found.items() if each}
