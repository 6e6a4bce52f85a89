"""Numbers of people that prove themselves: the check digits of accounts, cards and national identity numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

__all__ = ["NUMBERS", "SHORTEST", "CheckedNumber", "bare_form"]

SHORTEST = 9
"""No number has fewer letters and digits."""


def bare_form(text: str) -> str:
    """Return a value without blanks and marks, in capitals.

    >>> bare_form("de89 3704-0044")
    'DE8937040044'
    """
    return re.sub(r"[\s.\-/]", "", text).upper()


class CheckedNumber(NamedTuple):
    """A kind of number whose digits can be checked; ``rare`` says how seldom anything else passes."""

    what: str
    kind: str
    form: re.Pattern[str]
    valid: Callable[[str], bool]
    share: float
    """The share of the values that must pass; the weaker the check, the more."""
    least: int
    """The fewest different values that say anything."""

    def passes(self, text: str) -> bool:
        """Whether a value has the form, and the right check digits."""
        return self.passes_bare(bare_form(text))

    def passes_bare(self, plain: str) -> bool:
        """Do the same for a value in its :func:`bare_form`."""
        return self.form.fullmatch(plain) is not None and self.valid(plain)


def _iban(text: str) -> bool:
    return int("".join(str(int(letter, 36)) for letter in text[4:] + text[:4])) % 97 == 1


def _luhn(text: str) -> bool:
    digits = [int(digit) for digit in reversed(text)]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return len({*digits}) > 1 and (sum(digits[::2]) + sum(doubled)) % 10 == 0


def _weighted(text: str, weights: range | tuple[int, ...]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(text, weights, strict=False))


def _nir(text: str) -> bool:
    """French social security number: the two last digits are 97 minus the rest modulo 97; Corsica counts as 19, 18."""
    number = text[:13].replace("2A", "19").replace("2B", "18")
    return number.isdigit() and 97 - int(number) % 97 == int(text[13:])


def _dni(text: str) -> bool:
    """Spanish identity number: the letter is chosen by the number modulo 23."""
    number = text[:-1].translate(str.maketrans("XYZ", "012"))
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == text[-1]


_ODD = {
    letter: value
    for letters in ("0123456789", "ABCDEFGHIJ")
    for letter, value in zip(letters, (1, 0, 5, 7, 9, 13, 15, 17, 19, 21), strict=True)
} | dict(zip("KLMNOPQRSTUVWXYZ", (2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23), strict=True))


def _codice_fiscale(text: str) -> bool:
    even = sum(int(letter) if letter.isdigit() else ord(letter) - 65 for letter in text[1:15:2])
    return chr(65 + (even + sum(_ODD[letter] for letter in text[0:15:2])) % 26) == text[15]


def _bsn(text: str) -> bool:
    """Dutch citizen service number."""
    return int(text) > 0 and (_weighted(text[:8], range(9, 1, -1)) - int(text[8])) % 11 == 0


def _nhs(text: str) -> bool:
    """British health service number."""
    return (11 - _weighted(text[:9], range(10, 1, -1)) % 11) % 11 == int(text[9])


def _cpf(text: str) -> bool:
    """Brazilian taxpayer number."""
    first = _weighted(text[:9], range(10, 1, -1)) * 10 % 11 % 10
    second = _weighted(text[:10], range(11, 1, -1)) * 10 % 11 % 10
    return len({*text}) > 1 and (first, second) == (int(text[9]), int(text[10]))


def _steuer_id(text: str) -> bool:
    """German tax number: ISO 7064, modulo 11, 10."""
    product = 10
    for digit in text[:10]:
        total = (int(digit) + product) % 10 or 10
        product = total * 2 % 11
    return (11 - product) % 10 == int(text[10])


def _ahv(text: str) -> bool:
    """Swiss social security number, which is an article number."""
    return (10 - sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(text[:12])) % 10) % 10 == int(
        text[12]
    )


_NATIONAL = "social security or other national numbers"


def _number(what: str, kind: str, form: str, valid: Callable[[str], bool], share: float, least: int) -> CheckedNumber:
    return CheckedNumber(what, kind, re.compile(form), valid, share, least)


NUMBERS = (
    _number("IBANs", "account numbers", r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", _iban, 0.01, 1),
    _number("payment card numbers", "account numbers", r"[3-6]\d{12,18}", _luhn, 0.9, 10),
    _number("French social security numbers", _NATIONAL, r"[12]\d{4}(\d\d|2A|2B)\d{8}", _nir, 0.5, 2),
    _number("Spanish identity numbers", _NATIONAL, r"[XYZ\d]\d{7}[A-Z]", _dni, 0.5, 5),
    _number("Italian tax codes", _NATIONAL, r"[A-Z]{6}[0-9LMNP-V]{2}[A-Z][0-9LMNP-V]{2}[A-Z][0-9LMNP-V]{3}[A-Z]",
            _codice_fiscale, 0.5, 1),
    _number("Swiss social security numbers", _NATIONAL, r"756\d{10}", _ahv, 0.5, 3),
    _number("Brazilian taxpayer numbers", _NATIONAL, r"\d{11}", _cpf, 0.9, 5),
    _number("German tax numbers", _NATIONAL, r"[1-9]\d{10}", _steuer_id, 0.95, 12),
    _number("British health service numbers", _NATIONAL, r"\d{10}", _nhs, 0.95, 12),
    _number("Dutch citizen service numbers", _NATIONAL, r"\d{9}", _bsn, 0.95, 12),
)  # fmt: skip
