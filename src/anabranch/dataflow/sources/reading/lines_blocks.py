"""A block of plain lines as columns: the text without its newlines, and where each line starts in it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from anabranch.dataflow.sources.reading.csv_blocks import check_utf8
from anabranch.dataflow.sources.reading.text_cells import ColumnReader
from anabranch.graph.schema import Schema


class LinesBlocks:
    """Reads blocks of whole lines; `Doubt` where one is not valid."""

    def __init__(self, schema: Schema) -> None:
        self._is_number = [attribute.type.kind == "int" for attribute in schema.attributes]
        self.readers: list[ColumnReader] = [_itself for _ in schema.attributes]

    def columns(self, data: bytes, start: int, before: int | None) -> list[pa.Array]:
        if not data.isascii():
            check_utf8(data)
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n")
        if not data.endswith(b"\n"):
            data = data.removesuffix(b"\r") + b"\n"
        ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
        offsets = np.zeros(len(ends) + 1, np.int32)
        offsets[1:] = ends - np.arange(len(ends))
        text = data.replace(b"\n", b"")
        lines = pa.StringArray.from_buffers(len(ends), pa.py_buffer(offsets), pa.py_buffer(text))
        if before is None:  # no attribute wants it
            return [lines]
        numbers = pa.array(np.arange(before + 1, before + len(ends) + 1, dtype=np.int64))
        return [numbers if is_number else lines for is_number in self._is_number]


def _itself(column: pa.Array) -> pa.Array:
    return column
