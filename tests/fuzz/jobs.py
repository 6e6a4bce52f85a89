"""Cases: a random table and a random job for it, drawn by a seed.

Members of each family come from the registries, so that a new one takes part by itself. For those listed here the
arguments are drawn so that they often make sense; others get arguments by the names and types of their fields.
"""

from __future__ import annotations

import dataclasses
import random
import typing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

import discreet as dc
from discreet.errors import DiscreetError
from discreet.problem.costs import COSTS
from discreet.problem.privacy import PRIVACY
from discreet.problem.schemes import SCHEMES
from discreet.problem.suppression import SUPPRESSION
from discreet.solve import SOLVERS
from fuzz.tables import Column, quasi_identifier, sensitive_column

__all__ = ["FAMILIES", "Case", "Part", "data_of", "known", "make_case", "options_of", "table_of"]

FAMILIES = {"privacy": PRIVACY, "cost": COSTS, "suppression": SUPPRESSION, "scheme": SCHEMES, "solver": SOLVERS}
FRAMES = ("polars", "lazy", "pandas", "pyarrow", "duckdb", "csv", "parquet", "jsonl", "csv by duckdb")
DTYPES = {"text": pl.String, "integer": pl.Int64, "decimal": pl.Float64, "date": pl.Date, "boolean": pl.Boolean}


@dataclass(frozen=True)
class Part:
    """One choice: a member of a family, its arguments and its text form."""

    name: str
    arguments: dict
    text: str


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

    @property
    def rows(self) -> int:
        return len(next(iter(self.quasi.values())).values)

    @property
    def scheme(self) -> str | None:
        """Name of the scheme if it is the same for all columns."""
        names = {part.name for part in self.schemes.values()}
        return names.pop() if len(names) == 1 else None

    @property
    def exact(self) -> bool:
        """Whether the solver is exact."""
        if self.solver is None:
            return self.scheme != "local"
        plain = self.solver.arguments.get("top", 1) == 1 and not self.solver.arguments.get("extra")
        return known("solver")[self.solver.name].exact and plain

    def original(self) -> list[dict]:
        """The rows with their numbers, without those dropped for a missing value."""
        columns = {name: column.values for name, column in {**self.quasi, **self.sensitive}.items()}
        if self.label is not None:
            columns["y"] = self.label
        if self.weights is not None:
            columns["w"] = self.weights
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
        lines = [f"seed {self.seed}, as {self.frame}", f"table = pl.DataFrame({table!r}, strict=False)"]
        options = {name: value for name, value in options_of(self, None).items() if value not in (None, {}, ())}
        lines += [f"  {name}={value!r}" for name, value in options.items()]
        return "\n".join(lines)


# --- arguments --------------------------------------------------------------------------------------------------------


def _weights(rng, case):
    names = list(case["quasi"])
    return {name: rng.choice((0.5, 1, 2, 3)) for name in rng.sample(names, rng.randint(1, len(names)))}


def _secret(rng, case):
    return rng.choice(list(case["sensitive"]) or ["nothing"])


def _thetas(rng, case, column):
    texts = (
        {str(value) for value in case["sensitive"][column].values if value is not None}
        if column in case["sensitive"]
        else set()
    )
    if rng.random() < 0.2 and texts and all(isinstance(v, str) or v is None for v in case["sensitive"][column].values):
        some = rng.sample(sorted(texts), rng.randint(1, len(texts)))
        return {value: rng.choice((0.3, 0.5, 0.8, 1.0)) for value in some}
    return rng.choice((0.25, 0.34, 0.5, 0.75, 1.0))


def _l_plus(rng, case):
    column = _secret(rng, case)
    theta = _thetas(rng, case, column)
    by = "frequency" if rng.random() < 0.25 and not isinstance(theta, dict) else None
    return {"theta": theta, "attribute": column, "by": by}


