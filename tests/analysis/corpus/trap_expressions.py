"""Effects in places where one does not look: conditions, formats, assertions, class bodies, defaults, threads."""

from __future__ import annotations

import contextlib
import functools
import json
import operator
import string
import threading
from collections.abc import Iterator
from typing import Any

from .registry import entry
from .tuples import Amount, Count, LogLine, Numbered, Order, Reading, Text, Trade, Word

IN_ASSERT: list[str] = []
IN_FORMAT: list[str] = []
IN_CLASS: list[str] = []
IN_DEFAULT: list[str] = []
IN_DECORATOR: list[Any] = []
IN_WHILE: list[str] = []
IN_GUARD: list[str] = []
IN_SLICE: list[str] = []
IN_TARGET: dict[str, float] = {}
IN_PARTIAL: list[str] = []
IN_CALL: list[str] = []
IN_CALLBACK: list[str] = []
IN_THREAD: list[str] = []
IN_COROUTINE: list[str] = []
IN_FINALLY: list[str] = []
IN_DUMPS: list[object] = []
IN_TERNARY: list[str] = []
IN_LAMBDA: list[str] = []


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="an assertion with an effect")  # fmt: skip
def asserted(t: Trade) -> Count:
    assert IN_ASSERT.append(t.symbol) is None
    return Count(t.symbol, len(IN_ASSERT))


@entry(kind="map", input=Trade, output=Text, state="stateful", trap=True, why="a call inside an f-string")
def formatted(t: Trade) -> Text:
    return Text(f"{t.symbol}{IN_FORMAT.append(t.symbol) or len(IN_FORMAT)}")


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="the body of a local class")  # fmt: skip
def in_class_body(t: Trade) -> Count:
    class Local:
        IN_CLASS.append(t.symbol)
        n = len(IN_CLASS)

    return Count(t.symbol, Local.n)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="the default of a local function")  # fmt: skip
def in_local_default(t: Trade) -> Count:
    def n(added: None = IN_DEFAULT.append("x")) -> int:
        return len(IN_DEFAULT)

    return Count(t.symbol, n())


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a mutating method as the decorator of a local function")  # fmt: skip
def in_local_decorator(t: Trade) -> Count:
    @IN_DECORATOR.append
    def unused() -> None:
        pass

    return Count(t.symbol, len(IN_DECORATOR))


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="the condition of a while loop")  # fmt: skip
def in_while(t: Trade) -> Count:
    while IN_WHILE.append(t.symbol):
        pass
    return Count(t.symbol, len(IN_WHILE))


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="the guard of a case that never matches")  # fmt: skip
def in_guard(t: Trade) -> Count:
    match t:
        case Trade() if IN_GUARD.append(t.symbol):
            return Count(t.symbol, -1)
    return Count(t.symbol, len(IN_GUARD))


@entry(kind="map", input=Order, output=Word, state="stateful", forwards={"n": "id"}, trap=True,
       why="the bound of a slice")  # fmt: skip
def in_slice(o: Order) -> Word:
    names = o.items[IN_SLICE.append(o.customer) :]
    return Word(f"{len(names)}/{len(IN_SLICE)}", o.id)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="the target of a comprehension is an item of the module's dict")  # fmt: skip
def in_comprehension_target(t: Trade) -> Amount:
    before = IN_TARGET.get("price", 0.0)
    [0 for IN_TARGET["price"] in (t.price,)]
    return Amount(t.symbol, before)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a partial of the mutation, called at once")  # fmt: skip
def in_partial(t: Trade) -> Count:
    functools.partial(IN_PARTIAL.append, t.symbol)()
    return Count(t.symbol, len(IN_PARTIAL))


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="operator.call")  # fmt: skip
def in_operator_call(t: Trade) -> Count:
    operator.call(IN_CALL.append, t.symbol)
    return Count(t.symbol, len(IN_CALL))


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="ExitStack calls back")  # fmt: skip
def in_exit_stack(t: Trade) -> Count:
    with contextlib.ExitStack() as stack:
        stack.callback(IN_CALLBACK.append, t.symbol)
    return Count(t.symbol, len(IN_CALLBACK))


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="another thread does it")  # fmt: skip
def in_thread(t: Trade) -> Count:
    thread = threading.Thread(target=IN_THREAD.append, args=(t.symbol,))
    thread.start()
    thread.join()
    return Count(t.symbol, len(IN_THREAD))


