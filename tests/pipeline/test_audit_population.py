"""The people of a population who have the released values of a class, against asking every person about every class."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import polars as pl
import pytest

from discreet import parse_block
from discreet.errors import DataError
from discreet.pipeline.audit import population as module
from discreet.pipeline.audit.population import AuditedPopulation

CITIES = {"North": ["a", "b", "c"], "South": ["d", "e"]}


def naive(classes: pl.DataFrame, people: pl.DataFrame, hierarchies: dict[str, Any]) -> list[int]:
    """Ask every person about every class."""
    return [
        sum(
            all(
                value in parse_block(shown, hierarchies.get(name))
                for name, shown, value in zip(people.columns, released, person, strict=True)
            )
            for person in people.rows()
        )
        for released in classes.rows()
    ]


def tables(seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    random = np.random.default_rng(seed)
    ages = [*random.integers(20, 40, 60).tolist(), None, None]
    cities = random.choice(list("abcde"), 62).tolist()
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=int(day)) for day in random.integers(0, 90, 62)]
    people = pl.DataFrame({"age": ages, "city": cities, "day": days})
    shown = {
        "age": [
            "[20, 29]",
            "(25, 30]",
            "[20, 40)",
            "*",
            "22",
            "{21, 23, 38}",
            "[30, 39] or missing",
            None,
            "< 25",
            ">= 39",
        ],
        "city": ["North", "South", "a", "{a, e}", "*", "d", "b", "North", "South", "{c, d}"],
        "day": [
            "[2020-01-01, 2020-02-01)",
            "*",
            "[2020-02-10, 2020-03-01]",
            "2020-01-05",
            "*",
            ">= 2020-03-01",
            "*",
            "*",
            "*",
            "*",
        ],
    }
    order = [random.permutation(10) for _ in shown]
    classes = {
        name: np.array(values, dtype=object)[each].tolist()
        for (name, values), each in zip(shown.items(), order, strict=True)
    }
    return people, pl.DataFrame(classes)


@pytest.mark.parametrize("pairs", [1 << 22, 1])
@pytest.mark.parametrize("seed", range(8))
def test_people_of_classes(seed: int, pairs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PAIRS", pairs)
    people, classes = tables(seed)
    hierarchies = {"city": CITIES}
    found = AuditedPopulation(people, hierarchies, {}).people_of(classes, people.columns)
    assert found.tolist() == naive(classes, people, hierarchies)
    counted = people.group_by(people.columns).len()
    assert (
        AuditedPopulation(counted, hierarchies, {}, is_counted=True).people_of(classes, people.columns).tolist()
        == found.tolist()
    )


def test_global_recoding_is_a_join() -> None:
    people = pl.DataFrame({"city": list("aabcde"), "age": [21, 22, 22, 35, 36, 37]})
    classes = pl.DataFrame({"city": ["North", "North", "South"], "age": ["[20, 30)", "[30, 40)", "[30, 40)"]})
    found = AuditedPopulation(people, {"city": CITIES}, {}).people_of(classes, people.columns)
    assert found.tolist() == [3, 1, 2]


def test_values_nobody_can_interpret() -> None:
    people = pl.DataFrame({"city": list("abc"), "age": [21, 22, 23]})
    for classes in (
        pl.DataFrame({"city": ["East"], "age": ["*"]}),
        pl.DataFrame({"city": ["a"], "age": ["[2020-01-01, 2020-02-01]"]}),
    ):
        with pytest.raises(DataError, match="1 value that neither the population nor its hierarchy knows"):
            AuditedPopulation(people, {}, {}).people_of(classes, people.columns)


def test_a_number_that_nobody_has_is_nobodys() -> None:
    people = pl.DataFrame({"age": [21, 22, 23]})
    assert AuditedPopulation(people, {}, {}).people_of(pl.DataFrame({"age": ["21.5", "22"]}), ["age"]).tolist() == [
        0,
        1,
    ]
