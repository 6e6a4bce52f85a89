"""Hidden content of frames and files, and changes of values.

Canaries are put wherever a frame can store something other than cells of released rows: attributes, metadata,
categories, dictionaries, index levels, the rest of a sliced buffer, and suppressed rows. The bytes of the released
frame and file are searched for them. The second part reads delimited text back from every kind of output: no value
may have changed.
"""

from __future__ import annotations

import io
import pickle
import random
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl

import discreet as dc
from attack.base import Outcome
from canary import found_in

__all__ = ["run"]

Maker = Callable[[dict[str, list[str]], str], Any]
_SUFFIXES = ("parquet", "csv", "tsv", "jsonl")


def run(seed: int, folder: Path) -> Iterator[Outcome]:
    """Attack releases of random frames, and read random texts back."""
    draw = random.Random(seed)
    makers = _makers()
    for name in draw.sample(sorted(makers), min(4, len(makers))):
        yield _hidden(draw, name, makers[name], folder)
    yield from _read_back(draw, folder)


def _hidden(draw: random.Random, name: str, make: Maker, folder: Path) -> Outcome:
    canary = f"zq{draw.getrandbits(64):016x}qz"
    size, gone = draw.randint(2, 6), draw.random() < 0.5
    cells = {"q": ["a"] * size + ["b"] * size, "s": [draw.choice("wxyz") for _ in range(2 * size)]}
    if gone:
        cells = {"q": [*cells["q"], "c"], "s": [*cells["s"], canary]}
    table = make(cells, canary)
    options: dict[str, Any] = {"quasi_identifiers": {"q": "flat"}, "privacy": "k(2)", "suppression": "budget(1)"}
    options |= {"max_levels": {"q": 0}}  # the one row of class c goes
    options |= {"keep": ["s"]}  # one canary in a hundred passes for an account number
    release = dc.anonymize(table, **options)
    found = {form for form, content in _bytes(release.frame) if found_in(content, [canary])}
    path = folder / f"{canary[:6]}.{draw.choice(_SUFFIXES)}"
    dc.anonymize(table, **options, output=path)
    if found_in(path.read_bytes(), [canary]):
        found.add(path.suffix)
    return Outcome("hidden", f"{name}, {'a row' if gone else 'no row'} suppressed", not found, ", ".join(sorted(found)))


def _bytes(frame: Any) -> Iterator[tuple[str, bytes]]:
    """Serialized forms of a frame."""
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    yield "pickle", pickle.dumps(frame)
    stream = io.BytesIO()
    if isinstance(frame, pl.DataFrame):
        frame.write_ipc(stream)
        yield "ipc", stream.getvalue()
        return
    import pyarrow as pa

    table = frame if isinstance(frame, pa.Table) else pa.Table.from_pandas(frame)
    with pa.ipc.new_file(stream, table.schema) as writer:
        writer.write_table(table)
    yield "ipc", stream.getvalue()


def _makers() -> dict[str, Maker]:
    """Functions that make frames with hidden canaries, for the installed libraries."""
    makers: dict[str, Maker] = {
        "polars": lambda cells, _: pl.DataFrame(cells),
        "polars lazy": lambda cells, _: pl.DataFrame(cells).lazy(),
        "polars enum": lambda cells, word: pl.DataFrame(cells).cast(
            {"s": pl.Enum(sorted({*cells["s"], word})), "q": pl.Enum(sorted({*cells["q"], word}))}
        ),
        "polars categorical, cut": lambda cells, word: (
            pl.DataFrame({name: [*values, word] for name, values in cells.items()})
            .cast({"s": pl.Categorical})
            .head(len(cells["q"]))
        ),
    }
    try:
        import pandas as pd
        import pyarrow as pa
    except ImportError:
        return makers

    def attributes(cells: dict[str, list[str]], word: str) -> Any:
        frame = pd.DataFrame(cells).rename_axis(columns=word)
        frame.attrs["note"] = word
        return frame

    def categories(cells: dict[str, list[str]], word: str) -> Any:
        return pd.DataFrame({name: pd.Categorical(v, categories=sorted({*v, word})) for name, v in cells.items()})

    def levels(cells: dict[str, list[str]], word: str) -> Any:
        more = {name: [*values, word] for name, values in cells.items()}
        size = len(cells["q"])
        index = pd.MultiIndex.from_arrays([[*map(str, range(size)), word], range(size + 1)])
        return pd.DataFrame(more, index=index).iloc[:size]

    def dictionary(cells: dict[str, list[str]], word: str) -> Any:
        def coded(values: list[str]) -> Any:
            known = sorted({*values, word})
            return pa.DictionaryArray.from_arrays([known.index(value) for value in values], known)

        return pa.table({name: coded(values) for name, values in cells.items()})

    def metadata(cells: dict[str, list[str]], word: str) -> Any:
        fields = [pa.field(name, pa.string(), metadata={"note": word}) for name in cells]
        return pa.table(cells).cast(pa.schema(fields)).replace_schema_metadata({"note": word})

    def cut(cells: dict[str, list[str]], word: str) -> Any:
        return pa.table({name: [*values, word] for name, values in cells.items()}).slice(0, len(cells["q"]))

    return makers | {
        "pandas attributes": attributes,
        "pandas categories": categories,
        "pandas index levels": levels,
        "pandas, cut": lambda cells, word: cut(cells, word).to_pandas().iloc[: len(cells["q"])],
        "pandas arrow": lambda cells, word: dictionary(cells, word).to_pandas(types_mapper=pd.ArrowDtype),
        "arrow dictionary": dictionary,
        "arrow metadata": metadata,
        "arrow, cut": cut,
    }


