"""The row "values": "attributes are values: a list is copied when it is emitted. An emitted `int` beyond 64 bits is an
error; intermediates and state are exact. Float keys: -0.0 is 0.0, NaN equals itself".
"""

from __future__ import annotations

import enum
import math
import struct
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any, NamedTuple

import numpy as np
import pytest

import anabranch as ab


class Numbers(NamedTuple):
    values: list[int]


class Inner(NamedTuple):
    names: list[str]


class Nested(NamedTuple):
    inner: Inner
    inners: list[Inner]
    rows: list[list[int]]
    maybe: list[int] | None


class Number(NamedTuple):
    n: int


class Keyed(NamedTuple):
    key: float
    n: int


def collected(stream: ab.Stream[Any]) -> list[Any]:
    return ab.run(stream.collect("out")).items("out")


# Lists -------------------------------------------------------------------------------------------------------------


def test_a_list_is_copied_when_it_is_emitted() -> None:
    class Reuse:
        """Emits one and the same list again and again."""

        def __init__(self) -> None:
            self.values: list[int] = []

        def process(self, number: Number) -> Iterator[Numbers]:
            self.values.append(number.n)
            yield Numbers(self.values)
            self.values.append(-number.n)

    source = ab.from_items(Number, [Number(1), Number(2)])
    assert collected(source.process(Reuse)) == [Numbers([1]), Numbers([1, -1, 2])]


def test_consumers_cannot_see_what_another_does_to_a_list() -> None:
    def spoil(item: Numbers) -> Numbers:
        item.values.append(99)
        return item

    source = ab.from_items(Numbers, [Numbers([1])])
    spoiled, clean = source.map(spoil), source.map(lambda item: item, out=Numbers)
    result = ab.run(spoiled.collect("spoiled"), clean.collect("clean"))
    assert result.items("spoiled") == [Numbers([1, 99])]
    assert result.items("clean") == [Numbers([1])]


def test_what_is_changed_downstream_does_not_reach_the_operator_that_emitted_it() -> None:
    class Keep:
        def __init__(self) -> None:
            self.kept: list[Numbers] = []

        def process(self, item: Numbers) -> Numbers:
            self.kept.append(item)
            return item

        def finish(self) -> Iterator[Numbers]:
            yield from self.kept

    def clear(item: Numbers) -> Numbers:
        item.values.clear()
        return Numbers([7])

    seen = []
    kept = ab.from_items(Numbers, [Numbers([1]), Numbers([2])]).process(Keep)
    sink = kept.for_each(lambda item: seen.append(list(item.values)))
    ab.run(kept.map(clear).collect("out"), sink)
    assert seen == [[1], [2], [1], [2]]


def test_a_program_changes_neither_what_it_was_given_nor_the_next_run() -> None:
    given = [Numbers([1])]

    def spoil(item: Numbers) -> Numbers:
        item.values.append(99)
        return item

    sink = ab.from_items(Numbers, given).map(spoil).collect("out")
    assert ab.run(sink).items("out") == [Numbers([1, 99])]
    assert ab.run(sink).items("out") == [Numbers([1, 99])]
    assert given == [Numbers([1])]


def test_lists_inside_tuples_inside_lists_are_copied_too() -> None:
    held = Nested(Inner(["a"]), [Inner(["b"])], [[1]], [2])

    def again(item: Number) -> Iterator[Nested]:
        yield held
        held.inner.names.append("changed")
        held.inners[0].names.append("changed")
        held.rows[0].append(-1)
        assert held.maybe is not None
        held.maybe.append(-1)

    out = collected(ab.from_items(Number, [Number(1)]).flat_map(again))
    assert out == [Nested(Inner(["a"]), [Inner(["b"])], [[1]], [2])]


def test_an_aggregate_that_changes_a_tuple_changes_its_own_copy() -> None:
    class Spoiling:
        """An aggregate that changes the tuples it is given."""

        def add(self, item: Numbers) -> None:
            item.values.append(99)

        def result(self) -> int:
            return 0

    class Out(NamedTuple):
        spoiled: int
        lists: list[list[int]]

    source = ab.from_items(Numbers, [Numbers([1]), Numbers([2])])
    windows = source.window(ab.tumbling(count=2)).aggregate(Out, spoiled=Spoiling, lists=ab.collect("values"))
    beside = source.collect("beside")
    result = ab.run(windows.collect("out"), beside)
    assert result.items("beside") == [Numbers([1]), Numbers([2])]


# Integers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2**63 - 1, -(2**63)])
def test_sixty_four_bits_can_be_emitted(n: int) -> None:
    assert collected(ab.from_items(Number, [Number(0)]).map(lambda _: Number(n), out=Number)) == [Number(n)]


@pytest.mark.parametrize("n", [2**63, -(2**63) - 1, 10**40])
def test_an_int_beyond_64_bits_is_an_error_when_it_is_emitted(n: int) -> None:
    stream = ab.from_items(Number, [Number(0)]).map(lambda _: Number(n), out=Number).named("big")
    with pytest.raises(ab.OperatorError, match=f"'big' .*attribute 'n' of Number: {n} does not fit into 64 bits"):
        ab.run(stream.collect("out"))


