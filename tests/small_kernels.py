"""A module of small kernels, as text, and what tests of compiled programs do with it."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np

from discreet.solve.kernels.compiler import programs

__all__ = ["SOURCE", "program_file", "run", "use"]

SOURCE = '''
"""A kernel module."""
from typing import NamedTuple
import numpy as np
from discreet.solve.kernels.jit import inner_kernel, kernel

class Pair(NamedTuple):
    values: np.ndarray
    factor: float

class Found(NamedTuple):
    squares: np.ndarray
    number: int

FACTOR = 2  # a constant is part of the compiled code

@inner_kernel
def double(x):
    return FACTOR * x

@kernel
def total(values, plus):
    """Add up."""
    result = 0.0
    for value in values:
        result += double(value)
    return result + plus

@kernel
def look(pair, item, flag):
    item.seen += 1
    item.bound = pair.values.max() * pair.factor
    return flag, pair.values.size, item.bound

@kernel
def squares(values):
    return Found(values * values, values.size)

@kernel
def count_rows(table):
    return table.shape[0]

@kernel
def fill(table, row):  # table OUT
    for i in range(table.shape[0]):
        table[i] = row

@kernel
def turn(target, source):  # target OUT
    target[0] = source[target.size - 1]
'''


def program_file(tmp_path: Path) -> Path:
    (path,) = (tmp_path / "cache").glob("*.program")
    return path


def use(tiny: Any) -> float:
    """Load the program of one kernel and call it."""
    values = np.arange(4.0)
    programs.provide("tiny search", lambda: tiny.total(values, 1.0))
    return tiny.total(values, 1.0)


def run(code: str, **environment: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(code)]
    return subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
