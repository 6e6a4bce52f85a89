"""Kinds of identifiers, by the list of the HIPAA Safe Harbor rule: what columns are called and what values look like.

The words are English, German, French, Spanish, Italian, Portuguese and Dutch.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

import polars as pl

from discreet.schema.identifying._check_digits import NUMBERS, SHORTEST, bare_form
from discreet.schema.identifying._words import SENSITIVE, words_of

__all__ = [
    "BIRTH",
    "CONTACTS",
    "DATES",
    "KINDS",
    "LONG_NUMBERS",
    "NAMES",
    "PERSON_NUMBER",
    "PLACES",
    "Kind",
    "Sighting",
    "sightings",
    "text_holds",
]

_FEW, _MOST = 0.01, 0.5
"""The share of known values that must match an unmistakable pattern, and a less certain one."""
_CHECKED = 500
"""The number of values whose check digits are computed."""

NAMES = "the names of people"
PLACES = "places smaller than a state"
DATES = "dates more exact than a year"
OLD = "ages over 89 that are not one category"


class Kind(NamedTuple):
    """A kind of identifier: what its column is called, and what its values look like.

    Where ``both`` is set, a name alone says nothing: a released column may still be called ``zip``. ``direct`` kinds
    name a person by themselves; the values of ``certain`` ones are enough to know them.
    """

    kind: str
    name: str | None = None
    value: str | None = None
    share: float = _FEW
    both: bool = False
    direct: bool = True
    certain: bool = False
    text_only: bool = False
    """Whether values must be text: ``nombre`` is a name in Spanish and a number in French."""


class Sighting(NamedTuple):
    """A kind of identifier found in a column, and by which evidence."""

    kind: str
    found_in: Literal["name", "contents"]
    direct: bool
    certain: bool
    what: str
    """What it is, for a sentence: the kind, or something finer."""


_UNMASKED_CODE = r"^\s*(\d{4,}|[A-Za-z]{1,2}\d[A-Za-z\d]?\s*\d[A-Za-z]{2}|\d{5}-\d{4}|[A-Z]{1,2}-\d{4,5})"
_TELEPHONE = (
    r"^\s*((\+?1[\s.-]?)?(\(\d{3}\)\s?|\d{3}[\s.-])\d{3}[\s.-]\d{4}|(\+|00)[1-9]\d{0,2}[\s./-]?(\(0?\d{1,5}\)|\d{1,5})"
    r"([\s./-]?\d{2,}){1,5}|0\d{2,5} ?[/ ] ?\d{3,}([ -]?\d{2,}){0,3}|0[1-9]( \d\d){4})\s*$"
)
_DAY_OR_MONTH = (
    r"^\s*(\d{4}[-/]\d{1,2}|(19|20)\d\d\.(0[1-9]|1[0-2])|\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?"
    r"|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})([T ].*)?"
    r"|\d{1,2}\.? (de )?(jan|ene|gen|feb|fev|fév|mar|mär|apr|abr|avr|may|mai|mag|mei|maa|jun|giu|juin|jui|jul|lug|aug|"
    r"ago|ao[uû]|sep|set|oct|okt|out|ott|nov|dec|dez|dic|déc)\w*\.?,?( de)? \d{2,4})\s*$"
)
BIRTH = re.compile(
    r"\b(dob|birth ?(day|date|dt)?|born|(date|day|year) of birth|geb(urts)? ?(datum|tag|dat)|geboren|geburt|"
    r"(date )?(de )?naissance|nee? le|(fecha )?(de )?nacimiento|(data )?(di )?nascita|(data )?(de )?nascimento|"
    r"geboorte ?(datum|dag)?)\b"
)
"""Names of birth dates."""
_DATED = (
    rf"({BIRTH.pattern}|\b(date|dates|dt|datum|fecha|data|admission|admitted|discharge(d)?|death|died|deceased|"
    r"todes(tag|datum)|gestorben|sterbe(datum|tag)|aufnahme(datum|tag)?|entlassung(s?datum)?|entlass(datum|tag)|deces|"
    r"sortie|entree|ingreso|alta|fallecimiento|defuncion|ricovero|dimissione|decesso|obito|internacao|overlijden|"
    r"opname|ontslag)\b)"
)
_NO = r"(id|no|nr|nbr|num|number|numero|nummer|nombor)"
_OF = r"( (de|del|di|do|da|la|le|du|van|of))*"
_WHO = (
    r"(pat|patient(en|in)?|person(en|al|a|ne)?|subject|participant|member|customer|client|user|employee|student|pupil|"
    r"resident|insured|donor|teilnehmer|proband(en)?|mitglieds?|kunden?|klient(en)?|nutzer|mitarbeiter|schuler|studenten|"
    r"versicherten|spender|assure|adherent|salarie|eleve|etudiant|utilisateur|paciente|cliente|usuario|empleado|alumno|"
    r"afiliado|paziente|utente|dipendente|studente|pessoa|funcionario|aluno|utilizador|persoon|persoons|klant|gebruiker|"
    r"deelnemer|medewerker|leerling|verzekerden)"
)
PERSON_NUMBER = re.compile(
    rf"\b({_WHO} ?({_NO}|code|key|kennung|schlussel|ident|identifier|kenn ?(nr|nummer))|"
    rf"({_NO}|code|codice|codigo|identifiant){_OF} {_WHO}|"
    r"mrn|pid|ssn|matrikel ?(nr|nummer)|matricule|personeels ?nummer)\b"
)
"""Names of columns that number people: those repeat where a person has several rows."""
KINDS = (
    Kind(
        NAMES,
        r"\b(name|names|full ?name|first ?name|last ?name|given ?name|middle ?name|surname|forename|maiden|nickname|"
        r"user ?name|vor ?name|nach ?name|familien ?name|zu ?name|geburts ?name|ruf ?name|initials|initialen|nom|noms|"
        r"prenom|prenoms|nom de (famille|naissance|jeune fille)|patronyme|nombre|nombres|apellido|apellidos|nome|"
        r"cognome|nominativo|sobrenome|apelido|naam|voor ?naam|achter ?naam|familie ?naam|voorletters)\b",
        text_only=True,
    ),
    Kind(
        PLACES,
        r"\b(address|street|house ?(no|number|nr)|adresse|anschrift|strasse|haus ?(nr|nummer)|rue|direccion|calle|"
        r"domicilio|indirizzo|endereco|morada|rua|adres|straat( ?naam)?|huis ?nummer)\b|^via$",
        text_only=True,
    ),
    Kind(
        PLACES,
        r"\b(city|town|village|county|municipality|district|precinct|parish|borough|wohn ?ort|ort|stadt|gemeinde|"
        r"land ?kreis|kreis|bezirk|latitude|longitude|lat|lon|lng|gps|geo ?code|breiten ?grad|langen ?grad|koordinaten|"
        r"coordinates|ville|commune|ciudad|municipio|citta|comune|cidade|woon ?plaats|gemeente|latitud|longitud|"
        r"latitudine|longitudine|coordonnees|coordenadas|coordinate)\b",
        direct=False,
    ),
    Kind(
        PLACES,
        r"\b(zip|zip ?code|post ?code|postal( ?code)?|plz|post ?leit ?zahl|code postal|codigo postal|cp|cap|"
        r"codice (di avviamento )?postale|cep)\b",
        _UNMASKED_CODE,
        both=True,
        direct=False,
    ),
    Kind(PLACES, None, r"^\s*\d{5}-\d{4}\s*$", _MOST, direct=False),
    Kind(PLACES, None, r"^\s*-?\d{1,2}\.\d{3,}\s*[,; ]\s*-?\d{1,3}\.\d{3,}\s*$", _MOST, direct=False),
    Kind(DATES, _DATED, r"(?i)" + _DAY_OR_MONTH, both=True, direct=False),
    Kind(DATES, None, r"(?i)" + _DAY_OR_MONTH, _MOST, direct=False),
    Kind(
        "telephone numbers",
        rf"\b(phone( ?{_NO})?|tele ?phone|mobile( ?{_NO})?|cell( ?phone)?|tel|telefon\w*|handy( ?nr| ?nummer)?|"
        r"ruf ?nummer|mobil( ?nummer| ?telefon| ?nr)?|portable|telefono|movil|celular|cellulare|telefone|telemovel|"
        r"telefoon\w*|mobiel|gsm)\b",
        _TELEPHONE,
        _MOST,
        certain=True,
    ),
    Kind("fax numbers", r"\b(fax( ?(no|nr|number))?|tele ?fax|fax ?nummer)\b"),
    Kind(
        "e-mail addresses",
        r"\b(e ?mail(s|adresse)?|mail( ?address)?|courriel|correo( electronico)?|posta elettronica)\b",
        r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}",
        certain=True,
    ),
    Kind(
        "social security or other national numbers",
        rf"\b(ssn|social ?(security|insurance)( ?{_NO})?|nhs( ?{_NO})?|nino|national ?(id|insurance)|"
        r"tax ?id|steuer ?(id|nummer|nr|identifikationsnummer)|sozialversicherungs ?(nr|nummer)|svnr|"
        r"renten(versicherungs)? ?(nr|nummer)|passport( ?(no|number))?|(reise)?pass ?(nr|nummer)|personalausweis\w*|"
        r"ausweis ?(nr|nummer)|identity ?card( ?(no|number))?|dni|nif|niss|nss|curp|nir|insee|"
        r"securite sociale|seguridad social|seguranca social|codice fiscale|cpf|bsn|burgerservicenummer|"
        r"rijksregisternummer|cedula|pasaporte|passeport|passaporto|passaporte|paspoort\w*|tessera sanitaria|"
        r"ahv|avs)\b",
        r"\b\d{3}-\d{2}-\d{4}\b",
        certain=True,
    ),
    Kind(
        "medical record numbers",
        rf"\b(mrn|medical ?record( ?{_NO})?|(patient|paciente|paziente)(en)? ?{_NO}|record ?{_NO}|"
        rf"fall ?{_NO}|case ?{_NO}|akten ?(nr|nummer|zeichen)|chart ?(no|number)|encounter ?{_NO}|historia clinica|"
        rf"{_NO}{_OF} (dossier|historia|paciente|patient|paziente)|cartella clinica|prontuario|dossier ?nummer|ipp)\b",
    ),
    Kind(
        "health plan numbers",
        rf"\b(health ?plan\w*|beneficiary( ?{_NO})?|insurance ?{_NO}|policy ?{_NO}|"
        rf"member ?{_NO}|versicherten ?(id|nr|nummer)|versicherungs ?(nr|nummer)|"
        r"kranken(kassen|versicherungs) ?(nr|nummer)|poliza|polis ?nummer|numero de assure)\b",
    ),
    Kind(
        "account numbers",
        rf"\b(account( ?{_NO})?|iban|credit ?card( ?{_NO})?|card ?(no|number)|konto( ?(nr|nummer))?|"
        rf"kreditkarte\w*|bank ?verbindung|kunden ?(nr|nummer|id)|(customer|client|cliente|klant|usuario|user) ?{_NO}|"
        r"rekening( ?nummer)?|(numero|no) (de|di) (compte|cuenta|conto|conta|client|cliente)|tarjeta|carte bancaire)\b",
        r"^\s*[A-Z]{2}\d{2}( ?[A-Z0-9]{4}){3,7}( ?[A-Z0-9]{1,3})?\s*$",
    ),
    Kind(
        "certificate or licence numbers",
        rf"\b(licen[cs]e( ?{_NO})?|certificate( ?{_NO})?|fuhrerschein\w*|fuehrerschein\w*|zulassungs ?(nr|nummer)|"
        r"approbations?\w*|permis de conduire|permiso de conducir|patente|carta de conducao|rijbewijs( ?nummer)?)\b",
    ),
    Kind(
        "vehicle identifiers",
        rf"\b(vin|vehicle ?(id|identification|no|number)|(number|license|licence) ?plate|kfz( ?kennzeichen)?|"
        rf"kennzeichen|fahrgestell ?(nr|nummer)?|fahrzeug ?{_NO}|immatriculation|matricula|targa|placa|kenteken)\b",
    ),
    Kind(
        "device identifiers",
        rf"\b(device ?(id|no|number|serial)|serial( ?(no|number))?|imei|mac ?(address|adresse)|udid|ger(a|ae)te ?{_NO}|"
        r"serien ?(nr|nummer)|numero de serie|serienummer)\b",
        r"^\s*([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}\s*$",
        certain=True,
    ),
    Kind(
        "web addresses", r"\b(url|uri|web ?(site|page|seite|address)|homepage|internetseite)\b", r"\b(https?|ftp)://\S"
    ),
    Kind(
        "IP addresses",
        r"\b(ip|ip ?(address|adresse|v4|v6))\b",
        r"^\s*((25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}|([0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4})\s*$",
        certain=True,
    ),
    Kind(
        "biometric identifiers",
        r"\b(biometric\w*|finger ?print\w*|voice ?print\w*|retina|dna|genome|fingerabdruck\w*|stimm ?profil|"
        r"biometrisch\w*|genom)\b|\biris (scan|code)\b|^iris$",
    ),
    Kind(
        "photographs",
        r"\b(photo(s|graph)?|picture|portrait|selfie|image|foto(s)?|bild|licht ?bild|pass ?bild)\b",
        r"(?i)\.(jpe?g|png|heic|tiff?|bmp|gif|dcm)\s*$",
        _MOST,
    ),
    Kind(
        "other numbers or codes of a person",
        rf"\b(id|ids|identifier|uuid|guid|uid|person(al|en)? ?{_NO}|kennung|kenn ?(nr|nummer)|"
        rf"matrikel ?(nr|nummer)|employee ?{_NO}|mitarbeiter ?{_NO}|student ?{_NO}|identifiant|"
        r"identificador|identificativo|identificatie|matricule|personeels ?nummer)\b",
        r"^\s*([0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12})\s*$",
        certain=True,
    ),
)
_HASHED = r"^\s*([0-9a-f]{16,}|[0-9A-F]{16,})\s*$"
"""Long hexadecimal text, such as hashed identifiers, which identify people as well as the originals."""
_OF_DIGITS = (_UNMASKED_CODE, _TELEPHONE, _HASHED)
"""The patterns that digits alone may match."""
_NO_PERSON = re.compile(
    r"\b(product|file|drug|medication|medicine|company|employer|hospital|clinic|brand|column|category|group|test|"
    r"procedure|disease|diagnosis|school|produkt|datei|medikament|firma|krankenhaus|klinik|marke|spalte|gruppe|produit|"
    r"fichier|entreprise|hopital|producto|archivo|empresa|medicamento|prodotto|azienda|ospedale|farmaco|produto|"
    r"bedrijf|ziekenhuis|medicijn|study|site|country|land|pays|pais|paese|state|type|class|shop|store|event|city|town|"
    r"region|province|district|county|street|station|ward|department|team|course|model|device|species|item|"
    r"treatment|job|field|table|sheet|stadt|ort|kreis|strasse|abteilung|kurs|fach|artikel|ville|rue|service|ciudad|"
    r"calle|citta|cidade|stad|straat|variable|feature|label|project|projekt|insurance|bank|plan)\b"
)
_PERSON_NAME = r"^\p{Lu}[\p{Ll}'’-]+,?( \p{Lu}\.?)?( (von|van|de|der|la))* \p{Lu}[\p{L}'’-]+$"
_AGE = re.compile(r"\b(age|ages|alter|lebens ?alter|patient(en)?alter|edad|eta|idade|leeftijd)\b")
_OLD = 90
"""All ages over 89 must be one category, which may be called 90."""


def sightings(column: str, texts: pl.Series) -> list[Sighting]:
    """Return the kinds of identifiers seen in the name of a column or in ``texts``, its known values as text."""
    words = words_of(column)
    called = [kind.name is not None and re.search(kind.name, words) is not None for kind in KINDS]
    matched = _Matched(texts, [kind.value for kind, named in zip(KINDS, called, strict=True) if named or not kind.both])
    found: dict[str, Sighting] = {}
    for kind, named in zip(KINDS, called, strict=True):
        if named and kind.kind == NAMES and _NO_PERSON.search(words):
            continue
        named = named and not (kind.text_only and matched.numbers)
        if kind.both:
            shown = named = named and matched.share(kind.value) >= kind.share
        else:
            shown = kind.value is not None and matched.share(kind.value) >= kind.share
        if shown or named:
            seen = Sighting(kind.kind, "contents" if shown else "name", kind.direct, shown and kind.certain, kind.kind)
            found.setdefault(kind.kind, seen)
    for number in _checked(texts):
        found[number.kind] = number
    for held in [] if matched.numbers else text_holds(texts):
        if held == CONTACTS and found.keys() & {"telephone numbers", "e-mail addresses"}:
            continue
        found[held] = Sighting(held, "contents", True, held == CONTACTS, held)
    if not SENSITIVE.search(words) and matched.share(_PERSON_NAME) >= 0.8 and _different_names(texts):
        found[NAMES] = Sighting(NAMES, "contents", True, True, NAMES)
    codes = "other numbers or codes of a person"
    if codes not in found and matched.share(_HASHED) >= 0.9 and _many(texts):
        found[codes] = Sighting(codes, "contents", True, True, "codes such as those a hash function makes")
    if _AGE.search(words) and _over_89(texts):
        found[OLD] = Sighting(OLD, "contents", False, False, OLD)
    return list(found.values())


class _Matched:
    """The share of values that match each of several patterns, computed in one pass."""

    def __init__(self, texts: pl.Series, patterns: Sequence[str | None]) -> None:
        text = pl.col("text")
        table = texts.alias("text").to_frame()
        bare = bool(len(texts)) and not texts.str.contains(r"[^0-9]").any()
        wanted = dict.fromkeys(pattern for pattern in (*patterns, _HASHED, _PERSON_NAME) if pattern is not None)
        looked_for = [pattern for pattern in wanted if not bare or pattern in _OF_DIGITS]
        shares = [text.str.contains(pattern).mean().alias(str(i)) for i, pattern in enumerate(looked_for)]
        unread = text.cast(pl.Float64, strict=False).null_count().alias("unread")
        *means, rest = table.select(*shares, unread).row(0)
        self._shares = dict(zip(looked_for, means, strict=True))
        self.numbers = bool(len(texts)) and not rest
        """Whether all values are numbers."""

    def share(self, pattern: str | None) -> float:
        """Return the share of the values that match a pattern."""
        return float(self._shares.get(pattern or "") or 0)


def _checked(texts: pl.Series) -> list[Sighting]:
    """Return the kinds of numbers whose check digits are right."""
    digits = texts.filter(texts.str.contains(r"\d"))
    values = digits.head(4 * _CHECKED).unique(maintain_order=True)
    if len(values) < _CHECKED < len(digits):
        values = digits.unique(maintain_order=True)
    values = values.head(_CHECKED)
    plain = [bare_form(value) for value in values.filter(values.str.len_bytes() >= SHORTEST).to_list()]
    found = []
    for number in NUMBERS:
        needed = max(number.least, number.share * max(len(values), 1))
        if len(plain) < needed or len(digits) < number.share * len(texts):
            continue
        if sum(map(number.passes_bare, plain)) >= needed:
            found.append(Sighting(number.kind, "contents", True, True, number.what))
    return found


def _many(texts: pl.Series) -> bool:
    """Return whether values are mostly different, as those of many people are."""
    return len(texts) > 0 and texts.n_unique() >= max(3, 0.1 * len(texts))


def _different_names(texts: pl.Series) -> bool:
    """Return whether most of many values differ, as names of people do and names of cities do not."""
    return len(texts) >= 20 and texts.n_unique() >= 0.5 * len(texts)


def _over_89(texts: pl.Series) -> bool:
    """Return whether there is an age above 90, or a bounded range that begins at 90 or above."""
    alone = texts.cast(pl.Float64, strict=False)
    begins = texts.str.extract(r"^[\[(](\d+(?:\.\d+)?), \d").cast(pl.Float64, strict=False)
    return bool(((alone > _OLD) & alone.is_finite()).any() or (begins >= _OLD).any())


CONTACTS = "telephone numbers or e-mail addresses within text"
LONG_NUMBERS = "numbers of nine digits or more within text"

_CONTACT_SHARE, _NUMBER_SHARE = 0.001, 0.01
"""The share of the values in which a contact is enough, and a long number, which may be something else."""
_WORD = r"(^|[\s(])\p{L}{2,}(\.?\s|[,:;!?)]|\.?$)"
"""A word that stands by itself: the value is more than a number or an address."""
_BEFORE, _AFTER = r"(^|[^\p{L}\d.,+])", r"($|[^\p{L}\d])"
_CALLED = (
    r"(?:tel|tele?phone|t[eé]l[eé]phone|telefon[oe]?|telefoon|phone|mobile?|m[oó]vil|cell|cellulare|celular|handy|fax|"
    r"portable|gsm|whatsapp)"
)
_TELEPHONES = (
    rf"{_BEFORE}(\+|00)[1-9]([\s./()-]{{0,2}}\d){{7,14}}{_AFTER}",  # +49 30 1234567
    rf"{_BEFORE}(\(\d{{3}}\)\s?|\d{{3}}[\s.-])\d{{3}}[\s.-]\d{{4}}{_AFTER}",  # (555) 123-4567
    rf"{_BEFORE}\(?0\d{{1,5}}\)?([ /-]|\s[/-]\s)(\d{{6,9}}|\d{{3,4}}[ -]\d{{4,}}){_AFTER}",  # 0171/1234567
    rf"{_BEFORE}0[1-9]([ .]\d\d){{4}}{_AFTER}",  # 06 12 34 56 78
    rf"(?i)(^|[^\p{{L}}]){_CALLED}\.?\s?(no|nr|number|nummer|num)?[.:]{{0,2}}\s*"
    rf"[+(]?\d([\s./()-]{{0,2}}\d){{5,14}}{_AFTER}",  # phone: 123456
)
_CONTACT = "|".join(
    [r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}", *(f"({form})" for form in _TELEPHONES)]
)
_LONG_NUMBER = rf"{_BEFORE}\d{{9,}}{_AFTER}"


def text_holds(texts: pl.Series) -> list[str]:
    """Return the kinds of personal data within texts: contacts, long numbers, both or none.

    >>> text_holds(pl.Series(["fine", "call Ann, 0171 1234567", "was told to rest", "seen on 2020-01-31"]))
    ['telephone numbers or e-mail addresses within text']
    >>> text_holds(pl.Series(["dose 100 mg", "01/2020 to 09/2020", "room 3101282"]))
    []
    """
    longer = texts.filter(texts.str.contains(_WORD) & texts.str.contains(r"[\d@]"))
    found = []
    for what, pattern, share in ((CONTACTS, _CONTACT, _CONTACT_SHARE), (LONG_NUMBERS, _LONG_NUMBER, _NUMBER_SHARE)):
        holding = int(longer.str.contains(pattern).sum())
        if holding and holding >= share * len(texts):
            found.append(what)
    return found
