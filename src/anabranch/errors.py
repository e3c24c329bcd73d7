"""Every error a user can meet: what happened, where in their program, why, and what to do."""

from __future__ import annotations

import functools
import inspect
import linecache
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar


@dataclass(frozen=True, order=True)
class Location:
    """A place in the user's program."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{path_from_here(self.file)}:{self.line}"

    @property
    def code(self) -> str:
        """The text of the line, or an empty string where the source cannot be read."""
        return linecache.getline(self.file, self.line).strip()

    def without_code(self) -> Location:
        """The same place, of which a message does not show the line: there is a password in it."""
        return _WithoutCode(self.file, self.line)


@dataclass(frozen=True, order=True)
class _WithoutCode(Location):
    @property
    def code(self) -> str:
        return ""


def path_from_here(file: str) -> str:
    """A path relative to the current folder where that is shorter to read."""
    try:
        return _relative(file, os.getcwd())
    except FileNotFoundError:  # the current folder was deleted
        return file


@functools.lru_cache
def _relative(file: str, folder: str) -> str:
    try:
        return str(Path(file).relative_to(folder))
    except ValueError:
        return file


def shortened(text: str, limit: int = 300) -> str:
    """Text for a message: data can be megabytes, a message should not be."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text):,} characters)"


def shown(value: object) -> str:
    """A value as a message shows it: functions, classes and objects by their names, never by an address."""
    if isinstance(value, functools.partial):
        return f"partial({shown(value.func)}, …)"
    if isinstance(value, type):
        return f"class {value.__name__}"
    if inspect.isroutine(value):
        return "a lambda" if value.__name__ == "<lambda>" else f"function {value.__name__}"
    if type(value).__repr__ is object.__repr__ or inspect.isgenerator(value):
        return f"an object of class {type(value).__name__}"
    try:
        return shortened(repr(value))
    except Exception:  # a user's own __repr__, or an int of too many digits
        return f"an object of class {type(value).__name__}"


_MOST_KEPT_SHOWN = 5  # outputs in a message


class PlainProblem(Exception):
    """A problem in a run that is said in plain words: messages show the words and not the class."""

    verb: ClassVar[str] = "failed"  # what the operator did


def in_words(cause: BaseException) -> str:
    """An exception as a message shows it."""
    if isinstance(cause, PlainProblem):
        return str(cause)
    try:
        text = str(cause)
    except Exception:  # a user's own __str__
        text = ""
    return f"{type(cause).__name__}: {text}" if text else type(cause).__name__


