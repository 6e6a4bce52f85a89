"""Virtualenvs for other packages, made once and kept."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

__all__ = ["UnavailableError", "python_with"]


class UnavailableError(Exception):
    """A package that cannot be installed here."""


def python_with(folder: Path, requirements: Sequence[str]) -> Path:
    """Return a Python that has some packages, named with their versions; the first names the virtualenv."""
    venv = folder / requirements[0].replace("==", "-")
    python, stamp = venv / "bin" / "python", venv / "installed.txt"
    wanted = "\n".join(requirements)
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    print(f"installing {', '.join(requirements)} (once)", file=sys.stderr)
    try:
        _run([sys.executable, "-m", "venv", "--clear", str(venv)])
        _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements])
    except (OSError, subprocess.SubprocessError) as error:
        raise UnavailableError(f"Skipped: {requirements[0]} cannot be installed here.") from error
    stamp.write_text(wanted)
    return python


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=600)
