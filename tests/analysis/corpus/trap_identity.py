"""What differs from process to process: salted hashes, addresses, the order of sets."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from .registry import entry
from .tuples import Click, Count, Numbered, Order, Quote, Tagged, Text, Trade


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True, shows=False,
       why="hash() of a string differs from process to process")  # fmt: skip
def hashed(t: Trade) -> Count:
    return Count(t.symbol, hash(t.symbol) % 1_000)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True, shows=False,
       why="hash() of a tuple with a string in it")  # fmt: skip
def hashed_tuple(t: Trade) -> Count:
    return Count(t.symbol, (t.symbol, t.size).__hash__() % 1_000)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True, shows=False,
       why="id()")  # fmt: skip
def identity(t: Trade) -> Count:
    return Count(t.symbol, id(t) // 16 % 1_000)


@entry(kind="map", input=Click, output=Tagged, state="stateful", forwards={"user": "user"}, trap=True, shows=False,
       why="the order of a set of strings")  # fmt: skip
def first_of_set(c: Click) -> Tagged:
    return Tagged(c.user, next(iter({*c.tags, c.url, "x", "y"})))


@entry(kind="map", input=Click, output=Tagged, state="stateful", forwards={"user": "user"}, trap=True, shows=False,
       why="a set of strings joined")  # fmt: skip
def joined_set(c: Click) -> Tagged:
    unique = set(c.tags) | {"p", "q", "r"}
    return Tagged(c.user, "+".join(unique))


@entry(kind="flat_map", input=Click, output=Tagged, state="stateful", selectivity="1:[0,inf)",
       forwards={"user": "user"}, trap=True, shows=False, why="emissions in the order of a set")  # fmt: skip
def unique_tags(c: Click) -> Iterator[Tagged]:
    for tag in {*c.tags, "p", "q", "r"}:
        yield Tagged(c.user, tag)


@entry(
    kind="map",
    input=Order,
    output=Text,
    state="stateful",
    trap=True,
    shows=False,
    why="pop from a local set of strings",
)
def any_item(o: Order) -> Text:
    items = set(o.items) | {"p", "q", "r"}
    return Text(items.pop())


class Plain:
    pass


PLAIN = Plain()


@entry(kind="map", input=Order, output=Text, state="stateful", trap=True, shows=False,
       why="the default repr tells an address")  # fmt: skip
def represented(o: Order) -> Text:
    return Text(f"{o.id} {Plain()!r}")


@entry(
    kind="map", input=Order, output=Text, state="stateful", trap=True, why="str() of a module's object is its address"
)
def described(o: Order) -> Text:
    return Text(str(PLAIN))


@entry(kind="map", input=Quote, output=Numbered, state="stateful", trap=True, shows=False,
       why="reference counts")  # fmt: skip
def referenced(q: Quote) -> Numbered:
    return Numbered(sys.getrefcount(q.symbol), 0)


@entry(kind="map", input=Order, output=Text, state="stateful", trap=True, shows=False,
       why="the repr of a function tells an address")  # fmt: skip
def represented_function(o: Order) -> Text:
    return Text(f"{o.id} {(lambda: o)}")
