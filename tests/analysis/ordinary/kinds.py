"""Enums, NamedTuples with methods, dataclasses, Protocol, Generic and ABC, inheritance and properties."""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import asdict, astuple, dataclass, field, fields
from typing import ClassVar, Generic, NamedTuple, Protocol, Self, TypedDict, TypeVar, runtime_checkable

from .records import Click, Count, Flag, Line, Number, Order, Reading, Text, Trade

OPERATORS = """severity size_class measured money_total Stacked shapes_area visited_by permissions as_rows Buffered
    configured priced_by described_kind Inventory temperature_scale planet_like validated_order Undoable boxed
    is_supported with_defaults tagged_union Registry sorted_people"""


class Severity(enum.IntEnum):
    LOW = 1
    HIGH = 5

    @classmethod
    def parse(cls, text: str) -> Severity:
        return cls.HIGH if "WARN" in text or "ERROR" in text else cls.LOW


def severity(line: Line) -> Count:
    return Count(line.source, Severity.parse(line.text) * 2)


class Size(enum.StrEnum):
    SMALL = enum.auto()
    LARGE = enum.auto()


def size_class(trade: Trade) -> Text:
    size = Size.LARGE if trade.size > 100 else Size.SMALL
    return Text(trade.symbol, f"{size} {size.name} {Size('small').value}")


class Interval(NamedTuple):
    low: float
    high: float = 100.0

    @property
    def width(self) -> float:
        return self.high - self.low

    def __contains__(self, value: object) -> bool:
        return isinstance(value, float) and self.low <= value <= self.high

    @staticmethod
    def around(middle: float, radius: float) -> Interval:
        return Interval(middle - radius, middle + radius)


COMFORT = Interval(18.0, 24.0)


def measured(reading: Reading) -> Number:
    near = Interval.around(reading.celsius, 2.5)
    return Number(reading.sensor, near.width if reading.celsius in COMFORT else Interval(0.0).width)


@dataclass(frozen=True, order=True)
class Money:
    cents: int
    currency: str = field(default="EUR", compare=False)

    def __add__(self, other: Money) -> Money:
        if other.currency != self.currency:
            raise ValueError("currencies differ")
        return Money(self.cents + other.cents, self.currency)

    def __str__(self) -> str:
        return f"{self.cents / 100:.2f} {self.currency}"

    @classmethod
    def of(cls, amount: float) -> Money:
        return cls(round(amount * 100))


PRICES = {"bolt": Money(20), "nut": Money(15), "gear": Money(1_250), "belt": Money(799)}


def money_total(order: Order) -> Text:
    total = sum((PRICES[item] for item in order.items), start=Money(0))
    return Text(order.customer, str(max(total, Money.of(1.0))))


T = TypeVar("T")
K = TypeVar("K")


class Stack(Generic[T]):
    def __init__(self) -> None:
        self._items: list[T] = []

    def push(self, item: T) -> None:
        self._items.append(item)

    def pop(self) -> T:
        return self._items.pop()

    def __len__(self) -> int:
        return len(self._items)

    def __bool__(self) -> bool:
        return bool(self._items)


class Stacked:
    def __init__(self) -> None:
        self.stack: Stack[float] = Stack()

    def process(self, trade: Trade) -> Iterator[Number]:
        if self.stack and trade.size > 100:
            yield Number(trade.symbol, self.stack.pop())
        else:
            self.stack.push(trade.price)


class Shape(ABC):
    sides: ClassVar[int] = 0

    @property
    @abstractmethod
    def area(self) -> float: ...

    def describe(self) -> str:
        return f"{type(self).__name__} of {self.area:.1f}"


class Square(Shape):
    sides = 4

    def __init__(self, side: float) -> None:
        self.side = side

    @property
    def area(self) -> float:
        return self.side**2


class Disc(Shape):
    def __init__(self, radius: float) -> None:
        self.radius = radius

    @property
    def area(self) -> float:
        return 3.14159 * self.radius**2

    def describe(self) -> str:
        return super().describe() + " (round)"


def shapes_area(trade: Trade) -> Text:
    shape: Shape = Square(trade.price) if trade.size > 100 else Disc(trade.price)
    return Text(trade.symbol, f"{shape.describe()}, {shape.sides} sides")


class Visitor(Protocol):
    def visit(self, click: Click) -> str: ...


class PathVisitor:
    def visit(self, click: Click) -> str:
        return click.url.rpartition("/")[2]


