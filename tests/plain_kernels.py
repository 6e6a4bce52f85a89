"""Results of kernels that are not compiled, for comparison with those of compiled ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

__all__ = ["plainly"]


def plainly(file: str, function: str) -> Any:
    """Return what a function of a test file returns, as JSON has it, where kernels are plain Python."""
    path = Path(file)
    script = (
        f"import sys; sys.path[:0] = {[str(path.parent), *sys.path]!r}\n"
        f"import json, {path.stem}\n"
        f"print(json.dumps({path.stem}.{function}()))"
    )
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env={**os.environ, "DISCREET_PLAIN_KERNELS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    return json.loads(run.stdout)
