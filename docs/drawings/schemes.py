"""Draw the six global schemes on one small hierarchy.

Partitions, their numbers and the released names come from the package itself, and what is drawn is checked: each
example is allowed by its scheme and by none that is drawn above it, and each arrow is an inclusion that was counted
out. Run it with ``python docs/drawings/schemes.py``; it writes ``docs/schemes.svg``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

import numpy as np
import polars as pl

import discreet as dc
from discreet.counts import CodedAttribute
from discreet.problem import SCHEMES, Partition
from discreet.schema import make_domain

TARGET = Path(__file__).parents[1] / "schemes.svg"
WORK = dc.groups(
    {
        "Government": ["State-gov", "Local-gov", "Federal-gov"],
        "Private": ["Private"],
        "Self-employed": ["Inc", "Not-inc"],
        "Unemployed": ["Without-pay", "Never-worked"],
    }
)
LEAVES = WORK.hierarchy.leaves
EXAMPLES = {
    "full-domain": ["State-gov Local-gov Federal-gov", "Private", "Inc Not-inc", "Without-pay Never-worked"],
    "subtree": ["State-gov Local-gov Federal-gov", "Private", "Inc", "Not-inc", "Without-pay Never-worked"],
    "guided-ordered": ["State-gov", "Local-gov Federal-gov", "Private Inc Not-inc", "Without-pay", "Never-worked"],
    "guided-set": ["State-gov Federal-gov", "Local-gov", "Private Without-pay Never-worked", "Inc", "Not-inc"],
    "ordered": ["State-gov", "Local-gov Federal-gov Private", "Inc", "Not-inc Without-pay Never-worked"],
    "set": ["State-gov Private", "Local-gov", "Federal-gov Never-worked", "Inc Not-inc", "Without-pay"],
}
RULES = {
    "full-domain": "all values at one level",
    "subtree": "each value at any node",
    "guided-ordered": "runs; groups join whole",
    "guided-set": "sets; groups join whole",
    "ordered": "runs of neighbours",
    "set": "any sets",
}
INCLUDED = [
    ("full-domain", "subtree"),
    ("subtree", "guided-ordered"),
    ("guided-ordered", "ordered"),
    ("guided-ordered", "guided-set"),
    ("ordered", "set"),
    ("guided-set", "set"),
]

LEFT, CELL, WIDTH = 176, 98, 976
FILLS = ["#bfdbfe", "#fde68a", "#bbf7d0", "#fbcfe8", "#ddd6fe"]
LINES = ["#2563eb", "#b45309", "#15803d", "#be185d", "#6d28d9"]
STYLE = """
text { font-family: Helvetica, Arial, "DejaVu Sans", sans-serif; font-size: 12.5px; fill: #1f2937 }
.paper { fill: #ffffff } .name { font-size: 15px; font-weight: bold } .small { font-size: 12px; fill: #4b5563 }
.edge { stroke: #6b7280; fill: none; stroke-width: 1.2 } .tip { fill: #6b7280 } .rule { stroke: #d1d5db }
.node { fill: #f3f4f6; stroke: #9ca3af } .shown { fill: #111827 }
@media (prefers-color-scheme: dark) {
  text { fill: #e5e7eb } .paper { fill: #0d1117 } .small { fill: #9ca3af } .edge { stroke: #9ca3af }
  .tip { fill: #9ca3af } .rule { stroke: #30363d } .node { fill: #21262d; stroke: #6b7280 } .shown { fill: #111827 }
}
"""


def attribute() -> CodedAttribute:
    """Return the work classes as schemes see them."""
    domain = make_domain("work", pl.Series(LEAVES), WORK)
    return CodedAttribute("work", domain.ancestors, np.ones(len(LEAVES), dtype=np.int64))


def partition(blocks: Sequence[str]) -> Partition:
    """Return blocks of names as blocks of leaf codes."""
    return tuple(sorted(tuple(LEAVES.index(name) for name in block.split()) for block in blocks))


def released(blocks: Partition) -> list[str]:
    """Return what each block is released as."""
    number = np.zeros(len(LEAVES), dtype=np.int64)
    for place, block in enumerate(blocks):
        number[list(block)] = place
    shown = make_domain("work", pl.Series(LEAVES), WORK).released_as(number)
    return [shown[block[0]] for block in blocks]


def check(work: CodedAttribute) -> dict[str, int]:
    """Return the number of partitions of each scheme, after making sure that everything drawn is true."""
    valid = {name: set(SCHEMES.make(name).partitions(work)) for name in EXAMPLES}
    for inner, outer in INCLUDED:
        assert valid[inner] < valid[outer], f"{inner} is not part of {outer}"
    for name, blocks in EXAMPLES.items():
        allowed = {scheme for scheme in EXAMPLES if partition(blocks) in valid[scheme]}
        assert name in allowed, f"{name} does not allow its example"
        inner = {first for first, second in INCLUDED if second == name}
        assert not inner & allowed, f"the example of {name} is one of a smaller scheme too"
    return {name: len(partitions) for name, partitions in valid.items()}


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "middle") -> str:
    """Return a line of text; ``y`` is its baseline."""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" class="{kind}">{escape(words)}</text>'


def box(x: float, y: float, width: float, height: float, look: str) -> str:
    """Return a rounded box."""
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="7" {look}/>'


def middle(leaves: Sequence[int]) -> float:
    """Return the x in the middle of some leaves."""
    return LEFT + CELL * (leaves[0] + leaves[-1] + 1) / 2


def tree(top: float) -> Iterator[str]:
    """Draw the hierarchy, root first."""
    heights = [top + 86, top + 43, top]
    levels = [
        [np.flatnonzero(row == block).tolist() for block in range(row.max() + 1)] for row in WORK.hierarchy.ancestors
    ]
    for below, above in ((0, 1), (1, 2)):
        for leaves in levels[below]:
            (parent,) = [block for block in levels[above] if leaves[0] in block]
            ends = (
                f'x1="{middle(parent):g}" y1="{heights[above] + 24:g}" x2="{middle(leaves):g}" y2="{heights[below]:g}"'
            )
            yield f'<line {ends} class="edge"/>'
    for level, blocks in enumerate(levels):
        for block, leaves in enumerate(blocks):
            name = WORK.hierarchy.labels[level][block]
            width = 92 if level == 0 else 112 if level == 1 else 30
            yield box(middle(leaves) - width / 2, heights[level], width, 24, 'class="node"')
            yield text(middle(leaves), heights[level] + 16.5, name)


def pieces(block: Sequence[int]) -> list[list[int]]:
    """Return a block as runs of neighbours."""
    runs: list[list[int]] = []
    for leaf in block:
        if runs and runs[-1][-1] == leaf - 1:
            runs[-1].append(leaf)
        else:
            runs.append([leaf])
    return runs


def row(top: float, blocks: Partition) -> tuple[list[str], float]:
    """Draw one partition, blocks that are no run held together by a line below; return it and its height."""
    drawn, lanes = [], 0
    for number, (block, name) in enumerate(zip(blocks, released(blocks), strict=True)):
        fill, line = FILLS[number % len(FILLS)], LINES[number % len(LINES)]
        runs = pieces(block)
        for run in runs:
            x = LEFT + CELL * run[0] + 3
            drawn.append(box(x, top, CELL * len(run) - 6, 30, f'fill="{fill}" stroke="{line}"'))
            label = name if len(runs) == 1 else ", ".join(LEAVES[leaf] for leaf in run)
            drawn.append(text(middle(run), top + 19.5, label, "shown"))
        if len(runs) > 1:
            lanes += 1
            y = top + 30 + 18 * lanes
            path = "".join(f"M{middle(run):g} {top + 30:g}V{y:g}" for run in runs)
            path += f"M{middle(runs[0]):g} {y:g}H{middle(runs[-1]):g}"
            drawn.insert(0, f'<path d="{path}" stroke="{line}" fill="none" stroke-width="1.6"/>')
            x, width = middle(runs[0]) + 10, 6.2 * len(name) + 8
            drawn.append(f'<rect x="{x:g}" y="{y - 9:g}" width="{width:g}" height="18" class="paper"/>')
            drawn.append(text(x + width / 2, y + 4, name, "small"))
    return drawn, 30 + 18 * lanes + (4 if lanes else 0)


def inclusions(top: float, counts: dict[str, int]) -> Iterator[str]:
    """Draw which scheme allows all that another does."""
    place = {
        "full-domain": (90, 48), "subtree": (275, 48), "guided-ordered": (470, 48),
        "ordered": (680, 16), "guided-set": (680, 80), "set": (875, 48),
    }  # fmt: skip
    for inner, outer in INCLUDED:
        (x1, y1), (x2, y2) = place[inner], place[outer]
        start, end = (x1 + 68, top + y1 + 19), (x2 - 72, top + y2 + 19)
        yield f'<path d="M{start[0]} {start[1]}L{end[0]} {end[1]}" class="edge" marker-end="url(#tip)"/>'
    for name, (x, y) in place.items():
        yield box(x - 66, top + y, 132, 38, 'class="node"')
        yield text(x, top + y + 16, name, "name")
        yield text(x, top + y + 31, f"{counts[name]:,} partitions", "small")


def draw() -> str:
    """Return the drawing."""
    counts = check(attribute())
    parts = [*tree(20)]
    y = 148.0
    for name, blocks in EXAMPLES.items():
        drawn, height = row(y, partition(blocks))
        parts += [
            f'<line x1="16" y1="{y - 13:g}" x2="{WIDTH - 16}" y2="{y - 13:g}" class="rule"/>',
            text(16, y + 13, name, "name", "start"),
            text(16, y + 30, RULES[name], "small", "start"),
            *drawn,
        ]
        y += height + 28
    parts += [
        f'<line x1="16" y1="{y - 13:g}" x2="{WIDTH - 16}" y2="{y - 13:g}" class="rule"/>',
        text(
            16, y + 10, "An arrow leads to a scheme that allows everything the other does, and more:", "small", "start"
        ),
        *inclusions(y + 14, counts),
    ]
    height = y + 146
    tip = '<marker id="tip" markerWidth="9" markerHeight="8" refX="7" refY="4" orient="auto">'
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" height="{height:g}" '
        'role="img" aria-label="Six generalization schemes on a hierarchy of work classes">',
        f"<style>{STYLE}</style>",
        f'<defs>{tip}<path d="M0 0L8 4L0 8Z" class="tip"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{height:g}" class="paper"/>',
    ]
    return "\n".join([*head, *parts, "</svg>", ""])


if __name__ == "__main__":
    TARGET.write_text(draw(), encoding="utf-8")
