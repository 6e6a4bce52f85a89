"""One page with everything that the studies of the five papers found."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

from reasons import reason

from discreet.report.formats.page import document
from harness.charts import COLOURS, Chart, drawn
from harness.findings import BEYOND
from harness.rows import figure_text

__all__ = ["PAPERS", "Outcome", "Paper", "tally", "written"]

_VERDICTS = {True: "reproduced", False: "not reproduced", None: "not checked"}
_CLASSES = {True: "yes", False: "no", None: "open"}


@dataclass(frozen=True)
class Paper:
    """A paper whose experiments are repeated."""

    title: str
    authors: str
    published: str


PAPERS: Mapping[str, Paper] = {
    "optimal_l_plus_diversity": Paper(
        "On optimal anonymization for l+-diversity", "Junqiang Liu and Ke Wang", "ICDE 2010"
    ),
    "pareto_optimal_k_anonymization": Paper(
        "POkA: identifying Pareto-optimal k-anonymous nodes in a domain hierarchy lattice",
        "Rinku Dewri, Indrajit Ray, Indrakshi Ray and Darrell Whitley",
        "CIKM 2009",
    ),
    "utility_based_local_recoding": Paper(
        "Utility-based anonymization using local recoding",
        "Jian Xu, Wei Wang, Jian Pei, Xiaoyuan Wang, Baile Shi and Ada Wai-Chee Fu",
        "KDD 2006",
    ),
    "user_oriented_anonymization": Paper(
        "A user-oriented anonymization mechanism for public data", "Shinsaku Kiyomoto and Toshiaki Tanaka", "2010"
    ),
    "towards_optimal_k_anonymization": Paper(
        "Towards optimal k-anonymization", "Tiancheng Li and Ninghui Li", "Data & Knowledge Engineering 65, 2008"
    ),
}
"""By the name of the script, in the order they are run: the longest study comes last."""


@dataclass(frozen=True)
class Outcome:
    """How long a study took, by the clock, and the code it ended with."""

    seconds: float
    code: int


def written(folder: Path, outcomes: Mapping[str, Outcome]) -> Path:
    """Write the page of the studies whose results are in a folder; returns its path."""
    found = {name: _read(folder / name / "results.json") for name in PAPERS}
    known = next((record for record in found.values() if record), {})
    quick = "a quick run, of a small part of each study" if known.get("quick") else "a full run"
    subtitle = f"{known.get('date', '')[:10]}, discreet {known.get('discreet', '')}: {quick}."
    parts = [_summary(found, outcomes)]
    for name, record in found.items():
        parts += _section(name, record)
    machine = [f"{known[key]}." for key in ("machine", "load", "python", "with") if key in known]
    page = folder / "index.html"
    page.write_text(document("Five papers, repeated", subtitle, parts, machine, style=_style()), encoding="utf-8")
    return page


def tally(findings: Sequence[Mapping[str, Any]]) -> tuple[Counter[bool | None], Counter[bool | None]]:
    """Count the statements that hold, do not, and were not checked: those of the paper, and those beyond it."""
    own = Counter(each["holds"] for each in findings if each["place"] != BEYOND)
    return own, Counter(each["holds"] for each in findings if each["place"] == BEYOND)


def _read(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def _summary(found: Mapping[str, Mapping[str, Any]], outcomes: Mapping[str, Outcome]) -> str:
    """Return the table of all papers."""
    heads = ("reproduced", "not reproduced", "of the paper's statements", "not checked", BEYOND, "minutes")
    lines, totals = [], Counter[str]()
    for name, record in found.items():
        own, beyond = tally(record.get("findings", []))
        totals += Counter({"yes": own[True], "no": own[False], "open": own[None]})
        totals += Counter({"beyond": beyond[True], "all beyond": beyond.total() - beyond[None]})
        outcome = outcomes.get(name)
        cells = [own[True], own[False], own[True] + own[False], own[None]]
        cells += [f"{beyond[True]} of {beyond.total() - beyond[None]}"]
        cells += ["" if outcome is None else f"{outcome.seconds / 60:.1f}"]
        paper = PAPERS[name]
        link = f'<a href="#{name}">{escape(paper.title)}</a><br><span>{escape(paper.authors)}, {paper.published}</span>'
        note = "" if record and not (outcome and outcome.code) else _failed(outcome)
        lines.append(f"<tr><th>{link}{note}</th>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    minutes = sum(each.seconds for each in outcomes.values()) / 60
    sums = [totals["yes"], totals["no"], totals["yes"] + totals["no"], totals["open"]]
    sums += [f"{totals['beyond']} of {totals['all beyond']}", f"{minutes:.1f}"]
    lines.append(f"<tr class=sum><th>all five</th>{''.join(f'<td>{cell}</td>' for cell in sums)}</tr>")
    head = "".join(f"<th>{name}</th>" for name in heads)
    return (
        "<p>A statement of a paper is reproduced if it was seen here too. One that was not checked lacks its table or "
        "its time; statements beyond the paper are ours, about what was built on it.</p>"
        f'<div class="scroll papers"><table><thead><tr><th>paper</th>{head}</tr></thead><tbody>{"".join(lines)}'
        "</tbody></table></div>"
    )


def _failed(outcome: Outcome | None) -> str:
    why = "has not been run" if outcome is None else "did not end well, or its data is not at hand"
    return f'<br><strong class="no">This study {why}.</strong>'


def _section(name: str, record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the statements, the charts and the figures of a paper."""
    if not record:
        return
    paper, findings = PAPERS[name], record["findings"]
    own, _ = tally(findings)
    yield f'<h2 id="{name}">{escape(paper.title)}</h2>'
    yield (
        f'<p class="by">{escape(paper.authors)}, {paper.published}. {own[True]} of {own[True] + own[False]} statements '
        "are reproduced.</p>"
    )
    yield '<div class="findings">'
    for each in findings:
        kind, verdict = _CLASSES[each["holds"]], _VERDICTS[each["holds"]]
        if each["place"] == BEYOND:
            verdict = {"yes": "holds", "no": "does not hold", "open": "not checked"}[kind]
        why = reason(name, each["claim"]) if each["holds"] is False else ""
        yield (
            f'<div class="finding"><p><span class="badge {kind}">{verdict}</span> <b>{escape(each["place"])}</b>: '
            f'{escape(each["claim"])}</p><p class="hint">{escape(each["seen"])}</p>'
            + (f'<p class="hint"><b>Why:</b> {escape(why)}</p>' if why else "")
            + "</div>"
        )
    yield "</div>"
    if record["charts"]:
        yield '<div class="charts">'
        for each in record["charts"]:
            one = Chart.of(each)
            yield f"<figure><figcaption>{escape(one.title)}</figcaption>{drawn(one)}</figure>"
        yield "</div>"
    yield from _tables(record["rows"])


def _tables(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield one table for each title, folded."""
    for title, group in groupby(rows, key=lambda row: row["table"]):
        members = list(group)
        lines = [row for row in members if row["figures"]]
        names = list(dict.fromkeys(name for row in lines for name in row["figures"]))
        yield f"<details><summary>{escape(title)}</summary>"
        if lines:
            head = "".join(f"<th>{escape(name)}</th>" for name in names)
            yield f'<div class="scroll"><table><thead><tr><th></th>{head}</tr></thead><tbody>'
            for row in lines:
                cells = "".join(f"<td>{escape(figure_text(row['figures'].get(name)))}</td>" for name in names)
                yield f"<tr><th>{escape(row['case'])}</th>{cells}</tr>"
            yield "</tbody></table></div>"
        for row in members:
            if row["note"]:
                lead = f"{row['case']}: " if row["case"] else ""
                yield f'<p class="hint">{escape(lead + row["note"])}</p>'
        yield "</details>"


def _style() -> str:
    """Return the style of the page, with the colours of curves in front of it."""
    light, dark = (
        " ".join(f"--c{number}: {colour};" for number, colour in enumerate(COLOURS[mode])) for mode in COLOURS
    )
    colours = f":root {{ {light} }} @media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
    return colours + Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
