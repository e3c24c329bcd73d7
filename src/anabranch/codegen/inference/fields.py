"""What the instances of an operator class keep: the types of `self.*`, found over all its methods."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from anabranch.analysis import constancy
from anabranch.analysis.lookup import static
from anabranch.analysis.origins import ClassAttribute
from anabranch.codegen.functions import Refusal
from anabranch.codegen.inference.joins import NOTHING, constant_type, described, join
from anabranch.codegen.types import Type
from anabranch.errors import Location


@dataclass(eq=False)
class Fields:
    """`initial` is what a new instance keeps; None where none may be made to look at."""

    cls: type
    initial: dict[str, Any] | None
    types: dict[str, Type] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)  # of the class, read through an instance
    problems: dict[str, Refusal] = field(default_factory=dict)  # by field
    version: int = 0  # counts the changes of `types`
    typed: dict[Any, Any] = field(default_factory=dict)  # methods that were typed, by arguments and version

    def assign(self, name: str, kind: Type, where: Location) -> None:
        known = self.types.get(name)
        if known is None:
            known = self._before(name, where)
        joined = join(known, kind)
        if not joined.is_known and known.is_known and kind.is_known:
            reason = f"keeps {described(known)} or {described(kind)} in `self.{name}`"
            self.problems.setdefault(name, Refusal(reason, where))
        if self.types.get(name) != joined:
            self.types[name] = joined
            self.version += 1

    def _before(self, name: str, where: Location) -> Type:
        """The type of a field that `__init__` does not assign: its class may have a value for it."""
        base, member = static(self.cls, name)
        if base is not None and self.initial is not None:
            kind = constant_type(member)
            if kind.is_known and constancy.why_rebound(ClassAttribute(base, name)) is None:
                self.initial[name] = member
                self.constants.pop(name, None)
                return kind
            self.problems.setdefault(name, Refusal(f"assigns `self.{name}`, which its class defines", where))
        elif self.initial is not None:
            self.problems.setdefault(name, Refusal(f"keeps `self.{name}`, which `__init__` does not set", where))
        return NOTHING
