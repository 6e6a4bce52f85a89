"""Families of interchangeable parts: a member is one class in one module, and registers itself by being there.

Other packages may bring members too, by entry points; see :mod:`discreet.problem._plugins`.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import pkgutil
import re
from collections.abc import Mapping
from importlib.metadata import EntryPoint
from typing import Any, ClassVar, Generic, TypeVar

from discreet.errors import UsageError, did_you_mean
from discreet.problem._plugins import entries, load
from discreet.problem._text import counted, format_text, parse_text

__all__ = ["Family", "Part"]


class Part:
    """A choice with a text form. Subclasses are frozen dataclasses whose fields are the arguments, in order.

    Fields that are no arguments are filled in by ``resolve``. Fields without a default are written as plain arguments;
    others as ``key=value`` and only where they differ from the default. Fields named in ``plain`` are written as plain
    arguments too, unless one before them is left out.
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    plain: ClassVar[tuple[str, ...]] = ()
    saying: ClassVar[str] = ""
    """What the choice means to people who know none of its terms, with its fields in braces."""

    @property
    def words(self) -> str:
        """The choice in a sentence for reports, in which values of the data are only counted.

        >>> from discreet.problem.privacy import PRIVACY
        >>> PRIVACY.make("k(5)").words
        'Every person is one of at least 5 who look the same.'
        """
        fields = {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}  # type: ignore[arg-type]
        shown = {
            name: "any sensitive column" if value is None else counted(_plain(value)) for name, value in fields.items()
        }
        if self.saying:
            return self.saying.format(**shown)
        first = (type(self).__doc__ or self.name).strip().splitlines()[0]
        return re.sub(r"``(\w+)``", lambda match: shown.get(match[1], match[1]), first)

    @property
    def text(self) -> str:
        """The canonical text form, which parses back to an equal part."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        left_out = False
        for item in dataclasses.fields(self):  # type: ignore[arg-type]
            if not item.init:
                continue
            value = getattr(self, item.name)
            if item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING:
                args.append(_plain(value))
                continue
            default = item.default_factory() if item.default is dataclasses.MISSING else item.default  # type: ignore[operator,unused-ignore]
            # Types count: a budget of 1 is one record and the default of 1.0 all of them.
            if type(value) is type(default) and value == default:
                left_out = True
            elif item.name in self.plain and not left_out and not kwargs:
                args.append(_plain(value))
            else:
                kwargs[item.name] = _plain(value)
        return format_text(self.name, args, kwargs)

    def __str__(self) -> str:
        return self.text


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


P = TypeVar("P", bound=Part)


class Family(Generic[P]):
    """All members of one kind, found by looking through the modules of one package.

    What other packages bring under the entry point ``group`` is looked at where a name is not one of these.

    >>> from discreet.problem.privacy import PRIVACY
    >>> PRIVACY.make("k(5)")
    KAnonymity(k=5)
    """

    def __init__(self, kind: str, base: type[P], package: str, group: str) -> None:
        self.kind = kind
        self.base = base
        self.package = package
        self.group = group
        self._members: dict[str, type[P]] = {}
        self._loaded_others: dict[str, type[P]] = {}
        self._loaded = False

    def register(self, member: type[P]) -> type[P]:
        """Class decorator: make the member known under its name and aliases."""
        for name in (member.name, *member.aliases):
            taken = self._members.get(name.lower())
            if taken is not None and taken.__qualname__ != member.__qualname__:
                raise ValueError(f"two members of {self.kind} are called '{name}'")
            self._members[name.lower()] = member
        return member

    def members(self) -> dict[str, type[P]]:
        """Return the members that come with discreet by canonical name."""
        self._load()
        return {member.name: member for member in self._members.values()}

    def others(self) -> dict[str, EntryPoint]:
        """Return what other packages bring, by name and not loaded; names that are taken here are left out."""
        self._load()
        return {name: entry for name, entry in entries(self.group).items() if name not in self._members}

    def find(self, name: str) -> type[P] | None:
        """Return the member of a name or alias, be it of another package; None if there is none."""
        if not self._load_one(name.lower()):
            self._load()
        member = self._members.get(name.lower()) or self._loaded_others.get(name.lower())
        if member is None and (entry := self.others().get(name.lower())) is not None:
            member = load(entry, self.kind, self.base, self._members)
            self._loaded_others[name.lower()] = member
        return member

    def make(self, choice: str | P) -> P:
        """Return the part a text form stands for; a part is returned as it is."""
        if isinstance(choice, self.base):
            return choice
        if not isinstance(choice, str):
            raise UsageError(
                f"A {self.kind} is given as text or as an object, not as {type(choice).__name__}.", topic="text-form"
            )
        name, args, kwargs = parse_text(choice)
        member = self.find(name)
        if member is None:
            known = sorted([*self.members(), *self.others()])
            aliases = [alias for part in self.members().values() for alias in part.aliases]
            hint = did_you_mean(name, [*known, *aliases]) or f"known are {', '.join(known)}."
            raise UsageError(f"There is no {self.kind} '{name}'; {hint}", topic="unknown-name")
        try:
            return member(*args, **kwargs)
        except TypeError:
            fields = [item.name for item in dataclasses.fields(member) if item.init]  # type: ignore[arg-type]
            unknown = next((key for key in kwargs if key not in fields), "")
            if unknown and (hint := did_you_mean(unknown, fields)):
                raise UsageError(f"'{choice}' has no argument '{unknown}'; {hint}", topic="text-form") from None
            form = f"{member.name}({', '.join(fields)})" if fields else member.name
            raise UsageError(f"'{choice}' has the wrong arguments; the form is {form}.", topic="text-form") from None

    def _load_one(self, name: str) -> bool:
        """Load the module that is called as a member is, if there is one; the others may take long to load."""
        module = name.replace("-", "_")
        if name not in self._members and not self._loaded and module.isidentifier() and not module.startswith("_"):
            importlib.import_module(self.package)
            if importlib.util.find_spec(f"{self.package}.{module}") is not None:
                importlib.import_module(f"{self.package}.{module}")
        return name in self._members

    def _load(self) -> None:
        if self._loaded:
            return
        package = importlib.import_module(self.package)
        for module in pkgutil.iter_modules(package.__path__):
            if not module.name.startswith("_"):
                importlib.import_module(f"{self.package}.{module.name}")
        self._loaded = True
