"""Job files: what they may say, what is wrong with the others, and that they survive a move."""

from __future__ import annotations

import dataclasses
import inspect
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from discreet.errors import DataError, OutputError, UsageError
from discreet.job import Job
from discreet.job.parameters import PARAMETERS, READING, TARGETS
from discreet.job.settings import JobSettings
from discreet.pipeline.anonymize import anonymize

MINIMAL: dict[str, Any] = {"input": "people.csv", "quasi_identifiers": ["sex"], "privacy": "k(5)"}


def write(folder: Path, text: str, name: str = "job.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_yaml_and_json_say_the_same(tmp_path: Path) -> None:
    fields = {**MINIMAL, "quasi_identifiers": {"zip": "mask(digits=5)", "sex": None}, "time_limit": 60}
    as_json = Job.load(write(tmp_path, json.dumps(fields), "job.json"))
    as_yaml = Job.load(
        write(
            tmp_path,
            "input: people.csv\nprivacy: k(5)\ntime_limit: 60\nquasi_identifiers:\n  zip: mask(digits=5)\n  sex:\n",
        )
    )
    assert as_json.model_dump() == as_yaml.model_dump()


def test_one_name_or_a_list_or_a_mapping() -> None:
    assert Job(**{**MINIMAL, "quasi_identifiers": "sex"}).quasi_identifiers == {"sex": None}
    assert Job(**{**MINIMAL, "quasi_identifiers": ["a", "b"]}).quasi_identifiers == {"a": None, "b": None}
    assert Job(**{**MINIMAL, "privacy": ["k(5)", "distinct-l(3, d)"]}).privacy == ["k(5)", "distinct-l(3, d)"]
    assert Job(**MINIMAL, report="r.json").report == ["r.json"]


def test_yaml_without_surprises(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "input: x.csv\nprivacy: k(2)\nquasi_identifiers:\n"
        "  country: {NO: [no, yes, 01234, 2020-01-01, 12:30, 7, 1.5, 1e3, 'true']}\n",
    )
    (group,) = Job.load(path).quasi_identifiers["country"].items()
    assert group == ("NO", ["no", "yes", "01234", "2020-01-01", "12:30", 7, 1.5, 1000.0, "true"])


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"inptu": "a"}, "There is no key 'inptu'; did you mean 'input'?"),
        ({"zzz": 1}, "There is no key 'zzz'; the keys are input, tables"),
        ({"input": 3}, "The key 'input' must be text."),
        ({"quasi_identifiers": ["a", "a"]}, "The key 'quasi_identifiers' names the column 'a' twice."),
        ({"quasi_identifiers": {}}, "The key 'quasi_identifiers' must not be empty."),
        ({"quasi_identifiers": [1]}, "The key 'quasi_identifiers' must be a list of column names"),
        ({"quasi_identifiers": {"a": 3}}, "The key 'quasi_identifiers' gives 'a' no hierarchy"),
        ({"sensitive": 7}, "The key 'sensitive' must be a mapping."),
        ({"privacy": []}, "The key 'privacy' must not be empty."),
        ({"privacy": [5]}, "The key 'privacy', entry '0', must be text."),
        ({"privacy": {"k": 5}}, "The key 'privacy' must be text or a list of texts."),
        ({"time_limit": "soon"}, "The key 'time_limit' must be a number."),
        ({"time_limit": 0}, "The key 'time_limit' must be more than 0."),
        ({"seed": 1.5}, "The key 'seed' must be a whole number."),
        ({"seed": -1}, "The key 'seed' must be 0 or more."),
        ({"seed": True}, "The key 'seed' must be a whole number."),
        ({"min_levels": {"a": "high"}}, "The key 'min_levels', entry 'a', must be a whole number."),
        ({"scheme": {"a": 1}}, "The key 'scheme' must be text, or a mapping from column to text."),
        ({"scheme": ["set"]}, "The key 'scheme' must be text, or a mapping from column to text."),
        ({"types": "date"}, "The key 'types' must be a mapping."),
    ],
)
def test_wrong_keys_and_values(fields: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        Job(**{**MINIMAL, **fields})
    assert sentence in caught.value.message
    path = write(tmp_path, json.dumps({**MINIMAL, **fields}), "job.json")
    with pytest.raises(UsageError) as caught:
        Job.load(path)
    assert caught.value.message.startswith(f"In '{path}': ")
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"tables": ["p.csv", "v.csv"]}, "The key 'tables' names a file for each table, that of people first"),
        ({"tables": {}}, "The key 'tables' names a file for each table, that of people first"),
        ({"tables": {"people": "p.csv", "": "v.csv"}}, "The key 'tables', entry '', must be a name with the path"),
        ({"tables": {"people": "p.csv", "visits": 7}}, "The key 'tables', entry 'visits', must be a name"),
        ({"tables": {"people": "p.csv"}}, "'people' is a single table; name it as the input alone, or add the other"),
        ({"tables": {"p": "p.csv"}, "input": "p.csv"}, "'p' is a single table; name it as the input alone, or add"),
        ({"tables": {"p": "v.csv"}, "input": "p.csv"}, "Two tables would be called 'p', which is the name"),
    ],
)
def test_wrong_tables(fields: dict[str, Any], sentence: str) -> None:
    rest = {name: value for name, value in MINIMAL.items() if name != "input"}
    with pytest.raises(UsageError) as caught:
        Job(**{**rest, "person": "pid", **fields})
    assert caught.value.message.startswith(sentence)
    assert caught.value.topic == "several-tables"


