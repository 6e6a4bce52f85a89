"""Column names as words, and the words by which a column is known to describe people, in seven languages."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["DESCRIBING", "SENSITIVE", "words_of"]

_SPELLED = str.maketrans({"ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "Ae", "ø": "o", "Ø": "O", "œ": "oe", "Œ": "Oe"})


def words_of(name: str) -> str:
    """Return the words of a column name in lower case, without accents, separated by spaces.

    >>> words_of("PatientID"), words_of("date_of_birth"), words_of("TelefonNr2"), words_of("Prénom")
    ('patient id', 'date of birth', 'telefon nr', 'prenom')
    """
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFC", name).translate(_SPELLED))
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", plain)
    return " ".join(re.findall(r"[^\W\d_]+", spaced.lower()))


def _any_of(*languages: str, alone: str = "") -> re.Pattern[str]:
    """Compile a pattern of whole words; a ``_`` is an optional space.

    Words in ``alone`` only count if they are the whole name: ``year``, but not ``two_year_recid``.
    """
    words = {word.replace("_", " ?") for text in languages for word in text.split()}
    single = f"|^({'|'.join(alone.split())})$" if alone else ""
    return re.compile(rf"\b({'|'.join(sorted(words, key=len, reverse=True))})\b{single}")


SENSITIVE = _any_of(
    "diagnosis diagnoses diag disease diseases illness condition disorder icd medication drug treatment therapy "
    "symptom symptoms hiv pregnant pregnancy disability salary salaries income wage wages earnings pay debt loan "
    "balance credit wealth religion belief political party vote orientation crime offence offense conviction sentence "
    "grade score test result",
    "diagnose diagnosen krankheit erkrankung befund medikament behandlung therapie schwanger behinderung gehalt "
    "einkommen lohn schulden vermogen glaube konfession partei straftat",
    "diagnostic maladie traitement medicament grossesse handicap salaire revenu dette croyance",
    "diagnostico enfermedad tratamiento medicamento embarazo discapacidad salario ingresos sueldo deuda",
    "diagnosi malattia trattamento farmaco gravidanza disabilita stipendio reddito debito religione",
    "doenca tratamento gravidez deficiencia rendimento renda divida religiao",
    "ziekte aandoening behandeling medicatie zwanger handicap salaris inkomen loon schuld geloof",
)
"""What people may want to keep private."""

DESCRIBING = _any_of(
    "age ages birth birth_day birth_date birth_year birth_place born dob sex gender zip zip_code post_code postal "
    "postal_code city town municipality county state province region district country nation nationality native "
    "citizenship origin race ethnicity ethnic marital marital_status relationship married family household children "
    "education school occupation job profession work work_class employer employment industry height weight language "
    "admission discharge date hours location latitude longitude department",
    "alter geburt geburts_datum geburts_tag geburts_jahr geburts_ort geschlecht plz post_leit_zahl stadt ort wohn_ort "
    "gemeinde kreis land_kreis bundes_land region land staats_angehorigkeit nationalitat herkunft familien_stand "
    "kinder haushalt bildung schul_abschluss beruf arbeit_geber branche grosse gewicht sprache aufnahme entlassung "
    "datum",
    "age naissance date_de_naissance annee_de_naissance lieu_de_naissance sexe genre code_postal ville commune "
    "departement region pays nationalite origine etat_civil situation_familiale enfants menage education diplome "
    "profession metier employeur taille poids langue",
    "edad nacimiento fecha_de_nacimiento fecha_nacimiento ano_de_nacimiento lugar_de_nacimiento sexo genero "
    "codigo_postal cp ciudad municipio provincia comunidad pais nacionalidad origen estado_civil hijos hogar educacion "
    "estudios profesion ocupacion trabajo altura peso idioma fecha",
    "eta nascita data_di_nascita anno_di_nascita luogo_di_nascita sesso genere cap citta comune provincia regione "
    "paese nazionalita cittadinanza stato_civile figli istruzione titolo_di_studio professione lavoro altezza lingua",
    "idade nascimento data_de_nascimento ano_de_nascimento sexo cep codigo_postal cidade municipio distrito estado "
    "nacionalidade estado_civil filhos escolaridade profissao ocupacao trabalho altura idioma",
    "leeftijd geboorte geboorte_datum geboorte_jaar geboorte_plaats geslacht postcode woon_plaats plaats gemeente "
    "provincie nationaliteit herkomst burgerlijke_staat kinderen huishouden opleiding beroep werk lengte gewicht taal",
    alone="year jahr annee jaar ano anno degree",
)
"""What others may know about a person."""
