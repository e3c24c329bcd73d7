"""What to call an operator when the user gave no name."""

from __future__ import annotations

import functools
from typing import Any


def label_of(callable_: Any, otherwise: str) -> str:
    """The name of the user's function or class; `otherwise` for lambdas and what has none."""
    while isinstance(callable_, functools.partial):
        callable_ = callable_.func
    name = getattr(callable_, "__name__", type(callable_).__name__)
    return name if name.isidentifier() else otherwise
