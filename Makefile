# Two commands: `make run` and `make test`. Everything they need beyond Rust, Python, gcc and make is set up here.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 0
# Heading of a recorded table: date, version and processor.
MEASURED_ON = "$$(date +%F), shoal $$(git describe --always), $$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)."

.PHONY: help setup run test test-rust test-python test-modules test-modules-qemu web-module same-experiment-record page page-picture test-page site test-docs wheel test-wheel test-web test-linux linux-kernel bench-linux bench-linux-record linux-settings-record linux-hosts-record rate-step-record threshold-hosts-record echo-hosts-record vectors check check-skeletons docs fmt bench bench-race bench-record bench-episodes bench-curves-record bench-threads-record fabric-fct-record known-configurations-record advised-ports-record tuned-optima-record bench-sweeps-record fuzz clean

help: ## Show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: requirements/run.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --requirement requirements/run.txt
	@touch $@

$(VENV)/.tune: requirements/tune.txt $(VENV)/.run
	$(BIN)/python -m pip install --quiet --requirement requirements/tune.txt
	@touch $@

$(VENV)/.test: requirements/test.txt $(VENV)/.tune
	$(BIN)/python -m pip install --quiet --requirement requirements/test.txt
	@touch $@

setup: $(VENV)/.run ## Make the Python environment and the native module; cargo rebuilds what has changed
	@env PIP_QUIET=2 $(BIN)/maturin develop --release --quiet

run: setup ## Run one Reno and one DCTCP flow through three bottlenecks: table and report
	@$(BIN)/shoal reproduce kuehlewind-2014/coexistence --out results/coexistence --force

test: test-rust test-python test-modules ## Run every test that needs no kernel build

test-rust:
	cargo test --workspace --exclude shoal-native --quiet

test-python: setup $(VENV)/.test
	$(BIN)/python -m pytest -q tests/python
	$(BIN)/python -m pytest -q -rs tests/linux

test-modules: ## Test the laws of the kernel modules in user space on vectors of the Rust models
	@$(MAKE) --no-print-directory -C linux/modules/tests check mutations

test-modules-qemu: ## Test the kernel modules on a distribution's kernel in an emulator (Debian; fetches 110 MB once; about 7 minutes)
	@$(PYTHON) linux/modules/tests/modules_qemu.py $(QEMU_OPTIONS)

vectors: ## Renew tests/vectors/golden: the checksums of the vectors that the Rust models make
	@UPDATE_EXPECT=1 $(MAKE) --no-print-directory -C linux/modules/tests vectors

linux-kernel: setup ## Build the kernel of `shoal run --on linux` once (about 10 minutes)
	@$(BIN)/shoal linux build

web-module: setup ## Build the simulator for browsers in target/web/module (Debian, or a Rust with wasm32-unknown-unknown; about 5 minutes)
	@$(BIN)/python tools/web_module.py target/web/module

PAGE := crates/front/web/page
# Quantiles for the confidence intervals of the page, from where all intervals have them.
T95 = from shoal.stats import student_t_quantile as q; print([round(q(0.975, n), 6) for n in range(1, 10)])

$(PAGE)/node_modules/.done: $(PAGE)/package-lock.json
	@cd $(PAGE) && npm ci --ignore-scripts --loglevel=error
	@touch $@

$(VENV)/.docs: requirements/docs.txt $(VENV)/.run
	$(BIN)/python -m pip install --quiet --requirement requirements/docs.txt
	@touch $@

site: setup $(VENV)/.docs ## Build the documentation site in target/site; with the simulator in it after `make page`
	@$(BIN)/python tools/site.py target/site

test-docs: site $(VENV)/.test ## Run every command and block of the pages, and check what the built site loads
	$(BIN)/python -m pytest -q tests/docs

