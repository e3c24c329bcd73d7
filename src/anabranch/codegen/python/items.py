"""A tuple in generated code: an object, or only the values of its attributes as long as nobody needs the object."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from anabranch.codegen.python.lines import Lines
from anabranch.codegen.python.names import Names
from anabranch.graph.schema import Schema


def is_plain(cls: Any) -> bool:
    """Whether a NamedTuple is made, and its attributes are read, as NamedTuples usually are."""
    code = getattr(cls.__new__, "__code__", None)
    return (
        "__new__" in cls.__dict__
        and cls.__bases__ == (tuple,)
        and code is not None
        and code.co_names == ("_tuple_new",)
        and all(type(cls.__dict__.get(name)).__name__ == "_tuplegetter" for name in cls._fields)
        and not any(name in cls.__dict__ for name in ("__getattribute__", "__getattr__", "__getitem__", "__iter__"))
    )


@dataclass(eq=False)
class Item:
    """`whole` is the local that holds the tuple, `fields` those that hold attributes; at least one is known."""

    schema: Schema
    whole: str | None = None
    fields: dict[int, str] = field(default_factory=dict)

    def fork(self) -> Item:
        """For a block: what is looked up in there is not known behind it."""
        return Item(self.schema, self.whole, dict(self.fields))

    def attribute(self, at: int, lines: Lines, names: Names) -> str:
        """A local that holds an attribute."""
        if at not in self.fields:
            assert self.whole is not None
            self.fields[at] = names.new(self.schema.names[at])
            lines.add(f"{self.fields[at]} = {self.whole}[{at}]")
        return self.fields[at]

    def tuple(self, lines: Lines, names: Names) -> str:
        """A local that holds the tuple."""
        if self.whole is None:
            made = self.made(names)
            self.whole = names.new(self.schema.name.lower())
            lines.add(f"{self.whole} = {made}")
        return self.whole

    def made(self, names: Names) -> str:
        """An expression for the tuple, where it is not to be kept."""
        if self.whole is not None:
            return self.whole
        values = ", ".join(self.fields[at] for at in range(len(self.schema.names)))
        new = names.constant(tuple.__new__, "new")
        return f"{new}({names.constant(self.schema.type, self.schema.name)}, ({values},))"
