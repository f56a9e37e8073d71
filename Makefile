# SAGA. `make demo` and `make test` work on a fresh machine with Python 3.11 or newer, and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.saga-setup
PROFILE ?= lite
LANG_ ?= ko

.PHONY: help setup demo serve test test-deep lint types walls tests audit bench endpoints clean
.DEFAULT_GOAL := help

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

setup: $(STAMP) ## make .venv with every extra

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "SAGA needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Set PYTHON=/path/to/python3.11")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Setting up $(VENV); this takes a minute or two the first time."
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[all,dev]'
	@touch $@

demo: $(STAMP) ## play an adventure through the real proxy (LANG_=en for English, PROFILE=full or full-lance for other stores)
	$(BIN)/saga demo --profile $(PROFILE) --lang $(LANG_)

serve: $(STAMP) ## start the proxy on 127.0.0.1:8765
	$(BIN)/saga serve

test: lint types walls tests ## everything that CI runs

test-deep: $(STAMP) ## the long searches
	HYPOTHESIS_PROFILE=deep $(BIN)/python -m pytest -m "deep or not deep"

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

walls: $(STAMP)
	$(BIN)/lint-imports

tests: $(STAMP)
	$(BIN)/python -m pytest -m "not deep" -n 2 --dist worksteal -q

audit: $(STAMP) ## look the pinned packages up among known vulnerabilities (asks a database on the internet)
	$(BIN)/python .ci/audit constraints.txt

bench: $(STAMP) ## measure a turn, and print the table of docs/performance.md
	$(BIN)/saga bench turn

endpoints: $(STAMP) ## write the lists of endpoints in docs/ anew, from saga_server/admin/endpoints.py
	$(BIN)/python -m saga_server.admin.endpoint_list

clean: ## remove the environment and caches, never the data
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
