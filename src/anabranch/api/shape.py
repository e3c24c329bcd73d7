"""The shape of the graph: `split`, `union`, `merge_by`, `barrier`, `punctuate`, `feedback`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from anabranch.api.base import StreamBase, check_attributes, check_count, check_stream
from anabranch.api.draft import Node, add_node, close_loop
from anabranch.api.pairing import combiner
from anabranch.api.redefined import check_one_definition
from anabranch.api.signatures import check_arity, check_takes
from anabranch.api.where import Caller, caller
from anabranch.errors import BuildError, shown
from anabranch.operators.barrier import Barrier
from anabranch.operators.feedback import Feedback
from anabranch.operators.merge_by import MergeBy
from anabranch.operators.punctuate import Punctuate
from anabranch.operators.split import Split
from anabranch.operators.union import Union

if TYPE_CHECKING:
    from anabranch.api.stream import Outputs, Stream

T = TypeVar("T")
U = TypeVar("U")


class ShapeOperators(StreamBase[T]):
    """Streams that part, meet and come around again."""

    def split(
        self,
        how: Mapping[str, Callable[[T], object]] | Callable[[T], str | None],
        names: Sequence[str] | None = None,
        *,
        on_error: str = "stop",
    ) -> Outputs:
        """Send every tuple to at most one of several named streams.

        Either predicates by name, of which the first that holds wins, or a function that returns one of `names`.
        A tuple for which no predicate holds, or whose name is None, is dropped.

        >>> import anabranch as ab
        >>> from typing import NamedTuple
        >>> class Reading(NamedTuple):
        ...     value: int
        >>> readings = ab.from_items(Reading, [Reading(1), Reading(2), Reading(3)])
        >>> parts = readings.split(lambda r: "odd" if r.value % 2 else "even", ["even", "odd"])
        >>> ab.run(parts.odd.collect("odd")).items("odd")
        [Reading(value=1), Reading(value=3)]
        """
        where = caller()
        schema = self._schema()
        if isinstance(how, Mapping):
            listed, predicates, choose = tuple(how), tuple(how.values()), None
            for name, predicate in how.items():
                check_takes(f"the predicate of '{name}' in split", predicate, (schema,), where)
        else:
            listed, predicates, choose = tuple(names or ()), (), how
            check_takes("the function of split", how, (schema,), where)
        _check_output_names(listed, where)
        node = add_node(
            Split(listed, predicates, choose),
            [self._output()],
            [(name, schema) for name in listed],
            location=where.location,
            on_error=on_error,
        )
        return self._outputs_class(node)

    def union(self, *others: StreamBase[T]) -> Stream[T]:
        """The tuples of this and other streams of the same type, as they come.

        >>> import anabranch as ab
        >>> from typing import NamedTuple
        >>> class Reading(NamedTuple):
        ...     value: int
        >>> one = ab.from_items(Reading, [Reading(1), Reading(2)])
        >>> two = ab.from_items(Reading, [Reading(10), Reading(20)])
        >>> [r.value for r in ab.run(one.union(two).collect("out")).items("out")]
        [1, 10, 2, 20]
        """
        where = caller()
        _check_same_type(self, others, where, "union")
        return self._after(Union(), self._schema(), where=where, others=others)

    def punctuate(self, when: Callable[[T], object] | None = None, *, count: int | None = None) -> Stream[T]:
        """Put a window punctuation after every tuple for which `when` holds, or after every `count` tuples.

        Punctuations the stream had before are replaced.

        >>> import anabranch as ab
        >>> from typing import NamedTuple
        >>> class Line(NamedTuple):
        ...     text: str
        >>> class Paragraph(NamedTuple):
        ...     lines: int
        >>> lines = ab.from_items(Line, [Line("a"), Line("b"), Line(""), Line("c")])
        >>> paragraphs = lines.punctuate(lambda l: l.text == "").window(ab.punctuated())
        >>> ab.run(paragraphs.aggregate(Paragraph, lines=ab.count()).collect("out")).items("out")
        [Paragraph(lines=3), Paragraph(lines=1)]
        """
        where = caller()
        if (when is None) == (count is None):
            raise BuildError(
                "punctuate takes either a predicate or count=",
                location=where.location,
                hint="for example .punctuate(count=100)",
            )
        if when is not None:
            check_takes("the predicate of punctuate", when, (self._schema(),), where)
        if count is not None:
            check_count(count, "punctuate", where)
        return self._after(Punctuate(when, count), self._schema(), where=where)

    def feedback(self, body: Callable[[Stream[T]], tuple[Stream[U], Stream[T]]], *, rounds: bool = False) -> Stream[U]:
        """A loop: `body` is given the stream with everything fed back, and returns (what goes on, what comes around).

        A fed-back tuple waits until the current tuple has been processed to its end, and is processed before the
        next source tuple, first in first out. With `rounds`, window punctuations come around too: each closes a
        round, the end of the input closes the first, and a round into which nothing was fed back ends the loop.

        >>> import anabranch as ab
        >>> from typing import NamedTuple
        >>> class Number(NamedTuple):
        ...     n: int
        >>> def halve(numbers):
        ...     parts = numbers.split({"even": lambda x: x.n % 2 == 0, "odd": lambda x: True})
        ...     return parts.odd, parts.even.map(lambda x: Number(x.n // 2), out=Number)
        >>> numbers = ab.from_items(Number, [Number(12), Number(5)])
        >>> ab.run(numbers.feedback(halve).collect("out")).items("out")
        [Number(n=3), Number(n=5)]
        """
        where = caller()
        check_arity("the body of feedback", body, 1, "one stream", where)
        entry = self._after(Feedback(rounds), self._schema(), where=where)
        returned = body(entry)
        if not isinstance(returned, tuple) or len(returned) != 2:
            raise BuildError(
                "the body of feedback must return two streams: what goes on, and what comes around",
                location=where.location,
                hint="end it with: return onward, back",
            )
        onward = check_stream(returned[0], where, "the first result of the body of feedback")
        back = check_stream(returned[1], where, "the second result of the body of feedback")
        if back._schema() != self._schema():
            raise BuildError(
                f"what comes around is {back._schema().name}, but the loop takes {self._schema().name}",
                location=where.location,
                hint=f"map it to {self._schema().name} before returning it",
            )
        if not _comes_from(back._node, entry._node):
            raise BuildError(
                "what comes around does not come from the loop",
                location=where.location,
                hint="return a stream that is made from the one the body is given",
            )
        close_loop(entry._node, back._output())
        return onward  # type: ignore[return-value]  # a StreamBase is always a Stream


def merge_by(attribute: str, *streams: StreamBase[T]) -> Stream[T]:
    """Several streams as one, in the order of an attribute: the smallest head goes first, ties by argument.

    It waits until every stream has a tuple or has ended; the streams need not be sorted.

    >>> import anabranch as ab
    >>> from typing import NamedTuple
    >>> class Reading(NamedTuple):
    ...     ts: int
    ...     sensor: str
    >>> a = ab.from_items(Reading, [Reading(1, "a"), Reading(5, "a")])
    >>> b = ab.from_items(Reading, [Reading(2, "b"), Reading(3, "b")])
    >>> [r.ts for r in ab.run(ab.merge_by("ts", a, b).collect("out")).items("out")]
    [1, 2, 3, 5]
    """
    where = caller()
    if not isinstance(attribute, str):
        raise BuildError(
            f"merge_by takes the name of an attribute first, not {shown(attribute)}",
            location=where.location,
            hint='for example ab.merge_by("ts", one, other)',
        )
    first, others = _first_and_others(streams, where, "merge_by")
    _check_same_type(first, others, where, "merge_by")
    names = check_attributes(attribute, first._schema(), where.location, "merge_by", suitable="order")
    return first._after(MergeBy(names[0]), first._schema(), where=where, others=others)


def barrier(*streams: StreamBase[Any], out: Any = None, on_error: str = "stop") -> Stream[Any]:
    """The n-th tuples of all streams, together as the n-th output.

    `out` is a NamedTuple filled with the tuples or by attribute name, or a function of them.

    >>> import anabranch as ab
    >>> from typing import NamedTuple
    >>> class Left(NamedTuple):
    ...     l: int
    >>> class Right(NamedTuple):
    ...     r: int
    >>> class Both(NamedTuple):
    ...     l: int
    ...     r: int
    >>> left = ab.from_items(Left, [Left(1), Left(2)])
    >>> right = ab.from_items(Right, [Right(10)])
    >>> ab.run(ab.barrier(left, right, out=Both).collect("out")).items("out")
    [Both(l=1, r=10)]
    """
    where = caller()
    first, others = _first_and_others(streams, where, "barrier")
    combine, schema = combiner("barrier", out, [stream._schema() for stream in (first, *others)], where)
    return first._after(Barrier(combine), schema, where=where, others=others, on_error=on_error)


def _first_and_others(
    streams: Sequence[Any], where: Caller, what: str
) -> tuple[StreamBase[Any], list[StreamBase[Any]]]:
    checked = [check_stream(stream, where, f"an argument of {what}") for stream in streams]
    if len(checked) < 2:
        raise BuildError(f"{what} needs at least two streams, not {len(checked)}", location=where.location)
    return checked[0], checked[1:]


def _check_same_type(first: StreamBase[Any], others: Sequence[Any], where: Caller, what: str) -> None:
    if not others:
        raise BuildError(f"{what} needs another stream", location=where.location, hint="for example one.union(other)")
    for other in others:
        schema = check_stream(other, where, f"an argument of {what}")._schema()
        if schema != first._schema():
            check_one_definition(what, first._schema().type, schema.type, where)
            raise BuildError(
                f"{what} takes streams of one type, not of {first._schema().name} and {schema.name}",
                location=where.location,
                hint="map them to a common type before",
            )


def _check_output_names(names: Sequence[str], where: Caller) -> None:
    if not names:
        raise BuildError(
            "split needs the names of its streams",
            location=where.location,
            hint='use .split({"name": predicate, …}) or .split(function, ["name", …])',
        )
    for name in names:
        if not isinstance(name, str) or not name.isidentifier() or name == "dead_letter":
            raise BuildError(
                f"a stream of split cannot be named {name!r}",
                location=where.location,
                hint="use letters, digits and underscores, as for a variable; 'dead_letter' is taken",
            )
    if len(set(names)) < len(names):
        raise BuildError(f"split names a stream twice: {', '.join(names)}", location=where.location)


def _comes_from(node: Node, ancestor: Node) -> bool:
    pending, seen = [node], set()
    while pending:
        current = pending.pop()
        if current is ancestor:
            return True
        if current.serial not in seen:
            seen.add(current.serial)
            pending += [connection.node for connection in current.inputs]
    return False
