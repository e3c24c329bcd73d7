"""A signal ends a run between two tuples; whoever is inside guards its own work."""

from __future__ import annotations

import signal

import pytest

from anabranch.dataflow.tail.interrupts import Shield, shielded

signals = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)


def work(shield: Shield, number: int, done: list[int]) -> None:
    with shield:
        signal.raise_signal(number)
        done.append(1)


@signals
def test_work_in_a_shield_is_finished_before_a_signal_takes_effect(number: int) -> None:
    done: list[int] = []
    with shielded() as shield, pytest.raises(KeyboardInterrupt):
        work(shield, number, done)
    assert done == [1]


@signals
def test_so_it_is_in_a_shield_inside_another_one(number: int) -> None:
    done: list[int] = []
    with shielded(), shielded() as inner, pytest.raises(KeyboardInterrupt):
        work(inner, number, done)
    assert done == [1]


@signals
def test_handlers_of_others_stay_and_come_back(number: int) -> None:
    usual = signal.getsignal(number)
    with shielded():
        outer = signal.getsignal(number)
        with shielded():
            assert signal.getsignal(number) not in (usual, outer)
        assert signal.getsignal(number) == outer
    assert signal.getsignal(number) is usual
    signal.signal(number, signal.SIG_IGN)
    try:
        with shielded():
            assert signal.getsignal(number) is signal.SIG_IGN
    finally:
        signal.signal(number, usual)
