"""What depends on the locale of the process: names of days and months. A worker has that of a fresh interpreter."""

from __future__ import annotations

import calendar
import locale
from typing import Any

from anabranch.analysis.modules import namespace_of
from anabranch.analysis.program import program_around

_NAMES: tuple[Any, ...] = (calendar.day_name, calendar.day_abbr, calendar.month_name, calendar.month_abbr)


def names_in_calendar(found: Any, names: dict[str, Any]) -> tuple[str, ...] | None:
    """The names of the days or months, if that is what it holds, and they are the same everywhere."""
    if not any(found is each for each in _NAMES) or not is_definitely_plain(names):
        return None
    return tuple(found)


def depends_on_locale(method: str, names: dict[str, Any]) -> str | None:
    """Why a method of dates and times may give another text in a worker."""
    if method not in ("strftime", "strptime") or is_definitely_plain(names):
        return None
    return "uses the locale of the process"


def is_definitely_plain(names: dict[str, Any]) -> bool:
    """Whether the locale is the one that Python starts with, and nobody sets another."""
    if locale.setlocale(locale.LC_TIME) not in ("C", "POSIX"):
        return False
    around = program_around(namespace_of(names))
    return not any("setlocale" in text.text for n in around for text in n.texts) and not any(
        namespace.strays.may_use("setlocale") for namespace in around
    )