class TagVisitor:
    def __init__(self, separator: str = "|") -> None:
        self.separator = separator

    def visit(self, click: Click) -> str:
        return self.separator.join(click.tags)


VISITORS: tuple[Visitor, ...] = (PathVisitor(), TagVisitor())


def visited_by(click: Click) -> Iterator[Text]:
    for visitor in VISITORS:
        yield Text(click.user, visitor.visit(click))


class Permission(enum.Flag):
    READ = enum.auto()
    WRITE = enum.auto()
    SHARE = enum.auto()
    ALL = READ | WRITE | SHARE


ROLES = {"ada": Permission.ALL, "bob": Permission.READ | Permission.WRITE}


def permissions(click: Click) -> Flag:
    allowed = ROLES.get(click.user, Permission.READ)
    return Flag(click.user, Permission.SHARE in allowed and bool(allowed & Permission.WRITE))


@dataclass
class Row:
    key: str
    n: int
    tags: list[str] = field(default_factory=list)


def as_rows(click: Click) -> Text:
    row = Row(click.user, len(click.tags), sorted(click.tags))
    row.n += 1
    return Text(click.user, f"{asdict(row)} {astuple(row)} {[f.name for f in fields(row)]}")


class RingBuffer(Generic[T]):
    def __init__(self, size: int) -> None:
        self.size = size
        self.items: list[T] = []

    def add(self, item: T) -> T | None:
        self.items.append(item)
        return self.items.pop(0) if len(self.items) > self.size else None

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)


class Buffered:
    def __init__(self) -> None:
        self.buffer: RingBuffer[Reading] = RingBuffer(2)

    def process(self, reading: Reading) -> Iterator[Number]:
        if (oldest := self.buffer.add(reading)) is not None:
            yield Number(reading.sensor, sum(r.celsius for r in self.buffer) - oldest.celsius)


@dataclass(frozen=True, kw_only=True)
class Config:
    limit: float = 25.0
    names: tuple[str, ...] = ("roof", "duct")
    labels: dict[bool, str] = field(default_factory=lambda: {True: "in", False: "out"})

    @property
    def doubled(self) -> float:
        return 2 * self.limit


CONFIG = Config(limit=20.0)


def configured(reading: Reading) -> Text:
    is_in = reading.sensor in CONFIG.names and reading.celsius < CONFIG.doubled
    return Text(reading.sensor, CONFIG.labels[is_in])


class Pricing(Protocol):
    def __call__(self, base: float) -> float: ...


@dataclass(frozen=True)
class Percent:
    rate: float

    def __call__(self, base: float) -> float:
        return base * (1 - self.rate)


PRICINGS: dict[str, Pricing] = {"ada": Percent(0.1), "bob": Percent(0.05)}


def priced_by(order: Order) -> Number:
    pricing = PRICINGS.get(order.customer, Percent(0.0))
    return Number(order.customer, round(pricing(order.total), 2))


class Base:
    kind = "base"

    def __init__(self, name: str) -> None:
        self.name = name

    def label(self) -> str:
        return f"{self.kind}:{self.name}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class Mixin:
    def loud(self) -> str:
        return self.label().upper()  # type: ignore[attr-defined]


class Derived(Mixin, Base):
    kind = "derived"

    def __init__(self, name: str, level: int) -> None:
        super().__init__(name)
        self.level = level


def described_kind(trade: Trade) -> Text:
    thing = Derived(trade.symbol, trade.size)
    return Text(trade.symbol, f"{thing!r} {thing.loud()} {thing.level}")


class Stock(TypedDict):
    name: str
    left: int


class Inventory:
    def __init__(self) -> None:
        self.stock: dict[str, Stock] = {}

    def process(self, order: Order) -> Iterator[Count]:
        for item in order.items:
            stock = self.stock.setdefault(item, Stock(name=item, left=5))
            stock["left"] -= 1
            yield Count(stock["name"], stock["left"])


class Temperature:
    def __init__(self, celsius: float) -> None:
        self._celsius = celsius

    @property
    def kelvin(self) -> float:
        return self._celsius + 273.15

    @kelvin.setter
    def kelvin(self, value: float) -> None:
        if value < 0:
            raise ValueError("below absolute zero")
        self._celsius = value - 273.15

    @classmethod
    def from_kelvin(cls, value: float) -> Self:
        return cls(value - 273.15)


def temperature_scale(reading: Reading) -> Number:
    temperature = Temperature(reading.celsius)
    temperature.kelvin *= 2
    return Number(reading.sensor, temperature.kelvin - Temperature.from_kelvin(10.0).kelvin)


