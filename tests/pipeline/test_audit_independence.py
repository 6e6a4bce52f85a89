"""The audit shares no code with counting and recoding, so that a fault in those cannot hide in it."""

from __future__ import annotations

import ast
import gzip
import importlib.util
import sqlite3
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import polars as pl
import pytest

import discreet
import discreet as dc
from discreet.engines import counting
from discreet.engines.files.table_file import TableFile
from discreet.engines.polars import count as _pieces
from discreet.engines.polars import source as _polars
from discreet.errors import AuditError
from discreet.pipeline.audit import audit
from lazy import duckdb

SOURCE = Path(discreet.__file__).parent
PACKAGE = "discreet.pipeline.audit"
SHARED = (
    "discreet.engines",
    "discreet.counts",
    "discreet.solve",
    "discreet.solve.kernels",
    *(f"discreet.pipeline.{name}" for name in ("recode", "prepare", "publish", "staging", "make_release", "read_back")),
)
"""What counts, searches, recodes and writes."""
VOCABULARY = "discreet.problem"
"""Privacy models are defined on the type CountTable too; that none of its code runs in an audit is tested below."""


def file_of(module: str) -> Path | None:
    place = SOURCE.joinpath(*module.split(".")[1:])
    return next((file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()), None)


def imports(module: str) -> Iterator[str]:
    """Yield every module that one imports, at its top or inside of functions, and names that may be modules."""
    file = file_of(module)
    assert file is not None
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    tree = ast.parse(file.read_text("utf-8"))
    if not module.startswith(PACKAGE):  # elsewhere what is imported for types alone does not run
        tree.body = [node for node in tree.body if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node))]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            yield origin
            yield from (f"{origin}.{name.name}" for name in node.names if file_of(f"{origin}.{name.name}"))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("discreet."):
            yield node.value


def test_nothing_of_counting_or_recoding_is_imported() -> None:
    files = sorted((SOURCE / "pipeline" / "audit").glob("*.py"))
    assert len(files) > 10
    open_modules = [PACKAGE, *(f"{PACKAGE}.{file.stem}" for file in files if file.stem != "__init__")]
    seen = set(open_modules)
    while open_modules:
        module = open_modules.pop()
        for name in imports(module):
            if module.startswith(VOCABULARY) and name == "discreet.counts":
                continue
            assert not name.startswith(SHARED), f"{module} imports {name}"
            if name.startswith("discreet.") and name != "discreet.pipeline" and name not in seen and file_of(name):
                seen.add(name)
                open_modules.append(name)


def test_no_import_leads_to_evaluations() -> None:
    files = (SOURCE / "pipeline" / "audit").glob("*.py")
    assert not any("discreet.evaluate" in file.read_text("utf-8") for file in files)


def test_such_an_import_would_be_found() -> None:
    assert "discreet.engines.format_limits" in set(imports("discreet.engines.counting"))
    assert "discreet.engines.relation.duckdb" in set(imports("discreet.engines.open"))  # inside of a function


TABLE = pl.DataFrame(
    {
        "age": ["[20, 30)"] * 4 + ["[30, 40)"] * 3 + [None] * 2,
        "sex": ["f", "f", "m", "m", "f", "f", "f", None, None],
        "dose": [0.0, -0.0, None, None, 1.5, 1.5, 1.5, 2.0, 2.0],
        "disease": ["flu", "hiv", None, "flu", "flu", "hiv", "cold", "flu", "hiv"],
        "weight": [2.0, 3.0, 2.5, 1.0, 1.0, 4.0, 2.0, 2.0, 2.0],
    }
)
PROMISES: dict[str, Any] = {
    "quasi_identifiers": ["age", "sex", "dose"],
    "privacy": ["k(2)", "distinct-l(2, disease)", "t(0.9, disease)", "k-map(2)"],
    "weights": "weight",
}


