"""Attributes that look as if they left as they came."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

from .registry import entry
from .tuples import Amount, Call, Contact, Count, Fix, Order, Point, Quote, Trade, Travel

HOME = Call(1, "home", 0.0, 0.0, 0.0)


@entry(kind="map", input=Call, forwards={"area": "area", "x": "x", "y": "y", "ts": "ts"}, trap=True,
       breaks={"phone": "phone"}, why="_replace of the key")  # fmt: skip
def anonymised(c: Call) -> Call:
    return c._replace(phone=c.phone % 100)


@entry(kind="map", input=Quote, forwards={"symbol": "symbol", "bid": "ask", "ask": "bid", "ts": "ts"}, trap=True,
       breaks={"bid": "bid", "ask": "ask"}, why="swapped positions")  # fmt: skip
def crossed(q: Quote) -> Quote:
    return Quote(q.symbol, q.ask, q.bid, q.ts)


@entry(kind="map", input=Quote, forwards={"symbol": "symbol", "bid": "ask", "ask": "bid", "ts": "ts"}, trap=True,
       breaks={"bid": "bid", "ask": "ask"}, why="unpacked in the wrong order")  # fmt: skip
def unpacked_wrongly(q: Quote) -> Quote:
    symbol, ask, bid, ts = q
    return Quote(symbol, bid, ask, ts) if symbol else Quote(symbol=symbol, bid=bid, ask=ask, ts=ts)


@entry(kind="map", input=Quote, forwards={"symbol": "symbol", "bid": "ask", "ask": "bid", "ts": "ts"}, trap=True,
       breaks={"bid": "bid", "ask": "ask"}, why="positional patterns with swapped names")  # fmt: skip
def matched_wrongly(q: Quote) -> Quote:
    match q:
        case Quote(symbol, ask, bid, ts):
            return Quote(symbol=symbol, bid=bid, ask=ask, ts=ts)


@entry(kind="map", input=Quote, forwards={"symbol": "symbol", "bid": "ask", "ask": "bid", "ts": "ts"}, trap=True,
       breaks={"bid": "bid", "ask": "ask"}, why="a slice backwards")  # fmt: skip
def sliced_backwards(q: Quote) -> Quote:
    return Quote(q[0], *q[2:0:-1], ts=q.ts)


@entry(kind="map", input=Trade, output=Amount, forwards={"symbol": "symbol"}, trap=True, breaks={"value": "size"},
       why="an int in a float attribute is converted when it is emitted")  # fmt: skip
def widened(t: Trade) -> Amount:
    return Amount(t.symbol, t.size)


@entry(kind="map", input=Trade, output=Amount, forwards={"symbol": "symbol"}, trap=True, breaks={"value": "size"},
       why="+ 0.0 is not nothing")  # fmt: skip
def plus_zero(t: Trade) -> Amount:
    return Amount(t.symbol, t.size + 0.0)


@entry(kind="map", input=Call, output=Contact, forwards={"phone": "phone"}, trap=True, breaks={"area": "area"},
       why="str(int(x)) loses leading zeros")  # fmt: skip
def converted(c: Call) -> Contact:
    return Contact(c.phone, str(int(c.area)))


@entry(kind="map", input=Order, output=Count, trap=True, breaks={"key": "customer"}, why="strip() of a name")
def stripped(o: Order) -> Count:
    customer = o.customer.strip()
    return Count(customer, len(o.items))


@entry(kind="map", input=Order, forwards={"id": "id", "customer": "customer", "items": "items", "total": "total"},
       trap=True, breaks={"note": "note"}, why="`or` with a default")  # fmt: skip
def with_default(o: Order) -> Order:
    return Order(o.id, o.customer, o.items, o.total, o.note or "none")


def _normalised(c: Call) -> Call:
    return c._replace(phone=c.phone - 4_000_000, area=c.area)


@entry(kind="map", input=Call, output=Contact, forwards={"area": "area"}, trap=True, breaks={"phone": "phone"},
       why="a helper gives back another tuple")  # fmt: skip
def normalised(c: Call) -> Contact:
    c = _normalised(c)
    return Contact(c.phone, c.area)


def _swapped(bid: float, ask: float) -> tuple[float, float]:
    return ask, bid


@entry(kind="map", input=Quote, forwards={"symbol": "symbol", "bid": "ask", "ask": "bid", "ts": "ts"}, trap=True,
       breaks={"bid": "bid"}, why="a helper gives them back the other way round")  # fmt: skip
def swapped_by_helper(q: Quote) -> Quote:
    bid, ask = _swapped(q.bid, q.ask)
    return Quote(q.symbol, bid, ask, q.ts)


class Masked(Contact):
    """The constructor of the output's type changes what it is given."""

    def __new__(cls, phone: int, area: str) -> Masked:
        return super().__new__(cls, phone % 1_000, area)


