"""What builtins and functions of `math` give, and which of them native code may call."""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Sequence
from typing import Any

from anabranch.analysis.words import words
from anabranch.codegen.inference.joins import NOTHING, described, is_maybe_int, join, marked, marks_of
from anabranch.codegen.inference.operators import Judged, truth
from anabranch.codegen.runtime import NATIVE_FUNCTIONS
from anabranch.codegen.types import BOOL, FLOAT, INT, NONE, STR, UNKNOWN, Type

_TO_INTS = words("floor ceil trunc")
_PREDICATES = words("isnan isinf isfinite")
# What the other functions of `math` give: for the Python form, since native code does not have them.
_OTHER_FLOATS = words("cbrt exp2 gamma lgamma ldexp remainder nextafter ulp dist fsum")
_OTHER_INTS = words("gcd lcm factorial comb perm isqrt")

_NAMES: dict[int, str] = {
    id(function): f"{prefix}{name}"
    for prefix, module in (("", builtins), ("math.", math))
    for name, function in vars(module).items()
    if callable(function) and not name.startswith("_")
}
_RESULTS = {
    "len": INT, "ord": INT, "hash": INT, "id": INT, "str": STR, "repr": STR, "chr": STR, "format": STR, "hex": STR,
    "bin": STR, "oct": STR, "ascii": STR, "isinstance": BOOL, "issubclass": BOOL, "callable": BOOL, "any": BOOL,
    "all": BOOL, "hasattr": BOOL, "print": NONE, "bytes": Type("bytes"),
}  # fmt: skip
_TEXTS_FROM_TEXT = words(
    """lower upper strip lstrip rstrip title capitalize casefold swapcase replace removeprefix removesuffix zfill center
    ljust rjust expandtabs join format translate"""
)
_TRUTHS_OF_TEXT = words(
    """startswith endswith isdigit isalpha isalnum isdecimal isnumeric isspace isupper islower istitle isascii
    isidentifier isprintable"""
)
_INTS_FROM_TEXT = words("find rfind index rindex count")


def name_of(function: Any) -> str | None:
    """The dotted name of a builtin or of a function of `math`, by the object itself."""
    return _NAMES.get(id(function))


def method_of_text(name: str) -> Type:
    """The type of what a method of strings gives."""
    if name in _TEXTS_FROM_TEXT:
        return STR
    if name in _TRUTHS_OF_TEXT:
        return BOOL
    return INT if name in _INTS_FROM_TEXT else UNKNOWN


def result_of(name: str, arguments: Sequence[Type], node: ast.Call) -> Judged:
    """The type of a call, and why native code may not make it."""
    given = [argument.present() for argument in arguments]
    refused = _RESULTS.get(name, UNKNOWN), f"calls {name}"
    if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
        return refused
    if name in ("int", "float", "bool", "abs", "round", "min", "max"):
        return _of_numbers(name, given, refused)
    if not name.startswith("math."):
        return refused
    short = name.removeprefix("math.")
    native = NATIVE_FUNCTIONS.get(name)
    if native is None and short not in _TO_INTS and short not in _PREDICATES:
        return (FLOAT if short in _OTHER_FLOATS else INT if short in _OTHER_INTS else UNKNOWN), f"calls {name}"
    kind = INT if short in _TO_INTS else BOOL if short in _PREDICATES else FLOAT
    if len(given) != (native.arguments if native is not None else 1):
        return kind, f"calls {name} with {len(given)} arguments"
    return kind, _unless_numbers(name, given)


def _unless_numbers(name: str, given: Sequence[Type]) -> str | None:
    for kind in given:
        if kind.kind == "str":
            return f"handles strings (`{name}`)"
        if not kind.is_number and kind.kind not in ("unknown", "nothing"):
            return f"calls {name} on {described(kind)}"
    return None


def _of_numbers(name: str, given: Sequence[Type], refused: Judged) -> Judged:
    if name in ("min", "max"):
        return _extreme(name, given)
    kind = {"int": INT, "float": FLOAT, "bool": BOOL, "round": INT}.get(name, UNKNOWN)
    if not given:
        constants = {"int": Type("int", constant=0), "float": FLOAT, "bool": BOOL}
        return (constants[name], None) if name in constants else refused
    first = given[0]
    if len(given) > 1:
        is_rounded = name == "round" and first.is_number
        return (
            INT if first.kind != "float" else FLOAT
        ) if is_rounded else kind, f"calls {name} with {len(given)} arguments"
    if name == "bool":
        return BOOL, truth(first)
    if name == "abs":
        if first.kind in ("nothing", "unknown"):
            return first, None
        kind = first if is_maybe_int(first) else FLOAT if first.kind == "float" else INT
    return kind, _unless_numbers(name, given)


def _extreme(name: str, given: Sequence[Type]) -> Judged:
    if len(given) < 2:
        return UNKNOWN, f"calls {name} on what may hold anything"
    problem = _unless_numbers(name, given)
    if problem is not None:
        are_texts = all(kind.kind == "str" for kind in given)
        return (STR if are_texts else UNKNOWN), problem
    kind = NOTHING
    for each in given:
        kind = join(kind, each)
    if not kind.is_known and all(each.is_known for each in given):
        kinds = " and ".join(dict.fromkeys(described(each) for each in given))
        return UNKNOWN, f"calls {name} on {kinds}, which gives either"
    if kind.kind == "int":
        return kind.varying(), None
    return (marked(marks_of(kind)) if kind.kind == "float" else kind), None
