"""Contract tests: what every part must keep, for your own too.

Subclass a contract in a test file, give the part in a fixture, and pytest runs the rest::

    class TestMine(PrivacyModelContract):
        @pytest.fixture
        def model(self):
            return MyModel(3)

The random tables have one sensitive attribute; leave yours unnamed and it is filled in.
"""

from discreet.testing._attacks import AttackContract
from discreet.testing._axes import AxisContract
from discreet.testing._builders import BuilderContract
from discreet.testing._costs import CostContract
from discreet.testing._parts import check_description, contract_parts
from discreet.testing._privacy import PrivacyModelContract
from discreet.testing._samples import (
    all_histograms,
    as_classes,
    as_groups,
    classes_by_blocks,
    classes_of,
    random_table,
)
from discreet.testing._schemes import SchemeContract
from discreet.testing._solvers import SolverContract
from discreet.testing._suppression import SuppressionContract

__all__ = [
    "AttackContract",
    "AxisContract",
    "BuilderContract",
    "CostContract",
    "PrivacyModelContract",
    "SchemeContract",
    "SolverContract",
    "SuppressionContract",
    "all_histograms",
    "as_classes",
    "as_groups",
    "check_description",
    "classes_by_blocks",
    "classes_of",
    "contract_parts",
    "random_table",
]
