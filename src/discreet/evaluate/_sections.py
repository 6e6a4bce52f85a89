"""Evaluations as sections of a report of a release: ``release.report("report.html", [risk, utility])``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from discreet.evaluate._utility_report import unclear_notes
from discreet.release._front_scale import plain, share
from discreet.release._measure_charts import kept_chart, pair_chart, share_chart
from discreet.release._sections import Block, Facts, Figure, Items, Section, Table, Text
from discreet.release._small import few

if TYPE_CHECKING:
    from discreet.evaluate._attacks import AttackReport
    from discreet.evaluate._risk import RiskReport
    from discreet.evaluate._utility_report import UtilityReport

__all__ = ["attack_sections", "risk_sections", "utility_sections"]

_SHOWN = 10


def risk_sections(report: RiskReport) -> list[Section]:
    """Return what is known about the risk of people in the release."""
    attackers = {
        "prosecutor, before": report.before,
        "prosecutor, after": report.prosecutor,
        "journalist, after": report.journalist,
    }
    head = ["attacker", "highest", "average", "lowest", f"above {share(report.threshold)}"]
    rows = [
        [name, share(risk.highest), share(risk.average), share(risk.lowest), few(risk.at_risk)]
        for name, risk in attackers.items()
        if risk is not None
    ]
    words = "The prosecutor knows that a person is in the table" + (
        "." if report.journalist is None else "; the journalist knows just that the person is in the population."
    )
    found = f"{words} A marketer, who wants to find as many as possible, finds {share(report.marketer)} of all people."
    blocks: list[Block] = [Table(head, rows), Text(found)]
    if report.population is not None:
        people, estimated = report.population, report.population.estimated.dankar
        words = "cannot be estimated" if estimated is None else f"are estimated to be {plain(round(estimated))}"
        blocks.append(Text(f"Of a population of {people.size:,}, those who are unique {words}."))
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
        words = "How sure somebody can be of a sensitive value who has found the class of a person:"
        head = ["sensitive column", "at most", "on average", "distinct l", "t"]
        blocks += [Text(words), Table(head, rows)]
    frame = report.columns.combinations.select("columns", "separation").head(_SHOWN)
    label = "The share of all pairs of released people that a column, or several together, tell apart"
    blocks.append(Figure(kept_chart(frame.rows(), label), f"What tells released people apart. {label}."))
    if report.warnings:
        blocks.append(Items([warning.message for warning in report.warnings]))
    return [Section("Who could be found, and what they would lose", blocks)]


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
    facts = []
    if report.queries is not None:
        asked = report.queries
        words = f"half of {asked.frame.height:,} random {asked.aggregate} queries are off by less than"
        facts.append(("queries", f"{words} {share(asked.median)}"))
    if report.association_difference is not None:
        facts.append(("associations", f"{_number(report.association_difference)} apart in the mean"))
    unclear = unclear_notes(report)
    losses = report.attributes.select("column", "loss").drop_nulls()
    kept = [(name, 1 - lost) for name, lost in losses.iter_rows()]
    label = "How much of its detail each column kept on average"
    blocks: list[Block] = [
        Text("What was lost by every measure, as a share of what leaving everybody out would lose; 0 is the original."),
        Table(
            ["cost", "share", "total"],
            [[text, share(part), plain(total)] for text, total, part in report.costs.iter_rows()],
        ),
        *([Items(unclear)] if unclear else []),
        *([Facts(facts)] if facts else []),
        Figure(kept_chart(kept, label), f"{label}."),
    ]
    return [Section("Utility before and after", [*blocks, *_learnt(report), *_moved(report), *_together(report)])]


def _learnt(report: UtilityReport) -> Iterator[Block]:
    """Yield how well classifiers learn from the release."""
    if report.classifiers is None or not report.classifiers.height:
        return
    rows, bars = [], []
    for model, accuracy, auc, first, first_auc, majority in report.classifiers.iter_rows():
        rows.append([model, f"{_share(accuracy)}; {_number(auc)}", f"{_share(first)}; {_number(first_auc)}"])
        told = [("from the release", accuracy), ("from the original", first), ("always the majority", majority)]
        bars.append((f"{model}, accuracy", [(name, part) for name, part in told if part is not None]))
    yield Table(["accuracy; AUC of a", "from the release", "from the original"], rows)
    label = "How often classifiers are right about original people, learnt from the release and from the original"
    yield Figure(share_chart(bars, label), f"{label}.")


def _together(report: UtilityReport) -> Iterator[Block]:
    """Yield how strongly columns go together, before and after: those that do most."""
    if report.association_difference is None:
        return
    strongest = report.associations.sort(pl.col("original").abs(), descending=True, nulls_last=True).head(_SHOWN)
    pairs = [
        (f"{first}, {second}", original, released)
        for first, second, _, original, released, _ in strongest.iter_rows()
        if original is not None and released is not None
    ]
    label = "How strongly columns go together, from 0 (not at all) to 1: correlation, correlation ratio or Cramér's V"
    yield Figure(pair_chart(pairs, label), f"{label}; the strongest pairs of columns.")


def _moved(report: UtilityReport) -> Iterator[Block]:
    """Yield what each column lost, and how far its distribution moved."""
    yield Text(
        "What each column lost of its detail (LM, NCP), and how far its distribution moved if every released value is "
        "spread evenly over what it covers: total variation (TV), Jensen-Shannon divergence (JS) and, for numbers and "
        "dates, the earth mover's distance as a share of their range (EMD). 0 is as before."
    )
    columns = ("column", "loss", "certainty", "total_variation", "jensen_shannon", "earth_movers")
    rows = [[name, *map(_number, figures)] for name, *figures in report.attributes.select(columns).iter_rows()]
    yield Table(["column", "LM", "NCP", "TV", "JS", "EMD"], rows)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _share(value: float | None) -> str:
    return "–" if value is None else share(value)
