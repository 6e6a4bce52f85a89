"""The one detector of what could identify people: names in seven languages, contents, counts, and few false alarms."""

from __future__ import annotations

import csv
import datetime
import os
import re
import uuid
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from discreet.schema import ColumnFacts, Role, detect, find_leaks, near_duplicates, suggest_diversity
from discreet.schema.identifying import singles_out, words_of
from discreet.schema.identifying._check_digits import NUMBERS
from discreet.schema.identifying._kinds import DATES, sightings

ROWS = 1000
DATA = Path(os.environ.get("DISCREET_DATA", Path(__file__).parents[3] / "shared" / "data"))
SYLLABLES = ["ba", "co", "du", "fe", "gi", "ho", "ka", "lu", "me", "no", "pi", "ra", "so", "ti", "vu", "wa", "ze"]


def word(rng: np.random.Generator, syllables: int = 3) -> str:
    return "".join(rng.choice(SYLLABLES, syllables)).title()


def iban(rng: np.random.Generator) -> str:
    account = f"{rng.integers(10**8):08}{rng.integers(10**10):010}"
    check = 98 - int(account + "131400") % 97
    return f"DE{check:02}{account}"


def by_check(name: str, digits: int):
    number = next(one for one in NUMBERS if one.what == name)

    def draw(rng: np.random.Generator) -> str:
        while True:
            text = f"{rng.integers(1, 10)}" + "".join(map(str, rng.integers(0, 10, digits - 1)))
            if number.passes(text):
                return text

    return draw


def dni(rng: np.random.Generator) -> str:
    number = int(rng.integers(10**7, 10**8))
    return f"{number}{'TRWAGMYFPDXBNJZSQVHLCKE'[number % 23]}"


def day(rng: np.random.Generator, first: int, last: int) -> datetime.date:
    return datetime.date(first, 1, 1) + datetime.timedelta(days=int(rng.integers((last - first) * 365)))


MAKERS = {
    "surnames": lambda rng: word(rng),
    "emails": lambda rng: f"{word(rng).lower()}@example.org",
    "phones": lambda rng: f"+49 30 {rng.integers(10**6, 10**7)}",
    "births": lambda rng: day(rng, 1930, 2010),
    "births_dotted": lambda rng: day(rng, 1930, 2010).strftime("%d.%m.%Y"),
    "births_slashed": lambda rng: day(rng, 1930, 2010).strftime("%m/%d/%Y"),
    "visits": lambda rng: day(rng, 2024, 2025),
    "streets": lambda rng: f"{word(rng)} Street {rng.integers(200)}",
    "codes": lambda rng: f"{rng.integers(60):02}{rng.integers(3):03}",
    "few": lambda rng: str(rng.choice(["Red", "Green", "Blue"])),
    "few_numbers": lambda rng: int(rng.integers(40)),
    "few_decimals": lambda rng: float(rng.integers(60)) / 2 + 0.25,
    "flags": lambda rng: int(rng.integers(2)),
    "mostly_zero": lambda rng: 0 if rng.random() < 0.97 else int(rng.integers(100_000)),
    "numbers": lambda rng: int(rng.integers(10**9, 10**10)),
    "repeated_numbers": lambda rng: int(rng.integers(10**6, 10**6 + 250)),
    "ssn": lambda rng: f"{rng.integers(100, 900)}-{rng.integers(10, 99)}-{rng.integers(1000, 9999)}",
    "uuids": lambda rng: str(uuid.UUID(bytes=rng.bytes(16))),
    "hashes": lambda rng: rng.bytes(16).hex(),
    "ibans": iban,
    "dni": dni,
    "cpf": by_check("Brazilian taxpayer numbers", 11),
    "bsn": by_check("Dutch citizen service numbers", 9),
    "uniques": lambda rng: f"{word(rng, 4)}{rng.integers(100)}",
    "decimals": lambda rng: float(rng.normal()),
    "texts": lambda rng: " ".join(word(rng).lower() for _ in range(8)),
    "ips": lambda rng: ".".join(str(part) for part in rng.integers(1, 255, 4)),
    "coordinates": lambda rng: f"{rng.uniform(40, 60):.5f}, {rng.uniform(0, 20):.5f}",
}
with (Path(__file__).parent / "columns.csv").open(encoding="utf-8") as file:
    CORPUS = [tuple(row.values()) for row in csv.DictReader(file)]


@pytest.mark.parametrize(("name", "language", "content", "role", "stops"), CORPUS)
def test_a_corpus_of_columns(name: str, language: str, content: str, role: str, stops: str) -> None:
    rng = np.random.default_rng(len(name))
    values = pl.Series(name, [MAKERS[content](rng) for _ in range(ROWS)])
    found = detect(ColumnFacts.of(name, values))
    assert (found.role, found.stops) == (role, stops == "yes"), found
    assert found.reasons
    for reason in found.reasons:
        assert reason.endswith(".")
        assert not any(str(value) in reason for value in values.head(20).cast(pl.String) if len(value) > 3)


