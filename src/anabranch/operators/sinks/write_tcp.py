"""`write_tcp`: tuples as lines to a server."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

from anabranch.errors import SinkError
from anabranch.graph.model import Operator, Record
from anabranch.graph.schema import Schema
from anabranch.operators.base import Emission, SinkMeaning
from anabranch.operators.formats import text_format
from anabranch.operators.formats.failures import why
from anabranch.operators.formats.ports import check_port
from anabranch.operators.sinks.base import SinkDefinition, located

_CONNECT_TIMEOUT = 10.0  # seconds
_CLOSE_TIMEOUT = 10.0


@dataclass(frozen=True)
class WriteTcp(SinkDefinition):
    """Connects as a client before the first tuple and sends each as a line at once. CSV has no header."""

    record: ClassVar[Record] = Record(kind="write_tcp")

    host: str
    port: int
    format: str = "jsonl"
    ordered: bool = True

    def __post_init__(self) -> None:
        check_port(self.port)
        text_format(self.format)

    @property
    def can_be_checked(self) -> bool:
        return False  # the server would see a connection

    @property
    def address(self) -> str:
        return f"tcp://{self.host}:{self.port}"

    def check_schema(self, schema: Schema) -> None:
        text_format(self.format).check_schema(schema)

    def meaning(self, operator: Operator) -> WriteTcpMeaning:
        return WriteTcpMeaning(operator, self, text_format(self.format).encoder(operator.inputs[0].schema))


class WriteTcpMeaning(SinkMeaning):
    def __init__(self, operator: Operator, definition: WriteTcp, encode: Callable[[Any], str]) -> None:
        super().__init__(operator)
        self._host, self._port, self._address = definition.host, definition.port, definition.address
        self._encode = encode
        self._connection: socket.socket | None = None
        self._pending = bytearray()

    def open(self) -> None:
        with located(self.operator):
            try:
                self._connection = socket.create_connection((self._host, self._port), timeout=_CONNECT_TIMEOUT)
                self._connection.settimeout(None)  # a slow reader holds the program up; it is no error
                self._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            except socket.gaierror:
                raise SinkError(f"{self._address}: there is no host '{self._host}'", hint="check its name") from None
            except ConnectionRefusedError:
                raise SinkError(
                    f"{self._address}: the connection was refused",
                    hint="start the server first, and check the host and the port",
                ) from None
            except (OSError, OverflowError) as problem:
                reason = why(problem) if isinstance(problem, OSError) else str(problem)
                raise SinkError(f"{self._address}: {reason}") from None

    def process(self, port: int, item: Any) -> Iterable[Emission]:
        with located(self.operator):
            self._pending += self._encode(item).encode()
            self._send()
        return ()

    def complete(self) -> None:
        self.close()

    def close(self) -> None:
        if self._connection is None:
            return
        connection = self._connection
        with located(self.operator):
            try:
                connection.settimeout(_CLOSE_TIMEOUT)
                self._send()
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_WR)
            finally:
                self._connection = None
                connection.close()

    def discard(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _send(self) -> None:
        """Send what is pending; what an interrupt leaves unsent is sent by `close`."""
        assert self._connection is not None, "open before process"
        try:
            while self._pending:
                sent = self._connection.send(self._pending)
                del self._pending[:sent]
        except OSError as problem:
            self._pending.clear()
            raise SinkError(f"{self._address}: {why(problem)}") from None
