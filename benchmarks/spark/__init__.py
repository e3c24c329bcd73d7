"""How fast the Spark engine is: `python -m benchmarks.spark`, with `--quick` for a look at it."""
