"""Canaries: marked values that must not leak, and a search for them in every byte a program writes.

A :class:`Sandbox` is a folder with its own home, temporary and working folders. Programs that run in it write nowhere
else; ``leaked`` says which canaries are in which file or stream. They are searched for as plain text, in other
encodings, and inside compressed files.
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

__all__ = ["Sandbox", "found_in", "spellings"]

SOURCE = str(Path(__file__).parents[1] / "src")
_DEEPEST = 3


def spellings(word: str) -> list[bytes]:
    """Byte strings a word may appear as: in several encodings, escaped, as hexadecimal digits and in base 64."""
    plain = word.encode()
    forms = [plain, word.encode("utf-16-le"), word.encode("utf-16-be"), plain.hex().encode(), word[::-1].encode()]
    forms += [json.dumps(word)[1:-1].encode(), word.upper().encode(), word.lower().encode()]
    for shift in range(3):  # base 64 depends on the offset of the word modulo 3
        coded = base64.b64encode(b"\0" * shift + plain)
        forms.append(coded[(8 * shift + 5) // 6 : len(coded) - 4])
    return [form for form in dict.fromkeys(forms) if len(form) >= 4]


def found_in(content: bytes, words: Iterable[str], depth: int = 0) -> set[str]:
    """The words that occur in some bytes, also after unpacking."""
    found = {word for word in words if any(form in content for form in spellings(word))}
    if depth < _DEEPEST:
        for inner in _unpacked(content):
            found |= found_in(inner, words, depth + 1)
    return found


def _unpacked(content: bytes) -> Iterator[bytes]:
    """Content of archives, compressed streams, PDF streams, Parquet pages and base 64 texts."""
    if content[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            yield from (archive.read(name) for name in archive.namelist())
    for magic, decompress in ((b"\x1f\x8b", gzip.decompress), (b"BZh", bz2.decompress)):
        if content.startswith(magic):
            yield decompress(content)
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


class Sandbox:
    """A folder with everything a program may write to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.work, self.home, self.temporary = (folder / name for name in ("work", "home", "tmp"))
        for path in (self.work, self.home, self.temporary):
            path.mkdir(parents=True, exist_ok=True)
        self.streams: dict[str, bytes] = {}

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables that redirect everything into the folder, except for the cache of compiled kernels."""
        kept = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
        changes = {"HOME": str(self.home), "TMPDIR": str(self.temporary), "NUMBA_CACHE_DIR": kept}
        changes |= {"PYTHONPATH": SOURCE, "PYTHONDONTWRITEBYTECODE": "1", "XDG_CONFIG_HOME": str(self.home)}
        return {**os.environ, **changes}

    def start(self, *arguments: str, code: str | None = None, **options: Any) -> subprocess.Popen[bytes]:
        """Start the command line, or some code, in the sandbox."""
        target = ["-m", "discreet"] if code is None else ["-c", code]
        return subprocess.Popen(
            [sys.executable, *target, *arguments],
            cwd=self.work,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )

    def run(self, *arguments: str, code: str | None = None) -> int:
        """Run the command line, record its output, and return its exit code."""
        with self.start(*arguments, code=code) as process:
            out, err = process.communicate(timeout=600)
        self.record(" ".join(arguments), out, err)
        return process.returncode

    def record(self, title: str, *contents: bytes) -> None:
        """Record output, so that it is searched too."""
        self.streams[f"{len(self.streams)}: {title}"] = b"\n".join(contents)

    def leaked(self, words: Iterable[str], *, but: Iterable[str] = ()) -> dict[str, set[str]]:
        """Words by file or stream; ``but`` names files of the working folder that may contain them."""
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