def test_intermediates_and_state_are_exact() -> None:
    class Factorials:
        def __init__(self) -> None:
            self.product = 1

        def process(self, number: Number) -> Number:
            self.product *= number.n
            return Number(self.product % 1_000_003)

    product, expected = 1, []
    for n in range(1, 60):
        product *= n
        expected.append(Number(product % 1_000_003))
    assert product > 2**200
    assert collected(ab.from_items(Number, [Number(n) for n in range(1, 60)]).process(Factorials)) == expected


def test_a_sum_may_leave_64_bits_on_the_way_but_not_as_a_result() -> None:
    class Sum(NamedTuple):
        total: int

    def total(*numbers: int) -> list[Sum]:
        source = ab.from_items(Number, [Number(n) for n in numbers])
        return collected(source.window(ab.tumbling(count=10)).aggregate(Sum, total=ab.sum_("n")))

    assert total(2**63 - 1, 10, -20) == [Sum(2**63 - 11)]
    with pytest.raises(ab.OperatorError, match=f"{2**63} does not fit into 64 bits"):
        total(2**63 - 1, 1)


def test_a_mean_of_ints_is_rounded_once() -> None:
    class Mean(NamedTuple):
        mean: float

    source = ab.from_items(Number, [Number(2**62 + 1), Number(2**62 + 3), Number(-(2**62))])
    out = collected(source.window(ab.tumbling(count=3)).aggregate(Mean, mean=ab.mean("n")))
    assert out == [Mean((2**62 + 4) / 3)]


# Keys --------------------------------------------------------------------------------------------------------------

ANOTHER_NAN = struct.unpack("d", struct.pack("Q", 0x7FF8_0000_0000_0001))[0]
FLOAT_KEYS = [0.0, -0.0, math.nan, float("nan"), ANOTHER_NAN, -math.nan, 1.0]
SAME = [0, 0, 1, 1, 1, 1, 2]  # which of them are the same key


def floats() -> ab.Stream[Keyed]:
    return ab.from_items(Keyed, [Keyed(key, n) for n, key in enumerate(FLOAT_KEYS)])


class First:
    """Emits the first tuple of its key only."""

    def __init__(self) -> None:
        self.is_first = True

    def process(self, item: Keyed) -> Keyed | None:
        was_first, self.is_first = self.is_first, False
        return item if was_first else None


FIRSTS = [SAME.index(which) for which in range(3)]


def test_minus_zero_is_zero_and_nan_is_itself_as_the_key_of_an_operator() -> None:
    assert [item.n for item in collected(floats().process(First, key="key"))] == FIRSTS
    assert [item.n for item in collected(floats().process(First, key=["key"]))] == FIRSTS


def test_minus_zero_is_zero_and_nan_is_itself_for_distinct() -> None:
    assert [item.n for item in collected(floats().distinct("key"))] == FIRSTS


def test_minus_zero_is_zero_and_nan_is_itself_for_groups_and_keyed_windows() -> None:
    class Members(NamedTuple):
        members: list[int]

    expected = [[n for n, same in enumerate(SAME) if same == which] for which in range(3)]
    groups = floats().window(ab.tumbling(count=100)).aggregate(Members, group_by="key", members=ab.collect("n"))
    keyed = floats().window(ab.tumbling(count=100), key="key").aggregate(Members, members=ab.collect("n"))
    assert [out.members for out in collected(groups)] == expected
    assert [out.members for out in collected(keyed)] == expected


def test_minus_zero_is_zero_and_nan_is_itself_where_values_are_counted_and_joined() -> None:
    class Different(NamedTuple):
        different: int

    class Met(NamedTuple):
        one: int
        other: int

    def met(one: Keyed, other: Keyed) -> Met:
        return Met(one.n, other.n)

    counted = floats().window(ab.tumbling(count=100)).aggregate(Different, different=ab.count_distinct("key"))
    assert collected(counted) == [Different(3)]
    left = ab.from_items(Keyed, [Keyed(-0.0, 1), Keyed(math.nan, 2), Keyed(3.0, 3)])
    right = ab.from_items(Keyed, [Keyed(0.0, 10), Keyed(-ANOTHER_NAN, 20), Keyed(4.0, 30)])
    every = ab.sliding(count=100)
    assert collected(left.join(right, left=every, right=every, on="key", out=met)) == [Met(1, 10), Met(2, 20)]


def test_keys_of_several_attributes_and_nested_keys_follow_the_same_rule() -> None:
    class Place(NamedTuple):
        x: float
        y: float | None

    class At(NamedTuple):
        place: Place
        name: str
        n: int

    found = [Place(0.0, None), Place(-0.0, None), Place(math.nan, 1.0), Place(float("nan"), 1.0), Place(0.0, 0.0)]
    source = ab.from_items(At, [At(place, "a", n) for n, place in enumerate(found)])
    assert [item.n for item in collected(source.distinct("place"))] == [0, 2, 4]
    assert [item.n for item in collected(source.distinct(["name", "place"]))] == [0, 2, 4]


