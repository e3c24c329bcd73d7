"""User code that is written into a loop means what it means in a function: values, failures, and their lines."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.codegen.python import python_form
from anabranch.run import as_program
from tests.codegen.by_batches import by_element, by_oracle


class Item(NamedTuple):
    n: int
    x: float
    name: str = "a"
    maybe: int | None = None

    @property
    def double(self) -> int:
        return self.n * 2

    def plus(self, more: int) -> Item:
        return Item(self.n + more, self.x)


ITEMS = [Item(3, 0.5), Item(2, -1.5, "b", 4), Item(-1, math.inf, "c"), Item(1, 2.0, "", 0), Item(0, 0.0, "d", 1)]
LIMITS = {"a": 1, "b": 2}


def share(part: float, whole: float) -> float:
    """Called from other functions."""
    if whole == 0:
        raise ValueError("nothing to share")
    return (
        part
        / whole
    )  # fmt: skip


def fact(n: int) -> int:
    return 1 if n < 2 else n * fact(n - 1)


def over_several_lines(item: Item) -> Item:
    return Item(
        item.n,
        item.x
        + 10
        // item.n,
    )  # fmt: skip


def in_a_chain_of_methods(item: Item) -> Item:
    text = (
        item.name
        .upper()
        .removeprefix(
            item.maybe  # type: ignore[arg-type]  # on purpose: None and 4 are no text
        )
    )  # fmt: skip
    return Item(len(text), 0.0)


def in_a_function_it_calls(item: Item) -> Item:
    return Item(item.n, share(item.x, item.n))


def in_a_function_called_last(item: Item) -> Item:
    return Item(10 // item.n, share(1.0, item.n))


def in_an_order_that_shows(item: Item) -> Item:
    return Item(item.n, 10 // item.n + share(1.0, item.n))


def by_recursion(item: Item) -> Item:
    return Item(fact(item.n), 0.0)


def by_a_lookup(item: Item) -> Item:
    limit = LIMITS[item.name]
    return Item(limit, 0.0)


def with_its_own_tuple_methods(item: Item) -> Item:
    return item.plus(item.double)._replace(x=1)


def that_rebinds_its_parameter(item: Item) -> Item:
    if item.n > 1:
        item = Item(item.n - 1, item.x)
    return item


def with_a_walrus(item: Item) -> Item:
    return Item(half, item.x) if (half := item.n // 2) else item


def with_a_name_assigned_in_one_branch(item: Item) -> Item:
    if item.n > 1:
        found = item.n
    return Item(found, 0.0)


def with_a_comprehension(item: Item) -> Item:
    return Item(sum(n for n in range(item.n)), [item.x][item.n])


def with_a_nested_loop(item: Item) -> Item:
    total = 0
    for one in range(item.n):
        for other in range(one):
            if other == 1:
                break
            total += other * item.n
        else:
            total += 100
    return Item(total, 1 / (total - 100))


def with_an_assertion(item: Item) -> Item:
    assert item.n, f"{item.name} has none"
    return item


def with_a_bool_for_an_int(item: Item) -> Item:
    return Item(item.n > 1, item.n)


def that_is_too_large(item: Item) -> Item:
    return Item(item.n * 2**62, item.x)


def of_another_type(item: Item) -> Item:
    return (item.n, item.x)  # type: ignore[return-value]


def with_a_wrong_attribute(item: Item) -> Item:
    return Item(item.name, item.x) if item.n == 1 else item  # type: ignore[arg-type]


def that_stops_iterating(item: Item) -> Item:
    return next(iter([item] * item.n))


def with_keywords(item: Item) -> Item:
    return Item(x=share(item.x, 2.0), n=share(8, item.n) // 1, maybe=item.maybe)  # type: ignore[arg-type]


def with_too_many_arguments(item: Item) -> Item:
    return Item(1, 2.0, "3", 4, 5)  # type: ignore[call-arg]


def that_replaces_attributes(item: Item) -> Item:
    return item._replace(x=share(item.x, item.n), n=item.n + 1)


def that_replaces_one_by_another_type(item: Item) -> Item:
    return item._replace(x=item.n, maybe=item.n > 1)


def that_replaces_what_is_not_there(item: Item) -> Item:
    return item._replace(n=share(8, item.n), y=1)  # type: ignore[arg-type, call-arg]


def that_replaces_by_a_dict(item: Item) -> Item:
    changed = {"n": item.n + 1}
    return item._replace(**changed)


def that_replaces_in_a_rebound_name(item: Item) -> Item:
    item = item._replace(n=item.n + 1)
    return item._replace(name=item.name + "!", n=item.n * 2)


def with_a_walrus_in_an_argument(item: Item) -> Item:
    n = item.n
    m = n + int(share(8, (n := 2)))
    return Item(n, float(m))


def in_the_order_of_a_dict(item: Item) -> Item:
    return item._replace(n=len({share(1, item.n): share(2, item.n - 1), share(3, item.n - 2): 1}))


MAPS = [
    over_several_lines, in_a_chain_of_methods, in_a_function_it_calls, in_a_function_called_last,
    in_an_order_that_shows, by_recursion,
    by_a_lookup, with_its_own_tuple_methods, that_rebinds_its_parameter, with_a_walrus,
    with_a_name_assigned_in_one_branch,
    with_a_comprehension, with_a_nested_loop, with_an_assertion, with_a_bool_for_an_int, that_is_too_large,
    of_another_type, with_a_wrong_attribute, that_stops_iterating, with_keywords, with_too_many_arguments,
    that_replaces_attributes, that_replaces_one_by_another_type, that_replaces_what_is_not_there,
    that_replaces_by_a_dict, that_replaces_in_a_rebound_name, with_a_walrus_in_an_argument, in_the_order_of_a_dict,
]  # fmt: skip


def assert_same(make: Callable[[Any], Any]) -> None:
    """The same for every beginning of the items, so that no failure hides another."""
    for start in range(len(ITEMS)):
        program = as_program(make(ab.from_items(Item, ITEMS[start:])).collect("out"))
        assert by_element(program, python_form, itertools.repeat(3)) == by_oracle(program)


@pytest.mark.parametrize("function", MAPS)
def test_a_function_of_map(function: Callable[[Item], Item]) -> None:
    assert_same(lambda items: items.map(function))


@pytest.mark.parametrize("function", MAPS)
def test_its_result_where_the_tuple_is_not_needed(function: Callable[[Item], Item]) -> None:
    assert_same(lambda items: items.map(function).filter(lambda item: item.n > 0).map(lambda item: item, out=Item))


def yielding_in_a_loop(item: Item) -> Iterator[Item]:
    for n in range(item.n):
        if n == 2:
            return
        yield Item(n, item.x)
        yield Item(n, 1 / item.x)


def yielding_before_it_fails(item: Item) -> Iterator[Item]:
    yield item
    yield Item(1 // item.n, 0.0)


def yielding_from_others(item: Item) -> Iterator[Item]:
    yield from [item, Item(1 // item.n, 0.0)]
    yield from yielding_in_a_loop(item)


def returning_a_list(item: Item) -> list[Item]:
    return [item, Item(1 // item.n, 0.0)]


def returning_an_int(item: Item) -> Any:
    return item.n if item.n < 1 else None


def catching(item: Item) -> Iterator[Item]:
    try:
        yield Item(1 // item.n, 0.0)
    except ZeroDivisionError:
        yield item


@pytest.mark.parametrize(
    "function",
    [yielding_in_a_loop, yielding_before_it_fails, yielding_from_others, returning_a_list, returning_an_int, catching],
)
def test_a_function_of_flat_map(function: Any) -> None:
    assert_same(lambda items: items.flat_map(function, out=Item))
    assert_same(lambda items: items.flat_map(function, out=Item).filter(lambda item: 1 // (item.n + 1)).map(MAPS[0]))


# Classes ------------------------------------------------------------------------------------------------------------


class Forgets:
    """What was known not to be None may be None again."""

    def __init__(self) -> None:
        self.last: Item | None = None

    def process(self, item: Item) -> Iterator[Item]:
        if self.last is not None:
            yield Item(self.last.n, self.last.x)
            if self.last.n == 2:
                self.last = None
            yield Item(self.last.n, 2.0)
        self.last = item


class LooksAgain:
    """What is known inside an `if` is not known behind it."""

    def __init__(self) -> None:
        self.last: Item | None = None

    def process(self, item: Item) -> Iterator[Item]:
        if self.last is not None:
            yield Item(self.last.n, 1.0)
        if item.n < 3:
            yield Item(self.last.n, 2.0)
        self.last = item


class IsAnObject:
    """It is asked for more than its attributes, so there has to be one."""

    def __init__(self) -> None:
        self.__hidden = 3

    def process(self, item: Item) -> Item:
        self.__hidden -= 1
        return Item(6 // self.__hidden, item.x)

    def finish(self) -> Iterator[Item]:
        yield Item(self.__hidden, 0.0)


class KeepsSeveral:
    def __init__(self) -> None:
        self.count = 0
        self.total = 0.0
        self.__hidden = 1

    def process(self, item: Item) -> Iterator[Item]:
        self.count += 1
        self.total += item.x
        self.__hidden *= 2
        yield Item(self.count, self.total)
        self.count, self.total = self.count + self.__hidden, self.total / item.n


class KeepsOne:
    """Fails after it has emitted, and before."""

    def __init__(self) -> None:
        self.left = 3

    def process(self, item: Item) -> Iterator[Item]:
        self.left -= 1
        yield Item(self.left, 6 / self.left)


class UsesItself:
    def __init__(self) -> None:
        self.n = 0

    def process(self, item: Item) -> Item:
        self.grow(item)
        return Item(self.n, item.x)

    def grow(self, item: Item) -> None:
        self.n += 10 // item.n


class ShadowsItsMethod:
    def __init__(self) -> None:
        self.process = lambda item: Item(99, item.x)  # type: ignore[method-assign]

    def process(self, item: Item) -> Item:
        return item


class FailsToBegin:
    def __init__(self) -> None:
        raise RuntimeError("no")

    def process(self, item: Item) -> Item:
        return item


@pytest.mark.parametrize("key", [None, "n", "maybe", "x", ["name", "x"]])
@pytest.mark.parametrize(
    "cls", [Forgets, LooksAgain, IsAnObject, KeepsSeveral, KeepsOne, UsesItself, ShadowsItsMethod, FailsToBegin]
)
def test_a_class(cls: Any, key: Any) -> None:
    assert_same(lambda items: items.process(cls, key=key, out=Item))


class Sorts:
    """Two inputs and named outputs."""

    def __init__(self) -> None:
        self.most = 0

    def small(self, item: Item) -> Iterator[ab.To]:
        self.most = max(self.most, item.n)
        yield ab.to("low", item)

    def large(self, item: Item) -> Iterator[ab.To]:
        yield ab.to("low" if item.n < self.most else "high", Item(10 // item.n, item.x))


def test_inputs_and_outputs_with_names() -> None:
    def make(items: Any) -> Any:
        connected = ab.connect(
            Sorts,
            small=items,
            large=items.map(lambda item: item, out=Item),
            outputs={"low": Item, "high": Item},
            key="name",
        )
        return connected.outputs.low.union(connected.outputs.high.map(MAPS[0]))

    assert_same(make)


class Remembers:
    def __init__(self) -> None:
        self.last: Item | None = None

    def process(self, item: Item) -> Iterator[Item]:
        last = self.last
        if last is not None and ((last := item if item.n > 2 else None) is None or True) and last.n > 0:
            yield item
        self.last = item


def test_what_was_not_none_may_be_none_after_a_walrus() -> None:
    assert_same(lambda items: items.process(Remembers))
