"""`from_arrow`, `from_pandas`, `from_polars`, `from_spark`: the rows of columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from anabranch.graph.model import Operator, Record
from anabranch.graph.schema import Schema
from anabranch.operators.base import Partition, SourceDefinition
from anabranch.operators.sources.located import located

if TYPE_CHECKING:
    from anabranch.operators.sources.frames import Frame  # brings Arrow, which is slow to import
    from anabranch.operators.sources.spark_frames import SparkFrame

_RECORDS = {name: Record(kind=f"from_{name}", state="key") for name in ("arrow", "pandas", "polars", "spark")}
_ROWS = 4096  # that are made of columns at a time


@dataclass(frozen=True)
class FromFrame(SourceDefinition):
    """What was checked when the source was built, and does not change any more; of Spark, once it has been read."""

    record: ClassVar[Record] = Record(kind="from_frame", state="key")  # each instance has that of its kind

    made_of: str  # arrow, pandas, polars or spark
    schema: Schema
    frame: Frame | SparkFrame = field(hash=False, compare=False, repr=False)
    order_by: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "record", _RECORDS[self.made_of])

    def partitions(self, operator: Operator) -> tuple[Partition, ...]:
        return (Partition("rows", partial(self._read, operator)),)

    @property
    def expected(self) -> int | None:
        """How many rows there are, where that is known before it is read."""
        return None if self.made_of == "spark" else len(self.frame)

    def _read(self, operator: Operator) -> Iterator[Any]:
        from anabranch.operators.formats.arrow_rows import row_reader

        read_rows = row_reader(self.schema)
        with located(operator):
            count = len(self.frame)
        for start in range(0, count, _ROWS):
            yield from read_rows(self.frame.rows(start, start + _ROWS), start + 1)
