"""Bits that flip in a folder, files that end too soon, and stretches that are missing from them."""

from __future__ import annotations

import random
from pathlib import Path

KINDS = ("flip", "cut", "gap")


def files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def contents(folder: Path) -> dict[str, bytes]:
    """All that a folder holds, but for who has it locked."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in files_in(folder) if path.name != "lock"}


def damage(path: Path, rng: random.Random) -> str:
    """Damage a file at a random place; what was done to it."""
    content = bytearray(path.read_bytes())
    kind = rng.choice(KINDS)
    at = rng.randrange(len(content))
    if kind == "flip":
        content[at] ^= 1 << rng.randrange(8)
    elif kind == "cut":
        del content[at:]
    else:
        del content[at : at + rng.randint(1, 40)]
    path.write_bytes(content)
    return f"{kind} at {at} of {path.name}"
