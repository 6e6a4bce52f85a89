"""Measure the shape of the code, and write the figures into docs/architecture.md.

``python tools/architecture.py`` prints them; ``--write`` puts them between the marks of the page.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "discreet"
PAGE = ROOT / "docs" / "architecture.md"
MARKS = ("<!-- figures: made by tools/architecture.py -->", "<!-- end of figures -->")
MOST_PARAMETERS = 8

PATH = """
import os, sys, tempfile, threading, warnings
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp()
warnings.simplefilter("ignore")
import discreet as dc

folder = tempfile.mkdtemp()
people = dc.sample(400, seed=1).select("name", "sex", "zip", "education", "diagnosis")
people.write_csv(f"{folder}/people.csv")
seen = set()

def note(frame, event, _):
    if event == "call" and frame.f_code.co_name != "<module>":
        seen.add(frame.f_code.co_filename)

def release(number):
    return dc.anonymize(
        f"{folder}/people.csv", identifiers="name", quasi_identifiers=["sex", "zip", "education"],
        sensitive="diagnosis", privacy=["k(3)", "distinct-l(2)"], suppression="budget(5%)", seed=1,
        output=f"{folder}/safe{number}.csv",
    )

def count():
    return sum(f"{os.sep}discreet{os.sep}" in name for name in seen)

release(0).report(f"{folder}/report0.html")  # whatever is done once, such as loading parts, is not on the path
sys.setprofile(note)
made = release(1)
sys.setprofile(None)
flow = count()
sys.setprofile(note)
made.report(f"{folder}/report1.html")
sys.setprofile(None)
print(flow, count())
"""


@dataclass(frozen=True)
class Module:
    """A module of the package."""

    name: str
    path: Path

    @cached_property
    def text(self) -> str:
        """The source."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        """The source as a tree."""
        return ast.parse(self.text)

    @property
    def room(self) -> str:
        """The folder of the package it is in."""
        return self.name.split(".")[1] if "." in self.name else ""

    @property
    def is_kernel(self) -> bool:
        """Whether it holds compiled functions."""
        return ".kernels" in self.name and self.path.name != "__init__.py"

    def imports(self) -> Iterator[tuple[str, str]]:
        """Yield the module and the name of each import from the package, those inside functions too."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and node.level == 0 and (node.module or "").startswith("discreet"):
                yield from ((str(node.module), alias.name) for alias in node.names)

    def functions(self) -> Iterator[tuple[str, int]]:
        """Yield the name and the number of parameters of each function."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                named = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                yield node.name, len([one for one in named if one.arg not in ("self", "cls")])


def modules() -> list[Module]:
    """Return all modules of the package."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        found.append(Module(".".join(parts[:-1] if parts[-1] == "__init__" else parts), path))
    return found


def public_calls(every: list[Module]) -> set[tuple[str, str]]:
    """Return the functions whose parameters are fixed by the outside: the public API, and commands of click."""
    import discreet
    from discreet import evaluate

    public = {*discreet.__all__, *evaluate.__all__}
    found = set()
    for module in every:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef) and (node.name in public or _is_command(node)):
                found.add((module.name, node.name))
    return found


def _is_command(node: ast.FunctionDef) -> bool:
    return any("command" in ast.unparse(decorator) for decorator in node.decorator_list)


def long_functions(every: list[Module]) -> list[str]:
    """Return the functions with more parameters than they should have; public calls may have more."""
    public = public_calls(every)
    return sorted(
        f"{module.name}.{name} ({parameters})"
        for module in every
        for name, parameters in module.functions()
        if parameters > MOST_PARAMETERS and (module.name, name) not in public
    )


def private_imports(every: list[Module]) -> list[str]:
    """Return the imports of private modules and names of other packages."""
    return sorted(
        f"{module.name} imports {source}.{name}"
        for module in every
        for source, name in module.imports()
        if Module(source, SOURCE).room != module.room
        and name != "__version__"
        and any(part.startswith("_") for part in f"{source}.{name}".split("."))
    )


def repeated_classes(every: list[Module]) -> dict[str, int]:
    """Return the class names that occur more than once."""
    counted = Counter(node.name for module in every for node in ast.walk(module.tree) if isinstance(node, ast.ClassDef))
    return {name: count for name, count in sorted(counted.items()) if count > 1}


def comments_in_kernels(every: list[Module]) -> float:
    """Return the comment lines per 1,000 lines of kernels."""
    lines = [line.strip() for module in every if module.is_kernel for line in module.text.splitlines()]
    return 1000 * sum("# " in line for line in lines) / max(len(lines), 1)


def row_path() -> tuple[int, int]:
    """Return how many modules run from a CSV file to an audited one, and to the HTML report."""
    done = subprocess.run([sys.executable, "-c", PATH], capture_output=True, text=True, check=True)
    flow, report = map(int, done.stdout.split())
    return flow, report


def figures() -> list[tuple[str, str]]:
    """Return what is measured, with its figure."""
    every = modules()
    flow, report = row_path()
    searches = Counter(
        module.name.split(".")[2]
        for module in every
        if module.room == "solve" and module.name.count(".") > 2 and module.path.name != "__init__.py"
    )
    return [
        ("modules", f"{len(every)}"),
        ("lines", f"{sum(module.text.count(chr(10)) for module in every):,}"),
        ("modules that run from CSV to audited CSV", f"{flow}"),
        ("modules that run from CSV to HTML report, risk and utility measured", f"{report}"),
        ("modules of each search, all in its folder", ", ".join(f"{name} {n}" for name, n in searches.items())),
        (
            f"functions with more than {MOST_PARAMETERS} parameters besides public calls",
            f"{len(long_functions(every))}",
        ),
        ("imports of private modules or names of other packages", f"{len(private_imports(every))}"),
        ("class names that occur more than once", f"{len(repeated_classes(every))}"),
        ("comment lines per 1,000 lines of kernels", f"{comments_in_kernels(every):.0f}"),
    ]


def main() -> None:
    """Print the figures, and write them where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the figures into docs/architecture.md")
    parser.add_argument("--list", action="store_true", help="list what is behind the figures")
    options = parser.parse_args()
    table = "\n".join(["| what | figure |", "|---|---|", *(f"| {what} | {figure} |" for what, figure in figures())])
    print(table)
    if options.list:
        every = modules()
        print(*long_functions(every), *private_imports(every), *repeated_classes(every).items(), sep="\n")
    if options.write:
        before, rest = PAGE.read_text(encoding="utf-8").split(MARKS[0])
        after = rest.split(MARKS[1])[1]
        PAGE.write_text(f"{before}{MARKS[0]}\n{table}\n{MARKS[1]}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
