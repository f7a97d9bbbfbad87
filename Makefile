# SPDX-License-Identifier: Apache-2.0
#
# Short names for common commands: meson builds, tests/run.sh runs the tests. `make help`
# lists them.

PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 30
TIER ?=
SETUP := tools/setup.sh
C_FILES = $(shell find src include attacks bench tests tools examples -name node_modules -prune -o -name '*.[ch]' -print)

build: ## Build the product; the program is build/dewar
	@$(SETUP) build
	@test -f build/build.ninja || meson setup build
	@ninja -C build

run: build ## Build, and run a snippet in a cell
	@echo
	build/dewar run --walls python -c 'import os; print("Hello from a cell. I am process", os.getpid(), "and all I see of the host is", os.listdir("/"))'

test: ## Install what the tests need, and run the default tier: before each commit, 12 minutes at most
	@$(SETUP) test
	@tests/run.sh $(TIER)

test-all: TIER = --all ## Run every test: 45 minutes at most
test-all: test

test-changed: TIER = --changed ## Run the default tier, and the slow steps that the change concerns, as CI does
test-changed: test

bench: build ## Measure cold starts, warm cells, level docker, the daemon and the analysis, beside bare commands, bwrap and docker
	@/usr/bin/python3 bench/run.py
	@/usr/bin/python3 bench/warm.py
	@/usr/bin/python3 bench/docker.py
	@/usr/bin/python3 bench/serve.py
	@/usr/bin/python3 tests/policy/score.py --speed --keep bench/analysis.md

arm64: ## Build for arm64 on another machine; the programs are in build-arm64
	@$(SETUP) test-all
	@tools/arm64.sh

mutants: build ## Remove one wall at a time, and report which attacks then escape
	@tests/escape/mutate.py --full

install: build ## Install to PREFIX (/usr/local), below DESTDIR if given
	@meson configure build -Dprefix=$(PREFIX)
	@meson install -C build $(if $(DESTDIR),--destdir $(abspath $(DESTDIR)))

format: ## Format the C files with clang-format
	@clang-format -i $(C_FILES)

check-format: ## Check that clang-format would change no C file
	@clang-format --dry-run --Werror $(C_FILES)

fuzz: ## Fuzz each parser for FUZZ_SECONDS (30), and keep inputs that reach new code
	@$(SETUP) test
	@tests/fuzz/run.sh $(FUZZ_SECONDS)

lint: build ## clang-tidy, cppcheck, codespell, shellcheck, include rules, wording
	@tools/lint.sh

clean: ## Remove all build folders
	@rm -rf build build-arm64 build-release build-sanitize build-threads build-fuzz

help: ## Print this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

.DEFAULT_GOAL := build
.PHONY: build run test test-all test-changed arm64 bench mutants install format check-format fuzz lint clean help
