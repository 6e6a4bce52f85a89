"""What a sentence says in the spelling of Python, in that of the command line or of a job file.

Errors are raised where no one knows who asked: they name arguments of Python, as in ``missing='value'``. Here they
become what the user typed or should have, ``--missing value``, or for a job file its keys, ``missing: value``.
"""

from __future__ import annotations

import re

__all__ = ["respelled"]

_OPTIONS = {
    "class_attribute": "--class-attribute",
    "held_out": "--held-out",
    "keep_at_least": "--keep-at-least",
    "max_levels": "--max-level",
    "memory_limit": "--memory-limit",
    "min_levels": "--min-level",
    "missing": "--missing",
    "missing_sensitive": "--missing-sensitive",
    "models": "--model",
    "original": "--original",
    "queries": "--queries",
}
"""The option of each argument that a message names."""
_BY_JOB = ("run", "compare")
"""Commands that are told by job files, whose keys are the arguments."""
_ARGUMENT = re.compile(rf"(?<!\w)'[^']*'|(?<![\w.-])({'|'.join(_OPTIONS)})(=(?:'([^']*)'|(\(\))|(\w+)))?(?!['\w])")
"""What is in quotes, or an argument."""


def respelled(sentence: str, command: str) -> str:
    """Return the sentence as the users of a command spell things; names in quotes are theirs and stay.

    >>> respelled("Fill them in, or choose missing='value'.", "anonymize")
    'Fill them in, or choose --missing value.'
    >>> respelled("Fill them in, or choose missing='value'.", "run")
    'Fill them in, or choose missing: value.'
    >>> respelled("'max_levels' is missing; set max_levels.", "pareto")
    "'max_levels' is missing; set --max-level."
    >>> respelled("There is no file '/tmp/held_out.csv'.", "info")
    "There is no file '/tmp/held_out.csv'."
    """

    def spelled(found: re.Match[str]) -> str:
        name, given, quoted, nothing, bare = found.groups()
        if name is None:
            return found[0]
        value = "none" if nothing else quoted or bare
        if command in _BY_JOB:
            return f"{name}: {value}" if given else found[0]
        if given:
            return f"{_OPTIONS[name]} {value}"
        return _OPTIONS[name] if "_" in name else found[0]  # a plain word such as missing is no argument by itself

    return _ARGUMENT.sub(spelled, sentence)
