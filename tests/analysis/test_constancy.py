"""Objects that exist before a run may be read if nothing that runs can change them."""
# ruff: noqa: E501 - small programs stand on one line each

from __future__ import annotations

import importlib
import itertools
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.analysis import Findings, analyze_function
from anabranch.graph.schema import schema_of


class Item(NamedTuple):
    key: str
    n: int


ITEM = schema_of(Item)
_serial = itertools.count()
Program = Callable[..., ModuleType]


def found(fn: Any) -> Findings:
    return analyze_function(fn, input=ITEM, output=ITEM, emits="value")


def is_constant(fn: Any) -> bool:
    return found(fn).shared == ()


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Program]:
    """Makes modules of the given texts and gives the last one; they are a program of their own."""
    monkeypatch.syspath_prepend(str(tmp_path))
    made: list[str] = []

    def make(text: str, **others: str) -> ModuleType:
        name = f"program_{next(_serial)}"
        for other, other_text in {**others, name: text}.items():
            (tmp_path / f"{other}.py").write_text(textwrap.dedent(other_text).replace("PROGRAM", name))
            made.append(other)
        importlib.invalidate_caches()
        return importlib.import_module(name)

    yield make
    for name in made:
        sys.modules.pop(name, None)


# Globals ----------------------------------------------------------------------------------------------------------

