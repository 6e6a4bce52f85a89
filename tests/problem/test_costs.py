"""Costs of whole recodings against their plain definitions."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from discreet.errors import UsageError
from discreet.problem.costs import COSTS
from discreet.problem.privacy import PRIVACY
from tables import classes_of, random_sample

FORMS = [
    ("DM", {}),
    ("HDM", {}),
    ("LM", {}),
    ("LM(penalty=l+)", {"penalty": "l+"}),
    ("LM(weights={q0: 3}, penalty=l+)", {"weights": {"q0": 3}, "penalty": "l+"}),
    ("CM", {}),
    ("NCP", {}),
    ("NCP(weights={q0: 0.5})", {"weights": {"q0": 0.5}}),
    ("C_AVG(k=2)", {"k": 2}),
    ("precision", {}),
    ("precision(weights={q0: 2})", {"weights": {"q0": 2}}),
    ("entropy", {}),
    ("entropy(weights={q0: 2})", {"weights": {"q0": 2}}),
    ("ambiguity", {}),
]


@pytest.mark.parametrize(("text", "options"), FORMS, ids=[text for text, _ in FORMS])
def test_total_is_the_definition(text, options):
    """Random tables with ragged hierarchies, numbers, missing values and leaves nobody has; k decides what goes."""
    for seed in range(120):
        sample = random_sample(seed)
        cost = COSTS.make(text).resolve(sample.counts, [])
        vectors = naive.level_vectors(sample.naive)
        for levels in {vectors[0], vectors[-1], vectors[seed % len(vectors)]}:
            k = 1 + seed % 3
            published, suppressed = naive.recode(sample.naive, levels, lambda rows, k=k: len(rows) >= k)
            expected = naive.COSTS[cost.name](sample.naive, levels, published, suppressed, **options)
            classes = classes_of(sample.counts, levels, cost)
            assert cost.total(classes, classes.sizes >= k) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("text", "options"), FORMS, ids=[text for text, _ in FORMS])
def test_worst_is_to_suppress_everything(text, options):
    for seed in range(30):
        sample = random_sample(seed)
        cost = COSTS.make(text).resolve(sample.counts, [])
        everything = list(range(len(sample.naive.rows)))
        expected = naive.COSTS[cost.name](sample.naive, naive.level_vectors(sample.naive)[0], [], everything, **options)
        assert cost.worst(sample.counts) == pytest.approx(expected, rel=1e-9)


def test_value_penalty():
    table = random_sample(1, attributes=(3, 3)).counts
    assert COSTS.make("LM").value_penalty(table) == 1
    assert COSTS.make("LM(penalty=l+)").value_penalty(table) == 3
    assert COSTS.make("LM(weights={q0: 2}, penalty=l+)").value_penalty(table) == 4
    assert COSTS.make("DM").value_penalty(table) == table.n
    assert COSTS.make("HDM").value_penalty(table) == COSTS.make("CM").value_penalty(table) == 1
    assert COSTS.make("NCP(weights={q0: 2})").value_penalty(table) == 4
    assert COSTS.make("C_AVG").value_penalty(table) is None


def test_average_class_size_takes_k_from_k_anonymity():
    table = random_sample(1).counts
    models = [PRIVACY.make("k(3)"), PRIVACY.make("distinct-l(9, s0)")]
    assert COSTS.make("C_AVG").resolve(table, models).k == 3
    assert COSTS.make("C_AVG(k=7)").resolve(table, models).k == 7
    assert COSTS.make("average-class-size").resolve(table, models[1:]).k == 1


def test_classification_needs_labels():
    with pytest.raises(UsageError, match="class attribute"):
        COSTS.make("CM").resolve(random_sample(1, label=False).counts, [])


def test_weights_must_name_quasi_identifiers():
    table = random_sample(1).counts
    for text in ("LM(weights={nowhere: 2})", "NCP(weights={s0: 2})", "precision(weights={y: 2})"):
        with pytest.raises(UsageError) as caught:
            COSTS.make(text).resolve(table, [])
        assert caught.value.column in ("nowhere", "s0", "y")


def test_ambiguity_refuses_what_it_cannot_count():
    sample = random_sample(1)
    attribute = sample.counts.attributes[0]
    wide = type(attribute)("q", np.arange(100_000)[np.newaxis], np.ones(100_000, dtype=np.int64))
    table = type(sample.counts)((wide,) * 61, sample.counts.codes, sample.counts.weights)
    with pytest.raises(UsageError, match="too large"):
        COSTS.make("ambiguity").resolve(table, [])


@pytest.mark.parametrize(
    "text",
    [
        "LM(weights={q0: 0})",
        "LM(weights={q0: -1})",
        "LM(weights={q0: nan})",
        "LM(weights={q0: inf})",
        "LM(weights={q0: true})",
        "LM(weights={q0: much})",
        "LM(weights=3)",
        "LM(penalty=l)",
        "LM(penalty=2)",
        "NCP(weights={q0: 0})",
        "precision(weights=q0)",
        "entropy(weights={q0: -2})",
        "C_AVG(k=0)",
        "C_AVG(k=1.5)",
        "C_AVG(k=true)",
        "DM(2)",
    ],
)
def test_bad_arguments_are_one_clear_sentence(text):
    with pytest.raises(UsageError) as caught:
        COSTS.make(text)
    assert caught.value.message.endswith((".", "?"))


def test_a_missing_array_is_noticed():
    table = random_sample(1).counts
    classes = classes_of(table, [0] * len(table.attributes))
    bare = type(classes)(table, classes.sizes)
    with pytest.raises(ValueError, match="needs"):
        COSTS.make("LM").published(bare)


def test_weights_are_copied():
    given = {"q0": 2}
    cost = COSTS.members()["LM"](weights=given)
    given["q0"] = 5
    assert cost.weights == {"q0": 2}
