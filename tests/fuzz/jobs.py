"""Cases: a random table and a random job for it, drawn by a seed.

Each case begins with a pair of parts that go together by the matrix of combinations, or sometimes with one that does
not. Partners are drawn from all members of the other families until discreet itself takes the whole choice, so that a
new member or a new combination takes part by itself.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

import discreet as dc
from discreet.problem.privacy import PRIVACY
from discreet.solve import Combination, combinations
from fuzz.arguments import FAMILIES, Part, known, make_part
from fuzz.tables import Column, quasi_identifier, sensitive_column
from fuzz.taken import is_taken

__all__ = ["FAMILIES", "Case", "Part", "cells", "data_of", "known", "make_case", "options_of", "table_of"]

FRAMES = ("polars", "lazy", "pandas", "pyarrow", "duckdb", "csv", "parquet", "jsonl", "csv by duckdb")
DTYPES = {"text": pl.String, "integer": pl.Int64, "decimal": pl.Float64, "date": pl.Date, "boolean": pl.Boolean}


@dataclass(frozen=True)
class Case:
    """A table and a job."""

    seed: int
    quasi: dict[str, Column]
    sensitive: dict[str, Column]
    label: list | None
    privacy: list[Part]
    cost: Part | None
    suppression: Part
    schemes: dict[str, Part]
    solver: Part | None
    options: dict[str, Any] = field(default_factory=dict)
    frame: str = "polars"
    weights: list | None = None
    owners: list | None = None
    """The person of each row, if promises count people, or the household."""
    unit: str = "person"

    @property
    def rows(self) -> int:
        return len(next(iter(self.quasi.values())).values)

    @property
    def scheme(self) -> str | None:
        """Name of the scheme if it is the same for all columns."""
        names = {part.name for part in self.schemes.values()}
        return names.pop() if len(names) == 1 else None

    @property
    def is_local(self) -> bool:
        """Whether equal values may be recoded differently."""
        return self.scheme in ("local", "cells")

    @property
    def counts_matches(self) -> bool:
        """Whether a hidden cell is equal to every value."""
        return any(part.arguments.get("unknown") == "matches" for part in self.privacy)

    @property
    def exact(self) -> bool:
        """Whether the solver is exact."""
        if self.solver is None:
            return not self.is_local
        plain = self.solver.arguments.get("top", 1) == 1 and not self.solver.arguments.get("extra")
        return known("solver")[self.solver.name].exact and plain

    def original(self) -> list[dict]:
        """The rows with their numbers, without those dropped for a missing value."""
        columns = {name: column.values for name, column in {**self.quasi, **self.sensitive}.items()}
        if self.label is not None:
            columns["y"] = self.label
        if self.weights is not None:
            columns["w"] = self.weights
        if self.owners is not None:
            columns["p"] = self.owners
        rows = [{"rid": i, **{name: values[i] for name, values in columns.items()}} for i in range(self.rows)]
        if self.options.get("missing") == "suppress":
            rows = [row for row in rows if all(row[name] is not None for name in self.quasi)]
        return rows

    def people(self) -> list[dict] | None:
        """The people of the population, without those dropped; None if there is no population table."""
        columns = {name: column.people for name, column in self.quasi.items() if column.people is not None}
        if not columns:
            return None
        rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        if self.options.get("missing") == "suppress":
            rows = [row for row in rows if None not in row.values()]
        return rows

    def __str__(self) -> str:
        """Description from which the case can be reproduced by hand."""
        table = {"rid": list(range(self.rows))}
        for name, column in {**self.quasi, **self.sensitive}.items():
            table[name] = column.values
        if self.label is not None:
            table["y"] = self.label
        if self.weights is not None:
            table["w"] = self.weights
        if self.owners is not None:
            table["p"] = self.owners
        lines = [f"seed {self.seed}, as {self.frame}", f"table = pl.DataFrame({table!r}, strict=False)"]
        options = {name: value for name, value in options_of(self, None).items() if value not in (None, {}, ())}
        lines += [f"  {name}={value!r}" for name, value in options.items()]
        return "\n".join(lines)


# --- cases ------------------------------------------------------------------------------------------------------------

KIND_OF = {
    "schemes": "scheme",
    "suppression": "suppression",
    "costs": "cost",
    "privacy": "privacy",
    "solvers": "solver",
}
"""The families of the matrix by the names used here."""
TRIES = 60


@cache
def cells() -> list[Combination]:
    """All pairs of parts."""
    return combinations()


def make_case(seed: int, *, large: bool = True) -> Case:
    """The case of a seed; without ``large``, tables have at most twelve rows."""
    rng = random.Random(f"job {seed}")
    refused = rng.random() < 0.05
    cell = rng.choice([each for each in cells() if each.works != refused])
    fixed = _fixed(cell)
    n = rng.choice((1, 2, 3, *range(3, 13), *range(6, 13), *((16, 30, 60, 250) if large else ())))
    columns = rng.choice((1, 1, 2, 2, 2, 3, 3, 4))
    columns = max(columns, len(fixed.get("scheme", [])))
    missing = rng.random() < 0.5
    population = _population(rng, fixed)
    others = rng.choice((0, 3, n, 3 * n, 9 * n)) if population == "population" else None
    quasi = {f"q{i}": quasi_identifier(rng, n, missing=missing, others=others) for i in range(columns)}
    sensitive = {f"s{i}": sensitive_column(rng, n) for i in range(_sensitive_columns(rng, fixed))}
    labelled = rng.random() < 0.4 or any("labels" in known("cost")[name].needs for name in fixed.get("cost", []))
    label = [rng.choice("abc") for _ in range(n)] if labelled else None
    weights = [rng.choice((1, 1.5, 2, 2.25, 7, 20)) for _ in range(n)] if population == "weights" else None
    facts = {"n": n, "quasi": quasi, "sensitive": sensitive, "label": label, "population": population}
    frame = rng.choice(FRAMES) if rng.random() < 0.15 else "polars"
    owners, unit = _owners(seed, n, quasi)
    for attempt in range(TRIES):
        drawn = _parts(rng, facts, fixed, plain=attempt > TRIES // 2, usual=cell.choice if attempt > TRIES - 4 else {})
        own = {
            name: _flat(column) if drawn["schemes"][name].name == "cells" else column for name, column in quasi.items()
        }
        case = Case(seed, own, sensitive, label, **drawn, frame=frame, weights=weights, owners=owners, unit=unit)
        if refused or is_taken(case):
            break
    return case


def _flat(column: Column) -> Column:
    """The column with a flat hierarchy, the only one that the scheme cells takes."""
    present = sorted({value for value in column.everything if value is not None})
    return replace(column, given="flat", rows=[(value, "*") for value in present], file=False)


def _owners(seed, n, quasi):
    """Whose rows they are, in one case of six; sometimes all rows of a person have the same quasi-identifiers."""
    rng = random.Random(f"people {seed}")
    if rng.random() > 1 / 6:
        return None, "person"
    people = rng.randint(1, n)
    owners = [f"Person {rng.randrange(people)}" for _ in range(n)]
    if rng.random() < 0.4:
        first = {owner: owners.index(owner) for owner in owners}
        for column in quasi.values():
            column.values[:] = [column.values[first[owner]] for owner in owners]
    return owners, rng.choice(("person", "person", "household"))


def _fixed(cell) -> dict[str, list[str]]:
    """The members of a pair by family."""
    found: dict[str, list[str]] = {}
    for family, name in ((cell.first_family, cell.first), (cell.second_family, cell.second)):
        found.setdefault(KIND_OF[family], []).append(name)
    return found


def _population(rng, fixed):
    """Whether the population is known: where a model may ask for it, and sometimes elsewhere."""
    models = [PRIVACY.make(form) for name in fixed.get("privacy", []) for form in known("privacy")[name].examples]
    if rng.random() < (0.8 if any(model.looks_at_population for model in models) else 0.08):
        return rng.choice(("weights", "population", "population"))
    return None


def _sensitive_columns(rng, fixed):
    count = rng.choice((0, 1, 1, 1, 2))
    kinds = [known("suppression")[name] for name in fixed.get("suppression", [])]
    models = [known("privacy")[name] for name in fixed.get("privacy", [])]
    needed = any(kind.hides_values or not kind.whole_classes for kind in kinds)
    return max(count, 1) if needed or any(model.looks_at_sensitive for model in models) else count


def _parts(rng, facts, fixed, *, plain, usual):
    """Parts of all families and options; ``plain`` draws no options, ``usual`` are partners known to work."""
    drawn: dict[str, Any] = {}
    for family, kind in KIND_OF.items():
        if kind in ("cost", "suppression"):
            name = fixed[kind][0] if kind in fixed else _partner(rng, kind, usual.get(family))
            while kind not in fixed and kind == "cost" and "labels" in known(kind)[name].needs and not facts["label"]:
                name = _partner(rng, kind, None)
            drawn[kind] = make_part(rng, kind, name, facts)
    drawn["solver"] = _solver(rng, facts, fixed, usual)
    drawn["schemes"] = _schemes(rng, facts, fixed, usual)
    drawn["privacy"] = _privacy(rng, facts, fixed, drawn["suppression"], usual)
    drawn["options"] = {"seed": rng.randint(0, 5), **({} if plain else _options(rng, facts["quasi"]))}
    if "priorities" in drawn["options"] and "cost" not in fixed and rng.random() < 0.7:
        drawn["cost"] = None
    if {part.name for part in drawn["schemes"].values()} == {"cells"} and rng.random() < 0.4:
        drawn |= _matching(rng, facts, fixed)
    return drawn


def _matching(rng, facts, fixed):
    """Parts that go with cells that match every value, except for those of the pair."""
    found = {"options": {"seed": rng.randint(0, 5)}}
    if fixed.get("privacy", ["k"]) == ["k"]:
        k = make_part(rng, "privacy", "k", facts).arguments["k"]
        found["privacy"] = [Part("k", {"k": k, "unknown": "matches"}, f"k({k}, unknown=matches)")]
    if "cost" not in fixed:
        found["cost"] = make_part(rng, "cost", "LM", facts)
    if "suppression" not in fixed:
        found["suppression"] = make_part(rng, "suppression", rng.choice(("none", "none", "class-records")), facts)
    return found


def _partner(rng, kind, usual):
    return usual.partition("(")[0] if usual else rng.choice(list(known(kind)))


def _solver(rng, facts, fixed, usual):
    if "solver" in fixed:
        return make_part(rng, "solver", fixed["solver"][0], facts)
    if usual or rng.random() < 0.5:
        name = usual.get("solvers", "auto").partition("(")[0]
        return None if name == "auto" else make_part(rng, "solver", name, facts)
    return make_part(rng, "solver", rng.choice(list(known("solver"))), facts)


def _schemes(rng, facts, fixed, usual):
    """The scheme of each column: one for all, those of the pair by turns, or sometimes any of each."""
    names = list(facts["quasi"])
    chosen = fixed.get("scheme") or [_partner(rng, "scheme", usual.get("schemes"))]
    if len(chosen) == 1 and not usual and rng.random() < 0.25:
        chosen = [*chosen, *(rng.choice(list(known("scheme"))) for _ in names[1:])]
        rng.shuffle(chosen)
    made = {name: make_part(rng, "scheme", name, facts) for name in dict.fromkeys(chosen)}
    return {column: made[chosen[i % len(chosen)]] for i, column in enumerate(names)}


def _privacy(rng, facts, fixed, suppression, usual):
    """One to three models: that of the pair, and any that find the columns they look at."""
    names = [
        name
        for name, member in known("privacy").items()
        if (facts["sensitive"] or not member.looks_at_sensitive) and (facts["population"] or name != "delta-presence")
    ]
    kind = known("suppression")[suppression.name]
    looking = [name for name in names if known("privacy")[name].looks_at_sensitive]
    chosen = list(fixed.get("privacy", []))
    if not chosen and usual:
        chosen = [usual["privacy"].partition("(")[0]]
    elif not chosen and (kind.hides_values or not kind.whole_classes) and looking and rng.random() < 0.8:
        chosen = [rng.choice(looking)]
    elif not chosen:
        chosen = ["k"] if rng.random() < 0.3 else [rng.choice(names)]
    if not usual:
        chosen += rng.sample(names, min(len(names), rng.choice((0, 0, 0, 1, 2))))
    made = [make_part(rng, "privacy", name, facts) for name in dict.fromkeys(chosen)]
    return [part for part in made if part is not None] or [make_part(rng, "privacy", "k", facts)]


def _options(rng, quasi):
    """Options beside the parts."""
    options: dict[str, Any] = {}
    if rng.random() < 0.15:
        options["missing"] = rng.choice(("suppress", "error"))
    if rng.random() < 0.25:
        options["missing_sensitive"] = rng.choice(("value", "unknown"))
    if rng.random() < 0.2:
        name = rng.choice(list(quasi))
        options[rng.choice(("min_levels", "max_levels", "keep_at_least"))] = {name: rng.randint(0, 2)}
    if rng.random() < 0.1:
        options["priorities"] = {
            name: rng.randint(1, 9) for name in rng.sample(list(quasi), rng.randint(1, len(quasi)))
        }
    return options


# --- what to hand to the tool -----------------------------------------------------------------------------------------


def table_of(case: Case) -> pl.DataFrame:
    columns = {"rid": pl.Series(range(case.rows), dtype=pl.Int64)}
    for name, column in {**case.quasi, **case.sensitive}.items():
        columns[name] = pl.Series(name, column.values, dtype=DTYPES[column.kind])
    if case.label is not None:
        columns["y"] = pl.Series(case.label, dtype=pl.String)
    if case.weights is not None:
        columns["w"] = pl.Series(case.weights, dtype=pl.Float64)
    if case.owners is not None:
        columns["p"] = pl.Series(case.owners, dtype=pl.String)
    return pl.DataFrame({**columns, "name": [f"Person {i}" for i in range(case.rows)]})


def people_of(case: Case) -> pl.DataFrame:
    """The table of the population."""
    columns = {name: pl.Series(column.people, dtype=DTYPES[column.kind]) for name, column in case.quasi.items()}
    return pl.DataFrame(columns)


def data_of(case: Case, folder: Path, table: pl.DataFrame | None = None) -> Any:
    """The table as the kind of data of the case."""
    table = table_of(case) if table is None else table
    if case.frame == "lazy":
        return table.lazy()
    if case.frame == "pandas":
        return table.to_pandas()
    if case.frame == "pyarrow":
        return table.to_arrow()
    if case.frame == "duckdb":
        import duckdb

        return duckdb.connect().from_arrow(table.to_arrow())
    if case.frame == "polars":
        return table
    suffix = case.frame.split()[0]
    path = folder / f"people.{suffix}"
    {"csv": table.write_csv, "parquet": table.write_parquet, "jsonl": table.write_ndjson}[suffix](path)
    return path


def options_of(case: Case, folder: Path | None) -> dict[str, Any]:
    """Arguments of ``anonymize``; hierarchies given as files are written to the folder."""
    options: dict[str, Any] = {
        "identifiers": ["name"],
        "quasi_identifiers": {name: _hierarchy(name, column, folder) for name, column in case.quasi.items()},
        "sensitive": {name: _hierarchy(name, column, folder) for name, column in case.sensitive.items()},
        "class_attribute": None if case.label is None else "y",
        "privacy": [part.text for part in case.privacy],
        "suppression": case.suppression.text,
        "solver": "auto" if case.solver is None else case.solver.text,
        "time_limit": 20,
        **case.options,
    }
    if case.cost is not None:
        options["cost"] = case.cost.text
    schemes = {name: part.text for name, part in case.schemes.items()}
    options["scheme"] = next(iter(schemes.values())) if len(set(schemes.values())) == 1 else schemes
    if case.weights is not None:
        options["weights"] = "w"
    if case.owners is not None:
        options[case.unit] = "p"
    if any(column.people is not None for column in case.quasi.values()):
        options["population"] = people_of(case) if folder else people_of(case).to_dict(as_series=False)
        if folder and case.seed % 3 == 0:  # it need not be of the same kind
            options["population"] = folder / "everybody.parquet"
            people_of(case).write_parquet(options["population"])
    if case.frame == "csv by duckdb":
        options["engine"] = "duckdb"
    return options


def _hierarchy(name, column, folder):
    if not isinstance(column.given, list):
        return column.given
    if folder is None:
        return column.given
    tree = dc.Hierarchy.from_rows(column.given)
    if not column.file:
        return tree
    path = folder / f"{name}-tree.csv"
    tree.to_csv(path)
    return path
