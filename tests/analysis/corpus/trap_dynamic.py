"""State reached by reflection: globals(), exec, __dict__, setattr, frames, modules, weak references."""

from __future__ import annotations

import builtins
import contextvars
import functools
import inspect
import sys
import threading
import types
import weakref
from collections.abc import Iterator

from .registry import entry
from .tuples import Amount, Call, Count, Numbered, Reading, Trade, Travel

counter = 0
total = 0.0
SEEN: list[str] = []
LOCAL = threading.local()
CURRENT: contextvars.ContextVar[int] = contextvars.ContextVar("CURRENT", default=0)


class Config:
    calls = 0
    limit = 1.0


CONFIG = Config()


class Node:
    pass


NODES = [Node() for _ in range(3)]
VISITS: weakref.WeakKeyDictionary[Node, int] = weakref.WeakKeyDictionary()
CONFIG_4 = Config()


REFERENCE = weakref.ref(CONFIG_4)
CONFIG_5 = Config()


PROXY = weakref.proxy(CONFIG_5)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="globals() is written")  # fmt: skip
def by_globals(t: Trade) -> Count:
    globals()["counter"] += 1
    return Count(t.symbol, counter)


counter_2 = 0


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="exec rebinds a global")  # fmt: skip
def by_exec(t: Trade) -> Count:
    exec("global counter_2; counter_2 += 1")
    return Count(t.symbol, counter_2)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="eval calls a mutating method")  # fmt: skip
def by_eval(t: Trade) -> Count:
    eval("SEEN.append(t.symbol)", globals(), {"t": t})
    return Count(t.symbol, len(SEEN))


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="setattr on a module's object")  # fmt: skip
def by_setattr(t: Trade) -> Count:
    setattr(CONFIG, "calls", CONFIG.calls + 1)  # noqa: B010
    return Count(t.symbol, CONFIG.calls)


CONFIG_2 = Config()


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="__dict__ of a module's object")  # fmt: skip
def by_dunder_dict(t: Trade) -> Count:
    CONFIG_2.__dict__["calls"] = CONFIG_2.__dict__.get("calls", 0) + 1
    return Count(t.symbol, CONFIG_2.calls)


CONFIG_3 = Config()


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="vars() of a module's object, updated")  # fmt: skip
def by_vars(t: Trade) -> Count:
    vars(CONFIG_3).update(calls=CONFIG_3.calls + 1)
    return Count(t.symbol, CONFIG_3.calls)


counter_3 = 0


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="the module is found in sys.modules")  # fmt: skip
def by_sys_modules(t: Trade) -> Count:
    module = sys.modules[__name__]
    module.counter_3 += 1
    return Count(t.symbol, counter_3)


counter_4 = 0


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="the globals of a function")  # fmt: skip
def by_function_globals(t: Trade) -> Count:
    by_globals.__globals__["counter_4"] += 1
    return Count(t.symbol, counter_4)


counter_5 = 0


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="the globals of the running frame")  # fmt: skip
def by_frame(t: Trade) -> Count:
    inspect.currentframe().f_globals["counter_5"] += 1
    return Count(t.symbol, counter_5)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="an attribute of builtins outlives everything")  # fmt: skip
def by_builtins(t: Trade) -> Count:
    builtins.corpus_counter = getattr(builtins, "corpus_counter", 0) + 1
    return Count(t.symbol, builtins.corpus_counter)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="threading.local lives as long as the thread")  # fmt: skip
def by_thread_local(t: Trade) -> Count:
    LOCAL.n = getattr(LOCAL, "n", 0) + 1
    return Count(t.symbol, LOCAL.n)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a context variable is set")  # fmt: skip
def by_context_variable(t: Trade) -> Count:
    CURRENT.set(CURRENT.get() + 1)
    return Count(t.symbol, CURRENT.get())


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a weak dictionary of nodes that live on")  # fmt: skip
def by_weak_keys(t: Trade) -> Count:
    node = NODES[t.size % 3]
    VISITS[node] = VISITS.get(node, 0) + 1
    return Count(t.symbol, VISITS[node])


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="a weak reference leads to a module's object")  # fmt: skip
def by_weak_reference(t: Trade) -> Amount:
    target = REFERENCE()
    target.limit += t.price
    return Amount(t.symbol, target.limit)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="a proxy writes through")  # fmt: skip
def by_proxy(t: Trade) -> Amount:
    PROXY.limit = PROXY.limit + t.price
    return Amount(t.symbol, CONFIG_5.limit)


SEEN_2: list[str] = []


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="a class made at run time shares what it is given")  # fmt: skip
def by_dynamic_class(t: Trade) -> Amount:
    kind = type("Totals", (), {"seen": SEEN_2})
    kind.seen.append(t.symbol)
    return Amount(t.symbol, float(len(SEEN_2)))


SEEN_3: list[str] = []


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="MethodType binds a mutating function to a module's list")  # fmt: skip
def by_method_type(t: Trade) -> Amount:
    types.MethodType(list.append, SEEN_3)(t.symbol)
    return Amount(t.symbol, float(len(SEEN_3)))


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="a cell is written through __closure__")  # fmt: skip
def by_cell(t: Trade) -> Amount:
    cell = read_total.__closure__[0]
    cell.cell_contents += t.price
    return Amount(t.symbol, read_total())


def _make_reader():
    hidden = 0.0

    def read() -> float:
        return hidden

    return read


read_total = _make_reader()


@entry(kind="process", input=Call, output=Travel, keyed=("phone",), state="stateful", selectivity="1:1",
       forwards={"phone": "phone", "ts": "ts"}, trap=True, why="a keyed operator that uses globals()")  # fmt: skip
class KeyedGlobals:
    def __init__(self) -> None:
        self.n = 0

    def process(self, c: Call) -> Iterator[Travel]:
        self.n += 1
        globals()["total"] += self.n
        yield Travel(c.phone, total, c.ts)


@entry(kind="process", input=Call, output=Travel, keyed=("phone",), state="stateful", selectivity="1:1",
       forwards={"phone": "phone", "ts": "ts"}, trap=True,
       why="process is replaced while it runs, in the class")  # fmt: skip
class ReplacesItself:
    def process(self, c: Call) -> Iterator[Travel]:
        ReplacesItself.process = ReplacesItself.later
        yield Travel(c.phone, 0.0, c.ts)

    def later(self, c: Call) -> Iterator[Travel]:
        yield Travel(c.phone, 1.0, c.ts)


SEEN_4: list[str] = []


@entry(kind="map", input=Reading, output=Numbered, state="stateful", trap=True,
       why="code is made from a string")  # fmt: skip
def by_compile(r: Reading) -> Numbered:
    namespace = {"seen": SEEN_4}
    exec(compile("seen.append('x'); n = len(seen)", "<made>", "exec"), namespace)
    return Numbered(namespace["n"], 0)


counter_6 = 0


@entry(kind="map", input=Reading, output=Numbered, state="stateful", trap=True,
       why="__import__ finds the module again")  # fmt: skip
def by_dunder_import(r: Reading) -> Numbered:
    module = __import__(__name__, fromlist=["counter_6"])
    module.counter_6 += 1
    return Numbered(counter_6, 0)


CONFIG_6 = Config()


@entry(kind="map", input=Reading, output=Numbered, state="stateful", trap=True,
       why="reduce with setattr")  # fmt: skip
def by_reduce_of_attributes(r: Reading) -> Numbered:
    functools.reduce(lambda target, name: setattr(target, name, CONFIG_6.calls + 1) or target, ["calls"], CONFIG_6)
    return Numbered(CONFIG_6.calls, 0)
