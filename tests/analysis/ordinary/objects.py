"""Small classes of the user's own, with the special methods that make them pleasant to use."""

from __future__ import annotations

from collections.abc import Iterator
from functools import total_ordering

from .records import Click, Count, Flag, Line, Number, Order, Reading, Text, Trade

OPERATORS = """vector_sum version_of bag_of contains_range polynomial_at fraction_like Playlist matrix_product
    row_of is_inside hashed_colours chained_text Accumulating reversed_items dates_between temperature_compare
    sparse_dot counted_views bit_set money_format callable_rule"""


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x: float, y: float) -> None:
        self.x, self.y = x, y

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.x + other.x, self.y + other.y)

    def __radd__(self, other: int) -> Vector:
        return self if other == 0 else NotImplemented

    def __rmul__(self, factor: float) -> Vector:
        return Vector(factor * self.x, factor * self.y)

    def __matmul__(self, other: Vector) -> float:
        return self.x * other.x + self.y * other.y

    def __iter__(self) -> Iterator[float]:
        yield self.x
        yield self.y

    def __repr__(self) -> str:
        return f"Vector({self.x:.2f}, {self.y:.2f})"


def vector_sum(trade: Trade) -> Text:
    total = sum([Vector(trade.price, 1.0), 2.0 * Vector(1.0, trade.price)])
    x, y = total
    return Text(trade.symbol, f"{total!r} {total @ total:.1f} {x - y:.2f}")


@total_ordering
class Version:
    def __init__(self, text: str) -> None:
        self.parts = tuple(int(part) for part in text.split(".") if part.isdigit())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self.parts == other.parts

    def __lt__(self, other: Version) -> bool:
        return self.parts < other.parts

    def __hash__(self) -> int:
        return hash(self.parts)

    def __str__(self) -> str:
        return ".".join(map(str, self.parts))


NEWEST = Version("3.12")


def version_of(trade: Trade) -> Text:
    version = max(Version(str(trade.price)), Version("10.5"))
    return Text(trade.symbol, f"{version}{'*' if version >= NEWEST else ''}")


class Bag:
    def __init__(self, items: list[str]) -> None:
        self._counts: dict[str, int] = {}
        for item in items:
            self[item] = self[item] + 1

    def __getitem__(self, item: str) -> int:
        return self._counts.get(item, 0)

    def __setitem__(self, item: str, n: int) -> None:
        self._counts[item] = n

    def __delitem__(self, item: str) -> None:
        del self._counts[item]

    def __contains__(self, item: object) -> bool:
        return item in self._counts

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._counts))

    def __len__(self) -> int:
        return sum(self._counts.values())


def bag_of(order: Order) -> Text:
    bag = Bag(order.items)
    if "nut" in bag:
        del bag["nut"]
    return Text(order.customer, f"{len(bag)} {list(bag)} {bag['gear']}")


class Range:
    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high

    def __contains__(self, value: float) -> bool:
        return self.low <= value < self.high

    def __and__(self, other: Range) -> Range:
        return Range(max(self.low, other.low), min(self.high, other.high))

    def __bool__(self) -> bool:
        return self.low < self.high


WARM, DAY = Range(15.0, 30.0), Range(10.0, 25.0)


def contains_range(reading: Reading) -> Flag:
    both = WARM & DAY
    return Flag(reading.sensor, bool(both) and reading.celsius in both)


class Polynomial:
    def __init__(self, *coefficients: float) -> None:
        self.coefficients = coefficients

    def __call__(self, x: float) -> float:
        result = 0.0
        for coefficient in self.coefficients:
            result = result * x + coefficient
        return result

    def __neg__(self) -> Polynomial:
        return Polynomial(*(-c for c in self.coefficients))


CURVE = Polynomial(0.1, -2.0, 3.0)


def polynomial_at(trade: Trade) -> Number:
    return Number(trade.symbol, CURVE(trade.price) + (-CURVE)(1.0))


class Ratio:
    def __init__(self, top: int, bottom: int) -> None:
        self.top, self.bottom = top, bottom

    def __float__(self) -> float:
        return self.top / self.bottom

    def __round__(self, digits: int = 0) -> float:
        return round(float(self), digits)

    def __abs__(self) -> Ratio:
        return Ratio(abs(self.top), abs(self.bottom))

    def __format__(self, spec: str) -> str:
        return format(float(self), spec or ".3f")

    def __int__(self) -> int:
        return self.top // self.bottom


def fraction_like(trade: Trade) -> Text:
    ratio = abs(Ratio(-trade.size, 7))
    return Text(trade.symbol, f"{ratio:.2f} {round(ratio, 1)} {int(ratio)} {ratio}")


class Songs:
    def __init__(self) -> None:
        self._songs: list[str] = []

    def __iadd__(self, song: str) -> Songs:
        self._songs.append(song)
        return self

    def __getitem__(self, at: int) -> str:
        return self._songs[at]

    def __len__(self) -> int:
        return len(self._songs)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._songs)


class Playlist:
    def __init__(self) -> None:
        self.songs = Songs()

    def process(self, line: Line) -> Iterator[Text]:
        self.songs += line.text[:5]
        yield Text(line.source, f"{self.songs[-1]}/{len(self.songs)}")


class Matrix:
    def __init__(self, rows: list[list[float]]) -> None:
        self.rows = rows

    def __matmul__(self, other: Matrix) -> Matrix:
        columns = list(zip(*other.rows, strict=True))
        return Matrix([[sum(a * b for a, b in zip(row, c, strict=True)) for c in columns] for row in self.rows])

    def __getitem__(self, at: tuple[int, int]) -> float:
        row, column = at
        return self.rows[row][column]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Matrix) and self.rows == other.rows

    __hash__ = None  # type: ignore[assignment]


