"""One small Spark session for the tests of a process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from anabranch.engines.spark.session import SparkOptions, session_for


@pytest.fixture(scope="session")
def session() -> Iterator[Any]:
    session = session_for(SparkOptions(master="local[2,4]"))
    yield session
    session.stop()
