"""The fallback where source is missing: a syntax tree rebuilt from bytecode.

Only code without loops, exception handlers and inner functions is rebuilt, by running its instructions on a stack of
expressions and splitting at each jump. Whatever is not recognised gives no tree, and the function stays unknown.
"""

from __future__ import annotations

import ast
import dis
import inspect
from collections.abc import Callable
from types import CodeType
from typing import TypeAlias

from anabranch.analysis.values import FunctionNode

_MOST_INSTRUCTIONS = 600

_BINARY: dict[str, type[ast.operator]] = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "//": ast.FloorDiv, "%": ast.Mod, "**": ast.Pow,
    "<<": ast.LShift, ">>": ast.RShift, "|": ast.BitOr, "&": ast.BitAnd, "^": ast.BitXor, "@": ast.MatMult,
}  # fmt: skip
_COMPARE: dict[str, type[ast.cmpop]] = {
    "<": ast.Lt, "<=": ast.LtE, ">": ast.Gt, ">=": ast.GtE, "==": ast.Eq, "!=": ast.NotEq,
}  # fmt: skip
_UNARY: dict[str, type[ast.unaryop]] = {
    "UNARY_NOT": ast.Not, "UNARY_NEGATIVE": ast.USub, "UNARY_INVERT": ast.Invert, "UNARY_POSITIVE": ast.UAdd,
}  # fmt: skip
_IGNORED = ("RESUME", "NOP", "CACHE", "PRECALL", "COPY_FREE_VARS", "MAKE_CELL", "EXTENDED_ARG", "TO_BOOL", "NOT_TAKEN")
_CONSTANTS = (int, float, complex, str, bytes, bool, type(None), type(Ellipsis))


class _NotRebuilt(Exception):
    """An instruction that is not recognised."""


class _Null:
    """The mark that calls leave on the stack."""


Entry: TypeAlias = "ast.expr | _Null"


def rebuild(code: CodeType) -> FunctionNode | None:
    """The syntax tree of a function, if its bytecode is simple enough."""
    if _has_handlers(code) or code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return None
    try:
        body = _Rebuilder(code).run(0, [])
    except (_NotRebuilt, IndexError, RecursionError):
        return None
    node = ast.FunctionDef(_identifier(code.co_name), _arguments(code), body or [ast.Pass()], [])
    node.lineno, node.col_offset = code.co_firstlineno, 0
    return ast.fix_missing_locations(node)


def _has_handlers(code: CodeType) -> bool:
    """Whether errors are handled, other than by what every generator has since 3.12 to guard against StopIteration."""
    if not code.co_exceptiontable:
        return False
    if not code.co_flags & inspect.CO_GENERATOR:
        return True
    entries = getattr(dis.Bytecode(code), "exception_entries", None)
    targets = {entry.target for entry in entries or ()}
    names = {i.offset: i.opname for i in dis.get_instructions(code)}
    return not targets or any(names.get(target) != "CALL_INTRINSIC_1" for target in targets)


def _identifier(name: str) -> str:
    return name if name.isidentifier() else "function"


def _arguments(code: CodeType) -> ast.arguments:
    names = list(code.co_varnames)
    positional = [ast.arg(name) for name in names[: code.co_argcount]]
    end = code.co_argcount + code.co_kwonlyargcount
    keyword_only = [ast.arg(name) for name in names[code.co_argcount : end]]
    has_rest = bool(code.co_flags & inspect.CO_VARARGS)
    has_keywords = bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return ast.arguments(
        posonlyargs=positional[: code.co_posonlyargcount],
        args=positional[code.co_posonlyargcount :],
        vararg=ast.arg(names[end]) if has_rest else None,
        kwonlyargs=keyword_only,
        kw_defaults=[None] * len(keyword_only),
        kwarg=ast.arg(names[end + has_rest]) if has_keywords else None,
        defaults=[],
    )


