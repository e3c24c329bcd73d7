"""What outlives a call: every way to keep or share something is noticed, and ordinary clean code is not suspected."""

from __future__ import annotations

import base64
import bisect
import contextlib
import dataclasses
import enum
import functools
import hashlib
import heapq
import itertools
import json
import math
import operator
import random
import re
import statistics
import string
import struct
import time
import urllib.parse
import zlib
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pytest

from anabranch.analysis import Findings, analyze_function, analyze_operator
from anabranch.graph.schema import schema_of


class Point(NamedTuple):
    x: float
    y: float


class Event(NamedTuple):
    key: str
    number: int
    value: float
    at: datetime
    place: Point
    tags: list[str]
    note: str | None
    raw: bytes


EVENT = schema_of(Event)


def found(fn: Any) -> Findings:
    return analyze_function(fn, input=EVENT, output=EVENT, emits="value")


def kept(cls: type) -> Findings:
    return analyze_operator(cls, inputs={"process": EVENT}, output=EVENT)


def named(items: list[Any]) -> list[Any]:
    return [pytest.param(item, id=getattr(item, "__name__", str(item))) for item in items]


# Clean functions ------------------------------------------------------------------------------------------------

LIMIT = 10
NAMES = ("a", "b")
STOP_WORDS = frozenset({"the", "a"})
RATES = {"a": 1.0, "b": 2.0}
WORDS = re.compile(r"\w+")
PAIRS = [(1, "one"), (2, "two")]
PACKED = struct.Struct(">IH")
GREETING = string.Template("hello $name")
by_number = operator.attrgetter("number")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"

    @property
    def is_warm(self) -> bool:
        return self is Colour.RED


@dataclass
class Box:
    low: float
    high: float
    inside: list[float] = dataclasses.field(default_factory=list)

    def add(self, value: float) -> None:
        if self.low <= value < self.high:
            self.inside.append(value)

    def __len__(self) -> int:
        return len(self.inside)


class Running:
    """An object that changes, used within one call only."""

    def __init__(self) -> None:
        self.total = 0.0

    def add(self, value: float) -> Running:
        self.total += value
        return self


def distance(one: Point, other: Point) -> float:
    return math.hypot(one.x - other.x, one.y - other.y)


def factorial(n: int) -> int:
    return 1 if n <= 1 else n * factorial(n - 1)


def is_even(n: int) -> bool:
    return n == 0 or is_odd(n - 1)


def is_odd(n: int) -> bool:
    return n != 0 and is_even(n - 1)


def clean_arithmetic(e: Event) -> float:
    return (e.number * 3 + e.value**2) // 7 % 5 - abs(e.value) + round(e.value, 2)


def clean_text(e: Event) -> str:
    words = [w.strip(".,").casefold() for w in e.key.split() if w]
    return f"{'-'.join(words):>20} {e.value:.2f} %s" % e.number + e.key.replace("a", "b").title()


def clean_globals(e: Event) -> float:
    return LIMIT * RATES.get(e.key, 1.0) + len(NAMES) + (e.key in STOP_WORDS) + sum(n for n, _ in PAIRS)


def clean_regular_expressions(e: Event) -> str:
    match = WORDS.match(e.key)
    found_ = WORDS.findall(e.key) + re.split(",", e.key)
    return (match.group(0) if match else "") + re.sub(r"\d", lambda m: m.group() * 2, ",".join(found_))


def clean_json(e: Event) -> Any:
    data = json.loads(e.key)
    for item in data.get("items", []):
        item["seen"] = True
        data.setdefault("all", []).append(item)
    return json.dumps(data, sort_keys=True)


def clean_time(e: Event) -> float:
    start = datetime(2020, 1, 1)
    day = e.at.replace(hour=0, minute=0) + timedelta(days=1)
    return (e.at - start).total_seconds() + day.weekday() + datetime.fromisoformat("2020-01-01").year


