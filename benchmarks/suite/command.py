"""The command line on Adult: whole processes, from the file to the audited file, with kernels compiled before."""

from __future__ import annotations

import sys
from pathlib import Path

from harness import Row, Settings, main_dataset
from harness.processes import anonymize_command, bare_command, figures, usages

__all__ = ["run"]

Commands = dict[str, list[str | Path]]


def run(settings: Settings) -> list[Row]:
    """Measure ``discreet --help`` against a bare Python, and ``discreet anonymize`` against bare polars."""
    dataset = main_dataset(settings)
    target = settings.scratch / "safe.csv"
    starts: Commands = {
        "python that does nothing": [sys.executable, "-c", "pass"],
        "discreet --help": [sys.executable, "-m", "discreet", "--help"],
    }
    jobs: Commands = {
        "bare polars read, group_by, write": bare_command(dataset, dataset.file, target),
        "python that imports numba and polars": [sys.executable, "-c", "import numba, polars"],
        "discreet anonymize, LM, budget 0 %": anonymize_command(dataset, dataset.file, target),
        "discreet anonymize, LM, budget 5 %": anonymize_command(
            dataset, dataset.file, target, suppression="budget(5%)"
        ),
        "discreet anonymize, DM, budget 5 %": anonymize_command(
            dataset, dataset.file, target, cost="DM", suppression="budget(5%)"
        ),
    }
    rows = []
    for title, commands in (
        ("command: starting", starts),
        (f"command: {dataset.name} from file to audited file, k=5", jobs),
    ):
        used = usages(commands, 2 * settings.processes)
        floor = next(iter(used.values()))
        rows += [Row(title, name, figures(runs, None if runs is floor else floor)) for name, runs in used.items()]
        rows.append(Row(title, "", note="The floor is the first line."))
    if dataset.note:
        rows.append(Row(rows[-1].table, "", note=dataset.note))
    return rows
