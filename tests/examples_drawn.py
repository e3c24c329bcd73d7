"""How many random examples a test draws: a sample in `make test`, ten times as many in `make test-full`."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

TIMES = 10 if os.environ.get("ANABRANCH_TESTS") == "full" else 1


def drawn(count: int) -> settings:
    return settings(max_examples=TIMES * count, deadline=None, suppress_health_check=list(HealthCheck))
