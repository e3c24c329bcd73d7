"""Every syntax that can call a special method, as small texts in which `x` is the object and `K` its class."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass


THEN = "# then"  # what stands before it only sets up


@dataclass(frozen=True)
class Construct:
    """A few statements with the object in them. `kind` is the node's class, or the qualified name of what is called."""

    kind: str
    code: str
    apart: str = ""  # the same, where the setting up has to stand apart for the probe

    def text(self) -> str:
        """The construct as a function of the object, which says where the setting up is over."""
        code = self.apart or self.code
        code = code if THEN in code else f"{THEN}\n{code}"
        return "def run(x):\n" + textwrap.indent(code.replace(THEN, "begin()"), "    ")


_OPERATORS = "+ - * @ / // % ** << >> & | ^".split()
_COMPARISONS = "< <= == != > >=".split()

# kind: statements, with ` ; ` between variants of the same kind and `\\n` between lines.
_SYNTAX = """
UnaryOp: -x ; +x ; ~x ; not x ; [-x for v in [1]] ; (lambda *, a=-x: 1) ; def f(a, /, b=-x): pass ; class Y:\\n    -x ; match -x:\\n    case 1: pass
BoolOp: x and 1 ; x or 1 ; 1 and x ; [v for v in (1, 2) if x or v] ; y = x and x and 1
Compare: 1 in x ; x in (1, 2) ; x in [1, 2] ; x in {1: 2} ; x in {1, 2} ; 1 in (x,) ; 1 in [x] ; x not in [1] ; \
1 not in x ; (x,) == (1,) ; [x] == [1] ; {1: x} == {1: 2} ; {x} == {1} ; (x,) < (1,) ; [x] <= [1] ; 0 < x < 2 ; \
{x} <= {1} ; x is None ; (1, x) != (1, 2) ; [1, [x]] == [1, [2]] ; x in "ab" ; x in b"ab" ; x in range(3) ; \
{1: x}.keys() == {1} ; {1: x}.items() == {(1, 2)} ; x in {1: 1}.keys() ; x in {1: 1}.values() ; 1 in {1: x}.values() ; \
(1, 1) in {1: x}.items() ; (1, x) in {1: 1}.items() ; x in (v for v in (1,)) ; {1} == x ; "a" == x ; 1.0 == x ; None == x ; \
if x in [1]: pass ; def f(a=x == 1): pass ; sum(1 for v in [1] if v == x) ; while x == 2: break ; assert x != 2
BinOp: "%s" % x ; "%r" % (x,) ; "%d" % x ; "%a" % (x,) ; "%f" % x ; "%(a)s" % x ; "%(b)s" % x ; "%*d" % (x, 1) ; "%c" % x ; \
"%x" % x ; b"%s" % x ; b"%b" % (x,) ; [1] * x ; (1,) * x ; "a" * x ; x * [1] ; [1] + x ; "a" + x ; {1: 2} | x ; {1} | x ; \
{1} & x ; {1} - x ; {1} ^ x ; {1}.copy() & {x} ; {1} - {x} ; {1: 1}.keys() & x ; {1: 1}.keys() & [x] ; {1: 1}.keys() - [x] ; \
{1: 1}.items() & [(x, 1)] ; {1: 1} | {x: 1} ; int | x ; x | int ; 1.0 + x ; 1j + x ; b"a" + x ; (1,) + x ; {1, 2} - {x} ; \
"%s" % {1: x} ; "%s" % [x] ; "%r" % ([x],) ; (y := x + 1)
AugAssign: y = 1\\n# then\\ny += x ; y = [1]\\ny += x ; y = "a"\\ny += x ; y = {1: 1}\\ny |= x ; y = {1}\\ny |= {x} ; y = (1,)\\ny += x ; \
y = {1}\\ny &= {x} ; y = {1}\\ny -= {x} ; y = {1}\\ny ^= {x} ; x.a = 1\\n# then\\nx.a += 1 ; x[1] += 1 ; x[1:2] += [1] ; y = [1, 2]\\ny[x] += 1 ; \
y = {1: 1}\\ny[x] += 1 ; y = [1]\\ny *= x ; y = {1: 1}\\ny |= {x: 1} ; y = [x]\\ny[0] += 1 ; y = [2]\\ny[0] -= x
Subscript: x[1] ; x["b"] ; x[1:2] ; x[::2] ; x[1, 2] ; x[...] ; [1, 2, 3][x] ; (1, 2, 3)[x] ; "abc"[x] ; {1: 2}[x] ; \
[1, 2][x:] ; [1, 2][:x] ; [1, 2][::x] ; b"abc"[x] ; range(3)[x] ; x[1] = 1 ; x[1:2] = [1] ; del x[1] ; del x[1:2] ; \
y = [1, 2, 3]\\ny[x] = 1 ; y = {1: 2}\\ny[x] = 1 ; y = [1, 2, 3]\\ny[0:1] = x ; y = [1, 2, 3]\\ny[::2] = x ; \
y = [1, 2, 3]\\ndel y[x] ; y = {1: 2}\\ndel y[x] ; y = [1, 2]\\ny[x:] = [1] ; K[int] ; K[1, 2] ; x[x] ; "abc"[x:] ; \
(1, 2)[:x] ; y = {}\\ny[x, 1] = 1 ; {}.get((x, 1)) ; list[x] ; dict[str, x] ; y = bytearray(b"ab")\\ny[0] = x ; \
y = bytearray(b"ab")\\ny[0:1] = x ; y = [1, 2]\\ndel y[x:] ; memoryview(b"abc")[x] ; tuple[x, ...] ; (x[1]) ; range(5)[x:] ; \
(lambda a=x[0]: 1) ; def f(a: x[0]): pass ; def f() -> x[0]: pass ; def f(*a: x[0], **b: x[0]): pass ; async def f() -> x[0]: pass ; \
def f(a: K[int]) -> K[int]: pass ; @x[0]\\ndef f(): pass ; class Y(K[int]): pass ; class Y:\\n    a: x[0] = 1 ; class Y(x[0]): pass ; \
try: raise KeyError\\nexcept x[0]: pass ; a: K[int] = 1 ; def f(a: x["b"] = 1): pass ; async def f(a: x[0] = 1): pass
Slice: [1][x:x] ; "abc"[:x:1] ; range(3)[x:x:x]
Attribute: x.a ; x.a.b ; x.a = 1 ; del x.a ; x.a, y = 1, 2 ; K.a ; K.a = 1 ; K.__name__ ; x.__class__ ; x.__dict__ ; x.__doc__ ; \
x.method() ; x.__module__ ; (lambda a=x.a: a)() ; def f(a=x.a): pass ; @x.a\\ndef f(): pass ; def f(*, a: x.a = 1): pass ; \
try: raise KeyError\\nexcept x.a: pass ; match x.a:\\n    case _: pass ; match 1:\\n    case x.a: pass
Descriptor: class Y:\\n    a = x\\n# then\\nY().a ; class Y:\\n    a = x\\n# then\\nY.a ; class Y:\\n    a = x\\n# then\\nY().a = 1 ; class Y:\\n    a = x\\n# then\\ndel Y().a ; \
class Y:\\n    a = x\\n    def m(self): return self.a()\\n# then\\nY().m() ; class Y:\\n    a = x\\n# then\\nY().a() ; class Y:\\n    __len__ = x\\n# then\\nlen(Y()) ; \
class Y:\\n    __getattr__ = x\\n# then\\nY().b ; class Y:\\n    __enter__ = x\\n    __exit__ = x\\n# then\\nwith Y(): pass ; class Y:\\n    a = x\\n# then\\ngetattr(Y(), "a") ; \
class Y:\\n    a = x\\nclass Z(Y): pass\\n# then\\nsuper(Z, Z()).a ; class Y:\\n    __add__ = x\\n# then\\nY() + 1 ; class Y:\\n    __eq__ = x\\n# then\\nY() == 1 ; \
class Y:\\n    __iter__ = x\\n# then\\nlist(Y()) ; class Y:\\n    __init__ = x\\n# then\\nY() ; class Y:\\n    __new__ = x\\n# then\\nY() ; class Y:\\n    __bool__ = x\\n# then\\nnot Y() ; \
class Y:\\n    __hash__ = x\\n# then\\n{Y(): 1} ; class Y:\\n    __call__ = x\\n# then\\nY()() ; class Y:\\n    __getitem__ = x\\n# then\\nY()[1] ; class Y:\\n    __str__ = x\\n# then\\nstr(Y()) ; \
class Y(dict):\\n    __missing__ = x\\n# then\\nY()[1] ; class Y:\\n    __class_getitem__ = x\\n# then\\nY[1] ; class Y:\\n    __init_subclass__ = x\\n# then\\nclass Z(Y): pass ; \
class Y:\\n    __copy__ = x\\n# then\\ncopy.copy(Y()) ; class Y:\\n    __format__ = x\\n# then\\nf"{Y()}" ; class Y:\\n    __set_name__ = x\\n# then\\nclass Z:\\n    a = Y() ; \
class Y:\\n    __class__ = x\\n# then\\nisinstance(Y(), int)
Call: x() ; x(1) ; x(1, a=2) ; K() ; K(1) ; (lambda *a, **k: 1)(*x) ; (lambda *a, **k: 1)(**x) ; (lambda a=1, *b: a)(*x, *x) ; K(K) ; \
K("X", (), {}) ; K("X", (x,), {}) ; (lambda a: a)(x) ; (lambda **k: k)(**{"a": x}) ; type(x)() ; K(**{}) ; @x(1)\\ndef f(): pass
Delete: y = K()\\n# then\\ndel y ; y = {1: K()}\\n# then\\ndel y[1] ; y = types.SimpleNamespace(a=K())\\n# then\\ndel y.a ; del x[0] ; del x.a ; y = [K(), 1]\\n# then\\ndel y[:1]
IfExp: 1 if x else 2 ; x if x else 1 ; (1 if not x else 2)
If: if x: pass ; if not x: pass ; if x and x: pass\\nelif x: pass ; if 1:\\n    if x: pass
While: while x: break ; while not x: break ; y = 0\\nwhile x and y < 2: y += 1
Assert: assert x ; assert x, x ; assert not x, x ; assert 1, x
Starred: [*x] ; (*x,) ; {*x} ; [1, *x, 2] ; a, *b = x ; *a, = x ; [*x, *x] ; (1, *x) ; [*[x]] ; [x, *x]
Assign: a, = x ; a, b = x ; (a, b), c = [x, 1] ; [a, b] = x ; a = b = x ; a, (b, *c) = 1, x ; x.a = x ; x.a = x.b = 1 ; x[0], x[1] = 1, 2 ; \
y = K()\\n# then\\ny = 1
AnnAssign: a: int = x ; x.a: int = 1 ; x[0]: int = 1 ; x.a: x = 1
For: for v in x: pass ; for v in x: break ; for a, b in x: pass ; for a, b in [x]: pass ; for x.a in [1]: pass ; for x[0] in [1]: pass ; \
for v in [x]: pass ; for a, *b in [x]: pass ; for v in x:\\n    continue\\nelse:\\n    pass
ListComp: [v for v in x] ; [v for v in [1] if x] ; [v for a in [1] for v in x] ; [x for v in [1]] ; [a for a, b in [x]]
SetComp: {v for v in x} ; {x for v in [1, 2]} ; {v for v in [x, x]} ; {1 for v in [1] if x}
DictComp: {v: 1 for v in x} ; {x: 1 for v in [1, 2]} ; {1: x for v in [1, 2]} ; {k: v for k, v in x} ; {1: 1 for v in [1] if x}
GeneratorExp: for w in (v for v in x): pass ; (v for v in x) ; for w in (v for v in [1] if x): pass ; for w in (a for a, b in [x]): pass
Dict: {x: 1} ; {1: x} ; {x: 1, x: 2} ; {**x, 1: 2} ; {1: 2, x: 3} ; {(x, 1): 1} ; {1: 1, **x} ; {**x}
Set: {x} ; {x, x} ; {1, x} ; {(x,)} ; {*x, 1}
List: [x]
JoinedStr: f"{x}" ; f"{x!r}" ; f"{x!s}" ; f"{x!a}" ; f"{x:>3}" ; f"{1:{x}}" ; f"{x=}" ; f"{[x]}" ; f"{(x,)}" ; f"{ {1: x} }" ; \
f"{x!r:>5}" ; f"{1:>{x}}" ; f"{x:{x}}" ; f"{x}{x}" ; f"a{x}b"
NamedExpr: (y := x) ; [y := x] ; y = K()\\n# then\\n(y := 1)
Lambda: (lambda a=x: a)() ; (lambda: x)()
FunctionDef: def f(a=x): return a ; @x\\ndef f(): pass ; def f(a: x) -> x: pass ; def f(*, a=x): pass
AsyncFunctionDef: async def f(a: x = x): pass ; @x\\nasync def f(): pass
ClassDef: class Y(x): pass ; class Y(x, int): pass ; class Y(metaclass=x): pass ; class Y(K): pass ; class Y(K, metaclass=type(K)): pass ; \
class Y(metaclass=K): pass ; class Y(metaclass=K):\\n    a = 1\\n    def m(self): pass ; class Y:\\n    a = x ; class Y:\\n    a = x\\n    b = x ; \
class Y(K, a=1): pass ; @x\\nclass Y: pass ; class Y(*x): pass ; class Y(**x): pass ; \
class Y(a=x): pass ; class Y(int, metaclass=K): pass ; class Y(x):\\n    a = 1 ; \
class Y:\\n    __slots__ = x ; class Y:\\n    __match_args__ = x ; \
class Y(dict, metaclass=K, a=1): pass ; class Y:\\n    __slots__ = (x,) ; class Y:\\n    __doc__ = x ; class Y(metaclass=K):\\n    a: int = 1
With: with x: pass ; with x as y: pass ; with x, x: pass ; with x as (a, b): pass ; with x as x.a: pass ; with x: raise KeyError ; with x as x[0]: pass
Raise: raise x ; raise K ; raise KeyError from x ; raise KeyError from K ; raise KeyError(x)
builtins.BaseException: try: raise KeyError(x)\\nexcept KeyError as e: str(e) ; try: raise KeyError(x)\\nexcept KeyError as e: repr(e) ; \
str(ValueError(x)) ; str(ValueError(x, 1)) ; repr(OSError(x, x)) ; str(OSError(1, "a", x))
Try: try: raise KeyError\\nexcept x: pass ; try: raise KeyError\\nexcept (x, int): pass ; try: raise KeyError\\nexcept K: pass ; \
try: raise x\\nexcept K: pass
TryStar: try: raise ExceptionGroup("a", [KeyError()])\\nexcept* x: pass ; try: raise x\\nexcept* KeyError: pass ; try: raise KeyError\\nexcept* K: pass
MatchValue: match 1:\\n    case K.a: pass ; match x:\\n    case 1: pass ; match x:\\n    case "a": pass ; match x:\\n    case -1: pass ; \
v = types.SimpleNamespace(a=x)\\n# then\\nmatch 1:\\n    case v.a: pass ; v = types.SimpleNamespace(a=x)\\n# then\\nmatch x:\\n    case v.a: pass ; \
match (1, x):\\n    case (1, 2): pass ; match {"a": x}:\\n    case {"a": 1}: pass ; v = types.SimpleNamespace(a=x)\\n# then\\nmatch (1, 2):\\n    case (1, v.a): pass ; \
v = types.SimpleNamespace(a=x)\\n# then\\nmatch "a":\\n    case "b" | v.a: pass ; match x:\\n    case 1 | 2: pass ; match types.SimpleNamespace(a=x):\\n    case types.SimpleNamespace(a=1): pass ; \
match x:\\n    case int(1): pass ; match 1:\\n    case int(x.a): pass ; v = types.SimpleNamespace(a=x)\\n# then\\nmatch 1:\\n    case (v.a as y): pass
MatchSingleton: match x:\\n    case None: pass ; match x:\\n    case True: pass
MatchSequence: match x:\\n    case [a]: pass ; match x:\\n    case [a, *b]: pass ; match x:\\n    case []: pass ; match [x]:\\n    case [[a]]: pass ; \
match x:\\n    case [*_]: pass ; match x:\\n    case (a, b): pass ; match x:\\n    case [a] as y: pass ; match x:\\n    case [a] | [a, _]: pass
MatchMapping: match x:\\n    case {"a": y}: pass ; match x:\\n    case {}: pass ; match x:\\n    case {"a": y, **rest}: pass ; \
v = types.SimpleNamespace(a=x)\\n# then\\nmatch {1: 2}:\\n    case {v.a: y}: pass ; match {x: 1}:\\n    case {1: y}: pass ; match x:\\n    case {"b": y}: pass ; \
v = types.SimpleNamespace(a=x)\\n# then\\nmatch {1: 2}:\\n    case {v.a: y, **rest}: pass ; match {x: 1}:\\n    case {**rest}: pass
MatchClass: match 1:\\n    case x(): pass ; match x:\\n    case int(): pass ; match x:\\n    case K(): pass ; match x:\\n    case K(a=y): pass ; \
match x:\\n    case K(a): pass ; match x:\\n    case int(a): pass ; match 1:\\n    case x(a=y): pass ; match 1:\\n    case K(): pass ; \
match [1]:\\n    case [x()]: pass ; v = types.SimpleNamespace(a=x)\\n# then\\nmatch 1:\\n    case v.a(): pass ; match x:\\n    case int() | str(): pass ; \
match 1:\\n    case x(y): pass ; match x:\\n    case object(a=y): pass ; match x:\\n    case dict(): pass ; match x:\\n    case str(a): pass ; match 1:\\n    case x(y, b=z): pass
MatchAs: match x:\\n    case y: pass
match_case: match x:\\n    case y if y: pass ; match 1:\\n    case _ if x: pass
Yield: def g():\\n    yield x\\nfor v in g(): pass ; def g():\\n    y = yield x\\nfor v in g(): pass
YieldFrom: def g():\\n    yield from x\\nfor v in g(): pass ; def g():\\n    y = yield from x\\nfor v in g(): pass
Return: return x ; def f():\\n    y = K()\\n    # then\\n    return 1\\nf()
Expr: x
Global: global G_x\\nG_x = x
Await: ASYNC await x
AsyncFor: ASYNC async for v in x: pass ; ASYNC async for v in x: break ; ASYNC [v async for v in x] ; ASYNC {v async for v in x} ; \
ASYNC {v: 1 async for v in x} ; ASYNC [w async for w in (v async for v in x)]
AsyncWith: ASYNC async with x: pass ; ASYNC async with x as y: pass ; ASYNC async with x as (a, b): pass
"""

