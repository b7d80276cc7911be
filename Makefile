# The commands of this repository. Each one sets up what it needs: `make demo` and `make test` work on a fresh clone.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

PYTHON := .venv/bin/python
PACKAGES := .venv/packages
NATIVE := python/ssdlab/_engine.abi3.so
RUST := Cargo.toml Cargo.lock rust-toolchain.toml $(shell find crates/*/src crates/*/Cargo.toml -type f)

# rustup looks for its toolchains in the home folder. Where that is another one, they are still beside the program.
ifeq ($(shell cargo --version 2>/dev/null),)
export RUSTUP_HOME := $(realpath $(dir $(shell command -v cargo))../../.rustup)
endif

# One interpreter for every build, so that cargo does not compile the shell again for each caller.
export PYO3_PYTHON := $(CURDIR)/$(PYTHON)
unexport VIRTUAL_ENV

# Tests start hundreds of interpreters; without stored bytecode each of them compiles every module again, for seconds.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup module demo quick test test-programs programs check lints types format docs man site wheel gallery bench blind fuzz lock clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | sed 's/^/  make /' | expand -t 16

setup: $(NATIVE) ## the virtual environment and the native module, nothing else

$(PACKAGES): pyproject.toml uv.lock tools/bootstrap
	tools/bootstrap packages
	@touch $@

$(NATIVE): $(PACKAGES) $(RUST)
	tools/bootstrap native
	@touch $@

module: $(PACKAGES) ## the native module again after a change of Rust, quickly; slower, until `make setup` builds the usual one
	cargo build --locked --profile quick -p ssdlab-python
	cp target/quick/lib_engine.so $(NATIVE).new
	mv $(NATIVE).new $(NATIVE)
	@touch -t 200001010000 $(NATIVE) # older than the sources, so that `make setup` builds it anew

demo: setup ## two comparisons of spare areas; says where the reports are
	@echo
	@echo "JESD219's enterprise workload on 128 GiB of flash, sold as 120 GB and as 128 GB"
	.venv/bin/ssdlab compare jobs/jesd219-enterprise.fio --drive pny-120gb --drive competitor-128gb \
	  --scale 1/32 --output out/demo/jesd219
	@echo
	@echo "Uniform random 4 KiB writes over three spare areas, with the closed form beside them"
	.venv/bin/ssdlab compare jobs/randwrite.fio --drive generic-tlc-480 --op 7%,14%,28% \
	  --scale 1/64 --output out/demo/randwrite
	@printf '\nOpen these in a browser:\n  %s\n  %s\n' \
	  "$(CURDIR)/out/demo/jesd219/report.html" "$(CURDIR)/out/demo/randwrite/report.html"

# Folders of tests that run without devices, browsers and servers, and whose simulations are short.
QUICK := tests/simulator/drives tests/presentation/report tests/simulator/results tests/simulator/workloads/jobs
# Each feature, policy, cache of the map and way in steps once.
QUICK_GOLDEN := 'alone/*' 'policies/*' 'maps/*' 'steps/*'
quick: setup ## between two changes, in minutes: formatting, types, unit tests, 319 outcomes, tests without devices or servers
	cargo fmt --all --check
	$(PYTHON) -m ruff format --check
	$(PYTHON) -m ruff check
	$(PYTHON) -m mypy
	cargo test --locked --workspace --exclude ssdlab-python --lib
	tools/golden check $(QUICK_GOLDEN)
	$(PYTHON) -m pytest -n auto -m "not fuse and not loop and not surroundings" $(QUICK)

test: ## all tests of the engine and of the Python side
	$(MAKE) --no-print-directory --jobs=3 setup test-programs programs
	cargo test --locked --workspace --exclude ssdlab-python
	cargo test --locked --workspace --exclude ssdlab-python --bench '*'
	@mkdir -p target
	$(PYTHON) -m pytest -n $(WORKERS) --durations=40 --ignore=tests/tidy

# Beside the native module, whose engine is one unit and keeps one processor only.
test-programs:
	cargo test --locked --workspace --exclude ssdlab-python --all-targets --no-run