def clean_time_with_zone(e: Event) -> float:
    return datetime.fromtimestamp(e.value, tz=UTC).timestamp() + e.at.replace(tzinfo=UTC).timestamp()


def clean_local_containers(e: Event) -> Any:
    counts: Counter[str] = Counter(e.tags)
    groups: defaultdict[int, list[str]] = defaultdict(list)
    for tag in e.tags:
        groups[len(tag)].append(tag)
    window: deque[str] = deque(maxlen=3)
    window.extend(e.tags)
    seen = set()
    out = []
    for tag in e.tags:
        if tag not in seen:
            seen.add(tag)
            out.append(tag)
    out.sort(key=lambda tag: (-counts[tag], tag))
    del out[3:]
    return out, dict(groups), window.popleft() if window else None, counts.most_common(1)


def clean_comprehensions(e: Event) -> Any:
    table = {tag: i for i, tag in enumerate(e.tags) if (n := len(tag)) > 1}
    lengths = sorted({len(tag) for tag in e.tags})
    return [x for row in zip(lengths, table.values(), strict=False) for x in row], n, max(lengths, default=0)


def clean_helpers(e: Event) -> Any:
    return distance(e.place, Point(0.0, 1.0)), factorial(5), is_even(e.number), [distance(p, p) for p in [e.place]]


def clean_local_objects(e: Event) -> float:
    box = Box(0.0, 1.0)
    for tag in e.tags:
        box.add(len(tag) / 10)
    running = Running().add(e.value).add(len(box))
    return running.total + max(box.inside, default=0.0) + dataclasses.replace(box, low=-1.0).low


def clean_enumerations(e: Event) -> Any:
    colour = Colour(e.key) if e.key in ("red", "blue") else Colour.RED
    return colour.value, colour.name, colour.is_warm, [c.value for c in Colour], colour is Colour.BLUE


def clean_control(e: Event) -> Any:
    total = 0
    try:
        total = int(e.key)
    except ValueError as problem:
        message = str(problem)
        total = len(message)
    finally:
        total += 1
    with contextlib.suppress(KeyError, IndexError):
        total += RATES["nothing"]
    match e.place:
        case Point(x=0.0, y=y):
            total += y
        case Point(x, _) if x > 1:
            total += x
        case _:
            pass
    while total > 100:
        total //= 2
        if total == 7:
            break
    else:
        total = 0
    return total


def clean_local_functions(e: Event) -> Any:
    total = 0

    def add(n: int) -> None:
        nonlocal total
        total += n

    for tag in e.tags:
        add(len(tag))
    double = lambda n: n * 2
    return double(total), functools.reduce(lambda a, b: a + b, e.tags, ""), list(map(str.upper, e.tags))


def clean_local_generator(e: Event) -> Any:
    def numbers() -> Iterator[int]:
        for tag in e.tags:
            yield len(tag)

    steps = numbers()
    first = next(steps, 0)
    return first, sum(steps), list(itertools.islice(itertools.chain(e.tags, ["x"]), 2))


def clean_libraries(e: Event) -> Any:
    digest = hashlib.sha256()
    digest.update(e.raw)
    heap = [3, 1, 2]
    heapq.heapify(heap)
    heapq.heappush(heap, e.number)
    bisect.insort(heap, 5)
    link = urllib.parse.urlparse(e.key)
    return (
        digest.hexdigest(), base64.b64encode(e.raw), zlib.crc32(e.raw), struct.unpack(">I", e.raw), link.netloc,
        PACKED.pack(1, 2), statistics.fmean([1.0, e.value]), math.sqrt(e.value), Decimal(e.key) + 1,
        GREETING.substitute(name=e.key), heapq.heappop(heap), urllib.parse.quote(link.path),
    )  # fmt: skip


def clean_numpy(e: Event) -> float:
    values = np.array([len(t) for t in e.tags], dtype=float)
    values *= 2.0
    values[0] = 1.0
    values.sort()
    return float(np.sqrt(values).mean() + np.dot(values, values) + np.clip(values, 0, 1)[0])