page: web-module $(PAGE)/node_modules/.done ## Build the page with the simulator, which `shoal page` opens (needs node and npm)
	@cd $(PAGE) && npm run --silent check
	@node $(PAGE)/build.mjs target/web/module scenarios papers "$$($(BIN)/python -c '$(T95)')" python/shoal/_data/page/shoal.html

page-picture: page ## Take the picture of the page in the README anew
	@node $(PAGE)/test/picture.mjs docs/img/page.png

test-page: page ## Test the page in a browser (needs Chromium: apt-get install chromium)
	@cd $(PAGE) && npm run --silent test

$(VENV)/.wheel: requirements/wheel.txt $(VENV)/.run
	$(BIN)/python -m pip install --quiet --requirement requirements/wheel.txt
	@touch $@

wheel: page $(VENV)/.wheel ## Build a wheel for all Linux distributions since 2014 in target/wheels: everything but the kernel
	@rm -rf target/wheels
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/maturin build --release --zig --compatibility manylinux_2_17 --out target/wheels

test-wheel: wheel $(VENV)/.test ## Try the wheel in clean environments, on each supported Python that the machine has
	$(BIN)/python -m pytest -q -s -rs tests/wheel

test-web: setup $(VENV)/.test ## Compare results in WebAssembly with native ones, byte by byte (needs node)
	$(BIN)/python -m pytest -q -s tests/web

test-linux: linux-kernel $(VENV)/.test ## Run the tests on the real kernel
	$(BIN)/python -m pytest -q -rs tests/linux

bench-linux: linux-kernel ## Print CPU seconds of the real kernel beside those of the simulator
	@$(BIN)/python tools/linux_speed.py

bench-linux-record: linux-kernel ## Record the table of bench-linux in docs/linux-speed.md with date, version and processor
	@{ printf '# Recorded speed of the real kernel\n\n%s Written by `make bench-linux-record`; see [linux](linux.md).\n\n' \
		$(MEASURED_ON); \
		$(BIN)/python tools/linux_speed.py; } > docs/linux-speed.md.new
	@mv docs/linux-speed.md.new docs/linux-speed.md

linux-settings-record: linux-kernel ## Measure the effect of settings of the guest that stock hosts lack: docs/linux-settings.md
	@{ printf '# Settings of the guest\n\n%s, shoal %s. Written by `make linux-settings-record`; see [linux](linux.md).\n\n' \
		"$$(date +%F)" "$$(git describe --always)"; \
		$(BIN)/python tools/linux_settings.py; } > docs/linux-settings.md.new
	@mv docs/linux-settings.md.new docs/linux-settings.md

linux-hosts-record: linux-kernel ## Measure the effect of hosts that send segments of several packets: docs/linux-hosts.md
	@{ printf '# Hosts that hand over several segments at once\n\n%s, shoal %s. Written by `make linux-hosts-record`; see [linux](linux.md#hosts).\n\n' \
		"$$(date +%F)" "$$(git describe --always)"; \
		$(BIN)/python tools/linux_hosts.py; } > docs/linux-hosts.md.new
	@mv docs/linux-hosts.md.new docs/linux-hosts.md

rate-step-record: linux-kernel ## Measure five queues below a rate step on both planes: docs/rate-step.md and its figure
	@{ printf '# Five queues below a rate step\n\n%s, shoal %s. Written by `make rate-step-record`; [links that change](moving-links.md) says what\nthe numbers mean and what follows from them.\n\n' \
		"$$(date +%F)" "$$(git describe --always)"; \
		$(BIN)/python tools/rate_step.py; \
		printf '![Queueing delay of CUBIC and DCTCP over time below five queues, on the simulator and on Linux](img/rate-step.png)\n'; } > docs/rate-step.md.new
	@mv docs/rate-step.md.new docs/rate-step.md

