"""What a report says about a release, section by section; no value of the data but released ones of enough people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from discreet._places import TableUrl, is_url
from discreet._words import amount, either
from discreet.errors import DataError, UsageError
from discreet.problem import COSTS, PRIVACY, SCHEMES, SUPPRESSION
from discreet.problem._text import outline
from discreet.release._audit import number_text
from discreet.release._charts import bar_chart, size_chart, size_names, spread_chart, trace_chart, tree_chart
from discreet.release._checksums import FileStamp, job_digest
from discreet.release._describe import plain_data, shown_job
from discreet.release._front_picture import Recoded
from discreet.release._front_scale import plain, share
from discreet.release._sections import Block, Card, Cards, Code, Facts, Figure, Items, Section, Table, Text, Tiles
from discreet.release._sizes import edges_for
from discreet.release._small import few
from discreet.release._undecided import share_text

if TYPE_CHECKING:
    from discreet.problem._family import Family
    from discreet.release._columns import ReleasedColumn
    from discreet.release._release import Release

__all__ = ["FOOTER", "report_sections", "report_tiles", "report_title"]

FOOTER = (
    "Made with discreet. This report holds names of columns, released values and counts. No count stands for fewer "
    "people than the classes promised, or for fewer than five; nothing tells about people who were left out."
)


def report_title(release: Release) -> tuple[str, str]:
    """Return what a report is called, and the line below."""
    read = release.job.get("input")
    name = "Release report" if read is None else f"Release report: {_table_name(str(read))}"
    return name, f"Made {release.made.replace('T', ' ')[:16]} UTC with discreet {release.versions['discreet']}"


def _table_name(place: str) -> str:
    return str(TableUrl.parse(place).table) if is_url(place) else Path(place).name


def report_sections(release: Release, more: Sequence[Section] = ()) -> list[Section]:
    """Return the sections of a report, the most important first; ``more`` come before the columns."""
    least, promises = release.least, _said(release)
    return [
        Section("", [report_tiles(release)]),
        Section("What was asked", list(_asked(release, promises))),
        Section("What was done", list(_done(release))),
        Section("Proof", list(_proof(release))),
        Section("Privacy audit", list(_audit(release))),
        Section("Risk before and after", list(_risk(release, least))),
        *more,
        Section("Columns before and after", list(_columns(release, least))),
        Section("How to repeat it", list(_repeat(release))),
    ]


def _said(release: Release) -> list[tuple[str, str]]:
    """Return the promises: how each is written, and what it means."""
    secrets = list(release.job.get("sensitive") or ())
    said = []
    for text in release.job["privacy"]:
        try:
            model = PRIVACY.make(text).resolve(secrets)
        except UsageError:  # a model of the user's own, of which only the object is known
            said.append((outline(text), ""))
        else:
            said.append((model.shown, model.words))
    return said


def _words(family: Family[Any], text: str) -> str:
    """Return what a choice means, and how it is written."""
    try:
        return f"{family.make(text).words} ({text})"
    except UsageError:  # a part of the user's own
        return text


def report_tiles(release: Release) -> Tiles:
    """Return the figures that should be seen first."""
    kept = release.n - release.suppressed
    audit = release.audit
    proven = release.status == "optimal"
    suppressed = (
        "nobody was left out" if not release.suppressed else f"{share(release.suppressed / release.n)} left out"
    )
    return Tiles(
        [
            ("Privacy audit", "passed" if audit.passed else "FAILED", _promises(release), audit.passed),
            ("People in the release", f"{kept:,}", f"of {release.n + release.dropped_missing:,}; {suppressed}", None),
            (
                "Highest risk",
                f"1 in {audit.smallest_class:,}" if audit.classes else "none",
                f"of being found; on average 1 in {1 / audit.sizes.average_risk:,.0f}"
                if audit.classes
                else "nothing was released",
                None,
            ),
            (
                "Loss",
                share(release.normalized_cost),
                "of what leaving everybody out would cost",
                None,
            ),
            (
                "Best possible?",
                "proven" if proven else f"within {share(release.gap)}",
                "no release that keeps the promises costs less"
                if proven
                else "how far from the best it can be at most",
                True if proven else None,
            ),
        ]
    )


def _promises(release: Release) -> str:
    number = sum(check.model != "number of rows" for check in release.audit.checks)
    if not release.audit.passed:
        broken = len(release.audit.failed)
        return f"{broken} of {amount(number, 'promise')} {either(broken, 'is', 'are')} broken"
    return f"{either(number, 'the promise is', f'all {number} promises are')} kept"


def _asked(release: Release, promises: list[tuple[str, str]]) -> Iterator[Block]:
    job = release.job
    yield Text("The table was to become safe to share. For everybody in it these promises should hold:")
    yield Items([f"{words} ({shown})" if words else shown for shown, words in promises])
    identifiers, sensitive = list(job.get("identifiers") or ()), list(job.get("sensitive") or ())
    schemes = job["scheme"]
    schemes = dict.fromkeys(schemes.values()) if isinstance(schemes, Mapping) else [schemes]
    label = job.get("class_attribute")
    facts = [
        ("others may know", _listed(job["quasi_identifiers"]) + "; these are made coarser"),
        ("nobody may learn", _listed(sensitive) if sensitive else "no column was named"),
        ("left out", _listed(identifiers) if identifiers else "no column"),
        *([("to be predicted", str(label))] if label else []),
        *([("survey weights", f"{job['weights']}; released as it is")] if job.get("weights") else []),
        *([("drawn from", str(release.stats["population"]))] if "population" in release.stats else []),
        ("how", " ".join(_words(SCHEMES, scheme) for scheme in schemes)),
        ("kept low", _words(COSTS, job.get("cost") or ("score" if job.get("priorities") else "LM"))),
        ("people left out", _words(SUPPRESSION, job["suppression"])),
        *_limits(job),
    ]
    yield Facts(facts)


def _limits(job: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, words in (
        ("priorities", "priorities"),
        ("keep_at_least", "highest level"),
        ("min_levels", "lowest level"),
        ("max_levels", "highest level"),
    ):
        if job.get(key):
            yield words, ", ".join(f"{column} {number}" for column, number in job[key].items())
    if job.get("time_limit"):
        yield "time to search", f"{job['time_limit']:g} s"


def _listed(names: Any) -> str:
    return ", ".join(names)


def _done(release: Release) -> Iterator[Block]:
    kept = release.n - release.suppressed
    classes = amount(release.classes, "class", "classes")
    facts = [
        (
            "rows",
            f"{kept:,} of {release.n:,} {either(kept, 'is', 'are')} released in {classes} of people who look the same",
        )
    ]
    if release.suppressed:
        facts.append(("suppressed", f"{amount(release.suppressed, 'row')}, {share(release.suppressed / release.n)}"))
    if release.suppressed_values:
        hidden = release.suppressed_values / max(kept, 1)
        facts.append(("made unknown", f"{amount(release.suppressed_values, 'sensitive value')}, {share(hidden)}"))
    if release.dropped_missing:
        facts.append(("left out", f"{few(release.dropped_missing)} rows for missing values"))
    cost = f"{plain(release.cost)}, {share(release.normalized_cost)} of what leaving everybody out would cost"
    facts.append(("cost", cost))
    if release.score is not None:
        facts.append(("score", f"{number_text(release.score)} of {number_text(release.stats['score_before'])}"))
    yield Facts(facts)
    several = len({column.scheme for column in release.columns}) > 1
    head = ["column", *(["scheme"] if several else []), "hierarchy", *(["level"] if release.levels else [])]
    rows = [
        [
            column.name,
            *([column.scheme] if several else []),
            column.hierarchy or "none",
            *([f"{column.level} of {column.height}"] if release.levels else []),
            f"{column.of:,}",
            f"{column.values:,}",
        ]
        for column in release.columns
    ]
    yield Table([*head, "values before", "values after"], rows, words=3 if several else 2)
    if release.kept:
        as_is = [
            [column.name, share_text(column.unique, release.n), "yes" if column.confirmed else "no"]
            for column in release.kept
        ]
        yield Table(["released as it is", "rows with a value nobody else has", "confirmed"], as_is, words=2)
    if release.notes:
        yield Items([f"Warning: {note}" if note in release.warnings else note for note in release.notes])


def _proof(release: Release) -> Iterator[Block]:
    from discreet.release._report import count_text

    stats = release.stats
    if release.status == "optimal":
        yield Text(
            f"The search was complete. The release costs {plain(release.cost)}, and it is proven that no release of "
            "this table that keeps the promises, made in the way that was asked for, costs less."
        )
    else:
        yield Text(
            f"The search ended before it was complete. The release costs {plain(release.cost)}, and no release that "
            f"keeps the promises costs less than {plain(release.lower_bound)}: at most {share(release.gap)} of the "
            "cost could be saved."
        )
    if stats.get("space") and "examined" in stats:
        looked, space = int(stats["examined"]), stats["space"]
        yield Text(
            f"Of {count_text(space)} possible recodings {looked:,} were looked at; what is known of these rules out "
            f"the others{'' if release.status == 'optimal' else ' as far as the bound says'}."
        )
    pruned = [f"{rule} ({amount(count, 'time')})" for rule, count in stats.get("pruned", {}).items() if count]
    if pruned:
        yield Text(f"What ruled them out: {'; '.join(pruned)}.")
    caption = "How the best cost fell and the bound rose during the search; where they meet, the proof is complete."
    yield Figure(trace_chart(release.trace), caption, release.trace_text())


def _audit(release: Release) -> Iterator[Block]:
    audit = release.audit
    yield Text(
        f"What was released was read back and checked from scratch, by code that shares nothing with the search: "
        f"{amount(audit.rows, 'row')} in {amount(audit.classes, 'class', 'classes')}"
        + (f", the smallest of {audit.smallest_class:,}." if audit.classes else ".")
    )
    rows = [
        [
            check.model,
            "" if check.promised is None else number_text(check.promised),
            number_text(check.reached),
            "✓ kept" if check.passed else "✗ BROKEN",
        ]
        for check in audit.checks
    ]
    yield Table(["promise", "promised", "reached", "verdict"], rows)


def _risk(release: Release, least: int) -> Iterator[Block]:
    before, after = release.before, release.audit.sizes
    yield Text(
        "Somebody who knows that a person is in the table, and knows all quasi-identifiers of the person, is left with "
        "those who look the same: the chance of picking the right row is 1 in the size of that class."
    )
    tables = (before, after)
    yield Table(
        ["", "before", "after"],
        [
            ["highest risk", *(_one_in(table.highest_risk) for table in tables)],
            ["average risk", *(_one_in(table.average_risk) for table in tables)],
            ["people nobody else looks like", *(few(table.unique, least) for table in tables)],
            [f"people in classes smaller than {least}", *(few(table.below(least), least) for table in tables)],
            ["classes", *(few(table.count, least) for table in tables)],
        ],
    )
    if before.sizes and after.sizes:
        edges = edges_for(before, after)
        rows = list(zip(size_names(edges), before.ranges(edges), after.ranges(edges), strict=True))
        caption = "Which share of the people is in classes of which size. Counts of few people are not drawn."
        yield Figure(size_chart(before, after, least), caption, _size_text(rows, least))


def _one_in(risk: float) -> str:
    return f"1 in {number_text(round(1 / risk, 1))} ({share(risk)})" if risk else "none"


def _size_text(rows: list[tuple[str, int, int]], least: int) -> str:
    lines = [f"{'class size':>12}  {'people before':>14}  {'people after':>14}"]
    lines += [f"{name:>12}  {few(before, least):>14}  {few(after, least):>14}" for name, before, after in rows]
    return "\n".join(lines)


def _columns(release: Release, least: int) -> Iterator[Block]:
    yield Text(
        "For each quasi-identifier, what people had before and what the release shows. The charts count the people who "
        "are in the release; ranges at the ends hold all that lies beyond, and in brackets is how many were left out, "
        "unless they are few. In the hierarchies, from all values down to the original ones, filled is what is "
        "released and dotted what is lost; a box is as wide as the number of people in it."
    )
    total = release.n - release.suppressed
    yield Cards([_card(column, total, least) for column in release.columns])


def _card(column: ReleasedColumn, total: int, least: int) -> Card:
    left = Recoded(column.name, column.values, column.of, column.level, column.height).words
    if column.detail:
        left = f"{amount(column.values, 'different released value')}, of {amount(column.of, 'original one')}"
    made = (
        "" if column.hierarchy is None else f"; hierarchy {column.hierarchy}{', made automatically' * column.automatic}"
    )
    blocks: list[Text | Items | Facts | Table | Figure] = []
    spread = spread_chart(column)
    if spread:
        blocks.append(Figure(spread, "" if column.after else "How it is spread before."))
    if column.bars and (not spread or column.after is None):
        blocks.append(Figure(bar_chart(column, total, least), _bar_caption(column, least)))
    tree = tree_chart(column)
    if tree:
        blocks.append(Figure(tree, ""))
    if column.detail:
        rows = [[words, f"{count:,}", share(count / max(total, 1))] for words, count in column.detail]
        blocks.append(Table(["a released value stands for", "people", "share"], rows))
    return Card(column.name, f"{column.type}; {left}{made}", blocks)


def _bar_caption(column: ReleasedColumn, least: int) -> str:
    if any(bar.left_out is None for bar in column.bars):
        return f"Where fewer than {least} were left out, or their number would tell of so few, it is not shown."
    return ""


def _repeat(release: Release) -> Iterator[Block]:
    yield Text(
        "Saved as job.yaml beside the input, this does the same again with 'discreet run job.yaml'. Where the job "
        "lists values of the data, only their number is shown here; the job file itself has them."
    )
    yield Code(_job_text(release.job))
    facts = [
        ("input", _file(release.read)),
        ("output", _file(release.wrote)),
        ("job", f"SHA-256 {job_digest(release.job)}"),
    ]
    seed = release.job.get("seed")
    facts.append(("seed", "none was given" if seed is None else str(seed)))
    facts.append(("versions", ", ".join(f"{name} {version}" for name, version in release.versions.items())))
    seconds = ", ".join(f"{stage} {spent:.2f}" for stage, spent in release.stats["seconds"].items())
    facts.append(("seconds", seconds))
    yield Facts(facts)


def _file(stamp: FileStamp | None) -> str:
    if stamp is None:
        return "no file"
    try:
        facts = stamp.facts()
    except DataError:
        return f"{stamp.name}, changed or moved since"
    return f"{facts['name']}, {facts['bytes']:,} bytes, SHA-256 {facts['sha256']}"


def _job_text(job: Mapping[str, Any]) -> str:
    """Return a job as it is written, without what is empty, values of the data and folders of this machine."""
    told = {key: value for key, value in plain_data(shown_job(job)).items() if value not in (None, [], {}, ())}
    for key in ("input", "output"):
        if not is_url(told.get(key)) and Path(str(told.get(key, ""))).is_absolute():
            told[key] = Path(str(told[key])).name
    if "report" in told:
        told["report"] = [Path(str(name)).name for name in told["report"]]
    for role in ("quasi_identifiers", "sensitive"):
        forms = {name: _without_folder(form) for name, form in (told.get(role) or {}).items()}
        told |= {role: forms} if forms else {}
        if forms and all(form is None for form in forms.values()):
            told[role] = list(forms)
    return str(yaml.safe_dump(told, sort_keys=False, allow_unicode=True, width=100))


def _without_folder(form: Any) -> Any:
    """Return a hierarchy as it is told, and of a file just its name."""
    return Path(form).name if isinstance(form, str) and Path(form).is_absolute() else form