READS = "def f(t): return TABLE[t.key]\n"
CONSTANT = {
    "a dict": "TABLE = {'a': 1}",
    "filled by a comprehension": "TABLE = {k: 1 for k in 'abc'}",
    "filled by statements": "TABLE = {}\nfor k in 'abc':\n    TABLE[k] = 1\nTABLE.update(d=4)",
    "made by a builtin": "TABLE = dict(a=1)",
    "made by a library": "import json\nTABLE = json.loads('{\"a\": 1}')",
    "made by a function of the user": "def make():\n    table = {}\n    table['a'] = 1\n    return table\nTABLE = make()",
    "read by others": "TABLE = {'a': 1}\ndef g(t):\n    return len(TABLE), sorted(TABLE), 'a' in TABLE, {**TABLE}",
    "read through a variable": "TABLE = {'a': 1}\ndef g(t):\n    mine = TABLE\n    return mine['a'] + len(mine)",
    "under two names": "TABLE = {'a': 1}\nOTHER = TABLE",
    "shadowed elsewhere": "TABLE = {'a': 1}\ndef g(TABLE):\n    TABLE['b'] = 2\ndef h():\n    TABLE = []\n    TABLE.append(1)",
    "nested": "TABLE = {'a': {'b': [1]}}\ndef f(t): return TABLE[t.key]['b'][0]",
    "a list": "TABLE = [1, 2]\ndef f(t): return TABLE[0], max(TABLE), [x for x in TABLE], t.n in TABLE",
    "a template": "import string\nT = string.Template('a')\ndef f(t): return T.substitute(a=t.key)",
    "a method": "class C:\n    def m(self): return 1\ndef h(x): x.m = 1\nclass D: pass\nh(D())\ndef f(t): return C().m()",
    "made by the constructor of a base": "class B:\n    def __init__(self): self.n = 1\nclass C(B):\n"
    "    def __init__(self): B.__init__(self)\nc = C()\ndef f(t): return c.n",
    "beside vars() of something else": "import argparse\nTABLE = {'a': 1}\nOPTIONS = vars(argparse.Namespace(a=1))",
    "beside a name of the user's own": "TABLE = {'a': 1}\nvars = [1]\ndef g(t): return vars",
    "beside globals of a function that are read": "TABLE = {'a': 1}\ndef h(): pass\ndef g(t): return h.__globals__['other']",
    "a mapping proxy": "from types import MappingProxyType\nTABLE = MappingProxyType({'a': 1})",
}
CHANGING = {
    "written by a function": "TABLE = {}\ndef g(t): TABLE[t.key] = 1",
    "written by a lambda": "TABLE = {}\ng = lambda t: TABLE.update(a=1)",
    "written by a method": "TABLE = {}\nclass C:\n    def g(self): TABLE.clear()",
    "written in a generator expression": "TABLE = {}\nlater = (TABLE.update(a=x) for x in [1])",
    "rebound by a function": "TABLE = {}\ndef g(t):\n    global TABLE\n    TABLE = {1: 1}",
    "handed to a function": "TABLE = {}\ndef g(table): table['x'] = 1\ndef h(t): g(TABLE)",
    "handed to a class": "TABLE = {}\nclass C:\n    def __init__(self, table): self.table = table\nC(TABLE)",
    "given back by a function": "TABLE = {}\ndef g(): return TABLE",
    "written through a variable": "TABLE = {}\ndef g(t):\n    mine = TABLE\n    mine['x'] = 1",
    "written under its second name": "TABLE = {}\nOTHER = TABLE\ndef g(t): OTHER['x'] = 1",
    "a part of another": "OUTER = {'a': {}}\nTABLE = OUTER['a']\ndef g(t): OUTER['a']['x'] = 1",
    "with a part that is written": "PART = []\nTABLE = {'a': PART}\ndef g(t): PART.append(1)\ndef f(t): return TABLE['a'][0]",
    "whose part is written": "TABLE = {'a': [1]}\ndef g(t): TABLE['a'].append(1)\ndef f(t): return TABLE['a'][0]",
    "whose part is written in a loop": "TABLE = [[1]]\ndef g(t):\n    for row in TABLE: row.append(1)\ndef f(t): return TABLE[0][0]",
    "inside a tuple": "TABLE = ([1],)\ndef g(t): TABLE[0].append(1)\ndef f(t): return TABLE[0][0]",
    "written by globals()": "TABLE = {}\ndef g(t): globals()['TABLE'] = {}",
    "written by exec": "TABLE = {}\ndef g(t): exec('TABLE[1] = 2')",
    "taken by globals()": "TABLE = {}\ndef g(t): globals()[t.key].clear()",
    "written by the globals of a function": "TABLE = {}\ndef h(): pass\ndef g(t): h.__globals__['TABLE'] = {}",
    "taken by the globals of a function": "TABLE = {}\ndef h(): pass\ndef g(t): h.__globals__.update(TABLE={})",
    "taken from a copy of the globals": "TABLE = {}\ndef h(): pass\ndef g(t): {**h.__globals__}[t.key].clear()",
    "written by a frame": "import inspect\nTABLE = {}\ndef g(t): inspect.currentframe().f_globals['TABLE'] = {}",
    "written by globals() that are kept": "TABLE = {}\nG = globals()\ndef g(t): G['TABLE'] = {}",
    "written by globals() that are a default": "TABLE = {}\ndef g(t, names=globals()): names['TABLE'] = {}",
    "written by the global of a class": "n = 1\ndef g(t):\n    class C:\n        global n\n        n = 2\ndef f(t): return n",
    "taken by a pattern": "TABLE = {}\ndef h(): pass\ndef g(t):\n    match h:\n        case object(__globals__=names): names.clear()",
    "an object that is made again": "class C:\n    def __init__(self, n): self.n = n\nc = C(1)\n"
    "def g(t): c.__init__(2)\ndef f(t): return c.n",
    "an object that is made again by its class": "class C:\n    def __init__(self, n): self.n = n\nc = C(1)\n"
    "def g(t): C.__init__(c, 2)\ndef f(t): return c.n",
    "an object whose dict is kept": "class C:\n    def __init__(self): self.n = 1\nc = C()\nD = c.__dict__\n"
    "def g(t): D['n'] = 2\ndef f(t): return c.n",
    "an object written by setattr of another name": "class C:\n    def __init__(self): self.n = 1\nc = C()\n"
    "put = setattr\ndef g(t): put(c, 'n', 2)\ndef f(t): return c.n",
    "an object handed to setattr": "import functools\nclass C:\n    def __init__(self): self.n = 1\nc = C()\n"
    "def g(t): functools.partial(setattr, c)('n', 2)\ndef f(t): return c.n",
    "an object written by its base": "class C:\n    def __init__(self): self.n = 1\n"
    "    def h(self): super().__setattr__('n', 2)\nc = C()\ndef g(t): c.h()\ndef f(t): return c.n",
    "an object written through a slot": "class C:\n    __slots__ = ('n',)\n    def __init__(self): self.n = 1\nc = C()\n"
    "def g(t): C.n.__set__(c, 2)\ndef f(t): return c.n",
    "written through a proxy": "import weakref\nclass C:\n    n = 1\nc = C()\np = weakref.proxy(c)\n"
    "def g(t): p.n = 2\ndef f(t): return c.n",
    "made by a function that keeps it": "KEPT = []\ndef make():\n    table = {}\n    KEPT.append(table)\n    return table\nTABLE = make()",
    "made by a function that gives a global": "KEPT = {}\ndef make(): return KEPT\nTABLE = make()\ndef g(t): KEPT['x'] = 1",
    "in a shadowed builtin": "TABLE = {}\ndef g(len): len(TABLE)",
    "kept by a dict": "TABLE = {}\ndef g(t): dict(a=TABLE)['a'].clear()",
    "handed out by an iterator": "import itertools\nTABLE = {}\ndef g(t): next(itertools.repeat(TABLE)).clear()",
    "under the name that `and` gives it": "TABLE = [1]\ndef g(t):\n    mine = t and TABLE\n    mine += [2]",
    "under the name that a pattern gives it": "TABLE = {}\ndef g(t):\n    match TABLE:\n        case mine: mine.clear()",
    "a defaultdict that others look into": "from collections import defaultdict\nTABLE = defaultdict(int)\n"
    "def g(t): return TABLE[t.key]\ndef f(t): return len(TABLE)",
    "a library's function that is exchanged": "import math\ndef f(t): return math.floor(t.n)\ndef g(t): math.floor = len",
    "a builtin that is exchanged": "import builtins\ndef f(t): return len(t.key)\ndef g(t): builtins.len = print",
    "a function with exchanged code": "def h(n): return n\ndef g(t): h.__code__ = g.__code__\ndef f(t): return h(t.n)",
    "a function with exchanged defaults": "def h(n=1): return n\ndef g(t): h.__defaults__ = (2,)\ndef f(t): return h()",
    "a method that is exchanged": "class C:\n    def m(self): return 1\ndef g(t): C.m = print\ndef f(t): return C().m()",
    "a method exchanged by a helper": "class C:\n    def m(self): return 1\ndef h(k): k.m = print\ndef g(t): h(C)\n"
    "def f(t): return C().m()",
    "a special method that is exchanged": "class C: pass\ndef g(t): C.__eq__ = print\ndef f(t): return C() == 1",
    "a frozen object that is thawed": "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass C:\n    n: int\n"
    "c = C(1)\ndef g(t): object.__setattr__(c, 'n', 2)\ndef f(t): return c.n",
    "a member of an enumeration": "import enum\nclass E(enum.Enum):\n    A = 1\n"
    "def g(t): E.A.label = 'x'\ndef f(t): return getattr(E.A, 'label', '')",
    "a template": "import string\nT = string.Template('a')\ndef g(t): T.template = 'b'\ndef f(t): return T.substitute()",
}  # fmt: skip


