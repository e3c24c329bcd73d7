"""Errors are shown at the user's own line, wherever the user keeps the program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import anabranch as ab

PROGRAM = """\
from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int


def broken(call: Call) -> Call:
    raise ValueError("no")


def fails() -> None:
    ab.run(ab.from_items(Call, [Call(1)]).map(broken).collect("out"))


def cannot_be_built() -> None:
    ab.from_items(Call, [Call(1)]).distinct("fone")
"""

FILES = {
    "a folder of the user's": "/home/user/program.py",
    "a folder beside this package that starts with its name": f"{Path(ab.__file__).parent}_demo/program.py",
}


@pytest.fixture(params=FILES.values(), ids=FILES)
def file(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def load(file: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "program_of_a_user"}
    exec(compile(PROGRAM, file, "exec"), names)
    return names


def test_a_build_error_names_the_file_and_line_of_the_call(file: str) -> None:
    program = load(file)

    with pytest.raises(ab.BuildError) as caught:
        program["cannot_be_built"]()

    assert caught.value.location == ab.Location(file, 19)


def test_a_run_error_names_the_operator_s_line_and_the_line_that_raised(file: str) -> None:
    program = load(file)

    with pytest.raises(ab.OperatorError) as caught:
        program["fails"]()

    assert caught.value.location == ab.Location(file, 15)
    assert caught.value.raised_at == ab.Location(file, 11)
