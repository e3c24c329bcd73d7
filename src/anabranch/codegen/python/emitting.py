"""What becomes of a value that user code emits: its port, its normal form, and the code that is downstream."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import GeneratorType
from typing import Any

from anabranch.codegen.python.aggregates import SlotColumn
from anabranch.codegen.python.bodies import Body
from anabranch.codegen.python.expressions import Made
from anabranch.codegen.python.items import Item
from anabranch.codegen.python.lines import Lines, joined
from anabranch.codegen.python.names import Names
from anabranch.codegen.python.values import abnormal, is_virtual
from anabranch.codegen.types import Type
from anabranch.errors import shown
from anabranch.graph.model import Operator
from anabranch.graph.schema import AttributeType
from anabranch.graph.values import ValueProblem, normalizer
from anabranch.operators.emissions import To, output_names, routed, to

Deliver = Callable[[int, Item], None]  # writes what an emission on a port sets off


class Emitter:
    """Writes the emissions of one operator at one place; `is_routed` where they may be addressed with `ab.to`."""

    def __init__(
        self, operator: Operator, lines: Lines, names: Names, deliver: Deliver, *, is_routed: bool = True
    ) -> None:
        self.operator = operator
        self.lines = lines
        self.names = names
        self.deliver = deliver
        self.is_routed = is_routed
        self._admissions: dict[int, str] = {}
        self.is_single = len(operator.outputs) == 1 and operator.outputs[0].name == "out"

    def emit(self, body: Body, node: ast.expr) -> None:
        """An expression that is one tuple."""
        port, node = self._addressed(body, node)
        if port is None:
            self._emit_unknown(body, node)
            return
        item, made = body.item(node), body.made(node)
        schema = self.operator.outputs[port].schema
        if item is not None and item.schema.type is schema.type:
            self.again(item, port)
        elif made is not None and made.type is schema.type and is_virtual(schema):
            self._emit_made(body, made, port)
        else:
            name = self.names.new("out")
            self.lines.add(joined(f"{name} = ", body.expression(node)))
            self.checked(name, port)

    def _addressed(self, body: Body, node: ast.expr) -> tuple[int | None, ast.expr]:
        """The port, where it can be seen."""
        names = [port.name for port in self.operator.outputs]
        match node:
            case ast.Call(func=func, args=[ast.Constant(value=str(name)), item], keywords=[]) if self.is_routed:
                if body.constant(func) is to and name in output_names(self.operator):
                    return names.index(name), item
        is_tuple = body.made(node) is not None or body.item(node) is not None
        return (0 if self.is_single or (is_tuple and names[0] == "out") else None), node

    def _emit_unknown(self, body: Body, node: ast.expr) -> None:
        name = self.names.new("out")
        self.lines.add(joined(f"{name} = ", body.expression(node)))
        self.routed(name)

    def _emit_made(self, body: Body, made: Made, port: int) -> None:
        """The attributes as locals; the tuple itself is made only if somebody needs it."""
        schema = self.operator.outputs[port].schema
        values: dict[int, str] = {}
        checks: dict[int, str] = {}
        for at, node in made.arguments:
            kind = schema.attributes[at].type
            known = body.type_of(node)
            code = body.expression(node)
            body.is_calm = True  # what was evaluated is in a statement of its own
            if _is_normal(body, node, kind):
                values[at] = code.text
                continue
            values[at] = self.names.new(schema.names[at])
            self.lines.add(joined(f"{values[at]} = ", code))
            check = abnormal(kind, values[at], self.names, known)
            if check is not None:
                checks[at] = check
        for at, default in made.defaults.items():
            values[at] = self.names.new(schema.names[at])
            self.lines.add(f"{values[at]} = {self.names.constant(default, schema.names[at])}")
            check = abnormal(schema.attributes[at].type, values[at], self.names)
            if check is not None:
                checks[at] = check
        with self.lines.at(self.lines.place):
            self._deliver_values(port, values, checks)

    def values(self, results: Sequence[SlotColumn]) -> None:
        """The results of a window as a tuple."""
        schema = self.operator.outputs[0].schema
        if not is_virtual(schema):
            name = self.names.new("out")
            values = "".join(f"{column.result}, " for column in results)
            self.lines.add(f"{name} = {self.names.constant(schema.type._make, 'make')}(({values}))")  # type: ignore[attr-defined]
            self.checked(name)
            return
        held: dict[int, str] = {}
        checks: dict[int, str] = {}
        for at, (attribute, column) in enumerate(zip(schema.attributes, results, strict=True)):
            held[at] = self.names.new(attribute.name)
            self.lines.add(f"{held[at]} = {column.result}")
            check = abnormal(attribute.type, held[at], self.names, column.type)
            if check is not None and not (column.is_normal and _fits(column.type, attribute.type)):
                checks[at] = check
        self._deliver_values(0, held, checks)

    def _deliver_values(self, port: int, values: dict[int, str], checks: dict[int, str]) -> None:
        item = Item(self.operator.outputs[port].schema, None, values)
        if checks:
            with self.lines.block("if ", " or ".join(checks[at] for at in sorted(checks)), ":"):
                fixed = self.names.new("normal")
                self.lines.add(f"{fixed} = {self._normalizer(port)}({item.made(self.names)})")
                for at in sorted(checks):
                    self.lines.add(f"{values[at]} = {fixed}[{at}]")
        self.deliver(port, item)

    def again(self, item: Item, port: int = 0) -> None:
        """A tuple that arrived goes on; only what is in lists has to be copied."""
        with self.lines.at(self.lines.place):
            if item.schema.has_lists:
                name = self.names.new(item.schema.name.lower())
                self.lines.add(f"{name} = {self._normalizer(port)}({item.tuple(self.lines, self.names)})")
                item = Item(item.schema, name)
            self.deliver(port, item)

    def checked(self, name: str, port: int = 0) -> None:
        """A local that should hold a tuple for a port."""
        schema = self.operator.outputs[port].schema
        item = Item(schema, name)
        admit = self._normalizer(port)
        with self.lines.at(self.lines.place):
            if not is_virtual(schema):
                self.lines.add(f"{name} = {admit}({name})")
            else:
                with self.lines.block(f"if type({name}) is not {self.names.constant(schema.type, schema.name)}:"):
                    self.lines.add(f"{name} = {admit}({name})")
                tests = []
                for at, attribute in enumerate(schema.attributes):
                    local = item.attribute(at, self.lines, self.names)
                    tests.append(abnormal(attribute.type, local, self.names) or "False")
                with self.lines.block("if ", " or ".join(tests), ":"):
                    self.lines.add(f"{name} = {admit}({name})")
                    for at, local in item.fields.items():
                        self.lines.add(f"{local} = {name}[{at}]")
            self.deliver(port, item)

    def routed(self, name: str) -> None:
        """A local that should hold a tuple, perhaps addressed to an output."""
        if self.is_single:
            self.checked(name)
            return
        port = self.names.new("port")
        with self.lines.at(self.lines.place):
            self.lines.add(f"{port}, {name} = {self.names.constant(_Routing(self.operator), 'routed')}({name})")
            for number, each in enumerate(self.operator.outputs):
                with self.lines.block(f"{'if' if number == 0 else 'elif'} {port} == {number}:"):
                    self.deliver(number, Item(each.schema, name))

    def all_of(self, name: str) -> None:
        """A local that holds what a function returned: nothing, a tuple, or several."""
        out = self.names.new("out")
        header = f"for {out} in {self.names.constant(each_item, 'each_item')}({name}):"
        with self.lines.at(self.lines.place), self.lines.block(header):
            self.routed(out)

    def _normalizer(self, port: int) -> str:
        schema = self.operator.outputs[port].schema
        if port not in self._admissions:
            admission = _Admission(self.operator, port) if self.is_routed else normalizer(schema)
            self._admissions[port] = self.names.constant(admission, f"normal_{schema.name.lower()}")
        return self._admissions[port]


def _fits(known: Type | None, kind: AttributeType) -> bool:
    return known is not None and known.kind == kind.kind and (kind.optional or not known.optional)


def _is_normal(body: Body, node: ast.expr, kind: AttributeType) -> bool:
    """Whether an expression is an attribute of a tuple that arrived, of the same type."""
    match node:
        case ast.Attribute(value=value, attr=name):
            item = body.item(value)
            if item is not None and name in item.schema.names:
                given = item.schema[name]
                return given.kind == kind.kind and (kind.optional or not given.optional)
    return False


class _Admission:
    """Normal form for a port, for the rare value that is not in it."""

    def __init__(self, operator: Operator, port: int) -> None:
        self._operator = operator
        self._normalize = normalizer(operator.outputs[port].schema)

    def __call__(self, item: Any) -> Any:
        return self._normalize(routed(item, self._operator)[1] if isinstance(item, To) else item)


class _Routing:
    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        self._normalize = [normalizer(port.schema) for port in operator.outputs]

    def __call__(self, item: Any) -> tuple[int, Any]:
        port, item = routed(item, self._operator)
        return port, self._normalize[port](item)


def each_item(result: Any) -> Iterable[Any]:
    """What a user's function returned, one by one."""
    if type(result) is GeneratorType:
        return result
    if result is None:
        return ()
    if isinstance(result, To) or hasattr(result, "_fields"):
        return (result,)
    try:
        items: Iterator[Any] = iter(result)
    except TypeError:
        raise ValueProblem(f"a tuple, several, or None expected, got {shown(result)}") from None
    return items