def clean_getters(e: Event) -> Any:
    rows = [(2, "b"), (1, "a")]
    return by_number(e), sorted(rows, key=operator.itemgetter(1)), getattr(e, "number"), max(rows, key=lambda r: r[0])


def clean_seeded_chance(e: Event) -> float:
    dice = random.Random(e.number)
    return dice.random() + dice.choice([1, 2, 3])


def clean_star_arguments(e: Event) -> Any:
    def collect(*args: Any, **named: Any) -> Any:
        return args, named

    return collect(*e.tags, *e.place, number=e.number, **{"a": 1})


CLEAN = [value for name, value in list(globals().items()) if name.startswith("clean_")]


@pytest.mark.parametrize("fn", named(CLEAN))
def test_ordinary_clean_code_keeps_and_shares_nothing(fn: Callable[[Event], Any]) -> None:
    assert found(fn).shared == ()
    assert found(fn).own == ()


# Traps ----------------------------------------------------------------------------------------------------------

counter = 0
seen: list[str] = []
totals: dict[str, float] = {}
flags: set[str] = set()
arrays = np.zeros(3)
numbers = itertools.count()
lines = iter(["a", "b"])
push = seen.append
grouped: defaultdict[str, list[str]] = defaultdict(list)
nested = ([0], {"a": [1]})


class Shared:
    instances = 0
    log: list[str] = []

    def __init__(self) -> None:
        self.n = 0

    def bump(self) -> int:
        self.n += 1
        return self.n

    def __call__(self, e: Event) -> int:
        return self.bump()

    def __eq__(self, other: object) -> bool:
        seen.append("compared")
        return True

    def __hash__(self) -> int:
        return 1


shared = Shared()


def note(text: str) -> int:
    seen.append(text)
    return len(seen)


def give_seen() -> list[str]:
    return seen


@functools.cache
def cached(key: str) -> list[str]:
    return [key]


@contextlib.contextmanager
def logging_entry() -> Iterator[list[str]]:
    seen.append("entered")
    yield seen


def trap_global(e: Event) -> int:
    global counter
    counter += 1
    return counter


def trap_append(e: Event) -> None:
    seen.append(e.key)


def trap_subscript(e: Event) -> None:
    totals[e.key] = e.value


def trap_delete(e: Event) -> None:
    del totals[e.key]


def trap_in_place(e: Event) -> None:
    flags_ = flags
    flags_ |= {e.key}


def trap_alias(e: Event) -> None:
    first = other = seen
    other.append(e.key)
    first.clear()


def trap_alias_in_container(e: Event) -> None:
    {"a": [seen]}["a"][0].append(e.key)


def trap_alias_by_call(e: Event) -> None:
    give_seen().append(e.key)


def trap_alias_by_condition(e: Event) -> None:
    (seen if e.number else []).append(e.key)


def trap_alias_after_conditional_walrus(e: Event) -> None:
    target = seen
    e.number and (target := [])
    target.append(e.key)


def trap_alias_by_error(e: Event) -> None:
    try:
        raise ValueError(seen)
    except ValueError as problem:
        problem.args[0].append(e.key)


def trap_alias_in_later_variable(e: Event) -> None:
    target: list[str] = []
    later = (target.append(tag) for tag in e.tags)
    target = seen
    list(later)


def trap_nested(e: Event) -> None:
    nested[1]["a"].append(e.number)


def trap_bound_method(e: Event) -> None:
    push(e.key)


def trap_unbound_method(e: Event) -> None:
    list.append(seen, e.key)


def trap_dunder(e: Event) -> None:
    totals.__setitem__(e.key, 1.0)


def trap_helper(e: Event) -> int:
    return note(e.key)


def trap_map(e: Event) -> Any:
    return list(map(seen.append, e.tags))


def trap_key(e: Event) -> Any:
    return sorted(e.tags, key=note)


def trap_partial(e: Event) -> Any:
    return functools.partial(note, e.key)()


def trap_comprehension(e: Event) -> Any:
    return [seen.append(tag) for tag in e.tags]


