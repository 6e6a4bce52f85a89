"""The section on attacks: how often each succeeds, compared with guesses and with people who are not in the release."""

from __future__ import annotations

from discreet.evaluate import AttackReport, AttackResult
from discreet.report.numbers import percent
from discreet.report.sections.blocks import Block, BulletList, DataTable, Section, Text

__all__ = ["attack_section"]

_INTRODUCTION = (
    "Each attack was run on this release. It is compared with a naive guess and, where that makes sense, with the same "
    "attack on people who are not in the release; only what exceeds both is due to the release. The range is a 95 % "
    "confidence interval."
)


def attack_section(report: AttackReport) -> Section:
    """Return the results as a table, what was found, and which attacks were not run."""
    found = [report[name] for name in report.results]
    ran = [each for each in found if each.ran]
    blocks: list[Block] = [
        Text(_INTRODUCTION),
        DataTable(
            ["attack", "what is guessed", "right", "range", "naive guess", "control", "better"],
            [_row(each) for each in ran],
            words=2,
        ),
        Text(_verdict(report)),
        BulletList([f"{each.attack}: {each.sentence}" for each in found]),
    ]
    return Section("Attacks", [*blocks, *([BulletList(report.notes)] if report.notes else [])])


def _row(result: AttackResult) -> list[str]:
    assert result.success is not None
    assert result.naive is not None
    assert result.low is not None
    assert result.high is not None
    return [
        result.attack,
        result.guessed,
        percent(result.success),
        f"{percent(result.low)} to {percent(result.high)}",
        percent(result.naive),
        "–" if result.control is None else percent(result.control),
        "yes" if result.better else "no",
    ]


def _verdict(report: AttackReport) -> str:
    if not report.worst:
        return "No attack does better than its naive guess and its control group, beyond chance."
    names = ", ".join(each.attack for each in report.worst)
    return f"Better than the naive guess and the control group, beyond chance: {names}."