def _t(rng, case):
    column = _secret(rng, case)
    made = case["sensitive"].get(column)
    distances = ["equal"]
    distances += ["ordered"] if made is not None and made.rows is not None else []
    distances += ["hierarchical"] if made is not None and made.given is not None else []
    return {"t": rng.choice((0.05, 0.1, 0.2, 0.35, 0.5, 1.0)), "attribute": column, "distance": rng.choice(distances)}


def _k(rng, case):
    n = case["n"]
    return n + 1 if rng.random() < 0.02 else min(n, rng.choice((1, 2, 2, 3, 3, 4, 5, max(n // 2, 1), n)))


def _l(rng, case, column):
    values = case["sensitive"][column].values if column in case["sensitive"] else ["x"]
    return max(1, min(rng.randint(1, 4), len(set(values) - {None}) + (rng.random() < 0.02)))


def _distinct_l(rng, case):
    column = _secret(rng, case)
    return {"l": _l(rng, case, column), "attribute": column}


def _k_map(rng, case):
    if case["population"] and rng.random() < 0.8:
        return {"k": rng.choice((1, 2, 3, 4, 6, 9))}
    return {
        "k": rng.randint(1, 9), "fraction": rng.choice((0.01, 0.1, 0.5, 1.0)),
        "estimator": rng.choice(("poisson", "truncated")), "significance": rng.choice((0.05, 0.3)),
    }  # fmt: skip


def _pre_sampling(rng, case):
    level = rng.randint(0, 2)
    return {"k": rng.randint(1, 4), **({"level": level} if level else {})}


def _switches(rng, names):
    return {name: False for name in names if rng.random() < 0.3}


def _cuts(rng, case):
    found = {}
    if rng.random() < 0.3:
        found = {"order": rng.choice(("entropy", "descending", "ascending")), "bounds": rng.choice(("tight", "paper"))}
        found |= _switches(rng, ("update", "incumbent"))
        found |= {"formal": True} if rng.random() < 0.3 else {}
    if rng.random() < 0.1:
        found |= rng.choice(({"top": rng.randint(2, 4)}, {"extra": rng.randint(1, 2)}))
    return found


def _partitions(rng, case):
    if rng.random() < 0.7:
        return {}
    found = {"direction": rng.choice(("auto", "bottom-up", "top-down"))}
    if rng.random() < 0.6:
        techniques = ("node_pruning", "useless", "useful", "seeding", "modified_bfs", "node_order", "applicator_order")
        found |= {"bounds": "paper", **_switches(rng, techniques)}
    return found


def _local(rng, case):
    found = {"bound": rng.choice(("nearest", "prices", "none"))} if rng.random() < 0.4 else {}
    return found | ({"effort": rng.choice(("low", "high"))} if rng.random() < 0.3 else {})


DRAWN = {
    "privacy": {
        "k": lambda rng, case: {"k": _k(rng, case)},
        "distinct-l": _distinct_l,
        "entropy-l": lambda rng, case: {"l": rng.choice((1.0, 1.2, 1.5, 2.0, 2.5)), "attribute": _secret(rng, case)},
        "recursive-cl": lambda rng, case: {
            "c": rng.choice((0.5, 1.0, 2.0, 3.5)), "l": rng.randint(1, 2), "attribute": _secret(rng, case)
        },
        "l+": _l_plus,
        "t": _t,
        "alpha-k": lambda rng, case: {
            "alpha": rng.choice((0.34, 0.5, 0.75, 0.9, 1.0)), "k": min(case["n"], rng.randint(1, 4)),
            "attribute": _secret(rng, case),
        },
        "beta": lambda rng, case: {
            "beta": rng.choice((0.3, 1.0, 2.5)), "attribute": _secret(rng, case),
            "form": rng.choice(("basic", "enhanced")),
        },
        "delta-disclosure": lambda rng, case: {
            "delta": rng.choice((0.3, 0.7, 1.5, 3.0)), "attribute": _secret(rng, case)
        },
        "k-map": _k_map,
        "delta-presence": lambda rng, case: {
            "least": rng.choice((0.0, 0.0, 0.0, 0.05, 0.1, 0.3)), "most": rng.choice((0.3, 0.5, 0.7, 0.9, 1.0))
        },
        "average-risk": lambda rng, case: {"risk": rng.choice((0.1, 0.3, 0.5, 0.8, 1.0))},
        "population-uniqueness": lambda rng, case: {
            "share": rng.choice((0.0, 0.1, 0.5, 1.0)),
            "model": rng.choice(("dankar", "pitman", "zayatz", "zayatz", "snb")),
            "population": case["n"] * rng.choice((1, 2, 10, 1000)),
        },
        "sample-uniqueness": lambda rng, case: {"share": rng.choice((0.0, 0.1, 0.3, 1.0))},
    },
    "cost": {
        "LM": lambda rng, case: {
            **({"weights": _weights(rng, case)} if rng.random() < 0.3 else {}),
            **({"penalty": "l+"} if rng.random() < 0.3 else {}),
        },
        "NCP": lambda rng, case: {"weights": _weights(rng, case)} if rng.random() < 0.3 else {},
        "precision": lambda rng, case: {"weights": _weights(rng, case)} if rng.random() < 0.3 else {},
        "entropy": lambda rng, case: {"weights": _weights(rng, case)} if rng.random() < 0.3 else {},
        "C_AVG": lambda rng, case: {"k": rng.randint(1, 4)} if rng.random() < 0.3 else {},
        "score": lambda rng, case: {
            **({"by": rng.choice(("eta", "log")), "d": rng.randint(1, 5)} if rng.random() < 0.4 else {}),
            **({"weights": {n: rng.randint(1, 9) for n in _weights(rng, case)}} if rng.random() < 0.4 else {}),
        },
    },
    "suppression": {
        "violating-values": lambda rng, case: {"hide": rng.choice(("violating", "ambiguous"))},
        "budget": lambda rng, case: {"limit": rng.choice((0, 1, 2, case["n"], 0.05, 0.1, 0.3, 1.0))},
        "pre-sampling": _pre_sampling,
    },
    "scheme": {
        "local": lambda rng, case: {"show": rng.choice(("mean", "median", "mode"))} if rng.random() < 0.15 else {}
    },
    "solver": {
        "cuts": _cuts,
        "partitions": _partitions,
        "annealing": lambda rng, case: {"steps": rng.randint(1, 300), "restarts": rng.randint(0, 1)},
        "user-oriented": lambda rng, case: {"p": rng.randint(0, 2), "skip": rng.random() < 0.7},
        "local": _local,
        "mondrian": lambda rng, case: (
            {"cut": rng.choice(("strict", "relaxed")), "categories": rng.choice(("ordered", "tree"))}
            if rng.random() < 0.6 else {}
        ),
        "top-down": lambda rng, case: {"rounds": rng.randint(1, 4)} if rng.random() < 0.3 else {},
    },
}  # fmt: skip


def known(kind):
    """The members of a family, sorted by name."""
    return dict(sorted(FAMILIES[kind].members().items()))


def by_fields(rng, member, case):
    """Arguments for a member without a rule, by the names and types of its fields."""
    types = typing.get_type_hints(member)
    found = {}
    for item in dataclasses.fields(member):
        required = item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING
        if not item.init or (not required and item.name != "attribute" and rng.random() < 0.6):
            continue
        kind = types.get(item.name)
        if item.name == "attribute":
            found[item.name] = _secret(rng, case)
        elif item.name == "weights":
            found[item.name] = _weights(rng, case)
        elif kind is int:
            found[item.name] = rng.randint(1, 5)
        elif kind is float or kind == float | int:
            found[item.name] = rng.choice((0.1, 0.5, 1.0, 2.0))
        elif kind is bool:
            found[item.name] = rng.random() < 0.5
        elif typing.get_origin(kind) is typing.Literal:
            found[item.name] = rng.choice(typing.get_args(kind))
        elif required:
            found[item.name] = rng.choice((1, 0.5, _secret(rng, case)))
    return found


def make_part(rng, kind, name, case):
    """A member of a family with random arguments, drawn again if they are refused."""
    member = known(kind)[name]
    drawn = DRAWN[kind].get(name)
    has_fields = any(item.init for item in dataclasses.fields(member))
    for _ in range(8):
        arguments = drawn(rng, case) if drawn else by_fields(rng, member, case) if has_fields else {}
        try:
            return Part(name, arguments, member(**arguments).text)
        except (DiscreetError, TypeError):
            continue
    return None


# --- cases ------------------------------------------------------------------------------------------------------------


def make_case(seed: int, *, large: bool = True) -> Case:
    """The case of a seed; without ``large``, tables have at most twelve rows."""
    rng = random.Random(f"case {seed}")
    n = rng.choice((1, 2, 3, *range(3, 13), *range(6, 13), *((16, 30, 60, 250) if large else ())))
    columns = rng.choice((1, 1, 2, 2, 2, 3, 3, 4))
    missing = rng.random() < 0.5
    population = rng.choice(("weights", "population", "population")) if rng.random() < 0.15 else None
    others = rng.choice((0, 3, n, 3 * n, 9 * n)) if population == "population" else None
    quasi = {f"q{i}": quasi_identifier(rng, n, missing=missing, others=others) for i in range(columns)}
    sensitive = {f"s{i}": sensitive_column(rng, n) for i in range(rng.choice((0, 1, 1, 1, 2)))}
    label = [rng.choice("abc") for _ in range(n)] if rng.random() < 0.4 else None
    facts = {"n": n, "quasi": quasi, "sensitive": sensitive, "population": population}
    solver, schemes, suppression, cost = _fitting(rng, facts, label)
    weights = [rng.choice((1, 1.5, 2, 2.25, 7, 20)) for _ in range(n)] if population == "weights" else None
    privacy = _privacy(rng, facts, schemes, suppression, solver)
    options: dict[str, Any] = {"seed": rng.randint(0, 5)}
    if rng.random() < 0.15:
        options["missing"] = rng.choice(("suppress", "error"))
    if rng.random() < 0.25:
        options["missing_sensitive"] = rng.choice(("value", "unknown"))
    if rng.random() < 0.15:
        name = rng.choice(list(quasi))
        options[rng.choice(("min_levels", "max_levels", "keep_at_least"))] = {name: rng.randint(0, 2)}
    if rng.random() < 0.1:
        options["priorities"] = {
            name: rng.randint(1, 9) for name in rng.sample(list(quasi), rng.randint(1, len(quasi)))
        }
        cost = None if rng.random() < 0.7 else cost
    frame = rng.choice(FRAMES) if rng.random() < 0.15 else "polars"
    return Case(seed, quasi, sensitive, label, privacy, cost, suppression, schemes, solver, options, frame, weights)


def _fitting(rng, facts, label):
    """A solver, schemes, suppression and cost, most of the time a compatible combination."""
    careless = rng.random() < 0.1
    counts_people = facts["population"] is not None and not careless  # few solvers count people of a population
    solvers = [name for name, one in known("solver").items() if one.sees_population or not counts_people]
    solver = None if rng.random() < 0.5 else make_part(rng, "solver", rng.choice(solvers), facts)
    member = known("solver")[solver.name] if solver else None
    names = list(known("scheme")) if member is None or careless else sorted(member.schemes)
    if counts_people:
        names = ["subtree"] if solver and "full-domain" not in names else ["full-domain"]
    one = make_part(rng, "scheme", rng.choice(names), facts)
    schemes = dict.fromkeys(facts["quasi"], one)
    if rng.random() < 0.25 and (careless or one.name != "local"):
        schemes = (
            {
                name: make_part(rng, "scheme", rng.choice([n for n in names if n != "local" or careless]), facts)
                for name in schemes
            }
            if names != ["local"]
            else schemes
        )
    kinds = list(known("suppression")) if careless else _kinds(member, schemes)
    if counts_people:
        kinds = [name for name in kinds if name in ("none", "budget", "class-records")]
    kind = make_part(rng, "suppression", rng.choice((*kinds, *(k for k in kinds if k in ("none", "budget")))), facts)
    costs = [name for name, cost in known("cost").items() if careless or _cost_fits(cost, member, schemes, kind, label)]
    cost = make_part(rng, "cost", rng.choice(costs), facts) if costs else None
    return solver, schemes, kind, cost


def _kinds(member, schemes):
    """The suppression kinds supported by the solver, or by any solver for these schemes."""
    names = {part.name for part in schemes.values()}
    able = (
        [member] if member else [one for one in known("solver").values() if names <= one.schemes and not one.baseline]
    )
    return sorted({kind for one in able for kind in one.suppressions}) or ["none"]


def _cost_fits(cost, solver, schemes, kind, label):
    if solver is not None and not solver().takes(cost()):
        return False
    if kind.name == "pre-sampling" and not cost.counts_values:
        return False
    if kind.name in ("class-values", "violating-values") and cost.name != "LM":
        return False
    if kind.name == "violating-records" and not cost.divisible:
        return False
    if cost.name == "CM" and label is None:
        return False
    names = {part.name for part in schemes.values()}
    if "local" in names and (not cost.local or (cost.counts_values and kind.name != "pre-sampling")):
        return False
    if not names <= {"full-domain", "subtree", "local"} and (cost.counts_values or cost.name in ("C_AVG", "ambiguity")):
        return False
    return not cost.needs_hierarchy or names == {"full-domain"}


def _privacy(rng, facts, schemes, suppression, solver):
    whole_table = all(part.name == "full-domain" for part in schemes.values())
    whole_table = whole_table and (
        solver is None or (known("solver")[solver.name].sees_table and solver.name != "incognito")
    )
    kind = known("suppression")[suppression.name]
    parts = not kind.whole_classes
    names = []
    for name, member in known("privacy").items():
        careless = rng.random() < 0.05
        fits = facts["sensitive"] or not member.looks_at_sensitive
        fits = fits and (not member.of_table or (whole_table and not parts))
        fits = fits and (facts["population"] or name != "delta-presence")
        if parts and member.looks_at_sensitive and suppression.name != "class-values":
            fits = fits and (member.limits_values or (member.favors_even and not kind.hides_values))
        if careless or fits:
            names.append(name)
    chosen = rng.sample(names, min(len(names), rng.choice((1, 1, 1, 2, 3))))
    if facts["population"] and rng.random() < 0.9:
        chosen[0] = rng.choice(("k-map", "delta-presence"))
    elif rng.random() < 0.4 and "k" not in chosen:
        chosen[0] = "k"
    elif whole_table and not parts and rng.random() < 0.1:
        chosen[0] = "population-uniqueness"
    made = [make_part(rng, "privacy", name, facts) for name in chosen]
    return [part for part in made if part is not None] or [make_part(rng, "privacy", "k", facts)]


# --- what to hand to the tool -----------------------------------------------------------------------------------------


def table_of(case: Case) -> pl.DataFrame:
    columns = {"rid": pl.Series(range(case.rows), dtype=pl.Int64)}
    for name, column in {**case.quasi, **case.sensitive}.items():
        columns[name] = pl.Series(name, column.values, dtype=DTYPES[column.kind])
    if case.label is not None:
        columns["y"] = pl.Series(case.label, dtype=pl.String)
    if case.weights is not None:
        columns["w"] = pl.Series(case.weights, dtype=pl.Float64)
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
