"""Where commands print."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console


def plain_console(*, stderr: bool = False, soft_wrap: bool = False) -> Console:
    """A console that prints what it is given: brackets in a path are no markup, and `:car:` is no picture."""
    return Console(stderr=stderr, soft_wrap=soft_wrap, highlight=False, markup=False, emoji=False)


@contextmanager
def without_notes(*, is_quiet: bool) -> Iterator[None]:
    """Who wants quiet is told of troubles, and not of what could be better."""
    notes = logging.getLogger("anabranch.notes")
    before = notes.level
    if is_quiet:
        notes.setLevel(logging.ERROR)
    try:
        yield
    finally:
        notes.setLevel(before)
