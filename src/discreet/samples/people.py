"""The generator of synthetic people: each column is drawn from a distribution given the columns before it.

People are made in chunks of :data:`CHUNK` rows, each from its own random stream, so that a table of any size needs the
memory of one chunk, and two tables of the same seed begin with the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from discreet.errors import UsageError
from discreet.samples import distributions

__all__ = ["CHUNK", "COLUMNS", "check_size", "chunks", "make_people", "sample"]

CHUNK = 100_000

COLUMNS = (
    "person_id",
    "name",
    "birth_date",
    "sex",
    "zip",
    "city",
    "education",
    "occupation",
    "marital_status",
    "children",
    "income",
    "diagnosis",
)
"""The columns of the table, in order."""

_COUNTED_ON = np.datetime64("2024-12-31", "D")
_MISSING = {"zip": 0.004, "education": 0.01, "occupation": 0.02, "marital_status": 0.008, "income": 0.03}
_WORKING_AGE = (19, 66)


def sample(n: int = 1000, seed: int = 0) -> pl.DataFrame:
    """Make ``n`` synthetic people. The same ``n`` and ``seed`` give the same people everywhere.

    >>> people = sample(5, seed=1)
    >>> people.columns[:5]
    ['person_id', 'name', 'birth_date', 'sex', 'zip']
    >>> people.equals(sample(5, seed=1))
    True
    """
    return pl.concat(chunks(n, seed))


def chunks(n: int, seed: int) -> Iterator[pl.DataFrame]:
    """Yield ``n`` people in chunks; at least one chunk, which may be empty."""
    check_size(n, seed)
    for chunk in range(max(1, -(-n // CHUNK))):
        start = chunk * CHUNK
        yield make_people(min(CHUNK, n - start), start, np.random.default_rng([seed, chunk]))


def check_size(n: int, seed: int) -> None:
    """Raise a UsageError unless size and seed are whole numbers of at least 0."""
    for what, number in (("number of people", n), ("seed", seed)):
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 0:
            raise UsageError(f"The {what} must be a whole number, 0 or more.", topic="parameter")


def make_people(rows: int, start: int, random: np.random.Generator) -> pl.DataFrame:
    """Make some people, numbered from ``start`` + 1."""
    female = random.random(rows) < 0.507
    age, birth_date = _births(rows, random)
    city, zip_code = _homes(rows, random)
    stage = np.searchsorted(distributions.LIFE_STAGES, age, side="right")
    education = _draw(
        distributions.EDUCATION_SHARES, np.searchsorted(distributions.SCHOOL_STAGES, age, side="right"), random
    )
    occupation = _occupations(age, education, random)
    marital = _draw(distributions.MARITAL_SHARES, stage, random)
    children = _draw(distributions.CHILDREN, np.where(age < 19, 0, np.where(marital == 0, 1, 2)), random)
    diagnosis = _draw(
        distributions.DIAGNOSIS_SHARES, stage + np.where(female, 0, len(distributions.LIFE_STAGES) + 1), random
    )
    income = _incomes(age, occupation, random)

    frame = pl.DataFrame(
        {
            "person_id": np.arange(start + 1, start + rows + 1),
            "name": _names(female, random),
            "birth_date": birth_date,
            "sex": _spell(["female", "male"], (~female).astype(np.int64)),
            "zip": zip_code,
            "city": city,
            "education": _spell(distributions.EDUCATIONS, education),
            "occupation": _spell(distributions.OCCUPATIONS, occupation),
            "marital_status": _spell(distributions.MARITAL_STATUSES, marital),
            "children": children,
            "income": income,
            "diagnosis": _spell(distributions.DIAGNOSES, diagnosis),
        }
    )
    present = {name: pl.Series(name, random.random(rows) >= share) for name, share in _MISSING.items()}
    return frame.with_columns(pl.when(mask).then(pl.col(name)).alias(name) for name, mask in present.items())


def _births(rows: int, random: np.random.Generator) -> tuple[NDArray[np.int64], pl.Series]:
    age = 5 * _draw([distributions.AGE_SHARES], np.zeros(rows, np.int64), random) + random.integers(0, 5, rows)
    days = (age * 365.2425).astype(np.int64) + random.integers(0, 365, rows)
    return age, pl.Series("birth_date", _COUNTED_ON - days.astype("timedelta64[D]"))


def _homes(rows: int, random: np.random.Generator) -> tuple[pl.Series, pl.Series]:
    towns = {name: facts for region in distributions.TOWNS.values() for name, facts in region.items()}
    prefix, codes, share = (np.array(column) for column in zip(*towns.values(), strict=True))
    town = _draw([share], np.zeros(rows, np.int64), random)
    # Squaring puts more people into the first zip codes of a town, its centre.
    zip_code = prefix[town] * 1000 + 7 * (codes[town] * random.random(rows) ** 2).astype(np.int64) + 101
    return _spell(list(towns), town), pl.Series("zip", zip_code).cast(pl.String)


def _occupations(
    age: NDArray[np.int64], education: NDArray[np.int64], random: np.random.Generator
) -> NDArray[np.int64]:
    child, pupil, student, retired = map(distributions.OCCUPATIONS.index, ("Child", "Pupil", "Student", "Retired"))
    begin, end = _WORKING_AGE
    work = _draw(distributions.OCCUPATION_SHARES, education, random)
    studies = (age >= begin) & (age < 27) & (education >= 3) & (random.random(age.size) < 0.45)
    rests = (age >= end) | ((age >= 60) & (random.random(age.size) < 0.35))
    learns = (age < 16) | (random.random(age.size) < 0.85)
    return np.select([age < 6, (age < begin) & learns, studies, rests], [child, pupil, student, retired], work)


def _incomes(age: NDArray[np.int64], occupation: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
    median = np.array(distributions.INCOMES)[occupation]
    seniority = 0.75 + 0.5 * np.clip((age - 20) / 35, 0, 1)
    spread = np.exp(0.35 * random.standard_normal(age.size))
    return (median * seniority * spread / 100).round().astype(np.int64) * 100


def _names(female: NDArray[np.bool_], random: np.random.Generator) -> pl.Series:
    rows, women, men = female.size, distributions.FEMALE_NAMES.split(), distributions.MALE_NAMES.split()
    surnames = distributions.LAST_NAMES.split()
    hers, his = random.integers(0, len(women), rows), random.integers(0, len(men), rows) + len(women)
    first = _spell([*women, *men], np.where(female, hers, his))
    return first + " " + _spell(surnames, random.integers(0, len(surnames), rows))


def _spell(names: Sequence[str], codes: NDArray[np.int64]) -> pl.Series:
    return pl.Series(names, dtype=pl.String).gather(codes)


def _draw(shares: ArrayLike, group: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
    """Draw a column of ``shares`` for each entry of ``group``, which is the row to draw from.

    Row ``g`` has its cumulative shares between ``g`` and ``g + 1``, so that one sorted search serves all rows.
    """
    table = np.asarray(shares, dtype=np.float64)
    steps = np.cumsum(table, axis=1) / table.sum(axis=1, keepdims=True)
    steps[:, -1] = 1.0
    ladder = (steps + np.arange(len(table))[:, None]).ravel()
    drawn = np.searchsorted(ladder, group + random.random(group.size), side="right")
    return np.asarray(drawn - group * table.shape[1], dtype=np.int64)
