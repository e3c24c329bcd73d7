"""Stateless operators and user-defined ones: `map`, `filter`, `flat_map`, `process`, and `connect`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from anabranch.api.base import StreamBase, check_attributes, check_output_name, check_stream, did_you_mean
from anabranch.api.signatures import (
    check_takes,
    checked_schema,
    emitted_type,
    output_schema,
    return_annotation,
)
from anabranch.api.where import Caller, caller
from anabranch.errors import BuildError, shown
from anabranch.graph.schema import AttributeType, Schema
from anabranch.graph.values import ValueProblem, value_normalizer
from anabranch.operators.filter import Filter
from anabranch.operators.flat_map import FlatMap
from anabranch.operators.map import Map
from anabranch.operators.naming import label_of
from anabranch.operators.process import Connect, Process, RangeKey

if TYPE_CHECKING:
    from anabranch.api.stream import Stream

T = TypeVar("T")
U = TypeVar("U")
T_contra = TypeVar("T_contra", contravariant=True)
U_co = TypeVar("U_co", covariant=True)

Key = str | list[str] | tuple[str, ...] | RangeKey | None


class Processor(Protocol[T_contra, U_co]):
    """A user-defined operator, for type checkers; optionally also `punctuation(self)` and `finish(self)`."""

    def process(self, t: T_contra, /) -> Iterable[U_co] | U_co | None: ...


class TransformOperators(StreamBase[T]):
    """Operators on one stream that the user writes."""

    def map(self, fn: Callable[[T], U], *, out: type[U] | None = None, on_error: str = "stop") -> Stream[U]:
        """One tuple for each: `fn` takes a tuple and returns one.

        >>> import anabranch as ab
        >>> from typing import NamedTuple
        >>> class Celsius(NamedTuple):
        ...     degrees: float
        >>> class Fahrenheit(NamedTuple):
        ...     degrees: float
        >>> def convert(c: Celsius) -> Fahrenheit:
        ...     return Fahrenheit(c.degrees * 9 / 5 + 32)
        >>> readings = ab.from_items(Celsius, [Celsius(0.0), Celsius(100.0)])
        >>> ab.run(readings.map(convert).collect("out")).items("out")
        [Fahrenheit(degrees=32.0), Fahrenheit(degrees=212.0)]
        """
        where = caller()
        check_takes("the function of map", fn, (self._schema(),), where)
        schema = output_schema("the function of map", fn, out, where, single=True)
        return self._after(Map(fn), schema, where=where, on_error=on_error)

    def filter(self, predicate: Callable[[T], object], *, on_error: str = "stop") -> Stream[T]:
        """The tuples for which `predicate` holds.

        >>> import anabranch as ab
        >>> from typing import NamedTuple
        >>> class Reading(NamedTuple):
        ...     value: float
        >>> readings = ab.from_items(Reading, [Reading(1.0), Reading(9.0)])
        >>> ab.run(readings.filter(lambda r: r.value > 5).collect("out")).items("out")
        [Reading(value=9.0)]
        """
        where = caller()
        check_takes("the predicate of filter", predicate, (self._schema(),), where)
        return self._after(Filter(predicate), self._schema(), where=where, on_error=on_error)

    def flat_map(
        self,
        fn: Callable[[T], Iterable[U] | U | None],
        *,
        out: type[U] | None = None,
        on_error: str = "stop",
    ) -> Stream[U]:
        """Any number of tuples for each: `fn` is a generator, or returns a list, one tuple, or None.

        >>> import anabranch as ab
        >>> from collections.abc import Iterator
        >>> from typing import NamedTuple
        >>> class Line(NamedTuple):
        ...     text: str
        >>> class Word(NamedTuple):
        ...     word: str
        >>> def words(line: Line) -> Iterator[Word]:
        ...     for word in line.text.split():
        ...         yield Word(word)
        >>> ab.run(ab.from_items(Line, [Line("to be or")]).flat_map(words).collect("out")).items("out")
        [Word(word='to'), Word(word='be'), Word(word='or')]
        """
        where = caller()
        check_takes("the function of flat_map", fn, (self._schema(),), where)
        schema = output_schema("the function of flat_map", fn, out, where, single=False)
        return self._after(FlatMap(fn), schema, where=where, on_error=on_error)

    @overload
    def process(
        self,
        op: Callable[[], Processor[T, U]],
        *,
        key: Key = None,
        out: None = None,
        outputs: Mapping[str, type] | None = None,
        on_error: str = "stop",
    ) -> Stream[U]: ...

    @overload
    def process(
        self,
        op: Callable[..., Any],
        *,
        key: Key = None,
        out: type[U] | None = None,
        outputs: Mapping[str, type] | None = None,
        on_error: str = "stop",
    ) -> Stream[U]: ...

    def process(
        self,
        op: Callable[..., Any],
        *,
        key: Key = None,
        out: type[Any] | None = None,
        outputs: Mapping[str, type] | None = None,
        on_error: str = "stop",
    ) -> Stream[Any]:
        """A user-defined operator: a class with `process(self, t)`, and if it likes `punctuation` and `finish`.

        With `key` there is one instance per value of the key, made when that value first arrives; without, one
        instance for the stream. All three methods may emit: `yield` tuples, or return one, several, or None.
        `outputs` declares more outputs by name, addressed with `ab.to`. A class that needs arguments is given as
        `functools.partial(Class, …)`; a function is the stateless case.

        >>> import anabranch as ab
        >>> from collections.abc import Iterator
        >>> from typing import NamedTuple
        >>> class Reading(NamedTuple):
        ...     sensor: str
        ...     value: float
        >>> class Change:
        ...     def __init__(self):
        ...         self.last: float | None = None
        ...     def process(self, r: Reading) -> Iterator[Reading]:
        ...         if self.last is not None:
        ...             yield r._replace(value=r.value - self.last)
        ...         self.last = r.value
        >>> readings = ab.from_items(Reading, [Reading("a", 1.0), Reading("b", 5.0), Reading("a", 4.0)])
        >>> ab.run(readings.process(Change, key="sensor").collect("out")).items("out")
        [Reading(sensor='a', value=3.0)]
        """
        where = caller()
        if _factory_class(op) is None and inspect.isroutine(_behind_partial(op)):
            if key is not None:
                raise BuildError(
                    "a function has no state, so key= means nothing for it",
                    location=where.location,
                    hint="give a class, or leave key= out",
                )
            what, named = "the function of process", _named_outputs(outputs, where)
            check_takes(what, op, (self._schema(),), where)
            has_main = not named or out is not None or emitted_type(return_annotation(op, where), what, where)
            main = output_schema(what, op, out, where, single=False) if has_main else None
            return self._after(FlatMap(op), main, where=where, on_error=on_error, outputs=named)
        methods = {"process": self._schema()}
        main, named = _operator_types(op, methods, out, outputs, where)
        names, ranges = _key_names(key, self._schema(), where, "process")
        return self._after(
            Process(op, ("process",), (names,), ranges), main, where=where, on_error=on_error, outputs=named
        )


def connect(
    op: Callable[..., Any],
    *,
    key: Key | Mapping[str, str | list[str] | tuple[str, ...]] = None,
    out: type[Any] | None = None,
    outputs: Mapping[str, type] | None = None,
    on_error: str = "stop",
    **inputs: StreamBase[Any],
) -> Stream[Any]:
    """A user-defined operator with several inputs: a class with a method per input, named like it.

    `key` names attributes all inputs have, or gives them by input: `key={"trades": "symbol", "quotes": "sym"}`.
    Tuples for other outputs go through `ab.to(name, t)`, and are declared with `outputs={"name": T}`.

    >>> import anabranch as ab
    >>> from collections.abc import Iterator
    >>> from typing import NamedTuple
    >>> class Trade(NamedTuple):
    ...     symbol: str
    ...     price: float
    >>> class Quote(NamedTuple):
    ...     symbol: str
    ...     ask: float
    >>> class Bargains:
    ...     def __init__(self):
    ...         self.price: float | None = None
    ...     def trades(self, t: Trade) -> None:
    ...         self.price = t.price
    ...     def quotes(self, q: Quote) -> Iterator[Quote]:
    ...         if self.price is not None and q.ask < self.price:
    ...             yield q
    >>> trades = ab.from_items(Trade, [Trade("A", 10.0), Trade("B", 5.0)])
    >>> quotes = ab.from_items(Quote, [Quote("A", 9.0), Quote("B", 8.0)])
    >>> found = ab.connect(Bargains, trades=trades, quotes=quotes, key="symbol")
    >>> ab.run(found.collect("out")).items("out")
    [Quote(symbol='A', ask=9.0)]
    """
    where = caller()
    if not inputs:
        raise BuildError(
            "connect has no inputs",
            location=where.location,
            hint="name them: ab.connect(Op, trades=s1, quotes=s2)",
        )
    streams = {name: check_stream(stream, where, f"input '{name}' of connect") for name, stream in inputs.items()}
    schemas = {name: stream._schema() for name, stream in streams.items()}
    main, named = _operator_types(op, schemas, out, outputs, where)
    keys, ranges = _keys_by_input(key, schemas, where)
    punctuated = [name for name, stream in streams.items() if stream._output().is_punctuated]
    if len(punctuated) > 1 and hasattr(_factory_class(op), "punctuation"):
        raise BuildError(
            f"'{label_of(op, 'connect')}' takes punctuations, but several of its inputs have them: "
            f"{', '.join(punctuated)}",
            location=where.location,
            hint="punctuate only one of them: where several meet, the ends of windows are lost",
        )
    first, *others = streams.values()
    return first._after(
        Connect(op, tuple(schemas), keys, ranges),
        main,
        where=where,
        others=others,
        input_names=tuple(schemas),
        on_error=on_error,
        outputs=named,
    )


def _behind_partial(op: Any) -> Any:
    while isinstance(op, functools.partial):
        op = op.func
    return op


def _factory_class(op: Any) -> type | None:
    target = _behind_partial(op)
    return target if isinstance(target, type) else None


def _operator_types(
    op: Any,
    methods: Mapping[str, Schema],
    out: type[Any] | None,
    outputs: Mapping[str, type] | None,
    where: Caller,
) -> tuple[Schema | None, list[tuple[str, Schema]]]:
    """Check a user's class against its inputs, and find the types it emits."""
    cls = _factory_class(op)
    if cls is None:
        raise BuildError(
            f"an operator must be a class, not {shown(op)}",
            location=where.location,
            hint="pass the class itself, or functools.partial(Class, …): each key gets its own instance",
        )
    _check_constructor(op, cls, where)
    annotations = []
    for name, schema in methods.items():
        method = getattr(cls, name, None)
        if method is None:
            raise BuildError(
                f"class {cls.__name__} has no method '{name}'",
                location=where.location,
                hint=f"add def {name}(self, t: {schema.name}) -> Iterator[Out]" + did_you_mean(name, _methods_of(cls)),
            )
        is_static = isinstance(inspect.getattr_static(cls, name), staticmethod | classmethod)
        check_takes(f"{cls.__name__}.{name}", method, (schema,), where, is_method=not is_static)
        annotations.append(return_annotation(method, where))
    for name in ("punctuation", "finish"):
        method = getattr(cls, name, None)
        if method is not None:
            check_takes(f"{cls.__name__}.{name}", method, (), where, is_method=True)
            annotations.append(return_annotation(method, where))
    named = _named_outputs(outputs, where)
    if out is not None:
        return checked_schema(out, where), named
    found: list[Any] = []
    for annotation in annotations:
        emitted = emitted_type(annotation, cls.__name__, where)
        if emitted is not None and emitted not in found:
            found.append(emitted)
    if len(found) > 1:
        names = " and ".join(candidate.__name__ for candidate in found)
        raise BuildError(
            f"the methods of {cls.__name__} give different types: {names}",
            location=where.location,
            hint='send one of them to a named output: yield ab.to("name", t), with outputs={"name": T}',
        )
    if not found and not named:
        raise BuildError(
            f"it is not known what type {cls.__name__} gives",
            location=where.location,
            hint="annotate its methods (-> Iterator[Out]), or say out=Out",
        )
    return (checked_schema(found[0], where) if found else None), named


