"""The plan of every example, and the reasons why operators are not parallel, read as they stand in `plans/`."""

from __future__ import annotations

import pytest

from tests.golden.plans_of_examples import FOLDER, IN_CHANNELS, OTHERWISE, SOURCES, channel_table, plan_texts


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return plan_texts()


@pytest.mark.parametrize("name", [*SOURCES, *OTHERWISE])
def test_a_plan_is_the_one_that_was_agreed_on(name: str, texts: dict[str, str]) -> None:
    assert texts[name] == (FOLDER / f"{name}.txt").read_text(), "python -m tests.golden.regenerate; read the diff"


def test_as_many_operators_are_in_channels_as_was_agreed_on() -> None:
    assert channel_table() == IN_CHANNELS.read_text(), "python -m tests.golden.regenerate; read the diff"


def test_every_plan_belongs_to_a_program() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.txt")) == sorted([*SOURCES, *OTHERWISE])