@entry(kind="map", input=Call, output=Masked, forwards={"area": "area"}, trap=True, breaks={"phone": "phone"},
       why="the constructor changes the number")  # fmt: skip
def masked_by_type(c: Call) -> Masked:
    return Masked(c.phone, c.area)


class Private(Call):
    """Reading the attribute is not reading the value."""

    @property
    def phone(self) -> int:
        return self[0] % 10


@entry(kind="map", input=Private, output=Contact, forwards={"area": "area"}, trap=True, breaks={"phone": "phone"},
       why="a property hides the attribute of the input's type")  # fmt: skip
def masked_by_property(c: Private) -> Contact:
    return Contact(c.phone, c.area)


@entry(kind="map", input=Trade, forwards={"price": "price", "size": "size", "ts": "ts"}, trap=True,
       breaks={"symbol": "symbol"}, why="a later key in the dict wins")  # fmt: skip
def overridden(t: Trade) -> Trade:
    return Trade(**{**t._asdict(), "symbol": t.symbol.lower()})


@entry(kind="map", input=Trade, forwards={"size": "size", "ts": "ts", "price": "price"}, trap=True,
       breaks={"symbol": "symbol"}, why="_replace with names that are put together")  # fmt: skip
def replaced_by_name(t: Trade) -> Trade:
    changes = {"sym" + "bol": "X"}
    return t._replace(**changes)


@entry(kind="map", input=Trade, forwards={"price": "price", "size": "size", "ts": "ts"}, trap=True,
       breaks={"symbol": "symbol"}, why="the dict is changed in a loop over names")  # fmt: skip
def lowered(t: Trade) -> Trade:
    values = t._asdict()
    for name, value in list(values.items()):
        if isinstance(value, str):
            values[name] = value.lower()
    return Trade(**values)


@entry(kind="map", input=Quote, output=Amount, forwards={"symbol": "symbol"}, trap=True, breaks={"value": "bid"},
       why="getattr with a name that depends")  # fmt: skip
def by_side(q: Quote) -> Amount:
    return Amount(q.symbol, getattr(q, "bid" if q.bid > 30 else "ask"))


@entry(kind="map", input=Call, output=Travel, forwards={"phone": "phone", "speed": "x"}, trap=True, breaks={"ts": "ts"},
       why="the attribute of a changed copy")  # fmt: skip
def of_the_copy(c: Call) -> Travel:
    other = c._replace(ts=c.ts - 60)
    return Travel(other.phone, other.x, other.ts)


@entry(kind="flat_map", input=Call, output=Contact, selectivity="1:[0,inf)", forwards={"area": "area"}, trap=True,
       breaks={"phone": "phone"}, why="one of two emissions has another number")  # fmt: skip
def one_of_two(c: Call) -> Iterator[Contact]:
    yield Contact(c.phone, c.area)
    if c.y > 0:
        yield Contact(0, c.area)


def from_other(other: Call, c: Call) -> Contact:
    return Contact(other.phone, c.area)


bound_first = entry("bound_first", kind="map", input=Call, output=Contact, forwards={"area": "area"}, trap=True,
                    breaks={"phone": "phone"}, why="a partial binds the first parameter: the tuple is the second")(
    functools.partial(from_other, HOME)
)  # fmt: skip


def masked(function: Callable[[Call], Contact]) -> Callable[[Call], Contact]:
    @functools.wraps(function)
    def wrapper(c: Call) -> Contact:
        return function(c)._replace(phone=0)

    return wrapper


@entry(kind="map", input=Call, output=Contact, forwards={"area": "area"}, trap=True, breaks={"phone": "phone"},
       why="the decorator changes the result")  # fmt: skip
@masked
def masked_by_decorator(c: Call) -> Contact:
    return Contact(c.phone, c.area)


def shifted(function: Callable[[Call], Contact]) -> Callable[[Call], Contact]:
    def wrapper(c: Call) -> Contact:
        return function(c._replace(phone=c.phone + 1))

    return functools.update_wrapper(wrapper, function)


@entry(kind="map", input=Call, output=Contact, forwards={"area": "area"}, trap=True, breaks={"phone": "phone"},
       why="the decorator changes the argument")  # fmt: skip
@shifted
def shifted_by_decorator(c: Call) -> Contact:
    return Contact(c.phone, c.area)


@entry(kind="map", input=Fix, forwards={"device": "device", "ts": "ts"}, trap=True, breaks={"where": "where"},
       why="a nested tuple is built anew, turned around")  # fmt: skip
def turned(f: Fix) -> Fix:
    return Fix(f.device, Point(f.where.lon, f.where.lat), f.ts)
