"""`read_tcp`: the lines a server sends, until it closes the connection."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from anabranch.errors import SourceError
from anabranch.graph.model import Operator, Record
from anabranch.graph.schema import Schema
from anabranch.operators.base import Partition, SourceDefinition
from anabranch.operators.formats import text_format
from anabranch.operators.formats.failures import why
from anabranch.operators.formats.ports import check_port
from anabranch.operators.sources.located import located


@dataclass(frozen=True)
class ReadTcp(SourceDefinition):
    """Connects as a client when the run starts to draw. CSV has no header here.

    `timeout` is how many seconds to wait for the connection and for each next line; None waits for ever.
    """

    record: ClassVar[Record] = Record(kind="read_tcp")

    host: str
    port: int
    schema: Schema
    format: str = "jsonl"
    order_by: str | None = None
    timeout: float | None = None

    def __post_init__(self) -> None:
        check_port(self.port)
        text_format(self.format).check_read_schema(self.schema)

    @property
    def address(self) -> str:
        return f"tcp://{self.host}:{self.port}"

    @property
    def is_live(self) -> bool:
        return True

    def partitions(self, operator: Operator) -> tuple[Partition, ...]:
        return (Partition(self.address, lambda: self._read(operator)),)

    def _read(self, operator: Operator) -> Iterator[Any]:
        options = {"header": False} if self.format == "csv" else {}
        with located(operator), self.connect() as connection, connection.makefile("rb") as stream:
            yield from text_format(self.format).read_stream(stream, self.address, self.schema, **options)

    def connect(self) -> socket.socket:
        try:
            return socket.create_connection((self.host, self.port), timeout=self.timeout)
        except ConnectionRefusedError:
            raise SourceError(
                f"{self.address}: the connection was refused",
                hint="start the server first, and check the host and the port",
            ) from None
        except socket.gaierror:
            raise SourceError(f"{self.address}: there is no host '{self.host}'", hint="check its name") from None
        except (OSError, OverflowError) as problem:
            reason = why(problem) if isinstance(problem, OSError) else str(problem)
            raise SourceError(f"{self.address}: {reason}") from None
