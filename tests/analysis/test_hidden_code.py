"""Code that the library, the interpreter or another part of the program runs, though no operator names it."""

from __future__ import annotations

import textwrap

import pytest

from .traps.ask import called_safe, claimed_selectivities
from .traps.generate import Trap

RUN_BY_THE_LIBRARY = {
    "a manager that decorates the operator": """
        import contextlib
        SEEN = []
        @contextlib.contextmanager
        def noted():
            SEEN.append(1)
            yield
        @noted()
        def op_I(t):
            return t
    """,
    "a class of managers that decorates the operator": """
        import contextlib
        SEEN = []
        class Noted(contextlib.ContextDecorator):
            def __enter__(self):
                SEEN.append(1)
            def __exit__(self, *problem):
                pass
        @Noted()
        def op_I(t):
            return t
    """,
    "a comparison by != that asks __eq__": """
        SEEN = []
        class Same:
            def __eq__(self, other):
                SEEN.append(1)
                return True
        def op_I(t):
            return T(int(Same() != 3), t.v)
    """,
    "a generator that hands on what it is sent": """
        SEEN = []
        def inner():
            given = yield 1
            given.append(1)
            yield given
        def outer():
            yield from inner()
        def op_I(t):
            running = outer()
            next(running)
            running.send(SEEN)
            return t
    """,
    "an enumeration with a value of its own": """
        import enum
        SEEN = []
        class Kind(enum.Enum):
            A = 1
            @property
            def value(self):
                SEEN.append(1)
                return len(SEEN)
        def op_I(t):
            return T(Kind.A.value, t.v)
    """,
    "a metaclass of enumerations that says what is in them": """
        import enum
        SEEN = []
        class Counting(enum.EnumType):
            def __iter__(cls):
                SEEN.append(1)
                return iter(())
        class Kind(enum.Enum, metaclass=Counting):
            A = 1
        def op_I(t):
            return T(len(list(Kind)), t.v)
    """,
    "a time zone of the program's in a constant": """
        import datetime
        SEEN = []
        class Zone(datetime.tzinfo):
            def utcoffset(self, moment):
                SEEN.append(1)
                return datetime.timedelta(hours=len(SEEN) % 3)
        START = datetime.datetime(2024, 1, 1, tzinfo=Zone())
        def op_I(t):
            return T(len(START.isoformat()), t.v)
    """,
    "a factory of dictionaries": """
        import dataclasses
        SEEN = []
        @dataclasses.dataclass
        class Point:
            x: int
        def made(pairs):
            SEEN.append(1)
            return dict(pairs)
        def op_I(t):
            return T(len(dataclasses.asdict(Point(t.k), dict_factory=made)), t.v)
    """,
    "a default that is asked for by name": """
        import random
        from collections import defaultdict
        def op_I(t):
            return T(1, defaultdict(random.random).__getitem__(1))
    """,
    "an object that a table is written to": """
        import csv, types
        SEEN = []
        def op_I(t):
            csv.writer(types.SimpleNamespace(write=SEEN.append)).writerow([1])
            return t
    """,
    "a copy of a list that holds a class": """
        import copy
        class Shared:
            n = 0
        KINDS = [Shared]
        def op_I(t):
            copy.deepcopy(KINDS)[0].n = t.k
            return t
    """,
    "a log that asks a dictionary for what it does not have": """
        import logging
        from collections import defaultdict
        log = logging.getLogger("hidden")
        def op_I(t):
            seen = defaultdict(int, a=1)
            log.info("%(q)s", seen)
            return T(len(seen), t.v)
    """,
    "an error whose text changes it, logged while it is handled": """
        import logging
        log = logging.getLogger("hidden")
        class Odd(Exception):
            n = 0
            def __str__(self):
                self.n += 1
                return "odd"
        def op_I(t):
            try:
                raise Odd
            except Odd as problem:
                log.exception("bad")
                return T(problem.n, t.v)
    """,
    "a model that another operator fits": """
        class Model:
            def __init__(self):
                self.w = 1
            def fit(self, k):
                self.w = k
        MODEL = Model()
        class Other:
            def process(self, t):
                MODEL.fit(t.k)
                return t
        def op_I(t):
            return T(MODEL.w, t.v)
    """,
    "a library that a function is handed, and changes": """
        import math
        def patch(library):
            library.floor = len
        class Other:
            def process(self, t):
                patch(math)
                return t
        def op_I(t):
            return T(math.floor(t.v), t.v)
    """,
    "a class of a library that another function changes": """
        import fractions
        def other():
            fractions.Fraction.limit_denominator = len
        def op_I(t):
            return T(int(fractions.Fraction(t.k, 3).limit_denominator(10)), t.v)
    """,
}

EMITS_MORE = {
    "a guard that yields before the case that holds": """
        def op_I(t):
            match t.k:
                case 1 if (yield t):
                    pass
                case _:
                    yield t
    """,
    "several handlers of a group": """
        def op_I(t):
            try:
                raise ExceptionGroup("", [ValueError(), TypeError()])
            except* ValueError:
                yield t
            except* TypeError:
                yield t
    """,
    "an annotation": """
        def op_I(t):
            x: (yield t) = 1
    """,
    "a default of a lambda": """
        def op_I(t):
            f = lambda x=(yield t): x
            yield t
    """,
}


def _trap(name: str, source: str, kind: str) -> Trap:
    return Trap(name, ("", ""), "", "", "", textwrap.dedent(source), "op_I", kind, False)


@pytest.mark.parametrize("name", RUN_BY_THE_LIBRARY)
def test_an_operator_that_lets_it_run_is_not_parallel(name: str) -> None:
    assert called_safe([_trap(name, RUN_BY_THE_LIBRARY[name], "map")]) == []


@pytest.mark.parametrize("name", EMITS_MORE)
def test_what_is_emitted_in_odd_places_is_counted(name: str) -> None:
    assert claimed_selectivities([_trap(name, EMITS_MORE[name], "flat_map")]) == ["1:[0,inf)"]
