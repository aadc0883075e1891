# Two commands do everything on a machine with Python (3.11 or newer), pip and make:
#   make audit   audits a bundled model family's plan and prints the result
#   make test    lint, types and tests; the browser tests need `make chromium` once
# What is handed on: make dist (wheel and sdist), make man, make docs (the site).

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
FAMILY ?= llama-3.1-8b
PLAN := $(VENV)/$(FAMILY).json
JOBS ?= 2

.PHONY: audit test lint types unit prove mutants bench rules dist man docs chromium clean

audit: $(VENV)/installed
	@$(BIN)/python -m models $(FAMILY) --bundle -o $(PLAN)
	@$(BIN)/ferrum-verify audit $(PLAN)

test: lint types unit

lint: $(VENV)/developed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/vulture

types: $(VENV)/developed
	$(BIN)/mypy

unit: $(VENV)/developed
	$(BIN)/python -m pytest -n $(JOBS)

# Every theorem in proofs/, by z3 and by cvc5.
prove: $(VENV)/developed
	$(BIN)/ferrum-verify prove

# Each line of the proofs weakened in turn: a test must notice every one. Takes ten minutes.
mutants: $(VENV)/developed
	$(BIN)/python -m tests.mutants

# Every figure beside its limit; keep the machine quiet meanwhile.
bench: $(VENV)/developed
	$(BIN)/python -m benchmarks

# The list of rules in docs/rules.md, and a page for each in docs/rules/, which git ignores.
rules: $(VENV)/developed
	$(BIN)/python -m ferrum_verify.cli.rule_pages docs

# A wheel, by way of the sdist. The jobs of the README are typed to the wheel where nothing else is.
dist: $(VENV)/developed
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*
	FERRUM_VERIFY_WHEEL="$$(echo dist/*.whl)" $(BIN)/python -m pytest tests/docs/test_installed.py

# A page of the manual for each command, as its --help says.
man: $(VENV)/developed
	$(BIN)/python docs/man_pages.py build/man

docs: rules
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

# Installs what the browser tests drive through apt-get, as root; `make test` skips them without it.
chromium:
	@sh tests/browser/install-chromium.sh

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(VENV)/developed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@ $(VENV)/installed

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