def matrix_product(trade: Trade) -> Number:
    a = Matrix([[1.0, trade.price], [0.0, 1.0]])
    return Number(trade.symbol, (a @ a)[0, 1] if a != Matrix([]) else 0.0)


class Row:
    def __init__(self, **values: float) -> None:
        self.values = values

    def __getitem__(self, name: str) -> float:
        return self.values[name]

    def __or__(self, other: Row) -> Row:
        return Row(**{**self.values, **other.values})

    def __len__(self) -> int:
        return len(self.values)


def row_of(trade: Trade) -> Number:
    row = Row(price=trade.price) | Row(size=float(trade.size), fee=1.0)
    return Number(trade.symbol, row["price"] + row["fee"] * len(row))


class Box:
    def __init__(self, *edges: float) -> None:
        self.left, self.right = edges

    def __contains__(self, value: float) -> bool:
        return self.left <= value <= self.right


def is_inside(reading: Reading) -> bool:
    return reading.celsius in Box(0.0, 25.0)


class Colour:
    def __init__(self, name: str) -> None:
        self.name = name.lower()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Colour) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __lt__(self, other: Colour) -> bool:
        return self.name < other.name


def hashed_colours(order: Order) -> Text:
    colours = {Colour(item) for item in order.items} | {Colour("RED"), Colour("red")}
    return Text(order.customer, ",".join(colour.name for colour in sorted(colours)))


class Builder:
    def __init__(self) -> None:
        self._parts: list[str] = []

    def add(self, text: str) -> Builder:
        self._parts.append(text)
        return self

    def __str__(self) -> str:
        return " ".join(self._parts)


def chained_text(click: Click) -> Text:
    builder = Builder().add(click.user).add("saw")
    for tag in click.tags:
        builder.add(tag)
    return Text(click.user, str(builder))


class Total:
    def __init__(self) -> None:
        self.value = 0.0
        self.n = 0

    def __lshift__(self, value: float) -> Total:
        self.value += value
        self.n += 1
        return self

    @property
    def mean(self) -> float:
        return self.value / max(self.n, 1)


class Accumulating:
    def __init__(self) -> None:
        self.total = Total()

    def process(self, trade: Trade) -> Iterator[Number]:
        self.total << trade.price << trade.price / 2
        yield Number(trade.symbol, self.total.mean)


def reversed_items(order: Order) -> Text:
    songs = Songs()
    for item in order.items:
        songs += item
    return Text(order.customer, "<".join(reversed(songs)))


class Days:
    def __init__(self, first: int, last: int) -> None:
        self.at, self.last = first, last

    def __iter__(self) -> Days:
        return self

    def __next__(self) -> int:
        if self.at > self.last:
            raise StopIteration
        self.at += 1
        return self.at - 1


def dates_between(order: Order) -> Count:
    return Count(order.customer, sum(day for day in Days(order.placed.day, 31)))


class Degrees:
    def __init__(self, value: float) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Degrees):
            return NotImplemented
        return abs(self.value - other.value) < 0.05

    def __ge__(self, other: Degrees) -> bool:
        return self.value >= other.value


def temperature_compare(reading: Reading) -> Flag:
    mine, limit = Degrees(reading.celsius), Degrees(20.0)
    return Flag(reading.sensor, mine == limit or mine >= limit)


class Sparse:
    def __init__(self, values: dict[str, float]) -> None:
        self.values = values

    def __mul__(self, other: Sparse) -> float:
        return sum(value * other.values.get(name, 0.0) for name, value in self.values.items())


PROFILE = Sparse({"sale": 1.0, "news": 0.5})


def sparse_dot(click: Click) -> Number:
    return Number(click.user, Sparse(dict.fromkeys(click.tags, 2.0)) * PROFILE)


class Views:
    def __init__(self, urls: list[str]) -> None:
        self.urls = urls

    def __len__(self) -> int:
        return len(self.urls)

    def __getitem__(self, at: int) -> str:
        return self.urls[at]


def counted_views(click: Click) -> Text:
    return Text(click.user, "|".join(view.upper() for view in Views(click.tags)))


class BitSet:
    def __init__(self, bits: int = 0) -> None:
        self.bits = bits

    def __ior__(self, at: int) -> BitSet:
        self.bits |= 1 << at
        return self

    def __invert__(self) -> BitSet:
        return BitSet(~self.bits & 0xFF)

    def __index__(self) -> int:
        return self.bits


def bit_set(order: Order) -> Text:
    bits = BitSet()
    for item in order.items:
        bits |= len(item)
    return Text(order.customer, bin(~bits))


class Euro:
    def __init__(self, cents: int) -> None:
        self.cents = cents

    def __format__(self, spec: str) -> str:
        text = f"{self.cents // 100},{self.cents % 100:02}"
        return f"{text} €" if spec == "long" else text


def money_format(order: Order) -> Text:
    return Text(order.customer, f"{Euro(round(order.total * 100)):long}")


class Rule:
    def __init__(self, name: str, least: float) -> None:
        self.name, self.least = name, least

    def __call__(self, order: Order) -> Flag:
        return Flag(self.name, order.total >= self.least)

    def __repr__(self) -> str:
        return f"Rule({self.name!r})"


callable_rule = Rule("large", 150.0)
