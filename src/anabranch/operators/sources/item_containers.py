"""What can be iterated and is still no list of tuples: sets, which have no order, texts, columns; and what to write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from anabranch.errors import BuildError
from anabranch.graph.schema import Schema

NO_ORDER = "whose order differs from one process to the next"
_ITERATES_BY_HASH: tuple[object, ...] = (set.__iter__, frozenset.__iter__, type(iter(set())).__iter__)


def is_unordered(items: object) -> bool:
    """Whether it is iterated by hashes, those of texts being others in every process. A subclass may know better."""
    return getattr(type(items), "__iter__", None) in _ITERATES_BY_HASH


def check_has_order(what: str, items: object) -> None:
    if is_unordered(items):
        raise BuildError(
            f"{what} is a {type(items).__name__}, {NO_ORDER}",
            hint=f"sorted({what.rstrip('=')}); dict.fromkeys(…) instead of set(…) keeps the order of arrival",
        )


def check_is_no_frame(items: Any, schema: Schema) -> None:
    """Frames and tables iterate over their columns, or not at all."""
    kind = type(items)
    sources = {
        "pandas": "ab.from_pandas(frame, {name})",
        "polars": "ab.from_polars(frame, {name})",
        "pyspark": "[{name}(*row) for row in frame.select([{columns}]).collect()]",
        "pyarrow": "ab.from_arrow(table, {name})",
    }
    package = _package(items)
    if package in sources and kind.__name__ in ("DataFrame", "LazyFrame", "Table", "RecordBatch"):
        columns = ", ".join(map(repr, schema.names))
        raise BuildError(
            f"items= is a {kind.__name__}, which is made of columns, and not a list of {schema.name}",
            hint=sources[package].format(name=schema.name, columns=columns),
        )


def check_holds_tuples(items: Iterable[Any], schema: Schema) -> None:
    """A `BuildError` for what people give instead of a list of tuples; where it does hold tuples, it is one."""
    name, kind = schema.name, type(items).__name__
    if isinstance(items, schema.type):
        raise BuildError(f"items= is one {name}, and not a list of {name}", hint="[items]")
    if isinstance(items, str | bytes | bytearray):
        raise BuildError(
            f"items= is a {kind}, and not a list of {name}",
            hint=f"[{name}(…), …]; a file is read with ab.read_csv(path, {name}) and its like",
        )
    if isinstance(items, Mapping):
        if not _holds_tuples(items, schema):
            raise _instead_of_a_mapping(items, schema)
        return
    method = _LISTED.get(_package(items), "")
    if hasattr(items, method) and not _holds_tuples(items, schema):
        article = "an" if kind[0] in "aeiouAEIOU" or kind == "ndarray" else "a"
        raise BuildError(
            f"items= is {article} {kind} of values, and not a list of {name}",
            hint=_rows(items, schema, f"items.{method}()"),
        )


def _holds_tuples(items: Iterable[Any], schema: Schema) -> bool:
    """Judged by the first, if there is one."""
    return all(isinstance(item, schema.type) for item, _ in zip(items, range(1), strict=False))


def _instead_of_a_mapping(items: Mapping[Any, Any], schema: Schema) -> BuildError:
    name, kind = schema.name, type(items).__name__
    values = list(items.values())
    if set(schema.names) <= set(items):
        if all(isinstance(value, list | tuple) for value in values) and not schema.has_lists:
            columns = ", ".join(f"items[{attribute!r}]" for attribute in schema.names)
            return BuildError(
                f"items= is a {kind} of columns, and not a list of {name}",
                hint=f"[{name}(*row) for row in zip({columns}, strict=True)]",
            )
        return BuildError(f"items= is one {kind} of attributes, and not a list of {name}", hint=f"[{name}(**items)]")
    message = f"items= is a {kind}, which iterates over its keys, and not a list of {name}"
    if all(isinstance(value, schema.type) for value in values):
        return BuildError(message, hint="list(items.values())")
    if all(isinstance(value, Mapping) for value in values):
        return BuildError(message, hint=f"[{name}(**attributes) for attributes in items.values()]")
    made = "*pair" if len(schema.names) == 2 else "…"
    return BuildError(message, hint=f"[{name}({made}) for pair in items.items()]")


_LISTED = {  # by package: how the values of its arrays and columns become those of Python
    "numpy": "tolist",
    "pandas": "tolist",
    "polars": "to_list",
    "pyarrow": "to_pylist",
}


def _rows(items: Any, schema: Schema, listed: str) -> str:
    name = schema.name
    if getattr(getattr(items, "dtype", None), "names", None):  # rows with names
        columns = f"[{', '.join(map(repr, schema.names))}]"
        return f"[{name}(*row) for row in items[{columns}].tolist()]"
    if getattr(items, "ndim", 1) > 1:
        return f"[{name}(*row) for row in {listed}]"
    return f"[{name}({'value' if len(schema.names) == 1 else 'value, …'}) for value in {listed}]"


def _package(items: object) -> str:
    return type(items).__module__.partition(".")[0]
