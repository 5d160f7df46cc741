# A thin front: the work is in scripts/, and each script can be run on its own.
PREFIX ?= /usr/local

.PHONY: build test test-full attack compat run bench profile fuzz lint format install clean help

build: ## build the programs into build/release/bin
	@scripts/setup.sh build
	@scripts/build.sh release

test: ## everything that must hold: lint, unit, integration, conformance, official clients, servers and clients of others, drills of attacks, installation
	@scripts/test.sh

test-full: ## make test with all of make attack and make compat, then the thread sanitizer, the single-era conformance runs, all of clang-tidy, and fuzzing
	@scripts/test.sh full

attack: build ## the drills of a hostile trial, in full, as a table: tried, held, figures
	@scripts/setup.sh build npm
	@scripts/attack.sh --full

run: build ## start the quickstart on 127.0.0.1:8080 (PORT=… for another port)
	@scripts/setup.sh run
	@scripts/run.sh

bench: ## measure beside nginx, the TypeScript SDK and another gateway; BENCH_ONLY=… for some rows
	@scripts/setup.sh build bench npm
	@scripts/bench.sh

compat: build ## servers and clients that others wrote, directly and through the gateway: docs/compatibility.md
	@scripts/setup.sh test npm compat
	@scripts/compat.sh full --write

profile: ## record where the time goes under load, for the compiler: bench/proteus.profdata
	@scripts/setup.sh build bench npm
	@scripts/profile.sh

fuzz: ## run every fuzz target, FUZZ_SECONDS=60 each
	@scripts/setup.sh build
	@scripts/fuzz.sh

lint: ## formatting, includes, shell scripts, clang-tidy
	@scripts/setup.sh build lint
	@scripts/lint.sh all

format: ## format the C++ sources
	@scripts/setup.sh lint
	@scripts/lint.sh format

install: build ## install the programs and the library under PREFIX=/usr/local
	@cmake --install build/release --prefix "$(PREFIX)"

clean: ## remove everything that was built
	@rm -rf build

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20
