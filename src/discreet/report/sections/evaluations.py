"""The sections on risk, utility, attacks and neighbouring promises.

Figures that compare the release with the whole original table would disclose something about people who were left out.
So reports only contain evaluations that compare it with the people in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.errors import DiscreetError
from discreet.evaluate import AttackReport, AttackResult, RiskReport, UtilityReport
from discreet.report.charts.evaluations import before_after_chart, grouped_bar_chart, neighbour_chart, share_chart
from discreet.report.numbers import number_text, percent
from discreet.report.sections.blocks import Block, BulletList, DataTable, Facts, Figure, Reportable, Section, Text
from discreet.report.small_counts import LeftOut, few

if TYPE_CHECKING:
    from discreet.pipeline.neighbours import Neighbour
    from discreet.pipeline.release import Release

__all__ = ["Measured", "evaluation_sections", "measure_release", "neighbour_section", "sections_of"]

Measured = Section | Reportable | RiskReport | UtilityReport | AttackReport
_WITHHELD = (
    "This was measured against the whole original table and would disclose something about people who were left out; "
    "use only_released=True to have it here."
)
_MOST_CLASSIFIED = 60_000
"""Most rows of a table for whose report classifiers are trained."""
_MOST_ATTACKED = 50_000
"""Most rows of a table for whose report attacks are run."""
_SHOWN = 10


def sections_of(item: Measured) -> Sequence[Section]:
    """Return an evaluation as sections."""
    if isinstance(item, Section):
        return [item]
    if isinstance(item, RiskReport):
        return [_risk_section(item)]
    if isinstance(item, UtilityReport):
        return [_utility_section(item)]
    return [_attack_section(item)] if isinstance(item, AttackReport) else item.sections()


def evaluation_sections(release: Release, given: Sequence[Measured], *, evaluate: bool) -> list[Section]:
    """Return the sections on the evaluations that were ``given``; with ``evaluate`` those on others come first.

    Those are the neighbours of a release, and its risk, utility and attacks unless they are given.
    """
    items = _own_evaluations(release, given) if evaluate else []
    for item in given:
        if _is_publishable(release, item):
            items.append(item)
        elif not (
            evaluate and isinstance(item, RiskReport | UtilityReport | AttackReport) and release.original is not None
        ):
            items.append(Section(type(item).__name__.replace("Report", ""), [Text(_WITHHELD)]))
    return [section for item in items for section in sections_of(item)]


def _own_evaluations(release: Release, given: Sequence[Measured]) -> list[Measured]:
    found: list[Measured] = []
    if release.neighbours and not LeftOut.of(release).total:
        found.append(neighbour_section(release.neighbours, release.least))
    if release.original is None or not release.audit.rows:
        return found
    for kind in (RiskReport, UtilityReport, AttackReport):
        if kind.__name__ in release.measured and not any(
            isinstance(item, kind) and _is_publishable(release, item) for item in given
        ):
            found.append(release.measured[kind.__name__])
    return found


def _is_publishable(release: Release, item: Measured) -> bool:
    """Whether an evaluation compares the release with the people in it only."""
    rows = getattr(item, "original_rows", None)
    return rows is None or rows == release.audit.rows


def measure_release(release: Release) -> dict[str, Measured]:
    """Measure risk and utility and run attacks for the people in the release; return each by the name of its report.

    What cannot be measured becomes a section that says why: the release itself is written and audited by now.
    """
    classifiers = release.job.get("class_attribute") and release.n <= _MOST_CLASSIFIED and find_spec("sklearn")
    models = ["tree"] if classifiers else []
    measures: dict[str, Callable[[], Measured]] = {
        "RiskReport": lambda: release.risk(only_released=True),
        "UtilityReport": lambda: release.utility(only_released=True, models=models),
        "AttackReport": lambda: release.attacks(only_released=True),
    }
    if release.n > _MOST_ATTACKED:
        del measures["AttackReport"]
    found: dict[str, Measured] = {}
    for name, measure in measures.items():
        try:
            found[name] = measure()
        except DiscreetError as error:
            title = f"{name.removesuffix('Report')} against the original"
            found[name] = Section(title, [Text(f"This was not measured: {error.message}")])
    return found


def neighbour_section(neighbours: Sequence[Neighbour], least: int) -> Section:
    """Return what a little more or less privacy would have cost."""
    return Section("A little more, a little less", list(_neighbour_blocks(neighbours, least)))


def _neighbour_blocks(neighbours: Sequence[Neighbour], least: int) -> Iterator[Block]:
    chosen = next(neighbour for neighbour in neighbours if neighbour.chosen)
    letter = "k" if chosen.promise.partition("(")[0] == "k" else "l"
    yield Text(
        f"The best releases for other values of {letter}, with everything else unchanged: the neighbours of this "
        "release on the front of privacy against loss."
    )
    rows = [_neighbour_row(neighbour, chosen, letter, least) for neighbour in neighbours]
    yield DataTable(["promise", "loss", "compared", "left out", "classes", "proof"], rows)
    sentences = list(_steps_up(neighbours, chosen, letter))
    if sentences:
        yield BulletList(sentences)
    caption = "The loss of the best release for each promise; the ring marks this release."
    yield Figure(neighbour_chart(neighbours, letter), caption)


def _neighbour_row(neighbour: Neighbour, chosen: Neighbour, letter: str, least: int) -> list[str]:
    promise = f"{letter} = {neighbour.value:,}" + (" (chosen)" if neighbour.chosen else "")
    if not np.isfinite(neighbour.cost):
        return [promise, "–", "–", "–", "–", "not possible"]
    rise = f"{100 * (neighbour.cost / chosen.cost - 1):+.0f} %" if chosen.cost else "–"
    return [
        promise,
        percent(neighbour.normalized_cost),
        "" if neighbour.chosen else rise,
        few(neighbour.suppressed, least),
        few(neighbour.classes, least),
        "proven" if neighbour.proven else "stopped early",
    ]


def _steps_up(neighbours: Sequence[Neighbour], chosen: Neighbour, letter: str) -> Iterator[str]:
    """Yield which higher promise is free, what the next one costs, and the first that is impossible."""
    above = [neighbour for neighbour in neighbours if neighbour.value > chosen.value]
    free = [neighbour for neighbour in above if neighbour.cost <= chosen.cost * (1 + 1e-9)]
    if free:
        yield f"{letter} = {free[-1].value:,} would not have cost more."
    dearer = next((each for each in above if np.isfinite(each.cost) and each not in free), None)
    if dearer is not None and chosen.cost:
        rise = number_text(round(100 * (dearer.cost / chosen.cost - 1), 1))
        yield f"Going up to {letter} = {dearer.value:,} would cost {rise} % more."
    impossible = next((each for each in above if not np.isfinite(each.cost)), None)
    if impossible is not None:
        yield f"{letter} = {impossible.value:,} is not possible without leaving more people out."


def _risk_section(report: RiskReport) -> Section:
    attackers = {
        "prosecutor, before": report.before,
        "prosecutor, after": report.prosecutor,
        "journalist, after": report.journalist,
    }
    head = ["attacker", "highest", "average", "lowest", f"people above {percent(report.threshold)}"]
    rows = [
        [name, percent(risk.highest), percent(risk.average), percent(risk.lowest), few(risk.at_risk)]
        for name, risk in attackers.items()
        if risk is not None
    ]
    knowledge = "The prosecutor knows that a person is in the table" + (
        "." if report.journalist is None else "; the journalist only knows that the person is in the population."
    )
    found = f"{knowledge} A marketer, who wants to find as many people as possible, finds {percent(report.marketer)}."
    blocks: list[Block] = [DataTable(head, rows), Text(found)]
    if report.population is not None:
        people, estimated = report.population, report.population.estimated.dankar
        uniques = "cannot be estimated" if estimated is None else f"is estimated at {number_text(round(estimated))}"
        blocks.append(Text(f"The number of unique people in the population of {people.size:,} {uniques}."))
    if report.disclosure:
        rows = [
            [
                column,
                percent(measured.confidence),
                percent(measured.average_confidence),
                number_text(measured.distinct_l),
                number_text(measured.t_equal),
            ]
            for column, measured in report.disclosure.items()
        ]
        words = "How certain a sensitive value is once the class of a person is known:"
        head = ["sensitive column", "at most", "on average", "distinct l", "t"]
        blocks += [Text(words), DataTable(head, rows), *_hidden_values(report)]
    frame = report.columns.combinations.select("columns", "separation").head(_SHOWN)
    label = "The share of all pairs of released rows that a column, or a combination of columns, distinguishes"
    blocks.append(Figure(share_chart(frame.rows(), label), f"{label}."))
    if report.warnings:
        blocks.append(BulletList([warning.message for warning in report.warnings]))
    return Section("Who could be found, and what would be learned about them", blocks)


def _hidden_values(report: RiskReport) -> list[Block]:
    """Return what the hidden values of each sensitive column can be, if there are any."""
    found = {column: each.hidden for column, each in report.disclosure.items() if each.hidden is not None}
    rows = [
        [column, few(each.values), few(each.known), f"{each.fewest:,}", percent(each.confidence), percent(each.guessed)]
        for column, each in found.items()
    ]
    words = "What a hidden value can be for somebody who knows all values of the column and sees those of its class:"
    head = ["sensitive column", "hidden", "only one value", "fewest values", "guessed at most", "on average"]
    return [Text(words), DataTable(head, rows)] if rows else []


def _utility_section(report: UtilityReport) -> Section:
    facts = []
    if report.queries is not None:
        queries = report.queries
        words = f"half of {queries.frame.height:,} random {queries.aggregate} queries are off by less than"
        facts.append(("queries", f"{words} {percent(queries.median)}"))
    if report.association_difference is not None:
        facts.append(("associations", f"off by {_number(report.association_difference)} on average"))
    unclear = report.unclear_notes()
    losses = report.attributes.select("column", "loss").drop_nulls()
    kept = [(name, 1 - lost) for name, lost in losses.iter_rows()]
    label = "How much of its detail each column kept on average"
    blocks: list[Block] = [
        Text("The loss by every measure, relative to leaving everybody out; 0 is the original table."),
        DataTable(
            ["cost", "share", "total"],
            [[text, percent(share), number_text(total)] for text, total, share in report.costs.iter_rows()],
        ),
        *([BulletList(unclear)] if unclear else []),
        *([Facts(facts)] if facts else []),
        Figure(share_chart(kept, label), f"{label}."),
        *_classifiers(report),
        *_distributions(report),
        *_associations(report),
    ]
    return Section("Utility before and after", blocks)


def _classifiers(report: UtilityReport) -> Iterator[Block]:
    if report.classifiers is None or not report.classifiers.height:
        return
    rows, bars = [], []
    for model, accuracy, auc, first, first_auc, majority in report.classifiers.iter_rows():
        rows.append([model, f"{_share(accuracy)}; {_number(auc)}", f"{_share(first)}; {_number(first_auc)}"])
        named = [("from the release", accuracy), ("from the original", first), ("always the majority", majority)]
        bars.append((f"{model}, accuracy", [(name, share) for name, share in named if share is not None]))
    yield DataTable(["accuracy; AUC", "trained on the release", "trained on the original"], rows)
    label = "How often classifiers are right about original rows, trained on the release and on the original"
    yield Figure(grouped_bar_chart(bars, label), f"{label}.")


def _associations(report: UtilityReport) -> Iterator[Block]:
    """Yield the strongest associations, before and after."""
    if report.association_difference is None:
        return
    ordered = report.associations.sort(pl.col("original").abs(), descending=True, nulls_last=True)
    strongest = ordered.unique(["first", "second"], keep="first", maintain_order=True).head(_SHOWN)
    pairs = [
        (f"{first}, {second}", original, released)
        for first, second, _, original, released, _ in strongest.iter_rows()
        if original is not None and released is not None
    ]
    label = (
        "How strongly columns are associated, from 0 (not at all) to 1: correlation, correlation ratio or Cramér's V"
    )
    yield Figure(before_after_chart(pairs, label), f"{label}; the strongest pairs of columns.")


def _distributions(report: UtilityReport) -> Iterator[Block]:
    yield Text(
        "How much detail each column lost (LM, NCP), and how far its distribution moved if every released value is "
        "spread evenly over what it covers: total variation (TV), Jensen-Shannon divergence (JS) and, for numbers and "
        "dates, the earth mover's distance as a share of their range (EMD). 0 means unchanged."
    )
    columns = ("column", "loss", "certainty", "total_variation", "jensen_shannon", "earth_movers")
    rows = [[name, *map(_number, figures)] for name, *figures in report.attributes.select(columns).iter_rows()]
    yield DataTable(["column", "LM", "NCP", "TV", "JS", "EMD"], rows)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _share(value: float | None) -> str:
    return "–" if value is None else percent(value)


_ATTACKS = (
    "Each attack was run on this release. It is compared with a naive guess and, where that makes sense, with the same "
    "attack on people who are not in the release; only what exceeds both is due to the release. The range is a 95 % "
    "confidence interval."
)


def _attack_section(report: AttackReport) -> Section:
    """Return the results as a table, what was found, and which attacks were not run."""
    found = [report[name] for name in report.results]
    ran = [each for each in found if each.ran]
    blocks: list[Block] = [
        Text(_ATTACKS),
        DataTable(
            ["attack", "what is guessed", "right", "range", "naive guess", "control", "better"],
            [_attack_row(each) for each in ran],
            words=2,
        ),
        Text(_attacks_verdict(report)),
        BulletList([f"{each.attack}: {each.sentence}" for each in found]),
    ]
    return Section("Attacks", [*blocks, *([BulletList(report.notes)] if report.notes else [])])


def _attack_row(result: AttackResult) -> list[str]:
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


def _attacks_verdict(report: AttackReport) -> str:
    if not report.worst:
        return "No attack does better than its naive guess and its control group, beyond chance."
    names = ", ".join(each.attack for each in report.worst)
    return f"Better than the naive guess and the control group, beyond chance: {names}."
