"""A million rows: the whole job from a CSV file to an audited CSV file, against what polars alone needs for it."""

from __future__ import annotations

from harness import Row, Settings, main_dataset, perturbed
from harness.processes import anonymize_command, bare_command, figures, usages

__all__ = ["run"]


def run(settings: Settings) -> list[Row]:
    """Measure fresh processes on many copies of Adult with small random changes."""
    dataset = main_dataset(settings)
    source, target = settings.scratch / "large.csv", settings.scratch / "large-safe.csv"
    large = perturbed(dataset, 33, source)
    size, tuples = source.stat().st_size / 2**20, large.n_unique()
    title = f"million: {large.height:,} rows ({tuples:,} distinct, {size:.0f} MB), from file to audited file, k=5"
    del large
    commands = {
        "bare polars read, group_by, write": bare_command(dataset, source, target),
        "discreet anonymize, LM, budget 0 %": anonymize_command(dataset, source, target),
        "discreet anonymize, LM, budget 5 %": anonymize_command(dataset, source, target, suppression="budget(5%)"),
        "discreet anonymize, DM, budget 5 %": anonymize_command(
            dataset, source, target, cost="DM", suppression="budget(5%)"
        ),
    }
    used = usages(commands, settings.processes)
    floor = next(iter(used.values()))
    rows = [Row(title, name, figures(runs, None if runs is floor else floor)) for name, runs in used.items()]
    note = f"33 copies of {dataset.name}, 1 % of the cells of each replaced by others of their column. {dataset.note}"
    return [*rows, Row(title, "", note=note.strip())]
