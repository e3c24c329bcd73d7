"""The one table of special methods: which constructs of Python call which of them, without being told to.

Nothing else decides it. A construct of the interpreter asks this table which methods it may run; a class with a special
method that does not stand here is not known, and neither is what touches its objects. That the table is complete is
shown by a probe: tests/analysis/traps has a class with every special method there is, and writes down who calls what.
"""

from __future__ import annotations

import abc
import copyreg
import enum
import types
import typing

from anabranch.analysis.genuine import is_own_class
from anabranch.analysis.modules import is_library_function
from anabranch.analysis.per_class import PerClass
from anabranch.analysis.words import words

_OPERATORS = {
    "Add": "add", "Sub": "sub", "Mult": "mul", "Div": "truediv", "FloorDiv": "floordiv", "Mod": "mod", "Pow": "pow",
    "LShift": "lshift", "RShift": "rshift", "BitOr": "or", "BitXor": "xor", "BitAnd": "and", "MatMult": "matmul",
}  # fmt: skip
_COMPARISONS = {"Eq": "eq eq", "NotEq": "ne ne", "Lt": "lt gt", "LtE": "le ge", "Gt": "gt lt", "GtE": "ge le"}
_ITERATION = "__iter__ __next__ __getitem__ __len__ __length_hint__"
_HASHING = "__hash__ __eq__"

# Construct, and what it may call; classes of `ast` by their names, with the side or the kind of use behind a colon.
_SYNTAX: dict[str, str] = {
    **{name: f"__{word}__" for name, word in _OPERATORS.items()},
    **{f"{name}:right": f"__r{word}__" for name, word in _OPERATORS.items()},
    **{f"{name}:in_place": f"__i{word}__" for name, word in _OPERATORS.items()},
    **{name: f"__{pair.split()[0]}__" for name, pair in _COMPARISONS.items()},
    **{f"{name}:right": f"__{pair.split()[1]}__" for name, pair in _COMPARISONS.items()},
    "NotEq": "__ne__ __eq__",  # object's own __ne__ asks __eq__
    "NotEq:right": "__ne__ __eq__",
    "In": "__contains__",  # or as a loop, with each element compared like a key
    "UAdd": "__pos__",
    "USub": "__neg__",
    "Invert": "__invert__",
    "Not": "__bool__ __len__",
    "truth": "__bool__ __len__",  # if, while, assert, and, or, conditions of comprehensions, guards
    "Attribute:load": "__getattribute__ __getattr__ __get__",
    "Attribute:store": "__setattr__ __set__",
    "Attribute:delete": "__delattr__ __delete__",
    "Subscript:load": "__getitem__ __missing__",
    "Subscript:of_class": "__class_getitem__",
    "Subscript:store": "__setitem__",
    "Subscript:delete": "__delitem__",
    "key": f"{_HASHING} __index__",  # what stands between the brackets, in a set, before the colon of a dict
    "Slice": "__index__",
    "Call": "__call__ __new__ __init__ __post_init__",
    "iteration": _ITERATION,  # for, comprehensions, unpacking, *, yield from
    "next": "__next__",
    "len": "__len__ __index__",
    "abs": "__abs__ __round__",
    "reversed": "__reversed__ __len__ __getitem__",
    "With": "__enter__ __exit__",
    "FormattedValue": "__format__ __str__ __repr__",
    "Raise": "__call__ __new__ __init__ __str__ __repr__",
    "MatchValue": "__eq__",
    "MatchMapping": "__getitem__ __contains__ __len__ __iter__ __eq__ __hash__",
    "MatchSequence": "__len__ __getitem__ __iter__",
    "MatchClass": "__instancecheck__ __subclasscheck__ __subclasshook__ __getattribute__ __getattr__ __get__ __eq__",
}
# What a function of the library may do with what it is given.
_LIBRARY = (
    "__abs__ __bool__ __bytes__ __ceil__ __complex__ __copy__ __deepcopy__ __dir__ __divmod__ __float__ __floor__ "
    "__format__ __fspath__ __getnewargs__ __getnewargs_ex__ __getstate__ __index__ __int__ __length_hint__ "
    "__rdivmod__ __reduce__ __reduce_ex__ __repr__ __replace__ __reversed__ __round__ __setstate__ __sizeof__ __str__ "
    "__trunc__ __instancecheck__ __subclasscheck__ __subclasshook__ __buffer__ __release_buffer__"
)
# Not special, but functions of the library look for them by name on whatever they are given.
BY_NAME: tuple[str, ...] = ("keys", "read", "readline", "write")

