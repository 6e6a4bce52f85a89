"""Evaluations as sections of a report of a release: ``release.report("report.html", [risk, utility])``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from discreet.release._front_scale import plain, share
from discreet.release._sections import Block, Facts, Items, Section, Table, Text
from discreet.release._small import few

if TYPE_CHECKING:
    from discreet.evaluate._attacks import AttackReport
    from discreet.evaluate._risk import RiskReport
    from discreet.evaluate._utility_report import UtilityReport

__all__ = ["attack_sections", "risk_sections", "utility_sections"]

_SHOWN = 12


def risk_sections(report: RiskReport) -> list[Section]:
    """Return what is known about the risk of people in the release."""
    attackers = {
        "prosecutor: knows that the person is in the table": report.prosecutor,
        "journalist: knows only the population": report.journalist,
        "prosecutor, in the original table": report.before,
    }
    head = ["attacker", "highest", "average", "lowest", f"above {report.threshold:g}"]
    rows = [
        [name, share(risk.highest), share(risk.average), share(risk.lowest), few(risk.at_risk)]
        for name, risk in attackers.items()
        if risk is not None
    ]
    blocks: list[Block] = [Table(head, rows), Text(f"On average {share(report.marketer)} of all people are found.")]
    if report.population is not None:
        people, found = report.population, report.population.estimated.dankar
        words = "cannot be estimated" if found is None else f"are estimated to be {plain(round(found))}"
        blocks.append(Text(f"Of a population of {people.size:,}, those who are unique {words}."))
    frame = report.columns.combinations.head(_SHOWN)
    rows = [
        [name, share(distinction), share(separation), few(unique)]
        for name, distinction, separation, unique in frame.select(
            "columns", "distinction", "separation", "unique"
        ).iter_rows()
    ]
    blocks.append(Table(["what tells released rows apart", "distinction", "separation", "unique rows"], rows))
    if report.disclosure:
        rows = [
            [
                column,
                share(told.confidence),
                share(told.average_confidence),
                plain(told.distinct_l),
                plain(told.t_equal),
            ]
            for column, told in report.disclosure.items()
        ]
        blocks.append(Table(["sensitive column", "most certain", "on average", "distinct l", "t (equal)"], rows))
    if report.warnings:
        blocks.append(Items([warning.message for warning in report.warnings]))
    return [Section("Risk in full", blocks)]


def attack_sections(report: AttackReport) -> list[Section]:
    """Return how attacks on the release went."""
    rows = [
        [attack, guessed, share(success), share(naive)]
        for attack, guessed, success, naive in report.to_frame().iter_rows()
    ]
    blocks: list[Block] = [
        Text("What somebody with the original quasi-identifiers guesses, and how often the naive guess is right."),
        Table(["attack", "what is guessed", "right", "naive guess"], rows, words=2),
    ]
    return [Section("Attacks", [*blocks, *([Items(report.notes)] if report.notes else [])])]


def utility_sections(report: UtilityReport) -> list[Section]:
    """Return what the release is still good for."""
    blocks: list[Block] = [
        Table(
            ["cost", "total", "share of leaving everybody out"],
            [[text, plain(total), share(part)] for text, total, part in report.costs.iter_rows()],
        ),
        Table(
            ["column", "values before", "after", "LM", "NCP", "total variation", "Jensen-Shannon", "earth mover's"],
            [
                [name, f"{had:,}", f"{has:,}", *map(_number, figures)]
                for name, had, has, *figures in report.attributes.iter_rows()
            ],
        ),
    ]
    if report.association_difference is not None:
        largest = report.associations.sort(pl.col("difference").abs(), descending=True).head(_SHOWN)
        rows = [
            [f"{first}, {second}", measure, _number(original), _number(released)]
            for first, second, measure, original, released, _ in largest.iter_rows()
        ]
        blocks.append(Table(["columns that go together", "measure", "original", "released"], rows, words=2))
    facts = []
    if report.association_difference is not None:
        facts.append(("associations", f"{_number(report.association_difference)} apart in the mean"))
    if report.queries is not None:
        asked = report.queries
        errors = f"off by {share(asked.median)} in the median and {share(asked.mean)} in the mean"
        facts.append(("queries", f"{asked.frame.height:,} random {asked.aggregate} queries are {errors}"))
    if facts:
        blocks.append(Facts(facts))
    if report.classifiers is not None:
        rows = [
            [model, _share(a), _number(b), _share(c), _number(d), _share(e)]
            for model, a, b, c, d, e in report.classifiers.iter_rows()
        ]
        head = ["classifier", "accuracy", "AUC", "from the original", "AUC", "always the majority"]
        blocks.append(Table(head, rows))
    return [Section("Utility before and after", blocks)]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _share(value: float | None) -> str:
    return "–" if value is None else share(value)
