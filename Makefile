# Two commands: `make run` and `make test`. Everything they need beyond Rust, Python, gcc and make is set up here.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 0

.PHONY: help setup run test test-rust test-python test-modules test-modules-qemu test-linux linux-kernel bench-linux bench-linux-record linux-settings-record linux-hosts-record vectors check docs fmt bench bench-record fuzz clean

help: ## This list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: requirements/run.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --requirement requirements/run.txt
	@touch $@

$(VENV)/.test: requirements/test.txt $(VENV)/.run
	$(BIN)/python -m pip install --quiet --requirement requirements/test.txt
	@touch $@

setup: $(VENV)/.run ## Python environment and the native module (cargo decides what to rebuild)
	@env PIP_QUIET=2 $(BIN)/maturin develop --release --quiet

run: setup ## One Reno and one DCTCP flow through three bottlenecks: table and report
	@$(BIN)/shoal reproduce kuehlewind-2014/coexistence --out results/coexistence --force

test: test-rust test-python test-modules ## Every test that needs no kernel build

test-rust:
	cargo test --workspace --exclude shoal-native --quiet

test-python: setup $(VENV)/.test
	$(BIN)/python -m pytest -q tests/python
	$(BIN)/python -m pytest -q -rs tests/linux

test-modules: ## The kernel modules' laws, in user space, on the vectors of the Rust models
	@$(MAKE) --no-print-directory -C linux/modules/tests check mutations

test-modules-qemu: ## The kernel modules on a distribution's kernel in an emulator (Debian; fetches 110 MB once; about 7 minutes)
	@$(PYTHON) linux/modules/tests/modules_qemu.py $(QEMU_OPTIONS)

vectors: ## Write tests/vectors/golden anew: what is kept of the vectors that the Rust models make (tests compare it)
	@UPDATE_EXPECT=1 $(MAKE) --no-print-directory -C linux/modules/tests vectors

linux-kernel: setup ## The kernel of `shoal run --on linux`, built once (about 10 minutes)
	@$(BIN)/shoal linux build

test-linux: linux-kernel $(VENV)/.test ## Tests on the real kernel
	$(BIN)/python -m pytest -q -rs tests/linux

bench-linux: linux-kernel ## CPU seconds of the real kernel next to those of the simulator
	@$(BIN)/python tools/linux_speed.py

bench-linux-record: linux-kernel ## The same, kept in docs/linux-speed.md with date, version and processor
	@{ printf '# Recorded speed of the real kernel\n\n%s, shoal %s, %s. Written by `make bench-linux-record`; see [linux](linux.md).\n\n' \
		"$$(date +%F)" "$$(git describe --always)" "$$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)"; \
		$(BIN)/python tools/linux_speed.py; } > docs/linux-speed.md.new
	@mv docs/linux-speed.md.new docs/linux-speed.md

linux-settings-record: linux-kernel ## What the guest's settings do that stock hosts do not have: docs/linux-settings.md
	@{ printf '# Settings of the guest\n\n%s, shoal %s. Written by `make linux-settings-record`; see [linux](linux.md).\n\n' \
		"$$(date +%F)" "$$(git describe --always)"; \
		$(BIN)/python tools/linux_settings.py; } > docs/linux-settings.md.new
	@mv docs/linux-settings.md.new docs/linux-settings.md

linux-hosts-record: linux-kernel ## What hosts that hand over several segments at once change: docs/linux-hosts.md
	@{ printf '# Hosts that hand over several segments at once\n\n%s, shoal %s. Written by `make linux-hosts-record`; see [linux](linux.md#hosts).\n\n' \
		"$$(date +%F)" "$$(git describe --always)"; \
		$(BIN)/python tools/linux_hosts.py; } > docs/linux-hosts.md.new
	@mv docs/linux-hosts.md.new docs/linux-hosts.md

check: setup $(VENV)/.test ## Formatting, lints, arrows: what CI demands before the tests
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	cargo build --quiet --locked --manifest-path tests/no_std/Cargo.toml --target-dir target/no_std
	$(PYTHON) tools/check_tree.py
	$(PYTHON) tools/check_arrows.py
	$(PYTHON) tools/check_citations.py
	$(BIN)/ruff format --check python tests/python tests/linux tools
	$(BIN)/ruff check python tests/python tests/linux tools
	$(BIN)/mypy python/shoal
	$(BIN)/python tools/generate_docs.py --check

docs: setup ## Write the generated reference pages
	$(BIN)/python tools/generate_docs.py

fmt: $(VENV)/.test ## Format everything
	cargo fmt --all
	$(BIN)/ruff format python tests/python tests/linux tools

bench: ## The benchmark table (CPU seconds; ratios are what counts)
	cargo run --release --quiet --package shoal-benches

bench-record: ## The same, best of 15 runs, kept in docs/benchmark.md with date, version and processor
	@{ printf '# Recorded benchmark\n\n%s, shoal %s, %s. Best of 15 runs of each case. Written by `make bench-record`; see [performance](performance.md).\n\n' \
		"$$(date +%F)" "$$(git describe --always)" "$$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)"; \
		cargo run --release --quiet --package shoal-benches -- --repeat 15; } > docs/benchmark.md.new
	@mv docs/benchmark.md.new docs/benchmark.md

fuzz: ## Every fuzz target for FUZZ_SECONDS each (default 60); needs cargo-fuzz and a nightly toolchain
	tools/fuzz.sh $${FUZZ_SECONDS:-60}

clean: ## Remove what the build made; results stay
	cargo clean
	rm -rf $(VENV)