_ASYNC = "async def go():\n{body}\ntry:\n    go().send(None)\nexcept StopIteration:\n    pass"


def syntax_constructs() -> Iterator[Construct]:
    for line in _SYNTAX.strip().splitlines():
        kind, _, variants = line.partition(": ")
        for variant in variants.split(" ; "):
            code = variant.strip().replace("\\n", "\n")
            if code.startswith("ASYNC "):
                code = _ASYNC.format(body=textwrap.indent(code.removeprefix("ASYNC "), "    "))
            yield Construct(kind, code)
    for sign in _OPERATORS:
        for code in (f"x {sign} 1", f"1 {sign} x", f"x {sign} x", f"x {sign} 'a'", f"[1] {sign} x", f"1.5 {sign} x"):
            yield Construct("BinOp", code)
        yield Construct("AugAssign", f"x {sign}= 1")
        yield Construct("AugAssign", f"y = x\ny {sign}= x")
        yield Construct("AugAssign", f"y = 1\ny {sign}= x")
    for sign in _COMPARISONS:
        for code in (f"x {sign} 1", f"1 {sign} x", f"x {sign} x", f"(1, x) {sign} (1, 2)", f"[x] {sign} [1]"):
            yield Construct("Compare", code)


def names_in(code: str) -> frozenset[str]:
    return frozenset(node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name))
