"""Attributes that leave as they came, however they are carried."""

from __future__ import annotations

from collections.abc import Iterator

from .registry import entry
from .tuples import Amount, Call, Click, Contact, Count, Order, Quote, Reading, Tagged, Trade, Travel, Visit

copied = entry("copied", kind="map", input=Trade, forwards="all", why="T(*t) is t")(lambda t: Trade(*t))
made = entry("made", kind="map", input=Trade, output=Trade, forwards="all", why="T._make(t) is t")(
    lambda t: Trade._make(t)
)


@entry(kind="map", input=Quote, output=Trade, forwards={"symbol": "symbol", "price": "ask", "ts": "ts"},
       why="renamed by keyword")  # fmt: skip
def as_buy(q: Quote) -> Trade:
    return Trade(symbol=q.symbol, price=q.ask, size=1, ts=q.ts)


@entry(kind="map", input=Call, output=Contact, forwards={"phone": "phone", "area": "area"}, why="through locals")
def contact(c: Call) -> Contact:
    number = c.phone
    where = c.area
    return Contact(number, where)


@entry(kind="map", input=Call, output=Travel, forwards={"phone": "phone", "ts": "ts"}, why="through unpacking")
def flat_speed(c: Call) -> Travel:
    phone, _, x, y, ts = c
    return Travel(phone, x * x + y * y, ts)


@entry(kind="map", input=Trade, forwards={"symbol": "symbol", "size": "size", "ts": "ts"},
       why="one path keeps the price, one does not")  # fmt: skip
def cap(t: Trade) -> Trade:
    return t if t.price < 50 else t._replace(price=50.0)


@entry(kind="flat_map", input=Reading, selectivity="1:[0,inf)", forwards="all", why="the tuple itself, twice")
def doubled(r: Reading) -> Iterator[Reading]:
    yield r
    yield r


@entry(kind="map", input=Trade, output=Trade, forwards={"symbol": "symbol", "price": "price", "size": "size"},
       why="_replace in two steps through a local")  # fmt: skip
def shifted(t: Trade) -> Trade:
    later = t._replace(ts=t.ts + 1)
    latest = later._replace(ts=later.ts + 1)
    return latest


@entry(
    kind="map",
    input=Trade,
    forwards={"symbol": "symbol", "size": "size", "ts": "ts"},
    why="T(**t._asdict()) with one change",
)
def through_dict(t: Trade) -> Trade:
    values = t._asdict()
    values["price"] = t.price / 2
    return Trade(**values)


@entry(kind="map", input=Trade, output=Amount, forwards={"symbol": "symbol", "value": "price"}, why="by position")
def first_two(t: Trade) -> Amount:
    return Amount(t[0], t[1])


def _amount(symbol: str, value: float) -> Amount:
    return Amount(symbol, value)


@entry(kind="map", input=Trade, output=Amount, forwards={"symbol": "symbol"}, why="built by a helper")
def built_by_helper(t: Trade) -> Amount:
    return _amount(t.symbol, t.price * 2)


@entry(kind="process", input=Call, output=Travel, keyed=("phone",), state="partitioned", selectivity="1:[0,1]",
       forwards={"phone": "phone", "ts": "ts"}, why="the last tuple's key is this tuple's key")  # fmt: skip
class SinceLast:
    def __init__(self) -> None:
        self.last: Call | None = None

    def process(self, c: Call) -> Iterator[Travel]:
        last, self.last = self.last, c
        if last is not None:
            yield Travel(last.phone, c.ts - last.ts, c.ts)


@entry(kind="process", input=Click, output=Visit, keyed=("user",), state="partitioned", selectivity="1:[0,1]",
       forwards={"user": "user"}, at_end=True, why="the key is kept and emitted at the end")  # fmt: skip
class WholeVisit:
    def __init__(self) -> None:
        self.user = 0
        self.times: list[float] = []

    def process(self, c: Click) -> None:
        self.user = c.user
        self.times.append(c.ts)

    def finish(self) -> Iterator[Visit]:
        yield Visit(self.user, min(self.times), max(self.times), len(self.times))


@entry(kind="map", input=Order, output=Count, forwards={"key": "customer"}, why="a walrus keeps the value")
def count_items(o: Order) -> Count:
    if (who := o.customer) and o.items:
        return Count(who, len(o.items))
    return Count(who, 0)


@entry(kind="flat_map", input=Click, output=Tagged, selectivity="1:[0,inf)", forwards={"user": "user"},
       why="forwarded from inside a comprehension whose variable has another name")  # fmt: skip
def shouted(click: Click) -> list[Tagged]:
    user = click.user
    return [Tagged(user=user, tag=tag.upper()) for tag in click.tags]
