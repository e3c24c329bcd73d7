"""Code of the user that Python runs where nothing looks like a call: missing keys, patterns, annotations, types."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterator
from typing import Any

from .registry import entry
from .tuples import Amount, Count, Reading, Text, Trade

# A key that is not there -------------------------------------------------------------------------------------------

IDS: list[str] = []


class Vocabulary(dict):
    """Gives every new word the next number, for all vocabularies together."""

    def __missing__(self, word: str) -> int:
        IDS.append(word)
        self[word] = len(IDS)
        return self[word]


class Catalogue(OrderedDict):
    def __missing__(self, word: str) -> int:
        IDS.append(word)
        return len(IDS)


class Register(defaultdict):
    def __missing__(self, word: str) -> int:
        IDS.append(word)
        return len(IDS)


class Inherited(Vocabulary):
    pass


WORDS = Vocabulary()


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="__missing__ of a module's vocabulary gives ids")  # fmt: skip
def number_of_word(t: Trade) -> Count:
    return Count(t.symbol, WORDS[t.symbol])


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="__missing__ of a local dict counts for all")  # fmt: skip
def number_in_local_words(t: Trade) -> Count:
    words = Vocabulary()
    return Count(t.symbol, words[t.symbol])


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="__missing__ of a local OrderedDict counts for all")  # fmt: skip
def number_in_catalogue(t: Trade) -> Count:
    words = Catalogue(other=0)
    return Count(t.symbol, words[t.symbol])


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="__missing__ of a local defaultdict counts for all")  # fmt: skip
def number_in_register(t: Trade) -> Count:
    words = Register(int)
    words["other"] = 0
    return Count(t.symbol, words[t.symbol])


@entry(kind="map", input=Trade, output=Text, state="stateful", trap=True, why="format_map calls __missing__")
def format_with_words(t: Trade) -> Text:
    return Text("{price} {place}".format_map(Inherited(price=1)))


@entry(kind="process", input=Reading, output=Count, keyed=("sensor",), state="stateful", selectivity="1:1",
       forwards={"key": "sensor"}, trap=True, why="__missing__ of a vocabulary per key gives shared ids")  # fmt: skip
class NumberPerSensor:
    def __init__(self) -> None:
        self.words = Inherited()

    def process(self, r: Reading) -> Iterator[Count]:
        yield Count(r.sensor, self.words[round(r.celsius)])


# Patterns ----------------------------------------------------------------------------------------------------------


class Wildcard:
    """Is equal to every second value it is compared with."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Wildcard.compared += 1
        return Wildcard.compared % 2 == 0

    __hash__ = None


class Patterns:
    any = Wildcard()


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a value pattern calls __eq__ of the pattern's object")  # fmt: skip
def matches_wildcard(t: Trade) -> Count:
    match t.symbol:
        case Patterns.any:
            return Count(t.symbol, 1)
        case _:
            return Count(t.symbol, 2)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a value pattern inside a sequence, in an alternative")  # fmt: skip
def matches_wildcard_inside(t: Trade) -> Count:
    match (t.symbol, t.size):
        case ("", _) | (Patterns.any, _):
            return Count(t.symbol, 1)
    return Count(t.symbol, 2)


CHECKED = [0]


class Every(type):
    """Every second object is an instance."""

    def __instancecheck__(cls, instance: object) -> bool:
        CHECKED[0] += 1
        return CHECKED[0] % 2 == 0


class Second(metaclass=Every):
    pass


@entry(kind="filter", input=Trade, state="stateful", trap=True, why="a class pattern calls __instancecheck__")
def is_second(t: Trade) -> bool:
    match t:
        case Second():
            return True
    return False


@entry(kind="filter", input=Trade, state="stateful", trap=True, why="a class pattern inside a mapping")
def holds_second(t: Trade) -> bool:
    match {"trade": t}:
        case {"trade": Second()}:
            return True
        case _:
            return False


@entry(kind="filter", input=Trade, state="stateful", trap=True, why="isinstance calls __instancecheck__")
def is_second_by_call(t: Trade) -> bool:
    return isinstance(t.size, (str, Second))


# Subscripts of classes, and annotations ----------------------------------------------------------------------------


class Box:
    made = 0

    def __class_getitem__(cls, item: Any) -> int:
        Box.made += 1
        return Box.made


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a subscript of a class calls __class_getitem__")  # fmt: skip
def subscripts_class(t: Trade) -> Count:
    return Count(t.symbol, Box[t.size])


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="the default of a lambda is evaluated whenever the lambda is made")  # fmt: skip
def default_of_lambda(t: Trade) -> Count:
    number = lambda given=Box[t.size]: given
    return Count(t.symbol, number())


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a default for a keyword alone")  # fmt: skip
def default_by_keyword(t: Trade) -> Count:
    def number(*, given: int = IDS.append(t.symbol) or len(IDS)) -> int:
        return given

    return Count(t.symbol, number())


# The class an object says it has -----------------------------------------------------------------------------------


class Changeling:
    """Says that it is a number every second time."""

    asked = 0

    @property
    def __class__(self) -> type:
        Changeling.asked += 1
        return (int, str)[Changeling.asked % 2]


CHANGELING = Changeling()


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="isinstance reads __class__, a property")  # fmt: skip
def by_class_of_global(t: Trade) -> Amount:
    return Amount(t.symbol, 1.0 if isinstance(CHANGELING, int) else 2.0)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="isinstance reads __class__ of a local object")  # fmt: skip
def by_class_of_local(t: Trade) -> Amount:
    changeling = Changeling()
    return Amount(t.symbol, 1.0 if isinstance(changeling, int) else 2.0)


@entry(kind="filter", input=Trade, state="stateful", trap=True, why="a class pattern reads __class__")
def by_class_pattern(t: Trade) -> bool:
    match CHANGELING:
        case int():
            return True
    return False