def written(kind: str, folder: Path) -> Any:
    """Return the table in a place of some kind, written without the engines where that is easy."""
    if kind in ("csv", "tsv", "csv.gz"):
        path = folder / f"t.{kind}"
        TABLE.write_csv(folder / "t", separator="\t" if kind == "tsv" else ",")
        content = (folder / "t").read_bytes().replace(b"NaN", b"").replace(b"-0.0", b"0.0")
        path.write_bytes(gzip.compress(content) if kind == "csv.gz" else content)
        return path
    if kind == "parquet":
        TABLE.write_parquet(folder / "t.parquet")
        return folder / "t.parquet"
    if kind == "jsonl":
        TABLE.fill_nan(None).write_ndjson(folder / "t.jsonl")
        return folder / "t.jsonl"
    if kind == "folder":
        (folder / "parts").mkdir()
        TABLE[:5].write_parquet(folder / "parts" / "0.parquet")
        TABLE[5:].write_parquet(folder / "parts" / "1.parquet")
        return folder / "parts"
    if kind == "sqlite":
        connection = sqlite3.connect(folder / "t.db")
        connection.execute("CREATE TABLE t (age TEXT, sex TEXT, dose REAL, disease TEXT, weight REAL)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", TABLE.fill_nan(None).rows())
        connection.commit()
        connection.close()
        return f"sqlite:///{folder}/t.db?table=t"
    if kind == "duckdb":
        connection = duckdb().connect(str(folder / "t.duckdb"))
        connection.register("rows", TABLE.to_arrow())
        connection.execute("CREATE TABLE t AS SELECT * FROM rows")
        connection.close()
        return f"duckdb:///{folder}/t.duckdb?table=t"
    frames: dict[str, Callable[[], Any]] = {
        "polars": lambda: TABLE,
        "categories": lambda: TABLE.cast({"sex": pl.Categorical, "age": pl.Enum(["[20, 30)", "[30, 40)"])}),
        "lazy": TABLE.lazy,
        "pandas": TABLE.to_pandas,
        "pyarrow": TABLE.to_arrow,
        "relation": lambda: duckdb().connect().from_arrow(TABLE.to_arrow()),
    }
    return frames[kind]()


FILES = ("csv", "tsv", "csv.gz", "parquet", "jsonl", "folder")
FRAMES = ("polars", "categories", "lazy", "pandas", "pyarrow", "relation")


@pytest.mark.parametrize("kind", [*FILES, "sqlite", "duckdb", *FRAMES])
def test_no_function_of_the_engines_runs_in_an_audit(kind: str, tmp_path: Path) -> None:
    data = written(kind, tmp_path)
    called = set()

    def look(frame: FrameType, event: str, _: Any) -> None:
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith(SHARED):
            called.add(f"{module}.{frame.f_code.co_name}")

    sys.setprofile(look)
    try:
        verdict = audit(data, **PROMISES, reference=data)
        audit(data, quasi_identifiers=["age", "sex"], privacy="k-map(2)", population=data)
    finally:
        sys.setprofile(None)
    assert not called
    assert (verdict.rows, verdict.classes, verdict.smallest_class) == (9, 4, 2)
    reached = {check.model: check.reached for check in verdict.checks}
    assert reached["distinct-l(2, disease)"] == 1
    assert reached["k-map(2)"] == pytest.approx(3.5)


def everywhere(monkeypatch: pytest.MonkeyPatch, original: Any, replacement: Any) -> None:
    """Replace a function in all modules that have it."""
    for name, module in list(sys.modules.items()):
        if name.startswith("discreet"):
            for attribute, value in list(vars(module).items()):
                if value is original:
                    monkeypatch.setattr(module, attribute, replacement)


