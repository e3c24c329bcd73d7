"""What a program has set for all code of its process: workers have it too, while they work for the program.

`csv.field_size_limit(10**7)` or `warnings.simplefilter("error")` at the top of a module decides what operators do, and
a worker, which never runs that statement, would do something else. So the settings of the driver are sent with a job,
and put back when a task has ended: other programs may use the same worker.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import cloudpickle

from anabranch.errors import in_words

_DIALECT = (
    "delimiter",
    "quotechar",
    "escapechar",
    "doublequote",
    "skipinitialspace",
    "lineterminator",
    "quoting",
    "strict",
)
_CONTEXT = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")
_FILTERS = "warnings.filters"
_packer: Any = cloudpickle  # it has no types
_CATEGORIES = ("LC_COLLATE", "LC_MONETARY", "LC_NUMERIC", "LC_TIME")  # the others are about a terminal


@dataclass(frozen=True)
class Setting:
    """One that can be read and written. `is_watched`: no library changes it on its own account, so nobody may."""

    module: str  # without it in a process, nobody has set anything
    name: str
    read: Callable[[Any], Any]  # from the module
    write: Callable[[Any, Any], object]
    is_watched: bool = True

    @property
    def what(self) -> str:
        return f"{self.module}.{self.name}"


def _dialects(csv: Any) -> dict[str, dict[str, Any]]:
    found = {name: csv.get_dialect(name) for name in csv.list_dialects()}
    return {name: {each: getattr(dialect, each) for each in _DIALECT} for name, dialect in found.items()}


def _set_dialects(csv: Any, dialects: dict[str, dict[str, Any]]) -> None:
    for name in csv.list_dialects():
        csv.unregister_dialect(name)
    for name, dialect in dialects.items():
        csv.register_dialect(name, **dialect)


def _context(decimal: Any) -> dict[str, Any]:
    now = decimal.getcontext()
    return {name: getattr(now, name) for name in _CONTEXT} | {
        "traps": [each for each, is_on in now.traps.items() if is_on]
    }


def _set_locale(locale: Any, by_category: dict[str, str]) -> None:
    for name, value in by_category.items():
        locale.setlocale(getattr(locale, name), value)


def _set_filters(warnings: Any, filters: list[Any]) -> None:
    warnings.resetwarnings()  # so that what was decided by the old ones is forgotten
    warnings.filters.extend(filters)


SETTINGS = (
    Setting("sys", "setrecursionlimit", lambda m: m.getrecursionlimit(), lambda m, v: m.setrecursionlimit(v), False),
    Setting(
        "sys", "set_int_max_str_digits", lambda m: m.get_int_max_str_digits(), lambda m, v: m.set_int_max_str_digits(v)
    ),
    Setting("csv", "field_size_limit", lambda m: m.field_size_limit(), lambda m, v: m.field_size_limit(v)),
    Setting("csv", "register_dialect", _dialects, _set_dialects),
    Setting("decimal", "getcontext", _context, lambda m, v: m.setcontext(m.Context(**v))),
    Setting("numpy", "seterr", lambda m: m.geterr(), lambda m, v: m.seterr(**v)),
    Setting("numpy", "seterrcall", lambda m: m.geterrcall(), lambda m, v: m.seterrcall(v), False),
    Setting("numpy", "setbufsize", lambda m: m.getbufsize(), lambda m, v: m.setbufsize(v)),
    Setting("numpy", "set_printoptions", lambda m: m.get_printoptions(), lambda m, v: m.set_printoptions(**v), False),
    Setting("locale", "setlocale", lambda m: {c: m.setlocale(getattr(m, c)) for c in _CATEGORIES}, _set_locale),
    Setting("calendar", "setfirstweekday", lambda m: m.firstweekday(), lambda m, v: m.setfirstweekday(v)),
    Setting("warnings", "filters", lambda m: list(m.filters), _set_filters, False),
)


@dataclass
class _Taken:
    """What this process had before, as long as a task needs something else; channels of one task may overlap."""

    by: int = 0
    before: dict[str, Any] = field(default_factory=dict)


_taken = _Taken()


@dataclass(frozen=True)
class ProcessSettings:
    """Values by names of settings."""

    values: Mapping[str, Any]

    @classmethod
    def here(cls) -> ProcessSettings:
        """Those of this process, and of this thread, which has its own for decimals and numpy."""
        return cls({each.what: each.read(sys.modules[each.module]) for each in SETTINGS if each.module in sys.modules})

    def __getstate__(self) -> dict[str, Any]:
        """Filters one by one: they may name classes of packages that a worker lacks, which nobody raises there."""
        filters = self.values.get(_FILTERS)
        packed = None if filters is None else [_packer.dumps(each) for each in filters]
        return {"values": {name: value for name, value in self.values.items() if name != _FILTERS}, "filters": packed}

    def __setstate__(self, state: dict[str, Any]) -> None:
        values = dict(state["values"])
        if state["filters"] is not None:
            values[_FILTERS] = []
            for each in state["filters"]:
                with suppress(ImportError, AttributeError):
                    values[_FILTERS].append(_packer.loads(each))
        object.__setattr__(self, "values", values)

    @contextmanager
    def taken_over(self) -> Iterator[str | None]:
        """Inside, this process has these settings; where it cannot, why."""
        _taken.by += 1
        try:
            yield _take(self.values) if _taken.by == 1 else None
        finally:
            _taken.by -= 1
            if _taken.by == 0:
                _write(_taken.before)
                _taken.before = {}

    def changed(self) -> str | None:
        """A setting that is not any more what it was."""
        for each in SETTINGS:
            is_known = each.is_watched and each.what in self.values and each.module in sys.modules
            if is_known and each.read(sys.modules[each.module]) != self.values[each.what]:
                return each.what
        return None


def _take(values: Mapping[str, Any]) -> str | None:
    for each in SETTINGS:
        if each.what not in values:
            continue
        module = importlib.import_module(each.module)
        now, wanted = each.read(module), values[each.what]
        if now == wanted:
            continue
        _taken.before[each.what] = now
        try:
            each.write(module, wanted)
        except Exception as problem:
            return f"{each.what} cannot be {wanted!r} there: {in_words(problem)}"
    return None


def _write(values: Mapping[str, Any]) -> None:
    for each in SETTINGS:
        if each.what in values:
            each.write(importlib.import_module(each.module), values[each.what])
