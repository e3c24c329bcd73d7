"""What every family of operators is built on: a handle to an output port, and how to add a node after it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from os import PathLike, fsencode, fspath
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from anabranch.api.draft import Node, Output, add_node
from anabranch.api.where import Caller, caller
from anabranch.errors import BuildError, Location, shown
from anabranch.graph.model import Definition
from anabranch.graph.schema import AttributeType, Schema
from anabranch.operators.formats.addresses import FilePath, file_at, without_secrets

if TYPE_CHECKING:
    from typing import Self

    from anabranch.api.stream import Outputs, Stream

T = TypeVar("T")

NO_MAIN_OUTPUT = -1  # the port of a stream whose operator has only named outputs


class Handle:
    """Something that stands for a node and can be named and placed: a stream or a sink."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def named(self, name: str) -> Self:
        """Give the operator a name: messages, explanations and profiles call it so.

        >>> import anabranch as ab
        >>> from typing import NamedTuple
        >>> class Reading(NamedTuple):
        ...     value: float
        >>> readings = ab.from_items(Reading, [Reading(1.0)]).filter(lambda r: r.value > 0).named("positive")
        """
        if not isinstance(name, str) or not name.isidentifier():
            raise BuildError(
                f"{name!r} cannot name an operator",
                location=caller().location,
                hint="use letters, digits and underscores, as for a variable",
            )
        self._node.name = name
        return self

    def place(
        self,
        *,
        pe: str | None = None,
        host: str | None = None,
        alone: bool = False,
        together_with: str | Sequence[str] = (),
        apart_from: str | Sequence[str] = (),
        replica_of: str | None = None,
        threaded: bool = False,
        **resources: float,
    ) -> Self:
        """Say where the operator runs. Hints never change what a program means, only where it happens.

        `pe` fuses all operators of the same name into one processing element; `host` pins to a host or a tag;
        `alone` gives it a processing element of its own; `together_with` and `apart_from` name operators to share,
        or not to share, a host with; `replica_of` marks a standby of another operator; `threaded` puts a threaded
        port before it. Anything else is a resource it needs (`cpus=2`, `memory=4e9`).

        >>> import anabranch as ab
        >>> from typing import NamedTuple
        >>> class Reading(NamedTuple):
        ...     value: float
        >>> hot = ab.from_items(Reading, [Reading(1.0)]).filter(lambda r: r.value > 0).place(pe="front", cpus=1)
        """
        for name, amount in resources.items():
            if isinstance(amount, bool) or not isinstance(amount, int | float) or amount <= 0:
                raise BuildError(
                    f"{name}={amount!r} is not an amount of a resource",
                    location=caller().location,
                    hint=f"give a positive number, or check the spelling of '{name}'",
                )
        self._node.hints = replace(
            self._node.hints,
            pe=pe,
            host=host,
            alone=alone,
            together_with=_names(together_with),
            apart_from=_names(apart_from),
            replica_of=replica_of,
            threaded=threaded,
            resources=tuple(resources.items()),
        )
        return self


class Sink(Handle):
    """The end of a stream. Outside an app, `ab.run(sink)` runs the program that ends here."""

    def __repr__(self) -> str:
        return f"<Sink {self._node.label}>"


class StreamBase(Handle, Generic[T]):
    """A handle to one output port of a node."""

    _stream_class: ClassVar[type[Stream[Any]]]
    _outputs_class: ClassVar[type[Outputs]]

    def __init__(self, node: Node, port: int = 0) -> None:
        super().__init__(node)
        self._port = port

    @property
    def type(self) -> type[T]:
        """The NamedTuple class of the tuples on this stream."""
        return self._output().schema.type  # type: ignore[return-value]  # the schema's type is T

    def __repr__(self) -> str:
        if self._port == NO_MAIN_OUTPUT:
            return f"<Stream of the named outputs of {self._node.label}>"
        return f"<Stream of {self._node.outputs[self._port].schema.name} from {self._node.label}>"

    def _output(self) -> Output:
        if self._port == NO_MAIN_OUTPUT:
            names = ", ".join(f".outputs.{output.name}" for output in self._node.outputs)
            raise BuildError(
                f"'{self._node.label}' has only named outputs",
                location=caller().location,
                hint=f"use {names}",
            )
        return Output(self._node, self._port)

    def _schema(self) -> Schema:
        return self._output().schema

    def _after(
        self,
        definition: Definition,
        out: Schema | None,
        *,
        where: Caller,
        others: Sequence[StreamBase[Any]] = (),
        input_names: Sequence[str] = (),
        on_error: str = "stop",
        outputs: Sequence[tuple[str, Schema]] = (),
        unpunctuated: Sequence[str] = (),
    ) -> Stream[Any]:
        """A new operator after this stream (and `others`), with one main output and perhaps named ones."""
        node = add_node(
            definition,
            [self._output(), *[other._output() for other in others]],
            [("out", out), *outputs] if out is not None else outputs,
            location=where.location,
            input_names=input_names,
            on_error=on_error,
            unpunctuated=unpunctuated,
        )
        return self._stream_class(node, 0 if out is not None else NO_MAIN_OUTPUT)


