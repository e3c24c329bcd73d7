"""The tuple itself is changed: its lists belong to everyone who was given it."""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterator

from .registry import entry
from .tuples import Click, Count, Order, Tagged, Word

ORDER_BUT_ITEMS = {"id": "id", "customer": "customer", "total": "total", "note": "note"}


@entry(kind="map", input=Order, state="stateful", forwards=ORDER_BUT_ITEMS, trap=True, breaks={"items": "items"},
       why="appends to the list of its argument")  # fmt: skip
def with_gift(o: Order) -> Order:
    o.items.append("gift")
    return o


@entry(kind="filter", input=Order, state="stateful", forwards=ORDER_BUT_ITEMS, trap=True,
       why="a predicate that pops")  # fmt: skip
def has_more(o: Order) -> bool:
    return bool(o.items) and o.items.pop() != "belt"


@entry(kind="map", input=Click, output=Tagged, state="stateful", forwards={"user": "user"}, trap=True,
       why="sorts the argument's list under another name")  # fmt: skip
def first_tag(c: Click) -> Tagged:
    tags = c.tags
    tags.sort()
    return Tagged(c.user, tags[0] if tags else "-")


@entry(kind="map", input=Order, output=Count, state="stateful", forwards={"key": "customer"}, trap=True,
       why="heapify rearranges the argument's list")  # fmt: skip
def smallest_item(o: Order) -> Count:
    heapq.heapify(o.items)
    return Count(o.customer, len(o.items[0]) if o.items else 0)


@entry(kind="map", input=Order, output=Count, state="stateful", forwards={"key": "customer"}, trap=True,
       why="a seeded shuffle of the argument's list")  # fmt: skip
def shuffled(o: Order) -> Count:
    random.Random(1).shuffle(o.items)
    return Count(o.customer, len(o.items))


@entry(kind="map", input=Order, output=Word, state="stateful", forwards={"n": "id"}, trap=True,
       why="the list is reached by unpacking the tuple")  # fmt: skip
def last_item(o: Order) -> Word:
    number, _, items, *_ = o
    del items[:-1]
    return Word("".join(items), number)


@entry(kind="map", input=Order, output=Word, state="stateful", forwards={"n": "id"}, trap=True,
       why="the list is reached by position, and assigned to by slice")  # fmt: skip
def doubled(o: Order) -> Word:
    o[2][:] = [item * 2 for item in o[2]]
    return Word("".join(o.items), o.id)


@entry(kind="flat_map", input=Order, output=Word, state="stateful", selectivity="1:[0,inf)", forwards={"n": "id"},
       trap=True, why="a loop that eats the argument's list")  # fmt: skip
def eaten(o: Order) -> Iterator[Word]:
    while o.items:
        yield Word(o.items.pop(0), o.id)


@entry(kind="process", input=Order, output=Count, keyed=("customer",), state="stateful", selectivity="1:1",
       forwards={"key": "customer"}, trap=True, why="keeps the first argument's list and lets it grow")  # fmt: skip
class KeepsAndChanges:
    def __init__(self) -> None:
        self.items: list[str] | None = None

    def process(self, o: Order) -> Iterator[Count]:
        if self.items is None:
            self.items = o.items
        else:
            self.items.extend(o.items)
        yield Count(o.customer, len(self.items))


@entry(kind="map", input=Order, state="stateful", forwards=ORDER_BUT_ITEMS, trap=True, breaks={"items": "items"},
       why="_replace shares the list with the original")  # fmt: skip
def noted(o: Order) -> Order:
    copy = o._replace(note="checked") if o.note is None else o
    copy.items.insert(0, "checked")
    return copy._replace(note=o.note)
