"""Parts and families: a family finds its members by looking through the modules of one package.

A member is one class in one module. Other packages bring members by entry points; nothing of such a package is
imported before one of its names is used, and it never replaces a member that comes with discreet. A package that
brings a privacy model says so in its ``pyproject.toml``::

    [project.entry-points."discreet.privacy"]
    p-sensitive = "mypackage.models:PSensitive"
"""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from discreet.errors import Argument, UsageError, did_you_mean
from discreet.runtime.text_form import counted, format_text, parse_text

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["ChoiceControl", "Family", "NumberControl", "Part", "package_of"]


@dataclasses.dataclass(frozen=True)
class NumberControl:
    """How the studio asks for a number: what it is called, what it starts with, and its limits."""

    field: str
    label: str
    default: float
    low: float
    high: float
    step: float
    percent: bool = False
    """Shown as a percentage."""


@dataclasses.dataclass(frozen=True)
class ChoiceControl:
    """How the studio asks for one of several words: what it is called, and a title for each word."""

    field: str
    label: str
    choices: Mapping[str, str]


class Part:
    """A choice with a text form: what every privacy model, cost, scheme, suppression kind, solver, axis and builder is.

    A subclass is a frozen dataclass. Its fields are the arguments of the text form, in order: fields without a default
    are written as plain arguments, others as ``key=value`` where they differ from the default. Fields with
    ``init=False`` are filled in by ``resolve``. Everything the product says about a part is an attribute of its class.
    """

    name: ClassVar[str]
    """The name in text forms."""
    aliases: ClassVar[tuple[str, ...]] = ()
    """Other names that text forms may use."""
    sought_as: ClassVar[tuple[str, ...]] = ()
    """Words people try that are not its name: the error for them proposes its first example."""
    bare: ClassVar[str] = ""
    """A regular expression for arguments that may stand without the name, as 5% does for ``budget(5%)``."""
    plain: ClassVar[tuple[str, ...]] = ()
    """Fields with a default that are written as plain arguments too, unless an earlier one is left out."""
    examples: ClassVar[tuple[str, ...]] = ()
    """Text forms, the most usual first: for the vocabulary page, for error messages and for the contract tests.

    Sensitive columns are called disease or income, others age, work and zip.
    """
    title: ClassVar[str] = ""
    """A heading for people who know none of the terms, as in the studio."""
    summary: ClassVar[str] = ""
    """One plain sentence below the title."""
    term: ClassVar[str] = ""
    """What the literature calls it."""
    prevents: ClassVar[str] = ""
    """What could happen without it, for lay readers. Privacy models only."""
    illustration: ClassVar[str] = ""
    """One case in which it helps, for lay readers. Privacy models only."""
    sentence: ClassVar[str] = ""
    """What a choice means, for reports, with the fields in braces; by default the first line of the docstring."""
    controls: ClassVar[tuple[NumberControl | ChoiceControl, ...]] = ()
    """How the studio asks for the fields; those not named keep their default. A sensitive column needs no control."""
    in_studio: ClassVar[bool] = True
    """Whether the studio offers it."""
    recommended: ClassVar[bool] = False
    """Whether the studio recommends it; one of each family at most."""
    rank: ClassVar[int] = 100
    """Its position in lists: low numbers first, then by name."""

    @classmethod
    def from_arguments(cls, *args: Any, **kwargs: Any) -> Self:
        """Make a part from the arguments of a text form."""
        return cls(*args, **kwargs)

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """Return the plain and the named arguments that make an equal part."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        left_out = False
        for item in _arguments(type(self)):
            value = getattr(self, item.name)
            value = dict(value) if isinstance(value, Mapping) else value
            if item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING:
                args.append(value)
                continue
            default = item.default_factory() if item.default is dataclasses.MISSING else item.default  # type: ignore[operator,unused-ignore]
            # Types count: a budget of 1 is one record, a budget of 1.0 is all of them.
            if type(value) is type(default) and value == default:
                left_out = True
            elif item.name in self.plain and not left_out and not kwargs:
                args.append(value)
            else:
                kwargs[item.name] = value
        return args, kwargs

    @property
    def text(self) -> str:
        """The canonical text form, which parses back to an equal part."""
        return format_text(self.name, *self.arguments())

    @property
    def words(self) -> str:
        """The choice as a sentence for reports, in which values of the data are only counted.

        >>> from discreet.problem.privacy import PRIVACY
        >>> PRIVACY.make("k(5)").words
        'Every person is one of at least 5 who look the same.'
        """
        fields = {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}  # type: ignore[arg-type]
        shown = {
            name: "any sensitive column"
            if value is None
            else counted(dict(value) if isinstance(value, Mapping) else value)
            for name, value in fields.items()
        }
        if self.sentence:
            return self.sentence.format(**shown)
        first = (type(self).__doc__ or self.name).strip().splitlines()[0]
        return re.sub(r"``(\w+)``", lambda match: shown.get(match[1], match[1]), first)

    @classmethod
    def signature(cls) -> str:
        """Return the name with the names of the arguments, as in ``k(k)``."""
        fields = [item.name for item in _arguments(cls)]
        return f"{cls.name}({', '.join(fields)})" if fields else cls.name

    @classmethod
    def needs_arguments(cls) -> bool:
        """Whether a text form needs arguments, as ``k(5)`` does."""
        missing = dataclasses.MISSING
        return any(item.default is missing and item.default_factory is missing for item in _arguments(cls))

    def __str__(self) -> str:
        return self.text


def _arguments(part: type[Part]) -> list[dataclasses.Field[Any]]:
    """Return the fields that are arguments; a class that is no dataclass has none."""
    return [item for item in dataclasses.fields(part) if item.init] if dataclasses.is_dataclass(part) else []


def _example(part: type[Part]) -> str:
    """Return the most usual text form of a part, and its title if it has one."""
    title = f" ({part.title[0].lower()}{part.title[1:]})" if part.title else ""
    return f"{next(iter(part.examples), part.name)}{title}"


_PARAMETERS = ("cost", "scheme", "solver", "suppression")
"""Kinds of parts that are parameters of a job under the same name."""

P = TypeVar("P", bound=Part)


class Family(Generic[P]):
    """All members of one kind: the modules of ``package``, and entry points of ``group`` for names not found there.

    >>> from discreet.problem.privacy import PRIVACY
    >>> PRIVACY.make("k(5)")
    KAnonymity(k=5)
    """

    known: ClassVar[list[Family[Any]]] = []
    """The families imported so far."""

    def __init__(self, kind: str, base: type[P], package: str, group: str) -> None:
        Family.known.append(self)
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
        """Return the members that come with discreet by canonical name, in the order of lists."""
        self._load()
        found = sorted(set(self._members.values()), key=lambda member: (member.rank, member.name.lower()))
        return {member.name: member for member in found}

    def others(self) -> dict[str, EntryPoint]:
        """Return the entry points of other packages by lower-case name, not loaded; names taken here are left out."""
        from importlib.metadata import entry_points

        self._load()
        found = {entry.name.lower(): entry for entry in entry_points(group=self.group)}
        return {name: entry for name, entry in found.items() if name not in self._members}

    def examples(self) -> list[str]:
        """Return the text forms that members give as examples."""
        return [example for member in self.members().values() for example in member.examples]

    def find(self, name: str) -> type[P] | None:
        """Return the member of a name or alias, from another package if necessary; None if there is none."""
        key = name.lower()
        if not self._load_one(key):
            self._load(key)
        member = self._members.get(key) or self._loaded_others.get(key)
        if member is None and (entry := self.others().get(key)) is not None:
            member = self._loaded_others[key] = self._load_entry(entry)
        return member

    def __contains__(self, name: object) -> bool:
        """Whether there is a member of exactly this name; aliases and other spellings do not count."""
        member = self.find(name) if isinstance(name, str) else None
        return member is not None and member.name == name

    def make(self, choice: str | P) -> P:
        """Return the part a text form describes; a part is returned as it is."""
        if isinstance(choice, self.base):
            return choice
        if not isinstance(choice, str):
            raise UsageError(
                f"A {self.kind} is given as text or as an object, not as {type(choice).__name__}.", topic="text-form"
            )
        name, args, kwargs = parse_text(self.with_name(choice))
        member = self.find(name)
        if member is None:
            raise UsageError(f"There is no {self.kind} '{name}'; ", *self._proposed(name), topic="unknown-name")
        try:
            return member.from_arguments(*args, **kwargs)
        except TypeError:
            fields = [item.name for item in _arguments(member)]
            unknown = next((key for key in kwargs if key not in fields), "")
            if unknown and (hint := did_you_mean(unknown, fields)):
                raise UsageError(f"'{choice}' has no argument '{unknown}'; {hint}", topic="text-form") from None
            raise UsageError(
                f"'{choice}' has the wrong arguments; the form is {member.signature()}.", topic="text-form"
            ) from None

    def proposal(self, name: str) -> str:
        """Return what to write instead of a name that no member has.

        >>> from discreet.problem.suppression import SUPPRESSION
        >>> SUPPRESSION.proposal("bugdet"), SUPPRESSION.proposal("outliers")
        ("did you mean 'budget'?", 'did you mean budget(0.05) (some people may be left out)?')
        """
        members = self.members()
        unbracketed = re.fullmatch(r"(.*[^\W\d])-?(\d+)", name)
        if unbracketed and self.find(unbracketed[1]) is not None:
            return f"did you mean '{unbracketed[1]}({unbracketed[2]})'?"
        sought = [part for part in members.values() if name.lower() in part.sought_as]
        if sought:
            return f"did you mean {' or '.join(map(_example, sought))}?"
        known = sorted([*members, *self.others()])
        aliases = [alias for part in members.values() for alias in part.aliases]
        return did_you_mean(name, [*known, *aliases]) or f"known are {', '.join(known)}."

    def _proposed(self, name: str) -> tuple[str | Argument, ...]:
        """Return a proposal in pieces: a name like it, a member of another family that has this name, or others."""
        proposal = self.proposal(name)
        if proposal.startswith("did you mean '"):
            return (proposal,)
        for other in Family.known:
            if other is not self and other.kind in _PARAMETERS and name.lower() in map(str.lower, other.members()):
                return f"'{name}' is a {other.kind}, which is given as ", Argument(other.kind, name), "."
        return (proposal,)

    def with_name(self, choice: str) -> str:
        """Add the name of the member to arguments that may stand without it.

        >>> from discreet.problem.suppression import SUPPRESSION
        >>> SUPPRESSION.with_name("5%"), SUPPRESSION.with_name("none")
        ('budget(5%)', 'none')
        """
        text = choice.strip()
        if text[:1].isalpha():
            return choice
        bare = (part.name for part in self.members().values() if part.bare and re.fullmatch(part.bare, text))
        name = next(bare, None)
        if name is None and text[:1].isdecimal():
            *others, last = next(iter(self.members().values())).examples
            forms = f"{', '.join(others)} or {last}" if others else last
            raise UsageError(
                f"'{text}' does not say which {self.kind} is meant; write it as in {forms}.", topic="text-form"
            )
        return choice if name is None else f"{name}({text})"

    def _load_one(self, key: str) -> bool:
        """Load the one module that is named after a member, if there is such a module; the others may be slow."""
        module = key.replace("-", "_")
        if key not in self._members and not self._loaded and module.isidentifier() and not module.startswith("_"):
            for path in self._modules():
                if path.removesuffix(".solver").rpartition(".")[2] == module:
                    importlib.import_module(path)
        return key in self._members

    def _load(self, key: str | None = None) -> None:
        """Load all modules, or one after the other until there is a member of a name."""
        if self._loaded:
            return
        for module in self._modules():
            if key is not None and key in self._members:
                return
            importlib.import_module(module)
        self._loaded = True

    def _modules(self) -> Iterator[str]:
        """Yield the modules that may hold members: those of the package, ``solver`` of each folder, and ``published``.

        Names with a leading underscore are left out. In a folder that has a ``solver``, the other modules are what
        that solver is made of.
        """
        package = importlib.import_module(self.package)
        for found in pkgutil.iter_modules(package.__path__):
            name = f"{self.package}.{found.name}"
            if found.name.startswith("_"):
                continue
            if not found.ispkg:
                yield name
                continue
            folder = next(Path(path) / found.name for path in package.__path__ if (Path(path) / found.name).is_dir())
            if (folder / "solver.py").exists():
                yield f"{name}.solver"
            elif found.name == "published":
                for module in pkgutil.iter_modules([str(folder)]):
                    if not module.name.startswith("_") and not module.ispkg:
                        yield f"{name}.{module.name}"

    def _load_entry(self, entry: EntryPoint) -> type[P]:
        """Return the class of an entry point; raise a UsageError that says what is wrong with it."""
        source = f"The {self.kind} '{entry.name}' of the package {package_of(entry)}"
        try:
            member = entry.load()
        except Exception as error:
            raise UsageError(
                f"{source} cannot be loaded ({type(error).__name__}); upgrade or remove the package.", topic="plug-in"
            ) from error
        wrong = _fault(member, entry, self.kind, self.base, self._members)
        if wrong is not None:
            raise UsageError(f"{source} {wrong}; upgrade or remove the package.", topic="plug-in")
        return member  # type: ignore[no-any-return]


def package_of(entry: EntryPoint) -> str:
    """Return the name and version of the package an entry point comes from."""
    found = entry.dist
    return "an unknown package" if found is None else f"{found.name} {found.version}"


def _fault(member: Any, entry: EntryPoint, kind: str, base: type[Any], taken: Mapping[str, type[Any]]) -> str | None:
    """Return what a loaded object lacks to be a member."""
    if not (isinstance(member, type) and issubclass(member, base)):
        return f"is not a class that inherits from {base.__name__}"
    if not dataclasses.is_dataclass(member):
        return "is not a dataclass, so that its arguments are not known"
    lacking = sorted(getattr(member, "__abstractmethods__", ()))
    if lacking:
        return f"does not define {' and '.join(lacking)}"
    names = [name.lower() for name in (getattr(member, "name", ""), *getattr(member, "aliases", ()))]
    if entry.name.lower() not in names:
        return "has another name in its class"
    clash = next((name for name in names if taken.get(name, member) is not member), None)
    return None if clash is None else f"has the name '{clash}', which another {kind} has"
