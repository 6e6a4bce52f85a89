"""Every member keeps its family's contract: the examples it gives, and edge cases that are listed here."""

from __future__ import annotations

import pytest

from discreet.problem.axes import AXES
from discreet.problem.costs import COSTS
from discreet.problem.privacy import PRIVACY
from discreet.problem.schemes import SCHEMES
from discreet.problem.suppression import SUPPRESSION
from discreet.testing import (
    AxisContract,
    CostContract,
    PrivacyModelContract,
    SchemeContract,
    SuppressionContract,
    check_description,
    contract_parts,
)

MODELS = {
    "k": ["k(1)", "k(2)", "k(5)"],
    "distinct-l": ["distinct-l(1)", "distinct-l(2)", "distinct-l(4)"],
    "entropy-l": ["entropy-l(1)", "entropy-l(1.5)", "entropy-l(2)", "entropy-l(2.9)", "entropy-l(4)"],
    "recursive-cl": [
        "recursive-cl(0.7, 1)",
        "recursive-cl(0.5, 2)",
        "recursive-cl(1, 2)",
        "recursive-cl(1.1, 2)",
        "recursive-cl(2, 3)",
        "recursive-cl(4, 3)",
    ],
    "l+": [
        "l+(1)",
        "l+(0.3333333333333333)",
        "l+(0.45)",
        "l+({v0: 0, v1: 0.5, v2: 0.25})",
        "l+({v0: 0.1, v1: 0.2, v2: 0.3, v3: 0.3})",
        "l+(0.3, by=frequency)",
    ],
    "t": [
        "t(0)",
        "t(0.3)",
        "t(0.2, distance=ordered)",
        "t(0.05, distance=ordered)",
        "t(0.35, distance=hierarchical)",
        "t(0.1, distance=hierarchical)",
    ],
    "average-risk": ["average-risk(1)", "average-risk(0.3)", "average-risk(0.05)"],
    "sample-uniqueness": ["sample-uniqueness(0)", "sample-uniqueness(0.2)"],
    "population-uniqueness": [
        "population-uniqueness(0, dankar, 1000)",
        "population-uniqueness(0.2, zayatz, 400)",
        "population-uniqueness(0.1, snb, 200)",
        "population-uniqueness(0.05, pitman, 5000)",
    ],
    "k-map": [
        "k-map(1, 1)",
        "k-map(10, 0.2)",
        "k-map(6, 0.5, estimator=truncated)",
        "k-map(9, 0.3, significance=0.2)",
        "k-map(1)",
        "k-map(7)",
        "k-map(20)",
    ],
    "delta-presence": [
        "delta-presence(0, 1)",
        "delta-presence(0, 0.4)",
        "delta-presence(0.3, 0.6)",
        "delta-presence(0.5, 0.5)",
    ],
    "alpha-k": ["alpha-k(1, 1)", "alpha-k(0.5, 3)", "alpha-k(0.34, 2)", "alpha-k(0.75, 6)"],
    "beta": ["beta(0.5)", "beta(1)", "beta(3)", "beta(0.2, form=enhanced)", "beta(2, form=enhanced)"],
    "delta-disclosure": ["delta-disclosure(0.3)", "delta-disclosure(1)", "delta-disclosure(2.5)"],
}
COST_FORMS = {
    "DM": ["DM"],
    "HDM": ["HDM"],
    "LM": ["LM", "LM(weights={q0: 2.5}, penalty=l+)"],
    "CM": ["CM"],
    "NCP": ["NCP", "NCP(weights={q1: 3})"],
    "C_AVG": ["C_AVG", "C_AVG(k=3)"],
    "precision": ["precision", "precision(weights={q0: 0.25})"],
    "entropy": ["entropy", "entropy(weights={q0: 2, q1: 0.5})"],
    "ambiguity": ["ambiguity"],
    "score": ["score", "score(eta, d=2)", "score(log)", "score(weights={q0: 3})"],
}
KINDS = {
    "none": ["none"],
    "budget": ["budget(1.0)", "budget(0.05)", "budget(1)", "budget(17)", "budget(0)", "budget(0.0)"],
    "class-records": ["class-records"],
    "pre-sampling": ["pre-sampling(1)", "pre-sampling(3, level=1)", "pre-sampling(2, levels={q0: 1})"],
    "violating-records": ["violating-records"],
    "class-values": ["class-values"],
    "violating-values": ["violating-values", "violating-values(hide=ambiguous)"],
}


@pytest.mark.parametrize(
    ("family", "member"),
    [
        (family, member)
        for family in (PRIVACY, COSTS, SUPPRESSION, SCHEMES, AXES)
        for member in family.members().values()
    ],
    ids=lambda case: getattr(case, "__name__", ""),
)
def test_every_member_describes_itself(family, member):
    check_description(member, family)
    if family not in (SUPPRESSION, SCHEMES, AXES):
        assert ">>>" in member.__doc__, f"{member.__name__} shows no example"
    if family is PRIVACY:
        assert member.prevents.endswith(".")
        assert member.illustration.endswith(".")


def forms_of(family, more):
    """The examples of all members, and more forms of some."""
    own = [part.text for part in contract_parts(family)]
    return list(dict.fromkeys([*own, *(form for forms in more.values() for form in forms)]))


class TestPrivacyModels(PrivacyModelContract):
    @pytest.fixture(params=forms_of(PRIVACY, MODELS))
    def model(self, request):
        return PRIVACY.make(request.param)


class TestCosts(CostContract):
    @pytest.fixture(params=forms_of(COSTS, COST_FORMS))
    def cost(self, request):
        return COSTS.make(request.param)


class TestSuppression(SuppressionContract):
    @pytest.fixture(params=forms_of(SUPPRESSION, KINDS))
    def kind(self, request):
        return SUPPRESSION.make(request.param)


class TestSchemes(SchemeContract):
    @pytest.fixture(params=forms_of(SCHEMES, {}))
    def scheme(self, request):
        return SCHEMES.make(request.param)


class TestAxes(AxisContract):
    @pytest.fixture(params=forms_of(AXES, {}))
    def axis(self, request):
        return AXES.make(request.param)
