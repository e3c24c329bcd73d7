"""Calls of loggers, which write a log and leave no trace in what operators see, as long as only the library does it.

Loggers go to workers by their names, without the handlers and levels that they have here, so a record may be written or
not: nothing that tuples depend on may follow from that. Handlers, filters and formatters of the user's own may do
anything, and so may objects whose texts are made by code of the user's.
"""

from __future__ import annotations

import ast
import collections
import logging
import logging.handlers
import sys
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from anabranch.analysis.constant_globals import is_definitely_an_instance
from anabranch.analysis.constant_uses import is_store
from anabranch.analysis.holders import is_held_only_by
from anabranch.analysis.lifting import is_user_class
from anabranch.analysis.modules import Namespace, is_library_function, namespace_of, world
from anabranch.analysis.patching import changed_library
from anabranch.analysis.program import program_around
from anabranch.analysis.protocols import class_of, turn_into_text
from anabranch.analysis.reflection import may_reach
from anabranch.analysis.run import Args, Frame, Handler, Run
from anabranch.analysis.special_methods import unknown_special_method, user_methods
from anabranch.analysis.state import shown
from anabranch.analysis.uses import Use, uses_of
from anabranch.analysis.values import NONE, RAISED, Const, Obj, Thing, Value, join, one
from anabranch.analysis.words import words

LOGGERS: tuple[type, ...] = (logging.Logger, logging.RootLogger)
_WRITING = words("debug info warning warn error exception critical log")
_KEYWORDS = frozenset({"msg", "exc_info", "stack_info", "stacklevel"})  # `extra` may fail, and only where it is written
_HINT = "return what it would log as a tuple, and log it in for_each"
_FUNCTIONS = tuple(getattr(logging, name) for name in sorted(_WRITING))
# What users extend, and what records pass through.
_CLASSES: tuple[type, ...] = (
    *LOGGERS, logging.Filterer, logging.Filter, logging.Handler, logging.Formatter, logging.LogRecord,
    logging.BufferingFormatter, logging.Manager, logging.PercentStyle, logging.LoggerAdapter,
)  # fmt: skip
# Through these, code of the user's comes to loggers while tuples flow.
_ADDING_CODE = words("addFilter setLogRecordFactory setLoggerClass setStream filters")
_ADDING = _ADDING_CODE | words("addHandler setFormatter basicConfig dictConfig fileConfig handlers formatter")
_METHODS = frozenset(name for cls in _CLASSES for name, held in vars(cls).items() if isinstance(held, FunctionType))


def rule_of(logger: Thing, name: str) -> bool:
    """Whether it is a logger of the library's, and the method one that writes."""
    return isinstance(logger, Const) and type(logger.object) in LOGGERS and name in _WRITING


def log(run: Run, frame: Frame, receiver: Thing, args: Args, node: ast.AST) -> Value:
    """`logger.info("%s", value)`"""
    assert isinstance(receiver, Const)
    return _write(run, frame, receiver.object, args, node)


def handler_of(function: Any) -> Handler | None:
    """`logging.info` and its like, and `logging.getLogger`."""
    if any(function is one for one in _FUNCTIONS):
        return lambda run, frame, args, node: _write(run, frame, logging.root, args, node)
    return _get if function is _GET_LOGGER else None


_GET_LOGGER = logging.getLogger