@pytest.mark.parametrize("key", ["input", "quasi_identifiers", "privacy"])
def test_missing_keys(key: str) -> None:
    fields = {name: value for name, value in MINIMAL.items() if name != key}
    with pytest.raises(UsageError, match=f"The key '{key}' is missing."):
        Job(**fields)


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("job.yaml", "- a\n- b\n", "is no job file"),
        ("job.yaml", "", "is no job file"),
        ("job.yaml", "input: [\n", "is not YAML: line 2"),
        ("job.yaml", "input: a\ninput: b\n", "a key occurs twice"),
        ("job.yaml", "quasi_identifiers:\n  a: 1\n  a: 2\n", "line 2, a key occurs twice"),
        ("job.yaml", "input: !!python/object:os.system x\n", "is not YAML: line 1"),
        ("job.json", "{", "is not JSON: line 1"),
        ("job.json", '{"input": "a", "input": "b"}', "the key 'input' occurs twice"),
        ("job.json", "[]", "is no job file"),
    ],
)
def test_broken_files(name: str, text: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        Job.load(write(tmp_path, text, name))
    assert sentence in caught.value.message
    assert "\n" not in caught.value.message


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"There is no job file '.*none\.yaml'; check the path\."):
        Job.load(tmp_path / "none.yaml")
    with pytest.raises(DataError, match="is a folder; name a file in it"):
        Job.load(tmp_path)
    (tmp_path / "latin.yaml").write_bytes("input: Zürich".encode("latin-1"))
    with pytest.raises(UsageError, match="is not UTF-8"):
        Job.load(tmp_path / "latin.yaml")


def test_saved_jobs_leave_defaults_out_and_come_back(tmp_path: Path) -> None:
    job = Job(**MINIMAL, output="safe.csv", min_levels={"sex": 1})
    path = job.save(tmp_path / "job.json")
    saved = json.loads(path.read_text(encoding="utf-8"))
    assert set(saved) == {"input", "output", "quasi_identifiers", "privacy", "min_levels"}
    assert saved["quasi_identifiers"] == ["sex"]
    assert [file.name for file in tmp_path.iterdir()] == ["job.json"]


@pytest.mark.parametrize("name", ["job.yaml", "job.json"])
def test_paths_follow_the_job_file(name: str, tmp_path: Path) -> None:
    for folder in ("a", "b/c"):
        (tmp_path / folder).mkdir(parents=True)
    original = write(
        tmp_path / "a",
        "input: people.csv\noutput: ../out/safe.csv\nreport: [r.json, /abs/r.txt]\nprivacy: k(5)\n"
        "quasi_identifiers:\n  zip: mask(digits=5)\n  edu: trees/edu.csv\n  far: /abs/far.csv\n"
        "  own: {x: [Zürich, '01']}\n"
        "sensitive: {ill: ill.csv}\n",
    )
    job = Job.load(original)
    moved = Job.load(job.save(tmp_path / "b" / "c" / name))
    assert moved.input == "../../a/people.csv"
    assert moved.output == "../../out/safe.csv"
    assert moved.report == ["../../a/r.json", "/abs/r.txt"]
    assert moved.quasi_identifiers == {
        "zip": "mask(digits=5)",
        "edu": "../../a/trees/edu.csv",
        "far": "/abs/far.csv",
        "own": {"x": ["Zürich", "01"]},
    }
    assert moved.sensitive == {"ill": "../../a/ill.csv"}
    located = moved.locate(moved.output)
    assert located is not None
    assert located.resolve() == (tmp_path / "out" / "safe.csv").resolve()


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="There is no folder"):
        Job(**MINIMAL).save(tmp_path / "none" / "job.yaml")


