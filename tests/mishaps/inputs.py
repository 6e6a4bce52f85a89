"""The input changes while it is read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from mishaps.base import JOB, environment, failed, mishap, names, people, quick

_CHANGED = """
import sys, os
import polars as pl
import discreet.pipeline.search as flow
from discreet.cli import main
solve = flow._solve
def solve_and_change(*parts):
    found = solve(*parts)
    {change}
    return found
flow._solve = solve_and_change
sys.argv = ["discreet", *sys.argv[1:]]
main()
"""


def _changed(folder: Path, change: str, name: str = "people.csv") -> Any:
    table = people(3_000)
    table.write_csv(folder / name) if name.endswith("csv") else table.write_parquet(folder / name)
    done: Any = subprocess.run(
        [sys.executable, "-c", _CHANGED.format(change=change), "anonymize", name, *JOB, "-o", "safe.csv"],
        cwd=folder, env=environment(folder), capture_output=True, text=True, check=False,
    )  # fmt: skip
    done.code, done.err = done.returncode, done.stderr
    return done


@mishap
def input_changed_while_reading(folder: Path) -> None:
    """Rows are added, taken away, exchanged or cut off between the search and the writing."""
    changes = {
        "row added": "open('people.csv', 'a').write('21,101,f,new,1\\n')",
        "unknown value added": "open('people.csv', 'a').write('999,999,f,new,1\\n')",
        "values exchanged": (
            "t = open('people.csv').read(); s = os.stat('people.csv');"
            " open('people.csv', 'w').write(t.replace(',f,', ',F,').replace(',m,', ',f,').replace(',F,', ',m,'))"
        ),
        "cut off": "os.truncate('people.csv', 20_000)",
        "emptied": "os.truncate('people.csv', 0)",
        "gone": "os.remove('people.csv')",
        "another file": "pl.DataFrame({'a': [1]}).write_csv('people.csv')",
    }
    for what, change in changes.items():
        done = _changed(folder, change)
        assert done.code == 3, (what, done.code, done.err)
        assert done.err.count("\n") == 1, (what, done.err)
        assert names(folder) <= {"people.csv"}, (what, names(folder))


@quick
def input_grows_while_reading(folder: Path) -> None:
    failed(_changed(folder, "open('people.csv', 'a').write('21,101,f,new,1\\n')"), 3, "changed while it was being read")
    assert names(folder) == {"people.csv"}


@mishap
def Parquet_replaced_while_reading(folder: Path) -> None:
    done = _changed(
        folder, "pl.read_parquet('people.parquet').head(9).write_parquet('people.parquet')", "people.parquet"
    )
    assert done.code == 3, done.err
    assert names(folder) == {"people.parquet"}
