"""What `codegen/costs.py` holds: the nanoseconds that a tuple costs on its way between the forms, and in each of them.

The cost of an operator is that of seven more of them in a chain, divided by seven.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import anabranch as ab
from anabranch.codegen import costs
from anabranch.codegen.build import build_pe, staged
from anabranch.codegen.chunks import Batch, Chunk
from anabranch.codegen.native.arrays import ColumnArrays
from anabranch.codegen.segments import decide
from anabranch.graph.schema import schema_of
from benchmarks.codegen.elements import NATIVE, PYTHON, Form, Runner, part_of_program

TUPLES = 16_384
REPEATS = 21


class One(NamedTuple):
    a: float


class Many(NamedTuple):
    a: float
    b: float
    c: float
    d: float
    e: float
    f: float
    g: float
    h: float


class Text(NamedTuple):
    a: str


class Item(NamedTuple):
    key: int
    value: float


class Total(NamedTuple):
    key: int
    value: float


def passes(item: Item) -> bool:
    return item.value * item.value + item.key * 3.5 - (item.value - 1.0) / 7.0 + abs(item.value) * 2.0 > -1.0


class Change:
    def __init__(self) -> None:
        self.last = 0.0

    def process(self, item: Item) -> Iterator[Item]:
        yield Item(item.key, item.value - self.last)
        self.last = item.value


def measured() -> dict[str, tuple[float, float]]:
    """Each figure of costs.py: as measured now, and as it is there."""
    few, many = (_per_tuple(lambda kind=kind: _rows(kind)) for kind in (One, Many))
    per_attribute = (many - few) / 7
    per_expression = (_operator(_filter, PYTHON) - _operator(_filter, NATIVE)) / costs.expressions_in(passes)
    keyed = _operator(_process, PYTHON) - _operator(_process, NATIVE)
    return {
        "INTO_COLUMNS": (_per_tuple(lambda: _columns(Many)) / 8, costs.INTO_COLUMNS),
        "TEXT_INTO_COLUMNS": (_per_tuple(lambda: _columns(Text)), costs.TEXT_INTO_COLUMNS),
        "INTO_ROWS": (few - per_attribute, costs.INTO_ROWS),
        "PER_ATTRIBUTE_INTO_ROWS": (per_attribute, costs.PER_ATTRIBUTE_INTO_ROWS),
        "PER_EXPRESSION": (per_expression, costs.PER_EXPRESSION),
        "HANDING_OVER": (_handing_over(per_expression), costs.HANDING_OVER),
        "WINDOW": (_window(PYTHON) - _window(NATIVE), costs.WINDOW),
        "KEYED_OPERATOR": (keyed - per_expression * costs.expressions_in(Change.process), costs.KEYED_OPERATOR),
    }


def _per_tuple(prepare: Callable[[], Callable[[], Any]]) -> float:
    """The least of many runs, each on input of its own."""
    taken = []
    for _ in range(REPEATS):
        run = prepare()
        start = time.process_time()
        run()
        taken.append((time.process_time() - start) / TUPLES * 1e9)
    return min(taken)


def _chunk(kind: type[Any]) -> Chunk:
    value: Any = "a text" if kind is Text else 1.5
    return Chunk.of_rows(schema_of(kind), [kind(*[value] * len(kind._fields)) for _ in range(TUPLES)])


def _columns(kind: type[Any]) -> Callable[[], Any]:
    arrays = ColumnArrays(_chunk(kind))
    what = ("offsets",) if kind is Text else ("values",)
    return lambda: [arrays.place(name, each) for name in kind._fields for each in what]


def _rows(kind: type[Any]) -> Callable[[], Any]:
    batch = _chunk(kind).batch
    chunk = Chunk.of_batch(schema_of(kind), batch)
    return lambda: chunk.rows


def _filter(stream: Any) -> Any:
    return stream.filter(passes)


def _process(stream: Any) -> Any:
    return stream.process(Change, key="key")


def _operator(add: Callable[[Any], Any], form: Form) -> float:
    """What one more operator costs in a chain, all of which every tuple goes through."""
    lengths = []
    for length in (1, 8):
        stream: Any = ab.from_items(Item, [])
        for _ in range(length):
            stream = add(stream)
        lengths.append(_time(stream.filter(_never), form))
    return (lengths[1] - lengths[0]) / 7


def _window(form: Form) -> float:
    """What a window costs that hardly emits."""
    items = ab.from_items(Item, [])
    window = items.window(ab.tumbling(count=TUPLES), key="key").aggregate(Total, value=ab.sum_("value"))
    return _time(window, form) - _time(items.filter(_never), form)


def _never(item: Item) -> bool:
    return item.value > 1e300


def _time(stream: Any, form: Form) -> float:
    chunk = Chunk.of_rows(schema_of(Item), [Item(number % 100, float(number)) for number in range(TUPLES)])
    if form == NATIVE:
        chunk = Chunk.of_batch(schema_of(Item), chunk.batch)
    runner = Runner(stream.collect("out"), form)
    runner([Batch((chunk,))])
    return _per_tuple(lambda: lambda: runner([Batch((chunk,))]))


def _handing_over(per_expression: float) -> float:
    """What is left of the difference that a cut makes where nearly nothing is computed behind it."""
    whole, cut, _ = mixed()["parse, one comparison"]
    saved = per_expression * costs.expressions_in(_never)
    return (cut - whole) * 1000 + saved - len(Item._fields) * costs.INTO_COLUMNS


# Programs of which only a part can be native ------------------------------------------------------------------------


class Line(NamedTuple):
    text: str


def parse(line: Line) -> Item:
    return Item(**json.loads(line.text))


class Smooth:
    def __init__(self) -> None:
        self.level = 0.0
        self.trend = 0.0
        self.error = 0.0

    def process(self, item: Item) -> Iterator[Item]:
        expected = self.level + self.trend
        off = item.value - expected
        self.error = 0.9 * self.error + 0.1 * off * off
        self.trend = self.trend + 0.05 * off
        self.level = expected + 0.2 * off
        if off * off > 9.0 * self.error + 1.0:
            yield Item(item.key, off)


class Root:
    def __init__(self) -> None:
        self.total = 0.0

    def process(self, item: Item) -> Iterator[Item]:
        root = item.value
        for _ in range(20):
            root = root - (root * root - item.value) / (2.0 * root + 1.0)
        self.total += root
        yield Item(item.key, self.total)


def mixed() -> dict[str, tuple[float, float, str]]:
    """Seconds per million tuples in the Python form, and cut into stages; and what is chosen."""
    lines = ab.from_items(Line, [])
    programs = {
        "parse, one comparison": lines.map(parse).filter(_never),
        "parse, smooth": lines.map(parse).process(Smooth, key="key").filter(_never),
        "parse, iterate": lines.map(parse).process(Root, key="key").filter(_never),
        "parse, window": lines.map(parse)
        .window(ab.tumbling(count=100), key="key")
        .aggregate(Total, value=ab.sum_("value"))
        .filter(lambda total: total.value < 0),
    }
    rows = [Line(json.dumps({"key": number % 100, "value": number * 1.5})) for number in range(TUPLES)]
    chunk = Chunk.of_rows(schema_of(Line), rows)
    found = {}
    for name, stream in programs.items():
        part = part_of_program(stream.collect("out"))
        whole, cut = build_pe(part, "python"), staged(part)
        times: list[list[float]] = [[], []]
        for _ in range(REPEATS):
            for element, taken in zip((whole, cut), times, strict=True):
                start = time.process_time()
                element.process(Batch((chunk,)))
                taken.append((time.process_time() - start) / TUPLES * 1e6)
        found[name] = (min(times[0]), min(times[1]), " and ".join(dict.fromkeys(stage.form for stage in decide(part))))
    return found
