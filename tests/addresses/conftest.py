"""A bucket on a server of this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.addresses.buckets import CREDENTIALS, Bucket

_SERVER = Path(__file__).with_name("s3_server.py")


@pytest.fixture(scope="session")
def port() -> Iterator[int]:
    python = os.environ.get("ANABRANCH_MOTO_PYTHON", sys.executable)  # an interpreter that has moto
    with subprocess.Popen(
        [python, str(_SERVER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdin is not None and server.stdout is not None
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