def _text(draw: random.Random) -> Callable[[], str]:
    """A function that draws texts of one kind, some of which look like numbers, dates or booleans."""
    digits = draw.randint(1, 20)
    places = draw.randint(1, 4)
    return draw.choice(
        [
            lambda: str(draw.randint(-(10**digits), 10**digits)),
            lambda: f"{draw.randint(0, 999):03}",
            lambda: repr(draw.random() * 10 ** draw.randint(-8, 8)),
            lambda: f"{draw.uniform(-5, 5):.{places}f}",
            lambda: f"{draw.randint(1890, 2030)}-{draw.randint(1, 12):02}-{draw.randint(1, 29):02}",
            lambda: f"2024-01-{draw.randint(1, 28):02}{draw.choice(' T')}10:{draw.randint(0, 59):02}:00",
            lambda: draw.choice(["true", "false"]),
            lambda: draw.choice(["1", "2", "NA"]),
            lambda: draw.choice(["1", "1.0", "1.50", "-0", "+1", "1e5", "inf", "nan", "0x1f"]),
            lambda: draw.choice(["1.5", "2", "0.1", "3"]),
        ]
    )


def _read_back(draw: random.Random, folder: Path) -> Iterator[Outcome]:
    size = draw.choice([6, 40, 2500])
    columns = {}
    for number in range(4):
        kind, other = _text(draw), _text(draw)
        mixed = draw.random() < 0.3  # the last rows may be of another kind than the first
        columns[f"c{number}"] = [(other if mixed and row > size - 3 else kind)() for row in range(size)]
    columns["row"] = [f"r{row}" for row in range(size)]
    source = folder / f"texts{draw.getrandbits(32):x}.csv"
    pl.DataFrame({"q": ["a"] * size, **columns}).write_csv(source)
    places = ["x.parquet", "x.jsonl", "x.csv", "x.tsv", None, "sqlite", "duckdb"]
    for place in draw.sample(places, 3):
        engine = draw.choice(["auto", "duckdb"])
        try:
            frame = _written(source, place, folder, draw, engine)
        except ImportError:
            continue
        rows = frame.sort(pl.col("row").str.slice(1).cast(pl.Int64))
        wrong = [name for name in columns if not _same(columns[name], rows[name].to_list())]
        target = f"{engine} to {place}, {size} rows"
        yield Outcome("types", target, not wrong, f"{[(n, rows.schema[n]) for n in wrong]}" if wrong else "")


def _written(source: Path, place: str | None, folder: Path, draw: random.Random, engine: Any) -> pl.DataFrame:
    name = f"out{draw.getrandbits(32):x}"
    target = None if place is None else f"{folder}/{name}{place}"
    if place in ("sqlite", "duckdb"):
        target = f"{place}:///{folder}/{name}.{place}?table=t"
    if "duckdb" in (place, engine):
        import duckdb  # noqa: F401
    options: dict[str, Any] = {"quasi_identifiers": {"q": "flat"}, "privacy": "k(2)", "engine": engine}
    options["keep"] = [column for column in pl.scan_csv(source).collect_schema() if column != "q"]
    frame = dc.anonymize(source, **options, output=target).frame
    return frame if isinstance(frame, pl.DataFrame) else pl.DataFrame(frame.to_arrow_table())


def _same(before: list[str], after: list[Any]) -> bool:
    return len(before) == len(after) and all(map(_is_same, before, after))


def _is_same(text: str, value: Any) -> bool:
    """Whether a value is the text, or the number, date or boolean it spells, without loss."""
    if isinstance(value, str):
        return value == text
    if isinstance(value, bool):
        return text == str(value).lower()
    if isinstance(value, int | Decimal):
        return str(value) == text
    if isinstance(value, float):
        return Decimal(repr(value)) == Decimal(text)
    return str(value) == text.replace("T", " ")