def repeated(values: list[object], rows: int = 3000) -> pl.Series:
    rng = np.random.default_rng(4)
    return pl.Series([values[place] for place in rng.integers(0, len(values), rows)])


SURNAMES = [word(np.random.default_rng(seed)) for seed in range(200)]
FULL_NAMES = [
    f"{word(np.random.default_rng(seed), 2)} {word(np.random.default_rng(seed + 999))}" for seed in range(224)
]


class TestPeopleWithSeveralRows:
    @pytest.mark.parametrize("name", ["Name", "name", "Patient", "nom", "Naam", "who"])
    def test_full_names(self, name: str) -> None:
        found = detect(ColumnFacts.of(name, repeated(FULL_NAMES)))
        assert (found.role, found.stops, found.certainty) == (Role.IDENTIFIER, True, "certain")
        assert found.names_people

    @pytest.mark.parametrize("name", ["Name", "Nachname", "apellido", "first_name", "Prénom"])
    def test_single_names(self, name: str) -> None:
        found = detect(ColumnFacts.of(name, repeated(SURNAMES)))
        assert (found.role, found.stops) == (Role.IDENTIFIER, True)

    @pytest.mark.parametrize(
        "name",
        ["Pat_ID", "PatNr", "patient_id", "Kundennummer", "customer_no", "person_id", "numero_paciente", "id_cliente",
         "subject_id", "Probanden-Nr.", "codice paziente", "deelnemer_id", "TeilnehmerID", "user_code"],
    )  # fmt: skip
    @pytest.mark.parametrize("form", [int, float, "P{:04}".format])
    def test_numbers(self, name: str, form: object) -> None:
        found = detect(ColumnFacts.of(name, repeated([form(number) for number in range(1000, 1200)])))  # type: ignore[operator]
        assert (found.role, found.stops) == (Role.IDENTIFIER, True)

    @pytest.mark.parametrize(
        ("name", "values"),
        [
            ("discharge_disposition_id", list(range(28))),
            ("number_outpatient", list(range(40))),
            ("number_of_people", list(range(40))),
            ("Name", ["Red", "Green", "Blue"]),
            ("Pat_ID", list(range(12))),
            ("station_name", [f"Station{number}" for number in range(40)]),
            ("disease", [f"{word(np.random.default_rng(n))} {word(np.random.default_rng(n + 99))}" for n in range(40)]),
        ],
    )
    def test_what_does_not_stop(self, name: str, values: list[object]) -> None:
        assert not detect(ColumnFacts.of(name, repeated(values))).stops


def test_costs_are_no_dates() -> None:
    rng = np.random.default_rng(6)
    costs = pl.Series(rng.uniform(1000, 9000, ROWS).round(2))
    for values in (costs, costs.cast(pl.String)):
        assert not any(one.kind == DATES for one in sightings("costs", values.cast(pl.String)))
    for text in ("2021-05", "2021/5", "2021.05", "2021.05.17", "17.05.2021"):
        assert any(one.kind == DATES for one in sightings("when", pl.Series([text] * 5))), text


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("PatientID", "patient id"),
        ("Straße", "strasse"),
        ("fechaDeNacimiento", "fecha de nacimiento"),
        ("FECHA_NACIMIENTO", "fecha nacimiento"),
        ("codePostal2", "code postal"),
        ("Prénom", "prenom"),
        ("p_lastName", "p last name"),
        ("Telefon-Nr.", "telefon nr"),
    ],
)
def test_words_of_names(name: str, words: str) -> None:
    assert words_of(name) == words


@pytest.mark.parametrize(
    ("rows", "unique", "expected"),
    [
        (1000, 99, False),
        (1000, 100, True),
        (199, 178, False),
        (199, 180, True),
        (20, 18, True),
        (19, 19, False),
    ],
)
def test_the_rule_for_singling_out(rows: int, unique: int, expected: bool) -> None:
    sizes = pl.Series([1] * unique + ([rows - unique] if rows > unique else []))
    assert singles_out(ColumnFacts.of("x", pl.Series(range(len(sizes))), sizes)) is expected


def test_missing_values_do_not_hide_the_few_that_have_one() -> None:
    values = pl.Series([None] * 9_000 + [f"{n:05}-x" for n in range(1000)])
    found = detect(ColumnFacts.of("extension", values))
    assert found.stops
    assert found.unique == 1


