"""The sections of a release report. No value of the data is shown except released ones that enough people share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import DataError, UsageError
from discreet.problem import COSTS, PRIVACY, SCHEMES, SUPPRESSION
from discreet.report.certificate import keyed_input
from discreet.report.charts.release import bar_chart, size_chart, size_names, spread_chart, tree_chart
from discreet.report.charts.schemes import schemes_chart
from discreet.report.charts.search import trace_chart
from discreet.report.class_sizes import edges_for
from discreet.report.front.picture import RecodedAttribute
from discreet.report.job_text import (
    job_for_reports,
    plain_data,
    promise_for_reports,
    pseudonym_columns,
    scheme_names,
)
from discreet.report.key_sets import KEY_SET_HEAD, key_set_rows, unprotected
from discreet.report.notebook import check_rows
from discreet.report.notes import Caution, handed_over
from discreet.report.numbers import count_text, number_text, percent, rounded_percent
from discreet.report.schemes_tried import HEAD, schemes_tried, table_rows
from discreet.report.sections.blocks import (
    Block,
    BulletList,
    Card,
    Cards,
    Code,
    DataTable,
    Facts,
    Figure,
    Section,
    Text,
    Tile,
    Tiles,
    VerdictBox,
)
from discreet.report.small_counts import LeftOut, few, hidden_cells, withheld_promises
from discreet.report.units import counted_as, values_of
from discreet.runtime.locations import TableUrl, is_url
from discreet.runtime.plurals import amount, either, listed, units

if TYPE_CHECKING:
    from discreet.job.files import FileStamp
    from discreet.pipeline.release import Release
    from discreet.report.columns import ReleasedColumn
    from discreet.report.verdict import Verdict
    from discreet.runtime.parts import Family

__all__ = [
    "FOOTER",
    "input_words",
    "output_words",
    "promise_lines",
    "report_sections",
    "report_tiles",
    "report_title",
    "table_name",
    "verdict_box",
    "with_tables",
]

FOOTER = (
    "Made with discreet. This report holds names of columns, released values and counts. No count is smaller than the "
    "promised class size or than five, and nothing is said about the people who were left out."
)


def report_title(release: Release) -> tuple[str, str]:
    """Return the title of a report and the line below it."""
    made = release.made.replace("T", " ")[:16]
    return with_tables("Release report", release), f"Made {made} UTC with discreet {release.versions['discreet']}"


def with_tables(title: str, release: Release) -> str:
    """Return a title with the names of the tables, as far as they have any."""
    tables = release.job.get("tables") or {"": release.job.get("input")}
    names = [name if location is None else table_name(str(location)) for name, location in tables.items()]
    return f"{title}: {listed(names)}" if all(names) else title


def table_name(location: str) -> str:
    """Return the name of a file or table without its folder."""
    return str(TableUrl.parse(location).table) if is_url(location) else Path(location).name


def report_sections(release: Release, more: Sequence[Section] = ()) -> list[Section]:
    """Return the sections of a report, the most important first; ``more`` come before the columns."""
    return [
        Section("", [verdict_box(release.verdict), report_tiles(release)]),
        Section("What was requested", list(_job(release))),
        Section("What was done", list(_result(release))),
        *_schemes(release),
        Section("Proof", list(_proof(release))),
        Section("Privacy audit", list(_audit(release))),
        Section("Risk before and after", list(_risk(release, release.least))),
        *more,
        Section("Columns before and after", list(_columns(release))),
        Section("How to repeat it", list(_repeat(release))),
    ]


def verdict_box(verdict: Verdict) -> VerdictBox:
    """Return the verdict, which comes first."""
    return VerdictBox(verdict.level, verdict.headline, [(each.level, each.sentence) for each in verdict.findings])


def _schemes(release: Release) -> Iterator[Section]:
    """Yield the schemes that were tried for ``best``."""
    tried = schemes_tried(release)
    if tried:
        caption = "Bars of a measure have one scale; shorter is better."
        yield Section(
            "Schemes that were tried",
            [
                Text(f"All keep the same promises; {scheme_names(release.job)} loses least and was taken."),
                DataTable(HEAD, table_rows(tried)),
                Figure(schemes_chart(tried), caption),
            ],
        )


def report_tiles(release: Release) -> Tiles:
    """Return the key figures."""
    left_out, audit, proven = LeftOut.of(release), release.audit, release.status == "optimal"
    if audit.classes:
        highest = f"1 in {audit.smallest_class:,}"
        risk = f"of being found; on average 1 in {1 / audit.sizes.average_risk:,.0f}"
        if unprotected(release) is not None:
            risk += "; by whoever knows all quasi-identifiers"
    else:
        highest, risk = "none", "nothing was released"
    loss = "not shown" if left_out.hides_cost or release.drawn else percent(release.normalized_cost)
    relative = "of the loss if everybody were left out"
    if left_out.hides_cost:
        relative = f"it would reveal {'how few' if left_out.few else 'who'} were left out"
    best = (
        "proven"
        if proven
        else "not proven"
        if left_out.hides_cost or release.drawn
        else f"within {percent(release.gap)}"
    )
    if release.drawn:
        relative = "it would help to undo how the release was drawn"
    proof = (
        f"no {scheme_names(release.job)} recoding that keeps the promises costs less"
        if proven
        else "the largest possible distance from the best"
    )
    return Tiles(
        [
            Tile("Privacy audit", "passed" if audit.passed else "FAILED", _promises_kept(release), audit.passed),
            Tile(f"{_title(left_out)} in the release", f"{left_out.released:,}", _out_of(left_out)),
            Tile("Highest risk", highest, risk),
            Tile("Loss", loss, relative),
            Tile("Best possible?", best, proof, True if proven else None),
        ]
    )


def _title(left_out: LeftOut) -> str:
    return "People" if left_out.unit == "row" else units(left_out.unit).capitalize()


def _out_of(left_out: LeftOut) -> str:
    """Return out of how many people, and how many were left out, as far as that may be disclosed."""
    if not left_out.total:
        return f"of {left_out.released:,}; nobody was left out"
    if left_out.rows is None:
        return left_out.words
    gone = left_out.total if left_out.counted is None else left_out.counted.suppressed
    return f"of {left_out.rows:,}; {percent(gone / left_out.rows)} left out"


def _promises_kept(release: Release) -> str:
    number = sum(check.model != "number of rows" for check in release.audit.checks)
    if not release.audit.passed:
        broken = len(release.audit.failed)
        return f"{broken} of {amount(number, 'promise')} {either(broken, 'is', 'are')} broken"
    return {1: "the promise is kept", 2: "both promises are kept"}.get(number, f"all {number} promises are kept")


def _job(release: Release) -> Iterator[Block]:
    job = release.job
    yield Text("The goal was a table that is safe to share and keeps these promises:")
    yield BulletList(list(promise_lines(release)))
    identifiers, sensitive = list(job.get("identifiers") or ()), list(job.get("sensitive") or ())
    schemes = job["scheme"]
    schemes = dict.fromkeys(schemes.values()) if isinstance(schemes, Mapping) else [schemes]
    label = job.get("class_attribute")
    facts = [
        ("others may know", f"{', '.join(job['quasi_identifiers'])}; these are made coarser"),
        ("nobody may learn", ", ".join(sensitive) if sensitive else "no column was named"),
        ("removed", ", ".join(identifiers) if identifiers else "no column"),
        *_owners(job),
        *([("to be predicted", str(label))] if label else []),
        *([("survey weights", f"{job['weights']}; released unchanged")] if job.get("weights") else []),
        *([("drawn from", str(release.stats["population"]))] if "population" in release.stats else []),
        ("how", " ".join(_described(SCHEMES, scheme) for scheme in schemes)),
        ("kept low", _described(COSTS, job.get("cost") or ("score" if job.get("priorities") else "LM"))),
        ("people left out", _described(SUPPRESSION, job["suppression"])),
        *_limits(job),
    ]
    yield Facts(facts)


def _owners(job: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield whose rows they are, and what becomes of the columns that say so."""
    named = pseudonym_columns(job)
    counted = "household" if job.get("household") else "person"
    for unit in ("person", "household"):
        if job.get(unit):
            leaves = "released as random pseudonyms" if job[unit] in named else "removed"
            yield f"the {unit}", f"{job[unit]}; {leaves}" + (f"; promises count {units(unit)}" * (unit == counted))