def _names(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def check_stream(candidate: object, where: Caller, what: str) -> StreamBase[Any]:
    if isinstance(candidate, StreamBase):
        return candidate
    hint = "streams come from sources such as ab.read_csv(path, T), and from operators on them"
    if isinstance(candidate, list | tuple) and candidate and all(isinstance(one, StreamBase) for one in candidate):
        hint = "pass its streams one by one: *streams"
    raise BuildError(f"{what} must be a stream, not {shown(candidate)}", location=where.location, hint=hint)


def check_attributes(
    names: object, schema: Schema, where: Location, what: str, *, suitable: str = "any"
) -> tuple[str, ...]:
    """The attribute names in `key=`, `on=` and the like, checked against the stream's type."""
    if names is None:
        return ()
    listed = (names,) if isinstance(names, str) else names
    if not isinstance(listed, list | tuple):
        hint = f"use one of {', '.join(schema.names)}"
        if callable(listed):
            hint = "compute the value in a map before, and name its attribute here"
        raise BuildError(f"{what} names attributes, but is {shown(names)}", location=where, hint=hint)
    for name in listed:
        if not isinstance(name, str) or name not in schema:
            raise BuildError(
                f"{schema.name} has no attribute {name!r}, which {what} names",
                location=where,
                hint=f"use one of {', '.join(schema.names)}" + did_you_mean(name, schema.names),
            )
        problem = _unsuitable(schema[name], suitable)
        if problem:
            raise BuildError(
                f"attribute '{name}' of {schema.name} {problem}, so {what} cannot use it",
                location=where,
                hint=_SUITABLE[suitable],
            )
    if len(set(listed)) < len(listed):
        raise BuildError(f"{what} names an attribute twice: {', '.join(listed)}", location=where)
    return tuple(listed)


_SUITABLE = {
    "key": "use attributes that hold no list",
    "order": "use an attribute of type int, float, bool, str, bytes, datetime or date",
    "number": "use an attribute of type int or float",
    "time": "use an attribute of type int, float, datetime or date",
}


def _unsuitable(kind: AttributeType, suitable: str) -> str | None:
    if suitable == "key" and kind.has_list:
        return "holds a list"
    if suitable in ("order", "number", "time") and kind.optional:
        return "may be None"
    if suitable == "order" and not kind.is_orderable:
        return f"has type {kind}, which has no order"
    if suitable == "number" and not kind.is_numeric:
        return f"has type {kind}, which is no number"
    if suitable == "time" and kind.kind not in ("int", "float", "datetime", "date"):
        return f"has type {kind}, which is no time"
    return None


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """The end of a hint: the known name that is closest to a misspelled one."""
    close = difflib.get_close_matches(str(name), list(known), n=1)
    return f"; did you mean '{close[0]}'?" if close else ""


def check_output_name(name: object, where: Caller) -> None:
    if not isinstance(name, str) or not name.isidentifier() or name in ("out", "dead_letter"):
        raise BuildError(
            f"an output cannot be named {name!r}",
            location=where.location,
            hint="use letters, digits and underscores, as for a variable; 'out' and 'dead_letter' are taken",
        )


def check_count(count: object, what: str, where: Caller) -> None:
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise BuildError(
            f"count={count!r} of {what} is not a number of tuples",
            location=where.location,
            hint="use 1 or more",
        )


def checked_path(path: object, where: Caller) -> FilePath:
    """What a path of a source or a sink names."""
    name = fspath(path) if isinstance(path, PathLike) else path
    if not isinstance(path, str | PathLike) or not isinstance(name, str):
        raise BuildError(
            f"a path must be text or a Path, not {shown(path)}",
            location=where.location,
            hint='for example "calls.csv"',
        )
    if not name:
        raise BuildError(
            "the path is empty",
            location=where.location,
            hint='name a file or a folder, for example "calls.csv"',
        )
    try:
        is_possible = b"\0" not in fsencode(name)
    except UnicodeEncodeError:  # half of a character
        is_possible = False
    if not is_possible:
        raise BuildError(
            f"{shown(name)} cannot be the path of a file: it holds a character that no path can have",
            location=where.location,
            hint="check how the path is made",
        )
    try:
        return file_at(path)
    except BuildError as problem:
        problem.location = where.location if without_secrets(name) == name else where.location.without_code()
        raise
