"""Text forms of parts, and the page that lists them."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest

from discreet.errors import UsageError
from discreet.problem.costs import COSTS
from discreet.problem.privacy import PRIVACY
from discreet.problem.schemes import SCHEMES
from discreet.problem.suppression import SUPPRESSION

FAMILIES = {
    "Privacy models": PRIVACY,
    "Costs": COSTS,
    "Suppression": SUPPRESSION,
    "Schemes": SCHEMES,
}
PAGE = Path(__file__).parents[2] / "docs" / "vocabulary.md"


@pytest.mark.parametrize(
    ("family", "written", "canonical"),
    [
        (PRIVACY, "k(5)", "k(5)"),
        (PRIVACY, " K ( 5 ) ", "k(5)"),
        (PRIVACY, "k(k=5)", "k(5)"),
        (PRIVACY, "k-anonymity(5)", "k(5)"),
        (PRIVACY, "distinct-l(3, disease)", "distinct-l(3, disease)"),
        (PRIVACY, "l(3, attribute=disease)", "distinct-l(3, disease)"),
        (PRIVACY, "entropy-l(3, 'the disease')", "entropy-l(3, the disease)"),
        (PRIVACY, "entropy-l(3, 'a, b')", "entropy-l(3, 'a, b')"),
        (PRIVACY, "entropy-l(3, '5')", "entropy-l(3, '5')"),
        (PRIVACY, "entropy-l(3, 'none')", "entropy-l(3, 'none')"),
        (PRIVACY, "recursive-cl(4, 3, disease)", "recursive-cl(4, 3, disease)"),
        (PRIVACY, "l+(25%, disease)", "l+(0.25, disease)"),
        (PRIVACY, "l+({Flu: 0.5, 'HIV, late': 0.1}, disease)", "l+({Flu: 0.5, 'HIV, late': 0.1}, disease)"),
        (PRIVACY, "l+({7: 0.5}, disease)", "l+({'7': 0.5}, disease)"),
        (PRIVACY, "l+(0.2, disease, by=frequency)", "l+(0.2, disease, by=frequency)"),
        (PRIVACY, "t(0.2, disease, equal)", "t(0.2, disease)"),
        (PRIVACY, "t(0.2, disease, ordered)", "t(0.2, disease, ordered)"),
        (PRIVACY, "t(0.2, distance=ordered)", "t(0.2, distance=ordered)"),
        (COSTS, "lm", "LM"),
        (COSTS, "loss", "LM"),
        (COSTS, "LM(penalty=l+)", "LM(penalty=l+)"),
        (COSTS, "LM({age: 2}, l+)", "LM(weights={age: 2}, penalty=l+)"),
        (COSTS, "NCP(weights={'a: b': 1.5})", "NCP(weights={'a: b': 1.5})"),
        (COSTS, "NCP(node_weights={work: {Government: 2}})", "NCP(node_weights={work: {Government: 2}})"),
        (
            COSTS,
            "NCP({a: 2}, {b: {'[30, 40)': 2, '*': 1.5, 7: 3}})",
            "NCP(weights={a: 2}, node_weights={b: {'[30, 40)': 2, *: 1.5, '7': 3}})",
        ),
        (COSTS, "average-class-size", "C_AVG"),
        (SUPPRESSION, "None", "none"),
        (SUPPRESSION, "budget(5%)", "budget(0.05)"),
        (SUPPRESSION, "budget(300)", "budget(300)"),
        (SUPPRESSION, "budget(1)", "budget(1)"),
        (SUPPRESSION, "budget(1.0)", "budget(1.0)"),
        (SUPPRESSION, "budget(100%)", "budget(1.0)"),
        (SUPPRESSION, "vioSA", "violating-values"),
        (SCHEMES, "GSPS", "guided-set"),
    ],
)
def test_canonical_form(family, written, canonical):
    part = family.make(written)
    assert part.text == str(part) == canonical
    assert family.make(canonical) == part
    assert family.make(part) is part
    assert pickle.loads(pickle.dumps(part)) == part


@pytest.mark.parametrize(
    ("family", "text", "says"),
    [
        (PRIVACY, "kk(5)", "did you mean|known are"),
        (PRIVACY, "k5", r"did you mean 'k\(5\)'\?"),
        (PRIVACY, "distinct-l3", r"did you mean 'distinct-l\(3\)'\?"),
        (SUPPRESSION, "budget300", r"did you mean 'budget\(300\)'\?"),
        (PRIVACY, "entropy(3)", "did you mean 'entropy-l'"),
        (COSTS, "NPC", "did you mean 'NCP'|known are"),
        (PRIVACY, "k()", "the form is k"),
        (PRIVACY, "k(5, 6)", "the form is k"),
        (PRIVACY, "k(l=5)", "the form is k"),
        (PRIVACY, "k(5", "bracket"),
        (PRIVACY, "(5)", "not a text form"),
        (PRIVACY, "k(,)", "empty"),
        (PRIVACY, 5, "as text or as an object"),
        (SCHEMES, None, "as text or as an object"),
        (SCHEMES, "subtree(2)", "the form is subtree"),
    ],
)
def test_what_cannot_be_read_is_one_clear_sentence(family, text, says):
    with pytest.raises(UsageError, match=says) as caught:
        family.make(text)
    assert "\n" not in caught.value.message


def listed():
    """Text form and Python name of every line of every table of the page."""
    section = None
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ").strip()
        match = re.match(r"\| (`.*?) \| `(\w+)` \|", line)
        if match and section in FAMILIES:
            for form in re.findall(r"`([^`]+)`", match.group(1)):
                yield section, form, match.group(2)


def test_the_vocabulary_page_lists_every_member():
    forms = list(listed())
    for section, family in FAMILIES.items():
        names = {family.make(form).name for where, form, _ in forms if where == section}
        assert names == set(family.members()), section
    for section, form, name in forms:
        assert type(FAMILIES[section].make(form)).__name__ == name, form
