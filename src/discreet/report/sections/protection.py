"""The sections of the data protection page: one page that says what is released, to whom, and how safe it is.

The external version is made of released rows, promises and figures about released people alone, like every report.
The internal version adds exact figures about the whole table for the owner of the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.errors import DiscreetError, UsageError
from discreet.problem import PRIVACY
from discreet.report.job_text import owner_columns, pseudonym_columns
from discreet.report.notes import Private
from discreet.report.numbers import number_text, percent, rounded_percent
from discreet.report.sections.blocks import Block, BulletList, DataTable, Facts, Section, Signatures, Text
from discreet.report.sections.release import input_words, output_words, promise_lines, verdict_box, with_tables
from discreet.report.small_counts import LeftOut, few
from discreet.report.units import counted_as
from discreet.runtime.plurals import amount, either, units

if TYPE_CHECKING:
    from discreet.evaluate.attacks.linkage import Linkage
    from discreet.pipeline.release import Release

__all__ = ["Handover", "first_section", "protection_footer", "protection_sections", "protection_title"]

_MOST_ATTACKED = 250_000
"""Most rows of a table on which attacks are run for the page."""
_BLANK = "____________________"


@dataclass(frozen=True)
class Handover:
    """Why and to whom a release is handed over. What is empty is a line to fill in by hand."""

    purpose: str = ""
    recipient: str = ""
    prepared_by: str = ""
    internal: bool = False
    """Whether the page is for the owner of the data alone, with exact figures."""


def protection_title(release: Release, handover: Handover) -> tuple[str, str]:
    """Return the title of the page and the line below it."""
    name = with_tables("Data protection page", release)
    version = "internal version, for the owner of the data alone" if handover.internal else "external version"
    made = release.made.replace("T", " ")[:16]
    return name, f"{version[0].upper()}{version[1:]}. Released {made} UTC with discreet {release.versions['discreet']}"


def protection_footer(handover: Handover) -> str:
    """Return what the page holds."""
    if handover.internal:
        return (
            "This version has exact figures about people who were left out. Keep it as safe as the data, and hand over "
            "the external version."
        )
    return (
        "This version holds names of columns, promises, and figures about released rows. It says nothing about people "
        "who were left out except how many they are, if at least five."
    )


def protection_sections(release: Release, handover: Handover, original: Any = None) -> list[Section]:
    """Return the sections of the page; ``original`` is the table it was made from, if the release lost it."""
    verdict = release.verdict if handover.internal else release.verdict.without_cost()
    return [
        Section("", [Facts(list(_handover(release, handover))), verdict_box(verdict)]),
        Section("Columns, by what happens to them", [_columns(release)]),
        Section("Singling out, linkability, inference", list(_criteria(release, original))),
        Section("What this does not protect against", [BulletList(list(_limits(release)))]),
        *([Section("For the owner alone", list(_private(release)))] if handover.internal else []),
        Section("How to repeat and check it", [Facts(list(_repeat(release)))]),
        Section("", [Signatures([("Prepared by", handover.prepared_by), ("Data protection officer", "")])]),
    ]


def first_section(section: Section, purpose: str, recipient: str) -> Section:
    """Return the first section with another purpose and recipient."""
    facts, *others = section.blocks
    assert isinstance(facts, Facts)
    changed = {"purpose": purpose or _BLANK, "recipient": recipient or _BLANK}
    return Section(section.title, [Facts([(name, changed.get(name, words)) for name, words in facts.facts]), *others])


def _handover(release: Release, handover: Handover) -> Iterator[tuple[str, str]]:
    left_out = LeftOut.of(release)
    yield "purpose", handover.purpose or _BLANK
    yield "recipient", handover.recipient or _BLANK
    yield "date", release.made[:10]
    yield "promised", "; ".join(line.removesuffix(".") for line in promise_lines(release))
    name = units(left_out.unit)
    yield name, f"{left_out.released_words}{f', {left_out.words}' if left_out.total else ', nobody was left out'}"
    if left_out.counted is not None:
        yield "rows", left_out.row_words
    passed = "passed: every promise was checked on what was written" if release.audit.passed else "FAILED"
    yield "audit", passed


def _columns(release: Release) -> DataTable:
    job = release.job
    kept = [column for column in release.kept if column.role == ""]
    label, weights = job.get("class_attribute"), job.get("weights")
    protected = _protected(release)
    secrets = [f"{name}{'' if name in protected else ' (no promise about it)'}" for name in job.get("sensitive") or ()]
    rows = [
        ["made coarser", ", ".join(job["quasi_identifiers"]), "others may know these about a person"],
        ["sensitive, released as they are", ", ".join(secrets) or "none", "nobody should learn these about a person"],
        [
            "released as they are",
            ", ".join(_unchanged_column(release, column.name) for column in kept) or "none",
            "not protected",
        ],
        ["removed", ", ".join(_removed(job)) or "none", "they name people"],
    ]
    named = pseudonym_columns(job)
    if named:
        rows.insert(3, ["released as pseudonyms", ", ".join(named), "they say which rows are of the same person"])
    others = [name for name in (label, weights) if name and name not in {column.name for column in kept}]
    if others:
        rows.insert(3, ["class or weights, released as they are", ", ".join(map(str, others)), "not protected"])
    return DataTable(("role", "columns", "meaning"), rows, words=3)


def _removed(job: Mapping[str, Any]) -> list[str]:
    """Return the columns that are left out."""
    every = dict.fromkeys([*(job.get("identifiers") or ()), *owner_columns(job)])
    return [name for name in every if name not in pseudonym_columns(job)]


def _unchanged_column(release: Release, name: str) -> str:
    """Return a column that is released unchanged, with the share of released rows that it singles out."""
    unique = release.audit.unique.get(name)
    if not unique:
        return name
    return f"{name} ({rounded_percent(unique, release.audit.rows)} have a value of their own)"


def _protected(release: Release) -> set[str]:
    """Return the sensitive columns that a promise is about."""
    found: set[str] = set()
    for text in release.job["privacy"]:
        try:
            model = PRIVACY.make(text).resolve(list(release.job.get("sensitive") or ()))
        except UsageError:  # a model that was passed as an object and has no text form
            continue
        column = getattr(model, "column", None)
        found |= {str(column)} if column else set()
    return found


def _criteria(release: Release, original: Any) -> Iterator[Block]:
    if not release.audit.rows:
        yield Text("Nothing was released.")
        return
    link = _linkage(release, original)
    rows = [*_singling_out(release), *_linkability(release)]
    if link is not None:
        whom = "a person's row" if release.audit.people is None else f"a {release.audit.unit}"
        rows.append(["linkability", f"trial attack: right about {whom}", _against(link.success, link.naive)])
    rows += _inference(release)
    if link is not None:
        rows += [
            ["inference", f"trial attack: right about {column}", _against(right, link.naive_values[column])]
            for column, right in link.values.items()
        ]
    yield DataTable(("criterion", f"measured on released {counted_as(release)}", "figure"), rows, words=2)


def _singling_out(release: Release) -> Iterator[list[str]]:
    audit, before = release.audit, release.released_before
    yield [
        "singling out",
        f"{counted_as(release)} who share their released quasi-identifiers, at least",
        f"{audit.smallest_class:,}",
    ]
    alone = few(audit.sizes.unique, release.least)
    was = "" if before is None else f"; before {few(before.unique, release.least)}"
    by_row = "" if audit.people is None else " of any of their rows"
    yield ["singling out", f"{counted_as(release)} alone with what others may know{by_row}", f"{alone}{was}"]
    if audit.singled_out is not None:
        shown = rounded_percent(audit.singled_out, audit.rows)
        yield ["singling out", "rows alone if the columns released as they are count too", shown]


def _counted(release: Release) -> int:
    """Return how many people are released, or rows where those are counted."""
    return release.audit.rows if release.audit.people is None else release.audit.people


def _linkability(release: Release) -> Iterator[list[str]]:
    sizes, before = release.audit.sizes, release.released_before
    was = "" if before is None else f"; before 1 in {number_text(round(1 / before.average_risk, 1))}"
    yield ["linkability", "chance to link a row to a person, at most", f"1 in {release.audit.smallest_class:,}"]
    yield ["linkability", "the same on average", f"1 in {number_text(round(1 / sizes.average_risk, 1))}{was}"]


def _inference(release: Release) -> Iterator[list[str]]:
    found = release.audit.certainties
    if not found:
        yield ["inference", "no column was named as sensitive", "not measured"]
    for each in found:
        certainty = percent(each.highest) if each.highest else "no more than a guess"
        yield ["inference", f"certainty about {each.column}, at most", certainty]
        if each.certain:
            yield [
                "inference",
                f"{counted_as(release)} whose {each.column} is certain",
                rounded_percent(each.certain, _counted(release)),
            ]


def _against(success: float, naive: float) -> str:
    return f"{percent(success)}; a blind guess {percent(naive)}"


def _linkage(release: Release, original: Any) -> Linkage | None:
    """Attack the released people, if the original table is at hand."""
    known = release.original
    at_hand = original is not None or (known is not None and known.at_hand)
    if not at_hand or release.n > _MOST_ATTACKED or not release.audit.rows:
        return None
    try:
        return release.attacks(original, only_released=True).linkage
    except DiscreetError:  # the figures of the audit remain
        return None


def _limits(release: Release) -> Iterator[str]:
    job = release.job
    kept = [column.name for column in release.kept if column.role == ""]
    if kept:
        yield f"People who know one of the columns that are released as they are: {', '.join(kept)}."
    yield f"People who know more about somebody than {', '.join(job['quasi_identifiers'])}."
    bare = [name for name in job.get("sensitive") or () if name not in _protected(release)]
    if bare:
        one = either(len(bare), "No promise is", "No promises are")
        yield f"{one} about {', '.join(bare)}: all people who look alike may have the same value."
    else:
        yield "People who can rule out sensitive values by what they know besides."
    if not any(str(model).startswith("delta-presence") for model in job["privacy"]):
        yield "Learning that somebody is in the table."
    yield "Learning what holds for everybody who looks alike, or for the whole table."
    yield "Combining this release with another one about the same people."
    if not (job.get("person") or job.get("household")):
        yield "People with several rows: promises count rows, so each person must have one."
    yield "It is no differential privacy: promises hold against the knowledge that is named here, not against all."


def _private(release: Release) -> Iterator[Block]:
    share = release.suppressed / release.n if release.n else 0.0
    facts = [
        (
            "rows",
            f"{release.n + release.dropped_missing:,}; {release.suppressed:,} suppressed ({percent(share)}), "
            f"{release.dropped_missing:,} left out for missing values",
        ),
        (
            "loss",
            f"{percent(release.normalized_cost)} of leaving everybody out; cost {number_text(release.cost)}, at "
            f"least {number_text(release.lower_bound)}, gap {percent(release.gap)}",
        ),
    ]
    before = release.before
    if before.sizes:
        facts.append(
            (
                "original table",
                f"{before.unique:,} {counted_as(release)} alone with their values; on average 1 in "
                f"{number_text(round(1 / before.average_risk, 1))}",
            )
        )
    if release.suppressed_values:
        facts.append(("made unknown", amount(release.suppressed_values, "sensitive value")))
    yield Facts(facts)
    notes = [str(note) for note in release.notes if isinstance(note, Private)]
    if notes:
        yield BulletList(notes)


def _repeat(release: Release) -> Iterator[tuple[str, str]]:
    versions = release.versions
    yield "owner", f"discreet run job.yaml, with discreet {versions['discreet']}; the job file holds the seed"
    job, certified = release.job, "with the promises above"
    if job.get("certificate"):
        certified = "--certificate certificate.json"
    unit = job.get("household") or job.get("person")
    if release.audit.people is None or unit in pseudonym_columns(job):
        named = "" if release.audit.people is None or job.get("certificate") else f" --person {unit}"
        yield "recipient", f"discreet audit FILE{named} {certified} checks the promises on the file itself"
    else:
        yield (
            "recipient",
            f"the file does not say whose rows they are, so that only the owner can count {counted_as(release)} in it",
        )
    yield "input", input_words(release)
    yield "output", output_words(release.wrote)
    yield "search", _search(release.job)


def _search(job: Mapping[str, Any]) -> str:
    scheme = job["scheme"]
    named = ", ".join(f"{column} {each}" for column, each in scheme.items()) if isinstance(scheme, Mapping) else scheme
    return f"scheme {named}; suppression {job['suppression']}; solver {job['solver']}"
