"""What the package draws from the operating system is the same in every run of a test."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from discreet.engines.shuffle import Shuffle
from discreet.solve import Budget


def test_draws_come_from_the_name_of_the_test(request: pytest.FixtureRequest) -> None:
    source = Random(f"{os.environ.get('DISCREET_TEST_SALT', '')} {request.node.nodeid}")
    want = Random(source.getrandbits(64)).random()
    assert Budget().random().random() == want
    assert Shuffle.of("random") != Shuffle.of("random")


def test_nothing_imports_conftest() -> None:
    """Whoever does runs it once more, and with it whatever it sets up for all tests."""
    again = "from conftest" + " import"
    modules = sorted(Path(__file__).parent.rglob("*.py"))
    assert [module.name for module in modules if again in module.read_text(encoding="utf-8")] == []