def trap_comprehension_target(e: Event) -> Any:
    return [0 for totals["x"] in [1.0]]


def trap_for_target(e: Event) -> None:
    for totals["x"] in (1.0, 2.0):
        pass


def trap_match(e: Event) -> None:
    match e.number:
        case 1 | 2:
            seen.append(e.key)


def trap_lambda(e: Event) -> Any:
    return (lambda: seen.pop())()


def trap_iterator(e: Event) -> Any:
    return next(numbers)


def trap_iterator_in_zip(e: Event) -> Any:
    return list(zip(numbers, e.tags, strict=False))


def trap_iterator_unpacked(e: Event) -> Any:
    first, *_ = lines
    return first


def trap_iterator_membership(e: Event) -> bool:
    return e.key in lines


def trap_defaultdict_read(e: Event) -> Any:
    return grouped[e.key]


def trap_setdefault(e: Event) -> Any:
    return totals.setdefault(e.key, 0.0)


def trap_default_argument(e: Event, memory: list[str] = []) -> int:
    memory.append(e.key)
    return len(memory)


def trap_class_attribute(e: Event) -> None:
    Shared.instances += 1


def trap_class_attribute_by_type(e: Event) -> None:
    type(shared).log.append(e.key)


def trap_instance(e: Event) -> int:
    return shared.bump()


def trap_special_method(e: Event) -> bool:
    return shared == e.key


def trap_special_method_in_list(e: Event) -> bool:
    return e.key in [shared]


def trap_function_attribute(e: Event) -> None:
    note.count = 1  # type: ignore[attr-defined]


def trap_cache(e: Event) -> list[str]:
    return cached(e.key)


def trap_context_manager(e: Event) -> None:
    with logging_entry() as held:
        held.append(e.key)


def trap_array(e: Event) -> None:
    view = arrays[1:]
    view += 1


def trap_array_out(e: Event) -> None:
    np.add(arrays, 1, out=arrays)


def trap_array_positional_out(e: Event) -> None:
    np.sqrt(arrays, arrays)


def trap_heap(e: Event) -> None:
    heapq.heappush(seen, e.key)


def trap_input(e: Event) -> None:
    e.tags.append("x")


def trap_input_alias(e: Event) -> None:
    tags = e.tags
    tags += ["x"]


def trap_input_sorted(e: Event) -> None:
    e.tags.sort()


def trap_clock(e: Event) -> float:
    return time.time()


def trap_clock_by_class(e: Event) -> Any:
    return datetime.now(tz=UTC)


def trap_time_zone(e: Event) -> Any:
    return datetime.fromtimestamp(e.value)


def trap_chance(e: Event) -> float:
    return random.random()


def trap_unseeded_chance(e: Event) -> float:
    return random.Random().random()


def trap_array_chance(e: Event) -> Any:
    return np.random.rand(3)


def trap_print(e: Event) -> None:
    print(e.key)


def trap_file(e: Event) -> Any:
    return open("x")


def trap_identity(e: Event) -> int:
    return id(e)


def trap_hash(e: Event) -> int:
    return hash(e.key)


def trap_hash_by_name(e: Event) -> int:
    return e.key.__hash__()


def trap_is(e: Event) -> bool:
    return e.key is e.tags[0]


def trap_default_text(e: Event) -> str:
    return f"{Running()}"


def trap_setattr(e: Event) -> None:
    setattr(Shared, e.key, 1)


def trap_dict_of_instance(e: Event) -> None:
    shared.__dict__["n"] = 5


def trap_unknown_attribute_call(e: Event) -> Any:
    return np.array([1.0]).tofile("x")


def trap_import(e: Event) -> Any:
    import this_module_does_not_exist

    return this_module_does_not_exist


async def trap_asynchronous(e: Event) -> None:
    pass


TRAPS = [value for name, value in list(globals().items()) if name.startswith("trap_")]


