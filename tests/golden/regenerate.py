"""Writes what the golden tests expect anew: `python -m tests.golden.regenerate`, then read the diff."""

from __future__ import annotations

import os
from pathlib import Path

os.environ["ANABRANCH_ENGINE"] = "sequential"  # as in the tests

from tests.golden import plans_of_examples, wrong_programs


def regenerate() -> None:
    for name in wrong_programs.PROGRAMS:
        _, text = wrong_programs.error_of(name)
        _write(wrong_programs.FOLDER / f"{name}.txt", text)
    for name, text in plans_of_examples.plan_texts().items():
        _write(plans_of_examples.FOLDER / f"{name}.txt", text)
    _write(plans_of_examples.IN_CHANNELS, plans_of_examples.channel_table())


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
        print(f"{path.name} written")


if __name__ == "__main__":
    regenerate()
