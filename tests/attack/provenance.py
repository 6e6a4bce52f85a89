"""Attacks on the documents of a release: digests, altered certificates, pickles, and repeated releases."""

from __future__ import annotations

import copy
import csv
import hashlib
import hmac
import io
import json
import os
import pickle
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

import discreet as dc
from attack.base import Outcome
from discreet.errors import DiscreetError
from discreet.problem import SCHEMES as FAMILY

__all__ = ["alterations", "rewritten", "run", "true_statement"]

FORMATS = ("csv", "tsv", "parquet", "jsonl")
SCHEMES = tuple(name for name, scheme in FAMILY.members().items() if not scheme.flat)
DIAGNOSES = ("flu", "asthma", "ache", "gout", "measles", "hiv", "anaemia")
REPORTS = (".json", ".md", ".txt", ".html")


def run(seed: int, folder: Path) -> Iterator[Outcome]:
    """Make releases of a random table and attack their documents."""
    rng = random.Random(seed)
    table = random_table(rng)
    with _own_home(folder / "home"):
        yield guess_the_input(rng, table, folder)
        yield from alter_the_certificate(rng, table, folder)
        yield from look_into_pickles(rng, table, folder)
    with _own_home(folder / "other-home"):  # where nothing was released yet
        yield from release_twice(rng, table, folder)


