"""Every wrong program in `errors/` gets exactly the message that stands beside it."""

from __future__ import annotations

import re

import pytest

from tests.golden.wrong_programs import FOLDER, PROGRAMS, error_of

# Words of our own inside. A user knows what the docs call things.
INTERNAL = re.compile(
    r"0x[0-9a-f]{6}|\b(ValueProblem|PlainProblem|NoneType|AssertionError|schema|node|draft|Unreadable|FINAL)\b"
)
WITHOUT_A_LINE = {"use_unknown_result"}  # a call on the result of a run, whose traceback is the user's own


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_wrong_program_gets_its_message(name: str) -> None:
    moment, text = error_of(name)

    assert text == (FOLDER / f"{name}.txt").read_text(), "python -m tests.golden.regenerate, and read the diff"
    assert moment == ("run" if name.startswith("run_") else "build")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_message_shows_the_line_and_speaks_the_user_s_language(name: str) -> None:
    text = (FOLDER / f"{name}.txt").read_text()
    program = (FOLDER / f"{name}.py").read_text().splitlines()

    shown = re.findall(rf"^  (?:raised )?at {name}\.py:(\d+)   (.*)$", text, flags=re.MULTILINE)
    assert shown or name in WITHOUT_A_LINE, "no line of the program is named"
    for line, code in shown:
        assert program[int(line) - 1].strip() == code
    assert not INTERNAL.search(text)
    assert "Traceback" not in text
    assert len(text.splitlines()) <= 5


def test_every_message_belongs_to_a_program() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.txt")) == PROGRAMS