def test_missing_sensitive_values_are_a_key(tmp_path: Path) -> None:
    pl.DataFrame({"a": ["x", "x", "y", "y"], "s": ["flu", None, "hiv", None]}).write_csv(tmp_path / "people.csv")
    job = {"input": str(tmp_path / "people.csv"), "quasi_identifiers": ["a"], "sensitive": ["s"]}
    job |= {"privacy": ["k(2)", "distinct-l(2, s)"]}
    assert set(Job(**job).run().frame["a"]) == {"*"}
    release = Job(**job, missing_sensitive="value").run()
    assert set(release.frame["a"]) == {"x", "y"}
    assert release.job["missing_sensitive"] == "value"
    Job(**job, missing_sensitive="value").save(tmp_path / "job.yaml")
    assert Job.load(tmp_path / "job.yaml").missing_sensitive == "value"
    with pytest.raises(UsageError, match="missing_sensitive is one of unknown, value"):
        Job(**job, missing_sensitive="nothing").run()


def test_a_small_budget_of_a_large_table_is_pointed_out(tmp_path: Path) -> None:
    pl.DataFrame({"a": ["x", "y"] * 600}).write_csv(tmp_path / "people.csv")
    job = {"input": str(tmp_path / "people.csv"), "quasi_identifiers": ["a"], "privacy": "k(2)"}
    said = "budget(5) leaves out 5 at most; for a share write budget(5%)."
    assert said in Job(**job, suppression="budget(5)").run().notes
    assert said not in Job(**job, suppression="budget(5%)").run().notes
    visits = pl.DataFrame({"a": ["x", "y"] * 1200, "p": [row // 4 for row in range(2400)]})
    visits.write_csv(tmp_path / "people.csv")
    assert said not in Job(**job, suppression="budget(5)", person="p").run().notes  # five of 600 people
    said = "budget(5, of=rows) leaves out 5 at most; for a share write budget(5%, of=rows)."
    assert said in Job(**job, suppression="budget(5, of=rows)", person="p").run().notes
    pl.DataFrame({"a": ["x", "y"] * 60}).write_csv(tmp_path / "people.csv")
    assert said not in Job(**job, suppression="budget(5)").run().notes


def test_parameters_describe_the_fields_of_a_job() -> None:
    assert set(PARAMETERS) == set(Job.model_fields)
    for name, parameter in PARAMETERS.items():
        assert parameter.about.endswith((".", "…")), name
        if parameter.default is not None:
            assert Job.model_fields[name].default == parameter.default


def test_settings_have_the_parameters_of_a_job() -> None:
    settings = {item.name for item in dataclasses.fields(JobSettings)}
    in_engine = {"memory_limit", "spark"}
    written = set(TARGETS) - {"output", "key"}
    found = {"data", "linked", "given_cost", "any_scheme", "read_as", "sampled_from"}
    assert set(PARAMETERS) - in_engine - written - {"input", "tables", *READING} == settings - found
    arguments = set(inspect.signature(anonymize).parameters)
    assert set(PARAMETERS) - written - {"input", "tables"} == arguments - {"data", "progress", "budget"}


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "2"])
def test_threads_are_a_whole_number(threads) -> None:
    table = pl.DataFrame({"a": [1, 1]})
    with pytest.raises(UsageError, match="number of threads"):
        anonymize(table, quasi_identifiers="a", privacy="k(2)", threads=threads)


def test_a_release_says_how_many_threads_it_was_given() -> None:
    table = pl.DataFrame({"a": [1, 1]})
    assert anonymize(table, quasi_identifiers="a", privacy="k(2)", threads=2).job["threads"] == 2
    assert "threads" not in anonymize(table, quasi_identifiers="a", privacy="k(2)").job
