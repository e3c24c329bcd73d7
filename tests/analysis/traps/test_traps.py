"""The analysis calls no operator safe that runs a special method with an effect, whatever construct calls it."""

from __future__ import annotations

import collections
from collections.abc import Callable, Collection
from dataclasses import replace

import pytest

from anabranch.analysis import special_methods

from .ask import called_safe
from .bodies import METHODS
from .generate import Trap, generated, make_traps
from .names import NOT_LOOKED_UP, special_method_names
from .probe import observed_pairs

SAMPLE = 300
# The analysis does not follow them at all: whatever contains one is stateful, which the traps of these kinds show.
NOT_FOLLOWED = ("AsyncFor", "AsyncFunctionDef", "AsyncWith", "Await", "ClassDef")
AT_LEAST = 5000
_A_TEXT = "a class is refused that computes it: it has to be a text"
_NAMES = "a class is refused that computes it: it has to be names, which are read when the class is made"
# Asked for by name of whatever is there, but what is asked cannot run code of the user's.
WITHOUT_A_TRAP = {
    "ClassDef __qualname__": _A_TEXT,
    "builtins.classmethod __qualname__": _A_TEXT,
    "builtins.staticmethod __qualname__": _A_TEXT,
    "contextlib.asynccontextmanager __qualname__": _A_TEXT,
    "contextlib.contextmanager __qualname__": _A_TEXT,
    "dataclasses.dataclass __qualname__": _A_TEXT,
    "enum.Enum __qualname__": _A_TEXT,
    "functools.cache __qualname__": _A_TEXT,
    "functools.lru_cache __qualname__": _A_TEXT,
    "functools.singledispatch __qualname__": _A_TEXT,
    "functools.singledispatchmethod __qualname__": _A_TEXT,
    "functools.update_wrapper __qualname__": _A_TEXT,
    "functools.wraps __qualname__": _A_TEXT,
    "pickle.dumps __qualname__": _A_TEXT,
    "pickle.dumps __slots__": _NAMES,
    "types.coroutine __qualname__": _A_TEXT,
    "typing.no_type_check_decorator __qualname__": _A_TEXT,
}


def test_the_probe_has_every_special_method_that_the_interpreter_has() -> None:
    assert special_method_names() <= METHODS.keys() | NOT_LOOKED_UP.keys()
    assert not METHODS.keys() & NOT_LOOKED_UP.keys()


@pytest.mark.parametrize(
    "pair",
    [
        ("Subscript", "__missing__"),
        ("Subscript", "__class_getitem__"),
        ("MatchValue", "__eq__"),
        ("MatchClass", "__instancecheck__"),
        ("MatchClass", "__class__"),
        ("AugAssign", "__add__"),
        ("Starred", "__length_hint__"),
        ("YieldFrom", "__next__"),
        ("Delete", "__del__"),
    ],
)
def test_the_probe_sees_what_is_known_to_be_called(pair: tuple[str, str]) -> None:
    assert pair in observed_pairs(is_sample=True)


def test_the_table_has_what_the_syntax_and_some_of_the_library_call() -> None:
    assert _missing_in_the_table(observed_pairs(is_sample=True)) == []


@pytest.mark.slow
def test_the_table_has_every_special_method_that_a_construct_was_seen_to_call() -> None:
    pairs = generated().pairs
    assert len(pairs) > 3000
    assert _missing_in_the_table(pairs) == []


def _missing_in_the_table(pairs: Collection[tuple[str, str]]) -> list[tuple[str, str]]:
    """Pairs that the table has not, and whose special method does not make a class unknown, either."""
    return [
        (kind, method)
        for kind, method in sorted(pairs)
        if not (
            special_methods.is_refused(method)
            or special_methods.is_never_reached(method)
            or special_methods.is_a_fact(method)  # which is refused where a class computes it
            or kind in NOT_FOLLOWED
            or method in special_methods.may_call(kind)
        )
    ]


def test_no_trap_of_a_sample_is_called_safe() -> None:
    traps = make_traps(sample=SAMPLE)
    assert len(traps) == SAMPLE
    _expect_none(called_safe(traps))


@pytest.mark.slow
def test_no_trap_is_called_safe(
    capsys: pytest.CaptureFixture[str], record_property: Callable[[str, object], None]
) -> None:
    traps = make_traps()
    unsafe = called_safe(traps)
    figures = f"traps: {len(unsafe)} of {len(traps)} called safe; {len({trap.pair for trap in traps})} pairs"
    record_property("traps", figures)
    with capsys.disabled():
        print(f"\n{figures}")
    assert len(traps) >= AT_LEAST
    _expect_none(unsafe)


@pytest.mark.slow
def test_every_pair_has_a_trap_that_fires_but_those_that_no_class_can_have(capsys: pytest.CaptureFixture[str]) -> None:
    made = generated()
    without = made.pairs - {trap.pair for trap in made.traps}
    with capsys.disabled():
        print(f"\ntraps left out: {dict(collections.Counter(one.reason for one in made.left_out))}")
        print(f"pairs without a trap: {len(without)} of {len(made.pairs)}")
    assert {f"{kind} {method}" for kind, method in without} == WITHOUT_A_TRAP.keys()


@pytest.mark.parametrize("method", sorted({pair.split()[1] for pair in WITHOUT_A_TRAP}))
def test_no_class_can_compute_what_has_no_trap(method: str) -> None:
    with pytest.raises(TypeError):
        type("K", (), {method: property(lambda self: "x")})


def test_many_traps_would_be_safe_without_their_effects() -> None:
    """Else the effects would not be what the analysis sees."""
    twins = [replace(trap, source=trap.twin) for trap in make_traps(sample=100)]
    assert len(called_safe(twins)) > 0.3 * len(twins)


def test_traps_are_spread_over_places_and_effects() -> None:
    traps = make_traps(sample=SAMPLE)
    assert len({trap.place for trap in traps}) == 11
    assert len({trap.effect for trap in traps}) == 8
    assert len({trap.base for trap in traps}) > 8
    assert make_traps(sample=SAMPLE) == traps


def _expect_none(unsafe: list[Trap]) -> None:
    first = "\n\n".join(f"# {trap.pair} ({trap.place})\n{trap.source}" for trap in unsafe[:5])
    pairs = sorted({trap.pair for trap in unsafe})
    assert not unsafe, f"{len(unsafe)} traps of {len(pairs)} pairs were called safe: {pairs[:40]}\n{first}"
