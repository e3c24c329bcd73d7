"""How fast generated code is: `python -m benchmarks.codegen`, with `--quick` for a look at it."""
