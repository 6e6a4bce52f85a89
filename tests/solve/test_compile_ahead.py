"""Nothing is left to compile, or to load, for a search once everything was compiled ahead."""

from __future__ import annotations

import subprocess
import sys

import pytest

from discreet.solve.kernels.jit import PLAIN

_SCRIPT = """
import warnings
import discreet as dc
from discreet.errors import InterruptedRun, UnsupportedCombinationError
from discreet.solve import SOLVERS, compile_ahead
from discreet.solve.kernels.compiler.programs import loaded

compile_ahead()
before = loaded()
assert len(before) >= 15
warnings.simplefilter("ignore")
people = dc.sample(40, seed=3).select("sex", "zip", "education", "children", "diagnosis")
roles = {"quasi_identifiers": ["sex", "zip", "education", "children"], "sensitive": "diagnosis", "seed": 1}
models = ("k(3)", "distinct-l(2)", "t-closeness(0.8)")
done = 0
for solver, member in SOLVERS.members().items():
    for scheme in sorted(member.schemes):
        for privacy, cost, suppression in (
            *((model, "LM", "none") for model in models),
            ("k(3)", "DM", "none"), ("k(3)", "NCP", "none"), ("k(3)", "score", "none"), ("k(3)", "LM", "budget(0.2)"),
        ):
            options = {"privacy": privacy, "cost": cost, "suppression": suppression, "scheme": scheme, "solver": solver}
            try:
                for seconds in (0.2, 1e-6):
                    dc.anonymize(people, **roles, **options, time_limit=seconds)
            except UnsupportedCombinationError:
                continue
            except InterruptedRun:
                pass
            done += 1
            late = loaded() - before
            assert not late, (options, sorted(late))
dc.pareto(people, quasi_identifiers=roles["quasi_identifiers"])
assert loaded() == before, sorted(loaded() - before)
assert done > 80, done
"""


@pytest.mark.deep
@pytest.mark.skipif(PLAIN, reason="kernels are not compiled")
def test_no_search_compiles_what_was_not_compiled_ahead() -> None:
    done = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
