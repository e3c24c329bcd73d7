"""Writes the expected messages of the wrong programs anew: `python -m tests.golden.regenerate`, then read the diff."""

from __future__ import annotations

from tests.golden.wrong_programs import FOLDER, PROGRAMS, error_of


def regenerate() -> None:
    for name in PROGRAMS:
        path = FOLDER / f"{name}.txt"
        _, text = error_of(name)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
            print(f"{path.name} written")


if __name__ == "__main__":
    regenerate()
