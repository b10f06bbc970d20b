# Everything runs in .venv; nothing outside it is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export BENCHWRIGHT_CACHE ?= $(CURDIR)/$(VENV)/cache
# Strict editable mode lets type checkers and import-linter see the folder mapping of pyproject.toml.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
	--config-settings editable_mode=strict
SOURCES := $(shell find core builders splitting cards eval cli -name '*.py' 2>/dev/null)

.PHONY: demo test lint corpora interop bench format clean

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) -e '.[dev]'
	touch $@

# The strict link tree is laid at install time, so a new file needs a new (quick) install.
$(VENV)/linked: $(VENV)/installed $(SOURCES)
	$(INSTALL) --no-deps -e .
	touch $@

$(VENV)/embedded: $(VENV)/linked
	$(BIN)/benchwright models get embedded
	$(BIN)/benchwright models get minilm-l3
	$(BIN)/benchwright models get tagger
	$(BIN)/benchwright models get parser
	touch $@

demo: $(VENV)/embedded
	$(BIN)/benchwright demo --out benchwright-demo --overwrite

# Two workers whose threads spin while they wait would slow each other down.
PYTEST := OMP_WAIT_POLICY=passive $(BIN)/python -m pytest -n auto --dist loadfile

test: lint $(VENV)/embedded
	$(PYTEST) -m 'not corpora and not interop'

lint: $(VENV)/linked
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Checks on real corpora and on the reference implementations' outputs; see tests/conftest.py for where they stand.
corpora: $(VENV)/embedded
	$(PYTEST) -m corpora

# Older readers of releases and evaluation harnesses, each in a virtual environment of its own.
interop: $(VENV)/embedded
	$(BIN)/python -m pytest -m interop

bench: $(VENV)/embedded
	$(BIN)/python benchmarks/writing.py
	$(BIN)/python benchmarks/scoring.py
	$(BIN)/python benchmarks/tmcd.py
	$(BIN)/python benchmarks/audit.py
	$(BIN)/python benchmarks/recasting.py
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/overlap.py

format: $(VENV)/linked
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) build *.egg-info benchwright-demo
