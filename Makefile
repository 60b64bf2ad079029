# Everything one does with this repository. `make` alone lists it.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup dev build test check ci format lint fuzz schema drill bench bench-links bench-postgres bench-router clean

JOBS ?= $(shell nproc)
ARGS ?=
# How long each fuzz target runs.
SECONDS_EACH := $(if $(filter command line,$(origin SECONDS)),$(SECONDS),60)

help: ## lists these targets
	@echo "make TARGET"
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  \1\t\2/' | expand -t 15

setup: ## installs what is missing to build, test and check
	@scripts/setup test

dev: build ## builds and runs `tenon dev`; PORT=8080 and ARGS="--data DIR" are passed on
	@exec build/release/tenon dev $(if $(PORT),--port $(PORT)) $(ARGS)

build: ## installs what is missing to build, then leaves the program at build/release/tenon
	@scripts/setup dev
	@scripts/build release tenon

test: ## every test: unit and engine tests under ASan and UBSan, then the program from outside
	@scripts/setup test
	@scripts/test all

check: ## before a commit: format, tidy, clang-tidy on what changed, unit tests
	@scripts/setup test
	@scripts/format check
	@tools/tidy
	@scripts/lint changed
	@scripts/test unit

ci: ## all that must hold before a change lands; under an hour on two cores
	@scripts/setup test
	@scripts/ci

format: ## formats the C++ files as .clang-format says
	@scripts/format write

lint: ## clang-tidy on every file
	@scripts/setup test
	@scripts/lint all

fuzz: ## each fuzz target for SECONDS=60 on its corpus; new inputs stay under build/
	@scripts/setup test
	@scripts/fuzz $(SECONDS_EACH)

schema: build ## the served OpenAPI document against the server; ARGS="--seconds 600 --seed 7"
	@scripts/setup test
	@scripts/schema $(ARGS)

drill: build ## runs the drills; ARGS="NAME" for one
	@exec build/release/tenon drill $(ARGS)

bench: bench-links bench-postgres bench-router ## every benchmark

bench-links: build ## links beside nginx and pgbench; ARGS="-o json"
	@scripts/setup bench
	@tools/bench-links $(ARGS)

bench-postgres: build ## the driver beside pgbench -S; ARGS="-o json"
	@scripts/setup bench
	@scripts/build release storage_database_bench
	@tools/bench-postgres --only driver $(ARGS)

bench-router: build ## the router beside libpq by hand; ARGS="-o json"
	@scripts/setup bench
	@scripts/build release storage_database_bench
	@tools/bench-postgres --only router $(ARGS)

clean: ## removes everything that was built; the data of `tenon dev` stays
	@rm -rf build
