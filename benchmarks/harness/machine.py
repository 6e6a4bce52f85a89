"""Where and with what a run was made."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

import discreet
from harness.settings import BENCHMARKS

__all__ = ["describe", "fingerprint"]


def describe() -> dict[str, str]:
    """Return the date, the machine and the versions that matter."""
    libraries = ("polars", "numba", "numpy")
    return {
        "date": datetime.now().astimezone().isoformat(timespec="seconds"),
        "machine": f"{_processor()}, {os.cpu_count()} cores, {_memory()}",
        "load": f"{os.getloadavg()[0]:.2f} when the run began",
        "python": f"{platform.python_version()} on {platform.system()}",
        "discreet": f"{discreet.__version__} {_commit()}".strip(),
        "with": ", ".join(f"{name} {version(name)}" for name in libraries),
    }


def fingerprint() -> str:
    """Return a digest of the sources that are measured, to notice that they changed meanwhile."""
    text = hashlib.sha256()
    for source in sorted(Path(discreet.__file__).parent.rglob("*.py")):
        text.update(source.read_bytes())
    return text.hexdigest()


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def _memory() -> str:
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB"


def _commit() -> str:
    """The commit, with a plus where the sources differ from it; empty outside a checkout."""
    git = ["git", "-C", str(BENCHMARKS)]
    try:
        head = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True)
        changed = subprocess.run([*git, "diff", "--quiet", "HEAD"], check=False).returncode
    except (OSError, subprocess.CalledProcessError):
        return ""
    return f"({head.stdout.strip()}{'+' if changed else ''})"
