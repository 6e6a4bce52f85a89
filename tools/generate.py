"""Write what follows from the sources: the stub of ``discreet`` and the generated tables of the documentation.

A table is between ``<!-- generated: NAME FAMILIES -->`` and ``<!-- end -->``. With ``--check`` nothing is written, and
the exit code is 1 if a file is stale.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, get_origin, get_type_hints

import numpy as np

import discreet
from discreet.cli._matrix import CombinationTable, grids, markdown
from discreet.counts import CodedAttribute
from discreet.runtime.parts import Part
from discreet.solve import combinations
from discreet.vocabulary import families

SOURCE = Path(discreet.__file__).parent
ROOT = Path(__file__).resolve().parents[1]
PAGES = ("docs/vocabulary.md", "docs/combinations.md", "docs/how-to/extend.md")
BLOCK = re.compile(r"(<!-- generated: (\w+) ?([\w ]*) -->\n).*?(<!-- end -->)", re.DOTALL)


def stub() -> str:
    """Return ``__init__.pyi``: every public name with the module it comes from, for editors and type checkers."""
    modules: dict[str, list[str]] = {}
    for name, module in discreet._MODULE_OF.items():
        modules.setdefault(module, []).append(name)
    lines = [
        "# Written by tools/generate.py.",
        *(f"from discreet import {each} as {each}" for each in discreet._PACKAGES),
    ]
    for module, names in sorted(modules.items()):
        lines += [f"from {module} import {name} as {name}" for name in sorted(names)]
    listed = "".join(f"    {name!r},\n".replace("'", '"') for name in discreet.__all__)
    return "\n".join([*lines, "", "__version__: str", f"__all__ = [\n{listed}]", ""])


def parts(family: str) -> Iterator[str]:
    """Yield a table of the members of a family: text forms, class, definition, aliases."""
    yield "| text form | Python | what it is | aliases |"
    yield "|---|---|---|---|"
    for member in families()[family].members().values():
        forms = " ".join(f"`{form}`" for form in member.examples or (member.name,))
        aliases = ", ".join(f"`{alias}`" for alias in member.aliases)
        python = member.name if family == "builders" else member.__name__
        yield f"| {forms} | `{python}` | {_cell(_first_line(member))} | {aliases} |"


def _first_line(member: type[Part]) -> str:
    return (member.__doc__ or "").strip().splitlines()[0]


def flags(family: str) -> Iterator[str]:
    """Yield a table of the flags of each member of a family; "depends" is a flag that depends on the arguments."""
    found = families()[family]
    names = [name for name, _ in _flags(found.base) if name not in ("needs", "compiled", "schemes", "suppressions")]
    yield f"| | {' | '.join(f'`{name}`' for name in names)} |"
    yield f"|---|{'---|' * len(names)}"
    for member in found.members().values():
        made = [found.make(form) for form in member.examples or (member.name,)]
        values = [{bool(getattr(part, name)) for part in made} for name in names]
        cells = ["depends" if len(each) > 1 else "yes" if True in each else "" for each in values]
        yield f"| `{member.name}` | {' | '.join(cells)} |"


def reach(_: str) -> Iterator[str]:
    """Yield a table of the schemes and suppression kinds of each solver."""
    schemes, kinds = (
        {name: found.make(next(iter(member.examples), name)) for name, member in found.members().items()}
        for found in (families()["schemes"], families()["suppression"])
    )
    yield "| solver | scheme | suppression | proves its result |"
    yield "|---|---|---|---|"
    for name, member in families()["solvers"].members().items():
        searched = [scheme for scheme, part in schemes.items() if member().searches(part)]
        applied = [kind for kind, part in kinds.items() if member().applies(part)]
        cells = [", ".join(f"`{each}`" for each in every) for every in (searched, applied)]
        yield f"| `{name}` | {cells[0]} | {cells[1]} | {'yes' if member.exact else ''} |"


def combined(pair: str) -> Iterator[str]:
    """Yield a table of which parts of two families go together, and why others do not."""
    first, second = pair.split()
    (grid,) = (grid for grid in _grids() if (grid.first, grid.second) == (first, second))
    return markdown(grid)


@cache
def _grids() -> list[CombinationTable]:
    return list(grids(combinations()))


def partitions(_: str) -> Iterator[str]:
    """Yield a table of the number of partitions each scheme has for one small hierarchy."""
    groups = np.repeat(np.arange(4), [3, 1, 2, 2])
    work = CodedAttribute("work", np.array([np.arange(8), groups, groups * 0]), np.ones(8, dtype=np.int64))
    yield "| scheme | partitions | as papers count |"
    yield "|---|---|---|"
    for name, member in families()["schemes"].members().items():
        if member.is_global:
            scheme = families()["schemes"].make(next(iter(member.examples), name))
            yield f"| `{name}` | {scheme.count(work):,} | {scheme.formal_count(work):,} |"


def every_flag(_: str) -> Iterator[str]:
    """Yield a table of all flags of all families, from the docstrings of the base classes."""
    yield "| family | flag | meaning | if it is wrong |"
    yield "|---|---|---|---|"
    for name, family in families().items():
        for flag, text in _flags(family.base):
            meaning, _, wrong = " ".join(text.split()).partition(" If it is wrong, ")
            wrong = f"{wrong[:1].upper()}{wrong[1:]}"
            yield f"| {name} | `{flag}` | {_cell(meaning)} | {_cell(wrong)} |"


def words(_: str) -> Iterator[str]:
    """Yield a table of the attributes by which a part describes itself."""
    yield "| attribute | meaning |"
    yield "|---|---|"
    for name, text in _documented(Part):
        if isinstance(getattr(Part, name, None), property):
            continue
        yield f"| `{name}` | {_cell(' '.join(text.split()))} |"


def _flags(base: type[Any]) -> Iterator[tuple[str, str]]:
    """Yield the attributes of a base class whose docstring says what happens if they are wrong."""
    return ((name, text) for name, text in _documented(base) if "If it is wrong, " in " ".join(text.split()))


def _documented(base: type[Any]) -> Iterator[tuple[str, str]]:
    """Yield the class attributes and properties of a class that have a docstring, in the order of the source."""
    body = ast.parse(inspect.getsource(base)).body[0]
    assert isinstance(body, ast.ClassDef)
    hints = {name for name, hint in get_type_hints(base, include_extras=True).items() if get_origin(hint) is ClassVar}
    for node, following in zip(body.body, [*body.body[1:], None], strict=True):
        if isinstance(node, ast.FunctionDef) and "property" in {ast.unparse(each) for each in node.decorator_list}:
            if text := ast.get_docstring(node):
                yield node.name, text
        elif isinstance(node, ast.AnnAssign) and isinstance(following, ast.Expr) and ast.unparse(node.target) in hints:
            yield ast.unparse(node.target), ast.literal_eval(following.value)


def _cell(text: str) -> str:
    text = re.sub(r":\w+:`~?\.?([^`]+)`", r"`\1`", text.replace("``", "`"))
    return text.replace("|", "\\|")


TABLES: dict[str, Callable[[str], Iterator[str]]] = {
    "parts": parts,
    "flags": flags,
    "partitions": partitions,
    "reach": reach,
    "combined": combined,
    "every_flag": every_flag,
    "words": words,
}


def page(text: str) -> str:
    """Return a page with its generated tables as they should be."""
    return BLOCK.sub(lambda found: "\n".join([found[1].rstrip(), *TABLES[found[2]](found[3]), found[4]]), text)


def files() -> dict[Path, str]:
    """Return what each generated file should hold."""
    pages = {ROOT / name: page((ROOT / name).read_text(encoding="utf-8")) for name in PAGES}
    return {SOURCE / "__init__.pyi": stub(), **pages}


def main() -> None:
    """Write the files, or check them."""
    stale = [path for path, text in files().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv[1:]:
        if stale:
            sys.exit(f"Not up to date: {', '.join(map(str, stale))}; run make generate.")
        return
    for path, text in files().items():
        if path in stale:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path}")


if __name__ == "__main__":
    main()
