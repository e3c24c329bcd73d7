"""The forms that generated code can take, by name."""

from __future__ import annotations

from typing import Literal

Form = Literal["python", "native", "auto"]
FORMS: tuple[Form, ...] = ("auto", "python", "native")