threshold-hosts-record: linux-kernel ## Search the smallest threshold of DCTCP with real hosts: docs/threshold-hosts.md and its figure
	@{ printf '# The smallest threshold with real hosts\n\n%s, shoal %s. Written by `make threshold-hosts-record`; [real hosts](real-hosts.md) says how, what\nthe numbers mean and what follows from them. K and C x RTT are in packets; * marks cells in which a larger K than the first answer failed.\n\n' \
		"$$(date +%F)" "$$(git describe --always)"; \
		$(BIN)/python tools/threshold_hosts.py; \
		printf '![Smallest threshold over the round trip at five rates, with ideal, segmenting, coalescing and paced hosts](img/threshold-hosts.png)\n'; } > docs/threshold-hosts.md.new
	@mv docs/threshold-hosts.md.new docs/threshold-hosts.md

echo-hosts-record: linux-kernel ## Measure alpha and queue of DCTCP with receivers that wait: docs/echo-hosts.md and its figure
	@{ printf '# Alpha and queue when receivers wait\n\n%s, shoal %s. Written by `make echo-hosts-record`; [real hosts](real-hosts.md#when-the-echo-stops-being-accurate) says how, what\nthe numbers mean and what follows from them. Queues and K are in packets.\n\n' \
		"$$(date +%F)" "$$(git describe --always)"; \
		$(BIN)/python tools/echo_hosts.py; \
		printf '![Alpha over the marked fraction, queue and utilisation over the time to the interrupt, at three rates](img/echo-hosts.png)\n'; } > docs/echo-hosts.md.new
	@mv docs/echo-hosts.md.new docs/echo-hosts.md

same-experiment-record: setup ## Record the same experiment in ns-3 and shoal: docs/same-experiment.md (fetches 70 MB from PyPI)
	@$(PYTHON) -m venv target/ns3 && target/ns3/bin/pip install --quiet ns3==3.44.post0
	@{ printf '# The same experiment in ns-3 and shoal\n\n%s Written by `make same-experiment-record`.\n\n' $(MEASURED_ON); \
		$(BIN)/python tools/same_experiment.py target/ns3/bin/python; } > docs/same-experiment.md.new
	@mv docs/same-experiment.md.new docs/same-experiment.md

check: setup $(VENV)/.test ## Check formatting, lints, arrows, citations and pages, as CI does before the tests
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	cargo build --quiet --locked --manifest-path tests/no_std/Cargo.toml --target-dir target/no_std
	$(PYTHON) tools/check_tree.py
	$(PYTHON) tools/check_arrows.py
	$(PYTHON) tools/check_citations.py
	$(BIN)/ruff format --check python tests/python tests/linux tests/docs tests/web tests/wheel tools
	$(BIN)/ruff check python tests/python tests/linux tests/docs tests/web tests/wheel tools
	$(BIN)/mypy python/shoal
	$(BIN)/python tools/generate_docs.py --check

check-skeletons: setup ## Adds a queue, a controller and metrics to a copy of the source as their pages say, builds and runs them
	$(BIN)/python tools/check_skeletons.py

docs: setup ## Write the generated reference pages
	$(BIN)/python tools/generate_docs.py

fmt: $(VENV)/.test ## Format everything
	cargo fmt --all
	$(BIN)/ruff format python tests/python tests/linux tests/docs tests/web tests/wheel tools

bench: ## Print the benchmark table (CPU seconds; only ratios are meaningful)
	cargo run --release --quiet --package shoal-benches

bench-race: ## Race the benchmark against PEER=path: a driver of another simulator, or another build of shoal-benches
	@test -n "$(PEER)" || { echo 'error: bench-race needs PEER=path, a program that answers `PEER --one CASE`; see docs/performance.md' >&2; exit 2; }
	cargo run --release --quiet --package shoal-benches -- --race "$(PEER)"