def without_nulls(counted: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    return counted.drop_nulls(by[0])


def without_capitals(counted: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    merged = counted.with_columns(pl.col(by[0]).cast(pl.String).str.to_lowercase())
    return merged.group_by(by, maintain_order=True).agg(pl.exclude(by).sum())


def twice(counted: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    return counted.with_columns(pl.col("rows") * 2)


RARE: dict[Any, pl.DataFrame] = {
    without_nulls: pl.DataFrame({"q": ["a"] * 4 + ["b"] * 4 + [None], "s": ["x", "y"] * 4 + ["x"]}),
    without_capitals: pl.DataFrame({"q": ["a"] * 4 + ["b"] * 4 + ["B"], "s": ["x", "y"] * 4 + ["x"]}),
    twice: pl.DataFrame({"q": ["a"] * 4 + ["b"] * 4 + ["c"], "s": ["x", "y"] * 4 + ["x"]}),
}
"""For each fault of the group-by a table with a class of one that it hides."""


@pytest.mark.parametrize("place", ["frame", "t.csv", "t.parquet", "t.jsonl", "t.xlsx", "parts/", "sqlite", "duckdb"])
@pytest.mark.parametrize("fault", RARE, ids=lambda fault: fault.__name__)
def test_a_group_by_that_hides_a_small_class_is_noticed(
    fault: Callable[[pl.DataFrame, list[str]], pl.DataFrame],
    place: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    original = _pieces.add_up

    def add_up(pieces: Any, by: Any, totals: Any, engine: Any) -> pl.DataFrame:
        return fault(original(pieces, by, totals, engine), list(by))

    monkeypatch.setattr(_polars, "MOST_ROWS", 0)  # or small tables are not grouped by the engine
    everywhere(monkeypatch, original, add_up)
    urls = {"sqlite": f"sqlite:///{tmp_path}/t.db?table=t", "duckdb": f"duckdb:///{tmp_path}/t.duckdb?table=t"}
    output = None if place == "frame" else urls.get(place, f"{tmp_path}/{place}")
    with pytest.raises(AuditError, match=r"k\(2\) broken: the release reached 1"):
        dc.anonymize(RARE[fault], quasi_identifiers={"q": "flat"}, privacy="k(2)", output=output)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("place", ["t.csv", "t.parquet", "t.jsonl"])
def test_a_recoding_that_repeats_or_keeps_rows_is_noticed(
    place: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table = RARE[twice]
    recode = _polars.recode
    faults: list[Callable[..., pl.LazyFrame]] = [
        lambda frame, recoding, **settings: pl.concat([recode(frame, recoding, **settings)] * 2),
        lambda frame, recoding, **settings: recode(frame, recoding, **settings).head(4),
        lambda frame, recoding, **settings: frame,
    ]
    for fault in faults:
        with monkeypatch.context() as patched:
            everywhere(patched, recode, fault)
            with pytest.raises(AuditError):
                dc.anonymize(
                    table,
                    quasi_identifiers={"q": "flat"},
                    privacy="k(2)",
                    suppression="budget(0.2)",
                    output=tmp_path / place,
                )
        assert not list(tmp_path.iterdir())


def test_a_reader_that_merges_values_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    scan = TableFile.scan
    path = tmp_path / "t.csv"
    path.write_text("q,s\na,x\na,y\nA,x\nb,x\nb,y\n,x\n", encoding="utf-8")

    def merging(self: TableFile, categories: Any = ()) -> pl.LazyFrame:
        return scan(self).with_columns(pl.all().fill_null("a").str.to_lowercase())

    monkeypatch.setattr(TableFile, "scan", merging)
    verdict = audit(path, quasi_identifiers="q", privacy="k(2)")
    assert not verdict.passed
    assert (verdict.rows, verdict.classes, verdict.smallest_class) == (6, 4, 1)


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "polars", "pandas", "pyarrow"])
@pytest.mark.parametrize("missing", ["value", "suppress"])
def test_what_a_promise_compares_with_is_counted_by_the_audit(
    kind: str, missing: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A search that counted the original table wrong cannot lead the audit astray."""
    job: dict[str, Any] = {
        "quasi_identifiers": {"age": "flat", "sex": "flat"},
        "sensitive": "disease",
        "privacy": ["k(1)", "t(0.9, disease)"],
        "keep": ["dose", "weight"],
        "missing": missing,
    }
    data = written(kind, tmp_path)
    honest = dc.anonymize(data, **job).audit
    count = counting.count

    def skewed(*arguments: Any, **options: Any) -> Any:
        counted = count(*arguments, **options)
        wrong = {name: frame.with_columns(rows=pl.col("rows") * 100 + 1) for name, frame in counted.reference.items()}
        return replace(
            counted, reference={**wrong, "disease": wrong["disease"].with_columns(rows=pl.int_range(pl.len()))}
        )

    everywhere(monkeypatch, count, skewed)
    assert dc.anonymize(data, **job).audit == honest


def test_the_population_is_counted_by_the_audit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A search that counted the population wrong cannot lead the audit astray."""
    people = pl.concat([TABLE.select("age", "sex")] * 3)
    people.write_csv(tmp_path / "people.csv")
    job: dict[str, Any] = {"quasi_identifiers": {"age": "flat", "sex": "flat"}, "privacy": "k-map(2)"}
    data, count = TABLE.select("age", "sex"), counting.count

    def skewed(*arguments: Any, **options: Any) -> Any:
        counted = count(*arguments, **options)
        return replace(counted, people=counted.people.with_columns(counted.people.to_series(-1) * 7))

    for population in (people, people.to_pandas(), tmp_path / "people.csv"):
        honest = dc.anonymize(data, **job, population=population).audit
        with monkeypatch.context() as patched:
            everywhere(patched, count, skewed)
            assert dc.anonymize(data, **job, population=population).audit == honest