@pytest.mark.parametrize("fn", named(TRAPS))
def test_what_a_function_shares_is_noticed(fn: Callable[[Event], Any]) -> None:
    assert found(fn).shared


def test_a_callable_instance_that_counts_is_shared_by_all_calls() -> None:
    assert found(shared).shared
    assert found(shared.bump).shared


def test_an_input_changed_in_place_has_a_hint_to_copy_it() -> None:
    [reason] = found(trap_input).shared
    assert reason.text == "`trap_input` changes `e.tags`, which belongs to its input"
    assert reason.hint == "copy it first: list(e.tags)"


# The own instance -----------------------------------------------------------------------------------------------


class Last:
    def __init__(self) -> None:
        self.last: Event | None = None

    def process(self, e: Event) -> None:
        self.last = e


class InList:
    def __init__(self) -> None:
        self.items: list[Event] = []

    def process(self, e: Event) -> None:
        self.items.append(e)


class ByAlias:
    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def process(self, e: Event) -> None:
        counts = self.counts
        counts[e.key] = 1


class ByHelper:
    def __init__(self) -> None:
        self.n = 0

    def process(self, e: Event) -> None:
        bump(self)


def bump(op: Any) -> None:
    op.n += 1


class ByIterator:
    def __init__(self) -> None:
        self.ids = itertools.count()

    def process(self, e: Event) -> Any:
        return [e._replace(number=next(self.ids))]


class ByClosure:
    def __init__(self) -> None:
        n = 0

        def count() -> int:
            nonlocal n
            n += 1
            return n

        self.count = count

    def process(self, e: Event) -> Any:
        return [e._replace(number=self.count())]


class ByHash:
    def __init__(self) -> None:
        self.digest = hashlib.md5()

    def process(self, e: Event) -> Any:
        self.digest.update(e.raw)


class ByObject:
    def __init__(self) -> None:
        self.running = Running()

    def process(self, e: Event) -> Any:
        self.running.add(e.value)


class ByArray:
    def __init__(self) -> None:
        self.window = np.zeros(8)

    def process(self, e: Event) -> Any:
        self.window[:4] += e.value


class BySlots:
    __slots__ = ("n",)

    def __init__(self) -> None:
        self.n = 0

    def process(self, e: Event) -> Any:
        self.n += 1


@dataclass
class ByDataclass:
    n: int = 0
    items: list[str] = dataclasses.field(default_factory=list)

    def process(self, e: Event) -> Any:
        self.items.append(e.key)


class ByProperty:
    def __init__(self) -> None:
        self._n = 0

    @property
    def n(self) -> int:
        return self._n

    @n.setter
    def n(self, value: int) -> None:
        self._n = value

    def process(self, e: Event) -> Any:
        self.n += 1


class BySuper(Last):
    def process(self, e: Event) -> None:
        super().process(e)


class AtTheEnd:
    def __init__(self) -> None:
        self.n = 0

    def process(self, e: Event) -> None:
        pass

    def finish(self) -> None:
        self.n += 1


OWN = [Last, InList, ByAlias, ByHelper, ByIterator, ByClosure, ByHash, ByObject, ByArray, BySlots, ByDataclass,
       ByProperty, BySuper, AtTheEnd]  # fmt: skip


@pytest.mark.parametrize("cls", named(OWN))
def test_state_in_the_own_instance_is_own_and_nothing_else(cls: type) -> None:
    assert kept(cls).own
    assert kept(cls).shared == ()


class Configured:
    FACTOR = 3
    NAMES = {"a": "b"}

    def __init__(self, limit: float = 5.0) -> None:
        self.limit = limit
        self.table = {"x": 1}
        self.pattern = re.compile("a+")

    @staticmethod
    def double(value: float) -> float:
        return value * 2

    @classmethod
    def triple(cls, value: float) -> float:
        return value * cls.FACTOR

    @property
    def half(self) -> float:
        return self.limit / 2

    def process(self, e: Event) -> Iterator[Event]:
        if self.double(e.value) > self.limit and self.table.get(e.key) and self.pattern.match(e.key):
            yield e._replace(value=self.triple(e.value) + self.half, key=self.NAMES.get(e.key, e.key))


