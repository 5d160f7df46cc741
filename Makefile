# Most targets call a script in scripts/, which can also be run on its own.
PREFIX ?= /usr/local

.PHONY: build test test-full attack compat screenshots run bench profile fuzz lint format install clean help

build: ## build the programs into build/release/bin
	@scripts/setup.sh build
	@scripts/build.sh release

test: ## run all tests: lint, unit, integration, conformance, third-party clients and servers, attack drills, installation
	@scripts/test.sh

test-full: ## make test, make attack and make compat in full, the thread sanitizer, single-era conformance, clang-tidy, and fuzzing
	@scripts/test.sh full

attack: build ## run the attack drills in full and print the results as a table
	@scripts/setup.sh build npm
	@scripts/attack.sh --full

run: build ## start the quickstart on 127.0.0.1:8080 (PORT=… for another port)
	@scripts/setup.sh run
	@scripts/run.sh

bench: ## compare with nginx, the TypeScript SDK and another gateway; BENCH_ONLY=… for some rows
	@scripts/setup.sh build bench npm
	@scripts/bench.sh

screenshots: build ## take screenshots of every screen of the page into build/screenshots
	@scripts/setup.sh build test npm
	@scripts/page.sh screenshots

compat: build ## compare published servers and clients, directly and through the gateway: docs/compatibility.md
	@scripts/setup.sh test npm compat
	@scripts/compat.sh full --write

profile: ## record a profile under load for the compiler: bench/proteus.profdata
	@scripts/setup.sh build bench npm
	@scripts/profile.sh

fuzz: ## run every fuzz target, FUZZ_SECONDS=60 each
	@scripts/setup.sh build
	@scripts/fuzz.sh

lint: ## check formatting, includes, shell scripts, clang-tidy
	@scripts/setup.sh build lint
	@scripts/lint.sh all

format: ## format the C++ sources
	@scripts/setup.sh lint
	@scripts/lint.sh format

install: build ## install the programs and the library under PREFIX=/usr/local
	@cmake --install build/release --prefix "$(PREFIX)"

clean: ## remove everything that was built
	@rm -rf build

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20
