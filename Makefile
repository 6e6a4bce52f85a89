# Every target sets up what it needs in ./.venv and nowhere else. `make help` lists them.

# The first Python on the path that is new enough; PYTHON=/path/to/python overrides it.
PYTHON ?= $(shell for python in python3.11 python3.12 python3.13 python3.14 python3 python; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$python && break; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check --retries 10 --timeout 60
JOBS ?= 2
# From the sources themselves: the package may be installed anew at the same time.
COMPILE := PYTHONPATH=src $(BIN)/python -c 'from discreet.solve import compile_ahead; compile_ahead(jobs=2)'
# Bytecode is kept even if the environment says otherwise: tests start many processes, which would compile everything anew.
export PYTHONDONTWRITEBYTECODE :=
ROWS ?= 20000
SECONDS ?= 3600
FIRST ?= 0
COMPARE ?= 40

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all attack fuzz faults load lint format types generate bench papers docs wheel dist audit-dependencies clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.run ## make up a table of people, anonymize it and show where everything is
	@mkdir -p demo
	@$(BIN)/discreet sample -n $(ROWS) --seed 1 -o demo/people.csv
	@$(BIN)/discreet run examples/demo.yaml
	@echo
	@echo "the table of people       demo/people.csv"
	@echo "the released table        demo/safe.csv"
	@echo "the report to read        demo/report.html"
	@echo "the audit of that file    demo/report.json (under \"audit\")"
	@echo "the summary               demo/report.txt"
	@echo "the job that did it       examples/demo.yaml"

test: ## lint, check types and run the tests (minutes)
	@$(MAKE) --no-print-directory --jobs 2 lint types $(VENV)/.compiled
	$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal --sample

test-all: private RELEASES = 600
test-all: $(VENV)/.deep $(VENV)/.browser ## the deep tests: Spark, PostgreSQL and a browser, which must be there; attacks, random jobs, saved releases
	DISCREET_DEEP=1 $(BIN)/python -m pytest -q -n 1 -k "spark or Spark or postgres"
	DISCREET_DEEP=1 $(BIN)/python -m pytest -q -n $(JOBS) --durations 25 -m "deep or scaled"
	PYTHONPATH=tests $(BIN)/python -m fuzz.saved
	PYTHONPATH=tests POLARS_MAX_THREADS=1 $(BIN)/python -m fuzz --jobs 1500 --seconds 400 --first $(FIRST)
	PYTHONPATH=tests $(BIN)/python -m attack --releases $(RELEASES) --seconds 450 --first $(FIRST)

RELEASES ?= 2000

attack: $(VENV)/.dev $(VENV)/.compiled ## attack releases of fresh random tables: make attack RELEASES=2000 SECONDS=3600 FIRST=0
	PYTHONPATH=tests $(BIN)/python -m attack --releases $(RELEASES) --seconds $(SECONDS) --first $(FIRST)

fuzz: private JOBS = 20000
fuzz: $(VENV)/.dev $(VENV)/.compiled ## do random jobs and check every release: make fuzz JOBS=20000 SECONDS=3600 FIRST=0
	PYTHONPATH=tests POLARS_MAX_THREADS=1 $(BIN)/python -m fuzz --jobs $(JOBS) --seconds $(SECONDS) --first $(FIRST) --compare $(COMPARE)

faults: $(VENV)/.dev $(VENV)/.compiled ## kill jobs at 200 random moments, then full disks, Ctrl-C, changed input and more (an hour)
	$(BIN)/python tests/faults.py --times 25
	PYTHONPATH=tests $(BIN)/python -m mishaps

load: $(VENV)/.dev $(VENV)/.compiled ## measure tables of 10,000 columns, a million different values, and the studio with 20 clients (ten minutes)
	$(BIN)/python tests/load.py

lint: $(VENV)/.dev ## check style and formatting
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports --no-logo

format: $(VENV)/.dev ## mend style and formatting
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

generate: $(VENV)/.dev ## write the stub of discreet and the generated tables of the documentation
	$(BIN)/python tools/generate.py

types: $(VENV)/.dev ## check types
	$(BIN)/mypy

bench: $(VENV)/.dev $(VENV)/.compiled ## measure speed, as ratios
	$(BIN)/python benchmarks/run.py

papers: $(VENV)/.papers ## repeat the experiments of five papers (about 40 minutes) and write one page about them
	$(BIN)/python benchmarks/papers/all_papers.py --output .bench/papers

docs: $(VENV)/.docs ## build the documentation into site/, to be opened from the disk
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "open site/index.html"

wheel: $(VENV)/.dist ## build the wheel for this platform, with all searches compiled: make wheel PYTHONS="python3.12 python3.13"
	$(BIN)/python tools/dist.py --wheel --pythons $(PYTHONS)

dist: $(VENV)/.dist ## build wheels and source archive twice, compare them, and try all in clean environments
	$(BIN)/python tools/dist.py --pythons $(PYTHONS)

audit-dependencies: $(VENV)/.dist ## list what an installation brings, with licences, and ask for known weaknesses
	$(BIN)/python tools/dependencies.py

setup: $(VENV)/.dev $(VENV)/.compiled ## make the virtualenv with everything a developer needs

clean: ## remove the virtualenv and everything that was made
	rm -rf $(VENV) demo build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis .bench
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "discreet needs Python 3.11 or newer; install it, or say where it is: make PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "discreet needs Python 3.11 or newer, and $(PYTHON) is not" >&2; exit 1; }
	@echo "making a virtualenv in $(VENV) with $(PYTHON)"
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# pip need not compile what may never be imported.
# The stamps are renewed when pyproject.toml changes; the sources are installed in place and need no renewal.
$(VENV)/.run: pyproject.toml | $(BIN)/python
	@echo "installing discreet (once, about a minute)"
	@$(PIP) install --no-compile --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.run
	@echo "installing the tools of its developers (once, about a minute)"
	@$(PIP) install --no-compile --editable '.[dev]'
	@touch $@

# Needs no tools, so that it runs while they are installed. What changes later is compiled when it is needed.
$(VENV)/.compiled: $(VENV)/.run
	@echo "compiling all searches for this machine (once, about a minute)"
	@$(COMPILE)
	@touch $@

# Programs come from Debian's packages, where root may install them. What cannot be installed is named here and again by
# the deep tests that need it: they fail where others skip.
APT := DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=5 -o DPkg::Lock::Timeout=600
DEBIAN = { test "$$(id -u)" = 0 && $(APT) update && $(APT) install --no-install-recommends $(1); } >/dev/null 2>&1 || \
	echo "$(1) could not be installed here: deep tests that need it will fail"

$(VENV)/.browser: | $(BIN)/python
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || $(call DEBIAN,chromium)
	@touch $@

# Spark needs Java, and PostgreSQL is a server of its own.
$(VENV)/.deep: $(VENV)/.dev $(VENV)/.compiled
	@echo "installing Spark (480 MB), and Java and PostgreSQL if they are missing (once)"
	@$(PIP) install --editable '.[spark]'
	@command -v java >/dev/null || $(call DEBIAN,openjdk-17-jre-headless)
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || $(call DEBIAN,postgresql)
	@touch $@

$(VENV)/.papers: $(VENV)/.dev
	@$(PIP) install --editable '.[papers]'
	@touch $@

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	@echo "installing discreet and what builds its documentation (once, about a minute)"
	@$(PIP) install --editable '.[docs]'
	@touch $@ $(VENV)/.run

$(VENV)/.dist: pyproject.toml | $(BIN)/python
	@echo "installing what builds and checks packages (once)"
	@$(PIP) install --editable '.[dist]'
	@touch $@
