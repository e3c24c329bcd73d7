"""Who runs a program again may have changed what its names stand for: generated code is that of the moment."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
from collections.abc import Iterator
from typing import NamedTuple

import anabranch as ab

LIMIT = 3.0


class Reading(NamedTuple):
    value: float


class Sum:
    step = 1.0

    def process(self, reading: Reading) -> Iterator[Reading]:
        yield Reading(reading.value + self.step)


def is_high(reading: Reading) -> bool:
    return reading.value > LIMIT


def larger(self: Sum, reading: Reading) -> Iterator[Reading]:
    yield Reading(reading.value * 100.0)


program = ab.from_items(Reading, [Reading(2.0), Reading(4.0), Reading(9.0)]).filter(is_high).process(Sum, key="value")


def show() -> None:
    forms = {"sequential": ("auto",), "fused": ("python", "native")}
    found = [
        [reading.value for reading in ab.run(program.collect("out"), engine=engine, form=form).items("out")]
        for engine in forms
        for form in forms[engine]
    ]
    assert found[0] == found[1] == found[2], found
    print(found[0])


show()
"""


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("LIMIT = 8.0", "[10.0]"),
        ("Sum.step = 5.0", "[9.0, 14.0]"),
        ("Sum.process = larger", "[400.0, 900.0]"),
    ],
    ids=["a global", "a class attribute", "a method"],
)
def test_what_was_exchanged_since_the_last_run_is_what_runs(tmp_path: Path, change: str, expected: str) -> None:
    script = tmp_path / "program.py"
    script.write_text(f"{PROGRAM}\n{change}\nshow()\n")
    done = subprocess.run([sys.executable, script], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.split("\n") == ["[5.0, 10.0]", expected, ""]
