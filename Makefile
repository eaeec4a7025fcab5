# Two commands: `make run` shows what this is for, `make test` checks all of it.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: run test proofs soak bits-matrix perf docs calibrate format lock locked wheel web wasm clean

run: $(VENV)/.run
	$(BIN)/nematodebench run foraging_small-v2 mlp_ppo null_random --runs 50 --seed 2026

test: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -q -n 2 --dist loadfile -m "not slow"

# Statistical coverage and long kills: minutes, not seconds.
proofs: $(VENV)/.test
	$(BIN)/pytest -q -n 2 --dist loadgroup -m slow

# Kills of all commands that write, each followed by what a user does next; prints how many results differ.
KILLS ?= 1000
soak: $(VENV)/.test
	$(BIN)/python scripts/soak.py --kills $(KILLS)

# The bits of all compiled brains and worlds with the oldest and newest Python, NumPy and Numba that are to be had here, and
# on processors that QEMU emulates (apt-get install qemu-user); writes docs/bits.json and docs/bits.md.
bits-matrix: $(VENV)/.test
	$(BIN)/python scripts/bits_matrix.py --write

perf: $(VENV)/.test
	$(BIN)/python -m perf

# The documentation as a site in build/docs: open build/docs/index.html. Any warning is an error.
docs: $(VENV)/.test
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

calibrate: $(VENV)/.test
	$(BIN)/nematodebench calibrate --check

format: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The environment that verified results are made with: exact versions and hashes of everything.
locked:
	$(PYTHON) -m venv .venv-locked
	.venv-locked/bin/python -m pip install --quiet --require-hashes --requirement requirements.lock
	.venv-locked/bin/python -m pip install --quiet --no-deps --editable .

lock: $(VENV)/.test
	$(BIN)/python -m pip install --quiet pip-tools
	$(BIN)/pip-compile --quiet --upgrade --generate-hashes --no-emit-index-url --no-emit-find-links --no-header \
	  --strip-extras --output-file requirements.lock pyproject.toml

# A wheel with compiled kernels: who has this Python and these versions of Numba and NumPy starts without compiling.
wheel: $(VENV)/.test
	rm -rf build/compiled
	$(BIN)/python scripts/compile_kernels.py build/compiled
	NEMATODEBENCH_COMPILED=build/compiled $(BIN)/python -m hatchling build --target wheel

# The scripts of the pages, from web/ into the package. The built files are committed; users need no Node.
web:
	cd web && npm install --silent --no-save && npm run --silent check && npm run --silent build

# The kernels for the browser, from the sources of worlds, brains and the run loop into the package. Two minutes.
wasm: $(VENV)/.test
	$(BIN)/python -m nematodebench.browser.build

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache

$(VENV)/bin/python:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'NematodeBench needs Python 3.11 or newer: make PYTHON=python3.11')"
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

# torch first and by its exact version: any looser requirement pulls in builds for accelerators. neurobench and
# pymdp without what they need for data sets and notebooks of their own: only their formulas are used.
$(VENV)/.test: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet torch==2.13.0
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	$(BIN)/python -m pip install --quiet --no-deps neurobench==2.3.0 inferactively-pymdp==0.0.7.1
	touch $@ $(VENV)/.run
