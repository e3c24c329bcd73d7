"""`collect`: tuples kept in memory, for the program that ran the stream."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from anabranch.errors import SinkError
from anabranch.graph.model import Operator, Record
from anabranch.graph.schema import Schema
from anabranch.graph.values import ValueProblem
from anabranch.operators.base import Emission, SinkMeaning
from anabranch.operators.formats import StreamWriter
from anabranch.operators.formats.failures import why
from anabranch.operators.formats.growing_file import lost
from anabranch.operators.formats.json_values import parse_json, tuple_from_json
from anabranch.operators.formats.jsonl_format import JSONL
from anabranch.operators.sinks.base import SinkDefinition, located


@dataclass(frozen=True)
class Collect(SinkDefinition):
    """Keeps every tuple; `name` is what the result calls them by."""

    record: ClassVar[Record] = Record(kind="collect")

    name: str
    ordered: bool = True

    @property
    def label(self) -> str:
        return self.name

    @property
    def target(self) -> str:
        return f"collect({self.name!r})"

    def meaning(self, operator: Operator) -> CollectMeaning:
        return CollectMeaning(operator)


class CollectMeaning(SinkMeaning):
    """For a stream the tuples are also kept in a file, from which they are there again after a restart."""

    can_resume = True

    def __init__(self, operator: Operator) -> None:
        super().__init__(operator)
        self.items: list[Any] = []
        self._kept = 0  # how many of them are in the file
        self._file: StreamWriter | None = None

    def process(self, port: int, item: Any) -> Iterable[Emission]:
        self.items.append(item)
        return ()

    def resume(self, position: Any | None, folder: Path) -> None:
        schema = self.operator.inputs[0].schema
        path = folder / "items.jsonl"
        with located(self.operator):
            self._file = JSONL.stream_writer(schema)
            self._file.resume(path, position)
            # The list itself stays: engines may have got hold of it before.
            self.items[:] = [] if position is None else _read(path, schema, position["items"])
            self._kept = len(self.items)

    def sync(self) -> Any:
        assert self._file is not None, "resume before sync"
        with located(self.operator):
            while self._kept < len(self.items):
                self._file.write(self.items[self._kept])
                self._kept += 1
            return {**self._file.sync(), "items": self._kept}

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def discard(self) -> None:
        self.close()


def _read(path: Path, schema: Schema, count: int) -> list[Any]:
    """JSON lines give back every value as it was; these are ours, so that none is too long or wrong."""
    from_json = tuple_from_json(schema)
    try:
        with path.open("rb") as lines:
            items = [from_json(parse_json(line.decode())) for line in lines]
    except OSError as problem:
        raise SinkError(f"{path}: {why(problem)}") from None
    except (ValueProblem, UnicodeDecodeError):
        items = []
    if len(items) != count:
        raise lost(path, f"kept {count:,} tuples in it, and they cannot be read back")
    return items
