"""The app whose first output is waited for: `python -m anabranch.cli run benchmarks/codegen/first_output_app.py`."""

import anabranch as ab
from benchmarks.codegen.travels import Call, Speed


@ab.app
def first_output(calls: str = "calls.csv") -> None:
    """Print who travels.

    calls: the CSV file of calls
    """
    (
        ab.read_csv(calls, Call)
        .filter(lambda call: call.area == "425")
        .process(Speed, key="phone")
        .filter(lambda travel: travel.speed > 0.0)
        .collect("travels")
    )