# Beside them, too, since it waits for downloads; after the packages, which can need apt themselves.
programs: | $(PACKAGES)
	tools/bootstrap programs

# Four on two processors: many tests wait for devices, browsers and servers.
WORKERS := $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) * 2)))

check: setup ## formatting, lints, types, lock files, the repository's own text; changes nothing
	cargo fmt --all --check
	$(PYTHON) -m ruff format --check
	$(PYTHON) -m ruff check
	$(MAKE) --no-print-directory --jobs=2 lints types
	tools/check_page
	tools/bootstrap lock --check
	$(PYTHON) -m pytest -n auto tests/tidy

lints:
	cargo clippy --locked --workspace --all-targets -- -D warnings

types:
	$(PYTHON) -m mypy
	$(PYTHON) -m basedpyright
	$(PYTHON) -m mypy.stubtest ssdlab._engine

format: setup ## puts all sources into their form
	cargo fmt --all
	$(PYTHON) -m ruff check --fix
	$(PYTHON) -m ruff format

docs: setup ## writes the generated pages and types, and the package's copies of the job files
	cp jobs/*.fio python/ssdlab/live/jobs/
	$(PYTHON) tools/engine_types.py python/ssdlab/simulator/engine/types.py
	$(PYTHON) tools/engine_types.py python/ssdlab/simulator/engine/plain.py
	$(PYTHON) -m ruff format --quiet python/ssdlab/simulator/engine/types.py python/ssdlab/simulator/engine/plain.py
	$(PYTHON) tools/jobs_page.py docs/simulate/jobs.md
	$(PYTHON) tools/drive_file_page.py docs/simulate/drive-file.md
	$(PYTHON) tools/policies_page.py docs/simulate/policies.md
	$(PYTHON) tools/traces_page.py docs/simulate/traces.md
	$(PYTHON) tools/sources_page.py docs/theory/sources.md

man: setup ## man pages from the help, into out/man
	$(PYTHON) tools/man_pages.py out/man

site: setup ## the documentation as static pages with a search, and the live page in the browser, into out/site
	tools/bootstrap group site
	$(PYTHON) tools/website.py
	$(PYTHON) tools/try_site.py

wheel: setup ## wheels for x86-64 and aarch64 and the source distribution, into out/dist; installs and tries one
	tools/bootstrap group wheel
	tools/wheels
	tools/try_wheel out/dist/ssdlab-*$$(uname -m).whl

gallery: setup ## the studies' pages, a tour as an animation, pictures of the live page, from runs; takes a while
	tools/bootstrap programs
	$(PYTHON) tools/gallery.py out/gallery --readme docs/pictures

bench: setup ## speed, as JSON, a line a benchmark
	cargo bench --locked --workspace --exclude ssdlab-python --bench '*'
	$(PYTHON) benches/start_up.py
	$(PYTHON) benches/front_ends.py
	$(PYTHON) benches/cluster_overhead.py 200 20
	$(PYTHON) benches/advice.py

BLIND_DRIVES ?= 100
BLIND_SEED ?= 501
blind: setup ## identifies random simulated drives from outside, BLIND_DRIVES=100, BLIND_SEED=501; prints how far values are off
	nice $(PYTHON) tools/blind.py $(BLIND_DRIVES) --seed $(BLIND_SEED) --policies

FUZZ_SECONDS ?= 600
fuzz: setup ## fuzzes trace readers, parsers, NBD and NVMe connections and the engine, FUZZ_SECONDS=600 each; see fuzz/README.md
	tools/bootstrap group fuzz
	$(PYTHON) tools/fuzz.py $(FUZZ_SECONDS)

lock: $(PACKAGES) ## resolves the lock files again, after a change of the dependencies
	cargo update --workspace
	tools/bootstrap lock

clean: ## removes everything that the other commands made
	rm -rf tools/page_types/node_modules target .venv .uv out .pytest_cache .ruff_cache .mypy_cache .hypothesis $(NATIVE)
	find python tests tools -name __pycache__ -type d -prune -exec rm -r {} +
