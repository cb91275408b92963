# Two entry points; their bodies are the `course` command and pytest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: demo test test-all lint lock
demo: $(VENV)/.ready
	course demo

test: $(VENV)/.ready
	pytest -q -n auto --dist loadfile --sample-lessons  # a process a core; what a file's tests share is made once

# With every lesson in what all lessons share (tests/support/sample.py).
test-all: $(VENV)/.ready
	pytest -q -n auto --dist loadfile

lint: $(VENV)/.ready
	ruff check .
	course lint

$(VENV)/.ready: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "hopper-course needs Python 3.11 or newer; run: make PYTHON=/path/to/python3.11 demo")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	touch $@

# Renew the exact versions after a change of pyproject.toml (needs `pip install uv`).
lock:
	uv pip compile pyproject.toml --universal --python-version 3.11 --all-extras --generate-hashes --no-header --no-annotate -o requirements.lock
