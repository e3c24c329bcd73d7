"""Text in lines of so many columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from anabranch.graph.phrases import columns


def wrapped(text: str, width: int, *, indent: int, hanging: int) -> Iterable[str]:
    """The lines of a text, of at most so many columns where its words allow that."""
    return textwrap.wrap(
        text,
        max(width, 40),
        initial_indent=" " * indent,
        subsequent_indent=" " * min(hanging, 40),
        break_on_hyphens=False,
        drop_whitespace=True,
    )


def padded(text: str, width: int) -> str:
    return text + " " * (width - columns(text))
