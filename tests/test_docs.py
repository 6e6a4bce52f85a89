"""Every example is run: those in the README, the guides and CONTRIBUTING, and those in docstrings."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import pkgutil
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner

import discreet
from discreet.cli import program
from discreet.job import Job
from discreet.pipeline.sample_file import write_sample
from discreet.problem import PRIVACY, privacy
from discreet.samples import HIERARCHIES

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    ROOT / "src" / "discreet" / "explain" / "errors.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
NOT_RUN = {"make", "pip", "git", "python3", "source", ".venv/bin/pre-commit"}


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: str
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        line = text.count("\n", 0, match.start()) + 2
        yield Block(page.name, line, match.group(1), match.group(2))


def save(block: Block) -> bool:
    """Write a block that begins with the name of a file to that file, and say whether it did."""
    match = re.match(r"# (\S+\.(?:py|yaml))\n", block.text)
    if match:
        path = Path(match.group(1))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
    return match is not None


@contextmanager
def without_notes() -> Iterator[None]:
    """Let examples show the message of an error alone: doctest compares the last line, which is a note otherwise."""
    whole = traceback.format_exception_only

    def first_line(*error: Any) -> list[str]:
        return whole(*error)[:1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(doctest.traceback, "format_exception_only", first_line)  # type: ignore[attr-defined]
        yield


def run_python(block: Block, names: dict[str, Any]) -> None:
    if ">>>" not in block.text:
        exec(compile("\n" * (block.line - 1) + block.text, block.page, "exec", dont_inherit=True), names)
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, block.place, block.page, block.line)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    with without_notes():
        runner.run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    assert not runner.failures, "".join(report)


def run_command(command: str, expected: str, place: str) -> None:
    words = shlex.split(command, comments=True)
    if words[0] in NOT_RUN:
        return
    assert words[0] == "discreet", f"{place}: cannot run '{command}'"
    result = CliRunner().invoke(program, words[1:])
    code = re.search(r"# exit code (\d+)", command)
    assert result.exit_code == (0 if code is None else int(code[1])), f"{place}: {command}\n{result.output}"
    if expected:
        pattern = re.escape(expected.strip()).replace("…", ".*")
        assert re.fullmatch(pattern, result.stdout.strip(), re.DOTALL), f"{place}:\n{result.stdout}"


def run_commands(block: Block) -> None:
    text = block.text.replace("\\\n", " ")
    if block.language == "sh":
        for line in text.splitlines():
            if line.strip() and not line.startswith("#"):
                run_command(line, "", block.place)
        return
    for session in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = session.partition("\n")
        run_command(command, expected, block.place)


def run_tests(members: Path) -> None:
    """Run the tests an example wrote, with the models it wrote dropped in."""
    Path("conftest.py").write_text(
        "import discreet.problem.privacy as privacy\n"
        f"privacy.__path__ = [*privacy.__path__, {str(members.resolve())!r}]\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


@pytest.fixture
def dropped_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make files an example puts into the folder of privacy models members of it, for one test."""
    PRIVACY.members()
    monkeypatch.setattr(PRIVACY, "_members", dict(PRIVACY._members))
    monkeypatch.setattr(PRIVACY, "_loaded", False)
    folder = tmp_path / "src/discreet/problem/privacy"
    monkeypatch.setattr(privacy, "__path__", [*privacy.__path__, str(folder)])
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(folder)):
            del sys.modules[name]


@contextmanager
def spark_in(folder: Path) -> Iterator[None]:
    """Let Spark resolve relative paths in a folder, not in the one that its JVM was started in."""
    from lazy import spark

    session = spark()
    paths = session.sparkContext._jvm.org.apache.hadoop.fs
    files = paths.FileSystem.get(session.sparkContext._jsc.hadoopConfiguration())
    before = files.getWorkingDirectory()
    files.setWorkingDirectory(paths.Path(str(folder)))
    try:
        yield
    finally:
        files.setWorkingDirectory(before)


def place(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.usefixtures("dropped_in")
@pytest.mark.parametrize("page", PAGES, ids=place)
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if page.name in ("engines.md", "live-views.md"):
        pytest.importorskip("duckdb", reason="DuckDB is not here; it comes with the extra duckdb")
    names: dict[str, Any] = {"__name__": f"example_{page.stem}"}
    for block in blocks(page):
        on_spark = "pyspark" in block.text
        if on_spark and importlib.util.find_spec("pyspark") is None:
            continue
        if block.language == "python" and not save(block):
            with spark_in(tmp_path) if on_spark else nullcontext():
                run_python(block, names)
        elif block.language in ("sh", "console"):
            run_commands(block)
        elif block.language == "yaml":
            assert save(block), f"{block.place}: begin a job with the name of its file, so that it can be run"
    if Path("tests").exists():
        run_tests(Path("src/discreet/problem/privacy"))


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_script(script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name="__main__")


def test_demo(tmp_path: Path) -> None:
    """The job of ``make demo`` works, and its trees are those of the sample."""
    (tmp_path / "examples").mkdir()
    (tmp_path / "demo").mkdir()
    job_file = shutil.copy(ROOT / "examples" / "demo.yaml", tmp_path / "examples")
    write_sample(tmp_path / "demo" / "people.csv", 5000, seed=1)
    job = Job.load(job_file)
    assert job.quasi_identifiers == {name: HIERARCHIES[name] for name in job.quasi_identifiers}
    release = job.run()
    assert release.audit.passed
    assert release.verdict.level != "danger"  # it is the first release that people see
    assert {file.name for file in (tmp_path / "demo").iterdir()} == {
        "people.csv",
        "safe.csv",
        "report.html",
        "report.json",
        "report.txt",
    }


@pytest.mark.parametrize("page", PAGES, ids=place)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def modules() -> list[str]:
    found = pkgutil.walk_packages(discreet.__path__, "discreet.")
    return ["discreet", *(module.name for module in found if module.name != "discreet.__main__")]


@pytest.mark.parametrize("name", modules())
def test_docstrings(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    module: ModuleType = importlib.import_module(name)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    report: list[str] = []
    with without_notes():
        for test in doctest.DocTestFinder().find(module, name):
            runner.run(test, out=report.append)
    assert not runner.failures, "".join(report)