class Metal(enum.Enum):
    IRON = ("Fe", 7.87)
    GOLD = ("Au", 19.3)

    def __init__(self, symbol: str, density: float) -> None:
        self.symbol = symbol
        self.density = density

    def mass(self, volume: float) -> float:
        return self.density * volume


def planet_like(trade: Trade) -> Text:
    heaviest = max(Metal, key=lambda metal: metal.mass(trade.price))
    return Text(trade.symbol, f"{heaviest.symbol} {heaviest.mass(1.0):.2f} {len(Metal)} {Metal['IRON'].name}")


class OrderError(Exception):
    """What is wrong with an order."""


class EmptyOrder(OrderError):
    def __init__(self, customer: str) -> None:
        super().__init__(f"{customer} ordered nothing")
        self.customer = customer


def _validate(order: Order) -> None:
    if not order.items:
        raise EmptyOrder(order.customer)
    if order.total < 50:
        raise OrderError(f"too small: {order.total}")


def validated_order(order: Order) -> Text:
    try:
        _validate(order)
    except EmptyOrder as problem:
        return Text(problem.customer, "empty")
    except OrderError as problem:
        return Text(order.customer, str(problem))
    else:
        return Text(order.customer, "fine")


@dataclass
class Command:
    run: Callable[[float], float]
    undo: Callable[[float], float]


class Undoable:
    def __init__(self) -> None:
        self.value = 1.0
        self.done: list[Command] = []

    def process(self, reading: Reading) -> Iterator[Number]:
        if reading.ok:
            command = Command(lambda v: v * 2, lambda v: v / 2)
            self.value = command.run(self.value)
            self.done.append(command)
        elif self.done:
            self.value = self.done.pop().undo(self.value)
        yield Number(reading.sensor, self.value)


class Box(Generic[K, T]):
    __slots__ = ("key", "value")

    def __init__(self, key: K, value: T) -> None:
        self.key, self.value = key, value

    def map(self, function: Callable[[T], T]) -> Box[K, T]:
        return Box(self.key, function(self.value))


def boxed(trade: Trade) -> Number:
    box: Box[str, float] = Box(trade.symbol, trade.price).map(lambda price: price + 1).map(abs)
    return Number(box.key, box.value)


@runtime_checkable
class HasArea(Protocol):
    @property
    def area(self) -> float: ...


def is_supported(trade: Trade) -> bool:
    thing = Square(trade.price)
    return isinstance(thing, HasArea) and thing.area > 100


@dataclass
class Options:
    width: int = 10
    fill: str = "."
    align: str = field(default="<", repr=False)

    def __post_init__(self) -> None:
        if self.width < 0:
            raise ValueError("width")
        self.spec = f"{self.fill}{self.align}{self.width}"


DEFAULTS = Options(width=12, fill="_")


def with_defaults(line: Line) -> Text:
    return Text(line.source, format(line.text[:6], DEFAULTS.spec))


@dataclass(frozen=True)
class Buy:
    n: int


@dataclass(frozen=True)
class Sell:
    n: int


@dataclass(frozen=True)
class Wait:
    pass


def _action(trade: Trade) -> Buy | Sell | Wait:
    if trade.price < 20:
        return Buy(trade.size)
    return Sell(trade.size) if trade.price > 60 else Wait()


def tagged_union(trade: Trade) -> Count:
    match _action(trade):
        case Buy(n):
            return Count(trade.symbol, n)
        case Sell(n=n) if n > 10:
            return Count(trade.symbol, -n)
        case Sell() | Wait():
            return Count(trade.symbol, 0)


class Registry:
    """Objects of a class with __eq__ and __hash__ in a dictionary of the key's own."""

    @dataclass(frozen=True)
    class Page:
        host: str
        path: str

    def __init__(self) -> None:
        self.visits: dict[Registry.Page, int] = {}

    def process(self, click: Click) -> Iterator[Count]:
        page = self.Page(click.user, click.url)
        self.visits[page] = self.visits.get(page, 0) + 1
        yield Count(page.path, self.visits[page])


class Person:
    def __init__(self, name: str, age: int) -> None:
        self.name, self.age = name, age

    def __lt__(self, other: Person) -> bool:
        return (self.age, self.name) < (other.age, other.name)

    def __repr__(self) -> str:
        return f"<{self.name}, {self.age}>"


def sorted_people(order: Order) -> Text:
    people = sorted(Person(item, len(item)) for item in order.items)
    return Text(order.customer, " ".join(map(repr, people)))
