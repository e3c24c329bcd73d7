"""Calls of every builtin, every method of a builtin type, and the library, with the object among the arguments."""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import itertools
from collections.abc import Iterator

from .constructs import THEN, Construct
from .texts import read_pieces


def _of(section: str) -> tuple[str, ...]:
    return tuple(text for name, text in read_pieces("library.txt") if name == section)


MODULES = _of("modules")
SINGLE = _of("functions")  # beside the modules that are taken whole

# They end or stop the process, read its input, or change what it is.
_LEFT_OUT = frozenset(_of("left out"))

_EXPRESSIONS = {
    "int": "(1)", "float": "(1.0)", "complex": "(1j)", "str": "'a'", "bytes": "b'a'", "bytearray": "bytearray(b'a')",
    "list": "[1, 2]", "tuple": "(1, 2)", "dict": "{1: 2}", "set": "{1, 2}", "frozenset": "frozenset([1, 2])",
    "range": "range(3)", "slice": "slice(1)", "memoryview": "memoryview(b'a')",
}  # fmt: skip
_HOLDING = {
    "list": "[x, 1]", "tuple": "(x, 1)", "dict": "{x: 1}", "set": "{x, 1}", "frozenset": "frozenset([x])",
}  # fmt: skip
ARGUMENTS = _of("arguments")


def library_constructs() -> Iterator[tuple[str, list[Construct]]]:
    """For each callable, the calls that may be made of it."""
    for name in sorted(vars(builtins)):
        value = getattr(builtins, name)
        is_error = isinstance(value, type) and issubclass(value, BaseException)
        if callable(value) and f"builtins.{name}" not in _LEFT_OUT and not name.startswith("_") and not is_error:
            yield _calls(f"builtins.{name}", name)
    for name in _EXPRESSIONS:
        yield from _methods(name)
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in getattr(module, "__all__", None) or sorted(vars(module)):
            value = getattr(module, name, None)
            qualified = f"{module_name}.{name}"
            if name.startswith("_") or inspect.ismodule(value) or not callable(value) or qualified in _LEFT_OUT:
                continue
            home = getattr(value, "__module__", None)
            is_own = home in (module_name, None) or home.lstrip("_").startswith(module_name) or module_name in _GATHERED
            if is_own and not (isinstance(value, type) and issubclass(value, BaseException)):
                yield _calls(qualified, qualified)
    for qualified in SINGLE:
        yield _calls(qualified, qualified)
    for kind, pieces in itertools.groupby(read_pieces("objects.txt"), lambda piece: piece[0]):
        yield kind, [Construct(kind, code) for _, code in pieces]


_LAZY = ("builtins.map", "builtins.filter", "builtins.zip", "builtins.enumerate", "builtins.reversed", "builtins.iter")
_GATHERED = (
    "os.path",
    "random",
    "operator",
    "collections.abc",
    "string",
    "pickle",
    "functools",
    "io",
    "decimal",
    "csv",
    "datetime",
)


def _calls(kind: str, called: str) -> tuple[str, list[Construct]]:
    calls = [_call(kind, called, each) for each in ARGUMENTS]
    if kind.startswith("itertools.") or kind in _LAZY:
        calls += [_call(kind, called, each, "for v in itertools.islice({}, 3): pass") for each in ARGUMENTS]
    return kind, calls


def _call(kind: str, called: str, arguments: str, around: str = "{}") -> Construct:
    """A call; what is not a name or a number is made before the probe looks, so that only the call counts."""
    code = around.format(f"{called}({arguments})")
    call = ast.parse(f"f({arguments})").body[0].value
    lines = []
    for at, node in enumerate([*call.args, *(keyword.value for keyword in call.keywords)]):
        if isinstance(node, ast.Dict | ast.Set | ast.List | ast.Tuple | ast.Call):
            lines.append(f"a{at} = {ast.unparse(node)}")
            if at < len(call.args):
                call.args[at] = ast.Name(f"a{at}")
            else:
                call.keywords[at - len(call.args)].value = ast.Name(f"a{at}")
    apart = "\n".join([*lines, THEN, around.format(called + ast.unparse(call).removeprefix("f"))])
    return Construct(kind, code, apart)


def _methods(type_name: str) -> Iterator[tuple[str, list[Construct]]]:
    kind = getattr(builtins, type_name)
    for name in sorted(dir(kind)):
        qualified = f"builtins.{type_name}.{name}"
        if name.startswith("__") or not callable(getattr(kind, name)) or qualified in _LEFT_OUT:
            continue
        calls = [_call(qualified, f"{_EXPRESSIONS[type_name]}.{name}", each) for each in ARGUMENTS]
        calls += [Construct(qualified, f"{type_name}.{name}({each})") for each in ("x", "x, 1")]
        if type_name in _HOLDING:
            for each in ("", "1", "x", "(1, x)", "[x]", "{x}", "key=x", "x, 1"):
                call = _call(qualified, f"y.{name}", each)
                setting_up = f"y = {_HOLDING[type_name]}\n"
                calls.append(Construct(qualified, setting_up + call.code, setting_up + call.apart))
        if type_name == "str":
            texts = ("{}", "{0!r}", "{0.a}", "{0[b]}", "{:>{}}", "{a}", "{b}")
            for each in ("x", "a=x", "1, x", "x, 1", "x, x"):
                calls += [_call(qualified, f"'{text}'.{name}", each) for text in texts]
        yield qualified, calls
