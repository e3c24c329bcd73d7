"""Other threads neither fail while the analysis looks at who has an object, nor change what it finds."""

from __future__ import annotations

import gc
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.analysis.holders import is_held_only_by
from anabranch.analysis.live_code import live_codes
from anabranch.explain import explain


class Owner:
    def __init__(self) -> None:
        self.parts: list[Any] = []


@contextmanager
def busy(work: Callable[[], object]) -> Iterator[list[BaseException]]:
    """Three threads that do this again and again, and take turns with us as often as can be."""
    stop, problems = threading.Event(), list[BaseException]()

    def go_on() -> None:
        try:
            while not stop.is_set():
                work()
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=go_on) for _ in range(3)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        yield problems
    finally:
        stop.set()
        sys.setswitchinterval(interval)
        for thread in threads:
            thread.join()


def loop_over(owner: Owner) -> None:
    for part in owner.parts:
        str(part)


def hand_around(owner: Owner) -> None:
    """Tuples and frames have it, for a moment."""
    tuple((number, owner.parts) for number in range(20))
    (lambda *given, **named: (given, named))(*[owner.parts, 1], parts=owner.parts)


def pause_in_the_middle(owner: Owner) -> None:
    for _ in owner.parts:
        threading.Event().wait(0.01)


@pytest.mark.parametrize("work", [loop_over, pause_in_the_middle])
def test_what_another_thread_has_in_hand_it_does_not_hold(work: Callable[[Owner], None]) -> None:
    owner = Owner()
    owner.parts += range(5)
    with busy(lambda: work(owner)) as problems:
        found = [is_held_only_by(owner.parts, owner) for _ in range(10)]
    assert problems == []
    assert found == [True] * 10


@pytest.mark.parametrize("work", [loop_over, hand_around])
def test_who_holds_it_is_found_whatever_other_threads_do(work: Callable[[Owner], None]) -> None:
    owner = Owner()
    owner.parts += range(5)
    holding = [owner.parts]
    with busy(lambda: work(owner)):
        assert not any(is_held_only_by(owner.parts, owner) for _ in range(3))
    del holding[:]
    assert is_held_only_by(owner.parts, owner)


def test_a_tuple_that_another_thread_is_making_can_grow() -> None:
    """Of it nobody else may have a reference, not even for a moment."""
    owner = Owner()
    with busy(lambda: tuple(owner.parts for _ in range(300))) as problems:
        for _ in range(10):
            is_held_only_by(owner.parts, owner)
    assert problems == []


class Reading(NamedTuple):
    value: int


logger = logging.getLogger("readings of a test")
logger.propagate = False
logger.addHandler(logging.NullHandler())


def said(reading: Reading) -> Reading:
    logger.info("reading %d", reading.value)
    return reading


def test_a_program_that_logs_has_the_same_plan_while_other_threads_log() -> None:
    program = ab.from_items(Reading, [Reading(1)]).map(said).collect("out")
    alone = str(explain(program))
    with busy(lambda: logger.info("something")) as problems:
        beside = [str(explain(program)) for _ in range(3)]
    assert problems == []
    assert beside == [alone] * 3
    assert "1 parallel region" in alone


# What is frozen -----------------------------------------------------------------------------------------------------


@pytest.fixture
def frozen() -> Iterator[int]:
    """As a server does, for the processes that it forks."""
    gc.collect()
    gc.freeze()
    yield gc.get_freeze_count()
    gc.unfreeze()


def test_what_was_frozen_is_frozen_again_when_a_program_is_compiled(frozen: int) -> None:
    explain(ab.from_items(Reading, [Reading(1)]).map(said).collect("out"))
    assert gc.get_freeze_count() > 0.9 * frozen
    live_codes()  # by itself
    assert gc.get_freeze_count() > 0.9 * frozen


def test_no_garbage_is_frozen(frozen: int) -> None:
    class Gone:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            gone.append(True)

    gone: list[bool] = []
    Gone()
    explain(ab.from_items(Reading, [Reading(1)]).collect("out"))
    assert gone == [True]


def test_a_process_that_has_frozen_nothing_is_left_so() -> None:
    gc.unfreeze()
    explain(ab.from_items(Reading, [Reading(1)]).collect("out"))
    assert gc.get_freeze_count() == 0


def test_who_was_frozen_holds_what_it_has(frozen: int) -> None:
    owner = Owner()
    holding = [owner.parts]
    gc.freeze()
    assert not is_held_only_by(owner.parts, owner)
    del holding[:]
    assert is_held_only_by(owner.parts, owner)
