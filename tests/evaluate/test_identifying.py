"""Warnings of columns that name people, by name and by content, in English and German, without a value."""

from __future__ import annotations

import datetime

import polars as pl
import pytest

import discreet as dc
from discreet.evaluate import identifier_warnings

NAMES = "the names of people"
PLACES = "places smaller than a state"
DATES = "dates more exact than a year"
OLD = "ages over 89 that are not one category"


def kinds(column, values=("x", "y", "z")):
    return [warning.kind for warning in identifier_warnings(pl.DataFrame({column: list(values)}))]


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ("name", NAMES),
        ("LastName", NAMES),
        ("first_name", NAMES),
        ("Vorname", NAMES),
        ("nachname", NAMES),
        ("city", PLACES),
        ("street_address", PLACES),
        ("Straße", PLACES),
        ("Wohnort", PLACES),
        ("phone", "telephone numbers"),
        ("Telefonnummer", "telephone numbers"),
        ("handy_nr", "telephone numbers"),
        ("fax", "fax numbers"),
        ("Faxnummer", "fax numbers"),
        ("email", "e-mail addresses"),
        ("E-Mail", "e-mail addresses"),
        ("SSN", "social security or other national numbers"),
        ("Sozialversicherungsnummer", "social security or other national numbers"),
        ("SteuerID", "social security or other national numbers"),
        ("MRN", "medical record numbers"),
        ("PatientID", "medical record numbers"),
        ("Fallnummer", "medical record numbers"),
        ("beneficiary_id", "health plan numbers"),
        ("Versichertennummer", "health plan numbers"),
        ("IBAN", "account numbers"),
        ("Kontonummer", "account numbers"),
        ("driver_license", "certificate or licence numbers"),
        ("Führerschein", "certificate or licence numbers"),
        ("license_plate", "vehicle identifiers"),
        ("KFZ-Kennzeichen", "vehicle identifiers"),
        ("device_id", "device identifiers"),
        ("Seriennummer", "device identifiers"),
        ("url", "web addresses"),
        ("IP_address", "IP addresses"),
        ("fingerprint", "biometric identifiers"),
        ("photo", "photographs"),
        ("Lichtbild", "photographs"),
        ("uuid", "other numbers or codes of a person"),
        ("person_id", "other numbers or codes of a person"),
    ],
)
def test_by_name(column, kind):
    assert kind in kinds(column)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["call me", "mail to jane.doe@example.org please"], "e-mail addresses"),
        (["078-05-1120", "219-09-9999"], "social security or other national numbers"),
        (["see https://example.org/jane", "nothing"], "web addresses"),
        (["192.168.0.17", "10.0.0.1"], "IP addresses"),
        (["00:1B:44:11:3A:B7", "00:1B:44:11:3A:B8"], "device identifiers"),
        (["(555) 123-4567", "555-123-9876"], "telephone numbers"),
        (["+49 30 123456", "0171 1234567"], "telephone numbers"),
        (["DE89 3704 0044 0532 0130 00"], "account numbers"),
        (["123e4567-e89b-12d3-a456-426614174000"], "other numbers or codes of a person"),
        (["02139-4307", "94110-1234"], PLACES),
        (["2024-03-01", "2023-12-24"], DATES),
        (["2024-03", "2023-12"], DATES),
        (["24.12.1980", "1.2.1990"], DATES),
        (["12/24/1980", "2/1/90"], DATES),
        (["3. März 1980", "14 Aug 1999"], DATES),
        ([datetime.date(2024, 3, 1)], DATES),
        (["a/b/scan1.JPG", "scan2.png"], "photographs"),
        ([f"{first} {last}" for first in ("Ada", "Jörg", "Mia") for last in map(str.title, "abcdefgh")], None),
        ([f"{first} {last}son" for first in ("Ada", "Jörg", "Mia") for last in "ABCDEFGH"], NAMES),
    ],
)
def test_by_contents(values, kind):
    found = identifier_warnings(pl.DataFrame({"remark": values}))
    assert [warning.kind for warning in found if kind is not None] == ([] if kind is None else [kind])
    for warning in found:
        assert warning.found_in == "contents"
        assert not any(str(value) in warning.message for value in values)
        assert "'remark'" in warning.message


@pytest.mark.parametrize(
    ("column", "values", "expected"),
    [
        ("zip", ["94110", "94117"], [PLACES]),
        ("zip", [94110, 94117], [PLACES]),
        ("zip", ["941**", "940**"], []),
        ("PLZ", ["10115", "80331"], [PLACES]),
        ("postcode", ["SW1A 1AA"], [PLACES]),
        ("birth_date", ["1980-01-01"], [DATES]),
        ("Geburtsdatum", ["01.01.1980"], [DATES]),
        ("birth_date", ["1980", "[1970, 1980)"], []),
        ("birth_year", [1980, 1990], []),
        ("age", [30, 89], []),
        ("age", [30, 90], []),
        ("age", [30, 91], [OLD]),
        ("age", ["30", "91"], [OLD]),
        ("Alter", ["[85, 90)", "[90, 95)"], [OLD]),
        ("age", ["[85, 90)", ">= 90"], []),
        ("pressure", [130, 95], []),
        ("income", [45_000, 94_110], []),
        ("version", ["1.2", "3.4"], []),
        ("product_name", ["soap"], []),
        ("diagnosis", ["Back pain", "Flu"], []),
    ],
)
def test_what_matters_is_what_is_shown(column, values, expected):
    assert kinds(column, values) == expected


def test_a_sample_of_people_and_a_release_of_it():
    people = dc.sample(500, seed=1)
    found = {warning.column for warning in identifier_warnings(people)}
    assert found == {"person_id", "name", "birth_date", "zip", "city"}
    release = people.select(zip=pl.lit("94***"), sex="sex", diagnosis="diagnosis")
    assert identifier_warnings(release) == ()


def test_pandas_with_mixed_columns():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"email": [1, "a"], "sex": ["f", "m"]}, dtype=object)
    assert [warning.to_dict()["column"] for warning in identifier_warnings(frame)] == ["email"]
