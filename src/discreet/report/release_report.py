"""The report of a release: text for people, plain data for programs, and documents to hand over.

Unless the owner asks for exact figures, nothing is said about the people who were left out except how many they are, if
at least five.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.engines import UNKNOWN
from discreet.errors import UsageError
from discreet.problem import PRIVACY
from discreet.report.formats.page import document, own_file
from discreet.report.formats.pdf import find_browser, print_page
from discreet.report.job_text import job_for_reports, plain_data, scheme_names
from discreet.report.notebook import audit_table
from discreet.report.notes import Caution, handed_over
from discreet.report.numbers import count_text, number_text, rounded_percent
from discreet.report.schemes_tried import HEAD, schemes_tried, table_rows
from discreet.report.small_counts import LeftOut, withheld_promises
from discreet.runtime.atomic_write import check_target, replacing
from discreet.runtime.notebook_html import card, figures, findings, note_list, table
from discreet.runtime.plurals import amount, either, unit_amount, units

if TYPE_CHECKING:
    from discreet.pipeline.release import Release
    from discreet.report.columns import ReleasedColumn
    from discreet.report.sections.blocks import Section
    from discreet.report.sections.evaluations import Measured

__all__ = ["SUFFIXES", "check_report", "release_html", "summary", "to_dict", "write_report"]

_MOST_ROWS = 250_000
"""Larger tables are not read again for a report unless ``evaluate`` is True."""


def to_dict(release: Release, *, exact: bool = False) -> dict[str, Any]:
    """Return everything except the table itself as plain data.

    Unless ``exact``, figures that would disclose something about people who were left out are None. If anybody was left
    out, the course of the search stays with the owner too, as it depends on them.
    """
    left_out = LeftOut.of(release)
    notes = release.notes if exact else handed_over(release.notes)
    data = {
        "verdict": release.verdict.to_dict(),
        **_costs(release, shown=exact or not (left_out.hides_cost or release.drawn)),
        **left_out.to_dict(),
        "suppressed_values": release.suppressed_values,
        "classes": release.classes,
        "scheme": plain_data(release.job["scheme"]),
        "levels": dict(release.levels) if exact or not left_out.total else _publishable_levels(release),
        "released_values": release.released_values,
        "audit": release.audit.to_dict(hidden=() if exact else withheld_promises(release)),
        "notes": [*map(str, notes), *_withheld(left_out, exact)],
        "warnings": [str(note) for note in notes if isinstance(note, Caution)],
        "kept": [
            {
                "name": column.name,
                "unique": rounded_percent(column.unique, release.audit.rows),
                "confirmed": column.confirmed,
            }
            for column in release.kept
        ],
        "seconds": release.stats["seconds"],
        "stats": {},
        "trace": [],
        "versions": dict(release.versions),
        "job": plain_data(job_for_reports(release.job)),
    }
    if exact:
        data |= {
            "rows": release.n,
            "left_out": release.suppressed + release.dropped_missing,
            "suppressed": release.suppressed,
            "dropped_missing": release.dropped_missing,
            **({} if release.people is None else _exact_people(release)),
        }
    if exact or not (left_out.total or release.drawn):
        data["stats"] = {key: plain_data(value) for key, value in release.stats.items() if key != "seconds"}
        data["trace"] = [{name: plain_data(value) for name, value in vars(moment).items()} for moment in release.trace]
    return data


def _exact_people(release: Release) -> dict[str, int | None]:
    return {
        "people": release.people,
        "suppressed_people": release.suppressed_people,
        "people_losing_rows": release.people_losing_rows,
        "people_missing_values": release.people_missing_values,
    }


def _withheld(left_out: LeftOut, exact: bool) -> list[str]:
    """Say why figures are missing, if any are."""
    return [] if exact or left_out.why_withheld is None else [left_out.why_withheld]


def _publishable_levels(release: Release) -> dict[str, int | None]:
    """Return the levels; None for automatic hierarchies, whose levels depend on people who were left out."""
    return {column.name: column.level for column in release.columns} if release.levels else {}


def _costs(release: Release, *, shown: bool) -> dict[str, Any]:
    proven = release.status == "optimal"
    return {
        "status": release.status,
        "cost": release.cost if shown else None,
        "normalized_cost": release.normalized_cost if shown else None,
        "lower_bound": release.lower_bound if shown else None,
        "gap": release.gap if shown or proven else None,
    }


def summary(release: Release, *, exact: bool = False, warnings: bool = True) -> str:
    """Return the main figures as aligned text; ``exact`` includes what depends on people who were left out."""
    left_out = LeftOut.of(release)
    hidden = frozenset() if exact else withheld_promises(release)
    facts = [
        *_verdict(release),
        *_people(release, left_out, exact),
        ("rows", (_exact_rows(release) if exact else _rows(left_out)) + _drawn(release)),
        (
            "classes",
            f"{release.classes:,}, the smallest of {unit_amount(release.audit.smallest_class, release.audit.unit)}",
        ),
        ("cost", _cost(release, shown=exact or not (left_out.hides_cost or release.drawn))),
        *_score(release, shown=exact or not left_out.total),
        ("scheme", _scheme(release)),
        *_schemes(release, exact),
        _recoded(release),
        *(
            (
                check.model,
                f"{'kept' if check.passed else 'BROKEN'}"
                + ("" if check.model in hidden else f", reached {number_text(check.reached)}"),
            )
            for check in release.audit.checks
        ),
        ("audit", "passed" if release.audit.passed else "FAILED"),
        *(_search(release, verbose=exact) if exact or not left_out.total else []),
        ("seconds", ", ".join(f"{stage} {spent:.2f}" for stage, spent in release.stats["seconds"].items())),
    ]
    if release.suppressed_values:
        share = release.suppressed_values / max(left_out.released, 1)
        unknown = f"{amount(release.suppressed_values, 'sensitive value')} made unknown ({share:.2%})"
        facts.insert(1, ("values", f"{unknown}, written {UNKNOWN}"))
    width = max(len(name) for name, _ in facts)
    lines = [f"{name:<{width}}  {text}" for name, text in facts]
    shown = release.notes if exact else handed_over(release.notes)
    cautions = [f"warning: {note}" for note in shown if warnings and isinstance(note, Caution)]
    notes = [note for note in shown if not isinstance(note, Caution)]
    notes += _withheld(left_out, exact)
    return "\n".join([*lines, *cautions, *(f"note: {note}" for note in notes)])


def _verdict(release: Release) -> list[tuple[str, str]]:
    """Return the verdict, a line for each finding that is no warning printed below."""
    serious = [
        each for each in release.verdict.findings if each.level != "ok" and each.sentence not in release.warnings
    ]
    lines = [f"{each.level}: {each.sentence}" for each in serious]
    if not lines:
        lines = [release.verdict.level if release.verdict.level == "ok" else "caution, see the warnings"]
    return [("verdict" if number == 0 else "", line) for number, line in enumerate(lines)]


def _drawn(release: Release) -> str:
    """Return that only drawn rows are counted, if a promise rests on sampling."""
    for model in release.job["privacy"]:
        with suppress(UsageError):  # values of the data that a pickled release only counts
            if PRIVACY.make(model).sampling < 1:
                return "; counted are the rows that were drawn at random"
    return ""


def _rows(left_out: LeftOut) -> str:
    return f"{left_out.released_words}, {left_out.words}" if left_out.counted is None else left_out.row_words


def _people(release: Release, left_out: LeftOut, exact: bool) -> list[tuple[str, str]]:
    """Return how many people are released, where promises count people."""
    if left_out.counted is None:
        return []
    name = units(left_out.unit)
    if not exact:
        return [(name, f"{left_out.released_words}, {left_out.words}")]
    gone, losing = release.suppressed_people or 0, release.people_losing_rows or 0
    share = gone / max(release.people or 0, 1)
    partly = f", {losing - gone:,} lose some of their rows" if losing > gone else ""
    return [(name, f"{left_out.released:,} of {release.people:,} released, {gone:,} suppressed ({share:.2%}){partly}")]


def _exact_rows(release: Release) -> str:
    missing = f", {release.dropped_missing:,} left out for missing values" if release.dropped_missing else ""
    share = release.suppressed / release.n if release.n else 0.0
    return (
        f"{release.n - release.suppressed:,} of {release.n + release.dropped_missing:,} released, "
        f"{release.suppressed:,} suppressed ({share:.2%}){missing}"
    )


def _cost(release: Release, *, shown: bool) -> str:
    if not shown:
        proof = _proof(release) if release.status == "optimal" else "not proven optimal"
        return f"{proof}; not shown, as {'few were left out' if not release.drawn else 'the release was drawn'}"
    relative = f"{release.normalized_cost:.2%} of the {'score' if release.score is not None else 'cost'}"
    relative += " is lost" if release.score is not None else " of suppressing everything"
    return f"{number_text(release.cost)} ({relative}), {_proof(release)}"


def _proof(release: Release) -> str:
    """Return what is proven, and over which recodings."""
    recodings = f"{scheme_names(release.job)} recodings"
    if release.status == "optimal":
        return f"proven optimal among {recodings}"
    return f"gap at most {release.gap:.2%} among {recodings}"


def _score(release: Release, *, shown: bool) -> list[tuple[str, str]]:
    """Return the score, if there is one; with ``shown`` also how it compares with the original and the best."""
    if release.score is None:
        return []
    if not shown:
        return [("score", number_text(release.score))]
    best = release.stats.get("score_at_most")
    text = f"{number_text(release.score)} of {number_text(release.stats['score_before'])} in the original table"
    if "global_score" in release.stats:
        text += f"; {number_text(release.stats['global_score'])} before the classes were refined one by one"
    elif release.status == "optimal":
        text += "; no release that keeps the promises has a higher one"
    elif best is not None:
        text += f"; no release that keeps the promises has more than {number_text(best)}"
    return [("score", text)]


def _scheme(release: Release) -> str:
    scheme = release.job["scheme"]
    if not isinstance(scheme, dict):
        return str(scheme)
    return ", ".join(f"{column} {choice}" for column, choice in scheme.items())


def _schemes(release: Release, exact: bool) -> list[tuple[str, str]]:
    """Return a line for each scheme that was tried, as a table below the scheme that was taken."""
    tried = schemes_tried(release, exact=exact)
    if not tried:
        return []
    rows = [list(HEAD[1:]), *(row[1:] for row in table_rows(tried))]
    names = ["", *(f"{each.name}{' ←' if each.taken else ''}" for each in tried)]
    wide = [max(len(row[i]) for row in rows) for i in range(3)]
    name = max(map(len, names))
    lines = []
    for title, row in zip(names, rows, strict=True):
        figures = "  ".join(f"{cell:>{width}}" for cell, width in zip(row, wide, strict=False))
        lines.append(("", f"{title:<{name}}  {figures}  {row[3]}".rstrip()))
    return lines


def _recoded(release: Release) -> tuple[str, str]:
    """Return how coarse each attribute became: its level, or the number of its released values."""
    if release.levels and not LeftOut.of(release).total:
        return "levels", ", ".join(f"{column} {level}" for column, level in release.levels.items())
    if release.levels and all(column.level is not None for column in release.columns):
        return "levels", ", ".join(f"{column.name} {column.level}" for column in release.columns)
    counts = []
    for column in release.columns:
        of = "" if column.of is None or column.name not in release.block_ids else f" of {column.of:,}"
        counts.append(f"{column.name} {column.values:,}{of}")
    return "released", f"different values: {', '.join(counts)}"


def _search(release: Release, *, verbose: bool) -> list[tuple[str, str]]:
    """Return what the solver recorded about its search."""
    stats, facts = release.stats, []
    if "examined" in stats:
        examined, space = int(stats["examined"]), stats.get("space")
        text = f"{examined:,}"
        if space:
            share = 100 * (examined / space)
            text += f" of {count_text(space)} {either(space, 'recoding', 'recodings')}"
            text += f" ({share:.{2 if share < 99.5 else 3}g} %)"
        formal = stats.get("formal_space", space)
        if verbose and formal and formal != space:
            text += f"; {count_text(formal)} as the literature counts"
        facts.append(("examined", text))
    pruned = [f"{rule} {count:,}" for rule, count in stats.get("pruned", {}).items() if count]
    if verbose and pruned:
        facts.append(("pruned", ", ".join(pruned)))
    times = (("best", stats.get("seconds_to_best")), ("proof", stats.get("seconds_to_proof")))
    reached = [f"{what} after {seconds:.2f} s" for what, seconds in times if seconds is not None]
    if reached:
        facts.append(("search", ", ".join(reached)))
    return facts


def release_html(release: Release) -> str:
    """Return the verdict, the key figures, the audit and the notes as notebooks show them."""
    from discreet.report.sections.release import report_tiles

    verdict = release.verdict
    notes = handed_over(release.notes)  # notebooks are passed around
    said = {finding.sentence for finding in verdict.findings}
    tiles = [(tile.name, tile.figure, tile.hint) for tile in report_tiles(release).tiles]
    columns = [(column.name, f"{column.values:,}", _values_before(column)) for column in release.columns]
    return card(
        verdict.headline,
        findings((finding.level, finding.sentence) for finding in verdict.findings),
        _schemes_html(release),
        figures(tiles),
        audit_table(release.audit, withheld_promises(release)),
        table("Different values of the quasi-identifiers", ("column", "released", "before"), columns),
        note_list([*(note for note in notes if note not in said), *_for_the_owner(len(release.notes) - len(notes))]),
        level=verdict.level,
    )


def _for_the_owner(number: int) -> list[str]:
    return [f"{amount(number, 'note')} for you alone: release.notes has all of them."] if number else []


def _values_before(column: ReleasedColumn) -> str:
    return "not shown" if column.of is None else f"{column.of:,}"


def _schemes_html(release: Release) -> str:
    """Return the schemes that were tried as a table; empty if none were."""
    tried = schemes_tried(release)
    return table("Schemes that were tried, with the same promises", HEAD, table_rows(tried)) if tried else ""


def write_report(release: Release, path: Path, more: Sequence[Measured] = (), evaluate: bool | None = None) -> Path:
    """Write a report in the format that its name says; ``more`` are shown by formats with sections.

    ``evaluate`` says whether to measure risk and utility, for which the original table is read again; by default if
    that is cheap.
    """
    target = check_report(path)
    suffix = path.suffix.lower()
    items = list(_checked(more))
    sections: list[Section] = []
    if suffix in _WITH_SECTIONS:
        from discreet.report.sections.evaluations import evaluation_sections

        cheap = release.original is not None and release.original.at_hand and release.n <= _MOST_ROWS
        sections = evaluation_sections(release, items, evaluate=cheap if evaluate is None else evaluate)
    with replacing(target) as unfinished:
        if suffix == ".pdf":
            print_page(_html(release, sections), unfinished)
        else:
            unfinished.write_text(_WRITERS[suffix](release, sections), encoding="utf-8")
    return target


def _checked(more: Any) -> Iterator[Measured]:
    """Yield the extra sections and evaluations; raise UsageError for anything else."""
    from discreet.report.sections.blocks import Section

    for item in more if isinstance(more, Iterable) and not isinstance(more, str) else [more]:
        if not isinstance(item, Section) and not hasattr(item, "sections") and not _is_evaluation(item):
            raise UsageError(
                "A report takes a list of sections and evaluations, such as release.attacks(), not "
                f"{type(item).__name__}.",
                topic="parameter",
            )
        yield item


def _is_evaluation(item: Any) -> bool:
    from discreet.evaluate import AttackReport, RiskReport, UtilityReport

    return isinstance(item, RiskReport | UtilityReport | AttackReport)


def check_report(path: Path) -> Path:
    """Raise UsageError if a report could not be written there; return the target."""
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"A report cannot be written as '{path.name}'; end the name in {', '.join(SUFFIXES)}.")
    if path.suffix.lower() == ".pdf":
        find_browser()
    return check_target(path)


def _json(release: Release, sections: Sequence[Section]) -> str:
    return json.dumps(to_dict(release), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _text(release: Release, sections: Sequence[Section]) -> str:
    return f"{summary(release)}\n"


def _markdown(release: Release, sections: Sequence[Section]) -> str:
    from discreet.report.formats.markdown import to_markdown
    from discreet.report.sections.release import FOOTER, report_sections, report_title

    return to_markdown(*report_title(release), report_sections(release, sections), [FOOTER])


def _html(release: Release, sections: Sequence[Section]) -> str:
    from discreet.report.formats.html import to_html
    from discreet.report.sections.release import FOOTER, report_sections, report_title

    title, subtitle = report_title(release)
    parts = to_html(report_sections(release, sections))
    return document(title, subtitle, parts, [FOOTER], style=own_file("formats/report_page.css"))


_WITH_SECTIONS = (".html", ".pdf", ".md")
_WRITERS = {".json": _json, ".txt": _text, ".md": _markdown, ".html": _html}
SUFFIXES = (*_WRITERS, ".pdf")
"""File name suffixes of reports."""
