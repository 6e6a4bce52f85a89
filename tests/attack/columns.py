"""Undecided columns: one that leaks must stop the job or cause a warning; harmless ones must not."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import discreet as dc
from attack.base import Outcome
from discreet.errors import DiscreetError

_SYLLABLES = ["ba", "co", "du", "fe", "gi", "ho", "ka", "lu", "me", "no", "pi", "ra", "so", "ti", "vu", "wa", "ze"]
_NAMES = ("x", "info", "v17", "extra", "feld", "otro", "champ", "misc_value")
"""Uninformative column names."""
Maker = Callable[[np.random.Generator, int, list[str]], list[Any]]


def run(seed: int, folder: Path) -> Iterator[Outcome]:
    """Release tables with a column that leaks, and tables with one that only seems to."""
    rng = np.random.default_rng(seed)
    for kind in rng.choice(list(_LEAKS), 8, replace=False).tolist():
        make = _LEAKS[kind]
        rows = int(rng.choice([25, 60, 150, 250, 600, 1500]))
        name, table = _table(rng, rows, make, _NAMED.get(kind, _NAMES))
        how, data = _given(rng, table, folder, f"{kind.replace(' ', '-')}-{seed}")
        yield _stopped(kind, how, data, name)
    for kind in rng.choice(list(_HARMLESS), 3, replace=False).tolist():
        names, make = _HARMLESS[kind]
        rows = int(rng.choice([12, 60, 250, 600, 1500]))
        name, table = _table(rng, rows, make, names)
        how, data = _given(rng, table, folder, f"harmless-{kind.replace(' ', '-')}-{seed}")
        yield _passed(kind, how, data, name)


def _table(rng: np.random.Generator, rows: int, make: Maker, names: tuple[str, ...]) -> tuple[str, pl.DataFrame]:
    people = [f"{_word(rng)} {_word(rng)}" for _ in range(rows)]
    name = str(rng.choice(names))
    columns = {
        "full_name": people,
        "age": [f"{age}0s" for age in rng.integers(2, 6, rows)],
        "sex": rng.choice(["f", "m"], rows).tolist(),
        "illness": rng.choice(["flu", "cold", "ache"], rows).tolist(),
        name: make(rng, rows, people),
    }
    return name, pl.DataFrame(columns, strict=False)


def _given(rng: np.random.Generator, table: pl.DataFrame, folder: Path, name: str) -> tuple[str, dict[str, Any]]:
    """The table as one of the kinds of input."""
    how = str(rng.choice(["polars", "lazy", "pandas", "arrow", "csv", "parquet", "duckdb"]))
    path = folder / f"{name}.{'csv' if how == 'csv' else 'parquet'}"
    if how in ("csv", "parquet", "duckdb"):
        table.write_csv(path) if how == "csv" else table.write_parquet(path)
        return how, {"data": path, **({"engine": "duckdb"} if how == "duckdb" else {})}
    frame = {"lazy": table.lazy, "pandas": table.to_pandas, "arrow": table.to_arrow}.get(how, table.clone)()
    return how, {"data": frame}


def _release(given: dict[str, Any]) -> dc.Release:
    return dc.anonymize(
        **given,
        identifiers="full_name",
        quasi_identifiers={"age": "flat", "sex": "flat"},
        sensitive="illness",
        privacy=["k(2)", "distinct-l(1, illness)"],
        suppression="class-records",
    )


def _stopped(kind: str, how: str, given: dict[str, Any], column: str) -> Outcome:
    try:
        release = _release(given)
    except DiscreetError as error:
        named = column in getattr(error, "columns", ())
        return Outcome("columns", f"{kind} ({how})", named, f"stopped by {type(error).__name__}: {error.message}")
    loud = any(f"'{column}'" in warning for warning in getattr(release, "warnings", ()))
    return Outcome("columns", f"{kind} ({how})", loud, f"'{column}' was released as it is, without a warning")


def _passed(kind: str, how: str, given: dict[str, Any], column: str) -> Outcome:
    try:
        release = _release(given)
    except DiscreetError as error:
        return Outcome("columns", f"harmless: {kind} ({how})", False, error.message)
    held = column in {one.name for one in getattr(release, "kept", ())}
    return Outcome("columns", f"harmless: {kind} ({how})", held, f"'{column}' is not named among the columns kept")


def _word(rng: np.random.Generator, syllables: int = 3) -> str:
    return "".join(rng.choice(_SYLLABLES, syllables)).title()


def _day(rng: np.random.Generator, first: int, last: int) -> datetime.date:
    return datetime.date(first, 1, 1) + datetime.timedelta(days=int(rng.integers((last - first) * 365)))


def _each(make: Callable[[np.random.Generator], Any]) -> Maker:
    return lambda rng, rows, people: [make(rng) for _ in range(rows)]


def _remarks(rng: np.random.Generator, rows: int, people: list[str]) -> list[Any]:
    """Remarks, some of which contain part of the person's own name."""
    plain = ["came late", "no show", "called twice", "asks for a letter"]
    parts = [str(rng.choice(person.split())) for person in people]
    talk = rng.random(rows) < rng.choice([0.1, 0.4, 1.0])
    talk[int(rng.integers(rows))] = True
    return [f"saw {part} again" if one else str(rng.choice(plain)) for part, one in zip(parts, talk, strict=True)]


