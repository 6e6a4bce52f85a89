"""The programs of this process: found in files, or else compiled from what a small job calls."""

from __future__ import annotations

import gc
import hashlib
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.solve.kernels.compiler import files
from discreet.solve.kernels.compiler.arguments import layout_is_known, pack, type_text
from discreet.solve.kernels.compiler.convert import Plan, matching
from discreet.solve.kernels.compiler.needed import compiler_is_there, require_compiler

if TYPE_CHECKING:
    from discreet.solve.kernels.compiler.load import Entry
    from discreet.solve.kernels.compiler.target import Target

__all__ = [
    "CHECKED",
    "Compiling",
    "CompilingStopped",
    "Recording",
    "conversion_for",
    "entry_for",
    "listening",
    "loaded",
    "provide",
    "recording",
    "stopped_by",
    "usable",
    "without_installed",
    "writing",
]

_log = logging.getLogger("discreet")
_LOCK = threading.RLock()
CHECKED = os.environ.get("DISCREET_CHECK_BOUNDS") == "1"
"""Whether kernels are compiled with bounds checks; then by numba alone, for one process."""
_OBJECTS = (50_000, 50, 50)
"""New objects, and rounds, after which to look for garbage while numba compiles; more would take memory."""
_POLL = 0.2
"""Seconds between two reports while LLVM works, which says nothing by itself."""
_PER_KERNEL = 0.1
"""Seconds that a kernel takes, roughly, until some were compiled."""
_LINKING = 0.5
"""Seconds of linking and optimizing for each second of compiling, roughly."""

Name = tuple[str, str]
"""A kernel and the text of the types of its arguments."""


@dataclass(frozen=True)
class Compiling:
    """How far compiling a program is."""

    what: str
    done: int
    total: int
    """Kernels ..."""
    left: float
    """... and the seconds it will take from now, roughly."""
    reason: str = ""
    """Why the program that came with the installation is not used, if one did."""

    def __str__(self) -> str:
        """Return one line about it.

        >>> print(Compiling("local search", 14, 41, 12.3))
        compiling the local search, once: 14 of 41, about 12 s
        """
        once = f"once, because {self.reason}" if self.reason else "once"
        return f"compiling the {self.what}, {once}: {self.done} of {self.total}, about {max(1, round(self.left))} s"


class CompilingStopped(BaseException):
    """Compiling was stopped; not an Exception, of which numba takes some for errors of the function it compiles."""


