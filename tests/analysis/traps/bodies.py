"""How each special method is written when a probe or a trap defines it: its parameters and what it gives back."""

from __future__ import annotations

import re
from dataclasses import dataclass

BINARY = ["add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "lshift", "rshift", "and", "or", "xor"]
COMPARISONS = ["lt", "le", "eq", "ne", "gt", "ge"]
UNARY = ["neg", "pos", "abs", "invert", "int", "index", "trunc", "floor", "ceil"]

# `N` stands for a small number, `BASE` for the class that is derived from.
_METHODS = """
__new__: cls, *args, **more | return BASE.__new__(cls, *args, **more)
__init__: self, *args, **more | BASE.__init__(self, *args, **more)
__post_init__: self | pass
__del__: self | pass
__repr__: self | return "x" * N
__str__: self | return "x" * N
__bytes__: self | return b"x" * N
__format__: self, spec | return "x" * N
__hash__: self | return N
__bool__: self | return N != 2
__getattribute__: self, name | return BASE.__getattribute__(self, name)
__getattr__: self, name | raise AttributeError(name)
__setattr__: self, name, value | BASE.__setattr__(self, name, value)
__delattr__: self, name | pass
__dir__: self | return ["x"] * N
__get__: self, instance, owner=None | return N
__set__: self, instance, value | pass
__delete__: self, instance | pass
__set_name__: self, owner, name | pass
__mro_entries__: self, bases | return ()
__instancecheck__: self, instance | return N != 2
__subclasscheck__: self, subclass | return N != 2
__call__: self, *args, **more | return N
__len__: self | return N
__length_hint__: self | return N
__getitem__: self, key | if key == 2: raise IndexError(key) | return N
__setitem__: self, key, value | pass
__delitem__: self, key | pass
__missing__: self, key | return N
__iter__: self | return iter((N,))
__next__: self | raise StopIteration
__reversed__: self | return iter((N,))
__contains__: self, item | return N != 2
__divmod__: self, other | return (N, N)
__rdivmod__: self, other | return (N, N)
__pow__: self, other, modulo=None | return N
__rpow__: self, other, modulo=None | return N
__ipow__: self, other, modulo=None | return self
__float__: self | return float(N)
__complex__: self | return complex(N)
__round__: self, digits=None | return N
__enter__: self | return self
__exit__: self, *problem | pass
__aenter__: self | return self
__aexit__: self, *problem | pass
__aiter__: self | return self
__anext__: self | raise StopAsyncIteration
__await__: self | return iter(())
__copy__: self | return self
__deepcopy__: self, memo | return self
__replace__: self, **changes | return self
__reduce__: self | return (int, (N,))
__reduce_ex__: self, protocol | return (int, (N,))
__getstate__: self | return {"x": N}
__setstate__: self, state | pass
__getinitargs__: self | return ()
__getnewargs__: self | return ()
__getnewargs_ex__: self | return ((), {})
__sizeof__: self | return N
__fspath__: self | return "x" * N
__buffer__: self, flags | return memoryview(b"x" * N)
__release_buffer__: self, view | pass
__typing_subst__: self, argument | return argument
__typing_prepare_subst__: self, alias, arguments | return arguments
__array__: self, dtype=None, copy=None | raise TypeError
__array_ufunc__: self, ufunc, method, *args, **more | return N
__array_function__: self, function, types, args, more | return N
__array_wrap__: self, array, *more | return array
__array_finalize__: self, array | pass
__init_subclass__: cls, **more | pass
__class_getitem__: cls, item | return cls
__prepare__: cls, name, bases, **more | return {}
__subclasshook__: cls, subclass | return NotImplemented
"""

# Looked up as attributes, so a class may define them as properties; others than these raise AttributeError.
ATTRIBUTES = {
    "__class__": "return (int, int, str)[N]",
    "__bases__": "return ()",
    "__dict__": "return {}",
    "__doc__": 'return "x" * N',
    "__name__": 'return "x" * N',
    "__qualname__": 'return "x" * N',
    "__module__": 'return "x" * N',
}
_CLASS_METHODS = ("__prepare__", "__subclasshook__")
_COROUTINES = ("__aenter__", "__aexit__", "__anext__")


# Where a base takes other arguments than it is made with.
_IMMUTABLE = ("int", "float", "str", "bytes", "tuple", "frozenset", "object")
_BY_BASE = {
    ("__new__", "object"): ("return object.__new__(cls)",),
    ("__call__", "type"): ("return type.__call__(self, *args, **more)",),
    **{("__init__", base): ("pass",) for base in _IMMUTABLE},
}


@dataclass(frozen=True)
class Body:
    """A special method as text, without what makes it a trap."""

    name: str
    parameters: str
    lines: tuple[str, ...]
    decorator: str = ""

    def text(self, effect: str, number: str, base: str) -> str:
        """The definition with an effect at its beginning."""
        header = f"{'async ' if self.name in _COROUTINES else ''}def {self.name}({self.parameters}):"
        decorators = [f"@{self.decorator}"] if self.decorator else []
        lines = _BY_BASE.get((self.name, base), self.lines)
        inside = [*effect.splitlines(), *(_filled(line, number, base) for line in lines)]
        return "\n".join([*decorators, header, *(f"    {line}" for line in inside)])


def _filled(line: str, number: str, base: str) -> str:
    return re.sub(r"\bBASE\b", base, re.sub(r"\bN\b", number, line))


def _methods() -> dict[str, Body]:
    found = {}
    for line in _METHODS.strip().splitlines():
        name, _, rest = line.partition(": ")
        parameters, *lines = rest.split(" | ")
        found[name] = Body(name, parameters, tuple(lines), "classmethod" if name in _CLASS_METHODS else "")
    simple = [(f"__{word}__", "self, other", "return N != 2") for word in COMPARISONS]
    simple += [(f"__{word}__", "self", "return N") for word in UNARY]
    for word in BINARY:
        simple += [(f"__{word}__", "self, other", "return N"), (f"__r{word}__", "self, other", "return N")]
        simple += [(f"__i{word}__", "self, other", "return self")]
    return found | {name: Body(name, parameters, (line,)) for name, parameters, line in simple}


METHODS = _methods()


def body_of(name: str) -> Body:
    """The special method of that name: one of `METHODS`, or an attribute as a property."""
    if name in METHODS:
        return METHODS[name]
    return Body(name, "self", (ATTRIBUTES.get(name, f'raise AttributeError("{name}")'),), "property")
