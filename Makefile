# Everything starts from here: each target first sees to it that .venv is complete (tools/setup.sh).

SHELL := /bin/bash
.DEFAULT_GOAL := help

# Paths stay relative, so that a checkout in a folder with spaces in its name works.
BIN := .venv/bin
# Each test worker may start a Spark of its own: about 1.5 GB of memory each.
TEST_WORKERS ?= 2
PYTEST := $(BIN)/python -m pytest -q -n $(TEST_WORKERS)
# Whoever runs first names what fails: plans, generated code, what runs, engines, and then all others. In parts, since
# every compilation looks at all objects of its process, of which numba and the modules of tests make millions.
PLANS := tests/passes tests/graph tests/test_explain.py tests/commands/test_explain_command.py src/anabranch/explain.py
GENERATED := tests/codegen tests/commands/test_run_form.py tests/meaning/test_windows_everywhere.py
CHANNELS := tests/dataflow/channels
LAYOUT := tests/dataflow/layout
SOURCES := tests/dataflow/sources
DATAFLOW := tests/dataflow/runs tests/dataflow/streams tests/dataflow/tail tests/dataflow/transport
ENGINES := tests/engines
TRIPWIRE := tests/tripwire # these switch the analysis off, and replace functions of libraries
ANALYSIS := tests/analysis
EQUIVALENCE := tests/equivalence tests/apps
MEANING := tests/meaning tests/operators --ignore=tests/meaning/test_windows_everywhere.py
OTHERS := $(addprefix --ignore=,$(PLANS) $(GENERATED) tests/dataflow $(ENGINES) $(TRIPWIRE) $(ANALYSIS) $(EQUIVALENCE) \
  tests/meaning tests/operators)

define run-tests
	@$(PYTEST) $(1) $(PLANS)
	@$(PYTEST) $(1) $(GENERATED)
	@$(PYTEST) $(1) $(CHANNELS)
	@$(PYTEST) $(1) $(LAYOUT)
	@$(PYTEST) $(1) $(SOURCES)
	@$(PYTEST) $(1) $(DATAFLOW)
	@$(PYTEST) $(1) $(ENGINES)
	@$(PYTEST) $(1) $(TRIPWIRE)
	@$(PYTEST) $(1) $(ANALYSIS)
	@$(PYTEST) $(1) $(EQUIVALENCE)
	@$(PYTEST) $(1) $(MEANING)
	@$(PYTEST) $(1) $(OTHERS)
endef

.PHONY: help setup venv demo test test-full lint types clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

setup: ## make or update .venv (the targets below do this by themselves)
	@tools/setup.sh

venv: setup

demo: setup ## run the mobility fraud example on a million calls and show what it found
	@tools/demo.sh

test: lint types ## lint, types, and the tests but the slow ones
	$(call run-tests,-m "not slow")

test-full: export ANABRANCH_TESTS := full
test-full: lint types ## the same with the slow random and fault tests
	$(call run-tests,)

lint: setup ## ruff: rules and formatting (to apply both: .venv/bin/ruff check --fix . && .venv/bin/ruff format .)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: setup ## mypy --strict
	@$(BIN)/mypy

clean: ## remove .venv and everything that was built or cached
	@rm -rf .venv build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache src/*.egg-info
	@find src tests examples benchmarks tools -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
