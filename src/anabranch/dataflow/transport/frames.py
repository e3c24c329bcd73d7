"""Frames on their way to other processes: in a file, which each of them maps to memory, where all see its folder."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from anabranch.operators.sources.frames import Frame
from anabranch.operators.sources.spark_frames import SparkFrame, frame_in_files

_ROWS_AT_ONCE = 1 << 16


def reduce_frame(frame: Frame | SparkFrame, folder: str) -> tuple[Callable[..., Frame], tuple[Any, ...]]:
    """For a pickle; without a folder that all see it has all of the frame in it."""
    if isinstance(frame, SparkFrame):
        frame = frame.read()
    if frame.files and folder:
        return frame_in_files, (frame.files,)
    arrays = [at for at, column in enumerate(frame.columns) if not isinstance(column, list)]
    table = pa.table([frame.columns[at] for at in arrays], names=[f"{at}" for at in arrays])
    others = {at: column for at, column in enumerate(frame.columns) if isinstance(column, list)}
    if not folder:
        into = pa.BufferOutputStream()
        _write(table, into)
        return _frame_of, (into.getvalue().to_pybytes(), others)
    path = Path(folder) / f"{secrets.token_hex(8)}.arrow"
    with pa.OSFile(str(path), "wb") as file:
        _write(table, file)
    return _frame_in, (str(path), others)


def _write(table: pa.Table, into: Any) -> None:
    with pa.ipc.new_stream(into, table.schema) as writer:
        writer.write_table(table, _ROWS_AT_ONCE)


def _frame_in(path: str, others: dict[int, list[Any]]) -> Frame:
    return _frame_of(pa.memory_map(path), others)


def _frame_of(data: Any, others: dict[int, list[Any]]) -> Frame:
    table = pa.ipc.open_stream(data).read_all()
    columns = others | {int(name): table.column(name) for name in table.column_names}
    return Frame(tuple(columns[at] for at in range(len(columns))))