@pytest.mark.parametrize(
    ("what", "valid", "wrong"),
    [
        ("IBANs", "DE89 3704 0044 0532 0130 00", "DE89 3704 0044 0532 0130 01"),
        ("payment card numbers", "4111 1111 1111 1111", "4111 1111 1111 1112"),
        ("French social security numbers", "2 55 08 14 168 025 38", "2 55 08 14 168 025 39"),
        ("Spanish identity numbers", "12345678Z", "12345678A"),
        ("Italian tax codes", "RSSMRA85T10A562S", "RSSMRA85T10A562T"),
        ("Swiss social security numbers", "756.9217.0769.85", "756.9217.0769.84"),
        ("Brazilian taxpayer numbers", "529.982.247-25", "529.982.247-26"),
        ("German tax numbers", "86095742719", "86095742718"),
        ("British health service numbers", "943 476 5919", "943 476 5918"),
        ("Dutch citizen service numbers", "111222333", "111222334"),
    ],
)
def test_check_digits(what: str, valid: str, wrong: str) -> None:
    number = next(one for one in NUMBERS if one.what == what)
    assert number.passes(valid)
    assert not number.passes(wrong)


class TestLeaks:
    names = pl.Series("name", [f"{a}a {b}son" for a in ("Ann", "Bob", "Cyr", "Dot") for b in ("Al", "Be", "Co", "Da")])

    def table(self, remarks: list[str]) -> pl.DataFrame:
        return pl.DataFrame({"name": self.names, "remark": remarks})

    def test_a_first_name_in_some_remarks(self) -> None:
        texts = ["came late"] * 15 + [f"called {self.names[15].split()[0]} twice"]
        assert [leak.column for leak in find_leaks(self.table(texts), ["name"], ["remark"])] == ["remark"]

    def test_the_full_name_of_somebody_else(self) -> None:
        texts = ["came late"] * 15 + [f"asked for {self.names[2].upper()}"]
        assert find_leaks(self.table(texts), ["name"], ["remark"])

    def test_words_that_are_names_by_chance(self) -> None:
        rng = np.random.default_rng(1)
        colours = ["Rose", "White", "Green", "Brown", "Gray", "Olive"]
        names = [f"{rng.choice(colours)} {rng.choice(colours)}" for _ in range(2000)]
        texts = [f"{rng.choice(colours).lower()} skin" for _ in range(2000)]
        table = pl.DataFrame({"name": names, "remark": texts})
        assert find_leaks(table, ["name"], ["remark"]) == []

    def test_numbers(self) -> None:
        keys = pl.Series("id", range(100_000, 100_050))
        copied = pl.DataFrame(
            {"id": keys, "ref": [f"case {key}" for key in keys], "age": [30 + n % 40 for n in range(50)]}
        )
        assert [leak.column for leak in find_leaks(copied, ["id"], ["ref", "age"])] == ["ref"]
        small = pl.DataFrame({"id": range(50), "age": [n % 40 for n in range(50)][::-1]})
        assert find_leaks(small, ["id"], ["age"]) == []


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["Flu", "flu", " FLU", "Cold"], 3),
        (["Flu", "Cold", "HIV"], 0),
        ([50_000.01, 50_000.02, 7.0], 0),
        ([0.1 + 0.2, 0.3, 0.31, -0.3], 2),
        ([float("inf"), 0.0, 1e-300], 0),
        ([51_231, 51_239, 7, 8, 9], 0),
        (["51231.45", "51231.46", "1.5", "15"], 0),
        (["2021-05-17", "2021-05-18", "17.05.2021"], 0),
        ([datetime.date(2021, 5, 17), datetime.date(2021, 5, 18)], 0),
        ([1, 2, 3, 4], 0),
        ([None, "a"], 0),
    ],
)
def test_values_that_are_all_but_equal(values: list[object], expected: int) -> None:
    assert near_duplicates(pl.Series(values, strict=False)) == expected


def test_a_diversity_to_ask_for() -> None:
    assert [suggest_diversity(values) for values in (0, 1, 2, 3, 50)] == [None, None, 2, 3, 3]


ADULT = {
    Role.QUASI_IDENTIFIER: "age workclass fnlwgt education education-num marital-status occupation relationship race "
    "sex hours-per-week native-country",
    Role.SENSITIVE: "income",
    Role.INSENSITIVE: "capital-gain capital-loss split",
}
CENSUS = {
    Role.QUASI_IDENTIFIER: "age detailed_industry_recode detailed_occupation_recode education marital_stat race sex "
    "major_industry_code hispanic_origin country_of_birth_self citizenship year instance_weight",
    Role.SENSITIVE: "wage_per_hour income",
    Role.INSENSITIVE: "class_of_worker capital_gains capital_losses dividends_from_stocks veterans_benefits "
    "member_of_a_labor_union tax_filer_stat migration_prev_res_in_sunbelt",
}
TESTDATA = {
    Role.IDENTIFIER: "expend",
    Role.QUASI_IDENTIFIER: "sex age savings sampling_weight household_weights",
    Role.SENSITIVE: "income",
    Role.INSENSITIVE: "urbrur roof walls water electcon relat hhcivil ori_hid",
}


