"""Values in native code: what an expression of the user's has become.

A tuple is never an object: it is its members, each in a variable of its own. `None` is a flag beside the value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from anabranch.codegen.functions import Refusal
from anabranch.codegen.types import Type
from anabranch.errors import Location

ALWAYS = "True"
NEVER = "False"


class NotNative(Exception):
    """This part of a program cannot be native, and why."""

    def __init__(self, reason: str, location: Location | None = None, operator: str | None = None) -> None:
        super().__init__(reason)
        self.refusal = Refusal(reason, location)
        self.operator = operator


@dataclass(frozen=True)
class Column:
    """A string, or anything that only passes through, as it stands in row `i` of an input's column."""

    input: int
    attribute: str


@dataclass(frozen=True)
class Value:
    """An expression: its code, where it is a number or a string; its members, where it is a tuple.

    `code` has no effects and may be written several times; `is_stable` says that nothing which runs later in the same
    tuple can change it. A string is the number of its text in the pool (`code`), or still a `column`, or a `constant`.
    """

    type: Type
    code: str = ""
    has: str = ALWAYS  # an expression: whether there is a value, not None
    members: Mapping[str, Value] | None = None
    column: Column | None = None
    constant: Any = None  # of strings
    is_stable: bool = False

    @property
    def is_tuple(self) -> bool:
        return self.members is not None

    def present(self) -> Value:
        if self.has == ALWAYS and not self.type.optional:
            return self
        return replace(self, has=ALWAYS, type=self.type.present())


def none() -> Value:
    return Value(Type("none"), "0", NEVER, is_stable=True)


DTYPES = {"int": "np.int64", "float": "np.float64", "bool": "np.bool_", "str": "np.int64"}
ZEROS = {"int": "0", "float": "0.0", "bool": "False", "str": "-1"}
STORABLE = tuple(DTYPES)  # the kinds that native code can keep in variables and in state
