"""Columns that name people outright, by the list of the HIPAA Safe Harbor rule: found by name and by content."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any, Literal, NamedTuple

import polars as pl

from discreet._places import is_url
from discreet.engines import open_source, open_table, reading, relation_of, to_lazy
from discreet.schema._column import text_of

__all__ = ["IdentifierWarning", "identifier_warnings"]

_SAMPLE = 10_000
"""How many rows from the start of the table are looked at."""
_FEW, _MOST = 0.01, 0.5
"""The share of the known values that must match: a pattern nothing else looks like, and one that is less certain."""


@dataclass(frozen=True)
class IdentifierWarning:
    """A column that may name people, or tell more than the HIPAA Safe Harbor rule allows."""

    column: str
    kind: str
    found_in: Literal["name", "contents"]
    message: str

    def to_dict(self) -> dict[str, Any]:
        """Return the warning as plain data."""
        return asdict(self)


class _Kind(NamedTuple):
    """A kind of identifier: what its column is called, and what its values look like.

    Where ``both`` is set, a name alone is no reason to warn: a released column may still be called ``zip``.
    """

    kind: str
    name: str | None = None
    value: str | None = None
    share: float = _FEW
    both: bool = False


_UNMASKED_CODE = r"^\s*(\d{4,}|[A-Za-z]{1,2}\d[A-Za-z\d]?\s*\d[A-Za-z]{2}|\d{5}-\d{4}|[A-Z]{1,2}-\d{4,5})"
_DAY_OR_MONTH = (
    r"^\s*(\d{4}[-/.]\d{1,2}([-/.]\d{1,2}([T ].*)?)?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})([T ].*)?"
    r"|\d{1,2}\.? (jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)\w*\.?,? \d{2,4})\s*$"
)
_DATED = (
    r"\b(dob|date|dates|datum|birth ?(day|date)?|born|geburts(datum|tag)?|geboren|admission|admitted|discharge(d)?|"
    r"death|died|deceased|todes(tag|datum)|gestorben|sterbe(datum|tag)|aufnahme(datum|tag)?|entlassung(s?datum)?|"
    r"entlass(datum|tag))\b"
)
_KINDS = (
    _Kind(
        "the names of people",
        r"\b(name|names|full ?name|first ?name|last ?name|given ?name|middle ?name|surname|forename|maiden|nickname|"
        r"user ?name|vor ?name|nach ?name|familien ?name|geburts ?name|ruf ?name|initials|initialen)\b",
    ),
    _Kind(
        "places smaller than a state",
        r"\b(address|street|house ?(no|number|nr)|adresse|anschrift|stra(ss|ß)e|haus ?(nr|nummer)|city|town|village|"
        r"county|municipality|district|precinct|parish|borough|wohnort|ort|stadt|gemeinde|landkreis|kreis|bezirk|"
        r"latitude|longitude|lat|lon|lng|gps|geo ?code|breitengrad|längengrad|koordinaten)\b",
    ),
    _Kind(
        "places smaller than a state",
        r"\b(zip|zip ?code|post ?code|postal( ?code)?|plz|postleitzahl)\b",
        _UNMASKED_CODE,
        _FEW,
        both=True,
    ),
    _Kind("places smaller than a state", None, r"^\s*\d{5}-\d{4}\s*$", _MOST),
    _Kind("dates more exact than a year", _DATED, _DAY_OR_MONTH, _FEW, both=True),
    _Kind("dates more exact than a year", None, r"(?i)" + _DAY_OR_MONTH, _MOST),
    _Kind(
        "telephone numbers",
        r"\b(phone( ?(no|number))?|tele ?phone|mobile( ?(no|number))?|cell( ?phone)?|tel|telefon\w*|"
        r"handy( ?nr|nummer)?|ruf ?nummer|mobil(nummer|telefon)?)\b",
        r"^\s*((\+?1[\s.-]?)?(\(\d{3}\)\s?|\d{3}[\s.-])\d{3}[\s.-]\d{4}|(\+|00)[1-9]\d{0,2}[\s./-]?(\(0?\d{1,5}\)|\d{1,5})"
        r"([\s./-]?\d{2,}){1,5}|0\d{2,5} ?[/ ] ?\d{3,}([ -]?\d{2,}){0,3})\s*$",
        _MOST,
    ),
    _Kind("fax numbers", r"\b(fax( ?(no|nr|number))?|tele ?fax|fax ?nummer)\b"),
    _Kind(
        "e-mail addresses",
        r"\b(e ?mail(s|adresse)?|mail( ?address)?)\b",
        r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}",
    ),
    _Kind(
        "social security or other national numbers",
        r"\b(ssn|social ?(security|insurance)( ?(no|number))?|nhs( ?(no|number))?|nino|national ?(id|insurance)|"
        r"tax ?id|steuer ?(id|nummer|nr|identifikationsnummer)|sozialversicherungs ?(nr|nummer)|svnr|"
        r"renten(versicherungs)? ?(nr|nummer)|passport( ?(no|number))?|(reise)?pass ?(nr|nummer)|personalausweis\w*|"
        r"ausweis ?(nr|nummer)|"
        r"identity ?card( ?(no|number))?)\b",
        r"\b\d{3}-\d{2}-\d{4}\b",
    ),
    _Kind(
        "medical record numbers",
        r"\b(mrn|medical ?record( ?(no|number))?|patient(en)? ?(id|no|nr|number|nummer)|record ?(id|no|nr|number)|"
        r"fall ?(id|nr|nummer)|case ?(id|no|number)|akten ?(nr|nummer|zeichen)|chart ?(no|number))\b",
    ),
    _Kind(
        "health plan numbers",
        r"\b(health ?plan\w*|beneficiary( ?(id|no|number))?|insurance ?(id|no|number)|policy ?(id|no|number)|"
        r"member ?(id|no|number)|versicherten ?(id|nr|nummer)|versicherungs ?(nr|nummer)|"
        r"kranken(kassen|versicherungs) ?(nr|nummer))\b",
    ),
    _Kind(
        "account numbers",
        r"\b(account( ?(id|no|number))?|iban|credit ?card( ?(no|number))?|card ?(no|number)|konto( ?(nr|nummer))?|"
        r"kreditkarte\w*|bank ?verbindung|kunden ?(nr|nummer|id)|customer ?(id|no|number))\b",
        r"^\s*[A-Z]{2}\d{2}( ?[A-Z0-9]{4}){3,7}( ?[A-Z0-9]{1,3})?\s*$",
    ),
    _Kind(
        "certificate or licence numbers",
        r"\b(licen[cs]e( ?(id|no|number))?|certificate( ?(id|no|number))?|führerschein\w*|fuehrerschein\w*|"
        r"zulassungs ?(nr|nummer)|approbations?\w*)\b",
    ),
    _Kind(
        "vehicle identifiers",
        r"\b(vin|vehicle ?(id|identification|no|number)|(number|license|licence) ?plate|kfz( ?kennzeichen)?|"
        r"kennzeichen|fahrgestell ?(nr|nummer)?|fahrzeug ?(id|nr|nummer))\b",
    ),
    _Kind(
        "device identifiers",
        r"\b(device ?(id|no|number|serial)|serial( ?(no|number))?|imei|mac ?(address|adresse)|udid|geräte ?(id|nr|"
        r"nummer)|geraete ?(id|nr|nummer)|serien ?(nr|nummer))\b",
        r"^\s*([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}\s*$",
    ),
    _Kind(
        "web addresses", r"\b(url|uri|web ?(site|page|seite|address)|homepage|internetseite)\b", r"\b(https?|ftp)://\S"
    ),
    _Kind(
        "IP addresses",
        r"\b(ip|ip ?(address|adresse|v4|v6))\b",
        r"^\s*((25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}|([0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4})\s*$",
    ),
    _Kind(
        "biometric identifiers",
        r"\b(biometric\w*|finger ?print\w*|voice ?print\w*|iris|retina|dna|genome|fingerabdruck\w*|stimm ?profil|"
        r"biometrisch\w*|genom)\b",
    ),
    _Kind(
        "photographs",
        r"\b(photo(s|graph)?|picture|portrait|selfie|image|foto(s)?|bild|lichtbild|passbild)\b",
        r"(?i)\.(jpe?g|png|heic|tiff?|bmp|gif|dcm)\s*$",
        _MOST,
    ),
    _Kind(
        "other numbers or codes of a person",
        r"\b(id|ids|identifier|uuid|guid|uid|person(al|en)? ?(id|no|nr|number|nummer)|kennung|kenn ?(nr|nummer)|"
        r"matrikel ?(nr|nummer)|employee ?(id|no|number)|mitarbeiter ?(id|nr|nummer)|student ?(id|no|number))\b",
        r"^\s*[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\s*$",
    ),
)
_NO_PERSON = re.compile(
    r"\b(product|file|drug|medication|medicine|company|employer|hospital|clinic|brand|column|category|group|test|"
    r"procedure|disease|diagnosis|school|produkt|datei|medikament|firma|krankenhaus|klinik|marke|spalte|gruppe)\b"
)
_PERSON_NAME = r"^\p{Lu}[\p{Ll}'’-]+,?( \p{Lu}\.?)?( (von|van|de|der|la))* \p{Lu}[\p{L}'’-]+$"
_AGE = re.compile(r"\b(age|ages|alter|lebens ?alter|patient(en)?alter)\b")
_OLD = 90
"""All ages over 89 must be one category, which may be called 90."""


def identifier_warnings(data: Any) -> tuple[IdentifierWarning, ...]:
    """Warn of each column that may name people, by its name or by the first values it holds; no value is shown."""
    sample = _sample(data)
    found = [warning for column in sample.columns for warning in _warnings(column, sample[column])]
    return tuple(found)


def _warnings(column: str, values: pl.Series) -> list[IdentifierWarning]:
    words = _words(column)
    texts = _texts(values)
    found: dict[str, IdentifierWarning] = {}
    for kind in _KINDS:
        named = kind.name is not None and re.search(kind.name, words) is not None
        if named and kind.kind == "the names of people" and _NO_PERSON.search(words):
            continue
        if kind.both:
            named = named and _matches(texts, kind.value or "", kind.share)
            shown = named
        else:
            shown = kind.value is not None and _matches(texts, kind.value, kind.share)
        if shown and (kind.kind not in found):
            found[kind.kind] = _warning(column, kind.kind, "contents")
        elif named and kind.kind not in found:
            found[kind.kind] = _warning(column, kind.kind, "name")
    if "the names of people" not in found and _full_names(texts):
        found["the names of people"] = _warning(column, "the names of people", "contents")
    if _AGE.search(words) and _over_89(texts):
        old = "ages over 89 that are not one category"
        found[old] = _warning(column, old, "contents")
    return list(found.values())


def _warning(column: str, kind: str, found_in: Literal["name", "contents"]) -> IdentifierWarning:
    by = "by its name" if found_in == "name" else "by its contents"
    message = f"Column '{column}' seems to hold {kind}, judging {by}; the HIPAA Safe Harbor rule has them removed."
    return IdentifierWarning(column, kind, found_in, message)


def _words(column: str) -> str:
    """Return the words of a name, in lower case, with a space between each two.

    >>> _words("PatientID"), _words("date_of_birth"), _words("TelefonNr2")
    ('patient id', 'date of birth', 'telefon nr')
    """
    apart = re.sub(r"(?<=[a-zäöüß])(?=[A-ZÄÖÜ])|(?<=[A-Z])(?=[A-Z][a-zäöüß])", " ", column)
    return " ".join(re.findall(r"[^\W\d_]+", apart.lower()))


def _texts(values: pl.Series) -> pl.Series:
    """Return the known values of a column as text, none where it holds something else."""
    dtype = values.dtype
    if isinstance(dtype, pl.Categorical | pl.Enum):
        values = values.cast(pl.String)
    elif dtype == pl.Object or dtype.is_nested() or dtype == pl.Binary:
        return pl.Series(values.name, [], dtype=pl.String)
    if values.dtype.is_float():
        values = values.fill_nan(None)
    return text_of(values).drop_nulls()


def _matches(texts: pl.Series, pattern: str, share: float) -> bool:
    return bool(len(texts)) and float(texts.str.contains(pattern).mean() or 0) >= share  # type: ignore[arg-type]


def _full_names(texts: pl.Series) -> bool:
    """Whether most values look like a first and a last name, and most are different: cities are not."""
    return len(texts) >= 20 and texts.n_unique() >= 0.5 * len(texts) and _matches(texts, _PERSON_NAME, 0.8)


def _over_89(texts: pl.Series) -> bool:
    """Whether there is an age over 89, other than 90 for all of them, or a range with an end that begins there."""
    alone = texts.cast(pl.Float64, strict=False)
    begins = texts.str.extract(r"^[\[(](\d+(?:\.\d+)?), \d").cast(pl.Float64, strict=False)
    return bool(((alone > _OLD) & alone.is_finite()).any() or (begins >= _OLD).any())


def _sample(data: Any) -> pl.DataFrame:
    """Return the first rows of a table of any kind; columns whose values are of several types come without them."""
    relation = relation_of(data)
    if is_url(data):
        source = open_source(data)
        relation = getattr(source, "relation", None)
        if relation is None:
            with source.guard():
                return to_lazy(data).head(_SAMPLE).collect(engine="streaming")
    if relation is not None:
        with relation.running():
            first: pl.DataFrame = relation.frame.head(_SAMPLE).collect("polars").to_native()
        return first.rename(dict(zip(first.columns, relation.columns, strict=True)))
    if isinstance(data, str | PathLike):
        file = open_table(data)
        with reading(file.name, file.explain):
            return file.scan().head(_SAMPLE).collect(engine="streaming")
    if isinstance(data, pl.LazyFrame | pl.DataFrame):
        with reading("The frame"):
            return to_lazy(data).head(_SAMPLE).collect()
    return _first_of_frame(data)


def _first_of_frame(data: Any) -> pl.DataFrame:
    from discreet.engines._frames import EagerSource
    from discreet.errors import DataError

    source = EagerSource(data)
    start = EagerSource(source.frame.head(_SAMPLE))

    def column(name: str) -> pl.Series:
        try:
            return start.to_polars([name])[name]
        except DataError:
            return pl.Series(name, [None] * start.frame.shape[0], dtype=pl.String)

    return pl.DataFrame({name: column(name) for name in source.columns})
