"""The sources of a program as tasks read them: slices of the only one, each a stretch, or of one of several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from anabranch.codegen.chunks import Chunk
from anabranch.dataflow.sources.reading import chunks_of, expect, slices_of
from anabranch.dataflow.sources.reading.arrow_columns import ColumnsReader
from anabranch.dataflow.sources.reading.slices import SLICE_SIZE, Slice
from anabranch.dataflow.sources.source_count import Failed
from anabranch.graph.model import Graph, Operator
from anabranch.graph.values import ValueProblem, normalizer
from anabranch.operators.base import Unreadable
from anabranch.operators.formats.stored_files import size_of
from anabranch.operators.sources.beacon import Beacon
from anabranch.operators.sources.from_frame import FromFrame
from anabranch.operators.sources.from_items import FromItems, unreadable_item
from anabranch.operators.sources.located import located
from anabranch.operators.sources.read_files import ReadFiles
from anabranch.passes.layout.source_reading import can_be_cut

Found: TypeAlias = Chunk | Unreadable | Failed  # what is read of a source, in its order

STRETCH = 16_384  # tuples, of sources that are counted
_BYTES_PER_TUPLE = 8  # of a file, at least
_SLICES_PER_CORE = 8
_ROWS_AT_ONCE = 1 << 18
_LARGEST_COMPRESSED = 8 * 2**20  # bytes of a file
_LARGEST_OF_FRAME = 8  # stretches of rows, which are columns already


@dataclass(frozen=True)
class Numbers:
    """The tuples of a `beacon`, of `from_items` or of a frame from one number up to another."""

    start: int
    stop: int


def cut(graph: Graph, stretch: int = STRETCH, cores: int = 1) -> tuple[Any, ...] | None:
    """The only source in slices, in order; None where there are several or it cannot be cut."""
    if not can_be_cut(graph):
        return None
    return cut_source(graph.sources[0], stretch, cores) or None


def cut_source(source: Operator, stretch: int, cores: int = 1, most: int = SLICE_SIZE) -> tuple[Any, ...] | None:
    """A source that is not partitioned in slices, of at most so many bytes, in order; None where it cannot be cut."""
    match source.definition:
        case Beacon(count=int(count)):
            return _numbers(count, stretch)
        case FromItems(items=tuple() | range() as items, partition_by=()):
            return _numbers(len(items), stretch)
        case FromFrame(frame=frame):
            with located(source):
                count = len(frame)
            per_core = -(-count // (cores * _SLICES_PER_CORE))
            return _numbers(count, min(max(stretch, per_core), _LARGEST_OF_FRAME * stretch))
        case ReadFiles(partition_by=()) as files:
            with located(source):
                slices = slices_of(files, size=min(most, _bytes_of_slice(files, stretch, cores)))
            return None if slices is None or any(map(_is_too_large, slices)) else tuple(slices)
    return None


def _is_too_large(part: Slice) -> bool:
    """A compressed file is one stretch, all of which is held."""
    return part.is_compressed and part.stop > _LARGEST_COMPRESSED


def _bytes_of_slice(files: ReadFiles, stretch: int, cores: int) -> int:
    """A slice is a few stretches, but small enough that all cores have some."""
    total = sum(size_of(path) or 0 for path in files.files())  # of what is gone by now, opening it says so
    return max(1, min(SLICE_SIZE, max(stretch * _BYTES_PER_TUPLE, total // (cores * _SLICES_PER_CORE))))


def _numbers(count: int, stretch: int) -> tuple[Numbers, ...]:
    return tuple(Numbers(start, min(start + stretch, count)) for start in range(0, max(count, 1), stretch))


def expect_to_read(source: Operator, slices: Iterable[Any], *, tasks: int = 1) -> None:
    """Before the first tuple of any source is drawn, where so many tasks have these slices among them."""
    if isinstance(source.definition, ReadFiles):
        expect(source.definition, slices, tasks=tasks)


def read_all(source: Operator, slices: Iterable[Any], chunk_size: int = _ROWS_AT_ONCE) -> Iterator[Found]:
    """The tuples of some slices in order, and at their places what cannot be read."""
    for each in slices:
        yield from _read(source, each, chunk_size)


def read_whole(source: Operator) -> Iterator[Found] | None:
    """All tuples of a source of files, some of which are too large to be a stretch each; None of another."""
    if not isinstance(source.definition, ReadFiles) or source.definition.partition_by:
        return None
    with located(source):
        slices = slices_of(source.definition)
    if slices is None:
        return None
    expect_to_read(source, slices)
    return read_all(source, slices)


def _read(source: Operator, piece: Any, chunk_size: int) -> Iterator[Found]:
    if not isinstance(piece, Numbers):
        yield from chunks_of(source, piece, chunk_size=chunk_size)
    elif isinstance(source.definition, FromFrame):
        yield from _of_frame(source.definition, piece, chunk_size)
    else:
        yield from _gathered(source, _counted(source, piece))


def _of_frame(definition: FromFrame, piece: Numbers, chunk_size: int) -> Iterator[Found]:
    reader = ColumnsReader(definition.schema)
    for start in range(piece.start, piece.stop, chunk_size):
        columns = definition.frame.rows(start, min(start + chunk_size, piece.stop))
        yield from reader.chunks(columns, start + 1)


def _gathered(source: Operator, items: Iterator[Any]) -> Iterator[Found]:
    schema = source.outputs[0].schema
    rows: list[Any] = []
    for item in items:
        if isinstance(item, Unreadable | Failed):
            yield Chunk.of_rows(schema, rows)
            yield item
            rows = []
        else:
            rows.append(item)
    yield Chunk.of_rows(schema, rows)


def _counted(source: Operator, piece: Numbers) -> Iterator[Any]:
    definition = source.definition
    normalize = normalizer(source.outputs[0].schema)
    make: Callable[[int], Any]
    if isinstance(definition, Beacon):
        make = definition.fn
    else:
        make = cast(Sequence[Any], cast(FromItems, definition).items).__getitem__
    for number in range(piece.start, piece.stop):
        try:
            made = make(number)
            item = normalize(made)
        except ValueProblem as problem:
            if isinstance(definition, Beacon):
                yield Failed(problem)
                return
            item = unreadable_item(source.outputs[0].schema, number + 1, made, problem)
        except Exception as problem:
            yield Failed(problem)
            return
        yield item