def test_a_class_that_only_reads_what_its_constructor_made_keeps_nothing() -> None:
    findings = kept(Configured)
    assert findings.shared == ()
    assert findings.own == ()


def test_arguments_of_partial_are_seen_in_the_constructor() -> None:
    assert kept(functools.partial(Configured, limit=3.0)).shared == ()


class CountsInstances:
    made = 0

    def __init__(self) -> None:
        CountsInstances.made += 1

    def process(self, e: Event) -> None:
        pass


class ClassList:
    seen: list[str] = []

    def process(self, e: Event) -> None:
        self.seen.append(e.key)


class ClassListAssignedOnSomePaths:
    seen: list[str] = []

    def __init__(self) -> None:
        if LIMIT > 5:
            self.seen = []

    def process(self, e: Event) -> None:
        self.seen.append(e.key)


class PrivateClassList:
    __seen: list[str] = []

    def process(self, e: Event) -> None:
        self.__seen.append(e.key)


class SharedDefault:
    def __init__(self, seen: list[str] = []) -> None:
        self.seen = seen

    def process(self, e: Event) -> None:
        self.seen.append(e.key)


class SharedGlobal:
    def __init__(self) -> None:
        self.seen = seen

    def process(self, e: Event) -> None:
        self.seen.append(e.key)


class StartTime:
    def __init__(self) -> None:
        self.start = time.time()

    def process(self, e: Event) -> None:
        pass


class SetsAttributes:
    def __setattr__(self, name: str, value: Any) -> None:
        totals[name] = value

    def process(self, e: Event) -> None:
        self.x = e.value


class ChangesItsClass:
    def process(self, e: Event) -> None:
        self.__class__ = Last  # type: ignore[assignment]


class Descriptor:
    def __init__(self) -> None:
        self.values: dict[int, Any] = {}

    def __get__(self, instance: Any, owner: type) -> Any:
        return self.values.get(1)

    def __set__(self, instance: Any, value: Any) -> None:
        self.values[1] = value


class ByDescriptor:
    x = Descriptor()

    def process(self, e: Event) -> None:
        self.x = e.value


class Meta(type):
    def __call__(cls, *args: Any) -> Any:
        seen.append("made")
        return super().__call__(*args)


class ByMetaclass(metaclass=Meta):
    def process(self, e: Event) -> None:
        pass


class GivenOnce:
    def __init__(self, table: dict[str, int]) -> None:
        self.table = table

    def process(self, e: Event) -> None:
        self.table[e.key] = 1


SHARED = [CountsInstances, ClassList, ClassListAssignedOnSomePaths, PrivateClassList, SharedDefault, SharedGlobal,
          StartTime, SetsAttributes, ChangesItsClass, ByDescriptor, ByMetaclass]  # fmt: skip


@pytest.mark.parametrize("cls", named(SHARED))
def test_what_instances_share_is_not_their_own(cls: type) -> None:
    assert kept(cls).shared


def test_what_partial_hands_to_every_instance_is_shared() -> None:
    assert kept(functools.partial(GivenOnce, {})).shared


class ClassListReplaced:
    seen: list[str] = []

    def __init__(self) -> None:
        self.seen = []

    def process(self, e: Event) -> None:
        self.seen.append(e.key)


def test_a_class_attribute_that_every_constructor_replaces_is_not_shared() -> None:
    assert kept(ClassListReplaced).shared == ()
    assert kept(ClassListReplaced).own


def test_a_class_attribute_that_is_changed_has_a_hint_to_move_it() -> None:
    [reason] = kept(ClassList).shared
    assert "`ClassList.seen`, a class attribute that all instances share" in reason.text
    assert reason.hint == "assign it in __init__ (self.seen = …), so that each instance has its own, and use key="
    assert reason.location is not None
    assert reason.location.code == "self.seen.append(e.key)"