@contextmanager
def _own_home(folder: Path) -> Iterator[None]:
    """Use a key and ledger separate from those of the user."""
    before = os.environ.get("XDG_STATE_HOME")
    folder.mkdir(exist_ok=True)
    os.environ["XDG_STATE_HOME"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["XDG_STATE_HOME"]
        else:
            os.environ["XDG_STATE_HOME"] = before


def random_table(rng: random.Random) -> pl.DataFrame:
    """People, one of whom lives where nobody else does; names and that town are canaries."""
    n = rng.randrange(40, 120)
    towns = [rng.choice(["Aston", "Brede", "Cley"]) for _ in range(n)]
    towns[rng.randrange(n)] = "CANARYVILLE"
    return pl.DataFrame(
        {
            "name": [f"CANARY{number:04}" for number in range(n)],
            "age": [rng.randrange(20, 80) for _ in range(n)],
            "sex": [rng.choice("mf") for _ in range(n)],
            "town": towns,
            "diagnosis": [rng.choice(DIAGNOSES) for _ in range(n)],
        }
    )


def _options(rng: random.Random, scheme: str | None = None) -> dict[str, Any]:
    """Arguments of a release; a local one omits the town, whose values only suppressed rows have."""
    scheme = scheme or rng.choice(SCHEMES)
    local = scheme != "full-domain"
    quasi = {"age": "intervals(5, 10, 20, 40)", "sex": "flat"}
    return {
        "identifiers": ["name", *(["town"] if local else [])],
        "quasi_identifiers": quasi if local else {**quasi, "town": "flat"},
        "sensitive": ["diagnosis"],
        "privacy": [f"k({rng.randrange(2, 5)})", *(["distinct-l(2, diagnosis)"] if rng.random() < 0.5 else [])],
        "suppression": rng.choice(["budget(40%)", "budget(40%)", "class-records"]),
        "scheme": scheme,
        "cost": "NCP" if scheme == "local" else "LM",
        "engine": rng.choice(["auto", "auto", "duckdb"]) if _has_duckdb() else "auto",
    }


def _has_duckdb() -> bool:
    from importlib.util import find_spec

    return find_spec("duckdb") is not None


def guess_the_input(rng: random.Random, table: pl.DataFrame, folder: Path) -> Outcome:
    """Guess one person's diagnosis, with all else known, by comparing every guess with every digest handed over."""
    source = folder / "people.csv"
    table.write_csv(source)
    options = _options(rng)
    kind = rng.choice(FORMATS)
    output = folder / f"safe.{kind}"
    release = dc.anonymize(source, **options, output=output)
    handed = [release.certificate(folder / "certificate.json")]
    handed += [release.report(folder / f"report{ending}", evaluate=False) for ending in rng.sample(REPORTS, 2)]
    handed.append(release.protection_page(folder / "page.md"))
    texts = [file.read_text(encoding="utf-8") for file in handed] + [json.dumps(release.to_dict()), release.summary()]
    digests_found = {found for text in texts for found in re.findall(r"[0-9a-f]{64}", text)}
    target = rng.randrange(table.height)
    size = source.stat().st_size
    for guess in DIAGNOSES:
        values = table["diagnosis"].to_list()
        values[target] = guess
        content = table.with_columns(diagnosis=pl.Series(values)).write_csv().encode()
        if digests_found & digests(content, output.read_bytes()):
            return Outcome("digest", f"{kind}, {options['scheme']}", False, "a digest confirms a guess of a diagnosis")
    sized = any(f"{size:,} bytes" in text or f'"bytes": {size}' in text for text in texts)
    seeded = any(str(release.job.get("seed", "no seed")) in text for text in texts)
    detail = "it contains the size of the input" if sized else "it contains the seed" if seeded else ""
    return Outcome("digest", f"{kind}, {options['scheme']}", not (sized or seeded), detail)


def digests(content: bytes, output: bytes) -> set[str]:
    """Digests of a guess that an attacker could compute, with and without guessable keys."""
    plain = hashlib.sha256(content)
    written = hashlib.sha256(output)
    keys = (b"", bytes(32), output, written.digest(), written.hexdigest().encode(), b"discreet")
    messages = (content, plain.digest(), plain.hexdigest().encode())
    keyed = {hmac.new(key, message, "sha256").hexdigest() for key in keys for message in messages}
    return {plain.hexdigest(), hashlib.sha256(plain.digest()).hexdigest(), *keyed}


def alter_the_certificate(rng: random.Random, table: pl.DataFrame, folder: Path) -> Iterator[Outcome]:
    """Alter a certificate, keeping or recomputing its digest, and check whether it still verifies."""
    source, released, key = folder / "people.csv", folder / "checked.csv", folder / "home" / "altered.key"
    table.write_csv(source)
    options = _options(rng)
    path = dc.anonymize(source, **options, output=released).certificate(folder / "c.json", **_key(key))
    honest = json.loads(path.read_text(encoding="utf-8"))
    altered = list(alterations(honest))
    for what, certificate in rng.sample(altered, min(6, len(altered))):
        broken = verifies(released, honest, certificate, folder, key)
        yield Outcome("altered certificate", options["scheme"], broken is None, f"{what}: {broken}")


def _key(key: Path) -> dict[str, Any]:
    import inspect

    return {"key": key} if "key" in inspect.signature(dc.verify).parameters else {}


def verifies(released: Path, honest: Mapping[str, Any], certificate: Any, folder: Path, key: Path) -> str | None:
    """How an altered certificate verifies; None if it does not."""
    for how, content, keyed in (
        ("with its old digest", certificate, {}),
        ("with the key", rewritten(certificate), _key(key)),
        ("with a new digest", rewritten(certificate), {}),
    ):
        if content == honest:
            continue
        path = folder / "altered.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        try:
            passed = dc.verify(released, path, **keyed).passed
        except DiscreetError:
            continue
        except Exception as error:
            return f"{how} it ends by {type(error).__name__}"
        if passed and not (how == "with a new digest" and true_statement(content, honest, released)):
            return f"{how} it verifies"
    return None


def rewritten(certificate: Any) -> Any:
    """A certificate with its digest recomputed, as anybody can do."""
    if not isinstance(certificate, dict):
        return certificate
    rest = {name: value for name, value in certificate.items() if name != "sha256"}
    first = certificate.get("format") == 1
    text = json.dumps(rest, sort_keys=first, ensure_ascii=False, separators=(",", ":"))
    return {**rest, "sha256": hashlib.sha256(text.encode(errors="replace")).hexdigest()}


def alterations(certificate: Any) -> Iterator[tuple[str, Any]]:
    """All single changes of a certificate: other values, and added or removed fields and items."""
    honest = json.dumps(certificate)
    yield from ((what, other) for what, other in _altered(certificate) if json.dumps(other) != honest)


def _altered(certificate: Any) -> Iterator[tuple[str, Any]]:
    for path, value in _paths(certificate):
        for number, other in enumerate(_others(value)):
            yield f"{path} = #{number}", _with(certificate, path, other)
        if path:
            yield f"{path} gone", _without(certificate, path)
        if isinstance(value, dict):
            yield f"{path} + field", _with(certificate, path, {**value, "note": "nothing"})
            for name in value:
                renamed = {f"{name}s" if each == name else each: item for each, item in value.items()}
                yield f"{path} renames {name}", _with(certificate, path, renamed)
            if len(value) > 1:
                yield f"{path} reversed", _with(certificate, path, dict(reversed(value.items())))
        if isinstance(value, list) and value:
            yield f"{path} twice", _with(certificate, path, [*value, value[0]])
            if len(value) > 1:
                yield f"{path} reversed", _with(certificate, path, value[::-1])


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _paths(item, (*path, key))


def _others(value: Any) -> Iterator[Any]:
    """Other values for a field, of the same type and of others."""
    deep: Any = []
    for _ in range(50):
        deep = [deep]
    yield from (other for other in (None, True, -1, 10**30, 0.5, "", "x", "*", [], {}, deep) if other != value)
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield from (value + 1, value - 1, value * 2, float(value) + 1e-3)
    elif isinstance(value, str):
        yield from (value + "0", value[:-1], value.swapcase(), value[::-1])
        for number in re.findall(r"\d+", value)[:2]:
            yield from (value.replace(number, text, 1) for text in (str(int(number) + 1), "0", "9" * 4000))


def _with(certificate: Any, path: tuple[Any, ...], other: Any) -> Any:
    if not path:
        return other
    changed = copy.deepcopy(certificate)
    parent = changed
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = other
    return changed


def _without(certificate: Any, path: tuple[Any, ...]) -> Any:
    changed = copy.deepcopy(certificate)
    parent = changed
    for key in path[:-1]:
        parent = parent[key]
    del parent[path[-1]]
    return changed


def true_statement(certificate: Mapping[str, Any], honest: Mapping[str, Any], released: Path) -> bool:
    """Whether the statements of a certificate are true, counted from the CSV file in plain Python.

    A true certificate, such as one that promises less, deceives nobody about the release.
    """
    rows = list(csv.DictReader(io.StringIO(released.read_text(encoding="utf-8"))))
    quasi = certificate["quasi_identifiers"]
    classes: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in rows:
        classes.setdefault(tuple(row[column] for column in quasi), []).append(row)
    smallest = min(map(len, classes.values()), default=0)
    columns = [*quasi, *certificate["sensitive"], *(each["name"] for each in certificate["unchanged"])]
    known = [*honest["quasi_identifiers"], *honest["sensitive"], *(each["name"] for each in honest["unchanged"])]
    figures = (len(rows), len(classes), smallest) == (
        certificate["rows"],
        certificate["classes"],
        certificate["smallest_class"],
    )
    return bool(
        figures
        and sorted(columns) == sorted(known)
        and all(each["unique"] == _alone([row[each["name"]] for row in rows]) for each in certificate["unchanged"])
        and certificate["output"] == hashlib.sha256(released.read_bytes()).hexdigest()
        and all(
            _holds(promise, classes, smallest, honest, certificate, released) for promise in certificate["promises"]
        )
    )


def _alone(values: list[str]) -> str:
    """The share of rows with a unique value, as a certificate states it."""
    known = [value for value in values if value]
    if len(values) < 100:
        return "not shown for so few rows"
    step = 1 if len(values) >= 1000 else 5
    share = sum(rows == 1 for rows in Counter(known).values()) / max(len(known), 1)
    percent = step * round(100 * share / step)
    return f"{percent} %" if percent else f"under {step} %"


def _farthest(classes: Mapping[Any, list[dict[str, str]]], original: Path) -> float:
    """The largest distance between the diagnoses of a class and of the whole table (equal ground distance)."""
    people = list(csv.DictReader(io.StringIO(original.read_text(encoding="utf-8"))))
    whole = Counter(person["diagnosis"] for person in people)
    distances = [0.0]
    for rows in classes.values():
        own = Counter(row["diagnosis"] for row in rows)
        distances.append(sum(abs(own[one] / len(rows) - whole[one] / len(people)) for one in whole | own) / 2)
    return max(distances)


def _holds(
    promise: Mapping[str, Any],
    classes: Mapping[Any, Any],
    smallest: int,
    honest: Mapping[str, Any],
    certificate: Mapping[str, Any],
    released: Path,
) -> bool:
    number = re.match(r"([a-z+-]+)\(([\d.]+)", promise["model"])
    if number is None:
        return promise in honest["promises"]
    if number[1] == "t":
        return promise["reached"] is None and _farthest(classes, released.with_name("people.csv")) <= float(number[2])
    if number[1] not in ("k", "distinct-l"):  # known to be measured correctly
        measured = {each["reached"] for each in honest["promises"] if each["model"].startswith(number[1] + "(")}
        enough = float(promise["reached"]) - float(number[2])
        return promise["reached"] in measured and (enough <= 1e-9 if number[1] == "l+" else enough >= -1e-9)
    reached = smallest
    if number[1] == "distinct-l":
        unknown = {certificate["unknown"]}
        reached = min((len({row["diagnosis"] for row in rows} - unknown) for rows in classes.values()), default=0)
    return bool(reached >= float(number[2]) and reached == promise["reached"])


def look_into_pickles(rng: random.Random, table: pl.DataFrame, folder: Path) -> Iterator[Outcome]:
    """Pickle objects that hold a release, and search for values of suppressed rows and for the seed."""
    frames = {
        "polars": lambda: table,
        "polars lazy": table.lazy,
        "pandas": table.to_pandas,
        "pyarrow": table.to_arrow,
        "file": lambda: folder / "people.csv",
    }
    kind = rng.choice(list(frames))
    options = {**_options(rng), "engine": "auto"}
    release = dc.anonymize(frames[kind](), **options)
    _ = release.blocks, release.neighbours
    held = _clean(release) and str(release.job.get("seed", "no seed")).encode() not in pickle.dumps(release)
    yield Outcome("pickle", f"release, {kind}", held, "it holds values of the original table, or the seed")
    step = dc.Anonymizer(**_options(rng, "full-domain") | {"engine": "auto"}).fit(table)
    yield Outcome("pickle", "anonymizer", _clean(step), "it holds values of the original table")
    roles = {name: options[name] for name in ("identifiers", "quasi_identifiers", "sensitive")}
    front = dc.pareto(table, **roles, suppression="budget(10%)")
    yield Outcome("pickle", "front", _clean(front) and _clean(front.points), "it holds values of the original table")


def _clean(thing: Any) -> bool:
    try:
        content = pickle.dumps(thing)
    except DiscreetError:
        return True
    again = pickle.loads(content)
    found = b"CANARY" in content or b"CANARY" in pickle.dumps(again)
    return not found and "CANARY" not in repr(_leaves(again))


def _leaves(thing: Any) -> Any:
    return {name: value for name, value in getattr(thing, "__dict__", {}).items() if name != "table"}


def release_twice(rng: random.Random, table: pl.DataFrame, folder: Path) -> Iterator[Outcome]:
    """Make a release without a seed, repeat it from its job, and then make another one of the same table."""
    source = folder / "twice.csv"
    table.write_csv(source)
    scheme, kind = rng.choice(["local", "local", "full-domain"]), rng.choice(["csv", "parquet", "jsonl"])
    options = {**_options(rng, scheme), "engine": "auto"}
    first, again, other = (folder / f"{name}.{kind}" for name in ("first", "again", "other"))
    release = dc.anonymize(source, **options, output=first)
    repeated = dc.anonymize(source, **options, seed=release.job.get("seed"), output=again)
    same = "seed" in release.job and first.read_bytes() == again.read_bytes()
    yield Outcome("repeated", f"{kind}, {scheme}", same, "the job does not give the same bytes again")
    quiet = not any("RELEASED BEFORE" in note for note in (*release.notes, *repeated.notes))
    second = dc.anonymize(source, **{**options, "privacy": ["k(6)"]}, output=other)
    loud = other.read_bytes() == first.read_bytes() or any("RELEASED BEFORE" in note for note in second.notes)
    yield Outcome("two releases", f"{kind}, {scheme}", quiet and loud, "a second release of the table goes unnoticed")
