from __future__ import annotations

import gzip
import random
from datetime import date, datetime

import polars as pl
import pytest

from discreet.errors import DataError, OutputError, UsageError
from discreet.schema import Hierarchy

WORK = [
    ["State-gov", "Government", "*"],
    ["Private", "Private", "*"],
    ["Local-gov", "Government", "*"],
    ["Inc", "Self-employed", "*"],
    ["Not-inc", "Self-employed", "*"],
]


def random_rows(rng: random.Random) -> list[list[str]]:
    """Rows of a random tree, in any order; labels may repeat from level to level, as padding does."""
    height = rng.randint(1, 4)
    labels = ["a", "b;c", "d,e", 'f"g', "h\ti", " j", "*k", "ü"]
    rows = []

    def grow(level: int, above: list[str]) -> None:
        for child in range(rng.randint(1, 3)):
            own = f"{rng.choice(labels)}.{'.'.join(map(str, [level, child, len(rows)]))}"
            if level == 0:
                rows.append([own, *above])
            else:
                grow(level - 1, [own, *above])

    grow(height - 1, ["*"])
    for row in rows:
        if len(set(row)) == len(row) and rng.random() < 0.2:
            same_parent = [other for other in rows if other[1] == row[1]]
            if len(same_parent) == 1 and len(row) > 2:
                row[1] = row[0]
    rng.shuffle(rows)
    return rows


def test_depth_first_order_by_first_appearance(check_tree):
    tree = check_tree(Hierarchy.from_rows(WORK))
    assert tree.leaves == ["State-gov", "Local-gov", "Private", "Inc", "Not-inc"]
    assert tree.height == 2
    assert tree.levels[1] == ["Government", "Government", "Private", "Self-employed", "Self-employed"]
    assert tree.ancestors.tolist() == [[0, 1, 2, 3, 4], [0, 0, 1, 2, 2], [0, 0, 0, 0, 0]]
    assert repr(tree) == "Hierarchy(5 leaves, height 2)"


def test_immutable():
    tree = Hierarchy.from_rows(WORK)
    with pytest.raises(ValueError, match="read-only"):
        tree.ancestors[0, 0] = 3
    tree.leaves.clear()
    assert len(tree.leaves) == 5


def test_equality():
    assert Hierarchy.from_rows(WORK) == Hierarchy.from_rows(WORK)
    assert hash(Hierarchy.from_rows(WORK)) == hash(Hierarchy.from_rows(WORK))
    assert Hierarchy.from_rows(WORK) != Hierarchy.from_rows(WORK[:3])
    assert Hierarchy.from_rows(WORK) != WORK


def test_short_rows_are_padded_with_their_leaf(check_tree):
    tree = check_tree(Hierarchy.from_rows([["Private", "*"], ["State", "Gov", "Public", "*"], ["Rare"]]))
    assert tree.rows()[0] == ["Private", "Private", "Private", "*", "*"]
    assert tree.rows()[2] == ["Rare", "Rare", "Rare", "Rare", "*"]


@pytest.mark.parametrize("rows", [[["a"], ["b"]], [["a"]], [["a", "x"], ["b", "y"]]])
def test_root_is_added_where_there_is_none(rows, check_tree):
    tree = check_tree(Hierarchy.from_rows(rows))
    assert tree.labels[-1] == ("*",)
    assert tree.height == len(rows[0])


def test_a_single_top_name_is_the_root():
    assert Hierarchy.from_rows([["a", "World"], ["b", "World"]]).height == 1


def test_trailing_empty_cells_are_padding():
    assert Hierarchy.from_rows([["a", "x", "*"], ["b", "*", ""], ["c", "*", None]]).rows()[1] == [
        "b",
        "b",
        "*",
    ]


def test_repeated_identical_rows_are_one():
    assert Hierarchy.from_rows([*WORK, *WORK]) == Hierarchy.from_rows(WORK)


def test_cells_may_be_any_value():
    days = [date(2024, 3, 1), datetime(2024, 3, 2), datetime(2024, 3, 1, 10, 30)]
    tree = Hierarchy.from_rows([[cell, "x"] for cell in (17, 18.0, True, *days)])
    assert tree.leaves == ["17", "18", "true", "2024-03-01", "2024-03-02", "2024-03-01 10:30:00"]


