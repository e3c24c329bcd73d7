"""Objects that are reached by other ways than their names: by reflection, or because somebody else has them, too.

In each program `other` stands for another operator, which runs while `op_I` does and changes what it reads.
"""

from __future__ import annotations

import textwrap

import pytest

from .traps.ask import called_safe
from .traps.generate import Trap

MODEL = """
class Model:
    def __init__(self):
        self.w = [1.0]
MODEL = Model()
"""
OF_THE_MODEL = """
def op_I(t):
    return T(len(MODEL.w), t.v)
"""
CHANGING_W = """
def other(t):
    W.append(t.v)
    return t
"""
# Statements that give the same list another name, before any tuple flows.
ALIASES = {
    "getattr": 'W = getattr(MODEL, "w")',
    "getattr of a name that is put together": 'W = getattr(MODEL, "".join(["w"]))',
    "attrgetter": 'import operator\nW = operator.attrgetter("w")(MODEL)',
    "vars": "W, = vars(MODEL).values()",
    "__getattribute__": 'W = MODEL.__getattribute__("w")',
    "__reduce_ex__": 'W = MODEL.__reduce_ex__(2)[2]["w"]',
    "a copy": 'import copy\nW = vars(copy.copy(MODEL))["w"]',
    "inspect": 'import inspect\nW = [v for n, v in inspect.getmembers(MODEL) if n == "w"][0]',
    "a pattern": "match MODEL:\n    case Model(w=W): pass",
}
# Functions that reach it while tuples flow.
LATER = {
    "getattr": 'getattr(MODEL, "w").append(1)',
    "attrgetter": 'operator.attrgetter("w")(MODEL).append(1)',
    "__getstate__": 'MODEL.__getstate__()["w"].append(1)',
    "a pattern": "match MODEL:\n        case Model(w=found): found.append(1)",
    "the constructor": "MODEL.__init__()",
    "another class": "MODEL.__class__ = Other",
}
PROGRAMS = {
    "a list of values of globals()": """
        L = [1]
        W = [[v for n, v in list(globals().items()) if n == "L"]]
        def other(t):
            W[0][0].append(1)
        def op_I(t):
            return T(len(L), t.v)
    """,
    "a method of globals() that is kept": """
        L = 1
        G = globals().update
        def other(t):
            G(L=3)
        def op_I(t):
            return T(L, t.v)
    """,
    "the module, imported by its own name": """
        L = 1
        def other(t):
            m = __import__(__name__)
            m.L = 4
        def op_I(t):
            return T(L, t.v)
    """,
    "a module that is loaded again": """
        import importlib, random, sys
        L = random.random()
        def other(t):
            importlib.reload(sys.modules[__name__])
        def op_I(t):
            return T(t.k, L)
    """,
    "the defaults of the operator": """
        def op_I(t, y=[1]):
            return T(len(y), t.v)
        D = op_I.__defaults__[0]
        def other(t):
            D.append(1)
    """,
    "the defaults by keyword": """
        def op_I(t, *, y=[1]):
            return T(len(y), t.v)
        D = op_I.__kwdefaults__
        def other(t):
            D["y"].append(1)
    """,
    "the signature": """
        import inspect
        def op_I(t, y=[1]):
            return T(len(y), t.v)
        D = inspect.signature(op_I).parameters["y"].default
        def other(t):
            D.append(1)
    """,
    "the variables of the function around it": """
        def make():
            y = [1]
            def op(t):
                return T(len(y), t.v)
            return op, locals()
        op_I, D = make()
        def other(t):
            D["y"].append(1)
    """,
    "the names of a class": """
        class M:
            w = [1]
        D = M.__dict__["w"]
        def other(t):
            D.append(1)
        def op_I(t):
            return T(len(M.w), t.v)
    """,
    "a metaclass that keeps what it sees": """
        ALL = []
        class Meta(type):
            def __new__(meta, name, bases, names):
                ALL.append(names.get("w"))
                return super().__new__(meta, name, bases, names)
        class M(metaclass=Meta):
            w = [1]
        def other(t):
            ALL[0].append(1)
        def op_I(t):
            return T(len(M.w), t.v)
    """,
    "an object that is told its name": """
        ALL = []
        class L(list):
            def __set_name__(self, owner, name):
                ALL.append(self)
        class M:
            w = L([1])
        def other(t):
            ALL[0].append(1)
        def op_I(t):
            return T(len(M.w), t.v)
    """,
    "a list of the program's own class": """
        class L(list):
            pass
        X = L([1])
        def other(t):
            X.append(1)
        def op_I(t):
            return T(len(X), t.v)
    """,
    "a dict of the program's own class, in another list": """
        class D(dict):
            pass
        X = D(a=1)
        ALL = [X]
        def other(t):
            ALL[0]["b"] = 1
        def op_I(t):
            return T(X.get("b", 0), t.v)
    """,
    "the value of a member": """
        import enum
        class E(enum.Enum):
            A = 1
        def other(t):
            E.A._value_ = t.k
        def op_I(t):
            return T(E.A.value, t.v)
    """,
    "the members by their values": """
        import enum
        class E(enum.Enum):
            A = 1
            B = 2
        def other(t):
            E._value2member_map_[1] = E.B
        def op_I(t):
            return T(1 if E(1) is E.A else 0, t.v)
    """,
    "the state of a partial": """
        import functools
        def f(t, y):
            return T(y, t.v)
        P = functools.partial(f, y=1)
        def other(t):
            P.__setstate__((f, (), {"y": t.k}, {}))
        def op_I(t):
            return P(t)
    """,
    "other bases": """
        class A:
            w = 1
        class B:
            w = 2
        class M(A):
            pass
        def other(t):
            M.__bases__ = (B,)
        def op_I(t):
            return T(M.w, t.v)
    """,
    "a class that counts as another later": """
        import abc
        class A(abc.ABC):
            pass
        register = A.register
        def other(t):
            register(int)
        def op_I(t):
            return T(int(isinstance(t.k, A)), t.v)
    """,
    "a function that is registered later": """
        import functools
        @functools.singledispatch
        def f(x):
            return 1
        def five(x):
            return 5
        def other(t):
            getattr(f, "register")(int, five)
        def op_I(t):
            return T(f(t.k), t.v)
    """,
    "a constructor that is kept": """
        class M:
            def __init__(self, w):
                self.w = w
        MODEL = M(1)
        again = MODEL.__init__
        def other(t):
            again(t.k)
        def op_I(t):
            return T(MODEL.w, t.v)
    """,
    "a class with one object": """
        class M:
            one = None
            def __new__(cls, w):
                if cls.one is None:
                    cls.one = object.__new__(cls)
                return cls.one
            def __init__(self, w):
                self.w = w
        MODEL = M(1)
        def other(t):
            M(t.k)
        def op_I(t):
            return T(MODEL.w, t.v)
    """,
    "a frozen object that is made again": """
        import dataclasses
        @dataclasses.dataclass(frozen=True)
        class M:
            w: int = 0
        MODEL = M(1)
        def other(t):
            MODEL.__init__(t.k)
        def op_I(t):
            return T(MODEL.w, t.v)
    """,
    "a slot": """
        class M:
            __slots__ = ("w",)
            def __init__(self):
                self.w = 1
        MODEL = M()
        S = M.w
        def other(t):
            S.__set__(MODEL, t.k)
        def op_I(t):
            return T(MODEL.w, t.v)
    """,
    "a private name that is a global": """
        _M__w = [1]
        class M:
            def up(self):
                __w.append(1)
        MODEL = M()
        def other(t):
            MODEL.up()
        def op_I(t):
            return T(len(_M__w), t.v)
    """,
    "the builtins": """
        B = __builtins__
        def other(t):
            B["len"] = lambda x: t.k
        def op_I(t):
            return T(len([1]), t.v)
    """,
    "a module that is exchanged": """
        import math, sys, types
        def other(t):
            sys.modules["math"] = types.SimpleNamespace(floor=lambda x: 3)
        def op_I(t):
            import math
            return T(math.floor(t.v), t.v)
    """,
    "a patch that is yet to start": """
        import math
        from unittest import mock
        P = mock.patch.object(math, "floor", lambda x: 3)
        def other(t):
            P.start()
        def op_I(t):
            return T(math.floor(t.v), t.v)
    """,
    "a weak reference": """
        import weakref
        S = {1, 2}
        W = weakref.ref(globals()["S"])
        def other(t):
            W().add(t.k)
        def op_I(t):
            return T(len(S), t.v)
    """,
    "a generator that has it": """
        L = [1]
        def growing(x):
            while True:
                x.append(1)
                yield
        G = growing(globals()["L"])
        def other(t):
            next(G)
        def op_I(t):
            return T(len(L), t.v)
    """,
    "a view of an array": """
        import numpy as np
        class M:
            def __init__(self):
                self.w = np.zeros(3)
        MODEL = M()
        W = getattr(MODEL, "w")[:]
        def other(t):
            W[0] = t.v
        def op_I(t):
            return T(t.k, float(MODEL.w[0]))
    """,
    "the address of an array": """
        import numpy as np
        def op_I(t):
            return T(np.zeros(1).ctypes.data, t.v)
    """,
    "the dict behind its keys": """
        D = {"a": [0]}
        def op_I(t):
            D.keys().mapping["a"].append(1)
            return t
    """,
    "the key that an error is about": """
        class K:
            def __init__(self):
                self.n = 0
        X = K()
        def op_I(t):
            try:
                {}[X]
            except KeyError as e:
                e.args[0].n += 1
            return t
    """,
    "an iterator that gets what its generator is sent": """
        SEEN = []
        class Forever:
            def __iter__(self):
                return self
            def __next__(self):
                return 1
            def close(self):
                SEEN.append(1)
        def handed_on():
            yield from Forever()
        def op_I(t):
            for _ in handed_on():
                break
            return t
    """,
    "a number of the program's own in a fraction": """
        import fractions
        SEEN = []
        class I(int):
            def __mul__(self, other):
                SEEN.append(1)
                return 1
        X = fractions.Fraction(1, 2)
        X._numerator = I(3)
        def op_I(t):
            return T(t.k, float(X * 2))
    """,
    "names of days in another language": """
        import datetime, locale
        def other(t):
            locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
        def op_I(t):
            return T(len(datetime.datetime(2000, 1, 1).strftime("%A")), t.v)
    """,
    "the handlers of a logger": """
        import logging
        log = logging.getLogger("reached")
        HANDLERS = log.handlers
        class H(logging.Handler):
            def emit(self, record):
                HANDLERS.clear()
        def other(t):
            HANDLERS.append(H())
        def op_I(t):
            log.warning("seen")
            return t
    """,
    "the stream that a logger writes to": """
        import logging, sys
        log = logging.getLogger("reached")
        SEEN = []
        class W:
            def write(self, text):
                SEEN.append(text)
        def other(t):
            sys.stderr = W()
        def op_I(t):
            log.warning("seen")
            return t
    """,
}
HARMLESS = {
    "attributes by the name of a field": """
        LIMITS = {"v": 2.0}
        def op_I(t):
            return T(t.k, min(getattr(t, name) for name in LIMITS))
    """,
    "the name of a class": """
        NAMES = {"T": 1}
        def other(t):
            return T(NAMES[type(t).__name__], t.v)
        def op_I(t):
            return T(NAMES.get(t.__class__.__name__, 0), t.v)
    """,
    "a base that is initialised": """
        class Base:
            def __init__(self, w):
                self.w = w
        class Model(Base):
            def __init__(self):
                Base.__init__(self, (1, 2))
        MODEL = Model()
        def op_I(t):
            return T(MODEL.w[0], t.v)
    """,
    "a list of the program's own class that nobody changes": """
        class Names(list):
            pass
        NAMES = Names(["a", "b"])
        def op_I(t):
            return T(len(NAMES), t.v)
    """,
    "a table that two modules' functions read": """
        TABLE = {1: [1, 2]}
        def helper(k):
            return sum(TABLE.get(k, ()))
        def op_I(t):
            return T(helper(t.k), t.v)
    """,
}


def _is_called_safe(name: str, source: str) -> bool:
    source = textwrap.dedent(source)
    return bool(called_safe([Trap(name, ("", ""), "", "", "", source, "op_I", "map", False)]))


@pytest.mark.parametrize("way", ALIASES)
def test_a_list_that_has_another_name_is_not_constant(way: str) -> None:
    assert not _is_called_safe(way, MODEL + ALIASES[way] + CHANGING_W + OF_THE_MODEL)


@pytest.mark.parametrize("way", LATER)
def test_a_list_that_a_function_may_reach_is_not_constant(way: str) -> None:
    other = f"import operator\nclass Other(Model):\n    w = ()\ndef other(t):\n    {LATER[way]}\n    return t\n"
    assert not _is_called_safe(way, MODEL + other + OF_THE_MODEL)


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_reached_by_other_means_is_not_constant(name: str) -> None:
    assert not _is_called_safe(name, PROGRAMS[name])


@pytest.mark.parametrize("name", HARMLESS)
def test_ordinary_code_is_parallel_all_the_same(name: str) -> None:
    assert _is_called_safe(name, HARMLESS[name])


def test_without_another_way_the_model_is_constant() -> None:
    assert _is_called_safe("model", MODEL + OF_THE_MODEL)
