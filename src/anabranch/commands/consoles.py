"""Where commands print."""

from __future__ import annotations

from rich.console import Console


def plain_console(*, stderr: bool = False, soft_wrap: bool = False) -> Console:
    """A console that prints what it is given: brackets in a path are no markup, and `:car:` is no picture."""
    return Console(stderr=stderr, soft_wrap=soft_wrap, highlight=False, markup=False, emoji=False)
