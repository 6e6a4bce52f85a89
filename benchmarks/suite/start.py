"""Starting: how long it takes until the first result, from a wheel, from a checkout, and when everything is there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from harness import Row, Settings, main_dataset
from harness.child import Usage, run_child
from harness.data import Dataset
from harness.processes import bare_command, figures, usages

__all__ = ["run"]

KINDS = {
    "full-domain": ("anonymize", "-k", "5"),
    "pareto": ("pareto",),
    "local": ("anonymize", "-k", "5", "--scheme", "local", "--time-limit", "5"),
    "subtree": ("anonymize", "-k", "5", "--scheme", "subtree", "--time-limit", "5"),
    "ordered": ("anonymize", "-k", "5", "--scheme", "ordered", "--time-limit", "5"),
}

WANTED = {
    "warm": "3.5 x CPU",
    "wheel": "1 s wall",
    "full-domain": "12 s wall",
    "pareto": "12 s wall",
    "local": "20 s wall",
    "subtree": "25 s wall",
    "ordered": "15 s wall",
}
"""What each kind of start may take at most: of a warm one, of the first job from a wheel, and from a checkout."""

_CALL = """
import json, sys
import polars as pl
import discreet as dc
source, separator, hierarchies = sys.argv[1:]
frame = pl.read_csv(source, separator=separator)
print(dc.anonymize(frame, quasi_identifiers=json.loads(hierarchies), privacy="k(5)").cost)
"""
_HERE = Path(__file__).resolve().parents[2]


def run(settings: Settings) -> list[Row]:
    """Measure, as ratios to what polars alone needs to read, group and write the table."""
    dataset = main_dataset(settings)
    target = settings.scratch / "safe.csv"
    bare = bare_command(dataset, dataset.file, target)
    commands: dict[str, list[str | Path]] = {
        "bare polars read, group_by, write": bare,
        "import discreet": [sys.executable, "-c", "import discreet"],
        "import discreet, and anonymize": [sys.executable, "-c", "from discreet import anonymize"],
    }
    hierarchies = json.dumps({column: str(path) for column, path in dataset.hierarchies.items()})
    commands["warm call of anonymize"] = [sys.executable, "-c", _CALL, dataset.file, dataset.separator, hierarchies]
    commands |= {f"warm command, {kind}": _command(sys.executable, kind, dataset, settings) for kind in KINDS}
    used = usages(commands, settings.processes)
    floor = next(iter(used.values()))
    title = f"start: {dataset.name}, everything compiled before"
    rows = [
        Row(title, name, figures(runs, None if runs is floor else floor) | _wanted(name)) for name, runs in used.items()
    ]
    rows += _first("checkout", sys.executable, floor, dataset, settings)
    python = _installed(settings)
    if python is None:
        rows.append(
            Row("start: first job from a wheel", "", note="There is no dist/*.whl of this platform: make wheel.")
        )
    else:
        rows += _first("wheel", python, floor, dataset, settings)
    return rows


def _wanted(name: str) -> dict[str, str]:
    """Return what a warm command or call may take; imports and the floor are part of it."""
    return {"at most": WANTED["warm"]} if name.startswith("warm") else {}


def _command(python: str, kind: str, dataset: Dataset, settings: Settings) -> list[str | Path]:
    words = KINDS[kind]
    target = settings.scratch / ("front.json" if kind == "pareto" else "safe.csv")
    return [python, "-m", "discreet", words[0], dataset.file, "-o", target, *dataset.options, *words[1:]]


def _first(origin: str, python: str, floor: list[Usage], dataset: Dataset, settings: Settings) -> list[Row]:
    """Measure one job of each kind with an empty cache."""
    title = f"start: first job from a {origin}, with an empty cache"
    rows = []
    for kind in KINDS:
        cache = settings.scratch / f"cache-{origin}-{kind}"
        before = {name: os.environ.pop(name, None) for name in ("NUMBA_CACHE_DIR", "PYTHONPATH")}
        os.environ["XDG_CACHE_HOME"] = str(cache)
        if origin == "checkout":
            os.environ["PYTHONPATH"] = str(_HERE / "src")
        try:
            used = [run_child(_command(python, kind, dataset, settings)).check()]
        finally:
            for name in ("XDG_CACHE_HOME", "PYTHONPATH"):
                os.environ.pop(name, None)
            os.environ.update({name: value for name, value in before.items() if value is not None})
        limit = WANTED["wheel" if origin == "wheel" else kind]
        rows.append(Row(title, kind, figures(used, floor) | {"at most": limit}))
    return rows


def _installed(settings: Settings) -> str | None:
    """Return the Python of a clean environment with the newest compiled wheel of dist/, if there is one."""
    wheels = [path for path in (_HERE / "dist").glob("*.whl") if "none-any" not in path.name]
    if not wheels:
        return None
    folder = settings.scratch / "clean"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "--quiet", "install", max(wheels)], check=True)
    return str(python)
