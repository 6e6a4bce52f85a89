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
from discreet.release._caution import Caution, handed_over
from discreet.release._certificate import keyed_input
from discreet.release._charts import bar_chart, size_chart, size_names, spread_chart, trace_chart, tree_chart
from discreet.release._checksums import FileStamp
from discreet.release._describe import plain_data, shown_job
from discreet.release._front_picture import Recoded
from discreet.release._front_scale import plain, share
from discreet.release._left_out import WITHHELD, LeftOut
from discreet.release._sections import Block, Card, Cards, Code, Facts, Figure, Items, Section, Table, Text, Tiles
from discreet.release._sizes import edges_for
from discreet.release._small import few, hidden
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
        Section("Columns before and after", list(_columns(release))),
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
    people, audit = LeftOut.of(release), release.audit
    proven = release.status == "optimal"
    return Tiles(
        [
            ("Privacy audit", "passed" if audit.passed else "FAILED", _promises(release), audit.passed),
            ("People in the release", f"{people.released:,}", _who(people), None),
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
                "not shown" if people.few else share(release.normalized_cost),
                "it would tell how few were left out" if people.few else "of what leaving everybody out would cost",
                None,
            ),
            (
                "Best possible?",
                "proven" if proven else "not proven" if people.few else f"within {share(release.gap)}",
                "no release that keeps the promises costs less"
                if proven
                else "how far from the best it can be at most",
                True if proven else None,
            ),
        ]
    )


def _who(people: LeftOut) -> str:
    """Return of how many people the release was made, and how many were left out, as far as that may be said."""
    if not people.total:
        return f"of {people.released:,}; nobody was left out"
    if people.rows is None:
        return people.words
    return f"of {people.rows:,}; {share(people.total / people.rows)} left out"


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
    people = LeftOut.of(release)
    classes = amount(release.classes, "class", "classes")
    of = "" if people.rows is None else f" of {people.rows:,}"
    verb = either(people.released, "is", "are")
    facts = [("rows", f"{people.released:,}{of} {verb} released in {classes} of people who look the same")]
    if people.total:
        facts.append(("left out", people.words))
    if release.suppressed_values:
        hidden = release.suppressed_values / max(people.released, 1)
        facts.append(("made unknown", f"{amount(release.suppressed_values, 'sensitive value')}, {share(hidden)}"))
    if not people.few:
        cost = f"{plain(release.cost)}, {share(release.normalized_cost)} of what leaving everybody out would cost"
        facts.append(("cost", cost))
    if release.score is not None:
        of = "" if people.total else f" of {number_text(release.stats['score_before'])}"
        facts.append(("score", f"{number_text(release.score)}{of}"))
    yield Facts(facts)
    if people.few:
        yield Text(WITHHELD)
    several = len({column.scheme for column in release.columns}) > 1
    head = ["column", *(["scheme"] if several else []), "hierarchy", *(["level"] if release.levels else [])]
    rows = [
        [
            column.name,
            *([column.scheme] if several else []),
            column.hierarchy or "none",
            *([_level(column)] if release.levels else []),
            "–" if column.of is None else f"{column.of:,}",
            f"{column.values:,}",
        ]
        for column in release.columns
    ]
    yield Table([*head, "values before", "values after"], rows, words=3 if several else 2)
    if people.total:
        yield Text("Values are counted among the people who are in the release.")
    if release.kept:
        as_is = [
            [column.name, share_text(column.unique, release.n), "yes" if column.confirmed else "no"]
            for column in release.kept
        ]
        yield Table(["released as it is", "rows with a value nobody else has", "confirmed"], as_is, words=2)
    notes = handed_over(release.notes)
    if notes:
        yield Items([f"Warning: {note}" if isinstance(note, Caution) else note for note in notes])


def _level(column: ReleasedColumn) -> str:
    if column.level is None:
        return "–"
    return f"{column.level}" if column.height is None else f"{column.level} of {column.height}"


def _proof(release: Release) -> Iterator[Block]:
    people = LeftOut.of(release)
    cost = "" if people.few else f"The release costs {plain(release.cost)}, and it"
    if release.status == "optimal":
        yield Text(
            f"The search was complete. {cost or 'It'} is proven that no release of this table that keeps the promises, "
            "made in the way that was asked for, costs less."
        )
    elif people.few:
        yield Text("The search ended before it was complete, so a release that costs less may exist.")
    else:
        yield Text(
            f"The search ended before it was complete. The release costs {plain(release.cost)}, and no release that "
            f"keeps the promises costs less than {plain(release.lower_bound)}: at most {share(release.gap)} of the "
            "cost could be saved."
        )
    if people.total:
        yield Text(
            "How the search went depends on the people who were left out too, so it is not shown here; whoever holds "
            "the data has it in release.stats and release.trace."
        )
    else:
        yield from _search(release)


def _search(release: Release) -> Iterator[Block]:
    """Yield how the search went, as far as it says."""
    from discreet.release._report import count_text

    stats = release.stats
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
    from discreet.release._left_out import compared_promises

    audit, hidden = release.audit, compared_promises(release)
    yield Text(
        f"What was released was read back and checked from scratch, by code that shares nothing with the search: "
        f"{amount(audit.rows, 'row')} in {amount(audit.classes, 'class', 'classes')}"
        + (f", the smallest of {audit.smallest_class:,}." if audit.classes else ".")
    )
    rows = [
        [
            check.model,
            "" if check.promised is None else number_text(check.promised),
            "not shown" if check.model in hidden else number_text(check.reached),
            "✓ kept" if check.passed else "✗ BROKEN",
        ]
        for check in audit.checks
    ]
    yield Table(["promise", "promised", "reached", "verdict"], rows)
    if hidden:
        yield Text(
            "What promises reach that compare classes with the whole table is not shown: it would tell about people "
            "who were left out."
        )


