"""Types of user code, found from the types of the tuples it is given."""

from anabranch.codegen.inference.functions import type_function
from anabranch.codegen.inference.instances import type_class
from anabranch.codegen.inference.model import (
    Builtin,
    Called,
    Construct,
    Inlined,
    Member,
    To,
    Typed,
    TypedClass,
)

__all__ = [
    "Builtin",
    "Called",
    "Construct",
    "Inlined",
    "Member",
    "To",
    "Typed",
    "TypedClass",
    "type_class",
    "type_function",
]
