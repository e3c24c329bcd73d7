"""Values and errors as things that are equal only where nobody could tell the two apart."""

from __future__ import annotations

import struct
from datetime import datetime
from typing import Any

from anabranch.errors import OperatorError, RunError


def exact(value: Any) -> Any:
    """A value with its type, floats by their bits; NaN is NaN, whatever its bits."""
    match value:
        case float():
            return float, struct.pack("d", value) if value == value else "nan"
        case tuple() | list():
            return type(value), [exact(each) for each in value]
        case datetime():
            return datetime, value, value.tzinfo
        case _:
            return type(value), value


def described(error: RunError | None) -> Any:
    """All that a user can see of an error."""
    if not isinstance(error, OperatorError):
        return None if error is None else (type(error), str(error))
    cause = (type(error.cause), str(error.cause))
    return error.operator, exact(error.item), error.during, cause, error.raised_at, error.location, str(error)
