# Only relative paths, and modules rather than console scripts: it works from any folder.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
UV := $(VENV)/bin/uv
READY := $(VENV)/.ready
READY_DEV := $(VENV)/.ready-dev
READY_BENCH := $(VENV)/.ready-bench
READY_BARS := $(VENV)/.ready-bars
READY_DEPLOYMENT := $(VENV)/.ready-deployment
NODE := .node
# The extras that a deployment has: those that are small and need nothing else.
BUNDLED := postgres ratings swiss
READY_NODE := $(NODE)/.ready
NODE_TOOLS := node@22.23.3 @modelcontextprotocol/conformance@0.2.0-alpha.12 \
	@modelcontextprotocol/inspector@2.12.0 @modelcontextprotocol/sdk@1.32.2 mcp-remote@0.15.1
SOURCES := src tests scripts $(wildcard bench examples)
HERE := -n 2 --dist loadgroup -q --ignore=tests/chaos --ignore=tests/strangers --ignore=tests/browser --ignore=tests/bars --ignore=tests/deployment --ignore=tests/distributed
BENCH := PYTHONPATH=tests $(PY) -m bench
UPGRADE ?=
SEEDS ?= 100
FAULTS ?= 200
COMMANDS ?= 200
STORE ?= sqlite
RUNS ?= 3
FIRST ?= 1
FAULT ?=
ARGS ?=

export UV_PYTHON_DOWNLOADS := never
# Keep compiled modules, whatever the shell says: to compile them again costs more than most tests.
export PYTHONDONTWRITEBYTECODE :=
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# The stamp holds the folder that was set up, so that a moved or copied one is set up again.
MOVED := $(shell [ "$$(cat $(READY) 2>/dev/null)" = "$$(pwd -P)" ] || echo moved)
COMPILE := $(UV) pip compile --quiet --universal --generate-hashes \
	--no-emit-index-url --no-header --no-annotate $(UPGRADE)

.PHONY: help setup setup-dev play test test-processes coverage agents bars browser attack chaos distributed conformance deployment strangers strangers-mcp strategy-table check fmt fmt-check lint type layers \
	golden docs docs-check bench bench-sweep bench-calls bench-gate bench-record bench-page wheel bundle lock clean moved

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

setup: $(READY)  ## install what a league needs, into .venv

setup-dev: $(READY_DEV)  ## install the tools of a developer as well

play: $(READY)  ## play a league on this machine (ARGS="--help" for its options)
	@$(PY) -m agent_league play $(ARGS)

test: $(READY_DEV)  ## run the tests
	@$(PY) -m pytest -m "not slow and not processes" $(HERE) $(ARGS)

test-processes: $(READY_DEV)  ## run the tests that start processes
	@$(PY) -m pytest -m "processes and not slow" $(HERE) $(ARGS)

coverage: $(READY_DEV)  ## run the tests, and print how much of the code they run, branch by branch
	@mkdir -p .cache
	@$(PY) -m pytest -m "not slow and not processes" $(HERE) --cov --cov-report= $(ARGS)
	@$(PY) scripts/coverage_report.py

agents: $(READY_DEV)  ## hold the starters, and crooked agents, to league check
	@$(PY) -m pytest -m slow $(HERE) $(ARGS)

chaos: $(READY_DEV)  ## kill leagues, break their links, run random commands (SEEDS=100, FAULTS=200, COMMANDS=200)
	@CHAOS_SEEDS=$(SEEDS) CHAOS_FAULTY_SEEDS=$(FAULTS) CHAOS_STORE=$(STORE) CHAOS_COMMANDS=$(COMMANDS) \
	  $(PY) -m pytest -q tests/chaos $(ARGS)

distributed: $(READY_DEV)  ## leagues on three hosts (network namespaces), one of which fails (RUNS=3, FIRST=1, FAULT=kill|cut; needs root, PostgreSQL, iproute2)
	@DISTRIBUTED_RUNS=$(RUNS) DISTRIBUTED_FIRST=$(FIRST) DISTRIBUTED_FAULT=$(FAULT) $(PY) -m pytest -q -s tests/distributed $(ARGS)

browser: $(READY_DEV)  ## look at the pages of leagues in a real browser (chromium)
	@$(PY) -m pytest -q tests/browser $(ARGS)

