"""Public hierarchies of the Adult data, read and counted."""

from __future__ import annotations

import math

import polars as pl
import pytest

from discreet.schema import Hierarchy, Type, make_domain

LIU_WANG = {
    "age": 677,
    "education": 78,
    "native-country": 25,
    "workclass": 9,
    "marital-status": 5,
    "sex": 2,
    "race": 3,
}
CUTS = {
    ("arx", "age"): 11_881_377,
    ("arx", "education"): 82,
    ("arx", "native-country"): 33,
    ("arx", "workclass"): 9,
    ("arx", "marital-status"): 5,
    ("arx", "occupation"): 9,
    ("fung-tds", "native-country"): 30_295,
    ("fung-tds", "workclass"): 7,
    ("kassemal-difftesting", "education"): 287,
    ("li-li-2008", "age"): 32_769,
    ("li-li-2008", "workclass"): 9,
    ("qiyuangong", "marital-status"): 9,
    **{("liu-wang-base", name): count for name, count in LIU_WANG.items()},
    **{("liu-wang-medium", name): count for name, count in {**LIU_WANG, "native-country": 487}.items()},
    **{("liu-wang-fine", name): count for name, count in {**LIU_WANG, "native-country": 30_295}.items()},
    **{("liu-wang-coarse", name): count for name, count in {**LIU_WANG, "age": 290}.items()},
}


def cuts(rows: list[list[str]]) -> int:
    """Cuts: 1 for a leaf, 1 + the product over the children for a node; a repeated name is one node."""

    def below(rows: list[list[str]], level: int) -> int:
        if level == 0:
            return 1
        children: dict[str, list[list[str]]] = {}
        for row in rows:
            children.setdefault(row[level - 1], []).append(row)
        product = math.prod(below(part, level - 1) for part in children.values())
        return product if list(children) == [rows[0][level]] else 1 + product

    return below(rows, len(rows[0]) - 1)


@pytest.mark.parametrize(("folder", "name"), CUTS, ids="-".join)
def test_cuts(data, check_tree, tmp_path, folder, name):
    tree = check_tree(Hierarchy.from_csv(data / "taxonomies" / "adult" / folder / f"{name}.csv"))
    assert tree.leaves[0] != "level0"
    assert cuts(tree.rows()) == CUTS[folder, name]
    tree.to_csv(tmp_path / "tree.csv")
    assert Hierarchy.from_csv(tmp_path / "tree.csv") == tree


def test_arx_adult(data, check_domain):
    folder = data / "arx" / "adult"
    frame = pl.read_csv(folder / "adult.csv", separator=";", infer_schema=False)
    heights = {}
    for name in frame.columns:
        tree = Hierarchy.from_csv(folder / f"adult_hierarchy_{name}.csv")
        assert tree == Hierarchy.from_csv(data / "taxonomies" / "adult" / "arx" / f"{name}.csv")
        domain = check_domain(make_domain(name, frame[name].unique(), tree))
        heights[name] = domain.height
        assert domain.type is (Type.INTEGER if name == "age" else Type.TEXT)
        rows = {row[0]: row for row in tree.rows()}
        for level in range(domain.height + 1):
            assert domain.released(level).to_list() == [rows[value][level] for value in domain.values]
    assert math.prod(height + 1 for height in heights.values()) == 12_960


def test_every_taxonomy_can_be_read(data, check_tree):
    files = sorted((data / "taxonomies" / "adult").glob("*/*.csv"))
    assert len(files) > 40
    for file in files:
        check_tree(Hierarchy.from_csv(file))