@pytest.mark.parametrize("text", CONSTANT.values(), ids=CONSTANT.keys())
def test_a_global_that_nothing_running_can_change_may_be_read(program: Program, text: str) -> None:
    module = program(READS * ("def f(" not in text) + text)
    assert found(module.f).shared == ()


@pytest.mark.parametrize("text", CHANGING.values(), ids=CHANGING.keys())
def test_a_global_that_something_may_change_is_shared(program: Program, text: str) -> None:
    module = program(READS * ("def f(" not in text) + text)
    assert found(module.f).shared


def test_a_number_that_a_function_assigns_is_shared(program: Program) -> None:
    module = program("""
        n = m = 0
        def bump():
            global n
            n += 1
        def f(t): return n
        def g(t): return m
    """)
    [reason] = found(module.f).shared
    assert "reads the global `n`, which is assigned by a function" in reason.text
    assert is_constant(module.g)


def test_globals_of_a_function_that_are_only_read_stay_what_they_are(program: Program) -> None:
    module = program("""
        n = 1
        def f(t): return n
        def g(t): return {**f.__globals__}, f.__globals__.get(t.key), f.__globals__['n'], t.key in f.__globals__
    """)
    assert is_constant(module.f)


def test_another_module_can_write_a_global(program: Program) -> None:
    config = "RATE = 1\nTABLE = {'a': 1}\nFREE = {'a': 1}\n"
    module = program(
        """
        import settings
        from settings import TABLE, FREE
        import writer
        def rate(t): return settings.RATE
        def table(t): return TABLE[t.key]
        def free(t): return FREE[t.key] + settings.FREE[t.key]
        """,
        settings=config,
        writer="import settings\ndef g(t):\n    settings.RATE = 2\n    settings.TABLE['x'] = 1\n",
    )
    assert not is_constant(module.rate)
    assert not is_constant(module.table)
    assert is_constant(module.free)


