"""`python -m benchmarks.spark`: how fast the Spark engine is, beside what is written by hand, in one run.

Tables for people come first; the last line is one JSON object of named figures.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

from benchmarks.spark.figures import FIGURES
from benchmarks.spark.sizes import QUICK, Sizes
from benchmarks.spark.whole import measure


def main() -> None:
    options = _options()
    start = time.perf_counter()
    figures = measure(options.only or tuple(FIGURES), QUICK if options.quick else Sizes())
    figures["seconds"] = round(time.perf_counter() - start)
    print(json.dumps(figures))
    if None in figures.values():
        sys.exit(1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark", description="How fast the Spark engine is.")
    parser.add_argument("--quick", action="store_true", help="few tuples, one round: a look, not a measurement")
    parser.add_argument("--only", action="append", choices=tuple(FIGURES), help="leave out the other figures")
    return parser.parse_args()


if __name__ == "__main__":
    main()