def _get(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    match node:
        case ast.Call(args=[], keywords=[]):
            return one(Const(logging.root))
        case ast.Call(args=[ast.Constant(value=str(name))], keywords=[]):
            return one(Const(_GET_LOGGER(name)))
        case ast.Call(args=[ast.Name(id="__name__")], keywords=[]):
            return one(Const(_GET_LOGGER(str(frame.home.namespace.get("__name__")))))
        case _:
            return run.unknown(frame, node, f"calls {shown(node)}, and which logger that is, is not known", _HINT)


def _write(run: Run, frame: Frame, logger: logging.Logger, args: Args, node: ast.AST) -> Value:
    given = join(args.all) | run.heap.held(RAISED)  # what is handled may be logged with it
    unknown = {name for name, _ in args.keywords} - _KEYWORDS
    if args.more_keywords is not None or unknown:
        return run.unknown(frame, node, f"calls {shown(node)} with more than a text and its parts", _HINT)
    changed = changed_library(logging.info, frame.home.namespace)
    problem = (f"which {changed}" if changed else None) or _why_not_the_library_alone(logger)
    problem = problem or _why_not_for_long(frame.home.namespace)
    if problem is not None:
        return run.unknown(frame, node, f"calls {shown(node)}, a logger {problem}", _HINT)
    if any(_has_text_of_its_own(thing) for thing in run.heap.reachable(given)):
        return run.unknown(frame, node, f"calls {shown(node)}, which calls `__str__` only where it is written", _HINT)
    turn_into_text(run, frame, given, node)
    return NONE


def _has_text_of_its_own(thing: Thing) -> bool:
    """Whether code of the user's makes its text: that runs where the record is written, and not elsewhere."""
    if isinstance(thing, Obj) and issubclass(thing.type, collections.defaultdict):
        return True  # a text may ask it for what it does not have
    cls = class_of(thing)
    return cls is not None and (bool(user_methods(cls)) or unknown_special_method(cls) is not None)


# What is there now ---------------------------------------------------------------------------------------------------


def _why_not_the_library_alone(logger: logging.Logger) -> str | None:
    if logging.getLogRecordFactory() is not logging.LogRecord:
        return "whose records are made by a function of the program's"
    if (
        not _is_as_it_was()
        or is_user_class(type(sys.stderr))
        or not (logging.lastResort is None or _is_a_handler(logging.lastResort))
    ):
        return "some of whose parts were exchanged"
    at: logging.Logger | None = logger
    while at is not None:
        if type(at) not in LOGGERS or not _is_of_the_library(at) or not all(map(_is_a_filter, at.filters)):
            return "with parts of the program's own"
        if not all(map(_is_a_handler, at.handlers)):
            return "with a handler, filter or formatter of the program's own"
        if not is_held_only_by(at.handlers, at) or not is_held_only_by(at.filters, at):
            return "whose handlers the program has, too"
        at = at.parent if at.propagate else None
    return None


def _is_a_handler(handler: logging.Handler) -> bool:
    if (
        type(handler) is logging.Handler
        or not _is_of_the_library(handler)
        or not all(map(_is_a_filter, handler.filters))
    ):
        return False
    formatter, target = handler.formatter, getattr(handler, "target", None)
    if formatter is not None and not (_is_of_the_library(formatter) and _is_of_the_library(formatter._style)):
        return False
    if any(name in vars(handler) for name in _METHODS) or getattr(
        getattr(formatter, "_style", None), "_defaults", None
    ):
        return False
    return not isinstance(target, logging.Handler) or _is_a_handler(target)


def _is_a_filter(each: Any) -> bool:
    return isinstance(each, logging.Filter) and _is_of_the_library(each)


def _is_of_the_library(part: Any) -> bool:
    """Whether its class is the library's, and nothing it holds itself is code or an object of the user's."""
    return not is_user_class(type(part)) and not any(map(_is_of_the_user, vars(part).values()))


def _is_of_the_user(held: Any) -> bool:
    function = held.__func__ if isinstance(held, MethodType) else held
    if isinstance(function, FunctionType):
        return not is_library_function(function)
    return not isinstance(held, BuiltinFunctionType | type) and is_user_class(type(held))


def _members() -> list[object]:
    return [held for cls in _CLASSES for _, held in sorted(vars(cls).items()) if isinstance(held, FunctionType)]


_AT_FIRST = _members()


def _is_as_it_was() -> bool:
    """Whether the methods of the library's classes are its own; exchanged ones would run instead."""
    now = _members()
    is_same = len(now) == len(_AT_FIRST) and all(a is b for a, b in zip(now, _AT_FIRST, strict=True))
    return is_same and all(is_library_function(each) for each in now if isinstance(each, FunctionType))


# What may come -------------------------------------------------------------------------------------------------------

_for_long: dict[tuple[int, int], str | None] = {}


def _why_not_for_long(names: dict[str, Any]) -> str | None:
    """Why code of the user's may be added to loggers while tuples flow."""
    key = (id(names), world())
    if key not in _for_long:
        _for_long[key] = _find_addition(names)
    return _for_long[key]


def _find_addition(names: dict[str, Any]) -> str | None:
    around = program_around(namespace_of(names))
    modules = {str(namespace.names.get("__name__")) for namespace in around}
    has_classes = any(cls.__module__ in modules and is_user_class(cls) for cls in _subclasses())
    for namespace in around:
        if any(namespace.strays.may_use(name) for name in _ADDING):
            return "that code may be added to which is not known"
        if any(may_reach(namespace, name) for name in _ADDING):
            return "that a function may reach by other means"
        for text in namespace.texts:
            uses = uses_of(text)
            for use in (*uses.attributes["stderr"], *uses.attributes["stream"], *uses.attributes["lastResort"]):
                if use.is_deferred and is_store(use.node):
                    return "whose stream a function may exchange"
            for name in _ADDING if has_classes else _ADDING_CODE:
                if any(use.is_deferred for use in (*uses.attributes[name], *uses.globals[name])):
                    return "to which a function adds code of the program's own"
            for name in _METHODS & uses.attributes.keys():
                for use in uses.attributes[name]:
                    if use.is_deferred and is_store(use.node) and (has_classes or not _is_of_self(use, namespace)):
                        return "one of whose methods a function may exchange"
    return None


def _is_of_self(use: Use, where: Namespace) -> bool:
    return isinstance(use.node, ast.Attribute) and is_definitely_an_instance(use.node.value, use, where)


def _subclasses() -> list[type]:
    found = list(_CLASSES)
    for cls in found:  # grows while it is walked
        more: list[type] = cls.__subclasses__()
        found += [each for each in more if each not in found]
    return found