CALLS: dict[str, frozenset[str]] = {construct: words(names) for construct, names in _SYNTAX.items()}
CALLS["library"] = words(_LIBRARY).union(*CALLS.values())
FOLLOWED: frozenset[str] = CALLS["library"]

# Larger constructs, by the parts they consist of.
_BINARY = " ".join(f"{name} {name}:right" for name in _OPERATORS)
_TARGETS = "iteration Attribute:store Subscript:store"
_DISPLAY = "iteration key"
_CONSISTS_OF: dict[str, str] = {
    "AnnAssign": _TARGETS,
    "Assert": "truth",
    "Assign": _TARGETS,
    "Attribute": "Attribute:load Attribute:store Attribute:delete",
    "AugAssign": f"{_BINARY} {_TARGETS} Attribute:load Subscript:load Subscript:of_class key Call "
    + " ".join(f"{name}:in_place" for name in _OPERATORS),
    "BinOp": f"{_BINARY} FormattedValue library",  # text % values
    "BoolOp": "truth",
    "Call": "Call Attribute:load Subscript:load iteration",
    "Compare": " ".join(f"{name} {name}:right" for name in _COMPARISONS) + " In iteration key truth",
    "Delete": "Attribute:delete Subscript:delete key",
    "Descriptor": "Attribute:load Attribute:store Attribute:delete Call",
    "Dict": f"{_DISPLAY} Attribute:load Subscript:load",
    "DictComp": f"{_DISPLAY} truth {_TARGETS}",
    "For": _TARGETS,
    "FunctionDef": "Call",
    "GeneratorExp": f"{_DISPLAY} truth {_TARGETS}",
    "If": "truth",
    "IfExp": "truth",
    "JoinedStr": "FormattedValue iteration",
    "List": "iteration",
    "ListComp": f"{_DISPLAY} truth {_TARGETS}",
    "MatchClass": "MatchClass MatchValue",
    "MatchMapping": "MatchMapping Attribute:load",
    "MatchSequence": "MatchSequence iteration",
    "MatchValue": "MatchValue Attribute:load",
    "NamedExpr": "truth",
    "Raise": "Raise Attribute:load",
    "Return": "truth",
    "Set": _DISPLAY,
    "SetComp": f"{_DISPLAY} truth {_TARGETS}",
    "Starred": "iteration",
    "Subscript": "Subscript:load Subscript:of_class Subscript:store Subscript:delete key Slice iteration "
    "Attribute:load Call",
    "TryStar": "Attribute:load",
    "Tuple": "iteration",
    "UnaryOp": "UAdd USub Invert Not",
    "While": "truth",
    "With": f"With {_TARGETS}",
    "YieldFrom": "iteration",
    "match_case": "truth",
}

# Called by what is never followed: a class statement, `async` and `await`. What contains one of these is stateful
# itself, and a class that was defined before the program runs has these behind it.
_NEVER_REACHED = words(
    """__aenter__ __aexit__ __aiter__ __anext__ __await__ __init_subclass__ __mro_entries__ __prepare__ __set_name__"""
)
# Facts about a class that the interpreter keeps there; they are not called.
_FACTS = words(
    """__abstractmethods__ __annotate__ __annotate_func__ __annotations__ __annotations_cache__ __classcell__
    __dataclass_fields__ __dataclass_params__ __dict__ __doc__ __firstlineno__ __match_args__ __module__
    __non_callable_proto_members__ __orig_bases__ __parameters__ __protocol_attrs__ __qualname__ __signature__
    __slotnames__ __slots__ __static_attributes__ __type_params__ __weakref__"""
)
_PLAIN_MEMBERS = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
)
# These are called on the class, so they may be bound to it.
_OF_THE_CLASS = words("__class_getitem__ __subclasshook__ __new__ __init_subclass__")
_KNOWN_METACLASSES = (type, abc.ABCMeta, type(typing.Protocol), enum.EnumType)


def methods_called_by(part: str) -> frozenset[str]:
    """What one part of a construct may call: a row of the table."""
    return CALLS[part]


def may_call(construct: str) -> frozenset[str]:
    """What a whole construct may call; functions of the library, by their full names, have one row in common."""
    is_of_library = "." in construct or construct in ("AsyncFunctionDef", "AsyncWith", "AsyncFor", "Await", "ClassDef")
    parts = "library" if is_of_library else _CONSISTS_OF.get(construct, construct)
    return frozenset().union(*(CALLS[part] for part in parts.split()))


