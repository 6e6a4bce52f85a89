"""Every edit of a hierarchy against the same done to the rows by hand, and trees of any shape."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import UsageError
from discreet.schema import Hierarchy, make_domain
from discreet.studio._hierarchies import (
    add_level,
    edit,
    group,
    merge,
    move,
    place,
    remove_level,
    rename,
    split,
)
from discreet.studio._tree_view import TreeView, table_page

ROWS = [
    ("Leeds", "Yorkshire", "North", "*"),
    ("York", "Yorkshire", "North", "*"),
    ("Hull", "Yorkshire", "North", "*"),
    ("Durham", "Durham", "North", "*"),
    ("Bath", "Somerset", "South", "*"),
    ("Wells", "Somerset", "South", "*"),
    ("Poole", "Dorset", "South", "*"),
]
TREE = Hierarchy.from_rows(ROWS)


def rows(tree: Hierarchy) -> set[tuple[str, ...]]:
    return {tuple(row) for row in tree.rows()}


def changed(**by_leaf: tuple[str, ...]) -> set[tuple[str, ...]]:
    return {by_leaf.get(row[0], row) for row in ROWS}


def test_rename() -> None:
    assert rows(rename(TREE, 1, "Somerset", "West")) == changed(
        Bath=("Bath", "West", "South", "*"), Wells=("Wells", "West", "South", "*")
    )
    assert rows(rename(TREE, 1, "Durham", "County Durham")) == changed(Durham=("Durham", "County Durham", "North", "*"))
    twice = Hierarchy.from_rows([("a", "x", "x", "*"), ("b", "y", "z", "*")])
    assert (
        rows(rename(twice, 1, "x", "q"))
        == rows(rename(twice, 2, "x", "q"))
        == {
            ("a", "q", "q", "*"),
            ("b", "y", "z", "*"),
        }
    )
    assert rename(TREE, 2, "North", "North") == TREE


def test_merge() -> None:
    assert rows(merge(TREE, 1, ["Somerset", "Dorset"], "West")) == changed(
        Bath=("Bath", "West", "South", "*"),
        Wells=("Wells", "West", "South", "*"),
        Poole=("Poole", "West", "South", "*"),
    )
    across = merge(TREE, 1, ["Dorset", "Durham"], "Dorset")
    assert rows(across) == changed(Durham=("Durham", "Dorset", "South", "*"))
    assert rows(merge(TREE, 2, ["North", "South"], "England")) == {(*row[:2], "England", "*") for row in ROWS}
    assert rows(merge(TREE, 0, ["Leeds", "York"], "West Riding")) == changed(
        Leeds=("Leeds", "West Riding", "North", "*"), York=("York", "West Riding", "North", "*")
    )


def test_split() -> None:
    assert rows(split(TREE, 1, "Yorkshire", {"East Riding": ["Hull"]})) == changed(
        Hull=("Hull", "East Riding", "North", "*")
    )
    whole = split(TREE, 1, "Yorkshire", {"A": ["Hull", "York"], "B": ["Leeds"]})
    assert rows(whole) == changed(
        Hull=("Hull", "A", "North", "*"), York=("York", "A", "North", "*"), Leeds=("Leeds", "B", "North", "*")
    )
    assert rows(split(TREE, 2, "South", {"Coast": ["Dorset"]})) == changed(Poole=("Poole", "Dorset", "Coast", "*"))


def test_move() -> None:
    assert rows(move(TREE, 0, ["Poole"], "Somerset")) == changed(Poole=("Poole", "Somerset", "South", "*"))
    assert rows(move(TREE, 1, ["Somerset"], "North")) == changed(
        Bath=("Bath", "Somerset", "North", "*"), Wells=("Wells", "Somerset", "North", "*")
    )
    assert rows(move(TREE, 0, ["Bath", "Poole"], "New")) == changed(
        Bath=("Bath", "New", "South", "*"), Poole=("Poole", "New", "South", "*")
    )


def test_levels() -> None:
    more = add_level(TREE, 1)
    assert rows(more) == {(row[0], row[1], *row[1:]) for row in ROWS}
    assert remove_level(more, 2) == TREE
    grouped = add_level(TREE, 1, {"West": ["Somerset", "Dorset"]})
    assert {row[2] for row in rows(grouped) if row[0] in ("Bath", "Poole")} == {"West"}
    assert rows(remove_level(TREE, 1)) == {(row[0], row[2], row[3]) for row in ROWS}
    flat = Hierarchy.from_rows([("a",), ("b",), ("c",)])
    assert rows(add_level(flat, 0, {"ab": ["a", "b"]})) == {("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*")}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"op": "rename", "level": 1, "name": "Nowhere", "to": "x"}, "no such group"),
        ({"op": "rename", "level": 1, "name": "Dorset", "to": "Somerset"}, "already"),
        ({"op": "rename", "level": 1, "name": "Dorset", "to": " "}, "needs a name"),
        ({"op": "rename", "level": 1, "name": "Dorset", "to": "x" * 1000}, "characters at most"),
        ({"op": "rename", "level": 1, "name": "Dorset", "to": None}, "needs a name"),
        ({"op": "rename", "level": 0, "name": "Leeds", "to": "x"}, "levels 1 to 2"),
        ({"op": "rename", "level": 3, "name": "*", "to": "x"}, "levels 1 to 2"),
        ({"op": "rename", "level": True, "name": "Dorset", "to": "x"}, "levels 1 to 2"),
        ({"op": "rename", "level": 1, "name": "Dorset"}, "needs 'to'"),
        ({"op": "merge", "level": 1, "names": ["Dorset"], "to": "x"}, "two groups"),
        ({"op": "merge", "level": 1, "names": ["Dorset", "Somerset"], "to": "Durham"}, "already"),
        ({"op": "merge", "level": 1, "names": "Dorset", "to": "x"}, "at least one group"),
        ({"op": "split", "level": 1, "name": "Dorset", "parts": {"x": ["Leeds"]}}, "Only members of"),
        ({"op": "split", "level": 1, "name": "Dorset", "parts": {"Durham": ["Poole"]}}, "already"),
        ({"op": "split", "level": 1, "name": "Dorset", "parts": []}, "new groups"),
        ({"op": "move", "level": 2, "names": ["North"], "to": "x"}, "add a level"),
        ({"op": "move", "level": 0, "names": [], "to": "x"}, "at least one group"),
        ({"op": "add-level", "above": 3}, "levels 0 to 2"),
        ({"op": "add-level", "above": 0, "groups": ["x"]}, "Name the groups"),
        ({"op": "remove-level", "level": 0}, "levels 1 to 2"),
        ({"op": "burn"}, "one of"),
        ("rename", "one of"),
        (None, "one of"),
    ],
)
def test_edits_that_make_no_sense(fields: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        edit(TREE, fields)


def test_the_tree_counts_rows_and_values() -> None:
    values = pl.Series([*[row[0] for row in ROWS], None])
    counts = np.array([5, 4, 3, 2, 10, 20, 30, 7])
    domain = make_domain("city", values, TREE, rows=counts)
    root = TreeView(domain, counts).subtree()
    assert (root["name"], root["count"], root["leaves"], root["more"]) == ("*", 81, 8, 0)
    of = {child["name"]: child for child in root["children"]}
    assert {name: child["count"] for name, child in of.items()} == {"North": 14, "South": 60, "missing": 7}
    somerset = next(child for child in of["South"]["children"] if child["name"] == "Somerset")
    assert {leaf["name"]: leaf["count"] for leaf in somerset["children"]} == {"Bath": 10, "Wells": 20}
    durham = next(child for child in of["North"]["children"] if child["name"] == "Durham")
    assert durham["repeats"]
    assert not somerset["repeats"]
    part = TreeView(domain, counts).subtree(somerset["level"], somerset["block"])
    assert [leaf["name"] for leaf in part["children"]] == ["Bath", "Wells"]
    table = table_page(domain, counts, 2, 3)
    assert (table["total"], len(table["rows"]), len(table["counts"])) == (8, 3, 3)
    with pytest.raises(UsageError, match="no such group"):
        TreeView(domain, counts).subtree(9, 0)


def test_a_large_tree_is_sent_in_pages() -> None:
    values = pl.Series(range(5000))
    counts = np.ones(5000, dtype=np.int64)
    domain = make_domain("number", values, "intervals(10, 100)", rows=counts)
    root = TreeView(domain, counts).subtree()
    seen = Counter(node["level"] for node in _nodes(root))
    assert sum(seen.values()) <= 500
    assert root["count"] == 5000
    for node in _nodes(root):
        if node["level"]:
            assert len(node["children"]) + node["more"] == len(_children(domain, node["level"], node["block"]))
    offset, found = 0, []
    while True:
        part = TreeView(domain, counts).subtree(root["level"], root["block"], offset)
        found += [child["block"] for child in part["children"]]
        offset += len(part["children"])
        if not part["more"]:
            break
    assert found == list(range(50))


def _nodes(node: dict[str, Any]) -> list[dict[str, Any]]:
    return [node, *(below for child in node.get("children", ()) for below in _nodes(child))]


def _children(domain: Any, level: int, block: int) -> set[int]:
    under = domain.ancestors[level] == block
    return set(domain.ancestors[level - 1][under].tolist())


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_edits_leave_a_tree_over_the_same_values(data: st.DataObject) -> None:
    leaves = data.draw(st.integers(2, 8))
    tree = Hierarchy.from_rows([(f"v{n}", f"g{data.draw(st.integers(0, 2))}", "top", "*") for n in range(leaves)])
    for _ in range(data.draw(st.integers(1, 6))):
        level = data.draw(st.integers(0, tree.height))
        names = data.draw(st.lists(st.sampled_from(tree.labels[level]), min_size=1, max_size=3))
        to = data.draw(st.sampled_from(["g0", "g1", "new", "top", "v0"]))
        fields = {
            "op": data.draw(st.sampled_from(["rename", "merge", "split", "move", "add-level", "remove-level"])),
            "level": level,
            "above": level,
            "name": names[0],
            "names": names,
            "to": to,
            "parts": {to: data.draw(st.lists(st.sampled_from(tree.labels[max(level - 1, 0)]), min_size=1, max_size=2))},
        }
        before = tree.rows()
        try:
            new = edit(tree, fields)
        except UsageError:
            continue
        assert tree.rows() == before
        assert sorted(new.leaves) == sorted(tree.leaves)
        assert len(set(new.levels[-1])) == 1
        assert Hierarchy.from_rows(new.rows()) == new
        tree = new


def entry(level: int, name: str) -> dict[str, Any]:
    return {"level": level, "name": name}


def test_group() -> None:
    flat = Hierarchy.from_rows([("a", "*"), ("b", "*"), ("c", "*")])
    once = group(flat, [entry(0, "a"), entry(0, "c")], "ac")
    assert rows(once) == {("a", "ac", "*"), ("c", "ac", "*"), ("b", "b", "*")}
    # An entry that stands alone has room above it, so no level is inserted.
    assert rows(group(once, [entry(0, "b"), entry(1, "ac")], "all")) == {
        ("a", "ac", "all", "*"),
        ("c", "ac", "all", "*"),
        ("b", "b", "all", "*"),
    }
    assert rows(group(TREE, [entry(0, "Durham"), entry(0, "Bath")], "both")) == changed(
        Durham=("Durham", "both", "North", "*"), Bath=("Bath", "both", "North", "*")
    )
    with pytest.raises(UsageError, match="already has a group 'Dorset'"):
        group(TREE, [entry(0, "Durham"), entry(0, "Bath")], "Dorset")
    with pytest.raises(UsageError, match="at least one entry"):
        group(TREE, [], "x")


def test_place() -> None:
    assert rows(place(TREE, [entry(0, "York")], 1, "Dorset")) == changed(York=("York", "Dorset", "South", "*"))
    assert rows(place(TREE, [entry(0, "York")], 2, "South")) == changed(York=("York", "York", "South", "*"))
    assert rows(place(TREE, [entry(0, "York"), entry(1, "Dorset")], 3, "*")) == changed(
        York=("York", "York", "York", "*"), Poole=("Poole", "Dorset", "Dorset", "*")
    )
    assert rows(place(TREE, [entry(0, "Durham")], 2, "South")) == changed(Durham=("Durham", "Durham", "South", "*"))
    with pytest.raises(UsageError, match="above it"):
        place(TREE, [entry(1, "Somerset")], 1, "Dorset")
    clash = Hierarchy.from_rows([("a", "a", "z", "*"), ("b", "a", "z", "*"), ("c", "y", "q", "*")])
    with pytest.raises(UsageError, match="rename that group first"):
        place(clash, [entry(0, "a")], 2, "q")


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_groups_and_places_keep_every_value_and_a_tree(data: Any) -> None:
    tree = TREE
    for number in range(3):
        level = data.draw(st.integers(0, tree.height - 1))
        names = data.draw(st.lists(st.sampled_from(sorted(set(tree.labels[level]))), min_size=1, max_size=3))
        members = [entry(level, name) for name in names]
        try:
            if data.draw(st.booleans()):
                tree = group(tree, members, f"new {number}")
                assert any(f"new {number}" in labels for labels in tree.labels)
            else:
                above = data.draw(st.integers(level + 1, tree.height))
                tree = place(tree, members, above, data.draw(st.sampled_from(sorted(set(tree.labels[above])))))
        except UsageError:
            continue
        assert {row[0] for row in tree.rows()} == {row[0] for row in ROWS}
        for below in range(tree.height):  # equal on one level means equal on the next
            pairs = {(row[below], row[below + 1]) for row in tree.rows()}
            assert len({first for first, _ in pairs}) == len(pairs)


def view_of(tree: Hierarchy) -> TreeView:
    values = pl.Series([*tree.labels[0]])
    counts = np.ones(len(values), dtype=np.int64)
    return TreeView(make_domain("city", values, tree, rows=counts), counts)


def ids(tree: Hierarchy) -> set[str]:
    nodes = _nodes(view_of(tree).subtree())
    own = [node["id"] for node in nodes if not node["repeats"]]
    assert len(own) == len(set(own))
    return {node["id"] for node in nodes}


def test_ids_last_over_edits() -> None:
    before = ids(TREE)
    assert ids(group(TREE, [entry(0, "York"), entry(0, "Hull")], "YH")) == {*before, "YH"}
    assert ids(place(TREE, [entry(0, "York")], 3, "*")) == before
    assert len(ids(Hierarchy.from_rows([("x", "x", "*"), ("y", "x", "*"), ("z", "z", "*")]))) == 5


def test_search() -> None:
    found = view_of(TREE).search("oo")
    assert found["matches"] == 1
    assert [node["name"] for node in _nodes(found)] == ["*", "South", "Dorset", "Poole"]
    assert {node["name"] for node in _nodes(view_of(TREE).search("YORK"))} == {"*", "North", "Yorkshire", "York"}
    assert view_of(TREE).search("nowhere")["children"] == []
    ages = make_domain("age", pl.Series(range(100)), "intervals(5, 10)", rows=np.ones(100, dtype=np.int64))
    plain = TreeView(ages, np.ones(100, dtype=np.int64)).search("20–24")
    assert [node["label"] for node in _nodes(plain)] == ["everything (*)", "20–29", "20–24"]


def test_what_was_shown_is_shown_again() -> None:
    flat = Hierarchy.from_rows([(f"v{number:04}",) for number in range(5000)])
    root = view_of(flat).subtree()
    assert (len(root["children"]), root["more"]) == (60, 4940)
    assert len(view_of(flat).subtree(loaded={root["id"]: 180})["children"]) == 180
    grouped = view_of(group(flat, [entry(0, "v3000"), entry(0, "v4000")], "two"))
    assert [node["name"] for node in grouped.subtree()["children"]][:2] == ["two", "v0000"]  # groups come first
    assert "v2500" in {node["name"] for node in _nodes(view_of(flat).subtree(reveal="v2500"))}
