"""The notes and warnings of a release: what users should know and may not expect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engines import index_of, layout_of
from discreet.pipeline.sampling import about_sampling
from discreet.report.columns import kept_rows
from discreet.report.notes import UNPROTECTED, Caution, Private
from discreet.report.small_counts import LEAST, few
from discreet.runtime.integer_codes import add_up
from discreet.runtime.plurals import amount, either
from discreet.schema import Type, missing_mark_notes, near_duplicates, odd_value_notes, suggest_diversity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.counts import CountTable, IntArray
    from discreet.engines import Counted, Source, Weighed
    from discreet.engines.files.dictionary import Dictionary
    from discreet.pipeline.audit import Audit
    from discreet.pipeline.output import TablesOutput, Target
    from discreet.problem import Problem, Scheme
    from discreet.schema import Domain, Schema
    from discreet.solve import Solution

__all__ = ["KEPT_ORDER", "about_hidden", "about_promises", "about_values", "missing_marks", "notes", "population_text"]

KEPT_ORDER = (
    "Rows are in their original order, which may identify people: anyone with a list in the same order can match the "
    "two line by line; leave order=keep out to shuffle them."
)
"""The warning on a release whose rows were not shuffled."""
_FEW = 8
"""A column with at most this many distinct values is no free text, however few rows there are."""


def notes(
    source: Source,
    schema: Schema,
    problem: Problem,
    schemes: Mapping[str, Scheme],
    counted: Counted,
    solution: Solution,
    output: Target | TablesOutput | None,
) -> Iterator[str]:
    """Yield notes on choices that were made for the user; counts are of released rows."""
    if output is not None and output.shuffle is None:
        yield Caution(KEPT_ORDER)
    kept = kept_rows(counted.table, solution)
    layout = layout_of(source)
    if layout is not None and layout.dictionary is not None:
        yield from _about_dictionary(layout.dictionary, schema, output)
    made = [f"'{name}' ({domain.text})" for name, domain in counted.domains.items() if domain.automatic]
    if made:
        yield f"An automatic hierarchy was made for each column without one: {', '.join(made)}."
    for name, domain in counted.domains.items():
        if domain.automatic and domain.type is Type.TEXT and _is_free_text(domain, counted.table, kept):
            yield (
                f"Column '{name}' has a different value in most rows, so an automatic hierarchy may keep next to "
                "nothing of it; name it as an identifier, or give it a hierarchy."
            )
    sorted_text = [
        f"'{name}'"
        for name, domain in counted.domains.items()
        if schemes[name].uses_order and not domain.text and domain.positions is None and _released_values(domain) > 2
    ]
    if sorted_text:
        yield (
            f"Text without a given order was taken in alphabetical order: {', '.join(sorted_text)}; "
            "give one, as in ordered([low, middle, high]), or choose the scheme set."
        )
    if counted.dropped:
        dropped = "Rows with a missing quasi-identifier were left out and are not part of n."
        yield Private(dropped) if counted.dropped < LEAST else dropped
    else:
        for name in counted.missing:
            rows = _rows_without_value(name, counted, kept)
            if rows is None:
                yield f"Column '{name}' has missing values; missing counts as a value of its own."
            elif rows:
                yield f"Column '{name}' has no value in {few(rows)} rows; missing counts as a value of its own."
    note = problem.suppression.note(problem.whole.units.n if problem.limit_of_people else problem.whole.n)
    if note is not None:
        yield note
    if counted.people is not None and not problem.looks_at_population:
        yield (
            "No privacy model uses the population, so it has no effect; choose one that does, as in k-map(20) or "
            "delta-presence(0.1, 0.6)."
        )
    yield from about_sampling(problem, schema, counted)
    yield from _about_population(schema, counted, solution, counted.table.weights if kept is None else kept)
    if solution.status == "feasible":
        yield "Optimality is not proven; the gap is the largest possible distance from the optimum."
    if "precaution" in solution.stats:
        yield Private(_about_precaution(solution.stats["precaution"], solution.cost))
    if "robust" in solution.stats:
        yield Private(_about_draw(solution.stats["robust"]))
    if solution.suppressed_rows == counted.table.n:
        yield "Every row was suppressed: the release is valid, but empty."
    if output is not None and index_of(source, ())[0]:
        yield "The index of the frame was not written."


def _about_dictionary(
    dictionary: Dictionary, schema: Schema, output: Target | TablesOutput | None
) -> Iterator[Private]:
    """Say what of the labels and codes of a statistics file is lost in the format of the output."""
    for column in dictionary.special_missing:
        yield Private(f"Column '{column}' has special missing values, such as .a, which are released as plain ones.")
    if output is None or output.format is None:
        return
    removed, kind = schema.dropped, output.format.kind
    unlabelled = [f"'{name}'" for name in dictionary.unlabelled_in(kind) if name not in removed]
    if unlabelled:
        why = "labels numbers alone" if kind == "dta" else "has no value labels"
        yield Private(
            f"Value labels of {', '.join(unlabelled)} are lost, because {output.format_name} {why}; write .sav to keep "
            "them."
        )
    undeclared = [f"'{name}'" for name in dictionary.undeclared_in(kind) if name not in removed]
    if undeclared:
        yield Private(
            f"Missing-value codes of {', '.join(undeclared)} are released as plain values, because "
            f"{output.format_name} does not declare such codes; write .sav to keep them declared, or read them with "
            "missing_codes=missing."
        )


def _released_values(domain: Domain) -> int:
    """Return how many values of a column occur in released rows."""
    leaves = domain.released_leaves
    return len(domain.labels[0]) if leaves is None else int(leaves.sum())


def _about_precaution(drawn: Mapping[str, Any], cost: float) -> str:
    """Return what was drawn so that the release is not the best one."""
    made = [
        amount(drawn["generalized"], "value generalized", "values generalized"),
        amount(drawn["suppressed_classes"], "class suppressed", "classes suppressed"),
    ]
    before = cost - drawn["extra_cost"]
    share, most = (part / before if before else 0.0 for part in (drawn["extra_cost"], drawn["most_extra_cost"]))
    steps, were = amount(drawn["steps_drawn"], "step"), either(drawn["steps_drawn"], "was", "were")
    if not drawn["generalized"] + drawn["suppressed_classes"]:
        return (
            f"As a precaution against minimality attacks {steps} {were} drawn, but none costs at most {most:.1%} more: "
            "the cut is released without them; raise extra_loss."
        )
    return (
        f"As a precaution against minimality attacks {steps} {were} drawn: {made[0]} and {made[1]}, at {share:.1%} of "
        f"the least cost, which may be {most:.1%} at most."
    )


def _about_draw(drawn: Mapping[str, Any]) -> str:
    """Return among how many recodings a robust release was drawn, and what it costs more than the best."""
    share = drawn["extra_cost"] / drawn["least_cost"] if drawn["least_cost"] else 0.0
    words = (
        f"The release was drawn among {amount(drawn['found'], 'recoding')} within {drawn['epsilon']:.1%} of the best"
    )
    if drawn["found"] == 1:
        return f"{words}: there is no other, so that it is the best one; raise epsilon."
    return f"{words}; it costs {share:.2%} more than that."


def _is_free_text(domain: Domain, table: CountTable, kept: IntArray | None) -> bool:
    """Whether most released rows have a value of their own in a column; of all rows if none is released."""
    if kept is None or not kept.any():
        return len(domain.values) > max(_FEW, table.n / 2)
    number = table.names.index(domain.name)
    return len(np.unique(table.codes[number][kept > 0])) > max(_FEW, int(kept.sum()) / 2)


def _rows_without_value(name: str, counted: Counted, kept: IntArray | None) -> int | None:
    """Return how many released rows have no value in a column; None if it is unknown which rows are released."""
    if kept is None:
        return None
    number, leaf = counted.table.names.index(name), counted.domains[name].ancestors.shape[1] - 1
    return int(kept[counted.table.codes[number] == leaf].sum())


def about_hidden(verdict: Audit) -> Iterator[str]:
    """Yield a warning for each sensitive column with hidden values that are easy to guess."""
    for column, found in verdict.hidden.items():
        way_out = "choose the suppression violating-values(hide=ambiguous) or class-values"
        if found.known:
            yield Caution(
                f"In {amount(found.known_classes, 'class', 'classes')} a hidden value of '{column}' can only be one "
                f"value, because all others that it could be are shown; {way_out}."
            )
        elif found.clear_classes:
            yield Caution(
                f"In {amount(found.clear_classes, 'class', 'classes')} a hidden value of '{column}' can be so few "
                f"values that a guess is likelier than its threshold allows; {way_out}."
            )


def about_promises(schema: Schema, problem: Problem, counted: Counted) -> Iterator[str]:
    """Yield a warning for each sensitive column that no promise is about."""
    promised = _promised_attributes(problem)
    for column in schema.sensitive:
        if column in promised:
            continue
        values, rows = counted.reference[column]["value"], counted.reference[column]["rows"]
        known = rows.filter(values.is_not_null())
        share = float(known.max() or 0) / max(int(rows.sum()), 1)  # type: ignore[arg-type]
        ell = suggest_diversity(len(known), share)
        ask = f"choose one that does, as in distinct-l({ell}, {column})" if ell else "it has one value only"
        yield Caution(f"{UNPROTECTED.format(column)}, so all rows of a class may have the same value in it; {ask}.")


def about_values(schema: Schema, problem: Problem, counted: Counted) -> Iterator[str]:
    """Yield notes on unusual values of sensitive columns, including those of suppressed rows."""
    promised = _promised_attributes(problem)
    for column in schema.sensitive:
        if column in promised and counted.table.sensitive[column].missing:
            yield (
                f"The sensitive column '{column}' has missing values: they count in the size of their class, and "
                "promises are about the known values."
            )
        if near_duplicates(counted.reference[column]["value"]):
            yield (
                f"Column '{column}' has values that differ only in case, spaces or rounding; they count as different "
                "values for diversity, so make them equal in the data if they mean the same."
            )


def missing_marks(counted: Counted) -> Iterator[str]:
    """Yield notes on values that may mean something else, such as a missing value; counts are for the owner alone."""
    for index, (name, domain) in enumerate(counted.domains.items()):
        rows = add_up(counted.table.codes[index], counted.table.weights, domain.ancestors.shape[1])
        yield from missing_mark_notes(name, domain.values, rows[domain.codes])
        yield from odd_value_notes(name, domain.values, rows[domain.codes])
    for name, histogram in counted.table.sensitive.items():
        values = counted.codes[name]
        code = values["code"].to_numpy()
        rows = add_up(histogram.values, histogram.counts, int(code.max(initial=-1)) + 1)
        yield from missing_mark_notes(name, values["value"], rows[code])


def _promised_attributes(problem: Problem) -> set[str | None]:
    """Return the sensitive attributes that a promise is about; None means all."""
    return {getattr(model, "attribute", None) for model in problem.privacy if model.looks_at_sensitive}


def population_text(table: CountTable, weights: str | None) -> str | None:
    """Return how many people the rows were drawn from, and how this is known; None if it is not."""
    if table.population is None:
        return None
    how = "in a table of them" if weights is None else f"by the weights in '{weights}'"
    return f"{table.population.size:,.0f} people, {how}"


def _about_population(schema: Schema, counted: Counted, solution: Solution, kept: IntArray) -> Iterator[str]:
    """Yield notes on the population and the survey weights; ``kept`` has the released rows of each tuple."""
    table, weighing = counted.table, counted.weighed
    if counted.people is not None and table.population is not None:
        lacking = table.weights > table.population.people[table.population.position]
        if kept[lacking].any():
            yield (
                f"The population has fewer people with the values of {few(int(kept[lacking].sum()))} rows "
                "than the data has; it should include everybody in the data."
            )
    if weighing is None:
        return
    light = int(kept[weighing.lightest < 1].sum())
    if light:
        yield (
            f"The weights in '{schema.weights}' may be below 1 in up to {few(light)} rows; a survey weight is the "
            "number of people that a row represents, including itself."
        )
    exposed = int(kept[_exposed_by_weight(table, weighing, solution)].sum())
    yield f"The weights in '{schema.weights}' are released as they are" + (
        f", and reveal the original values of {few(exposed)} rows: no other original values in their class have such a "
        "weight; round the weights first, or make them equal for all rows of a stratum that is released as one."
        if exposed
        else "."
    )


def _exposed_by_weight(table: CountTable, weighing: Weighed, solution: Solution) -> NDArray[np.bool_]:
    """Return which tuples have weights that distinguish them from all other tuples of their class."""
    none = np.zeros(table.tuples, dtype=np.bool_)
    if not solution.blocks or not table.tuples:
        return none
    group = table.group(solution.blocks).ids.astype(np.int64)
    order = np.lexsort((weighing.heaviest, weighing.lightest, group))
    group, low, high = group[order], weighing.lightest[order], weighing.heaviest[order]
    number = np.searchsorted(np.unique(high), high) + group * (table.tuples + 1)
    so_far = np.maximum.accumulate(number)
    heaviest = np.unique(high)[so_far % (table.tuples + 1)]
    first = np.diff(group, prepend=-1) != 0
    last = np.append(first[1:], True)
    alone_below = first | (low > np.roll(heaviest, 1))
    alone_above = last | (np.roll(low, -1) > high)
    found = none.copy()
    found[order] = alone_below & alone_above & ~(first & last)
    if solution.suppressed.size:
        found &= ~solution.suppressed
    return found
