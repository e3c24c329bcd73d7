"""A plan depends on the program and on what it reaches, never on what else is loaded."""

from __future__ import annotations

import builtins
import gc
import importlib
import logging
import math
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import anabranch as ab
from anabranch.analysis.compilation import compilation, the_compilation
from anabranch.analysis.live_code import live_codes
from anabranch.analysis.program import look_at_code, look_at_program
from anabranch.compiler import compile
from anabranch.explain import explain
from anabranch.load import build, load_app
from anabranch.run import as_program

WORDS = """
    from typing import NamedTuple
    import anabranch as ab

    class Item(NamedTuple):
        key: str
        n: int

    table = {"a": 1}
    hooks = []

    class Names:
        known = {"a": 1}

        def spell(self, key):
            return self.known.get(key, 0)

    def number(item: Item) -> Item:
        return item._replace(n=table.get(item.key, 0))

    def spelled(item: Item) -> Item:
        return item._replace(n=Names().spell(item.key))

    def program(fn=number):
        return ab.from_items(Item, [Item("a", 1)]).map(fn).named("op").collect("out")
"""
CHANGING = """
    import NAME as words

    def grow(item):
        words.table[item.key] = len(words.table)
        words.Names.known[item.key] = 1
        return item
"""
Load = Callable[..., Any]


PARKING_IN_A_LOGGER = textwrap.dedent(
    """
    import logging

    class Handler(logging.Handler):
        def emit(self, record):
            grow(record.args[0])

    logging.getLogger("words of a test").addHandler(Handler())
    """
)


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    """Writes a module and imports it; NAME stands for the first that was loaded."""
    monkeypatch.syspath_prepend(str(tmp_path))
    made: list[str] = []

    def write(text: str) -> Any:
        made.append(f"reach_{tmp_path.name}_{len(made)}".replace("-", "_"))
        (tmp_path / f"{made[-1]}.py").write_text(textwrap.dedent(text).replace("NAME", made[0]))
        importlib.invalidate_caches()
        return importlib.import_module(made[-1])

    yield write
    for name in made:
        sys.modules.pop(name, None)


def _state(*sinks: Any) -> str:
    return compile(as_program(*sinks).graph, until="properties").properties["op"].state.value


def test_a_module_that_only_imports_the_program_says_nothing(load: Load) -> None:
    words = load(WORDS)
    load(CHANGING)
    assert _state(words.program()) == "stateless"
    assert _state(words.program(words.spelled)) == "stateless"


def test_an_operator_of_another_module_that_changes_it_does(load: Load) -> None:
    words = load(WORDS)
    other = load(CHANGING)
    more = ab.from_items(words.Item, []).map(other.grow, out=words.Item).collect("more")
    assert _state(words.program(), more) == "stateful"
    assert _state(words.program()) == "stateless"


@pytest.mark.parametrize(
    "reaching",
    [
        pytest.param("def later():\n    import OTHER", id="an import in a function"),
        pytest.param(
            "def later():\n    import importlib\n    importlib.import_module('OTHER')", id="its name as a text"
        ),
        pytest.param("import OTHER\nhooks.append(OTHER.grow)", id="a function in a list"),
        pytest.param("import OTHER\nNames.grow = OTHER.grow\ndel OTHER", id="a method"),
        pytest.param(
            "import functools, OTHER\nlater = functools.partial(OTHER.grow)\ndel OTHER", id="a partial function"
        ),
        pytest.param("import weakref, OTHER\nlater = weakref.ref(OTHER.grow)\ndel OTHER", id="a weak reference"),
        pytest.param("import OTHER\nlater = (each for each in [OTHER.grow])\ndel OTHER", id="a generator"),
        pytest.param("exec('import OTHER')\nhooks.append(OTHER)\ndel OTHER", id="the module in a list"),
    ],
)
def test_what_a_module_of_the_program_reaches_does(load: Load, reaching: str) -> None:
    words = load(WORDS)
    other = load(CHANGING)
    text = textwrap.dedent(WORDS).replace("table = {", "from NAME import table\n_ = {")
    mine = load(text + reaching.replace("OTHER", other.__name__))
    assert mine.table is words.table
    assert _state(mine.program()) == "stateful"


def test_a_class_that_derives_from_one_of_the_program_elsewhere_says_nothing(load: Load) -> None:
    words = load(WORDS)
    load(
        """
        import NAME as words

        class Grown(words.Names):
            def grow(self, key):
                self.known[key] = 1
        """
    )
    assert _state(words.program(words.spelled)) == "stateless"


def test_a_launcher_that_loads_programs_by_name_says_nothing(load: Load) -> None:
    words = load(WORDS)
    load(
        """
        import importlib
        import NAME

        def launch(name):
            return importlib.import_module(name).program()
        """
    )
    assert _state(words.program()) == "stateless"


