"""Which builtin and library functions have a rule of their own, by identity."""

from __future__ import annotations

import ast
import collections
import copy
import csv
import dataclasses
import functools
import itertools
import math
import operator
import re
import sys
import typing
from typing import Any

from anabranch.analysis import builtin_containers as containers
from anabranch.analysis import builtin_objects as objects
from anabranch.analysis import instance_checks
from anabranch.analysis import library_calls as library
from anabranch.analysis.builtin_containers import has_ambiguous_key
from anabranch.analysis.genuine import is_genuine
from anabranch.analysis.protocols import class_of, touch
from anabranch.analysis.run import Args, Frame, Handler, Run
from anabranch.analysis.values import Const, Thing, Value, join
from anabranch.analysis.words import words

_SET_METHODS = words(
    """union intersection difference symmetric_difference issubset issuperset isdisjoint update intersection_update
    difference_update symmetric_difference_update"""
)

_IGNORE_ORDER = (len, any, all, set, frozenset, sum, bool, math.fsum)


def ignores_order(run: Run, callee: Value, node: ast.Call, is_ignored: bool) -> bool:
    """Whether the call gives the same for its argument's elements in any order."""
    return bool(callee) and all(_ignores_order(thing, node, is_ignored) for thing in callee)


def _ignores_order(thing: Thing, node: ast.Call, is_ignored: bool) -> bool:
    name = getattr(thing, "name", None)
    if name in _SET_METHODS:
        return issubclass(getattr(thing, "owner", object), set | frozenset)
    if not isinstance(thing, Const):
        return False
    if _is_one_of(thing.object, _IGNORE_ORDER):
        return True
    if _is_one_of(thing.object, (sorted, min, max)):
        # With a key, equal elements keep the order they came in.
        return not has_ambiguous_key(node)
    if _is_one_of(thing.object, (map, iter)):
        # The elements of several iterables are paired as they come, and a function is called in some order, too.
        is_one = len(node.args) == 1 + (thing.object is map) and not any(isinstance(a, ast.Starred) for a in node.args)
        return is_ignored and is_one
    return is_ignored and _is_one_of(thing.object, (list, tuple, filter, reversed, itertools.chain))


def _is_one_of(function: Any, functions: tuple[Any, ...]) -> bool:
    return any(function is one for one in functions)


_HANDLERS: list[tuple[Any, Handler]] = [
    *((kind, containers.make_container(kind)) for kind in (list, tuple, set, frozenset, collections.deque)),
    (collections.Counter, containers.make_counter),
    (dict, containers.make_dict),
    (collections.OrderedDict, containers.make_ordered_dict),
    (collections.defaultdict, containers.make_defaultdict),
    (enumerate, containers.call_enumerate),
    (zip, containers.call_zip),
    (map, containers.call_map),
    (filter, containers.call_filter),
    (reversed, containers.call_reversed),
    (iter, containers.call_iter),
    (next, containers.call_next),
    (sorted, containers.call_sorted),
    (min, containers.call_min_or_max),
    (max, containers.call_min_or_max),
    (sum, containers.call_sum),
    (any, containers.call_any_or_all),
    (all, containers.call_any_or_all),
    (len, containers.call_len),
    *((function, objects.call_number_function) for function in (abs, round, divmod, pow)),
    *((kind, objects.convert_to(kind)) for kind in (str, int, float, bool, bytes, complex, range, slice)),
    *((function, objects.call_text_function) for function in (repr, format, ascii)),
    (hash, objects.call_hash),
    (getattr, objects.call_getattr),
    (hasattr, objects.call_hasattr),
    (setattr, objects.call_setattr),
    (delattr, objects.call_setattr),
    (type, objects.call_type),
    (super, objects.call_super),
    (isinstance, instance_checks.call_instance_check),
    (issubclass, instance_checks.call_instance_check),
    (object, objects.make_object),
    (functools.partial, library.make_partial),
    (functools.cmp_to_key, library.make_comparison_key),
    (functools.reduce, library.call_reduce),
    (typing.cast, library.call_cast),
    (copy.copy, library.call_copy),
    (copy.deepcopy, library.call_deep_copy),
    (dataclasses.replace, library.call_replace),
    (dataclasses.asdict, library.call_as_data),
    (dataclasses.astuple, library.call_as_data),
    (dataclasses.fields, library.call_fields),
    (operator.itemgetter, library.make_getter("itemgetter")),
    (operator.attrgetter, library.make_getter("attrgetter")),
    (operator.methodcaller, library.make_getter("methodcaller")),
    (csv.writer, library.make_csv_writer),
    (re.findall, library.call_find_all),
    *((function, library.by_operator(op)) for function, op in library.OPERATORS.items()),
    (operator.is_, library.by_identity(ast.Is())),
    (operator.is_not, library.by_identity(ast.IsNot())),
]

_BY_IDENTITY: dict[int, Handler] = {
    id(function): handler
    for function, handler in _HANDLERS
    if is_genuine(sys.modules[function.__module__], function.__name__)
}


# What these use of their arguments, each of their rules says by itself.
_EXACT = (
    abs, all, any, bool, dict, divmod, enumerate, filter, float, frozenset, getattr, hasattr, hash, int, isinstance,
    issubclass, iter, len, list, map, max, min, next, object, pow, range, repr, reversed, round, set, setattr, sorted,
    str, sum, super, tuple, type, zip, functools.partial, functools.reduce, typing.cast,
)  # fmt: skip


def touch_arguments(run: Run, frame: Frame, function: Any, args: Args, node: ast.AST) -> None:
    """Other functions may use every special method of what they are given."""
    if not _is_one_of(function, _EXACT):
        given = join(args.all)
        touch(run, frame, frozenset(t for t in given if class_of(t) is not None or isinstance(t, Const)), node, given)


def handler_of(function: Any) -> Handler | None:
    return _BY_IDENTITY.get(id(function))
