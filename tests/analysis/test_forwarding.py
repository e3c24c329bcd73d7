"""Which output attributes are unchanged input attributes, under which names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from anabranch.analysis import analyze_function, analyze_operator
from anabranch.graph.schema import schema_of


class Inner(NamedTuple):
    a: int
    b: int


class In(NamedTuple):
    key: str
    n: int
    size: int
    price: float
    inner: Inner
    tags: list[int]
    note: str | None


class Out(NamedTuple):
    who: str
    n: int
    price: float = 1.0


class Wide(NamedTuple):
    n: float
    note: str | None
    must: str


IN, OUT, WIDE = schema_of(In), schema_of(Out), schema_of(Wide)


def to(name: str, item: Any) -> Any:
    """Stands for `ab.to`."""


to.__module__ = "anabranch.operators.emissions"


def forwards(fn: Any, output: Any = OUT, emits: Any = "one") -> dict[str, str]:
    return dict(analyze_function(fn, input=IN, output=output, emits=emits).forwards)


def both(t: In) -> Out:
    if t.n:
        return Out(t.key, t.n, 0.0)
    return Out(t.key, 0, 0.0)


def through_variables(t: In) -> Out:
    key, n = t.key, t.n
    again = key
    return Out(again, n)


def through_loop_variable(t: In) -> Out:
    key = ""
    for key in [t.key]:  # noqa: B007
        pass
    return Out(key, t.n)


def assigned_twice(t: In) -> Out:
    key = t.key
    if t.n:
        key = key.upper()
    return Out(key, t.n)


def assigned_twice_the_same(t: In) -> Out:
    if t.n:
        key = t.key
    else:
        key = t[0]
    return Out(key, t.n)


def helper(t: In) -> Out:
    return make(t.key, t.n)


def make(who: str, n: int) -> Out:
    return Out(who, n, 2.0)


def swapped(t: In) -> In:
    return t._replace(n=t.size, size=t.n)


def changed_list(t: In) -> In:
    t.tags.append(1)
    return t


def changed_inner_list(t: In) -> In:
    tags = t.tags
    tags.sort()
    return t._replace(n=1)


def nothing_on_some_paths(t: In) -> Out | None:
    return Out(t.key, t.n) if t.n else None


CASES: dict[str, tuple[Callable[[In], Any], dict[str, str]]] = {
    "by position": (lambda t: Out(t.key, t.n, t.price), {"who": "key", "n": "n", "price": "price"}),
    "by keyword": (lambda t: Out(n=t.size, who=t.key), {"who": "key", "n": "size"}),
    "defaults are not forwarded": (lambda t: Out(t.key, 1), {"who": "key"}),
    "computed is not forwarded": (lambda t: Out(t.key.lower(), t.n + 1, +t.price), {}),
    "conditional, agreeing": (lambda t: Out(t.key if t.n else t.key, t.n), {"who": "key", "n": "n"}),
    "conditional, not agreeing": (lambda t: Out(t.key, t.n if t.n else t.size), {"who": "key"}),
    "or": (lambda t: Out(t.key or "none", t.n), {"n": "n"}),
    "by index": (lambda t: Out(t[0], t[1]), {"who": "key", "n": "n"}),
    "by negative index": (lambda t: Out(t[0], t[-5]), {"who": "key", "n": "size"}),
    "by computed index": (lambda t: Out(t[0], t[t.n]), {"who": "key"}),
    "spread": (lambda t: Out(*t[:2]), {"who": "key", "n": "n"}),
    "spread of a list": (lambda t: Out(*[t.key, t.n]), {}),
    "getattr": (lambda t: Out(getattr(t, "key"), t.n), {"who": "key", "n": "n"}),
    "walrus": (lambda t: Out(k := t.key, len(k)), {"who": "key"}),
    "largest of two": (lambda t: Out(t.key, max(t.n, t.size)), {"who": "key"}),
    "both branches": (both, {"who": "key"}),
    "through variables": (through_variables, {"who": "key", "n": "n"}),
    "through a loop's variable": (through_loop_variable, {"n": "n"}),
    "assigned twice": (assigned_twice, {"n": "n"}),
    "assigned twice, the same": (assigned_twice_the_same, {"who": "key", "n": "n"}),
    "through a helper": (helper, {"who": "key", "n": "n"}),
    "None on some paths": (nothing_on_some_paths, {"who": "key", "n": "n"}),
    "made from an iterable": (lambda t: Out._make((t.key, t.n, 0.5)), {"who": "key", "n": "n"}),
}


@pytest.mark.parametrize(("fn", "expected"), CASES.values(), ids=CASES.keys())
def test_attributes_are_followed_to_where_they_came_from(fn: Callable[[In], Any], expected: dict[str, str]) -> None:
    assert forwards(fn) == expected


def test_the_tuple_itself_forwards_everything() -> None:
    everything = {name: name for name in IN.names}
    assert forwards(lambda t: t, IN) == everything
    assert forwards(lambda t: In(*t), IN) == everything
    assert forwards(lambda t: t.n > 1, IN, "predicate") == everything


def test_replace_forwards_what_it_does_not_replace() -> None:
    rest = {name: name for name in IN.names if name not in ("n", "size")}
    assert forwards(lambda t: t._replace(n=1, size=2), IN) == rest
    assert forwards(swapped, IN) == rest | {"n": "size", "size": "n"}


def test_a_list_changed_in_place_is_not_forwarded() -> None:
    assert "tags" not in forwards(changed_list, IN)
    assert "tags" not in forwards(changed_inner_list, IN)
    assert forwards(changed_list, IN)["key"] == "key"


def test_a_conversion_on_emission_is_not_forwarding() -> None:
    """An int that becomes a float loses digits, so two keys may become one."""
    assert forwards(lambda t: Wide(t.n, t.key, t.key), WIDE) == {"note": "key", "must": "key"}


def test_none_cannot_be_emitted_where_it_is_not_allowed() -> None:
    assert forwards(lambda t: Wide(0.0, t.note, t.note), WIDE) == {"note": "note", "must": "note"}


def test_every_emission_of_a_flat_map_must_agree() -> None:
    assert forwards(lambda t: [Out(t.key, i) for i in t.tags], emits="many") == {"who": "key"}
    assert forwards(lambda t: [Out(t.key, 1), Out("x", t.n)], emits="many") == {}


def test_named_outputs_say_nothing_about_the_default_one() -> None:
    def routed(t: In) -> Iterator[Any]:
        yield to("late", Out("x", 0))
        yield Out(t.key, t.n)

    assert forwards(routed, emits="many") == {"who": "key", "n": "n"}


# Operators --------------------------------------------------------------------------------------------------------


class SinceLast:
    def __init__(self) -> None:
        self.last: In | None = None

    def process(self, t: In) -> Iterator[Out]:
        last, self.last = self.last, t
        if last is not None:
            yield Out(last.key, t.n)

    def finish(self) -> Iterator[Out]:
        if self.last is not None:
            yield Out(self.last.key, 0)


class InBuffer:
    def __init__(self) -> None:
        self.buffer: list[In] = []

    def process(self, t: In) -> None:
        local = [t]
        self.buffer += local

    def punctuation(self) -> Iterator[Out]:
        for t in sorted(self.buffer, key=lambda t: t.n):
            yield Out(t.key, t.n)
        self.buffer = []


class KeyKept:
    def __init__(self) -> None:
        self.key = ""
        self.total = 0

    def process(self, t: In) -> None:
        self.key = t.key
        self.total += t.n

    def finish(self) -> Iterator[Out]:
        yield Out(self.key, self.total)


class KeyKeptTooLate(KeyKept):
    """What comes before may fail, and then, where errors are skipped, the end sees what __init__ assigned."""

    def process(self, t: In) -> None:
        self.total += int(t.key)
        self.key = t.key


class KeyKeptAndDropped(KeyKept):
    def punctuation(self) -> None:
        self.key = "none"


class Closure:
    def __init__(self) -> None:
        self.make: Callable[[], Out] = lambda: Out("", 0)

    def process(self, t: In) -> Iterator[Out]:
        yield self.make()
        self.make = lambda key=t.key: Out(key, t.n)


class Mixed:
    def process(self, t: In) -> Iterator[Out]:
        yield Out(t.key, t.n)

    def finish(self) -> Iterator[Out]:
        yield Out("end", 0)


def operator(cls: type) -> tuple[dict[str, str], dict[str, str]]:
    findings = analyze_operator(cls, inputs={"process": IN}, output=OUT)
    return dict(findings.forwards), dict(findings.forwards_if_key)


def test_an_earlier_tuple_has_the_same_key_and_only_that() -> None:
    assert operator(SinceLast) == ({}, {"who": "key"})
    assert operator(InBuffer) == ({}, {"who": "key", "n": "n"})


def test_a_key_kept_by_itself_is_the_key_of_every_emission() -> None:
    assert operator(KeyKept) == ({}, {"who": "key"})


def test_a_key_that_may_not_have_been_kept_is_not_forwarded() -> None:
    assert operator(KeyKeptTooLate) == ({}, {})
    assert operator(KeyKeptAndDropped) == ({}, {})


def test_what_a_kept_function_remembers_is_of_an_earlier_tuple() -> None:
    assert operator(Closure) == ({}, {})


def test_what_the_end_emits_counts_as_well() -> None:
    assert operator(Mixed) == ({}, {})


def test_several_inputs_must_agree_on_names_and_types() -> None:
    class Other(NamedTuple):
        key: str
        n: float
        price: float

    class TwoInputs:
        def left(self, t: In) -> Iterator[Out]:
            yield Out(t.key, 1, t.price)

        def right(self, t: Other) -> Iterator[Out]:
            yield Out(t.key, 2, t.price)

    inputs = {"left": IN, "right": schema_of(Other, {"Other": Other})}
    findings = analyze_operator(TwoInputs, inputs=inputs, output=OUT)
    assert findings.forwards == (("price", "price"), ("who", "key"))
