"""One small Spark session for the tests of a process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from anabranch.engines.spark.session.session import SparkOptions, session_for

# It changes the library, and the analysis looks at whatever is loaded: so nobody loads it to look for doctests.
collect_ignore = ["streams/dying.py"]

# A variable of the processes of a session: whose tests they are for.
OWNER = "ANABRANCH_TESTED_BY"


@pytest.fixture(scope="session")
def session() -> Iterator[Any]:
    os.environ[OWNER] = str(os.getpid())
    session = session_for(SparkOptions(master="local[2,4]"))
    yield session
    session.stop()