def test_an_empty_leaf_is_a_leaf():
    assert Hierarchy.from_rows([["", "x"], ["a", "x"]]).leaves == ["", "a"]


def test_single_child_with_another_name_is_a_node_of_its_own():
    tree = Hierarchy.from_rows([["Private", "Company", "*"], ["Gov", "Gov", "*"]])
    assert tree.show() == "* (2)\n├── Company (1)\n│   └── Private\n└── Gov"


def test_two_parents():
    rows = [["a", "x", "u"], ["b", "y", "u"], ["c", "x", "v"]]
    with pytest.raises(DataError, match=r"'x' at level 1 has two parents at level 2 \(rows 1 and 3\)"):
        Hierarchy.from_rows(rows)


def test_two_parents_of_a_padded_leaf_does_not_name_it():
    with pytest.raises(DataError, match="a name at level 1 has two parents") as caught:
        Hierarchy.from_rows([["secret", "secret", "u"], ["b", "secret", "v"]])
    assert "secret" not in str(caught.value)


def test_missing_level():
    with pytest.raises(DataError, match="row 2: level 1 is missing"):
        Hierarchy.from_rows([["a", "x", "*"], ["b", "", "*"]])


def test_leaf_with_two_rows_is_not_named():
    with pytest.raises(DataError, match="rows 1 and 2 list the same leaf with different parents") as caught:
        Hierarchy.from_rows([["secret", "x"], ["secret", "y"]])
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("rows", [[], [[]]])
def test_no_rows(rows):
    with pytest.raises(DataError, match="has no rows"):
        Hierarchy.from_rows(rows)


def test_find():
    tree = Hierarchy.from_rows([["17", "x"], ["18.0", "x"], ["TRUE", "x"], ["007", "x"], ["0.50", "x"]])
    found = tree.find(pl.Series(["17", "17.0", "18", "true", "True", "7", "007", "0.5", "+17", "x"]))
    assert found.tolist() == [0, 0, 1, 2, 2, -1, 3, 4, 0, -1]


def test_show_limits_children():
    tree = Hierarchy.from_rows([[str(number)] for number in range(30)])
    assert tree.show(limit=2) == "* (30)\n├── 0\n├── 1\n└── … 28 more"
    assert str(tree).endswith("└── … 10 more")


def test_show_keeps_a_leaf_that_has_its_parents_name_apart():
    tree = Hierarchy.from_rows([["Private", "Private", "*"], ["Other", "Private", "*"]])
    assert tree.show() == "* (2)\n└── Private (2)\n    ├── Private\n    └── Other"


def test_show_draws_a_repeated_name_once():
    tree = Hierarchy.from_rows([["a", "x", "x", "*"], ["b", "x", "x", "*"], ["c", "c", "c", "*"]])
    assert tree.show() == "* (3)\n├── x (2)\n│   ├── a\n│   └── b\n└── c"


def test_show_to_a_depth():
    assert Hierarchy.from_rows(WORK).show(depth=1) == "* (5)\n├── Government (2)\n├── Private\n└── Self-employed (2)"


def test_rows_of_single_words():
    assert Hierarchy.from_rows(["low", "high"]).rows() == [["low", "*"], ["high", "*"]]


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [";", ",", "\t"])
@pytest.mark.parametrize("header", [False, True])
@pytest.mark.parametrize("name", ["tree.csv", "tree.csv.gz"])
def test_round_trip_of_random_trees(tmp_path, check_tree, delimiter, header, name):
    path = tmp_path / name
    for seed in range(60):
        tree = check_tree(Hierarchy.from_rows(random_rows(random.Random(seed))))
        tree.to_csv(path, header=header, delimiter=delimiter)
        assert Hierarchy.from_csv(path, delimiter=delimiter) == tree
        assert Hierarchy.from_csv(path, header=header) == tree
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == name.endswith("gz")


def test_rows_come_back_whatever_their_order():
    for seed in range(300):
        rows = random_rows(random.Random(seed))
        tree = Hierarchy.from_rows(rows)
        assert sorted(tree.rows()) == sorted(rows)
        assert Hierarchy.from_rows(tree.rows()) == tree