Listener = Callable[[Compiling], None]
_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)
_STOP: ContextVar[threading.Event | None] = ContextVar("stop", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Report to a function how far compiling is; without one a line is shown in terminals and notebooks."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


@contextmanager
def stopped_by(event: threading.Event) -> Iterator[None]:
    """Stop compiling, with the exception CompilingStopped, once an event is set."""
    token = _STOP.set(event)
    try:
        yield
    finally:
        _STOP.reset(token)


class _Line:
    """One line on a terminal or in a notebook, written again and again, and cleared in the end."""

    def __init__(self) -> None:
        shown = sys.stderr is not None and sys.stderr.isatty()
        self._shown = shown or "ipykernel" in sys.modules
        self._written = 0

    def __call__(self, compiling: Compiling) -> None:
        self._write(f"discreet: {compiling}")

    def clear(self) -> None:
        if self._written:
            self._write("")

    def _write(self, text: str) -> None:
        if self._shown:
            sys.stderr.write(f"\r{text.ljust(self._written)}" + ("" if text else "\r"))
            sys.stderr.flush()
            self._written = len(text)


class Recording:
    """Kernel calls from Python while a small job ran."""

    def __init__(self) -> None:
        self.calls: dict[Name, tuple[Any, tuple[Any, ...]]] = {}
        self._inside = threading.local()

    def call(self, kernel: Any, arguments: tuple[Any, ...]) -> Any:
        """Run a kernel as plain Python, and note the call unless a kernel made it."""
        if getattr(self._inside, "kernel", False):
            return kernel.function(*arguments)
        key: list[Any] = []
        pack(arguments, key, [])
        text = type_text(key)
        self.calls.setdefault((kernel.name, text), (kernel, arguments))
        self._inside.kernel = True
        try:
            return kernel.run_plainly(*arguments)
        finally:
            self._inside.kernel = False


class _State:
    """What there is in this process."""

    entries: dict[Name, Entry] = {}  # noqa: RUF012
    names: dict[str, set[Name]] = {}  # noqa: RUF012
    recording: Recording | None = None
    shipped = True
    """Whether programs that came with the installation are used."""
    broken = False
    """Whether programs cannot be made, as with a numba that works differently."""
    under_way: Compiling | None = None
    """How far compiling is, for threads that wait for it."""
    output: tuple[Path, Target] | None = None
    """Where programs are written to, and for which processor, if not to the cache and for this one."""


@contextmanager
def _alone() -> Iterator[None]:
    """Wait until no other thread loads or compiles, and report how far it is meanwhile."""
    line, stop = _Line(), _STOP.get()
    listener = _LISTENER.get() or line
    try:
        while not _LOCK.acquire(timeout=_POLL):
            if stop is not None and stop.is_set():
                raise CompilingStopped
            if _State.under_way is not None:
                listener(_State.under_way)
    finally:
        line.clear()
    try:
        yield
    finally:
        _LOCK.release()


def usable() -> bool:
    """Return whether kernels are compiled into programs; otherwise numba compiles each by itself, for one process."""
    return not (_State.broken or CHECKED) and layout_is_known()


def loaded() -> frozenset[str]:
    """Return the names of the programs of this process; kernels compiled by themselves are programs of their own."""
    return frozenset(_State.names)


def recording() -> Recording | None:
    """Return the recording under way, if there is one."""
    return _State.recording


@contextmanager
def writing(folder: Path, target: Target) -> Iterator[None]:
    """Compile all programs for a processor into a folder, whatever there is already."""
    _State.output = (folder, target)
    try:
        yield
    finally:
        _State.output = None


@contextmanager
def without_installed() -> Iterator[None]:
    """Compile for this very processor what came with the installation for all of its family."""
    _State.shipped = False
    try:
        yield
    finally:
        _State.shipped = True


def entry_for(kernel: Any, text: str, arguments: tuple[Any, ...]) -> Entry | None:
    """Return a compiled kernel, or None if numba must call it; what no program has is found or compiled by itself."""
    name = (kernel.name, text)
    found = _State.entries.get(name)
    if found is None:
        with _alone():
            if not _find_elsewhere(name):
                what = f"{kernel.name.rpartition(':')[2]} {hashlib.sha256(repr(name).encode()).hexdigest()[:8]}"
                _provide(what, lambda: {name: (kernel, arguments)})
            found = _State.entries.get(name)
    return found


def _find_elsewhere(name: Name) -> bool:
    """Load a program of the installation, made for another search, that has a kernel; return whether there is one."""
    if _State.shipped and _State.output is None:
        from discreet.solve.kernels.compiler.load import unfit

        for file in files.shipped():
            if any((entry["kernel"], entry["arguments"]) == name for entry in file.header["entries"]) and not unfit(
                file
            ):
                _load(file)
                return True
    return False


def conversion_for(kernel: Any, key: list[Any]) -> Plan | None:
    """Return how to convert arguments to types that a program of the installation has, where nothing can be compiled.

    None if they are fine as they are, or if there is no such program.
    """
    if compiler_is_there() or (kernel.name, type_text(key)) in _State.entries:
        return None
    entries = [entry for file in files.shipped() for entry in file.header["entries"]]
    known = [entry["arguments"] for entry in entries if entry["kernel"] == kernel.name]
    return None if type_text(key) in known else matching(key, known)


def provide(name: str, job: Callable[[], object], uses: Iterable[str] = ()) -> None:
    """Make sure that a program is loaded: the compiled form of all kernels that a small job calls.

    If no file has it the job is run with kernels as plain Python, and what it calls is compiled, except for what the
    programs have that it ``uses``.
    """
    with _alone():
        if name not in _State.names and usable():
            _provide(name, lambda: _record(job, uses))
        if not usable():
            job()


def _record(job: Callable[[], object], uses: Iterable[str]) -> dict[Name, tuple[Any, tuple[Any, ...]]]:
    before, _State.recording = _State.recording, Recording()
    try:
        job()
        calls = _State.recording.calls
    finally:
        _State.recording = before
    known: set[Name] = set().union(*(_State.names.get(other, set()) for other in uses))
    return {name: call for name, call in calls.items() if name not in known}


def _provide(name: str, calls: Callable[[], dict[Name, tuple[Any, tuple[Any, ...]]]]) -> None:
    if _State.output is None:
        found, reason = _find(name)
        if found:
            return
    else:
        reason = ""
    require_compiler(name, reason)
    recorded = calls()
    try:
        made = _compile(name, recorded, reason)
    except Exception as error:
        if _State.output is not None:
            raise
        _State.broken = True
        _log.warning("numba compiles each kernel by itself, which takes longer: %s", error)
        return
    if _State.output is not None:
        files.store(_State.output[0], made)
        _State.names[name] = {(entry["kernel"], entry["arguments"]) for entry in made.header["entries"]}
        return
    folder = files.cache_folder()
    if folder is not None and made.header["modules"]:
        with suppress(OSError):  # as on a full disk: the program serves this process
            files.store(folder, made)
    _load(made)


def _find(name: str) -> tuple[bool, str]:
    """Load a program from a file that fits; return whether there is one, and why the installation's does not fit."""
    from discreet.solve.kernels.compiler.load import unfit

    reason = ""
    for file in files.find(name, shipped=_State.shipped):
        why = unfit(file)
        if not why:
            _load(file)
            return True, ""
        if file.path is not None and file.path.parent == files.shipped_folder():
            reason = why
    return False, reason


def _load(file: files.ProgramFile) -> None:
    from discreet.solve.kernels.compiler.load import load

    entries = load(file)
    _State.entries.update(entries)
    _State.names[file.header["name"]] = set(entries)


@contextmanager
def _seldom_collecting() -> Iterator[None]:
    """Look for garbage less often: numba makes objects by the million, and looking takes an eighth of the time."""
    before = gc.get_threshold()
    gc.set_threshold(*_OBJECTS)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _compile(name: str, calls: dict[Name, tuple[Any, tuple[Any, ...]]], reason: str) -> files.ProgramFile:
    """Return a program that is not stored yet."""
    from discreet.solve.kernels.compiler.build import Call, link
    from discreet.solve.kernels.compiler.target import native

    clock = _Clock(name, _count(kernel for kernel, _ in calls.values()), reason)
    target = native() if _State.output is None else _State.output[1]
    wanted = [Call(kernel, arguments, text) for (_, text), (kernel, arguments) in calls.items()]
    try:
        clock.report(0)
        with _seldom_collecting():
            module, entries = link(wanted, clock.report)
        code = clock.wait(lambda: target.compile(module))
    finally:
        clock.end()
    header = {
        "name": name,
        "entries": entries,
        "modules": _modules(kernel.function.__module__ for kernel, _ in calls.values()),
        **target.requirements(code),
    }
    _log.info("compiled the %s in %.1f s", name, clock.seconds)
    return files.ProgramFile(None, header, code, target.is_library)


def _modules(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the sources of a program; none if they are not known, as for kernels of a notebook."""
    try:
        return files.kernel_modules(names)
    except (ImportError, ValueError):
        return {}


def _count(kernels: Iterable[Any]) -> int:
    """Return how many kernels must be compiled: those given, and those they call."""
    found: set[int] = set()
    waiting = list(kernels)
    while waiting:
        kernel = waiting.pop()
        if id(kernel) not in found:
            found.add(id(kernel))
            waiting += kernel.called()
    return len(found)


class _Clock:
    """Measures compiling, and says how long it will take."""

    def __init__(self, what: str, total: int, reason: str) -> None:
        self._what, self._total, self._reason = what, total, reason
        self._began = time.monotonic()
        self._done = 0
        self._line = _Line()
        self._listener = _LISTENER.get() or self._line
        self._stop = _STOP.get()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def report(self, done: int) -> None:
        """Report that so many kernels are compiled."""
        self._done = min(done, self._total)
        each = self.seconds / done if done > 2 else _PER_KERNEL
        self._tell(each * (self._total - self._done) + _LINKING * each * self._total)

    def wait(self, work: Callable[[], bytes]) -> bytes:
        """Return the result of work that cannot be interrupted, in a thread that is left alone if something stops."""
        front, made, failed = self.seconds, [], []

        def run() -> None:
            try:
                made.append(work())
            except BaseException as error:  # raised below
                failed.append(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        while thread.is_alive():
            self._tell(front * (1 + _LINKING) - self.seconds)
            thread.join(_POLL)
        if failed:
            raise failed[0]
        return made[0]

    def _tell(self, left: float) -> None:
        if self._stop is not None and self._stop.is_set():
            raise CompilingStopped
        _State.under_way = Compiling(self._what, self._done, self._total, max(left, 1.0), self._reason)
        self._listener(_State.under_way)

    def end(self) -> None:
        """Leave no line behind."""
        _State.under_way = None
        self._line.clear()
