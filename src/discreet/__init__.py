"""Turn a table about people into one that is safe to share, and prove that nothing better was overlooked.

Every name is imported when it is first used, so that ``import discreet`` costs nothing. Names of parts are not listed
here: ``KAnonymity`` is the class in ``k_anonymity.py`` of a family's folder, ``intervals`` the function in
``builders/intervals.py``. Editors and type checkers read ``__init__.pyi``, which ``tools/generate.py`` writes.
"""

from __future__ import annotations

import gc
import os
from importlib import import_module
from typing import Any

__version__ = "0.2.0"

_MODULES = {
    "discreet.errors": (
        "AuditError",
        "DataError",
        "DiscreetError",
        "InfeasibleError",
        "InterruptedRun",
        "MissingColumnError",
        "NothingFoundError",
        "OutputError",
        "UnsupportedCombinationError",
        "UsageError",
    ),
    "discreet.evaluate": ("find",),
    "discreet.job": ("Job", "Policy"),
    "discreet.pipeline.anonymize": ("anonymize",),
    "discreet.pipeline.anonymizer": ("Anonymizer",),
    "discreet.pipeline.applied": ("Applied",),
    "discreet.pipeline.apply": ("apply_mapping",),
    "discreet.pipeline.audit": ("Audit", "audit"),
    "discreet.pipeline.check": ("check",),
    "discreet.pipeline.compare": ("compare",),
    "discreet.pipeline.front": ("Front",),
    "discreet.pipeline.look": ("Look", "look"),
    "discreet.pipeline.pareto": ("pareto",),
    "discreet.pipeline.release": ("Release",),
    "discreet.pipeline.verify": ("Verification", "verify"),
    "discreet.pipeline.view": ("LiveView", "create_view"),
    "discreet.report.check_result": ("CheckResult",),
    "discreet.report.comparison": ("Comparison",),
    "discreet.runtime.table_path": ("table",),
    "discreet.samples": ("sample", "sample_tables", "sample_visits"),
    "discreet.schema": ("Builder", "Hierarchy", "Interval", "ValueSet", "parse_block"),
    "discreet.solve": ("Budget", "Combination", "Progress", "combinations"),
}
_PACKAGES = ("evaluate",)
_CLASS_FOLDERS = ("problem.costs", "problem.privacy", "problem.suppression")
"""Folders in which ``k_anonymity.py`` holds the public class ``KAnonymity``."""
_FUNCTION_FOLDERS = ("schema.builders",)
"""Folders in which ``intervals.py`` holds the public function ``intervals``."""


def _part_modules() -> dict[str, str]:
    """Return the module of each public part by name, from the names of files alone."""
    found = {}
    for folder in (*_CLASS_FOLDERS, *_FUNCTION_FOLDERS):
        for file in os.listdir(os.path.join(os.path.dirname(__file__), *folder.split("."))):  # noqa: PTH118, PTH120, PTH208 - pathlib takes longer to import than this module may
            stem, suffix = os.path.splitext(file)  # noqa: PTH122
            if suffix == ".py" and not stem.startswith("_"):
                name = stem if folder in _FUNCTION_FOLDERS else "".join(map(str.capitalize, stem.split("_")))
                found[name] = f"discreet.{folder}.{stem}"
    return found


_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names} | _part_modules()

__all__ = sorted([*_MODULE_OF, *_PACKAGES, "__version__"])


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name in _PACKAGES:
        return import_module(f"discreet.{name}")
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'discreet' has no attribute '{name}'")
    collecting = gc.isenabled()
    gc.disable()  # modules make objects that stay; looking for garbage among them takes a tenth of the time
    try:
        value = getattr(import_module(module), name)
    finally:
        if collecting:
            gc.enable()
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