async def _record(symbol: str) -> int:
    IN_COROUTINE.append(symbol)
    return len(IN_COROUTINE)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a coroutine does it")  # fmt: skip
def in_coroutine(t: Trade) -> Count:
    try:
        _record(t.symbol).send(None)
    except StopIteration as done:
        return Count(t.symbol, done.value)
    return Count(t.symbol, -1)


@contextlib.contextmanager
def _measured(name: str) -> Iterator[None]:
    try:
        yield
    finally:
        IN_FINALLY.append(name)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a context manager writes when it is left")  # fmt: skip
def in_context(t: Trade) -> Count:
    with _measured(t.symbol):
        before = len(IN_FINALLY)
    return Count(t.symbol, before)


class Counting(contextlib.ContextDecorator):
    n = 0

    def __enter__(self) -> None:
        Counting.n += 1

    def __exit__(self, *problem: object) -> None:
        return None


@Counting()
def _current() -> int:
    return Counting.n


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a context manager as the decorator of a helper")  # fmt: skip
def in_context_decorator(t: Trade) -> Count:
    return Count(t.symbol, _current())


@entry(kind="map", input=Trade, output=Numbered, state="stateful", forwards={"number": "size"}, trap=True,
       why="json.dumps with a default that collects")  # fmt: skip
def in_dumps(t: Trade) -> Numbered:
    json.dumps({"symbol": {t.symbol}}, default=IN_DUMPS.append)
    return Numbered(t.size, len(IN_DUMPS))


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="an expression statement with `and`")  # fmt: skip
def in_boolean(t: Trade) -> Count:
    t.size > 1 and IN_TERNARY.append(t.symbol)
    return Count(t.symbol, len(IN_TERNARY))


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a lambda that is called where it is written")  # fmt: skip
def in_called_lambda(t: Trade) -> Count:
    return (lambda seen: Count(t.symbol, (seen.append(t.symbol), len(seen))[1]))(IN_LAMBDA)


class Gauge:
    """Reading it counts."""

    def __init__(self) -> None:
        self.reads = 0

    @property
    def level(self) -> float:
        self.reads += 1
        return float(self.reads)

    def __float__(self) -> float:
        return self.level

    def __getitem__(self, key: object) -> str:
        return str(self.level)

    def __round__(self, digits: int = 0) -> float:
        return self.level


GAUGE = Gauge()


@entry(kind="map", input=LogLine, state="stateful", forwards={"number": "number"}, trap=True,
       why="a format string reads the property")  # fmt: skip
def by_format_field(line: LogLine) -> LogLine:
    return line._replace(text="{0.level}".format(GAUGE))  # noqa: UP030, UP032


@entry(kind="map", input=LogLine, state="stateful", forwards={"number": "number"}, trap=True,
       why="%(name)s asks the mapping")  # fmt: skip
def by_percent_name(line: LogLine) -> LogLine:
    return line._replace(text="%(level)s" % GAUGE)  # noqa: UP031


@entry(kind="map", input=LogLine, state="stateful", forwards={"number": "number"}, trap=True,
       why="a template asks the mapping")  # fmt: skip
def by_template(line: LogLine) -> LogLine:
    return line._replace(text=string.Template("$level").substitute(GAUGE))


@entry(kind="map", input=LogLine, state="stateful", forwards={"number": "number"}, trap=True,
       why="translate asks the table for each letter")  # fmt: skip
def by_translate(line: LogLine) -> LogLine:
    return line._replace(text="a".translate(GAUGE))


@entry(kind="map", input=Reading, output=Amount, state="stateful", forwards={"symbol": "sensor"}, trap=True,
       why="float() and round() call the object")  # fmt: skip
def by_conversion(r: Reading) -> Amount:
    return Amount(r.sensor, float(GAUGE) + round(GAUGE))


@entry(kind="map", input=Reading, output=Amount, state="stateful", forwards={"symbol": "sensor"}, trap=True,
       why="a value pattern reads the property")  # fmt: skip
def by_value_pattern(r: Reading) -> Amount:
    match 4.0:
        case GAUGE.level:
            return Amount(r.sensor, 4.0)
    return Amount(r.sensor, 0.0)


@entry(kind="map", input=Reading, output=Amount, state="stateful", forwards={"symbol": "sensor"}, trap=True,
       why="attrgetter reads the property")  # fmt: skip
def by_attrgetter(r: Reading) -> Amount:
    return Amount(r.sensor, operator.attrgetter("level")(GAUGE))
