"""A Java that was killed: threads of pyspark's would print tracebacks about it, and an error of ours says it."""

from __future__ import annotations

import socketserver
import sys
from typing import Any


def hush() -> None:
    """Threads that wait for Java are silent when it has gone."""
    from pyspark import accumulators

    for name in ("AccumulatorTCPServer", "AccumulatorUnixServer"):
        server: Any = getattr(accumulators, name, None)
        if server is not None:
            server.handle_error = _handle_error


def _handle_error(server: socketserver.BaseServer, request: Any, client_address: Any) -> None:
    if not isinstance(sys.exception(), EOFError | ConnectionError):
        socketserver.BaseServer.handle_error(server, request, client_address)
