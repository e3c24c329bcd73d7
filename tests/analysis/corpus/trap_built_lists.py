"""Lists that are built and changed before they are returned: what is emitted is what they hold in the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from .registry import entry
from .tuples import Call, Click, Contact, Order, Quote, Reading, Tagged, Trade, Word

MANY = "1:[0,inf)"
FEW = "1:[0,1]"


@entry(kind="flat_map", input=Reading, selectivity=MANY, forwards="all", trap=True,
       why="appended to on one path")  # fmt: skip
def appended(r: Reading) -> list[Reading]:
    out = [r]
    if not r.ok:
        out.append(r)
    return out


@entry(kind="flat_map", input=Reading, selectivity=FEW, forwards="all", trap=True, why="emptied on one path")
def emptied(r: Reading) -> list[Reading]:
    out = [r]
    if not r.ok:
        out.clear()
    return out


@entry(kind="flat_map", input=Reading, selectivity=FEW, forwards="all", trap=True, why="an item is deleted on one path")
def deleted(r: Reading) -> list[Reading]:
    out = [r]
    if not r.ok:
        del out[0]
    return out


@entry(kind="flat_map", input=Click, selectivity=MANY, forwards="all", trap=True, why="*= on the list")
def multiplied(c: Click) -> list[Click]:
    out = [c]
    out *= len(c.tags)
    return out


@entry(kind="flat_map", input=Quote, selectivity=MANY, forwards="all", trap=True, why="appended to under another name")
def appended_by_alias(q: Quote) -> list[Quote]:
    out = [q]
    other = out
    other.append(q)
    return out


def _again(items: list[Quote]) -> None:
    items.append(items[-1])


@entry(kind="flat_map", input=Quote, selectivity=MANY, forwards="all", trap=True, why="appended to by a helper")
def appended_by_helper(q: Quote) -> list[Quote]:
    out = [q]
    _again(out)
    return out


@entry(kind="flat_map", input=Quote, selectivity=MANY, forwards="all", trap=True,
       why="appended to by an inner function")  # fmt: skip
def appended_by_inner(q: Quote) -> list[Quote]:
    out = [q]

    def again() -> None:
        out.append(q)

    again()
    return out


@entry(kind="flat_map", input=Order, output=Word, selectivity=FEW, forwards={"n": "id"}, trap=True,
       why="one or none, built by append")  # fmt: skip
def one_or_none(o: Order) -> list[Word]:
    out: list[Word] = []
    if len(o.items) > 2:
        out.append(Word(o.items[0], o.id))
    return out


@entry(kind="flat_map", input=Click, output=Tagged, selectivity=FEW, forwards={"user": "user"}, trap=True,
       why="`and` gives back the empty list on its left")  # fmt: skip
def by_and(c: Click) -> list[Tagged]:
    return c.tags and [Tagged(c.user, c.tags[0])]


@entry(kind="flat_map", input=Reading, selectivity=FEW, forwards="all", trap=True, why="filter() over a list of one")
def by_filter(r: Reading) -> Iterable[Reading]:
    return filter(lambda one: one.ok, [r])


@entry(kind="flat_map", input=Order, output=Word, selectivity=MANY, forwards={"n": "id"}, trap=True,
       why="map() over the items")  # fmt: skip
def by_map(o: Order) -> Iterable[Word]:
    return map(lambda item: Word(item, o.id), o.items)


@entry(kind="flat_map", input=Reading, selectivity=FEW, forwards="all", trap=True, why="finally returns something else")
def overruled(r: Reading) -> list[Reading]:
    try:
        return [r]
    finally:
        return []  # noqa: B012, SIM107


@entry(kind="map", input=Call, output=Contact, forwards={"area": "area"}, trap=True, breaks={"phone": "phone"},
       why="finally returns another tuple")  # fmt: skip
def overruled_tuple(c: Call) -> Contact:
    try:
        return Contact(c.phone, c.area)
    finally:
        return Contact(0, c.area)  # noqa: B012, SIM107


@entry(kind="flat_map", input=Call, output=Contact, selectivity="1:1", forwards={"area": "area"}, trap=True,
       breaks={"phone": "phone"}, why="the item is replaced in the list")  # fmt: skip
def item_replaced(c: Call) -> list[Contact]:
    out = [Contact(c.phone, c.area)]
    out[0] = out[0]._replace(phone=0)
    return out


@entry(kind="map", input=Trade, forwards={"price": "price", "size": "size", "ts": "ts"}, trap=True,
       breaks={"symbol": "symbol"}, why="the tuple as a list, an item of it changed")  # fmt: skip
def as_list(t: Trade) -> Trade:
    fields = list(t)
    fields[0] = "X"
    return Trade(*fields)


@entry(kind="map", input=Quote, forwards={"symbol": "symbol", "ts": "ts", "bid": "ask", "ask": "bid"}, trap=True,
       breaks={"bid": "bid", "ask": "ask"}, why="a part of the list is turned around")  # fmt: skip
def list_reversed(q: Quote) -> Quote:
    fields = [q.bid, q.ask]
    fields.reverse()
    return Quote(q.symbol, *fields, q.ts)


@entry(kind="map", input=Trade, forwards={"price": "price", "size": "size", "ts": "ts"}, trap=True,
       breaks={"symbol": "symbol"}, why="the dict of the tuple is changed under another name")  # fmt: skip
def dict_alias(t: Trade) -> Trade:
    fields = t._asdict()
    other = fields
    other["symbol"] = "X"
    return Trade(**fields)


@entry(kind="flat_map", input=Click, output=Tagged, selectivity=MANY, trap=True, breaks={"user": "user"},
       why="the second round of the loop has another user")  # fmt: skip
def changed_in_loop(c: Click) -> Iterator[Tagged]:
    user = c.user
    for tag in c.tags:
        yield Tagged(user, tag)
        user = -1


@entry(kind="flat_map", input=Trade, selectivity=MANY, forwards={"symbol": "symbol", "price": "price", "size": "size"},
       trap=True, breaks={"ts": "ts"}, why="the parameter is replaced at the end of each round")  # fmt: skip
def parameter_in_loop(t: Trade) -> Iterator[Trade]:
    for _ in range(2):
        yield t
        t = t._replace(ts=t.ts + 1)


def pair_of(function: Callable[[Quote], Quote]) -> Callable[[Quote], list[Quote]]:
    return lambda q: [q, function(q)]


widened = entry("widened", kind="flat_map", input=Quote, selectivity=MANY,
                forwards={"symbol": "symbol", "ts": "ts", "bid": "bid"}, trap=True, breaks={"ask": "ask"},
                why="one of the two in the list is changed by a function in a closure")(
    pair_of(lambda q: q._replace(ask=q.ask + 1))
)  # fmt: skip


@entry(kind="process", input=Quote, selectivity=MANY, forwards="all", trap=True,
       why="process is a lambda in the class")  # fmt: skip
class LambdaProcess:
    process = lambda self, q: (q, q)


@entry(kind="process", input=Order, output=Word, selectivity=MANY, forwards={"n": "id"}, trap=True,
       why="a helper method yields for each item")  # fmt: skip
class HelperYields:
    def process(self, o: Order) -> Iterator[Word]:
        yield from self._emit(o)

    def _emit(self, o: Order) -> Iterator[Word]:
        for item in o.items:
            yield Word(item, o.id)