def _others(rng: np.random.Generator, rows: int, people: list[str]) -> list[Any]:
    """Remarks that occasionally contain the full name of somebody else."""
    return [f"came with {rng.choice(people)}" if rng.random() < 0.1 or not row else "alone" for row in range(rows)]


def _with_gaps(make: Callable[[np.random.Generator], Any]) -> Maker:
    return lambda rng, rows, people: [make(rng) if row % 3 else None for row in range(rows)]


_FORMS = ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y")
_LEAKS: dict[str, Maker] = {
    "own name in remark": _remarks,
    "another's name in remark": _others,
    "name in capitals": lambda rng, rows, people: [person.upper() for person in people],
    "e-mail": _each(lambda rng: f"{_word(rng).lower()}{rng.integers(99)}@example.{rng.choice(['org', 'de', 'fr'])}"),
    "e-mail of some": _with_gaps(lambda rng: f"write to {_word(rng).lower()}@example.org"),
    "telephone": _each(
        lambda rng: f"+{rng.choice([33, 34, 39, 49])} {rng.integers(100, 999)} {rng.integers(10**6, 10**7)}"
    ),
    "hashed id": _each(lambda rng: rng.bytes(16).hex()),
    "uuid": _each(lambda rng: str(uuid.UUID(bytes=rng.bytes(16)))),
    "ip": _each(lambda rng: ".".join(map(str, rng.integers(1, 255, 4)))),
    "birth date": lambda rng, rows, people: [
        _day(rng, 1930, 2012).strftime(form) for form in [str(rng.choice(_FORMS))] for _ in range(rows)
    ],
    "birth date without a name": _each(lambda rng: _day(rng, 1930, 2012)),
    "near-unique number": _each(lambda rng: int(rng.integers(10**6))),
    "near-unique decimal": _each(lambda rng: float(rng.lognormal(10))),
    "code": _each(lambda rng: f"{rng.choice(list('ABCDEF'))}-{rng.integers(10**5):05}"),
    "row number": lambda rng, rows, people: list(range(rows)),
    "free text": _each(lambda rng: " ".join(_word(rng).lower() for _ in range(7))),
    "repeated names": lambda rng, rows, people: rng.choice(people[: max(rows // 10, 20)], rows).tolist(),
    "repeated surnames": lambda rng, rows, people: [
        person.split()[1] for person in rng.choice([*people[: max(rows // 20, 40)]], rows).tolist()
    ],
    "repeated number of few": lambda rng, rows, people: (10**6 + rng.integers(0, max(rows // 15, 40), rows)).tolist(),
    "repeated patient number": lambda rng, rows, people: (10**6 + rng.integers(0, max(rows // 2, 2), rows)).tolist(),
}
_NAMED = {
    "repeated names": ("Name", "Patient", "nom", "who"),
    "repeated surnames": ("Nachname", "Name", "apellido", "last_name"),
    "repeated number of few": ("Pat_ID", "KundenNr", "person_id", "codice_paziente"),
    "birth date": ("Geburtsdatum", "birthDate", "fecha_de_nacimiento", "date naissance", "data_di_nascita"),
    "repeated patient number": ("patient_nbr", "PatientenNr", "customer_id", "numero_paciente"),
}
_HARMLESS: dict[str, tuple[tuple[str, ...], Maker]] = {
    "charge degree": (("c_charge_degree",), _each(lambda rng: str(rng.choice(["F", "M", "O"])))),
    "flag": (("two_year_recid", "is_valid"), _each(lambda rng: int(rng.integers(2)))),
    "count": (("number_outpatient", "num_visits"), _each(lambda rng: int(rng.poisson(2)))),
    "gain": (("capital-gain",), _each(lambda rng: 0 if rng.random() < 0.95 else int(rng.integers(10**5)))),
    "hours": (("shift", "duration"), _each(lambda rng: int(np.clip(rng.normal(40, 8), 1, 80)))),
    "decimal called a date": (("measure_date",), _each(lambda rng: round(float(rng.integers(20)) / 2 + 0.25, 2))),
    "rating": (("rating", "colour"), _each(lambda rng: str(rng.choice(["low", "middle", "high"])))),
}