class AnabranchError(Exception):
    """Base of all errors of this package; its text is made for people."""

    def __init__(
        self,
        message: str,
        *,
        location: Location | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.location = location
        self.hint = hint

    def __str__(self) -> str:
        lines = [self.message]
        if self.location is not None:
            code = self.location.code
            lines.append(f"  at {self.location}" + (f"   {code}" if code else ""))
        lines += [*self.details(), *self._kept_lines()]
        if self.hint:
            lines.append(f"  try: {self.hint}")
        return "\n".join(lines)

    def details(self) -> list[str]:
        """More lines for a subclass to say, between the place and the hint."""
        return []

    def _kept_lines(self) -> list[str]:
        return []


class BuildError(AnabranchError):
    """The program cannot be built as it is written."""


class UsageError(AnabranchError):
    """A command or a call was given something it cannot use."""


class RunError(AnabranchError):
    """The program was built, but its run had to stop.

    `result` holds what the run had produced up to that point (`result.items(name)` works as usual), and `kept` says
    where the files are that it had written by then, by the names of their sinks.
    """

    result: object = None
    kept: Mapping[str, Path | str] = MappingProxyType({})

    def _kept_lines(self) -> list[str]:
        return [kept_in_words(self.kept.values())] if self.kept else []


def kept_in_words(places: Iterable[Path | str]) -> str:
    """Where the outputs are that a run did not complete, as a line of a message."""
    names = [path_from_here(str(place)) for place in places]
    more = f" and {len(names) - _MOST_KEPT_SHOWN} more" if len(names) > _MOST_KEPT_SHOWN else ""
    return f"  what was written before it is in {', '.join(names[:_MOST_KEPT_SHOWN])}{more}"


_MOMENTS = {
    "process": "",
    "reading": "",
    "punctuation": " at a punctuation",
    "end": " at the end of an input",
    "finish": " at the end of the stream",
}


class OperatorError(RunError):
    """A user's operator failed on a tuple."""

    def __init__(
        self,
        operator: str,
        *,
        location: Location | None,
        cause: BaseException,
        item: object = None,
        during: str = "process",
        raised_at: Location | None = None,
    ) -> None:
        self.operator = operator
        self.item = item
        self.cause = cause
        self.during = during
        self.raised_at = raised_at
        verb = cause.verb if isinstance(cause, PlainProblem) else "failed"
        super().__init__(f"operator '{operator}' {verb}{_MOMENTS[during]}: {in_words(cause)}", location=location)

    def details(self) -> list[str]:
        lines = []
        if self.raised_at is not None and self.raised_at != self.location:
            code = self.raised_at.code
            lines.append(f"  raised at {self.raised_at}" + (f"   {code}" if code else ""))
        if self.item is not None:
            lines.append(f"  on {shown(self.item)}")
        return lines

    def __reduce__(self) -> tuple[object, ...]:
        """Errors travel between processes; keyword-only arguments need saying how."""
        return (
            _rebuild_operator_error,
            (self.operator, self.location, self.cause, self.item, self.during, self.raised_at),
        )


def _rebuild_operator_error(
    operator: str,
    location: Location | None,
    cause: BaseException,
    item: object,
    during: str,
    raised_at: Location | None,
) -> OperatorError:
    return OperatorError(operator, location=location, cause=cause, item=item, during=during, raised_at=raised_at)


class SourceError(RunError):
    """A source could not be read; `where` names the file and line of the data, `machine` where a worker read it."""

    def __init__(
        self,
        message: str,
        *,
        where: str | None = None,
        raw: str | None = None,
        location: Location | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, location=location, hint=hint)
        self.where = where
        self.raw = raw
        self.machine: str | None = None

    def details(self) -> list[str]:
        lines = []
        if self.where is not None:
            lines.append(f"  in {self.where}")
        if self.raw is not None:
            lines.append(f"  reads {shortened(repr(self.raw))}")
        return lines


class SinkError(RunError):
    """A sink could not be written."""


_CHANGES = {
    "begin": "in a worker {what} is not what it is in the program",
    "end": "while it ran, {what} became another",
    "write": "it writes to {what}",
    "generated": "during the run {what} became another, which that does not see",
    "here": "during the run {what} became another in your process, which its workers did not see",
}


_RAN = {"generated": "as generated code"}


class SharedStateError(RunError):
    """Operators that ran in parallel share something that is not the same for all of them: a defect of this package.

    Nothing that the run gave can be trusted, so it is neither collected nor kept in files.
    """

    def __init__(
        self,
        operator: str,
        what: str,
        *,
        when: str,
        location: Location | None = None,
        defined_at: Location | None = None,
    ) -> None:
        self.operator = operator
        self.what = what
        self.when = when
        self.defined_at = defined_at
        super().__init__(
            f"operator '{operator}' ran {_RAN.get(when, 'in parallel')}, but {_CHANGES[when].format(what=what)}",
            location=location,
            hint='say that it has state, @ab.declare(state="stateful", because="…"), and report the program to us',
        )

    def details(self) -> list[str]:
        lines = []
        if self.defined_at is not None:
            code = self.defined_at.code
            lines.append(f"  defined at {self.defined_at}" + (f"   {code}" if code else ""))
        taken = "whose constants nobody changes" if self.when == "generated" else "that is safe to run in parallel"
        lines.append(f"  This is a defect of Anabranch: it took the operator for one {taken}.")
        lines.append(
            "  The output of this run was not kept, since it may be wrong; docs/trust.md says which can be held back."
        )
        return lines

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild_shared_state_error, (self.operator, self.what, self.when, self.location, self.defined_at)


def _rebuild_shared_state_error(
    operator: str, what: str, when: str, location: Location | None, defined_at: Location | None
) -> SharedStateError:
    return SharedStateError(operator, what, when=when, location=location, defined_at=defined_at)
