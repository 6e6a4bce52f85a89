"""Files with compiled programs: those that come with the installation and those in the cache.

A file of the cache starts with a line that names its format, and one with a checksum of everything after it: a header
in JSON, one line, and the object code. One of an installation is a shared library that the system loads as it is; the
same lines follow it in reverse order: header, checksum and format. The header says what the program was compiled from
(the kernel modules with digests of their text and of their bytecode) and what it needs (processor features, symbols).
A file is used only if all of that fits; anything else is ignored, and compiled anew. So damaged, foreign and outdated
files do no harm.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

__all__ = ["ProgramFile", "cache_folder", "find", "kernel_modules", "shipped", "shipped_folder", "store"]

_FORMAT = b"discreet program 1\n"
_LIBRARY = b"\ndiscreet library 1\n"
_UNUSED = 60 * 86_400
"""Seconds after which a program that was not used is removed."""
_RECENT = 86_400
"""Seconds within which a program counts as just used, and its time stamp is not renewed."""
_SUFFIX = ".program"
_PYTHON = f"{sys.implementation.cache_tag}"


class ProgramFile(NamedTuple):
    """A program as it is stored."""

    path: Path | None
    header: dict[str, Any]
    code: bytes
    is_library: bool = False


def shipped_folder() -> Path:
    """Return the folder of the programs that come with the installation; from a checkout there are none."""
    return Path(__file__).parent.parent / "programs"


@cache
def cache_folder() -> Path | None:
    """Return the folder of the cache, or None if no folder can be written."""
    roots = [os.environ.get("NUMBA_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME")]
    candidates = [Path(root) / "discreet" for root in roots if root]
    with suppress(RuntimeError):  # there is no home folder
        candidates += [Path("~/.cache/discreet").expanduser()]
    with suppress(OSError):  # there is no temporary folder
        candidates += [Path(tempfile.gettempdir()) / f"discreet-{os.getuid() if hasattr(os, 'getuid') else 0}"]
    for folder in (candidate / "programs" for candidate in candidates):
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError:
            continue
        if os.access(folder, os.W_OK) and (not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()):
            return folder
    return None


def find(name: str, *, shipped: bool = True) -> Iterator[ProgramFile]:
    """Yield the intact files of a program whose kernels are those of this installation, cached ones first."""
    cached = cache_folder()
    for folder in (cached, shipped_folder() if shipped else None):
        if folder is None:
            continue
        for path in sorted(folder.glob(f"{_slug(name)}-{'[0-9a-f]' * 16}{_SUFFIX}")):
            found = _read(path)
            if found is not None and found.header.get("name") == name and _is_current(found.header["modules"]):
                if folder == cached:
                    _mark_as_used(path)
                yield found


def shipped() -> Iterator[ProgramFile]:
    """Yield all intact programs that came with the installation for its kernels."""
    for path in sorted(shipped_folder().glob(f"*{_SUFFIX}")):
        found = _read(path)
        if found is not None and _is_current(found.header["modules"]):
            yield found


def _read(path: Path) -> ProgramFile | None:
    """Return the content of a file; None if it is not an intact program."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    is_library = content.endswith(_LIBRARY)
    if is_library:
        rest, _, checksum = content[: -len(_LIBRARY)].rpartition(b"\n")
        code, _, header = rest.rpartition(b"\n")
    elif content.startswith(_FORMAT):
        checksum, _, rest = content[len(_FORMAT) :].partition(b"\n")
        header, _, code = rest.partition(b"\n")
    else:
        return None
    if _digest(rest) != checksum:
        return None
    return ProgramFile(path, json.loads(header), code, is_library)


def store(folder: Path, file: ProgramFile) -> Path:
    """Write a program, at once or not at all, and return its path; may raise OSError."""
    header = json.dumps(file.header, sort_keys=True).encode()
    if file.is_library:
        rest = file.code + b"\n" + header
        content = rest + b"\n" + _digest(rest) + _LIBRARY
    else:
        rest = header + b"\n" + file.code
        content = _FORMAT + _digest(rest) + b"\n" + rest
    parts = [file.header[name] for name in ("name", "modules", "triple", "cpu", "features")]
    key = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    path = folder / f"{_slug(file.header['name'])}-{key[:16]}{_SUFFIX}"
    number, temporary = tempfile.mkstemp(dir=folder, prefix=".new-")
    try:
        with os.fdopen(number, "wb") as written:
            written.write(content)
        Path(temporary).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise
    _remove_unused(folder)
    return path


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _slug(name: str) -> str:
    return re.sub("[^a-z0-9_.]+", "-", name.lower())


def _mark_as_used(path: Path) -> None:
    """Renew the time stamp of a program, once a day."""
    with suppress(OSError):
        if time.time() - path.stat().st_mtime > _RECENT:
            os.utime(path)


def _remove_unused(folder: Path) -> None:
    """Remove programs that were not used for long, and what killed processes left."""
    for path in (*folder.glob(f"*{_SUFFIX}"), *folder.glob(".new-*")):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > _UNUSED:
                path.unlink()


def kernel_modules(roots: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return modules, and all kernel modules they import, directly or not, with digests of their content."""
    found: dict[str, dict[str, str]] = {}
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in found:
            code = _code(name)
            text = repr(_content(code))
            found[name] = {"text": _text_digest(name), _PYTHON: hashlib.sha256(text.encode()).hexdigest()}
            waiting += [item for item in code.co_names if ".kernels." in item and not item.endswith(".kernels.jit")]
    return dict(sorted(found.items()))


def _is_current(modules: dict[str, dict[str, str]]) -> bool:
    """Return whether modules have the content they had, comments and docstrings aside if they changed."""
    try:
        for name, digests in modules.items():
            if _text_digest(name) != digests["text"]:
                code = hashlib.sha256(repr(_content(_code(name))).encode()).hexdigest()
                if code != digests.get(_PYTHON):
                    return False
    except (ImportError, OSError, SyntaxError):
        return False
    return True


@cache
def _text_digest(module: str) -> str:
    """Return a digest of the source of a module."""
    spec = importlib.util.find_spec(module)
    loader: Any = spec.loader if spec is not None else None
    if spec is None or spec.origin is None or loader is None:
        raise ImportError(f"the source of {module} cannot be found")
    return hashlib.sha256(loader.get_data(spec.origin)).hexdigest()


def _code(module: str) -> CodeType:
    spec = importlib.util.find_spec(module)
    loader: Any = spec.loader if spec is not None else None
    code: CodeType | None = None if loader is None else loader.get_code(module)
    if code is None:
        raise ImportError(f"the source of {module} cannot be found")
    return code


def _content(code: CodeType) -> tuple[Any, ...]:
    """Return the instructions of a code object, its names and constants, and those of the functions inside it."""
    first = code.co_consts[:1]
    documented = bool(first) and isinstance(first[0], str)  # a docstring is the first constant
    constants = [_constant(item) for item in code.co_consts[documented:]]
    return code.co_name, code.co_code, code.co_names, code.co_varnames, code.co_freevars, constants


def _constant(item: Any) -> Any:
    if isinstance(item, CodeType):
        return _content(item)
    return sorted(map(repr, item)) if isinstance(item, frozenset) else item  # the order of a set is not the same twice