bench-record: ## Record the benchmark table, best of 7 runs, in docs/benchmark.md with date, version and processor
	@{ printf '# Recorded benchmark\n\n%s Best of 7 runs of each case. Written by `make bench-record`; see [performance](performance.md).\n\n' \
		$(MEASURED_ON); \
		cargo run --release --quiet --package shoal-benches -- --repeat 7; } > docs/benchmark.md.new
	@mv docs/benchmark.md.new docs/benchmark.md

bench-episodes: setup ## Print what a run of a second costs through the Python API beside its packets (CPU milliseconds)
	@$(BIN)/python tools/episodes.py

bench-curves-record: setup ## Measure how cost, memory and set-up grow with flows and hosts: table and figure of docs/performance.md
	@$(BIN)/python tools/bench_curves.py --record $(MEASURED_ON)

bench-threads-record: setup ## Race fabrics on one and on two threads: table of docs/performance.md (about four minutes)
	@$(BIN)/python tools/bench_threads.py --record $(MEASURED_ON)

bench-sweeps-record: setup $(VENV)/.test ## Record what sweeps cost beside their runs: docs/sweeps-speed.md (about ten minutes on a quiet machine)
	@{ printf '# What sweeps cost\n\n%s Written by `make bench-sweeps-record`; see [sweeps](sweeps.md).\n\n' $(MEASURED_ON); \
		$(BIN)/python tools/bench_sweeps.py; } > docs/sweeps-speed.md.new
	@mv docs/sweeps-speed.md.new docs/sweeps-speed.md

fabric-fct-record: setup ## Compare completion times in a fabric with an independent calculation: docs/fabric-fct.md and its figure
	@{ printf '# Completion times in a fabric\n\n%s, shoal %s. Written by `make fabric-fct-record` (about a minute).\n\n' \
		"$$(date +%F)" "$$(git describe --always)"; \
		$(BIN)/python tools/fabric_fct.py || exit 1; \
		printf '![Completion time over ideal against size for DCTCP and CUBIC, with medians, 99th percentiles and processor sharing](img/fabric-fct.png)\n'; } > docs/fabric-fct.md.new
	@mv docs/fabric-fct.md.new docs/fabric-fct.md

known-configurations-record: setup ## Read, simulate and rank configurations of public repositories: docs/known-configurations.md (about five minutes)
	@{ printf '# Configurations that exist\n\n%s, shoal %s. Written by `make known-configurations-record`; [how they are read](how-to/read-a-switch-configuration.md).\n\n' \
		"$$(date +%F)" "$$(git describe --always)"; \
		$(BIN)/python tools/known_configurations.py || exit 1; } > docs/known-configurations.md.new
	@mv docs/known-configurations.md.new docs/known-configurations.md

advised-ports-record: linux-kernel ## Ask for advice for eight ports and load its lines for tc: docs/advised-ports.md (about six minutes)
	@{ printf '# Advice for eight ports\n\n%s Written by `make advised-ports-record`; [how to ask](how-to/ask-for-advice.md).\n\n' $(MEASURED_ON); \
		$(BIN)/python tools/advised_ports.py || exit 1; } > docs/advised-ports.md.new
	@mv docs/advised-ports.md.new docs/advised-ports.md

tuned-optima-record: setup $(VENV)/.tune ## Search published optima with goals and free parameters: docs/tuned-optima.md (about ten minutes)
	@{ printf '# Published optima, searched\n\n%s, shoal %s. Written by `make tuned-optima-record`; [tune with goals](how-to/tune-with-goals.md) says how the searches work.\n\n' \
		"$$(date +%F)" "$$(git describe --always)"; \
		$(BIN)/python tools/tuned_optima.py; } > docs/tuned-optima.md.new
	@mv docs/tuned-optima.md.new docs/tuned-optima.md

fuzz: ## Run every fuzz target for FUZZ_SECONDS (default 60); needs cargo-fuzz and a nightly toolchain
	tools/fuzz.sh $${FUZZ_SECONDS:-60}

clean: ## Remove what the build made; results stay
	cargo clean
	rm -rf $(VENV)
