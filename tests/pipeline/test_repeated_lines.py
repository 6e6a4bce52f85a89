"""The audit of delimited text groups whole lines where many are equal, and finds what parsing all of them finds."""

import random
from collections import Counter
from pathlib import Path

import pytest

from discreet.errors import DataError
from discreet.pipeline.audit import delimited_text as _lines
from discreet.pipeline.audit.files import FilesTable, ReleasedFile

CELLS = ["", "a", "b", " b", "0", "1e5", "é", "it's"]
ODD = ['"', '"x"', '""', '"x\ny"', "a\r"]


def groups(path: Path) -> dict[tuple[str | None, ...], int] | str:
    try:
        table = FilesTable("'some.csv'", [ReleasedFile(path, "csv", "none", ";")])
        found = table.groups({f"q{number}": name for number, name in enumerate(table.columns[:2])})
    except DataError as error:
        return str(error)
    return {row[:-1]: row[-1] for row in found.rows()}


@pytest.mark.parametrize("odd", [False, True], ids=["plain", "odd"])
def test_groups_are_those_of_all_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: bool) -> None:
    rng, path, used = random.Random(11), tmp_path / "some.csv", 0
    monkeypatch.setattr(_lines, "_BATCH", 8)
    for _ in range(150):
        columns, cells = rng.choice([1, 2, 3]), CELLS + ODD if odd else CELLS
        distinct = [[rng.choice(cells) for _ in range(columns)] for _ in range(rng.randint(1, 6))]
        rows = [rng.choice(distinct) for _ in range(rng.randint(1, 40))]
        end = rng.choice(["\n", "\r\n"])
        text = end.join(";".join(row) for row in [["x", "y", "z"][:columns], *rows]) + end * rng.choice([0, 1, 1, 1, 3])
        if odd and rng.random() < 0.3:
            text = text.replace("\n", rng.choice(["\n\n", ";x\n", "\n\0"]), 1)
        path.write_bytes(text.encode())
        with monkeypatch.context() as usual:
            usual.setattr(_lines, "_REPEATS", 1 << 40)
            expected = groups(path)
        with monkeypatch.context() as always:
            always.setattr(_lines, "_REPEATS", 0)
            assert groups(path) == expected
            used += not isinstance(expected, str) and ReleasedFile(path, "csv", "none", ";").distinct is not None
        if not odd and "" not in map("".join, rows) and columns > 1:
            assert expected == Counter(tuple(cell or None for cell in row[:2]) for row in rows)
    assert used > (10 if odd else 40)


def test_a_file_whose_lines_differ_later_is_parsed(tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    path.write_text("x;y\n" + "a;b\n" * 20_000 + "".join(f"a;{number}\n" for number in range(100_000)))
    assert _lines.distinct_rows(path, ";", ["x", "y"]) is None
    assert len(groups(path)) == 100_001


def test_distinct_rows_and_how_often_they_occur(tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    path.write_text("x;y\n" + "a;b\nc;\n" * 500 + "a;b\n")
    found = _lines.distinct_rows(path, ";", ["x", "y"])
    assert found is not None
    assert sorted(zip(found[0].rows(), found[1], strict=True)) == [(("a", "b"), 501), (("c", None), 500)]