@pytest.mark.parametrize(
    ("file", "roles", "stopping"),
    [
        ("adult.csv", ADULT, {"fnlwgt"}),
        ("census-income-kdd/census-income-kdd-train.csv.gz", CENSUS, {"instance_weight"}),
        ("sdcmicro/testdata.csv", TESTDATA, {"expend", "savings", "income"}),
    ],
)
def test_the_columns_of_known_tables(file: str, roles: dict[Role, str], stopping: set[str]) -> None:
    if not (DATA / file).exists():
        pytest.skip("no benchmark data here; set DISCREET_DATA to its folder")
    table = pl.read_csv(DATA / file, infer_schema_length=None)
    found = {column.name: detect(ColumnFacts.of(column.name, column)) for column in table}
    for role, names in roles.items():
        assert {name: found[name].role for name in names.split()} == dict.fromkeys(names.split(), role)
    assert {name for name, finding in found.items() if finding.stops} == stopping


CONTACTS = [
    "call Ann Smith, 555-123-4567",
    "Frau Meier, Tel. 030 1234567",
    "tel: 0171/1234567 abends",
    "reach him at +44 20 7946 0958 please",
    "appelez au 06 12 34 56 78 svp",
    "mail jane.doe@example.org today",
    "phone no. 612345678 in the evening",
    "(030) 1234567 ist die Nummer",
    "mobile:07911 123456 (wife)",
]
HARMLESS = [
    "dose 100 mg",
    "01/2020 to 09/2020",
    "room 3101282",
    "seen on 2020-01-31 12:30:45",
    "paid 1 500 000 EUR",
    "version 1.2.3.4 of 2020",
    "born 01.02.1980 in Rom",
    "from 08:00 to 17:00, BP 120/80",
    "call 911 now",
    "week 01-2020 200 units",
]


def notes(cell: str, *, one_in: int) -> ColumnFacts:
    """A column of notes that hardly single anybody out, with a cell now and then."""
    rows = [
        cell if n % one_in == 0 else ["all well", "to rest", "comes again", "no change"][n % 4] for n in range(2000)
    ]
    return ColumnFacts.of("remark", pl.Series(rows))


@pytest.mark.parametrize("cell", CONTACTS)
def test_contacts_in_notes_name_people(cell: str) -> None:
    found = detect(notes(cell, one_in=500))
    assert found.stops
    assert found.names_people
    assert found.role is Role.IDENTIFIER
    assert found.certainty == "certain"
    assert re.match("It holds (telephone numbers or )?e-mail addresses", found.reasons[0])
    assert not any(part in " ".join(found.reasons) for part in ("555", "0171", "jane", "Meier"))


@pytest.mark.parametrize("cell", HARMLESS)
def test_other_numbers_in_notes_are_no_alarm(cell: str) -> None:
    assert not detect(notes(cell, one_in=5)).stops


def test_long_numbers_in_notes_call_for_a_decision_if_they_differ() -> None:
    rng = np.random.default_rng(1)
    numbered = pl.Series([f"card {n} was seen" for n in rng.integers(10**9, 10**10, 60)] * 5)
    found = detect(ColumnFacts.of("remark", numbered))
    assert found.stops
    assert found.certainty == "likely"
    assert "numbers of nine digits or more within text" in found.reasons[0]


def test_a_word_in_front_of_a_contact_is_text_and_a_column_of_contacts_is_not() -> None:
    phones = detect(ColumnFacts.of("x", pl.Series([f"+49 30 {n}" for n in range(10**6, 10**6 + 300)])))
    assert phones.reasons[0] == "It holds telephone numbers."
    mails = detect(ColumnFacts.of("x", pl.Series([f"a{n}@example.org" for n in range(300)])))
    assert mails.reasons[0] == "It holds e-mail addresses."


def test_the_share_of_unique_values_says_that_missing_ones_do_not_count():
    values = [float(i) for i in range(300)] + [1000.5 + i % 5 for i in range(300)]
    whole, holes = pl.Series(values), pl.Series([*values, None, None])
    assert "In 50% of the rows it has a value that no other row has." in detect(ColumnFacts.of("fare", whole)).reasons
    expected = "Where it has a value, 50% of the rows have one that no other row has."
    assert expected in detect(ColumnFacts.of("fare", holes)).reasons