class _Rebuilder:
    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.instructions = [i for i in dis.get_instructions(code) if i.opname not in _IGNORED]
        self.steps = 0
        self.temporaries = 0

    def at(self, offset: int) -> int:
        """The position of the first instruction at or after an offset."""
        for index, instruction in enumerate(self.instructions):
            if instruction.offset >= offset:
                return index
        raise _NotRebuilt

    def run(self, index: int, stack: list[Entry], names: tuple[str, ...] = ()) -> list[ast.stmt]:
        """The statements from one instruction to the end of all paths from there."""
        body: list[ast.stmt] = []
        while True:
            self.steps += 1
            if self.steps > _MOST_INSTRUCTIONS:
                raise _NotRebuilt
            instruction = self.instructions[index]
            name = instruction.opname
            index += 1
            if name.startswith(("POP_JUMP", "JUMP")):
                if "BACKWARD" in name:
                    raise _NotRebuilt  # a loop
                target = self.at(int(instruction.argval))
                if name == "JUMP_FORWARD":
                    index = target
                    continue
                return [*body, self._branch(name, stack, index, target)]
            match name:
                case "RETURN_VALUE":
                    return [*body, ast.Return(_expression(stack.pop()))]
                case "RETURN_CONST":
                    return [*body, ast.Return(_constant(instruction.argval))]
                case "RAISE_VARARGS":
                    parts = [_expression(stack.pop()) for _ in range(instruction.arg or 0)][::-1]
                    return [*body, ast.Raise(*parts)]
                case "KW_NAMES":
                    names = self.code.co_consts[instruction.arg or 0]
                    continue
                case "CALL" | "CALL_KW":
                    if name == "CALL_KW":
                        names = ast.literal_eval(_expression(stack.pop()))
                    self._call(stack, instruction.arg or 0, names)
                    names = ()
                    continue
            if not (_load(stack, instruction) or _operate(stack, instruction) or _build(stack, instruction)):
                body += self._statement(stack, instruction)

    def _branch(self, name: str, stack: list[Entry], after: int, target: int) -> ast.stmt:
        condition = _expression(stack.pop())
        jumps_when_true = "IF_TRUE" in name or "IF_NOT_NONE" in name
        if "NONE" in name:
            condition = ast.Compare(condition, [ast.Is()], [ast.Constant(None)])
            jumps_when_true = not jumps_when_true
        kept: list[Entry] = [condition] if name.endswith("_OR_POP") else []
        jumped = self.run(target, [*stack, *kept])
        stayed = self.run(after, list(stack))
        return ast.If(condition, *((jumped, stayed) if jumps_when_true else (stayed, jumped)))

    def _call(self, stack: list[Entry], count: int, names: tuple[str, ...]) -> None:
        arguments = [_expression(stack.pop()) for _ in range(count)][::-1]
        function = [entry for entry in (stack.pop(), stack.pop()) if not isinstance(entry, _Null)]
        if len(function) != 1:
            raise _NotRebuilt
        positional = arguments[: count - len(names)]
        keywords = [ast.keyword(n, value) for n, value in zip(names, arguments[len(positional) :], strict=True)]
        stack.append(ast.Call(_expression(function[0]), positional, keywords))

    def _statement(self, stack: list[Entry], instruction: dis.Instruction) -> list[ast.stmt]:
        name = str(instruction.argval)
        match instruction.opname:
            case "RETURN_GENERATOR":
                stack.append(ast.Constant(None))
                return []
            case "POP_TOP":
                dropped = stack.pop()
                return [] if isinstance(dropped, _Null | ast.Constant) else [ast.Expr(dropped)]
            case "YIELD_VALUE":
                stack.append(ast.Constant(None))
                return [ast.Expr(ast.Yield(_expression(stack.pop(-2))))]
            case "STORE_FAST":
                return [self._assign(ast.Name(name, ast.Store()), stack)]
            case "STORE_DEREF":
                kind: list[ast.stmt] = [ast.Nonlocal([name])] if name in self.code.co_freevars else []
                return [*kind, self._assign(ast.Name(name, ast.Store()), stack)]
            case "STORE_GLOBAL":
                return [ast.Global([name]), self._assign(ast.Name(name, ast.Store()), stack)]
            case "STORE_ATTR":
                owner = _expression(stack.pop())
                return [self._assign(ast.Attribute(owner, name, ast.Store()), stack)]
            case "STORE_SUBSCR":
                key, owner = _expression(stack.pop()), _expression(stack.pop())
                return [self._assign(ast.Subscript(owner, key, ast.Store()), stack)]
            case "UNPACK_SEQUENCE":
                count = instruction.arg or 0
                parts = [f"_part_{self.temporaries + n}" for n in range(count)]
                self.temporaries += count
                target = ast.Tuple([ast.Name(part, ast.Store()) for part in parts], ast.Store())
                statement = self._assign(target, stack)
                stack.extend(ast.Name(part, ast.Load()) for part in reversed(parts))
                return [statement]
            case _:
                raise _NotRebuilt

    def _assign(self, target: ast.expr, stack: list[Entry]) -> ast.stmt:
        value = _expression(stack.pop())
        assigned = {n.id for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        for entry in stack:
            if isinstance(entry, ast.expr) and assigned & {n.id for n in ast.walk(entry) if isinstance(n, ast.Name)}:
                raise _NotRebuilt  # what is on the stack means the variable as it was before
        return ast.Assign([target], value)


def _expression(entry: Entry) -> ast.expr:
    if isinstance(entry, _Null):
        raise _NotRebuilt
    return entry


def _constant(value: object) -> ast.expr:
    match value:
        case tuple():
            return ast.Tuple([_constant(part) for part in value], ast.Load())
        case frozenset():
            return ast.Set([_constant(part) for part in sorted(value, key=repr)])
        case _ if type(value) in _CONSTANTS:
            return ast.Constant(value)  # type: ignore[arg-type]  # one of the types that constants have
        case _:
            raise _NotRebuilt


def _load(stack: list[Entry], instruction: dis.Instruction) -> bool:
    """Instructions that put a value on the stack."""
    name = str(instruction.argval)
    argument = instruction.arg or 0
    match instruction.opname:
        case "PUSH_NULL":
            stack.append(_Null())
        case "LOAD_FAST" | "LOAD_FAST_CHECK" | "LOAD_FAST_BORROW" | "LOAD_DEREF":
            stack.append(ast.Name(name, ast.Load()))
        case "LOAD_GLOBAL":
            if argument & 1:
                stack.append(_Null())
            stack.append(ast.Name(name, ast.Load()))
        case "LOAD_CONST" | "LOAD_SMALL_INT":
            stack.append(_constant(instruction.argval))
        case "LOAD_ASSERTION_ERROR":
            stack.append(ast.Name("AssertionError", ast.Load()))
        case "LOAD_METHOD":
            receiver = _expression(stack.pop())
            stack += [_Null(), ast.Attribute(receiver, name, ast.Load())]
        case "LOAD_ATTR":
            receiver = _expression(stack.pop())
            if dis.opmap.get("LOAD_METHOD") is None and argument & 1:
                stack.append(_Null())  # since 3.12 this loads methods, too
            stack.append(ast.Attribute(receiver, name.removesuffix(" + NULL|self"), ast.Load()))
        case "COPY":
            stack.append(stack[-argument])
        case "SWAP":
            stack[-1], stack[-argument] = stack[-argument], stack[-1]
        case _:
            return False
    return True


def _operate(stack: list[Entry], instruction: dis.Instruction) -> bool:
    """Operators, comparisons and subscripts."""
    name = instruction.opname

    def pair() -> tuple[ast.expr, ast.expr]:
        right, left = _expression(stack.pop()), _expression(stack.pop())
        return left, right

    if name in _UNARY:
        stack.append(ast.UnaryOp(_UNARY[name](), _expression(stack.pop())))
    elif name == "BINARY_OP":
        symbol = instruction.argrepr
        if symbol == "[]":
            stack.append(_subscript(*pair()))
        elif symbol in _BINARY:
            left, right = pair()
            stack.append(ast.BinOp(left, _BINARY[symbol](), right))
        else:
            raise _NotRebuilt  # in place: what it changes would be lost in an expression
    elif name == "COMPARE_OP":
        symbol = str(instruction.argval).removeprefix("bool(").removesuffix(")")
        left, right = pair()
        stack.append(ast.Compare(left, [_COMPARE[symbol]()], [right]))
    elif name in ("IS_OP", "CONTAINS_OP"):
        left, right = pair()
        kinds: dict[tuple[str, bool], Callable[[], ast.cmpop]] = {
            ("IS_OP", False): ast.Is,
            ("IS_OP", True): ast.IsNot,
            ("CONTAINS_OP", False): ast.In,
            ("CONTAINS_OP", True): ast.NotIn,
        }
        stack.append(ast.Compare(left, [kinds[name, bool(instruction.arg)]()], [right]))
    elif name == "BINARY_SUBSCR":
        stack.append(_subscript(*pair()))
    else:
        return False
    return True


def _subscript(owner: ast.expr, key: ast.expr) -> ast.expr:
    return ast.Subscript(owner, key, ast.Load())


def _build(stack: list[Entry], instruction: dis.Instruction) -> bool:
    """Displays and texts."""
    count = instruction.arg or 0

    def taken(number: int) -> list[ast.expr]:
        return [_expression(stack.pop()) for _ in range(number)][::-1]

    match instruction.opname:
        case "BUILD_TUPLE":
            stack.append(ast.Tuple(taken(count), ast.Load()))
        case "BUILD_LIST":
            stack.append(ast.List(taken(count), ast.Load()))
        case "BUILD_SET":
            stack.append(ast.Set(taken(count)))
        case "BUILD_MAP":
            parts = taken(2 * count)
            stack.append(ast.Dict(list(parts[::2]), parts[1::2]))
        case "BUILD_CONST_KEY_MAP":
            keys = _expression(stack.pop())
            values = taken(count)
            stack.append(ast.Dict(list(keys.elts) if isinstance(keys, ast.Tuple) else [], values))
        case "BUILD_STRING":
            stack.append(ast.JoinedStr([_as_text(part) for part in taken(count)]))
        case "BUILD_SLICE":
            stack.append(ast.Slice(*taken(count)))
        case "FORMAT_VALUE":
            spec = _expression(stack.pop()) if count & 4 else None
            inner = ast.JoinedStr([_as_text(spec)]) if spec is not None else None
            stack.append(ast.FormattedValue(_expression(stack.pop()), -1, inner))
        case "FORMAT_SIMPLE":
            stack.append(ast.FormattedValue(_expression(stack.pop()), -1, None))
        case "LIST_EXTEND" | "SET_UPDATE":
            added, base = _expression(stack.pop()), stack[-count]
            if not isinstance(base, ast.List | ast.Set):
                raise _NotRebuilt
            stack[-count] = type(base)([*base.elts, ast.Starred(added, ast.Load())])
        case "LIST_TO_TUPLE":
            made = _expression(stack.pop())
            stack.append(ast.Tuple(made.elts if isinstance(made, ast.List) else [], ast.Load()))
        case _:
            return False
    return True


def _as_text(part: ast.expr) -> ast.expr:
    return part if isinstance(part, ast.FormattedValue | ast.Constant) else ast.FormattedValue(part, -1, None)