def is_method_name(name: str) -> bool:
    """Whether the interpreter may call what a class has under this name."""
    is_note = name.startswith("__anabranch_") or name in ("__name__", "__class__", "__file__", "__version__")
    return is_special(name) and name not in _FACTS and not is_note


def is_refused(name: str) -> bool:
    """Whether whatever touches an object with a special method of this name is not known."""
    return name not in FOLLOWED and name not in _NEVER_REACHED and name not in _FACTS


def is_never_reached(name: str) -> bool:
    """Whether only constructs call it that are not followed at all, so that code with one of them is not known."""
    return name in _NEVER_REACHED


def is_a_fact(name: str) -> bool:
    """Whether it is data of a class, unless a class computes it: then it is refused like what is not in the table."""
    return name in _FACTS


def is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and len(name) > 4


@PerClass
def unknown_special_method(cls: type) -> str | None:
    """A special method of a class, its bases or its metaclass that the interpreter cannot follow, in words."""
    for base in cls.__mro__:
        if not is_own_class(base):
            for name, member in vars(base).items():
                if is_special(name) and not _is_known(name, member):
                    return f"`{name}`"
    if type(cls) not in _KNOWN_METACLASSES and not is_own_class(type(cls)):
        unknown = unknown_special_method(type(cls))
        return f"{unknown} of its metaclass" if unknown is not None else None
    return None


def _is_known(name: str, member: object) -> bool:
    if name in _FACTS:
        return not _is_computed(member) or isinstance(member, types.GetSetDescriptorType)
    if name in _NEVER_REACHED:
        return True
    if name not in FOLLOWED:
        return not callable(member) and not _is_computed(member)
    if name in _OF_THE_CLASS and isinstance(member, classmethod | staticmethod):
        return True
    return member is None or isinstance(member, _PLAIN_MEMBERS)


def _is_computed(member: object) -> bool:
    """Whether reading the attribute runs code: a property, or another descriptor."""
    return hasattr(type(member), "__get__")


@PerClass
def user_method(cls: type, name: str) -> types.FunctionType | None:
    """A special method that is the user's own code, as the interpreter looks it up."""
    for base in cls.__mro__:
        if name in vars(base):
            member = vars(base)[name]
            if isinstance(member, classmethod | staticmethod):
                member = member.__func__
            if not isinstance(member, types.FunctionType) or is_library_function(member):
                return None
            return None if is_definitely_generated(base, name, member) else member
    return None


@PerClass
def is_of_a_library(cls: type, name: str) -> bool:
    """Whether a special method of a user's class is a library's, written in Python: a mixin's, say."""
    member = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
    return isinstance(member, types.FunctionType) and is_library_function(member)


@PerClass
def user_methods(cls: type) -> dict[str, types.FunctionType]:
    """Those of a class that anything may call on an instance which gets it, construction excepted."""
    found = {name: user_method(cls, name) for name in sorted(FOLLOWED - _CONSTRUCTION)}
    return {name: function for name, function in found.items() if function is not None}


# Called when an instance is made, or on the class, not when an instance is used.
_CONSTRUCTION = words("__init__ __new__ __post_init__ __class_getitem__ __subclasshook__")
_GENERATED_NAMES = frozenset(
    f"__{name}__" for name in words("""init repr eq lt le gt ge hash setattr delattr getstate setstate replace""")
)


def is_definitely_generated(base: type, name: str, function: types.FunctionType) -> bool:
    """Whether a method was written by the dataclass decorator or by the factory of NamedTuples: it sees fields only."""
    if issubclass(base, tuple) and "_fields" in vars(base):
        return str(function.__globals__.get("__name__", "")).startswith(("namedtuple_", "collections"))
    return (
        "__dataclass_fields__" in vars(base)
        and name in _GENERATED_NAMES
        and function.__code__.co_filename == "<string>"
        and function.__code__.co_qualname.startswith("__create_fn__")
    )


# Called where an object is taken apart, or made again from its parts.
_OF_COPIES = (
    "__getstate__", "__setstate__", "__reduce__", "__reduce_ex__", "__getnewargs__", "__getnewargs_ex__", "__new__",
)  # fmt: skip


def own_way_of_copying(cls: type) -> str | None:
    """What of the user's is called when an instance is copied for a worker."""
    own = next((name for name in _OF_COPIES if user_method(cls, name) is not None), None)
    return own or ("copyreg" if cls in copyreg.dispatch_table else None)