attack: $(READY_DEV)  ## attack a league in every way of the threat list (SECURITY.md)
	@$(PY) -m pytest -n 2 -q tests/attacks tests/verification tests/test_chance.py tests/league/test_any_operations.py \
	  tests/http_wire/test_limits.py tests/http_wire/test_allowances.py tests/end_to_end/test_no_server_error.py tests/end_to_end/test_hostile_mcp_players.py \
	  tests/league/test_registering_again.py tests/league/test_token_lifetime.py tests/store/test_damage.py \
	  tests/cli/test_escape_codes.py tests/files/test_repositories.py tests/serving/test_sessions.py tests/league/test_liveness.py \
	  tests/http_wire/test_slow_lane.py $(ARGS)

deployment: $(READY_DEPLOYMENT)  ## back up, restore, upgrade; install without an index; serve behind a proxy; lint deploy/
	@$(PY) -m pytest -q tests/deployment $(ARGS)

strangers: $(READY_DEV)  ## play with third-party agents, tolerantly and strictly
	@$(PY) -m pytest -n 2 -q --ignore-glob='*/test_mcp_*' tests/strangers $(ARGS)

strangers-mcp: $(READY_DEV)  ## play with agents made with other MCP libraries and frameworks (fetched once)
	@$(PY) -m pytest -q tests/strangers/test_mcp_league.py tests/strangers/test_mcp_models.py $(ARGS)

bars: $(READY_BARS)  ## hold the lab to Axelrod's library, and play the games of OpenSpiel (both fetched once)
	@$(PY) -m pytest -q -W ignore tests/bars $(ARGS)

strategy-table: $(READY)  ## measure every strategy in every game, and write the table of docs/writing-a-strategy.md
	@$(PY) scripts/strategy_table.py

check: fmt-check lint type layers test docs-check  ## everything that must hold before a commit

fmt: $(READY_DEV)  ## format the code
	@$(PY) -m ruff check --quiet --select I --fix . && $(PY) -m ruff format .

fmt-check: $(READY_DEV)  ## fail if the code is not formatted
	@$(PY) -m ruff format --check .

lint: $(READY_DEV)  ## look for mistakes and bad style
	@$(PY) -m ruff check .

type: $(READY_DEV)  ## check the types
	@MYPYPATH=src:tests:scripts:examples/nim $(PY) -m mypy --explicit-package-bases $(SOURCES)

layers: $(READY_DEV)  ## check that imports point down
	@$(PY) -c 'from importlinter.cli import lint_imports_command; lint_imports_command()'

golden: $(READY_DEV)  ## write the golden files that the code says now
	@$(PY) -m pytest -n 2 -q --ignore=tests/strangers --ignore=tests/browser --ignore=tests/bars --ignore=tests/deployment --ignore=tests/distributed --update-golden $(ARGS)

docs: $(READY)  ## write the generated parts of the documentation
	@$(PY) scripts/document_tables.py && $(PY) scripts/cli_page.py

docs-check: $(READY)  ## fail if a generated part is not current
	@$(PY) scripts/document_tables.py --check && $(PY) scripts/cli_page.py --check

bench: $(READY_BENCH)  ## measure how fast a league is, beside its references (ARGS="--rounds 9 --json")
	@$(BENCH) $(ARGS)

bench-sweep: $(READY_BENCH)  ## measure how the cost of a match grows (ARGS="players startup" for some)
	@$(BENCH).sweep $(ARGS)

bench-calls: $(READY_BENCH)  ## count function calls and instructions per match: the same on every machine
	@$(BENCH).twin $(ARGS)

bench-gate: $(READY_BENCH)  ## fail if a league is 15 % slower than recorded
	@$(BENCH).gate $(ARGS)

bench-record: $(READY_BENCH)  ## record how fast a league is now, for the gate
	@$(BENCH).gate --record $(ARGS)

bench-page: $(READY_BENCH)  ## measure everything, and write the tables of docs/performance.md
	@mkdir -p .cache
	@$(BENCH) --json $(ARGS) > .cache/bench.json && $(BENCH).sweep --json > .cache/sweep.json
	@$(BENCH).twin --json > .cache/twin.json
	@$(BENCH).page .cache/bench.json .cache/sweep.json .cache/twin.json

capacity-page: $(READY_DEV)  ## simulate the leagues of docs/capacity.md again, and write its tables
	@$(PY) scripts/capacity_page.py

bench-costs: $(READY_BENCH)  ## measure what `league simulate` takes for granted
	@$(BENCH).costs $(ARGS)

bench-spectators: $(READY_BENCH)  ## measure what 200 spectators cost a league of 100 players (ARGS="--runs 5")
	@$(BENCH).spectators $(ARGS)

bench-leagues: $(READY_BENCH)  ## measure what 100 leagues at once cost beside one (ARGS="--leagues 20 --json")
	@$(BENCH).leagues $(ARGS)

