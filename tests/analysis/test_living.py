"""Whatever functions there are is known, although those that were there before are not looked at again."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable
from types import CodeType
from typing import Any

import pytest

from anabranch.analysis import living
from anabranch.analysis.live_code import live_codes

MAKING = "def f(): pass\ndef g(): yield"


def made(names: dict[str, Any]) -> Any:
    exec(MAKING, names)
    del names["g"]
    return names.pop("f")


def running(names: dict[str, Any]) -> Any:
    """A generator whose function is gone."""
    exec(MAKING, names)
    del names["f"]
    found = names.pop("g")()
    next(found)
    return found


def codes_in(names: dict[str, Any]) -> list[CodeType]:
    found = live_codes().get(id(names))
    return list(found.codes.values()) if found else []


def become_older() -> None:
    for generation in (0, 1):
        gc.collect(generation)


def exchange(things: list[Any]) -> None:
    for thing in things:
        if hasattr(thing, "__code__"):
            thing.__code__ = made({}).__code__


ACTIONS: list[Callable[[list[Any], dict[str, Any]], object]] = [
    lambda things, names: things.append(made(names)),
    lambda things, names: things.append(running(names)),
    lambda things, names: things.append([made(names) for _ in range(30)]),
    lambda things, names: things.append([[number] for number in range(9_000)]),
    lambda things, names: things.pop(random.randrange(len(things))) if things else None,
    lambda things, names: things.clear(),
    lambda things, names: exchange(things),
    lambda things, names: become_older(),
    lambda things, names: gc.collect(),
    lambda things, names: gc.freeze(),
    lambda things, names: (gc.freeze(), gc.unfreeze()),
    lambda things, names: live_codes(),
]


@pytest.mark.parametrize("seed", range(3))
def test_it_is_what_is_found_among_all_objects(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random.seed(seed)
    names: dict[str, Any] = {"__name__": "made"}
    things: list[Any] = []
    for _ in range(20):
        random.choice(ACTIONS)(things, names)
        found = sorted(map(id, codes_in(names)))
        with monkeypatch.context() as patched:
            patched.setattr(living, "_seen", living._Seen())
            assert sorted(map(id, codes_in(names))) == found
    gc.unfreeze()


@pytest.mark.skipif(not living._KEEPS_ORDER, reason="here all objects are looked at")
def test_only_what_is_new_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    class Kinds:
        asked = 0

        def __contains__(self, kind: int) -> bool:
            self.asked += 1
            return kind in with_code

    with_code, kinds = living._WITH_CODE, Kinds()
    gc.disable()
    try:
        kept = [[number] for number in range(300_000)], made({})
        become_older()
        live_codes()
        monkeypatch.setattr(living, "_WITH_CODE", kinds)
        names: dict[str, Any] = {}
        new = made(names), [[number] for number in range(1_000)]
        become_older()
        assert codes_in(names) == [new[0].__code__]
    finally:
        gc.enable()
    assert 1_000 < kinds.asked < 100_000
    assert len(kept[0]) == 300_000


def test_what_is_gone_is_not_kept() -> None:
    names: dict[str, Any] = {}
    things = [made(names), running(names)]
    assert len(codes_in(names)) == 2
    things.clear()
    assert codes_in(names) == []


def test_a_generator_that_has_come_to_its_end_has_no_code_to_run() -> None:
    names: dict[str, Any] = {}
    generator = running(names)
    assert len(codes_in(names)) == 1
    assert list(generator) == []
    assert codes_in(names) == []


@pytest.mark.parametrize("bring_out_of_order", [gc.collect, lambda: (gc.freeze(), gc.unfreeze())])
def test_the_old_ones_are_looked_at_again_when_they_are_in_another_order(
    bring_out_of_order: Callable[[], object],
) -> None:
    gc.disable()
    try:
        kept = [made({})]
        become_older()
        live_codes()
        names: dict[str, Any] = {}
        new = made(names)
        bring_out_of_order()
        become_older()
        assert living._end_of_known(living._moment()) is None
        assert codes_in(names) == [new.__code__]
    finally:
        gc.enable()
    assert len(kept) == 1