def test_the_key_is_compared_so_but_the_tuple_keeps_its_own_value() -> None:
    (first,) = [item for item in collected(floats().process(First, key="key")) if item.n == 0]
    assert math.copysign(1, first.key) == 1
    source = ab.from_items(Keyed, [Keyed(-0.0, 0)])
    (out,) = collected(source.process(First, key="key"))
    assert math.copysign(1, out.key) == -1


def test_equal_moments_are_equal_keys_whatever_their_zone() -> None:
    class Event(NamedTuple):
        at: datetime
        n: int

    noon = datetime(2024, 7, 1, 12, tzinfo=UTC)
    same = noon.astimezone(timezone(timedelta(hours=2)))
    out = collected(ab.from_items(Event, [Event(same, 1), Event(noon, 2)]).distinct("at"))
    assert out == [Event(noon, 1)]
    assert out[0].at.tzinfo is UTC


# Conversions -------------------------------------------------------------------------------------------------------


class Everything(NamedTuple):
    whole: int
    real: float
    flag: bool
    text: str
    raw: bytes
    at: datetime
    day: date
    maybe: int | None
    reals: list[float]


GOOD = Everything(1, 1.5, True, "a", b"a", datetime(2024, 1, 1), date(2024, 1, 1), None, [1.5])


def emitted(**changes: Any) -> Everything:
    changed = GOOD._replace(**changes)
    (out,) = collected(ab.from_items(Number, [Number(0)]).map(lambda _: changed, out=Everything))
    return out


class Colour(enum.IntEnum):
    RED = 1


class Loud(str):
    __slots__ = ()


@pytest.mark.parametrize(
    ("attribute", "value", "becomes"),
    [
        ("real", 3, 3.0),
        ("real", True, 1.0),
        ("real", np.float32(0.5), 0.5),
        ("real", np.float64(0.1), 0.1),
        ("reals", [1, 2.5, True], [1.0, 2.5, 1.0]),
        ("whole", True, 1),
        ("whole", np.int64(7), 7),
        ("whole", Colour.RED, 1),
        ("flag", np.bool_(True), True),
        ("text", Loud("a"), "a"),
        ("text", "\N{GRINNING FACE}", "\N{GRINNING FACE}"),
        ("raw", bytearray(b"x"), b"x"),
        ("maybe", np.int8(-1), -1),
        ("at", datetime(2024, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))), datetime(2024, 1, 1, tzinfo=UTC)),
    ],
)
def test_what_means_the_same_becomes_the_attribute_s_own_type(attribute: str, value: Any, becomes: Any) -> None:
    got = getattr(emitted(**{attribute: value}), attribute)
    assert got == becomes
    assert type(got) is type(becomes)
    if isinstance(becomes, list):
        assert [type(one) for one in got] == [type(one) for one in becomes]


@pytest.mark.parametrize(
    ("attribute", "value", "problem"),
    [
        ("whole", 1.0, "int expected, got 1.0"),
        ("whole", "1", "int expected, got '1'"),
        ("whole", None, "int expected, got None"),
        ("real", "1.5", "float expected"),
        ("real", 10**400, "too large for a float"),
        ("real", 1j, "float expected"),
        ("flag", 1, "bool expected"),
        ("text", b"a", "str expected"),
        ("text", "\ud800", "lone surrogate"),
        ("raw", "a", "bytes expected"),
        ("at", date(2024, 1, 1), "datetime expected"),
        ("day", datetime(2024, 1, 1), "date expected"),
        ("maybe", "x", "int expected"),
        ("reals", (1.0,), "list expected"),
        ("reals", [None], "float expected"),
    ],
)
def test_what_does_not_fit_is_the_error_of_the_operator_that_emitted_it(
    attribute: str, value: Any, problem: str
) -> None:
    with pytest.raises(ab.OperatorError, match=f"attribute '{attribute}' of Everything: .*{problem}"):
        emitted(**{attribute: value})


def test_a_tuple_of_another_type_is_an_error_even_if_it_looks_the_same() -> None:
    class Other(NamedTuple):
        n: int

    stream = ab.from_items(Number, [Number(0)]).map(lambda _: Other(1), out=Number)
    with pytest.raises(ab.OperatorError, match=r"Number expected, got Other\(n=1\)"):
        ab.run(stream.collect("out"))


def test_floats_keep_their_bits() -> None:
    class Real(NamedTuple):
        x: float

    values = [-0.0, math.inf, -math.inf, 5e-324, 1.7976931348623157e308, 0.1, math.nan]
    out = collected(ab.from_items(Real, [Real(x) for x in values]).map(lambda r: r, out=Real))
    assert [struct.pack("d", real.x) for real in out] == [struct.pack("d", x) for x in values]
