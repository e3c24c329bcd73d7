"""What differs from process to process is shared state: the order of sets, hashes, addresses, identities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from anabranch.analysis import Findings, analyze_function, analyze_operator
from anabranch.graph.schema import schema_of


class Item(NamedTuple):
    key: str
    n: int
    words: list[str]
    numbers: list[int]
    values: list[float]


ITEM = schema_of(Item)
STOP = {"a", "the"}
MISSING = object()


def found(fn: Any) -> Findings:
    return analyze_function(fn, input=ITEM, output=ITEM, emits="value")


STEADY: dict[str, Callable[[Item], Any]] = {
    "membership": lambda t: t.key in set(t.words) and t.key not in STOP,
    "length": lambda t: len(set(t.words)) + len({w[0] for w in t.words}),
    "sorted": lambda t: sorted(set(t.words)) + sorted({w.lower() for w in t.words}, reverse=True),
    "sorted with a key that ends ties": lambda t: sorted(set(t.words), key=lambda w: (len(w), w)),
    "smallest": lambda t: min(set(t.words)) + max({w for w in t.words}),
    "any and all": lambda t: any(w in t.key for w in set(t.words)) or all(len(w) > 1 for w in set(t.words)),
    "sum of whole numbers": lambda t: sum(len(w) for w in set(t.words)) + sum(1 for _ in set(t.words)),
    "sets of sets": lambda t: len(set(t.words) | STOP) + len(set(t.words) & {"a"} - STOP),
    "comparison": lambda t: set(t.words) <= STOP or set(t.words) == {"a"},
    "set from a set": lambda t: len({w.lower() for w in set(t.words)}) + len(frozenset(set(t.words))),
    "whole numbers": lambda t: [n for n in set(t.numbers)] + list({n * 2 for n in t.numbers}),
    "floats": lambda t: list(set(t.values)),
    "order of a dict": lambda t: list(dict.fromkeys(t.words)),
    "hash of a number": lambda t: hash(t.n),
    "identity of None": lambda t: t.key is None or t.words is not None,
    "identity of a sentinel": lambda t: (t.key or MISSING) is MISSING,
    "text of a list": lambda t: f"{t.words} {t} {[(1, 2)]}",
}

SALTED: dict[str, Callable[[Item], Any]] = {
    "list": lambda t: list(set(t.words)),
    "comprehension": lambda t: [w for w in set(t.words)],
    "constant set": lambda t: [w for w in STOP],
    "join": lambda t: ",".join(set(t.words)),
    "next": lambda t: next(iter(set(t.words))),
    "pop": lambda t: set(t.words).pop(),
    "star": lambda t: [*set(t.words)],
    "enumerate": lambda t: list(enumerate({"a", t.key})),
    "zip": lambda t: list(zip(set(t.words), t.words, strict=False)),
    "map": lambda t: list(map(str.upper, set(t.words))),
    "dict": lambda t: {w: 1 for w in set(t.words)},
    "ties by a key": lambda t: sorted(set(t.words), key=len),
    "longest": lambda t: max(set(t.words), key=len),
    "sum of floats": lambda t: sum(len(w) / 7 for w in set(t.words)),
    "first of a set inside a length": lambda t: len(list(set(t.words))[0]),
    "union": lambda t: list(set(t.words) | {"x"}),
    "keys and keys": lambda t: list(dict.fromkeys(t.words).keys() & {"a"}),
    "text": lambda t: f"{set(t.words)}",
    "text inside": lambda t: str([{t.key}]),
    "tuples with strings": lambda t: list({(w, 1) for w in t.words}),
    "None and numbers": lambda t: list({None, t.n}),
    "effects inside any": lambda t: any([out.append(w) for w in set(t.words)] for out in [[]]),
    "hash of a string": lambda t: hash(t.key) % 4,
    "hash of a tuple": lambda t: hash((t.key, t.n)),
    "identity of strings": lambda t: t.key is t.words[0],
    "text of a function": lambda t: str(lambda: 1),
    "text of an object": lambda t: repr(object()),
}


@pytest.mark.parametrize("fn", STEADY.values(), ids=STEADY.keys())
def test_what_is_the_same_in_every_process_is_not_suspected(fn: Callable[[Item], Any]) -> None:
    assert found(fn).shared == ()


@pytest.mark.parametrize("fn", SALTED.values(), ids=SALTED.keys())
def test_what_differs_between_processes_is_noticed(fn: Callable[[Item], Any]) -> None:
    assert found(fn).shared


def test_a_loop_over_a_set_of_strings_has_a_hint_to_sort_it() -> None:
    def each_word(t: Item) -> Any:
        for word in set(t.words):
            yield t._replace(key=word)

    [reason] = analyze_function(each_word, input=ITEM, output=ITEM, emits="many").shared
    assert "depends on the order of a set (`set(t.words)`)" in reason.text
    assert reason.hint == "sort it first: sorted(…)"


class OwnNumbers:
    def __init__(self) -> None:
        self.seen: set[int] = set()

    def process(self, t: Item) -> Any:
        self.seen.add(t.n)
        return [t._replace(numbers=list(self.seen))]


class OwnSentinel:
    def __init__(self) -> None:
        self.last: Any = MISSING

    def process(self, t: Item) -> Any:
        if self.last is not MISSING:
            yield t
        self.last = t.n


@pytest.mark.parametrize("cls", [OwnNumbers, OwnSentinel])
def test_what_a_saved_and_restored_state_does_not_keep_is_noticed(cls: type) -> None:
    """A set may come back in another order, and a sentinel as another object."""
    assert analyze_operator(cls, inputs={"process": ITEM}, output=ITEM).shared
