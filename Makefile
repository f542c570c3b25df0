# make tour   trains a small GPT eagerly and compiled, side by side
# make test   the fast test suite
# make help   everything else
#
# PYTHON=python3.12   another Python      TORCH=torch-2.13.0+cpu-....whl   torch from a file
# PIP_ARGS="..."      more options to pip install, for example another index
# ARGS="..."          more arguments to the tour or to pytest
# WORKERS="-n 4"      tests in several processes

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp
# An interrupted set-up leaves half an environment, without this mark.
MADE := $(VENV)/.made
DOCS := $(VENV)/.docs
HOOK := $(wildcard minicompiler/capture/*.c)
# Threads that wait must not spin: the workers share the cores.
RUN := OMP_WAIT_POLICY=PASSIVE $(BIN)/python
PYTEST := $(RUN) -m pytest -q
WORKERS ?= -n 2
OTHERS := 3.11 3.12 3.13 3.14

.DEFAULT_GOAL := help
.PHONY: help setup doctor tour test quick lint format book site serve-site test-site budget \
  test-all clean

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' $(MAKEFILE_LIST) | expand -t 20

doctor:  ## is this machine ready? says what to do where it is not
	@command -v $(PYTHON) >/dev/null 2>&1 || { \
	  echo "there is no '$(PYTHON)' here: install Python 3.11 or newer," \
	    "or say make tour PYTHON=/full/path/to/python"; \
	  exit 1; }
	@$(PYTHON) minicompiler/tools/doctor.py --venv $(VENV)

setup: $(STAMP)  ## the virtual environment and the frame hook, built once

$(STAMP): requirements.txt requirements-dev.txt pyproject.toml setup.py $(HOOK) | doctor
	@{ test -e $(MADE) || test -e $@; } && $(BIN)/python -c '' 2>/dev/null || { \
	  $(PYTHON) -m venv --clear $(VENV) && touch $(MADE); }
	@echo "installing into $(VENV), which takes some minutes"
	@$(BIN)/python -m pip install --disable-pip-version-check -q \
	  $(TORCH) -r requirements-dev.txt $(PIP_ARGS) || { \
	  echo "could not install: is the package index reachable? 'make doctor' asks it;" \
	    "another one: PIP_ARGS='--index-url ...'"; exit 1; }
	@$(BIN)/python -m pip install --disable-pip-version-check -q \
	  --no-build-isolation --no-deps -e .
	@touch $@

tour: doctor $(STAMP)  ## a small GPT learns to add: eager and compiled, side by side
	$(RUN) -m minicompiler.tools.tour $(ARGS)

test: doctor $(STAMP)  ## the fast test suite
	$(PYTEST) $(WORKERS) -m "not slow" $(ARGS)

quick: $(STAMP)  ## the whole path in under 30 seconds
	$(PYTEST) tests/test_tiny.py $(ARGS)

lint: $(STAMP)  ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)  ## let ruff rewrite what lint would complain about
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

book: $(STAMP)  ## write the quotes and outputs of the chapters anew
	$(BIN)/cog -r -p "from minicompiler.tools.book import *" $(wildcard chapters/*/*.md)

$(DOCS): requirements-docs.txt $(STAMP)
	@$(BIN)/python -m pip install --disable-pip-version-check -q -r $< $(PIP_ARGS)
	@touch $@

# Never -q: what is not said is not counted, and --strict lets it pass.
MKDOCS := NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs

site: $(DOCS)  ## the book, its glossary and the API reference: site/index.html
	$(MKDOCS) build --strict

serve-site: $(DOCS)  ## the same while you write: http://127.0.0.1:8000
	$(MKDOCS) serve

test-site: $(DOCS)  ## the site's links, and each page in a headless Chromium
	$(BIN)/python -m pip install --disable-pip-version-check -q \
	  -r tests/site/requirements.txt $(PIP_ARGS)
	$(PYTEST) tests/site $(ARGS)

budget: $(STAMP)  ## code lines by folder against their ceilings
	$(BIN)/python minicompiler/tools/budget.py

test-all: doctor $(STAMP)  ## every test, then the fast suite on the other Pythons found
	HYPOTHESIS_PROFILE=random $(PYTEST) $(WORKERS) $(ARGS)
	@this=$$($(BIN)/python -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
	for v in $(OTHERS); do \
	  test "$$v" = "$$this" && continue; \
	  found=; \
	  for p in python$$v $$HOME/.pyenv/versions/$$v.*/bin/python; do \
	    "$$p" -c '' 2>/dev/null && { found=$$p; break; }; \
	  done; \
	  if test -z "$$found"; then echo "== Python $$v: not found, skipped"; continue; fi; \
	  echo "== Python $$v: $$found"; \
	  $(MAKE) --no-print-directory test PYTHON="$$found" VENV=.venv-$$v || exit 1; \
	done

clean:  ## forget the virtual environments and everything built
	rm -rf .venv .venv-3.* build site *.egg-info minicompiler/capture/_frame_hook*.so
