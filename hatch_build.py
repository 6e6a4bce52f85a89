"""Puts compiled searches into a wheel if DISCREET_COMPILE=1 is set; without it the wheel is pure Python.

The compiled code needs no particular Python or numba: one wheel serves every Python on a platform. On Linux it needs no
compiler at all, so that numba and LLVM are not among the dependencies of that wheel.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

_PLATFORMS = {"linux-x86_64": "manylinux_2_17_x86_64", "linux-aarch64": "manylinux_2_17_aarch64"}
"""Tags of platforms for whose files nothing but the C library is needed."""
_COMPILE = """
import pathlib, sys
from discreet.solve import compile_ahead
compile_ahead(jobs=int(sys.argv[2]), installation=pathlib.Path(sys.argv[1]))
"""


def _compiled() -> bool:
    return os.environ.get("DISCREET_COMPILE") == "1"


class Dependencies(MetadataHookInterface):
    """Names the compiler among the dependencies, unless compiled searches come as shared libraries."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the dependencies."""
        compiler = [] if _compiled() and sys.platform == "linux" else metadata["optional-dependencies"]["compile"]
        metadata["dependencies"] = sorted([*self.config["dependencies"], *compiler])


class CompiledSearches(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles all searches for the processor family of this machine."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and say where the files go and which platform the wheel is for."""
        if self.target_name != "wheel" or version == "editable" or not _compiled():
            return
        self._folder = tempfile.TemporaryDirectory(prefix="discreet-programs-")
        folder = Path(self._folder.name)
        environment = {
            **os.environ,
            "PYTHONPATH": str(Path(self.root) / "src"),
            "PYTHONHASHSEED": "0",  # numba goes through sets, and two builds should be the same
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        jobs = str(os.cpu_count() or 1)
        subprocess.run([sys.executable, "-c", _COMPILE, str(folder), jobs], env=environment, check=True)
        platform = sysconfig.get_platform()
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{_PLATFORMS.get(platform, platform.replace('-', '_').replace('.', '_'))}"
        for path in sorted(folder.glob("*.program")):
            path.chmod(0o644)
            build_data["force_include"][str(path)] = f"discreet/solve/kernels/programs/{path.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the files."""
        if hasattr(self, "_folder"):
            self._folder.cleanup()
