"""What is wrong with one use of an object that is taken to be constant."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from anabranch.analysis.fresh_arrays import is_definitely_a_new_array
from anabranch.analysis.fresh_objects import is_definitely_fresh
from anabranch.analysis.modules import Namespace
from anabranch.analysis.reading import Kind, Reader
from anabranch.analysis.shapes import UNKNOWN_SHAPE
from anabranch.analysis.uses import Use
from anabranch.errors import Location


@dataclass(frozen=True)
class Problem:
    """Why something is not definitely constant; the text follows its description."""

    text: str
    location: Location | None = None

    def __str__(self) -> str:
        return f"{self.text} ({self.location})" if self.location else self.text


def bad_use(use: Use, reader: Reader, is_deferred: bool, aliases: list[str]) -> Problem | None:
    """What is wrong with one use of a container that is taken to be constant."""
    if is_store(use.node):
        if is_deferred:
            return Problem("is assigned by a function", location_of(use))
        return bad_binding(use, reader, aliases)
    parent = use.text.parents.get(use.node)
    if isinstance(parent, ast.Call) and parent.func is use.node and reader.shape != UNKNOWN_SHAPE:
        return None  # `x.values()` is not about an attribute `values` that holds a container, which cannot be called
    kind = reader.kind(use.node)
    if kind is Kind.CHANGES and is_deferred:
        return Problem("is changed", location_of(use))
    if kind is Kind.ESCAPES and not _is_alias(use, aliases):
        return Problem("is handed on, so it may be changed elsewhere", location_of(use))
    return None


def _is_alias(use: Use, aliases: list[str]) -> bool:
    """`B = A` at module level, where the uses of B are checked too."""
    match use.text.parents.get(use.node):
        case ast.Assign(targets=targets) if not use.is_deferred:
            return all(isinstance(target, ast.Name) and target.id in aliases for target in targets)
        case _:
            return False


def bad_binding(use: Use, reader: Reader, aliases: list[str]) -> Problem | None:
    parent = use.text.parents.get(use.node)
    match use.node, parent:
        case ((ast.ImportFrom() | ast.Import()), _):
            return None
        case _, ast.AugAssign() | ast.Delete():
            return None
        case _, ast.Assign(value=value) | ast.AnnAssign(value=value):
            if isinstance(value, ast.Name) and value.id in aliases:
                return None
            if is_fresh_for(value, reader):
                return None
        case ast.expr() as target, ast.Tuple(elts=targets):
            match use.text.parents.get(parent):
                case ast.Assign(targets=[ast.Tuple()], value=ast.Tuple(elts=values)) if len(targets) == len(values):
                    if is_fresh_for(values[targets.index(target)], reader):
                        return None
        case _:
            pass
    return Problem("may have another name, through which it is changed", location_of(use))


def is_fresh_for(value: ast.AST | None, reader: Reader) -> bool:
    """Whether nobody else holds what an expression makes, as far as the reader's object can be changed."""
    is_fresh = is_definitely_fresh(value, reader.names, reader.are_parts_immutable)
    return is_fresh or is_definitely_a_new_array(value, reader)


def is_known(namespace: Namespace) -> bool:
    return namespace.is_complete and all(text.is_python for text in namespace.texts)


def unknown_source(namespace: Namespace) -> Problem:
    """Why a namespace is not known."""
    if namespace.strays.codes and namespace.texts:
        return Problem(f"cannot be followed: {_is_missing(namespace)}", _location_of_stray(namespace))
    if namespace.texts and not namespace.has_all_texts:
        file = Path(namespace.texts[0].file).name
        return Problem(f"cannot be followed: {file} has been edited since it was imported")
    return Problem("cannot be followed: not all of the source around it is known")


def written_by_stray(namespace: Namespace, what: str) -> Problem:
    return Problem(f"{what} where it cannot be followed: {_is_missing(namespace)}", _location_of_stray(namespace))


def _is_missing(namespace: Namespace) -> str:
    code = namespace.strays.codes[0]
    if code.co_filename.startswith("<"):
        return f"the source of `{code.co_name}` is not known"
    return f"`{code.co_name}` is not in its file as it was imported"


def _location_of_stray(namespace: Namespace) -> Location:
    code = namespace.strays.codes[0]
    return Location(code.co_filename, code.co_firstlineno)


def is_store(node: ast.AST) -> bool:
    if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        return not isinstance(node.ctx, ast.Load)
    return not isinstance(node, ast.Call)  # getattr(object, name); else a definition, an import, a captured name


def location_of(use: Use) -> Location:
    return Location(use.text.file, getattr(use.node, "lineno", 1))
