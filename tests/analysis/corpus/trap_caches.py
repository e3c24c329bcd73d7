"""Caches whose answers depend on who asked first."""

from __future__ import annotations

import decimal
import functools
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import cache, lru_cache, partial

from .registry import entry
from .tuples import Count, LogLine, Numbered, Reading, Text, Trade


@cache
def _shown(number: object, sign: str) -> str:
    return repr(number) + sign


@entry(kind="map", input=Trade, output=Text, state="stateful", trap=True,
       why="1 and True share an entry, so the text is that of the first")  # fmt: skip
def equal_numbers(t: Trade) -> Text:
    return Text(_shown(int(t.price > 30), "!") if t.size > 50 else _shown(t.price > 30, "!"))


@lru_cache
def _signed(celsius: float) -> str:
    return f"{celsius:+.0f}"


@entry(kind="map", input=Reading, output=Text, state="stateful", trap=True, why="0.0 and -0.0 share an entry")
def signed_zeros(r: Reading) -> Text:
    return Text(_signed(0.0 if r.celsius > 0 else -0.0))


@cache
def _spelled(amount: Decimal) -> str:
    return str(amount)


@entry(kind="map", input=Trade, output=Text, state="stateful", trap=True,
       why="1.0 and 1.00 are equal decimals with different texts")  # fmt: skip
def equal_decimals(t: Trade) -> Text:
    return Text(_spelled(Decimal("1.0") if t.size > 50 else Decimal("1.00")))


class Fold(str):
    """Equal to whatever has the same length."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and len(self) == len(other)

    def __hash__(self) -> int:
        return len(self)


@cache
def _upper(text: str) -> str:
    return str.upper(text)


@entry(kind="map", input=LogLine, state="stateful", forwards={"number": "number"}, trap=True,
       why="a class of the user's says which arguments are equal")  # fmt: skip
def folded(line: LogLine) -> LogLine:
    return line._replace(text=_upper(Fold(line.text)))


@cache
def _tagged(key: tuple[object, ...]) -> str:
    return repr(key)


@entry(kind="map", input=Trade, output=Text, state="stateful", trap=True, why="typed=False, and True inside a tuple")
def equal_tuples(t: Trade) -> Text:
    return Text(_tagged((1, "a") if t.size > 50 else (True, "a")))


@lru_cache(typed=True)
def _typed(key: tuple[object, ...]) -> str:
    return repr(key)


@entry(kind="map", input=Trade, output=Text, state="stateful", trap=True,
       why="typed=True does not look into tuples")  # fmt: skip
def typed_tuples(t: Trade) -> Text:
    return Text(_typed((1,) if t.size > 50 else (True,)))


@cache
def _rows(symbol: str) -> dict[str, int]:
    return {}


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="the cache gives everybody the same dictionary")  # fmt: skip
def cached_dictionary(t: Trade) -> Count:
    rows = _rows(t.symbol)
    rows[t.symbol] = rows.get(t.symbol, 0) + 1
    return Count(t.symbol, rows[t.symbol])


@cache
def _numbers(symbol: str) -> tuple[list[int], ...]:
    return ([],)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a tuple that holds a list")  # fmt: skip
def cached_list_inside(t: Trade) -> Count:
    _numbers(t.symbol)[0].append(t.size)
    return Count(t.symbol, len(_numbers(t.symbol)[0]))


@cache
def _counted(symbol: str) -> Iterator[int]:
    yield from range(1_000_000)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="the cache gives everybody the same generator")  # fmt: skip
def cached_generator(t: Trade) -> Count:
    return Count(t.symbol, next(_counted("all")))


CALLS: list[str] = []


@lru_cache(maxsize=8)
def _noted(symbol: str) -> str:
    CALLS.append(symbol)
    return symbol


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a cached function that counts how often it is asked in vain")  # fmt: skip
def counts_misses(t: Trade) -> Count:
    return Count(_noted(t.symbol), len(CALLS))


class Basket:
    def __init__(self) -> None:
        self.asked = 0

    @lru_cache  # noqa: B019
    def price(self, symbol: str) -> int:
        self.asked += 1
        return self.asked


BASKET = Basket()


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a cached method that changes its object")  # fmt: skip
def cached_method(t: Trade) -> Count:
    return Count(t.symbol, BASKET.price(t.symbol))


@lru_cache(maxsize=1)
def _label(number: object, sign: str) -> str:
    return f"{number!r}{sign}"


def _label_of_bool(t: Trade) -> Text:
    return Text(_label(True, "!"))


@entry(kind="map", input=Trade, output=Text, state="stateful", trap=True, shows=False, beside=("_label_of_bool",),
       why="another function of the program puts an equal argument in")  # fmt: skip
def filled_elsewhere(t: Trade) -> Text:
    text = _label(1, "!")
    _label(2, "!")
    return Text(text)


@cache
def _mark(number: object, sign: str) -> str:
    return f"{number!r}{sign}"


MARKS: dict[str, Callable[[object, str], str]] = {"mark": _mark}


@entry(kind="map", input=Trade, output=Text, state="stateful", trap=True, why="the cache has a second way in")
def through_a_table(t: Trade) -> Text:
    return Text(_mark(1, "?") if t.size > 50 else MARKS["mark"](True, "?"))


@cache
def _note(number: object, sign: str) -> str:
    return f"{number!r}{sign}"


_note_true = partial(_note, True)


@entry(kind="map", input=Trade, output=Text, state="stateful", trap=True, why="the cache is called through a partial")
def through_a_partial(t: Trade) -> Text:
    return Text(_note(1, ";") if t.size > 50 else _note_true(";"))


RATE = 2


@cache
def _rated(symbol: str) -> int:
    return RATE


_rated.__call__("ACME")
RATE = 3


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True, shows=False,
       why="the cache remembers what was before the run")  # fmt: skip
def stale(t: Trade) -> Count:
    return Count(t.symbol, _rated(t.symbol))


def _plain(symbol: str) -> int:
    return len(symbol)


def _sneaky(symbol: str) -> int:
    CALLS.append(symbol)
    return len(CALLS)


_disguised = functools.lru_cache(_sneaky)
_disguised.__wrapped__ = _plain


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="`__wrapped__` is not what is called")  # fmt: skip
def disguised(t: Trade) -> Count:
    return Count(t.symbol, _disguised(t.symbol))


@entry(kind="map", input=Trade, output=Numbered, state="stateful", forwards={"number": "size"}, trap=True,
       why="the cache is emptied and measured")  # fmt: skip
def measured(t: Trade) -> Numbered:
    _measured(t.symbol)
    return Numbered(t.size, _measured.cache_info().currsize)


@cache
def _measured(symbol: str) -> str:
    return symbol


@cache
def _deep(n: int) -> int:
    return 0 if n == 0 else 1 + _deep(n - 1)


@entry(kind="map", input=LogLine, output=Numbered, state="stateful", forwards={"number": "number"}, trap=True,
       shows=False, why="a recursion that is deep only where the cache is empty")  # fmt: skip
def deep(line: LogLine) -> Numbered:
    return Numbered(line.number, _deep(line.number * 40))


@cache
def _in_context(text: str) -> str:
    return str(Decimal(text) / 3)


@entry(kind="map", input=Trade, output=Text, state="stateful", trap=True, shows=False,
       why="what is cached depends on the decimal context of the first call")  # fmt: skip
def cached_context(t: Trade) -> Text:
    decimal.getcontext().prec = 5 + t.size % 3
    return Text(_in_context("10"))
