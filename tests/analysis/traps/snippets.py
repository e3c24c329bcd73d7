"""Bodies of operators that together contain every construct of the grammar, each evaluated when the operator runs."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Snippet:
    """Statements of an operator of a tuple `t`; `around` is what makes a coroutine of them and runs it."""

    code: str
    around: str = "BODY"

    def with_code(self, code: str) -> str:
        return self.around.replace("BODY", textwrap.indent(code, "    ") if self.around != "BODY" else code)


# Bodies of operators of a tuple `t`, with ` ; ` between them and `\\n` between lines.
_SNIPPETS = """
y = t.k + 1 ; y = -t.k ; y = not t.k ; y = t.k and t.v ; y = t.k or t.v ; y = 1 < t.k < 3 ; y = t.k in (1, 2) ; y = (t.k, t.v) ; \
y = [t.k, *[t.v]] ; y = {t.k, 2} ; y = {t.k: t.v, **{1: 2}} ; y = t.k if t.k else t.v ; y = t.k if not t.k else t.v ; (y := t.k + 1) ; \
y = f"{t.k!r:>{9}} {t.v:.2f}" ; y = f"{t.k}" ; y = (1, 2, 3)[t.k] ; y = [1, 2, 3][t.k:3:1] ; y = max(t.k, *(1, 2)) ; \
y = dict(a=t.k, **{"b": t.v}) ; y = (lambda a, b=t.k: a + b)(1) ; y = (lambda *, a=t.v: a)() ; y = (lambda *a, **b: t.k)(1, c=2)
y = [a + 1 for a in (1, 2) if a > 0 if t.k >= 0] ; y = {a for a in (t.k, 2) for b in (a, 3)} ; y = {a: b for a, b in [(1, t.k)] if b != 7} ; \
y = list(a + t.k for a in [1, 2] if a) ; y = sum(a for a in range(3)) ; y = [[b for b in (a, t.k)] for a in (1, 2)]
y = 1\\ny += t.k ; y = [1, 2]\\ny[t.k] = 3 ; y = [1, 2]\\ny[t.k] += 3 ; y = {1: 2}\\ndel y[t.k and 1 or 1] ; a, (b, *c) = t.k, (1, 2, 3) ; \
y: int = t.k ; y = [1, 2]\\ny[t.k]: int = 3 ; y = [1, 2, 3]\\ny[0:t.k] = [4] ; a = b = t.k ; y = [1, 2]\\n(y[t.k], a) = 3, 4 ; \
y = types.SimpleNamespace(a=1)\\n(y).a = t.k ; y = types.SimpleNamespace(a=[1, 2])\\ny.a[t.k] = 5 ; y = [[1, 2], 3]\\ny[0][t.k] = 5 ; \
y = types.SimpleNamespace(a=1)\\ny.a += t.k ; y = types.SimpleNamespace(a=1)\\ndel y.a ; y = types.SimpleNamespace()\\ny.a: int = t.k ; \
y = [1, 2]\\n[y[t.k], *y[1:]] = [1, 2, 3] ; y = [1, 2]\\n(*y[t.k:],) = (1,)
if t.k:\\n    y = 1\\nelif t.v:\\n    y = 2\\nelse:\\n    y = 3 ; y = t.k\\nwhile y > 0:\\n    y -= 1\\nelse:\\n    y = 5 ; \
for y in (1, t.k):\\n    pass\\nelse:\\n    y = t.v ; y = [1, 2]\\nfor y[t.k] in (3, 4):\\n    pass ; for a, b in [(1, t.k)]:\\n    continue ; \
while t.k > 5:\\n    break ; y = [1, 2]\\nz = [0 for y[t.k] in (3, 4)] ; y = [1, 2]\\nz = {0 for y[t.k] in (3, 4)} ; \
y = [1, 2]\\nz = {0: 1 for y[t.k] in (3, 4)} ; y = [1, 2]\\nz = list(0 for y[t.k] in (3, 4))
assert t.k >= 0, f"{t.k}" ; assert t.k < 0, f"{t.k}" ; raise ValueError(t.k) from KeyError(t.v) ; raise ValueError ; \
try:\\n    y = 1 // t.k\\nexcept (ZeroDivisionError, KeyError) as problem:\\n    y = str(problem)\\nelse:\\n    y = 2\\nfinally:\\n    y = t.k ; \
try:\\n    raise KeyError(t.k)\\nexcept ValueError:\\n    pass\\nexcept KeyError:\\n    pass ; \
try:\\n    raise ExceptionGroup("a", [KeyError(t.k)])\\nexcept* KeyError as group:\\n    y = t.k
with contextlib.nullcontext(t.k) as y:\\n    pass ; y = [1, 2]\\nwith contextlib.nullcontext(t.k) as y[t.k]:\\n    pass ; \
with contextlib.nullcontext(t.k) as a, contextlib.nullcontext(t.v):\\n    pass ; with contextlib.suppress(KeyError):\\n    raise KeyError(t.k)
match t.k:\\n    case 0 | 1 if t.v >= 0:\\n        y = 1\\n    case _:\\n        y = 2 ; match (t.k, t.v):\\n    case (0, b):\\n        y = b\\n    case (a, *rest) if rest:\\n        y = a ; \
match {"a": t.k}:\\n    case {"a": 1, **rest}:\\n        y = rest\\n    case _ if t.k == 0:\\n        y = 2 ; match t:\\n    case T(k=0):\\n        y = 1\\n    case T(k, v):\\n        y = k + v
def f(a: int, /, b: str = t.k, *c: float, d: bytes = t.v, **e: list) -> dict:\\n    return a\\ny = f(1) ; def f(a=t.k):\\n    return a\\ny = f() ; \
@(lambda f: f)\\ndef f():\\n    return t.k\\ny = f() ; @functools.wraps(len)\\ndef f(*a):\\n    return t.k\\ny = f() ; def f(*, a: int):\\n    return a\\ny = f(a=t.k) ; \
def f(a: int = 1, *b: int, **c: int) -> int:\\n    return t.k ; def f(a: "int", b: list[int] = ()) -> tuple[int, ...]:\\n    return t.k
def f():\\n    y = yield t.k\\n    return y\\ny = list(f()) ; def f():\\n    y = yield from (t.k, 2)\\ny = list(f()) ; def f():\\n    return t.k + 1\\ny = f() ; \
def f():\\n    yield\\ny = list(f()) ; def f(a):\\n    if a:\\n        return f(a - 1)\\n    return t.k\\ny = f(2)
class Y:\\n    a = t.k\\n    b: int = t.v\\n    def m(self, c=t.k):\\n        return c\\ny = Y().m() ; class Y(int, metaclass=type):\\n    pass ; class Y(*(int,)):\\n    pass ; \
@(lambda c: c)\\nclass Y:\\n    pass ; class Y(dict, **{}):\\n    a = [b for b in (1, t.k)] ; class Y:\\n    a: int ; y = [1, 2]\\ny[0]: int = t.k ; class Y:\\n    if t.k:\\n        a = 1 ; class Y:\\n    @staticmethod\\n    def m(a=t.k):\\n        return a\\ny = Y.m() ; \
class Y:\\n    @property\\n    def a(self):\\n        return t.k\\ny = Y().a ; class Y:\\n    def __init__(self, a):\\n        self.a = a\\ny = Y(t.k).a
ASYNC y = await go_on(t.k) ; ASYNC async with Manager() as y:\\n    z = t.k ; ASYNC y = [0]\\nasync with Manager() as y[0]:\\n    pass ; ASYNC async for y in count_up():\\n    z = t.k\\nelse:\\n    z = t.v ; \
ASYNC y = [0]\\nasync for y[0] in count_up():\\n    pass ; ASYNC y = [a async for a in count_up() if t.k >= 0] ; ASYNC y = [await go_on(a) for a in (1, t.k)] ; ASYNC y = {a: t.k async for a in count_up()} ; \
ASYNC async def f(a: int = t.k, *b: int, c: int = t.v, **d: int) -> int:\\n    return a\\ny = await f() ; ASYNC @(lambda f: f)\\nasync def f():\\n    return t.k\\ny = await f() ; \
ASYNC async def f():\\n    yield t.k\\ny = [a async for a in f()] ; ASYNC return t.k
type(t)(t.k, t.v) ; t.k ; return t ; pass\\ny = ... ; global G_I\\ny = t.k ; import math as y\\nz = t.k ; y = (t.k, t.v)[0:1][0] ; print(t.k, file=io.StringIO()) ; y = b"a" + bytes([t.k]) ; y = t.k.real ; y = (t.k).__class__(1)
"""
if sys.version_info >= (3, 12):
    _SNIPPETS += """
type Y = list[t.k]\\ny = Y.__value__ ; def f[A: (int, str)](a: A) -> A:\\n    return a\\ny = f(t.k) ; class Y[A]:\\n    a = t.k ; def f[A: int](a):\\n    return a\\ny = f.__type_params__[0].__bound__
"""
if sys.version_info >= (3, 13):
    _SNIPPETS += """
def f[A = int](a):\\n    return a\\ny = f.__type_params__[0].__default__ ; def f[**P = [int]](a):\\n    return a\\ny = f.__type_params__[0].__default__ ; \
def f[*A = (int,)](a):\\n    return a\\ny = f.__type_params__[0].__default__
"""
if sys.version_info >= (3, 14):
    _SNIPPETS += """
y = t"{t.k!r:>{9}} {t.v}"
"""

_ASYNC = """async def go():
BODY
try:
    go().send(None)
except StopIteration:
    pass"""


def snippets() -> Iterator[Snippet]:
    for line in _SNIPPETS.strip().splitlines():
        for text in line.split(" ; "):
            code = text.strip().replace("\\n", "\n")
            is_async = code.startswith("ASYNC ")
            yield Snippet(code.removeprefix("ASYNC "), _ASYNC) if is_async else Snippet(code)