def test_modules_of_a_package_that_nobody_names_say_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / f"package_{tmp_path.name}".replace("-", "_")
    package.mkdir()
    name = package.name
    (package / "__init__.py").write_text("")
    (package / "words.py").write_text(textwrap.dedent(WORDS))
    (package / "changing.py").write_text(textwrap.dedent(CHANGING).replace("NAME", f"{name}.words"))
    (package / "app.py").write_text(f"import {name}.words\nfrom {name}.words import *\n")
    (package / "calling.py").write_text(
        textwrap.dedent(WORDS)
        + f"import {name}\nfrom {name}.words import table\n\ndef f():\n    {name}.changing.grow(1)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    for module in ("words", "changing", "app", "calling"):
        importlib.import_module(f"{name}.{module}")
    try:
        assert _state(sys.modules[f"{name}.app"].program()) == "stateless"
        assert _state(sys.modules[f"{name}.calling"].program()) == "stateful"
    finally:
        for module in [each for each in sys.modules if each.split(".")[0] == name]:
            del sys.modules[module]


def test_the_examples_compile_beside_busy_threads_as_they_do_alone() -> None:
    files = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
    programs = [build(load_app(str(file)), {}) for file in files]
    alone = [str(explain(program)) for program in programs]
    stop = threading.Event()
    beside: list[str] = []
    forgotten = [0, 0, 0]

    def make_and_forget(number: int) -> None:
        while not stop.wait(0.002):
            names: dict[str, Any] = {"__name__": "made"}
            exec("class A:\n    def f(self):\n        return [A]", names)
            names["self"] = [names["A"]() for _ in range(50)]
            forgotten[number] += 1
        forgotten[number] = -forgotten[number]  # none of them failed

    busy = [threading.Thread(target=make_and_forget, args=[number]) for number in range(3)]
    compiling = threading.Thread(target=lambda: beside.extend(str(explain(program)) for program in programs))
    for thread in (*busy, compiling):
        thread.start()
    try:
        here = [str(explain(program)) for program in programs]
        compiling.join()
    finally:
        stop.set()
        for thread in busy:
            thread.join()
    assert here == alone
    assert beside == alone
    assert max(forgotten) < 0


def test_other_threads_do_not_fail_while_all_objects_are_looked_at() -> None:
    """Of a tuple that is being made nobody else may have a reference, not even for a moment: it could not grow."""
    stop, problems = threading.Event(), list[BaseException]()

    def make_tuples() -> None:
        try:
            while not stop.is_set():
                tuple(number for number in range(500))
        except BaseException as problem:
            problems.append(problem)

    making = [threading.Thread(target=make_tuples) for _ in range(3)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in making:
            thread.start()
        for _ in range(5):
            live_codes()
    finally:
        stop.set()
        sys.setswitchinterval(interval)
        for thread in making:
            thread.join()
    assert problems == []


def test_what_a_thread_compiles_is_no_business_of_others(load: Load) -> None:
    words = load(WORDS)
    graph = as_program(words.program()).graph
    found: list[object] = []
    with look_at_program(graph, thoroughly=True):
        here = compilation()
        with look_at_program(graph, thoroughly=False), look_at_code(words.number):
            assert compilation() is here  # all of it is one
        asking = threading.Thread(target=lambda: found.append(compilation()))
        asking.start()
        asking.join()
    assert here is not None
    assert here.graph is graph
    assert found == [None]
    assert compilation() is None


def test_objects_are_not_asked_what_they_are(load: Load) -> None:
    words = load(
        WORDS
        + """
    asked = []

    class Proxy:
        @property
        def __class__(self):
            asked.append("class")
            return dict

        def __getattr__(self, name):
            asked.append(name)
            raise AttributeError(name)

    proxy = Proxy()
    """
    )
    _state(words.program())
    assert words.asked == []


CALLS = """
    def other(item: Item) -> Item:
        import OUTSIDE
        OUTSIDE.call(item)
        return item

    def calls():
        return ab.from_items(Item, []).map(other).collect("more")
"""


@pytest.fixture
def outside() -> Iterator[str]:
    """A library with a list of what it calls."""
    library = ModuleType("library_of_a_test")
    exec("hooks = []\ndef call(item):\n    for hook in hooks:\n        hook(item)", vars(library))
    library.__file__ = logging.__file__
    sys.modules[library.__name__] = library
    yield library.__name__
    del sys.modules[library.__name__]


@pytest.mark.parametrize(
    "handing_out",
    [
        pytest.param("library.hooks.append(grow)", id="a function"),
        pytest.param("library.hook = grow", id="an attribute of its module"),
        pytest.param("library.hooks.append(functools.partial(grow))", id="a partial function"),
        pytest.param("library.hooks.append(lambda item: grow(item))", id="a lambda"),
        pytest.param("class Hook:\n    __call__ = grow\nlibrary.hooks.append(Hook())", id="an instance"),
        pytest.param("class Hook:\n    __call__ = grow\nlibrary.hooks.append(Hook)", id="a class"),
        pytest.param("kept = grow\nlibrary.hooks.append(weakref.ref(kept))", id="a weak reference"),
        pytest.param(
            "names = {'grow': grow}\nexec('def hook(item): grow(item)', names)\nlibrary.hooks.append(names['hook'])",
            id="executed code",
        ),
        pytest.param("library.hooks.append(sys.modules[__name__])", id="the module"),
        pytest.param(
            "class Zone(datetime.tzinfo): pass\nlibrary.at = datetime.datetime(2024, 1, 1, tzinfo=Zone())",
            id="a time zone",
        ),
        pytest.param("context = contextvars.ContextVar('hook')\ncontext.set(grow)", id="a variable of the context"),
        pytest.param("def later():\n    sys.addaudithook(grow)", id="what the interpreter does not show"),
    ],
)
def test_what_is_not_known_may_lead_to_who_has_handed_something_to_a_library(
    load: Load, outside: str, handing_out: str
) -> None:
    words = load(WORDS + CALLS.replace("OUTSIDE", outside))
    imports = f"import contextvars, datetime, functools, sys, weakref\nimport {outside} as library\n"
    load(imports + textwrap.dedent(CHANGING) + "\n" + handing_out)
    assert _state(words.program(), words.calls()) == "stateful"
    assert _state(words.program()) == "stateless"


def test_it_does_not_lead_to_who_has_handed_nothing_out(load: Load, outside: str) -> None:
    words = load(WORDS + CALLS.replace("OUTSIDE", outside))
    load(CHANGING)
    assert _state(words.program(), words.calls()) == "stateless"


@pytest.mark.parametrize(
    ("parking", "calling"),
    [
        pytest.param(
            "import math\nmath.hook = grow", "import math\n    math.hook(item)", id="an attribute of a library"
        ),
        pytest.param(
            PARKING_IN_A_LOGGER,
            'import logging\n    logging.getLogger("words of a test").warning("%s", item)',
            id="a handler of a logger",
        ),
    ],
)
def test_so_it_may_to_a_library_of_everybody(load: Load, parking: str, calling: str) -> None:
    words = load(
        WORDS
        + "\n    def other(item: Item) -> Item:\n        "
        + calling.replace("\n    ", "\n        ")
        + "\n        return item\n"
        + '\n    def calls():\n        return ab.from_items(Item, []).map(other).collect("more")\n'
    )
    try:
        load(textwrap.dedent(CHANGING) + "\n" + textwrap.dedent(parking))
        assert _state(words.program(), words.calls()) == "stateful"
        assert _state(words.program()) == "stateless"
    finally:
        logging.getLogger("words of a test").handlers.clear()
        vars(math).pop("hook", None)


def test_names_of_executed_code_that_somebody_has_as_a_dictionary_are_reached(load: Load) -> None:
    words = load(WORDS)
    words.hooks.append({"__name__": "code of a dictionary"})
    exec(builtins.compile("def grow(n):\n    return n", "<executed>", "exec"), words.hooks[0])
    with look_at_program(as_program(words.program()).graph, thoroughly=True):
        reached = the_compilation().namespaces
    assert [each.names["__name__"] for each in reached] == [words.__name__, "code of a dictionary"]


def test_all_objects_are_looked_at_once_or_twice_however_much_code_was_executed(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may be many millions: once for what is loaded, and once for what stands in no file."""
    words = load(WORDS)
    words.helpers = [{"__name__": f"executed_{number}"} for number in range(20)]
    for names in words.helpers:
        exec(builtins.compile("def help(n):\n    return n + 1", f"<{names['__name__']}>", "exec"), names)
    program = as_program(words.program())
    looks = []
    get_objects = gc.get_objects
    monkeypatch.setattr(gc, "get_objects", lambda *given: looks.append(given) or get_objects(*given))
    compile(program.graph)
    assert looks.count((0,)) <= 2 * 2  # twice each time: for the objects, and for their kinds


def test_so_may_what_a_source_iterates_over(load: Load) -> None:
    words = load(WORDS)
    feeds = load(
        """
        import logging
        import anabranch as ab

        class Feed:
            def __iter__(self):
                logging.getLogger("words of a test").warning("%s", "a")
                yield from ()

        def read(schema, items):
            return ab.from_items(schema, items).collect("more")
        """
    )
    try:
        load(textwrap.dedent(CHANGING) + PARKING_IN_A_LOGGER)
        assert _state(words.program(), feeds.read(words.Item, feeds.Feed())) == "stateful"
        assert _state(words.program(), feeds.read(words.Item, range(0))) == "stateless"
    finally:
        logging.getLogger("words of a test").handlers.clear()
