"""Settings that a session has for a while: those of a user's session are put back when nobody needs ours any more."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary


@dataclass
class _Held:
    """A setting that is in use."""

    value: str
    before: str | None  # None: it was not set
    users: int = 0


_changed = threading.Condition()
_held: WeakKeyDictionary[Any, dict[str, _Held]] = WeakKeyDictionary()  # by session, and by the names of settings


@contextmanager
def settings(session: Any, wanted: Mapping[str, str]) -> Iterator[None]:
    """A session has these settings meanwhile. Several may want the same; who wants others waits until they are done."""
    taken: list[str] = []
    with _changed:
        held = _held.setdefault(session, {})
        _changed.wait_for(lambda: all(held[name].value == wanted[name] for name in wanted if name in held))
        try:
            for name, value in wanted.items():
                _take(session, held, name, value)
                taken.append(name)
        except BaseException:
            _give_back(session, held, taken)
            raise
    try:
        yield
    finally:
        with _changed:
            _give_back(session, held, taken)


def _take(session: Any, held: dict[str, _Held], name: str, value: str) -> None:
    if name not in held:
        before = session.conf.get(name, None)
        if before != value:
            session.conf.set(name, value)
        held[name] = _Held(value, before)
    held[name].users += 1


def _give_back(session: Any, held: dict[str, _Held], names: list[str]) -> None:
    for name in names:
        held[name].users -= 1
        if not held[name].users:
            _put_back(session, name, held.pop(name))
    _changed.notify_all()


def _put_back(session: Any, name: str, was: _Held) -> None:
    with suppress(Exception):  # the session may have gone
        if was.before is None:
            session.conf.unset(name)
        elif was.before != was.value:
            session.conf.set(name, was.before)
