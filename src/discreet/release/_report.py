"""What is known about a release, for people (text, Markdown) and programs (JSON).

No value of the data, and nothing about people who were left out but how many they are, if at least five.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet._replacing import check_target, replacing
from discreet._words import amount, either
from discreet.engines import UNKNOWN
from discreet.errors import UsageError
from discreet.release._audit import number_text
from discreet.release._browser import find_browser, print_page
from discreet.release._caution import Caution, handed_over
from discreet.release._describe import plain_data, shown_job
from discreet.release._left_out import WITHHELD, LeftOut, compared_promises
from discreet.release._page import document, own_file
from discreet.release._section_html import to_html
from discreet.release._section_markdown import to_markdown
from discreet.release._sections import Evaluation, Section
from discreet.release._undecided import share_text

if TYPE_CHECKING:
    from discreet.release._release import Release

__all__ = ["SUFFIXES", "check_report", "count_text", "summary", "to_dict", "write_report"]


def to_dict(release: Release, *, exact: bool = False) -> dict[str, Any]:
    """Return everything but the table itself as plain data.

    Unless ``exact``, nothing tells about people who were left out but how many they are, if at least five: figures
    that would are None. Where anybody was left out, how the search went stays with the owner, for it depends on them.
    """
    people = LeftOut.of(release)
    notes = release.notes if exact else handed_over(release.notes)
    told = {
        **_costs(release, shown=exact or not people.few),
        **people.to_dict(),
        "suppressed_values": release.suppressed_values,
        "classes": release.classes,
        "scheme": plain_data(release.job["scheme"]),
        "levels": dict(release.levels) if exact or not people.total else _levels(release),
        "released_values": release.released_values,
        "audit": release.audit.to_dict(hidden=() if exact else compared_promises(release)),
        "notes": [*map(str, notes), *([WITHHELD] if people.few and not exact else [])],
        "warnings": [str(note) for note in notes if isinstance(note, Caution)],
        "kept": [
            {"name": one.name, "unique": share_text(one.unique, release.n), "confirmed": one.confirmed}
            for one in release.kept
        ],
        "seconds": release.stats["seconds"],
        "stats": {},
        "trace": [],
        "versions": dict(release.versions),
        "job": plain_data(shown_job(release.job)),
    }
    if exact:
        told |= {
            "rows": release.n,
            "left_out": people.total,
            "suppressed": release.suppressed,
            "dropped_missing": release.dropped_missing,
        }
    if exact or not people.total:
        told["stats"] = {key: plain_data(value) for key, value in release.stats.items() if key != "seconds"}
        told["trace"] = [{name: plain_data(value) for name, value in vars(moment).items()} for moment in release.trace]
    return told


def _levels(release: Release) -> dict[str, int | None]:
    """Return the levels; None where the hierarchy was made of the values of people left out too."""
    return {column.name: column.level for column in release.columns} if release.levels else {}


def _costs(release: Release, *, shown: bool) -> dict[str, Any]:
    """Return the status, and the cost with its bound where they may be shown."""
    proven = release.status == "optimal"
    return {
        "status": release.status,
        "cost": release.cost if shown else None,
        "normalized_cost": release.normalized_cost if shown else None,
        "lower_bound": release.lower_bound if shown else None,
        "gap": release.gap if shown or proven else None,
    }


def summary(release: Release, *, exact: bool = False, warnings: bool = True) -> str:
    """Return the main figures as aligned text; ``exact`` says also what would tell about people left out."""
    people = LeftOut.of(release)
    hidden = frozenset() if exact else compared_promises(release)
    facts = [
        ("rows", _exact_rows(release) if exact else f"{people.released_words}, {people.words}"),
        ("classes", f"{release.classes:,}, the smallest of {amount(release.audit.smallest_class, 'row')}"),
        ("cost", _cost(release, shown=exact or not people.few)),
        *_score(release, shown=exact or not people.total),
        ("scheme", _scheme(release)),
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
        *(_search(release) if exact or not people.total else []),
        ("seconds", ", ".join(f"{stage} {spent:.2f}" for stage, spent in release.stats["seconds"].items())),
    ]
    if release.suppressed_values:
        share = release.suppressed_values / max(people.released, 1)
        unknown = f"{amount(release.suppressed_values, 'sensitive value')} made unknown ({share:.2%})"
        facts.insert(1, ("values", f"{unknown}, written {UNKNOWN}"))
    width = max(len(name) for name, _ in facts)
    lines = [f"{name:<{width}}  {text}" for name, text in facts]
    shown = release.notes if exact else handed_over(release.notes)
    loud = [f"warning: {note}" for note in shown if warnings and isinstance(note, Caution)]
    notes = [note for note in shown if not isinstance(note, Caution)]
    notes += [WITHHELD] if people.few and not exact else []
    return "\n".join([*lines, *loud, *(f"note: {note}" for note in notes)])


def _exact_rows(release: Release) -> str:
    missing = f", {release.dropped_missing:,} left out for missing values" if release.dropped_missing else ""
    share = release.suppressed / release.n if release.n else 0.0
    return (
        f"{release.n - release.suppressed:,} of {release.n + release.dropped_missing:,} released, "
        f"{release.suppressed:,} suppressed ({share:.2%}){missing}"
    )


def _cost(release: Release, *, shown: bool) -> str:
    proven = release.status == "optimal"
    if not shown:
        return f"{'proven optimal' if proven else 'not proven optimal'}; not shown, as few were left out"
    proof = "proven optimal" if proven else f"gap at most {release.gap:.2%}"
    return f"{number_text(release.cost)} ({release.normalized_cost:.2%} of suppressing everything), {proof}"


def _score(release: Release, *, shown: bool) -> list[tuple[str, str]]:
    """Return the score, where there is one; and how far it is from the best and the original if ``shown``."""
    if release.score is None:
        return []
    if not shown:
        return [("score", number_text(release.score))]
    best = release.stats.get("score_at_most")
    text = f"{number_text(release.score)}, of {number_text(release.stats['score_before'])} in the original table"
    if "global_score" in release.stats:
        text += f"; {number_text(release.stats['global_score'])} before each class was made more specific by itself"
    elif release.status == "optimal":
        text += "; no table that keeps the promises has a higher one"
    elif best is not None:
        text += f"; no table that keeps the promises has more than {number_text(best)}"
    return [("score", text)]


def _scheme(release: Release) -> str:
    scheme = release.job["scheme"]
    if not isinstance(scheme, dict):
        return str(scheme)
    return ", ".join(f"{column} {choice}" for column, choice in scheme.items())


def _recoded(release: Release) -> tuple[str, str]:
    """Return how coarse each attribute became: its level, or how many values it is released as."""
    if release.levels and not LeftOut.of(release).total:
        return "levels", ", ".join(f"{column} {level}" for column, level in release.levels.items())
    if release.levels and all(column.level is not None for column in release.columns):
        return "levels", ", ".join(f"{column.name} {column.level}" for column in release.columns)
    counts = []
    for column in release.columns:
        of = "" if column.of is None or column.name not in release.partition else f" of {column.of:,}"
        counts.append(f"{column.name} {column.values:,}{of}")
    return "released", f"different values: {', '.join(counts)}"


def _search(release: Release) -> list[tuple[str, str]]:
    """Return what the search says about itself, as far as it does."""
    stats, facts = release.stats, []
    if "examined" in stats:
        examined, space = int(stats["examined"]), stats.get("space")
        share = 100 * (examined / space) if space else 0.0
        whole = (
            f" of {count_text(space)} {either(space, 'recoding', 'recodings')} ({share:.{2 if share < 99.5 else 3}g} %)"
            if space
            else ""
        )
        formal = stats.get("formal_space", space)
        papers = f"; papers count {count_text(formal)}" if formal and formal != space else ""
        facts.append(("examined", f"{examined:,}{whole}{papers}"))
    pruned = [f"{rule} {count:,}" for rule, count in stats.get("pruned", {}).items() if count]
    if pruned:
        facts.append(("pruned", ", ".join(pruned)))
    reached = [
        f"{what} after {stats[key]:.2f} s"
        for key, what in (("seconds_to_best", "best"), ("seconds_to_proof", "proof"))
        if stats.get(key) is not None
    ]
    if reached:
        facts.append(("search", ", ".join(reached)))
    return facts


def count_text(count: int) -> str:
    """Write a number that may be too long to read.

    >>> count_text(356440500), count_text(3 * 10**400)
    ('356,440,500', 'about 10^400')
    """
    return f"{count:,}" if count < 10**15 else f"about 10^{math.floor(math.log10(count))}"


def write_report(
    release: Release, path: Path, more: Sequence[Section | Evaluation] = (), evaluate: bool | None = None
) -> Path:
    """Write a report in the format the name says, with ``more`` sections where the format has sections."""
    target = check_report(path)
    suffix = path.suffix.lower()
    items: list[Any] = list(_checked(more))
    if suffix in _WITH_SECTIONS:
        from discreet.release._evaluated import evaluated, handed_over

        measured = _cheap(release) if evaluate is None else evaluate
        items = [*(evaluated(release, items) if measured else []), *handed_over(release, items, measured=measured)]
    sections = [section for item in items for section in ([item] if isinstance(item, Section) else item.sections())]
    with replacing(target) as unfinished:
        if suffix == ".pdf":
            print_page(_html(release, sections), unfinished)
        else:
            unfinished.write_text(_WRITERS[suffix](release, sections), encoding="utf-8")
    return target


def _checked(more: Any) -> Iterator[Section | Evaluation]:
    """Give out what a report should tell besides; anything else is refused by what it is."""
    for item in more if isinstance(more, Iterable) and not isinstance(more, str) else [more]:
        if not isinstance(item, Section) and not hasattr(item, "sections"):
            raise UsageError(
                "A report takes sections and evaluations, such as release.attacks(), in a list, not "
                f"{type(item).__name__}.",
                topic="parameter",
            )
        yield item


def _cheap(release: Release) -> bool:
    """Whether the original table can be read once more without anybody noticing."""
    return release.behind is not None and release.behind.at_hand and release.n <= _MOST_ROWS


def check_report(path: Path) -> Path:
    """Refuse a report that could not be written in the end, and return where it goes."""
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
    from discreet.release._report_sections import FOOTER, report_sections, report_title

    return to_markdown(*report_title(release), report_sections(release, sections), [FOOTER])


def _html(release: Release, sections: Sequence[Section]) -> str:
    from discreet.release._report_sections import FOOTER, report_sections, report_title

    title, subtitle = report_title(release)
    parts = to_html(report_sections(release, sections))
    return document(title, subtitle, parts, [FOOTER], style=own_file("_report_page.css"))


_MOST_ROWS = 250_000
"""Larger tables are not read once more for a report, unless that is asked for."""
_WITH_SECTIONS = (".html", ".pdf", ".md")
_WRITERS = {".json": _json, ".txt": _text, ".md": _markdown, ".html": _html}
SUFFIXES = (*_WRITERS, ".pdf")
"""What the name of a report may end in."""
