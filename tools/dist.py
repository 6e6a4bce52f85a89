"""Build wheels and source archive twice, compare them byte by byte, and try each in a clean environment.

There are two wheels: one of pure Python, which compiles its searches when they are first used, and one for this
platform that has them compiled (``--wheel`` builds that alone, once). Compiled code needs no particular Python, so that
one wheel for a platform serves all of them; ``--pythons`` tries it with several. On Linux it needs no numba and no LLVM
either, and an installation of it must stay small.

Both builds start from copies of the files under version control, in different folders and at different times, so that
nothing of the machine gets in. The date in the archives is that of the last commit (SOURCE_DATE_EPOCH overrides it).
What is built goes to dist/, with its checksums.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TRY = """
import json, pathlib, subprocess, sys
here = pathlib.Path.cwd()
def run(*words):
    done = subprocess.run([sys.executable, "-m", "discreet", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout
import discreet
assert "site-packages" in discreet.__file__, discreet.__file__
run("sample", "-n", "500", "--seed", "1", "-o", "people.csv")
run("anonymize", "people.csv", "-o", "safe.csv", "--qi", "sex,education", "--sensitive", "diagnosis", "-k", "5",
    "-l", "2", "--identifiers", "person_id,name,birth_date,zip,city,occupation,marital_status,children,income",
    "--report", "report.html", "--suppression", "budget(5%)")
audit = json.loads(run("audit", "safe.csv", "--qi", "sex,education", "--sensitive", "diagnosis", "-k", "5", "--json"))
assert audit["passed"], audit
assert "A column is not there" in run("explain", "unknown-column")
assert (here / "report.html").stat().st_size > 10_000
print(discreet.__version__)
"""


NOTHING_COMPILED = """
import importlib.util, sys
from discreet.solve import compile_ahead, listening
from discreet.solve.kernels.compiler import files
files.cache_folder = lambda: None
def fail(progress):
    raise SystemExit(f"{progress}: this should have come with the wheel")
with listening(fail):
    compile_ahead()
assert "numba" not in sys.modules
if sys.platform == "linux":
    for name in ("numba", "llvmlite"):
        assert importlib.util.find_spec(name) is None, f"the wheel should not bring {name}"
"""
SIZE = """
import pathlib, sysconfig
folders = {pathlib.Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")}
tools = ("pip", "setuptools", "pkg_resources", "_distutils_hack")
files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
own = [path for path in files if not any(part.startswith(tools) for part in path.parts)]
print(sum(path.stat().st_blocks * 512 for path in own) // 1_000_000)
"""
MOST_MEGABYTES = 400
"""What an installation without extras may take, where the wheel needs no compiler."""


def main() -> None:
    """Build, compare, install and try."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--wheel", action="store_true", help="build the compiled wheel alone, once")
    options.add_argument("--pythons", nargs="*", default=[], metavar="PYTHON", help="try it with these Pythons, too")
    chosen = options.parse_args()
    environment = {**os.environ, "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH") or last_commit()}
    with tempfile.TemporaryDirectory(prefix="discreet-dist-") as folder:
        first = build(Path(folder) / "one", environment, wheel_alone=chosen.wheel)
        if not chosen.wheel:
            compare(first, build(Path(folder) / "another-place", environment))
        target = ROOT / "dist"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        for number, file in enumerate(first):
            shutil.copy2(file, target / file.name)
            compiled = "none-any" not in file.name and file.suffix == ".whl"
            for python in [sys.executable, *(chosen.pythons if compiled else [])]:
                name = f"clean-{number}-{python.replace('/', '-')}"
                try_out(target / file.name, Path(folder) / name, python, compiled=compiled)
        sums = "".join(f"{checksum(file)}  {file.name}\n" for file in sorted(target.iterdir()))
        (target / "SHA256SUMS").write_text(sums, encoding="utf-8")
    print(sums, end="")


def last_commit() -> str:
    """Return when the last commit was made, in seconds since 1970."""
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "1577836800"


def build(folder: Path, environment: dict[str, str], *, wheel_alone: bool = False) -> list[Path]:
    """Return wheels and source archive, built from a fresh copy; or the compiled wheel alone."""
    copy = folder / "source"
    copy.mkdir(parents=True)
    for name in files():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    out = folder / "out"
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(copy)]
    for words, compiled in (([], "0"), (["--wheel"], "1"))[wheel_alone:]:
        settings = {**environment, "DISCREET_COMPILE": compiled}
        done = subprocess.run([*command, *words], env=settings, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stdout + done.stderr)
    return sorted(out.iterdir())


def files() -> list[str]:
    """Return the files under version control, as they are on the disk; in an unpacked archive all files."""
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return [name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]
    return [
        str(path.relative_to(ROOT))
        for path in ROOT.rglob("*")
        if path.is_file() and not {".venv", "dist", "site", "__pycache__"} & set(path.relative_to(ROOT).parts)
    ]


def compare(first: Sequence[Path], second: Sequence[Path]) -> None:
    """Stop where the two builds differ."""
    for one, other in zip(first, second, strict=True):
        if one.name != other.name or one.read_bytes() != other.read_bytes():
            sys.exit(f"{one.name} is not built reproducibly: two builds differ.")
        print(f"{one.name}: built twice, byte by byte the same")


def try_out(package: Path, folder: Path, base: str, *, compiled: bool) -> None:
    """Install a package into a clean environment and make an audited release there.

    A compiled wheel must have everything compiled, even where no folder can be written.
    """
    subprocess.run([base, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", str(package)], check=True)
    work = folder / "work"
    work.mkdir()
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run([python, "-c", TRY], cwd=work, env=clean, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{package.name} does not work when installed:\n{done.stderr}")
    print(f"{package.name}: installed into a clean environment; version {done.stdout.strip()}, a release was audited")
    if compiled:
        nowhere = {"HOME": os.devnull}
        command = [python, "-c", NOTHING_COMPILED]
        done = subprocess.run(command, cwd=work, env={**clean, **nowhere}, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{package.name} lacks compiled searches:\n{done.stderr}")
        print(f"{package.name}: nothing is left to compile for {base}")
        done = subprocess.run([python, "-c", SIZE], env=clean, capture_output=True, text=True, check=True)
        print(f"{package.name}: an installation takes {done.stdout.strip()} MB")
        if sys.platform == "linux" and int(done.stdout) > MOST_MEGABYTES:
            sys.exit(f"{package.name} should take at most {MOST_MEGABYTES} MB.")


def checksum(file: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