@pytest.mark.parametrize(
    "writes",
    [
        "setattr(settings, 'RATE', 2)",
        "setattr(settings, name, 2)",
        "vars(settings)['RATE'] = 2",
        "settings.__dict__.update(RATE=2)",
        "settings.f.__globals__['RATE'] = 2",
        "patch(settings, name)\ndef patch(module, name): setattr(module, name, 3)",
        "import settings as mine; mine.RATE = 2",
        "import settings as mine; setattr(mine, name, 2)",
    ],
)
def test_another_module_can_write_a_global_by_other_means(program: Program, writes: str) -> None:
    module = program(
        "import settings, writer\ndef rate(t): return settings.RATE\n",
        settings="RATE = 1\n",
        writer=f"import settings\ndef g(name): {writes}\n",
    )
    assert not is_constant(module.rate)


def test_a_class_that_sets_its_own_attributes_writes_no_global(program: Program) -> None:
    module = program(
        "import plain_settings, plain_other\ndef rate(t): return plain_settings.RATE\n",
        plain_settings="RATE = 1\n",
        plain_other="""
        import plain_settings
        class C:
            def __init__(self, **given):
                self.__dict__.update(given)
            def set(self, name, value):
                self.RATE = value
                setattr(self, name, value)
            def __setattr__(self, name, value):
                super().__setattr__(name, value)
        """,
    )
    assert is_constant(module.rate)


def test_a_helper_that_is_replaced_during_a_run_is_not_followed(program: Program) -> None:
    module = program("""
        def helper(n): return n
        def f(t): return helper(t.n)
        def g(t):
            global helper
            helper = print
    """)
    assert not is_constant(module.f)


def test_mutable_objects_of_libraries_are_not_constants(program: Program) -> None:
    module = program("""
        import os, sys
        from os import environ
        def f(t): return os.environ["HOME"]
        def g(t): return environ.get("HOME")
        def h(t): return sys.argv[0]
        def i(t): return sys.maxsize + len(os.sep)
    """)
    assert [is_constant(fn) for fn in (module.f, module.g, module.h, module.i)] == [False, False, False, True]


def test_a_decimal_context_that_somebody_sets_is_shared(program: Program) -> None:
    text = "from decimal import Decimal, getcontext\ndef f(t): return Decimal(t.key) / 3\n"
    assert is_constant(program(text.replace(", getcontext", "")).f)
    assert not is_constant(program(text + "def set_up(): getcontext().prec = 5\n").f)


# Variables of enclosing functions -----------------------------------------------------------------------------------


def number_captured() -> Any:
    factor = 3
    return lambda t: t.n * factor


def parameter_captured(factor: int = 3) -> Any:
    return lambda t: t.n * factor


def dict_captured() -> Any:
    table = {"a": 1}
    table["b"] = 2
    return lambda t: table[t.key]


def function_captured() -> Any:
    def double(n: int) -> int:
        return n * 2

    return lambda t: double(t.n)


def loop_captured() -> Any:
    fns = []
    for i in range(3):
        fns.append(lambda t: t.n + i)
    return fns[0]


@pytest.mark.parametrize("make", [number_captured, parameter_captured, dict_captured, function_captured, loop_captured])
def test_variables_that_nobody_writes_may_be_captured(make: Any) -> None:
    assert is_constant(make())


def nonlocal_captured() -> Any:
    n = 0

    def f(t: Item) -> int:
        nonlocal n
        n += 1
        return n

    return f


def sibling_writes() -> Any:
    n = 0

    def write() -> None:
        nonlocal n
        n += 1

    return lambda t: n, write


def sibling_changes() -> Any:
    table: dict[str, int] = {}
    return lambda t: table.get(t.key), lambda t: table.update(a=1)


def dict_handed_out() -> Any:
    table: dict[str, int] = {}
    return lambda t: table.get(t.key), table


def list_written() -> Any:
    rows: list[str] = []
    return lambda t: rows.append(t.key)


def generator_captured() -> Any:
    steps = (n for n in range(9))
    return lambda t: next(steps)


def rebound_captured() -> Any:
    f: Any = len
    g = lambda t: f(t.key)
    f = print
    return g


def dict_parameter(table: dict[str, int]) -> Any:
    return lambda t: table.get(t.key)


