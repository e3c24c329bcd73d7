"""For all tests: a program runs on the oracle unless a test says otherwise, also in the processes that tests start."""

from __future__ import annotations

import os

os.environ.setdefault("ANABRANCH_ENGINE", "sequential")