bench-crowd: $(READY_BENCH)  ## measure pairings and standings of 10,000 players (ARGS="--players 100000")
	@$(BENCH).crowd $(ARGS)

bench-hostile: $(READY_BENCH)  ## measure what 10 hostile players of 100 cost the others, in whole leagues, for half an hour (ARGS="--runs 1")
	@$(BENCH).hostile $(ARGS)

conformance: $(READY_DEV) $(READY_NODE)  ## run the official MCP suite and MCP clients of others against us
	@PYTHONPATH=tests $(PY) tests/conformance/run.py $(NODE)

screenshots: $(READY_DEV)  ## take pictures of every page, and those of the README (chromium)
	@$(PY) scripts/screenshots.py

wheel: $(READY)  ## build the package into dist/, to install it elsewhere
	@$(UV) build --quiet --wheel --no-build-isolation --python $(PY) --out-dir dist

bundle: wheel  ## put the package and all that it needs into dist/bundle, for machines without an index
	@$(PY) scripts/bundle.py $(ARGS)

lock: $(READY)  ## pin the dependencies again (UPGRADE=--upgrade for newer ones)
	@printf 'uv\nhatchling\neditables\n' | $(COMPILE) pyproject.toml - -o requirements.txt
	@$(COMPILE) --group dev -c requirements.txt -o requirements-dev.txt
	@$(COMPILE) --group bench -c requirements.txt -c requirements-dev.txt -o requirements-bench.txt
	@$(COMPILE) --group bars -c requirements-dev.txt -o requirements-bars.txt
	@$(COMPILE) --group deployment -c requirements-dev.txt -o requirements-deployment.txt
	@$(COMPILE) pyproject.toml $(BUNDLED:%=--extra %) -c requirements-dev.txt -o requirements-bundle.txt

clean:  ## remove everything that can be made again
	@rm -rf $(VENV) $(NODE) .cache dist .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find src tests scripts bench -name __pycache__ -prune -exec rm -rf {} +

# requirements.txt also pins uv, and the build backend, so that nothing else is ever fetched.
$(READY): requirements.txt pyproject.toml $(MOVED)
	@command -v "$(PYTHON)" >/dev/null || { \
	  echo "There is no $(PYTHON) here. Install Python 3.11 or newer, or say: make PYTHON=..."; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "This needs Python 3.11 or newer, and $(PYTHON) is $$("$(PYTHON)" -V 2>&1)."; \
	  echo "hint: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "This Python cannot make virtual environments."; \
	  echo "hint: sudo apt install python3-venv"; exit 1; }
	@echo "Setting up .venv (once) ..."
	@"$(PYTHON)" -m venv $(VENV)
	@awk '/^[a-z]/ { wanted = /^uv==/ } wanted' requirements.txt > $(VENV)/uv.txt
	@$(PY) -m pip install -qq --require-hashes -r $(VENV)/uv.txt
	@$(UV) pip install --quiet --python $(PY) --require-hashes -r requirements.txt
	@$(UV) pip install --quiet --python $(PY) --no-deps --no-build-isolation --editable .
	@pwd -P > $(READY)

$(READY_DEV): $(READY) requirements-dev.txt
	@$(UV) pip install --quiet --python $(PY) --require-hashes -r requirements-dev.txt
	@touch $(READY_DEV)

$(READY_BENCH): $(READY_DEV) requirements-bench.txt
	@$(UV) pip install --quiet --python $(PY) --require-hashes -r requirements-bench.txt
	@touch $(READY_BENCH)

$(READY_BARS): $(READY_DEV) requirements-bars.txt
	@$(UV) pip install --quiet --python $(PY) --require-hashes -r requirements-bars.txt
	@touch $(READY_BARS)

$(READY_DEPLOYMENT): $(READY_DEV) requirements-deployment.txt
	@$(UV) pip install --quiet --python $(PY) --require-hashes -r requirements-deployment.txt
	@touch $(READY_DEPLOYMENT)

# The suite wants a newer Node than most machines have, so one comes with it.
$(READY_NODE): Makefile
	@command -v npm >/dev/null || { \
	  echo "There is no npm here, which brings the conformance suite of MCP."; \
	  echo "hint: sudo apt install npm"; exit 1; }
	@mkdir -p $(NODE) && echo '{"private": true}' > $(NODE)/package.json
	@npm install --prefix $(NODE) --silent --no-audit --no-fund --no-package-lock $(NODE_TOOLS)
	@touch $(READY_NODE)
