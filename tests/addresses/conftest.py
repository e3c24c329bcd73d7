"""A bucket on a server of this machine."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from uuid import uuid4

import pytest

from tests.addresses.buckets import CREDENTIALS, Bucket

_SERVER = Path(__file__).with_name("s3_server.py")


def _python() -> str:
    """The interpreter that has the server: set-up makes an environment for it (see requirements.txt)."""
    return str(Path(sys.prefix) / "s3" / "bin" / "python")


@pytest.fixture(scope="session")
def port() -> Iterator[int]:
    python = _python()
    with subprocess.Popen(
        [python, str(_SERVER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            yield int(server.stdout.readline())
        finally:
            server.stdin.close()


@pytest.fixture
def bucket(port: int, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
    return Bucket.made(port, f"bucket-{uuid4().hex[:12]}")


class _Refusing(BaseHTTPRequestHandler):
    """Answers every question with one error, to a `HEAD` by its number alone, as S3 does."""

    answer = ""

    def _refuse(self) -> None:
        body = f"<Error><Code>{self.answer}</Code><Message>{self.answer}</Message></Error>".encode()
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(400 if self.answer == "ExpiredToken" else 403)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _refuse

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def refusing() -> Iterator[Callable[[str], int]]:
    """The port of a server that refuses everything with an error of that name."""
    servers: list[ThreadingHTTPServer] = []

    def start(answer: str) -> int:
        server = ThreadingHTTPServer(("127.0.0.1", 0), type("Refusing", (_Refusing,), {"answer": answer}))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return server.server_address[1]

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()
