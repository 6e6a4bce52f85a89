"""Object code as a shared library, for installations: linked when a wheel is built, loaded without LLVM."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["CAN_LINK", "link_library"]

CAN_LINK = sys.platform == "linux"
"""Whether programs of installations are shared libraries; elsewhere they stay object code, which LLVM links."""
_SYSTEM = ("libm.so.6", "libc.so.6")
"""The libraries that programs take functions from."""
_OPTIONS = ("-shared", "-nostdlib", "-Wl,--build-id=none", "-Wl,-z,noexecstack", "-Wl,-z,relro,-z,now", "-Wl,-s")


def link_library(code: bytes) -> bytes:
    """Return a shared library with object code, linked by the C compiler of this system.

    It names the libraries of the system but no version of their functions, so that it does not matter how new the
    system is where it is linked: an empty library of the same name stands for each.
    """
    compiler = os.environ.get("CC", "cc")
    with tempfile.TemporaryDirectory(prefix="discreet-link-") as name:
        folder = Path(name)
        (folder / "program.o").write_bytes(code)
        for system in _SYSTEM:
            _run([compiler, *_OPTIONS, f"-Wl,-soname,{system}", "-x", "c", os.devnull, "-o", system], folder)
        _run([compiler, *_OPTIONS, "-Wl,--no-as-needed", "program.o", *_SYSTEM, "-o", "program"], folder)
        return (folder / "program").read_bytes()


def _run(command: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise RuntimeError(f"To link compiled searches, install a C compiler; there is no '{command[0]}'.") from None
    if done.returncode:
        raise RuntimeError(f"The C compiler cannot link compiled searches: {done.stderr.strip()}")
