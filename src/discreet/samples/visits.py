"""Synthetic hospital visits: people of :mod:`discreet.samples.people` who come once or more often.

Seven people make ten visits. Sex, home and household of a person stay the same; the age is that at the visit. As with
people, visits are made in chunks, each from its own random stream and about people of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.samples import people as synthetic
from discreet.samples.people import check_size

__all__ = ["people_of", "sample_tables", "sample_visits", "visit_chunks", "visits_alone"]

_OF_PEOPLE = ("household_id", "sex", "zip")
"""The columns that are the same in all visits of a person."""
_FIRST_DAY, _DAYS = np.datetime64("2021-01-01", "D"), 4 * 365
_DEPARTMENTS = ("Emergency", "Internal medicine", "Surgery", "Orthopaedics", "Paediatrics", "Geriatrics", "Neurology")
_HOUSEHOLD_SIZES = (0.40, 0.30, 0.14, 0.11, 0.05)
"""The shares of households of one person, of two, and so on."""
_STAYS_ILL = 0.6
"""How likely the diagnosis of a further visit is that of the first."""


def sample_visits(n: int = 100_000, seed: int = 0) -> pl.DataFrame:
    """Make ``n`` synthetic hospital visits; by default 100,000 visits of 70,000 people.

    The same ``n`` and ``seed`` give the same visits everywhere.

    >>> visits = sample_visits(10, seed=1)
    >>> visits.columns
    ['patient_id', 'household_id', 'visit_date', 'age', 'sex', 'zip', 'department', 'diagnosis']
    >>> visits.height, visits["patient_id"].n_unique()
    (10, 7)
    """
    return pl.concat(visit_chunks(n, seed))


def sample_tables(n: int = 100_000, seed: int = 0) -> dict[str, pl.DataFrame]:
    """Make the same visits as two tables that are linked by ``patient_id``: people, and their visits.

    >>> {name: table.shape for name, table in sample_tables(10, seed=1).items()}
    {'people': (7, 4), 'visits': (10, 5)}
    """
    visits = sample_visits(n, seed)
    return {"people": people_of(visits), "visits": visits_alone(visits)}


def people_of(visits: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each person who made visits."""
    return visits.group_by("patient_id").agg(pl.col(_OF_PEOPLE).first()).sort("patient_id")


def visits_alone(visits: pl.DataFrame) -> pl.DataFrame:
    """Return visits without what is the same in all visits of a person."""
    return visits.drop(_OF_PEOPLE)


def visit_chunks(n: int, seed: int) -> Iterator[pl.DataFrame]:
    """Yield ``n`` visits in chunks; at least one chunk, which may be empty."""
    check_size(n, seed)
    known = 0
    for chunk in range(max(1, -(-n // synthetic.CHUNK))):
        visits = min(synthetic.CHUNK, n - chunk * synthetic.CHUNK)
        patients = -(-7 * visits // 10)
        yield _visits(visits, patients, known, np.random.default_rng([seed, 1, chunk]))
        known += patients


def _visits(visits: int, patients: int, known: int, random: np.random.Generator) -> pl.DataFrame:
    """Make the visits of some people, who are numbered from ``known`` + 1."""
    who = synthetic.make_people(patients, known, random)
    household = _households(patients, random)
    # Everybody comes once. Half of the other visits are of a fifth of the people.
    often = np.where(random.random(visits - patients) < 0.5, 0.2, 1.0)
    again = (patients * often * random.random(visits - patients)).astype(np.int64)
    patient = random.permutation(np.concatenate([np.arange(patients), again]))
    day = random.integers(0, _DAYS, visits)
    born = who["birth_date"].to_numpy().astype("datetime64[D]")
    date = _FIRST_DAY + day.astype("timedelta64[D]")
    age = np.maximum(((date - born[patient]).astype(np.int64) / 365.2425).astype(np.int64), 0)
    number = np.argsort(random.random(patients)) + known + 1  # numbers say nothing about anything else
    same = random.random(visits) < _STAYS_ILL
    other = random.integers(0, max(patients, 1), visits)
    return pl.DataFrame(
        {
            "patient_id": number[patient],
            "household_id": (household + known + 1)[patient],
            "visit_date": pl.Series(date),
            "age": age,
            "sex": who["sex"].gather(patient),
            "zip": who["zip"].gather(household[patient]),
            "department": _departments(age, random),
            "diagnosis": who["diagnosis"].gather(np.where(same, patient, other)),
        }
    )


def _households(patients: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Return the household of each person, as the number of the first of its members."""
    sizes = random.choice(len(_HOUSEHOLD_SIZES), size=patients, p=_HOUSEHOLD_SIZES) + 1
    first = np.cumsum(sizes) - sizes
    member = np.repeat(first, sizes)[:patients]
    return np.asarray(member, dtype=np.int64)


def _departments(age: NDArray[np.int64], random: np.random.Generator) -> pl.Series:
    """Draw the department of each visit; children and old people have their own."""
    drawn = random.choice(4, size=age.size, p=(0.35, 0.3, 0.2, 0.15))
    own = random.random(age.size) < 0.7
    code = np.where((age < 16) & own, 4, np.where((age >= 75) & own, 5, drawn))
    code = np.where((code == 1) & (random.random(age.size) < 0.3), 6, code)
    return pl.Series(_DEPARTMENTS, dtype=pl.String).gather(code)