def test_arx_format(tmp_path):
    path = tmp_path / "work.csv"
    path.write_text("State-gov;Government;*\nPrivate;Non-Government;*\n", encoding="utf-8")
    tree = Hierarchy.from_csv(path)
    assert tree.rows() == [["State-gov", "Government", "*"], ["Private", "Non-Government", "*"]]
    assert tree.source == "work.csv"


def test_commas_inside_semicolon_files_are_no_delimiters(tmp_path):
    path = tmp_path / "age.csv"
    path.write_text("1;[0, 5);[0, 10);*\n7;[5, 10);[0, 10);*\n", encoding="utf-8")
    assert Hierarchy.from_csv(path).rows()[1] == ["7", "[5, 10)", "[0, 10)", "*"]


@pytest.mark.parametrize("first", ["level0,level1,level2", "Level 0,Level 1,Level 2", "age,group,all"])
def test_header_is_recognized(tmp_path, first):
    path = tmp_path / "tree.csv"
    path.write_text(f"{first}\na,x,*\nb,y,*\n", encoding="utf-8")
    assert Hierarchy.from_csv(path).leaves == ["a", "b"]
    assert len(Hierarchy.from_csv(path, header=False).leaves) == 3


def test_header_as_said(tmp_path):
    path = tmp_path / "tree.csv"
    path.write_text("a,x,World\nb,y,World\n", encoding="utf-8")
    assert Hierarchy.from_csv(path).leaves == ["a", "b"]
    assert Hierarchy.from_csv(path, header=True).leaves == ["b"]


def test_one_column_byte_order_mark_blank_lines_and_ragged_rows(tmp_path):
    path = tmp_path / "tree.csv"
    path.write_bytes(b"\xef\xbb\xbfa\n\nb\n")
    assert Hierarchy.from_csv(path).rows() == [["a", "*"], ["b", "*"]]
    path.write_text("a;*\n\nb;x;*\nc;*;\n", encoding="utf-8")
    assert Hierarchy.from_csv(path).rows() == [["a", "a", "*"], ["b", "x", "*"], ["c", "c", "*"]]


def test_errors_name_the_file_and_the_line(tmp_path):
    path = tmp_path / "work.csv"
    path.write_text("level0,level1,level2,level3\na,x,u,*\n\nb,x,v,*\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"Hierarchy 'work.csv': 'x' at level 1 .* \(rows 2 and 4\)"):
        Hierarchy.from_csv(path)
    path.write_text("a,x,*\nb,,*\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"Hierarchy 'work.csv', row 2: level 1 is missing"):
        Hierarchy.from_csv(path)


def test_unreadable_files(tmp_path):
    with pytest.raises(DataError, match="There is no hierarchy file"):
        Hierarchy.from_csv(tmp_path / "none.csv")
    with pytest.raises(DataError, match="cannot be read"):
        Hierarchy.from_csv(tmp_path)
    path = tmp_path / "bad.csv"
    path.write_bytes(b"caf\xe9;*\n")
    with pytest.raises(DataError, match=r"'bad.csv' is not UTF-8"):
        Hierarchy.from_csv(path)
    path.write_bytes(gzip.compress(b"a;*\nb;*\n" * 50)[:-12])
    with pytest.raises(DataError, match=r"'bad.csv' cannot be read"):
        Hierarchy.from_csv(path)
    path.write_bytes(b"")
    with pytest.raises(DataError, match=r"'bad.csv' has no rows"):
        Hierarchy.from_csv(path)
    path.write_text("level0;level1\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"'bad.csv' has no rows"):
        Hierarchy.from_csv(path)
    path.write_text('"' + "x" * 200_000 + '";*\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"'bad.csv' is not a readable table"):
        Hierarchy.from_csv(path)


def test_delimiters_that_are_none(tmp_path):
    with pytest.raises(UsageError, match="one character"):
        Hierarchy.from_rows(WORK).to_csv(tmp_path / "x.csv", delimiter="::")


def test_where_nothing_can_be_written(tmp_path):
    with pytest.raises(OutputError, match="There is no folder"):
        Hierarchy.from_rows(WORK).to_csv(tmp_path / "none" / "x.csv")