def _methods_of(cls: type) -> list[str]:
    return [name for name in dir(cls) if not name.startswith("_") and callable(getattr(cls, name))]


def _check_constructor(op: Any, cls: type, where: Caller) -> None:
    try:
        inspect.signature(op).bind()
    except TypeError as problem:
        raise BuildError(
            f"{cls.__name__} cannot be made without arguments: {problem}",
            location=where.location,
            hint=f"give them beforehand: functools.partial({cls.__name__}, …)",
        ) from None
    except ValueError:  # no signature to be had: the first instance will tell
        return


def _named_outputs(outputs: Mapping[str, type] | None, where: Caller) -> list[tuple[str, Schema]]:
    named = []
    for name, candidate in (outputs or {}).items():
        check_output_name(name, where)
        named.append((name, checked_schema(candidate, where)))
    return named


def _key_names(key: Any, schema: Schema, where: Caller, kind: str) -> tuple[tuple[str, ...], RangeKey | None]:
    what = f"key= of {kind}"
    if isinstance(key, RangeKey):
        names = check_attributes(key.attribute, schema, where.location, what, suitable="order")
        _check_bounds(key, schema[names[0]], where)
        return names, key
    return check_attributes(key, schema, where.location, what, suitable="key"), None


def _check_bounds(key: RangeKey, kind: AttributeType, where: Caller) -> None:
    normalize = value_normalizer(kind)
    for bound in key.bounds:
        try:
            normalize(bound)
        except ValueProblem as problem:
            raise BuildError(
                f"the bounds of ranges do not fit attribute '{key.attribute}': {problem}", location=where.location
            ) from None


def _keys_by_input(
    key: Any, schemas: Mapping[str, Schema], where: Caller
) -> tuple[tuple[tuple[str, ...], ...], RangeKey | None]:
    if isinstance(key, Mapping):
        if set(key) != set(schemas):
            raise BuildError(
                f"key= of connect names the inputs {', '.join(key)}, but the inputs are {', '.join(schemas)}",
                location=where.location,
                hint="give a key for every input",
            )
        by_input = [_key_names(key[name], schema, where, "connect") for name, schema in schemas.items()]
    else:
        by_input = [_key_names(key, schema, where, "connect") for schema in schemas.values()]
    keys = tuple(names for names, _ in by_input)
    for names, schema in zip(keys, schemas.values(), strict=True):
        first = next(iter(schemas.values()))
        kinds = [str(schema[name]) for name in names]
        expected = [str(first[name]) for name in keys[0]]
        if kinds != expected:
            raise BuildError(
                f"the inputs of connect have keys of different types: {', '.join(expected)} in {first.name}, "
                f"{', '.join(kinds)} in {schema.name}",
                location=where.location,
                hint="convert one of them in a map before",
            )
    return keys, by_input[0][1]
