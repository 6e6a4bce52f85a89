"""What names people inside longer text: telephone numbers, e-mail addresses and long numbers in notes and comments."""

from __future__ import annotations

import polars as pl

__all__ = ["CONTACTS", "LONG_NUMBERS", "text_holds"]

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
    """Return what the words of a column are mixed with that names people: contacts, long numbers, both or nothing.

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
