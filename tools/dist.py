"""Build wheel and source archive twice, compare them byte by byte, and try each in a clean environment.

Both builds start from copies of the files under version control, in different folders and at different times, so that
nothing of the machine gets in. The date in the archives is that of the last commit (SOURCE_DATE_EPOCH overrides it).
What is built goes to dist/, with its checksums.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import venv
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


def main() -> None:
    """Build, compare, install and try."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH") or last_commit()}
    with tempfile.TemporaryDirectory(prefix="discreet-dist-") as folder:
        first, second = (build(Path(folder) / name, environment) for name in ("one", "another-place"))
        compare(first, second)
        target = ROOT / "dist"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        for file in first:
            shutil.copy2(file, target / file.name)
            try_out(target / file.name, Path(folder) / f"clean-{file.suffix[1:]}")
        sums = "".join(f"{checksum(file)}  {file.name}\n" for file in sorted(target.iterdir()))
        (target / "SHA256SUMS").write_text(sums, encoding="utf-8")
    print(sums, end="")


def last_commit() -> str:
    """Return when the last commit was made, in seconds since 1970."""
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "1577836800"


def build(folder: Path, environment: dict[str, str]) -> list[Path]:
    """Return wheel and source archive, built from a fresh copy."""
    copy = folder / "source"
    copy.mkdir(parents=True)
    for name in files():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    out = folder / "out"
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(copy)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
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


def try_out(package: Path, folder: Path) -> None:
    """Install a package into a clean environment and make an audited release there."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", str(package)], check=True)
    work = folder / "work"
    work.mkdir()
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run([python, "-c", TRY], cwd=work, env=clean, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{package.name} does not work when installed:\n{done.stderr}")
    print(f"{package.name}: installed into a clean environment; version {done.stdout.strip()}, a release was audited")


def checksum(file: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
