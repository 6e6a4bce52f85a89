"""The text form of a part, ``name(argument, key=value)``, as Python, job files and the command line write it.

>>> parse_text("t(0.2, disease, equal)")
('t', [0.2, 'disease', 'equal'], {})
>>> parse_text("LM(penalty=l+)")
('LM', [], {'penalty': 'l+'})
>>> parse_text("l+({Flu: 0.5, 'HIV, late': 0.1}, disease)")
('l+', [{'Flu': 0.5, 'HIV, late': 0.1}, 'disease'], {})
>>> parse_text("ranges([0, 18, 65], [0, 65])")
('ranges', [[0, 18, 65], [0, 65]], {})
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from discreet.errors import UsageError

__all__ = ["counted", "format_text", "outline", "parse_text"]

_NAME = re.compile(r"\s*([A-Za-z][\w+-]*)\s*")
_INTEGER = re.compile(r"[+-]?\d+")
_PERCENT = re.compile(r"([+-]?\d+(?:\.\d*)?)\s*%")
_LONGEST = 300
"""The most digits of a whole number; the largest float has 309."""
_BARE = re.compile(r"[^\s,(){}\[\]=:'\"][^,(){}\[\]=:'\"]*")


def parse_text(text: str) -> tuple[str, list[Any], dict[str, Any]]:
    """Split a text form into its name, positional arguments and keyword arguments."""
    try:
        return _parsed(text)
    except RecursionError:
        raise UsageError(
            f"'{text[:40]}…' is nested too deeply; an argument is a list or a mapping a few levels deep.",
            topic="text-form",
        ) from None


def _parsed(text: str) -> tuple[str, list[Any], dict[str, Any]]:
    match = _NAME.match(text)
    if not match:
        raise UsageError(f"'{text}' is not a text form; write name or name(arguments), as in k(5).", topic="text-form")
    name, rest = match.group(1), text[match.end() :].strip()
    if not rest:
        return name, [], {}
    if rest.startswith("(") and rest.count("(") > rest.count(")"):
        raise UsageError(
            f"'{text}' lacks its closing bracket; write '{text.strip()}{')' * (rest.count('(') - rest.count(')'))}'.",
            topic="text-form",
        )
    if not (rest.startswith("(") and rest.endswith(")")):
        raise UsageError(
            f"'{text}' is not a text form; write the arguments of '{name}' in one pair of brackets.", topic="text-form"
        )
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for item in _split(rest[1:-1], text):
        key, separator, value = _cut(item, "=")
        if separator and key.strip() in kwargs:
            raise UsageError(f"'{text}' gives '{key.strip()}' twice; leave one out.", topic="text-form")
        if separator:
            kwargs[key.strip()] = _value(value, text)
        elif kwargs:
            raise UsageError(f"'{text}': plain arguments come before key=value ones.", topic="text-form")
        else:
            args.append(_value(item, text))
    return name, args, kwargs


def format_text(name: str, args: list[Any], kwargs: dict[str, Any]) -> str:
    """Return the text form, which :func:`parse_text` reads back."""
    items = [_show(value) for value in args] + [f"{key}={_show(value)}" for key, value in kwargs.items()]
    return f"{name}({', '.join(items)})" if items else name


def outline(text: str, *, by_column: bool = False) -> str:
    """Return a text form for reports: lists and mappings, which may hold values of the data, are only counted.

    Mappings ``by_column`` are written out, and only what they map columns to is counted.

    >>> outline("l+({Flu: 0.5, 'HIV, late': 0.1}, disease)")
    'l+({2 values}, disease)'
    >>> outline("NCP(weights={age: 2}, node_weights={town: {Cumbria: 2}})", by_column=True)
    'NCP(weights={age: 2}, node_weights={town: {1 value}})'
    """
    name, args, kwargs = parse_text(text)
    items = [counted(value, by_column) for value in args]
    items += [f"{key}={counted(value, by_column)}" for key, value in kwargs.items()]
    return f"{name}({', '.join(items)})" if items else name


def counted(value: Any, by_column: bool = False) -> str:
    """Return an argument for reports; lists and mappings are only counted."""
    if by_column and isinstance(value, dict):
        return "{" + ", ".join(f"{_show(str(column))}: {counted(item)}" for column, item in value.items()) + "}"
    if not isinstance(value, dict | list):
        return _show(value)
    number = f"{len(value):,} value{'s' * (len(value) != 1)}"
    return f"{{{number}}}" if isinstance(value, dict) else f"[{number}]"


def _marks(text: str, mark: str) -> tuple[list[int], int, bool]:
    """Return where a mark is outside quotes and brackets, the brackets left open, and whether a quote is."""
    found, depth, quote = [], 0, ""
    for position, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in "{([":
            depth += 1
        elif char in "})]":
            depth -= 1
        elif char == mark and depth == 0:
            found.append(position)
    return found, depth, bool(quote)


def _split(body: str, text: str) -> list[str]:
    commas, depth, quoted = _marks(body, ",")
    if depth < 0:
        raise UsageError(
            f"'{text}' is not a text form; it has more closing brackets than opening ones.", topic="text-form"
        )
    if quoted or depth:
        raise UsageError(f"'{text}' is not a text form; a quote or bracket is left open.", topic="text-form")
    items = [body[start + 1 : end] for start, end in pairwise([-1, *commas, len(body)])]
    if len(items) == 1 and not items[0].strip():
        return []
    return items


def _cut(item: str, mark: str) -> tuple[str, str, str]:
    found = _marks(item, mark)[0]
    return (item[: found[0]], mark, item[found[0] + 1 :]) if found else (item, "", "")


def _value(item: str, text: str) -> Any:
    item = item.strip()
    if not item:
        raise UsageError(f"'{text}' is not a text form; an argument is empty.", topic="text-form")
    if item[0] in "'\"" and item[-1] == item[0] and len(item) > 1:
        return item[1:-1].replace(item[0] * 2, item[0])
    if item[0] == "[" and item[-1] == "]":
        return [_value(part, text) for part in _split(item[1:-1], text)]
    if item[0] == "{" and item[-1] == "}":
        pairs = (_cut(pair, ":") for pair in _split(item[1:-1], text))
        return {str(_value(key, text)): _value(value, text) for key, _, value in pairs}
    if item == "none" or item == "None":
        return None
    if item.lower() in ("true", "false"):
        return item.lower() == "true"
    if _INTEGER.fullmatch(item):
        if len(item) > _LONGEST:
            raise UsageError(
                f"'{item[:10]}…' has {len(item):,} digits, which is more than any number here has.", topic="parameter"
            )
        return int(item)
    if percent := _PERCENT.fullmatch(item):
        return float(percent.group(1)) / 100
    try:
        return float(item)
    except ValueError:
        return item


def _show(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_show(str(key))}: {_show(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_show, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "none"
    if isinstance(value, str):
        plain = _BARE.fullmatch(value) and value == value.strip() and isinstance(_value(value, value), str)
        if plain:
            return value
        quote = '"' if "'" in value and '"' not in value else "'"
        return quote + value.replace(quote, quote * 2) + quote
    return repr(value)
