# Everything starts from here: each target first sees to it that .venv is complete (tools/setup.sh).

SHELL := /bin/bash
.DEFAULT_GOAL := help

# Paths stay relative, so that a checkout in a folder with spaces in its name works.
BIN := .venv/bin
# Each test worker may start a Spark of its own: about 1.5 GB of memory each.
TEST_WORKERS ?= 2
PYTEST := $(BIN)/python -m pytest -q -n $(TEST_WORKERS)
# The analysis looks at every module that is loaded, so tests that expect a certain plan run without the others.
PLANS := tests/passes tests/graph tests/test_explain.py tests/commands/test_explain_command.py src/anabranch/explain.py
# Whether code can be native is decided by the same analysis, and where it runs: those tests are apart, too.
GENERATED := tests/codegen tests/commands/test_run_form.py tests/meaning/test_windows_everywhere.py
DATAFLOW := tests/dataflow
ENGINES := tests/engines
# These switch the analysis off, and replace functions of libraries.
TRIPWIRE := tests/tripwire
OTHERS := $(addprefix --ignore=,$(PLANS) $(GENERATED) $(DATAFLOW) $(ENGINES) $(TRIPWIRE))

.PHONY: help setup venv demo test test-full lint types clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

setup: ## make or update .venv (the targets below do this by themselves)
	@tools/setup.sh

venv: setup

demo: setup ## run the mobility fraud example on a million calls and show what it found
	@tools/demo.sh

test: lint types ## lint, types, and the tests but the slow ones
	@$(PYTEST) -m "not slow" $(PLANS)
	@$(PYTEST) -m "not slow" $(GENERATED)
	@$(PYTEST) -m "not slow" $(DATAFLOW)
	@$(PYTEST) -m "not slow" $(ENGINES)
	@$(PYTEST) -m "not slow" $(TRIPWIRE)
	@$(PYTEST) -m "not slow" $(OTHERS)

test-full: export ANABRANCH_TESTS := full
test-full: lint types ## the same with the slow random and fault tests
	@$(PYTEST) $(PLANS)
	@$(PYTEST) $(GENERATED)
	@$(PYTEST) $(DATAFLOW)
	@$(PYTEST) $(ENGINES)
	@$(PYTEST) $(TRIPWIRE)
	@$(PYTEST) $(OTHERS)

lint: setup ## ruff: rules and formatting (to apply both: .venv/bin/ruff check --fix . && .venv/bin/ruff format .)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: setup ## mypy --strict
	@$(BIN)/mypy

clean: ## remove .venv and everything that was built or cached
	@rm -rf .venv build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache src/*.egg-info
	@find src tests examples benchmarks tools -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