def _risk(release: Release, least: int) -> Iterator[Block]:
    yield Text(
        "Somebody who knows that a person is in the table, and knows all quasi-identifiers of the person, is left with "
        "those who look the same: the chance of picking the right row is 1 in the size of that class."
    )
    before, after = release.released_before, release.audit.sizes
    if before is None:
        yield Text(
            "Single records of classes were left out. How the others looked before is not shown, for it would tell "
            "about those."
        )
    elif LeftOut.of(release).total:
        yield Text("Before and after are both about the people who are in the release.")
    tables = [after] if before is None else [before, after]
    yield Table(
        ["", *(["before"] if before is not None else []), "after"],
        [
            ["highest risk", *(_one_in(table.highest_risk) for table in tables)],
            ["average risk", *(_one_in(table.average_risk) for table in tables)],
            ["people nobody else looks like", *(few(table.unique, least) for table in tables)],
            [f"people in classes smaller than {least}", *(few(table.below(least), least) for table in tables)],
            ["classes", *(few(table.count, least) for table in tables)],
        ],
    )
    if before is not None and before.sizes and after.sizes:
        edges = edges_for(before, after)
        rows = list(zip(size_names(edges), before.ranges(edges), after.ranges(edges), strict=True))
        caption = "Which share of the people is in classes of which size. Counts of few people are not drawn."
        yield Figure(size_chart(before, after, least), caption, _size_text(rows, least))


def _one_in(risk: float) -> str:
    return f"1 in {number_text(round(1 / risk, 1))} ({share(risk)})" if risk else "none"


def _size_text(rows: list[tuple[str, int, int]], least: int) -> str:
    names, before, after = zip(*rows, strict=True)
    lines = [f"{'class size':>12}  {'people before':>14}  {'people after':>14}"]
    columns = zip(names, _shown(before, least), _shown(after, least), strict=True)
    lines += [f"{name:>12}  {first:>14}  {second:>14}" for name, first, second in columns]
    return "\n".join(lines)


def _shown(counts: Sequence[int], least: int) -> list[str]:
    """Write counts of people whose total is known, so that none of few people can be found by subtraction."""
    gone = hidden(counts, least)
    return ["not shown" if secret else f"{count:,}" for count, secret in zip(counts, gone, strict=True)]


def _columns(release: Release) -> Iterator[Block]:
    yield Text(
        "For each quasi-identifier, what people had before and what the release shows. Everything counts the people "
        "who are in the release, before and after; ranges at the ends hold all that lies beyond. In the hierarchies, "
        "from all values down to the original ones, filled is what is released and dotted what is lost; a box is as "
        "wide as the number of people in it."
    )
    total = release.n - release.suppressed
    yield Cards([_card(column, total) for column in release.columns])


def _card(column: ReleasedColumn, total: int) -> Card:
    if column.of is None:
        left = amount(column.values, "released value")
    elif column.detail:
        left = f"{amount(column.values, 'different released value')}, of {amount(column.of, 'original one')}"
    else:
        level = None if column.height is None else column.level
        left = Recoded(column.name, column.values, column.of, level, column.height).words
    made = (
        "" if column.hierarchy is None else f"; hierarchy {column.hierarchy}{', made automatically' * column.automatic}"
    )
    blocks: list[Text | Items | Facts | Table | Figure] = []
    spread = spread_chart(column)
    if spread:
        blocks.append(Figure(spread, "" if column.after else "How it is spread before."))
    if column.bars and (not spread or column.after is None):
        blocks.append(Figure(bar_chart(column, total), ""))
    tree = tree_chart(column)
    if tree:
        blocks.append(Figure(tree, ""))
    if column.detail:
        rows = [[words, f"{count:,}", share(count / max(total, 1))] for words, count in column.detail]
        blocks.append(Table(["a released value stands for", "people", "share"], rows))
    return Card(column.name, f"{column.type}; {left}{made}", blocks)


def _repeat(release: Release) -> Iterator[Block]:
    yield Text(
        "The owner of the data does the same again with 'discreet run job.yaml'. The job file has the seed, which is "
        "not shown here, and the values of the data that the job lists, of which only the number is."
    )
    yield Code(_job_text(release.job))
    facts = [("input", _input(release)), ("output", _file(release.wrote))]
    facts.append(("versions", ", ".join(f"{name} {version}" for name, version in release.versions.items())))
    seconds = ", ".join(f"{stage} {spent:.2f}" for stage, spent in release.stats["seconds"].items())
    facts.append(("seconds", seconds))
    yield Facts(facts)


def _file(stamp: FileStamp | None) -> str:
    if stamp is None:
        return "no file"
    try:
        return f"{stamp.name}, SHA-256 {stamp.digest()}"
    except DataError:
        return f"{stamp.name}, changed or moved since"


def _input(release: Release) -> str:
    """Return the name of the input, and its HMAC for the owner of the key."""
    if release.read is None:
        return "no file"
    key = None if release.key is None or (release.wrote and not release.wrote.unchanged) else release.key.make()
    try:
        keyed = keyed_input(key, release.read, "" if release.wrote is None or key is None else release.wrote.digest())
    except DataError:
        return f"{release.read.name}, changed or moved since"
    return release.read.name if keyed is None else f"{release.read.name}, HMAC-SHA256 {keyed} (by the owner's key)"


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
