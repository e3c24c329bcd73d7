"""Expressions of user code in generated code: the same, with attributes of tuples as locals, and constants."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import FunctionType
from typing import Any, NamedTuple

from anabranch.analysis.lifting import is_made_by_named_tuple
from anabranch.codegen.functions import Refusal, user_function
from anabranch.codegen.inference import type_function
from anabranch.codegen.python.inlines import Inline, NotInline, inline
from anabranch.codegen.python.items import Item, is_plain
from anabranch.codegen.python.lines import Code, Lines, Mark, joined
from anabranch.codegen.python.names import Names
from anabranch.codegen.types import UNKNOWN as UNKNOWN_TYPE
from anabranch.codegen.types import Type, has_schema
from anabranch.errors import Location
from anabranch.graph.schema import is_named_tuple, schema_of

_DEEPEST = 4  # functions that inlined functions call are inlined up to here
_LARGEST = 80  # nodes of the syntax tree of such a function
_CALM = (ast.Name, ast.Constant, ast.Tuple)  # evaluating these, by themselves, cannot fail
UNKNOWN = object()


class Made(NamedTuple):
    """A NamedTuple as it is constructed: its class, arguments in the order they are evaluated, and defaults."""

    type: type[tuple[Any, ...]]
    arguments: list[tuple[int, ast.expr]]
    defaults: dict[int, Any]


class Expressions:
    """Writes expressions of one function at one place."""

    def __init__(self, code: Inline, lines: Lines, names: Names, depth: int) -> None:
        self.code = code
        self.lines = lines
        self.names = names
        self.depth = depth
        self.locals: dict[str, Item | str] = {}
        self.fields: Mapping[str, str] = {}  # expressions for the attributes of an instance that is no object
        self.present: frozenset[str] = frozenset()  # expressions that are known not to be None
        # Whether nothing that this statement evaluated so far can fail or be seen: then what comes next may be
        # evaluated in a statement before it.
        self.is_calm = True

    def expression(self, node: ast.expr) -> Code:
        new = self._rewritten(node)
        text = _text(new)
        return self._marked(new, ast.parse(text, mode="eval").body, text)

    def simple(self, node: ast.stmt) -> Code:
        """A statement without a block."""
        new = self._rewritten_statement(node)
        text = _text(new)
        return self._marked(new, ast.parse(text).body[0], text)

    def item(self, node: ast.expr) -> Item | None:
        """The tuple that an expression is, where it is one that generated code knows."""
        held = self.locals.get(node.id) if isinstance(node, ast.Name) else None
        return held if isinstance(held, Item) else None

    def type_of(self, node: ast.expr) -> Type | None:
        """The type that the value certainly has."""
        typed = self.code.typed
        if typed is None or node not in typed.types or node in typed.loose:
            return None
        kind = typed.types[node]
        return kind if kind.is_known else None

    def constant(self, node: ast.expr) -> Any:
        """What a name or a dotted name stands for all the time, or `UNKNOWN`."""
        if node in self.code.constants:
            return self.code.constants[node]
        if isinstance(node, ast.Name) and node.id not in self.locals:
            return self.code.function.constants.get(node.id, UNKNOWN)
        return UNKNOWN

    def made(self, node: ast.expr) -> Made | None:
        """The NamedTuple that an expression constructs, where it is a plain one and the arguments fit."""
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr="_replace"), args=[], keywords=keywords):
                return self._replaced(value, keywords, node)
            case ast.Call():
                cls = self.constant(node.func)
            case _:
                return None
        if cls is UNKNOWN or not is_named_tuple(cls) or not is_plain(cls):
            return None
        fields = list(cls._fields)
        names = [keyword.arg for keyword in node.keywords]
        given = [*range(len(node.args)), *(fields.index(name) if name in fields else -1 for name in names)]
        defaults = {fields.index(name): value for name, value in cls._field_defaults.items()}
        missing = [at for at in range(len(fields)) if at not in given]
        is_fitting = len(set(given)) == len(given) and -1 not in given and len(node.args) <= len(fields)
        if not is_fitting or any(at not in defaults for at in missing):
            return None
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        return Made(cls, list(zip(given, values, strict=True)), {at: defaults[at] for at in missing})

    def _replaced(self, value: ast.expr, keywords: list[ast.keyword], node: ast.Call) -> Made | None:
        """`t._replace(x=1)` is a construction too: the values that stay are attributes of the tuple."""
        item = self.item(value)
        changed = {keyword.arg: keyword.value for keyword in keywords}
        if item is None or not is_plain(item.schema.type) or not is_made_by_named_tuple(item.schema.type, "_replace"):
            return None
        fields = list(item.schema.names)
        if any(name not in fields for name in changed):
            return None
        kept = [name for name in fields if name not in changed]
        given = [(fields.index(name), each) for name, each in changed.items() if name is not None]
        given += [
            (fields.index(name), ast.copy_location(ast.Attribute(value, name, ast.Load()), node)) for name in kept
        ]
        return Made(item.schema.type, given, {})

    # Rewriting ------------------------------------------------------------------------------------------------

    def _rewritten_statement(self, node: ast.stmt) -> ast.stmt:
        match node:
            case ast.Assign(targets=targets, value=value):
                new_value = self._rewritten(value)  # evaluated before the targets
                new: ast.stmt = ast.Assign([self._rewritten(each) for each in targets], new_value)
            case ast.AugAssign(target=target, op=op, value=value):
                new_target = self._rewritten(target)
                new = ast.AugAssign(new_target, op, self._rewritten(value))
            case _:
                new = self._copied(node)
        self._with_line(new, node)
        return new

    def _rewritten(self, node: Any) -> Any:
        """A copy with new names, made in the order of evaluation."""
        value = self.constant(node) if isinstance(node, ast.Name | ast.Attribute) else UNKNOWN
        if value is not UNKNOWN:
            hint = node.id if isinstance(node, ast.Name) else node.attr
            return self._with_line(_parsed(self.names.constant(value, hint)), node)
        match node:
            case ast.Name(id=name, ctx=ctx):
                held = self.locals.get(name)
                if held is None or (self.fields and name == self.code.instance):
                    raise NotInline  # a name that nothing is known of, or an instance that is no object
                text = held if isinstance(held, str) else held.tuple(self.lines, self.names)
                return self._with_line(ast.Name(text, ctx), node)
            case ast.Attribute(value=ast.Name(id=name)) if self.fields and name == self.code.instance:
                return self._with_line(self._field(node), node)
            case ast.Attribute(value=value, ctx=ast.Load()):
                read = self._of_tuple(node, value)
                if read is not None:
                    return self._with_line(read, node)
            case ast.BoolOp(op=ast.And(), values=values):
                return self._with_line(self._conjunction(values), node)
            case ast.Call():
                inlined = self._inlined(node)
                if inlined is not None:
                    return inlined
        return self._copied(node)

    def _field(self, node: ast.Attribute) -> ast.expr:
        name = self.code.function.mangled(node.attr)
        if name not in self.fields:
            raise NotInline
        field = _parsed(self.fields[name])
        field.ctx = node.ctx  # type: ignore[attr-defined]  # a name or a subscript
        return field

    def _of_tuple(self, node: ast.Attribute, value: ast.expr) -> ast.expr | None:
        """An attribute of a NamedTuple by its index, or as the local that holds it."""
        item = self.item(value)
        if item is not None and node.attr in item.schema.names and is_plain(item.schema.type):
            local = item.attribute(item.schema.names.index(node.attr), self.lines, self.names)
            return ast.Name(local, ast.Load())
        kind = self.type_of(value)
        if kind is None or kind.named is None or not is_plain(kind.named) or node.attr not in kind.named._fields:  # type: ignore[attr-defined]
            return None
        if kind.optional and self._text_of(value) not in self.present:
            return None
        index = ast.Constant(kind.named._fields.index(node.attr))  # type: ignore[attr-defined]
        return ast.Subscript(self._rewritten(value), index, ast.Load())

    def _text_of(self, node: ast.expr) -> str | None:
        """A variable or an attribute of the instance, as it is in generated code."""
        match node:
            case ast.Name(id=name):
                held = self.locals.get(name)
                return held if isinstance(held, str) else None
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name == self.code.instance:
                return self.fields.get(self.code.function.mangled(attribute))
        return None

    def present_if(self, test: ast.expr) -> frozenset[str]:
        """What is certainly not None if a condition holds."""
        match test:
            case ast.BoolOp(op=ast.And(), values=values):
                found: frozenset[str] = frozenset()
                for value in values:
                    found = (found | self.present_if(value)) - self._assigned_in(value)
                return found
            case ast.Compare(left=value, ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
                text = self._text_of(value)
                return frozenset() if text is None else frozenset([text])
        return frozenset()

    def _conjunction(self, values: list[ast.expr]) -> ast.expr:
        before = self.present
        new = []
        for value in values:
            new.append(self._rewritten(value))
            self.present = (self.present | self.present_if(value)) - self._assigned_in(value)
            self.is_calm = False  # the next is not evaluated always
        self.present = before
        return ast.BoolOp(ast.And(), new)

    def _assigned_in(self, node: ast.expr) -> set[str | None]:
        """What a walrus assigns in an expression: it may be None again."""
        return {self._text_of(each.target) for each in ast.walk(node) if isinstance(each, ast.NamedExpr)}

    def _copied(self, node: Any) -> Any:
        if isinstance(node, ast.Dict):  # its keys and values are evaluated in turns
            self.is_calm = False
        new = type(node)()
        for field, value in ast.iter_fields(node):
            if isinstance(value, list):
                setattr(new, field, [self._child(node, number, each) for number, each in enumerate(value)])
            elif isinstance(value, ast.AST):
                setattr(new, field, self._child(node, 0, value))
                if isinstance(node, ast.IfExp) and field == "test":
                    self.is_calm = False
            else:
                setattr(new, field, value)
        if isinstance(new, ast.Attribute):
            new.attr = self.code.function.mangled(new.attr)  # generated code is in no class
        if isinstance(node, ast.expr) and not isinstance(node, _CALM):
            self.is_calm = False
        return self._with_line(new, node)

    def _child(self, parent: Any, number: int, node: Any) -> Any:
        if isinstance(parent, ast.BoolOp | ast.Compare) and number > 0:
            self.is_calm = False  # it is not evaluated always
        if isinstance(node, ast.expr):
            return self._rewritten(node)
        if isinstance(node, ast.keyword | ast.FormattedValue | ast.Slice):
            return self._copied(node)
        return node

    def _inlined(self, node: ast.Call) -> ast.expr | None:
        """A call of a function of the user's as the statements of that function, before this one; its result."""
        if not self.is_calm or self.depth >= _DEEPEST or node.keywords:
            return None
        if any(isinstance(part, ast.NamedExpr) for each in node.args for part in ast.walk(each)):
            return None  # it would be assigned before what stands in front of the call is read
        called = self.constant(node.func)
        if not isinstance(called, FunctionType):
            return None
        function = user_function(called)
        if isinstance(function, Refusal) or len(function.free_parameters) != len(node.args):
            return None
        try:
            # The types of the arguments are not looked at: this is for the constants.
            code = inline(function, type_function(function, [UNKNOWN_TYPE] * len(node.args)))
        except NotInline:
            return None
        if code.is_generator or sum(1 for part in code.body for _ in ast.walk(part)) > _LARGEST:
            return None
        arguments = [self._argument(name, value) for name, value in zip(code.parameters, node.args, strict=True)]
        result = self.names.new(f"{called.__name__}_result")
        from anabranch.codegen.python.bodies import Body

        body = Body(code, arguments, self.lines, self.names, depth=self.depth + 1)
        body.write(
            emit=_never,
            at_return=lambda inner, value: self.lines.add(joined(f"{result} = ", inner.expression(value))),
            at_end=lambda: self.lines.add(f"{result} = None"),
        )
        self.is_calm = True  # all that was evaluated is in statements before
        named = ast.Name(result, ast.Load())
        self._with_line(named, node)
        return named

    def _argument(self, name: str, value: ast.expr) -> Item | str:
        item = self.item(value)
        if item is not None:
            return item
        local = self.names.new(name)
        self.lines.add(joined(f"{local} = ", self.expression(value)))
        kind = self.type_of(value)
        is_present = kind is not None and (not kind.optional or self._text_of(value) in self.present)
        if kind is not None and kind.named is not None and is_present and has_schema(kind.named):
            return Item(schema_of(kind.named), local)
        return local

    # Text -----------------------------------------------------------------------------------------------------

    def _with_line(self, new: Any, old: ast.AST) -> Any:
        new.user_line = _line_of(old)
        return new

    def _marked(self, new: ast.AST, parsed: ast.AST, text: str) -> Code:
        marks: list[Mark] = []
        waiting = [(new, parsed)]
        while waiting:
            ours, theirs = waiting.pop()
            if type(ours) is not type(theirs):
                raise NotInline  # the text does not read as it was meant
            line = getattr(ours, "user_line", None)
            if line is not None and hasattr(theirs, "end_col_offset"):
                place = Location(self.code.function.file, line)
                marks.append((theirs.col_offset, theirs.end_col_offset, place))  # type: ignore[attr-defined]
            if not isinstance(ours, ast.JoinedStr):  # in which Python gives no positions
                children = list(ast.iter_child_nodes(ours)), list(ast.iter_child_nodes(theirs))
                if len(children[0]) != len(children[1]):
                    raise NotInline
                waiting += zip(*children, strict=True)
        return Code(text, tuple(marks))


def _text(node: ast.AST) -> str:
    text = ast.unparse(ast.fix_missing_locations(node))
    if "\n" in text:
        raise NotInline
    return text


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _line_of(node: ast.AST) -> int | None:
    """The line that Python reports for a failure of a node: that of the name, for attributes over several lines."""
    attribute = node.func if isinstance(node, ast.Call) else node
    if isinstance(attribute, ast.Attribute) and attribute.lineno != attribute.end_lineno:
        return attribute.end_lineno
    return getattr(node, "lineno", None)


def _never(body: Any, value: ast.expr) -> None:
    raise AssertionError("a function that is called for its result does not yield")
