"""Pieces of code that are kept as text: a line begins one, lines with a bar continue it, `==` begins a section."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def read_pieces(name: str) -> Iterator[tuple[str, str]]:
    """The section and the code of each piece."""
    section = ""
    piece: list[str] = []
    for line in (Path(__file__).parent / name).read_text().splitlines():
        if line.startswith("| "):
            piece.append(line.removeprefix("| "))
            continue
        if piece:
            yield section, "\n".join(piece)
        is_heading = line.startswith("== ")
        piece = [line] if line and not is_heading else []
        section = line.removeprefix("== ") if is_heading else section
    if piece:
        yield section, "\n".join(piece)