_handed = {"a": 1}


@pytest.mark.parametrize(
    "make",
    [nonlocal_captured, sibling_writes, sibling_changes, dict_handed_out, list_written, generator_captured,
     rebound_captured, lambda: dict_parameter(_handed)],
)  # fmt: skip
def test_variables_that_somebody_may_write_are_shared(make: Any) -> None:
    made = make()
    assert not is_constant(made[0] if isinstance(made, tuple) else made)


def test_a_factory_that_is_only_given_new_dicts_makes_constant_functions(program: Program) -> None:
    text = "def scale(rates):\n    return lambda t: rates.get(t.key, 1.0)\nf = scale({'a': 2.0})\n"
    assert is_constant(program(text).f)
    assert not is_constant(program(text + "RATES = {}\ng = scale(RATES)\n").f)
    assert not is_constant(program(text + "make = [scale]\n").f)


# Defaults and attributes --------------------------------------------------------------------------------------------


def test_a_default_that_is_only_read_is_a_constant(program: Program) -> None:
    module = program("""
        def f(t, table={'a': 1}): return table.get(t.key)
        def g(t, table={}):
            return table
        TABLE = {}
        def h(t, table=TABLE): return table.get(t.key)
    """)
    assert is_constant(module.f)
    assert not is_constant(module.g)
    assert not is_constant(module.h)


def test_class_attributes_are_constants_if_nobody_assigns_them(program: Program) -> None:
    module = program("""
        class A:
            rate = 1
            table = {'a': 1}
            free = 5
            def set(self): self.free = 6
        class B:
            rate = 1
            table = {'a': 1}
        def write(t):
            B.rate = 2
            B.table['b'] = 1
        def reset(cls): cls.anything = 1
        def f(t): return A.rate + A.table[t.key] + A.free
        def g(t): return B.rate
        def h(t): return B.table[t.key]
    """)
    assert [is_constant(fn) for fn in (module.f, module.g, module.h)] == [True, False, False]


def test_instances_are_constants_if_only_their_constructor_assigns(program: Program) -> None:
    module = program("""
        import dataclasses
        class Config:
            def __init__(self, rate): self.rate = rate; self.other = 1; self.words = ["a"]; self.late = 0
            def set(self): self.other = 2
            def scaled(self, n): return n * self.rate
        config = Config(3)
        @dataclasses.dataclass(frozen=True)
        class Frozen:
            rate: int
        frozen = Frozen(3)
        def assign(x): x.late = 1
        def change(): config.set()
        def f(t): return config.scaled(t.n) + frozen.rate
        def g(t): return config.other
        def h(t): return config.words[0]
        def i(t): return config.late
    """)
    assert [is_constant(fn) for fn in (module.f, module.g, module.h, module.i)] == [True, False, True, False]


def test_what_a_method_assigns_that_nobody_calls_any_more_is_constant(program: Program) -> None:
    module = program("""
        class Model:
            def __init__(self): self.weight = 0; self.seen = []
            def fit(self, numbers): self.weight = sum(numbers); self.seen.append(len(numbers)); return self
            def predict(self, t): return t.n * self.weight + len(self.seen)
        class Loose(Model):
            def fit_more(self, n): self.weight += n
            def itself(self): return self
        model = Model().fit([1, 2])
        loose = Loose().fit([1, 2])
        loose.fit_more(3)
        def f(t): return model.predict(t)
        def g(t): return loose.predict(t)
        def h(t): return loose.itself()
    """)
    assert [is_constant(fn) for fn in (module.f, module.g)] == [True, False]


def test_a_list_of_another_module_of_the_program_is_no_table_of_a_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_package").mkdir()
    (tmp_path / "own_package" / "limits.py").write_text("LIMITS = [1.0, 2.0]\n")
    (tmp_path / "own_package" / "program.py").write_text(
        "from functools import partial\nfrom typing import NamedTuple\n\nimport anabranch as ab\n"
        "from own_package.limits import LIMITS\n\nshow = partial(print, LIMITS)\n\n\n"
        "class Reading(NamedTuple):\n    value: float\n\n\n"
        "def doubled(reading: Reading) -> Reading:\n    return Reading(2 * reading.value)\n\n\n"
        'program = ab.from_items(Reading, []).map(doubled).collect("out")\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    program = importlib.import_module("own_package.program").program
    assert ab.explain(program).why_not("doubled") == ()
