"""`python -m benchmarks.codegen`: how fast generated code is, beside what is written by hand, in one run.

Tables for people come first; the last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PARTS = ("pipelines", "chains", "crossings", "startup", "memory")


def main() -> None:
    options = _options()
    missing = [name for name in ("bytewax", "matplotlib", "numba") if find_spec(name) is None]
    if missing:
        sys.exit(f"python -m benchmarks.codegen needs {', '.join(missing)}: pip install -c constraints.txt '.[bench]'")
    from benchmarks.codegen.whole import measure_all  # needs what was just looked for

    start = time.perf_counter()
    figures: dict[str, Any] = measure_all(options.parts, options.plots, is_quick=options.quick)
    figures["seconds"] = round(time.perf_counter() - start)
    print(json.dumps(figures))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.codegen", description="How fast generated code is.")
    parser.add_argument("--quick", action="store_true", help="fewer tuples and rounds: a look, not a measurement")
    parser.add_argument("--plots", type=Path, default=Path("build/benchmarks"), metavar="FOLDER",
                        help="where plots go (default: build/benchmarks)")  # fmt: skip
    parser.add_argument("--only", action="append", choices=PARTS, dest="parts", help="leave out the other parts")
    options = parser.parse_args()
    options.parts = options.parts or PARTS
    return options


if __name__ == "__main__":
    main()
