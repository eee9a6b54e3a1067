# Two commands: `make run` and `make test`. Everything they need beyond Rust, Python, gcc and make is set up here.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEV := tools/shoal-dev
# How the native module is built; CI takes `ci`, with the features of the Rust tests, so that both share their crates.
PROFILE ?= release
TESTING := shoal-aqm/testing,shoal-cc/testing,shoal-tcp/testing
BUILD := $(if $(filter release,$(PROFILE)),--release,--profile $(PROFILE) --features $(TESTING))
PYTEST_WORKERS ?= 2
# A worker that a test has ended, as the limit of pyproject.toml does, is not replaced: the next would take that test again.
PYTEST := $(BIN)/python -m pytest -q -n $(PYTEST_WORKERS) --dist loadfile --max-worker-restart 0
# A wheel is laid out for the shipped scenarios, which makes it about a tenth faster, if Rust has what that takes:
# rustup component add llvm-tools.
PGO = $(if $(wildcard $(shell rustc --print sysroot)/lib/rustlib/*/bin/llvm-profdata),--pgo)
# What ruff looks at; mypy has its own list in pyproject.toml.
PYTHON_ROOMS := python studies tools tests/python tests/linux tests/docs tests/web tests/wheel
PAGE := crates/front/web/page
# Quantiles for the confidence intervals of the page, from where all intervals have them.
T95 = from shoal.stats import student_t_quantile as q; print([round(q(0.975, n), 6) for n in range(1, 10)])

.PHONY: help setup run animation test test-rust test-python test-modules test-linux test-stacks test-web test-page test-docs test-wheel \
	test-all miri check generate fmt page site wheel bench bench-instructions record recheck mutants fuzz hashes clean

help: ## Show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# What the environment has for running; for searches, tests, the site and wheels on top of that.
$(VENV)/.tune $(VENV)/.docs $(VENV)/.wheel: $(VENV)/.run
$(VENV)/.test: $(VENV)/.tune
$(VENV)/.%: requirements/%.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --requirement $<
	@touch $@

$(PAGE)/node_modules/.done: $(PAGE)/package-lock.json
	@cd $(PAGE) && npm ci --ignore-scripts --loglevel=error
	@touch $@

setup: $(VENV)/.run ## Make the Python environment and the native module; cargo rebuilds what has changed
	@env PIP_QUIET=2 $(BIN)/maturin develop --quiet $(BUILD)

run: setup ## Run one Reno and one DCTCP flow through three bottlenecks: table and report
	@$(BIN)/shoal reproduce kuehlewind-2014/coexistence --out results/coexistence --force

test: test-rust test-python test-modules ## Run every test that needs no kernel build

test-rust: $(VENV)/.test ## Test the crates, and the examples of their documentation
	@tar -xf fuzz/corpus.tar -C fuzz
	PATH="$(CURDIR)/$(BIN):$$PATH" cargo nextest run --workspace --exclude shoal-native --cargo-profile ci
	cargo test --doc --workspace --exclude shoal-native --profile ci --quiet

test-python: setup $(VENV)/.test ## Test the package; what needs the kernel is left out, and counted
	$(PYTEST) tests/python
	$(BIN)/python -m pytest -q -rs tests/linux

test-modules: ## Test the laws of the kernel modules in user space on vectors of the Rust models
	@$(MAKE) --no-print-directory -C linux/modules/tests check mutations

test-linux: setup $(VENV)/.test ## Run the tests on the real kernel, which is built once (about 10 minutes)
	@$(BIN)/shoal linux build
	$(BIN)/python -m pytest -q -rs tests/linux

# Miri interprets the code: tests of single calls, and few random ones. CONTRIBUTING.md says why this is not in CI.
miri: ## Run the calls from C, and the link behind them, in Miri, which sees undefined behaviour; needs a nightly toolchain
	@cargo +nightly miri --version >/dev/null 2>&1 || { echo "Miri is missing" >&2; \
		echo "hint: rustup toolchain install nightly --profile minimal --component miri --component rust-src" >&2; exit 3; }
	MIRIFLAGS=-Zmiri-disable-isolation cargo +nightly miri test --quiet --locked --target-dir target/miri --lib \
		-p shoal-c -p shoal-bottleneck

test-web: setup $(VENV)/.test ## Compare results in WebAssembly with native ones, byte by byte (needs node)
	$(BIN)/python -m pytest -q -s tests/web

test-stacks: ## Test other people's stacks, and one with our DCTCP, over a link alone
	@cargo test --quiet --locked --manifest-path tests/stacks/Cargo.toml --target-dir target/stacks

test-page: page ## Test the page in a browser (needs Chromium: apt-get install chromium)
	@cd $(PAGE) && npm run --silent test

test-docs: site $(VENV)/.test ## Do what the pages say: commands, blocks, the README's table, the walk-throughs
	$(PYTEST) --dist load tests/docs
	@$(BIN)/shoal reproduce kuehlewind-2014/coexistence --out results/coexistence --force > target/run.txt
	$(DEV) check readme target/run.txt
	$(DEV) check skeletons

test-wheel: wheel $(VENV)/.test ## Try the wheel in clean environments, on each supported Python that the machine has
	$(BIN)/python -m pytest -q -s -rs tests/wheel

test-all: check test test-stacks test-linux test-web test-page test-docs test-wheel ## Prove all, on stock kernels too
	@$(BIN)/python linux/modules/tests/modules_qemu.py $(QEMU_OPTIONS)
	@$(BIN)/python linux/bpf/tests/stock_kernels.py
	$(DEV) recheck --cells 0 --cpu-s 3600

check: setup $(VENV)/.test ## Check formatting, lints, arrows, citations and pages, as CI does before the tests
	cargo fmt --all --check
	cargo fmt --check --manifest-path linux/bpf/loader/Cargo.toml
	cargo clippy --workspace --all-targets --quiet --profile ci -- -D warnings
	cargo build --quiet --locked --manifest-path tests/no_std/Cargo.toml --target-dir target/no_std
	$(DEV) check
	$(BIN)/ruff format --check $(PYTHON_ROOMS)
	$(BIN)/ruff check $(PYTHON_ROOMS)
	$(BIN)/mypy python/shoal
	$(DEV) generate --check

generate: setup ## Write what is generated: reference pages, types, pages of papers, sums of the laws' vectors
	$(DEV) generate
	@UPDATE_EXPECT=1 $(MAKE) --no-print-directory -C linux/modules/tests vectors

fmt: $(VENV)/.test ## Format everything
	cargo fmt --all
	cargo fmt --manifest-path linux/bpf/loader/Cargo.toml
	$(BIN)/ruff format $(PYTHON_ROOMS)

page: setup $(PAGE)/node_modules/.done ## Build the page with the simulator for `shoal page` (needs node and npm)
	@$(DEV) web target/web/module
	@cd $(PAGE) && npm run --silent check
	@node $(PAGE)/build.mjs target/web/module scenarios papers "$$($(BIN)/python -c '$(T95)')" \
		python/shoal/_data/page/shoal.html

animation: page ## Take the moving picture of the README anew (needs Chromium)
	@$(DEV) animation

site: setup $(VENV)/.docs ## Build the documentation site in target/site; with the simulator in it after `make page`
	@$(DEV) site target/site

wheel: page $(VENV)/.wheel ## Build a wheel for all Linux distributions since 2014 in target/wheels, all but the kernel
	@rm -rf target/wheels
	@git rev-parse HEAD > python/shoal/_data/commit
	@echo "a wheel $(if $(PGO),with a profile: three builds,without a profile (see PGO in the Makefile): one build)"
	@CARGO_ZIGBUILD_PYTHON_PATH="$(CURDIR)/tools/zig_linker.py" PATH="$(CURDIR)/$(BIN):$$PATH" \
		$(BIN)/maturin build --release --zig --compatibility manylinux_2_17 $(PGO) \
		--out target/wheels; built=$$?; rm python/shoal/_data/commit; exit $$built

bench: ## Print the benchmark table; only ratios mean anything; BENCH='--race PROGRAM' races it
	@$(DEV) bench $(BENCH)

hashes: ## Print a hash of the results of each shipped scenario: of two builds with the same results they are the same
	@cargo run --quiet --release -p shoal-benches -- --hashes

bench-instructions: ## Count instructions a packet by Callgrind; fails above what was recorded; BENCH=--keep records
	@cargo build --quiet --workspace --exclude shoal-native --bin shoal-benches --profile $(PROFILE)
	@target/$(PROFILE)/shoal-benches --instructions $(BENCH)

record: setup $(VENV)/.test ## Measure a study and write its page in docs/records: NAME=...; without it they are listed
	@$(DEV) record $(NAME)

recheck: setup $(VENV)/.test ## Make a sample of recorded rows again and compare them, another sample each day
	@$(DEV) recheck --cells 8 --cpu-s 30

mutants: setup $(VENV)/.test ## Change the source in a sample of places, and say which changes no test sees
	@$(DEV) mutants

fuzz: ## Run every fuzz target for FUZZ_SECONDS (default 60); needs cargo-fuzz and a nightly toolchain
	tools/fuzz.sh $${FUZZ_SECONDS:-60}

clean: ## Remove what the build made; results stay
	cargo clean
	rm -rf $(VENV)