def promise_lines(release: Release) -> Iterator[str]:
    """Yield the text form of each promise, and what it means."""
    sensitive = list(release.job.get("sensitive") or ())
    for text in release.job["privacy"]:
        try:
            model = PRIVACY.make(text).resolve(sensitive)
        except UsageError:  # a model that was passed as an object and has no text form
            yield promise_for_reports(text)
        else:
            yield f"{model.shown}: {model.words}" if model.words else model.shown


def _described(family: Family[Any], text: str) -> str:
    """Return the text form of a choice, and what it means."""
    try:
        return f"{text}: {family.make(text).words}"
    except UsageError:  # a part that was passed as an object
        return text


def _limits(job: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, name in (
        ("priorities", "priorities"),
        ("keep_at_least", "highest level"),
        ("min_levels", "lowest level"),
        ("max_levels", "highest level"),
    ):
        if job.get(key):
            yield name, ", ".join(f"{column} {number}" for column, number in job[key].items())
    if job.get("time_limit"):
        yield "time to search", f"{job['time_limit']:g} s"


def _result(release: Release) -> Iterator[Block]:
    left_out = LeftOut.of(release)
    classes = amount(release.classes, "class", "classes")
    of = "" if left_out.rows is None else f" of {left_out.rows:,}"
    verb = either(left_out.released, "is", "are")
    name = units(left_out.unit)
    alike = "people" if left_out.unit == "row" else name
    facts = [(name, f"{left_out.released:,}{of} {verb} released, in {classes} of {alike} who look the same")]
    if left_out.counted is not None:
        facts.append(("rows", left_out.row_words))
    if left_out.total:
        facts.append(("left out", left_out.words))
    if release.suppressed_values:
        unknown = release.suppressed_values / max(left_out.released, 1)
        facts.append(("made unknown", f"{amount(release.suppressed_values, 'sensitive value')}, {percent(unknown)}"))
    if not (left_out.hides_cost or release.drawn):
        share = percent(release.normalized_cost)
        facts.append(("cost", f"{number_text(release.cost)}, {share} of the cost of leaving everybody out"))
    if release.score is not None:
        of = "" if left_out.total else f" of {number_text(release.stats['score_before'])}"
        facts.append(("score", f"{number_text(release.score)}{of}"))
    yield Facts(facts)
    if left_out.why_withheld is not None:
        yield Text(left_out.why_withheld)
    yield _column_table(release)
    if left_out.total:
        yield Text(f"Values are counted among the {values_of(release)} in the release.")
    if release.kept:
        unchanged = [
            [column.name, rounded_percent(column.unique, release.audit.rows), "yes" if column.confirmed else "no"]
            for column in release.kept
        ]
        yield DataTable(["released unchanged", "rows with a value nobody else has", "confirmed"], unchanged, words=2)
    notes = handed_over(release.notes)
    if notes:
        yield BulletList([f"Warning: {note}" if isinstance(note, Caution) else note for note in notes])


def _column_table(release: Release) -> DataTable:
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
    return DataTable([*head, "values before", "values after"], rows, words=3 if several else 2)


def _level(column: ReleasedColumn) -> str:
    if column.level is None:
        return "–"
    return f"{column.level}" if column.height is None else f"{column.level} of {column.height}"


def _proof(release: Release) -> Iterator[Block]:
    left_out = LeftOut.of(release)
    cost = "" if left_out.hides_cost else f" The release costs {number_text(release.cost)}."
    if release.status == "optimal":
        yield Text(
            f"The search was complete.{cost} It is proven that no release of this table that keeps the promises, with "
            "the same scheme and suppression, costs less."
        )
    elif release.drawn:
        yield Text(
            "The release was drawn at random near the best one, as a precaution against attacks that use optimality. "
            "How near stays with the owner of the data."
        )
        return
    elif left_out.hides_cost:
        yield Text("The search ended before it was complete, so a release that costs less may exist.")
    else:
        yield Text(
            f"The search ended before it was complete.{cost} No release that keeps the promises, with the same scheme "
            f"and suppression, costs less than {number_text(release.lower_bound)}: "
            f"at most {percent(release.gap)} of the cost could be saved."
        )
    if left_out.total:
        yield Text(
            "The course of the search also depends on the people who were left out, so it is not shown here; the owner "
            "of the data has it in release.stats and release.trace."
        )
    else:
        yield from _search(release)


def _search(release: Release) -> Iterator[Block]:
    """Yield the course of the search, as far as the solver records it."""
    stats = release.stats
    if stats.get("space") and "examined" in stats:
        bounds = "bounds rule out the others" if release.status == "optimal" else "the lower bound holds for the others"
        yield Text(
            f"{int(stats['examined']):,} of {count_text(stats['space'])} possible recodings were examined; {bounds}."
        )
    caption = "Best cost and lower bound during the search; where they meet, the proof is complete."
    yield Figure(trace_chart(release.trace), caption, release.trace_text())


def _audit(release: Release) -> Iterator[Block]:
    audit, hidden = release.audit, withheld_promises(release)
    yield Text(
        "The release was read back and checked from scratch, by code that shares nothing with the search: "
        f"{audit.counts} in {amount(audit.classes, 'class', 'classes')}"
        + (f", the smallest of {audit.smallest_words}." if audit.classes else ".")
    )
    yield DataTable(["promise", "promised", "reached", "verdict"], check_rows(audit, hidden))
    key_sets, more = key_set_rows(audit)
    if key_sets:
        yield Text("Key sets were grouped one by one, each by the released values of its columns alone:")
        yield DataTable(list(KEY_SET_HEAD), key_sets)
        if more:
            yield Text(more)
    if hidden:
        yield Text(
            "Values reached by promises that compare classes with the whole table are not shown: they would disclose "
            "something about people who were left out."
        )


def _risk(release: Release, least: int) -> Iterator[Block]:
    right = "row" if release.audit.people is None else release.audit.unit
    yield Text(
        "Somebody who knows that a person is in the table, and knows all of the person's quasi-identifiers, is left "
        f"with those who look the same: the chance of picking the right {right} is 1 in the size of that class."
    )
    only = unprotected(release)
    if only is not None:
        yield Text(only)
    before, after = release.released_before, release.audit.sizes
    if before is None:
        yield Text(
            "Single records of classes were left out. The risk of the others before the release is not shown, as it "
            "would disclose something about those."
        )
    elif LeftOut.of(release).total:
        yield Text(f"Before and after are both about the {counted_as(release)} in the release.")
    if release.audit.people is not None:
        yield Text(
            f"The figures are of {units(release.audit.unit)}: each counts once, by the row that is found most easily, "
            "in the smallest of its classes."
        )
    tables = [after] if before is None else [before, after]
    who = counted_as(release)
    yield DataTable(
        ["", *(["before"] if before is not None else []), "after"],
        [
            ["highest risk", *(_one_in(table.highest_risk) for table in tables)],
            ["average risk", *(_one_in(table.average_risk) for table in tables)],
            [f"{who} who look like nobody else", *(few(table.unique, least) for table in tables)],
            [f"{who} in classes smaller than {least}", *(few(table.below(least), least) for table in tables)],
            ["classes", *(few(table.count, least) for table in tables)],
        ],
    )
    if before is not None and before.sizes and after.sizes:
        edges = edges_for(before, after)
        counts = [_safe_counts(table.ranges(edges), least) for table in (before, after)]
        lines = [f"{'class size':>12}  {f'{who} before':>14}  {f'{who} after':>14}"]
        rows = zip(size_names(edges), *counts, strict=True)
        lines += [f"{name:>12}  {first:>14}  {second:>14}" for name, first, second in rows]
        caption = f"The share of the {who} in classes of each size. Counts of few {who} are not drawn."
        yield Figure(size_chart(before, after, least, who=who), caption, "\n".join(lines))


def _one_in(risk: float) -> str:
    return f"1 in {number_text(round(1 / risk, 1))} ({percent(risk)})" if risk else "none"


def _safe_counts(counts: Sequence[int], least: int) -> list[str]:
    """Write counts whose total is known, without any small one that could be found by subtraction."""
    hidden = hidden_cells(counts, least)
    return ["not shown" if secret else f"{count:,}" for count, secret in zip(counts, hidden, strict=True)]


def _columns(release: Release) -> Iterator[Block]:
    who = values_of(release)
    yield Text(
        f"Each quasi-identifier as it was before and as it is released, counted among the {who} in the release. Ranges "
        "at both ends include all values beyond. In the hierarchies, from the root at the top to the original values, "
        f"released values are filled and lost ones dotted; the width of a box is the number of {who} in it."
    )
    total = release.n - release.suppressed
    typed = not LeftOut.of(release).total  # a single value of somebody left out can make numbers text
    yield Cards([_card(column, total, who, typed=typed) for column in release.columns])


def _card(column: ReleasedColumn, total: int, who: str, *, typed: bool) -> Card:
    if column.of is None:
        left = amount(column.values, "released value")
    elif column.detail:
        left = f"{amount(column.values, 'different released value')}, from {amount(column.of, 'original value')}"
    else:
        level = None if column.height is None else column.level
        left = RecodedAttribute(column.name, column.values, column.of, level, column.height).words
    made = ", made automatically" if column.automatic else ""
    hierarchy = "" if column.hierarchy is None else f"; hierarchy {column.hierarchy}{made}"
    blocks: list[Text | BulletList | Facts | DataTable | Figure] = []
    spread, tree = spread_chart(column), tree_chart(column)
    if spread:
        blocks.append(Figure(spread, "" if column.after else "The distribution before."))
    if column.bars and (not spread or column.after is None):
        blocks.append(Figure(bar_chart(column, total, who=who), ""))
    if tree:
        blocks.append(Figure(tree, ""))
    if column.detail:
        rows = [[words, f"{count:,}", percent(count / max(total, 1))] for words, count in column.detail]
        blocks.append(DataTable(["a released value covers", who, "share"], rows))
    kind = f"{column.type}; " if typed else ""
    return Card(column.name, f"{kind}{left}{hierarchy}", blocks)


def _repeat(release: Release) -> Iterator[Block]:
    yield Text(
        "The owner of the data repeats it with 'discreet run job.yaml'. The job file also holds the seed and, in "
        "full, the values of the data that are only counted here."
    )
    yield Code(_job_yaml(release.job))
    facts = [("input", input_words(release)), ("output", output_words(release.wrote))]
    facts.append(("versions", ", ".join(f"{name} {version}" for name, version in release.versions.items())))
    seconds = ", ".join(f"{stage} {spent:.2f}" for stage, spent in release.stats["seconds"].items())
    facts.append(("seconds", seconds))
    yield Facts(facts)


def output_words(stamp: FileStamp | None) -> str:
    """Return the name of what was written, with its SHA-256."""
    if stamp is None:
        return "no file"
    try:
        return f"{stamp.name}, SHA-256 {stamp.digest()}"
    except DataError:
        return f"{stamp.name}, changed or moved since"


def input_words(release: Release) -> str:
    """Return the name of the input, with its HMAC if the owner has a key."""
    if release.read is None:
        return "no file"
    key = None if release.key is None or (release.wrote and not release.wrote.unchanged) else release.key.make()
    try:
        keyed = keyed_input(key, release.read, "" if release.wrote is None or key is None else release.wrote.digest())
    except DataError:
        return f"{release.read.name}, changed or moved since"
    return release.read.name if keyed is None else f"{release.read.name}, HMAC-SHA256 {keyed} (by the owner's key)"


def _job_yaml(job: Mapping[str, Any]) -> str:
    """Return a job file without empty options, values of the data and folders of this machine."""
    options = {key: value for key, value in plain_data(job_for_reports(job)).items() if value not in (None, [], {}, ())}
    for key in ("input", "output"):
        if not is_url(options.get(key)) and Path(str(options.get(key, ""))).is_absolute():
            options[key] = Path(str(options[key])).name
    if "tables" in options:
        options.pop("input", None)  # the first of them
        options["tables"] = {name: _without_folder(table) for name, table in options["tables"].items()}
    for key in ("report", "protection_page"):
        if key in options:
            options[key] = [Path(str(name)).name for name in options[key]]
    options.pop("internal_page", None)
    for role in ("quasi_identifiers", "sensitive"):
        forms = {name: _without_folder(form) for name, form in (options.get(role) or {}).items()}
        options |= {role: forms} if forms else {}
        if forms and all(form is None for form in forms.values()):
            options[role] = list(forms)
    import yaml

    return str(yaml.safe_dump(options, sort_keys=False, allow_unicode=True, width=100))


def _without_folder(form: Any) -> Any:
    """Return the text form of a hierarchy; of a file only its name."""
    return Path(form).name if isinstance(form, str) and Path(form).is_absolute() else form
