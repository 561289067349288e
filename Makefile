# agentd: make help lists the targets.

GO        ?= go
TOOL      := $(GO) tool -modfile=tools/go.mod
COUNT     ?= 50
FUZZTIME  ?= 10s
BENCHTIME ?= 1s
RUN_HOME  ?= .cache/home
STORES    ?= ../shared/stores
VERSIONS  ?= 1.18.33

.DEFAULT_GOAL := help
.PHONY: help run build test test/race test/flake test/update test/crash test/stores test/arch conformance e2e/opencode e2e/clients fuzz bench bench/once fmt fmt/verify vet lint tidy/verify cross check

help: ## List the targets.
	@grep -hE '^[a-z0-9/-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-14s %s\n", $$1, $$2}'

run: ## Watch the embedded agent work in a durable session; run it again and the session goes on.
	@$(GO) run ./cmd/agentd --data-dir "$(RUN_HOME)" run "draw a red circle"

build: ## Build the commands into bin/.
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/ ./cmd/...

test: ## Run every test.
	$(GO) test ./...

test/race: ## Run every test under the race detector.
	$(GO) test -race -timeout 30m ./...

test/flake: ## Run every test ten times.
	$(GO) test -count=10 ./...

test/update: ## Rewrite the golden files; read the diff.
	UPDATE_GOLDEN=1 $(GO) test ./...

test/crash: ## Kill a busy process COUNT times and check every promise after each kill.
	$(GO) test ./testkit/crash -run TestCrash -count=1 -timeout 60m -crash.count=$(COUNT) -v

test/stores: ## Check the finder, and its MCP server, against recorded and hostile stores in STORES.
	$(GO) build -o bin/agf ./cmd/agf
	python3 "$(STORES)/check_finder.py" --cmd "$(CURDIR)/bin/agf" --mcp "$(CURDIR)/bin/agf mcp" --set share
	python3 "$(STORES)/check_finder.py" --cmd "$(CURDIR)/bin/agf" --set torture

conformance: ## Hold the MCP fronts to the official suite (Node and the suite come from npm).
	scripts/conformance.sh

e2e/opencode: ## Drive the real OpenCode (from npm) against a scripted model, in each supported version.
	@for version in 1.18.33 1.17.19 1.2.27; do \
	  path=$$(scripts/install-opencode.sh $$version .cache/opencode-$$version) && \
	  $(GO) test -tags e2e -run E2E -count=1 -timeout 40m ./providers/opencode -opencode "$$path" || exit 1; \
	done

e2e/clients: ## Show our MCP servers to the real Claude Code, Codex, Gemini CLI, OpenCode and MCP Inspector (from npm).
	scripts/clients.sh

.PHONY: e2e test/online bench/overhead
e2e: ## Prove the space agent with the real OpenCode (from npm), offline, in each of VERSIONS.
	@for version in $(VERSIONS); do \
	  path=$$(scripts/install-opencode.sh $$version "$(CURDIR)/.cache/opencode-$$version") && echo "OpenCode $$version" && \
	  $(GO) test -tags e2e -run E2E -count=1 -p 1 -timeout 30m ./providers/opencode/bridge ./actors/agents/space -opencode "$$path" || exit 1; \
	done

test/online: ## Run the live tests: your OpenCode, your login, a real model. They fail where anything of that is missing.
	$(GO) test -tags online -run Online -count=1 -timeout 15m -v ./actors/agents/space

bench/overhead: ## Measure what our layer adds to a turn of OpenCode.
	@path=$$(scripts/install-opencode.sh $(firstword $(VERSIONS)) "$(CURDIR)/.cache/opencode-$(firstword $(VERSIONS))") && \
	$(GO) test -tags e2e -run '^$$' -bench Overhead -benchtime 100x -timeout 15m ./actors/agents/space -opencode "$$path"

test/arch: ## Hold the layers, the goroutines and the names.
	$(GO) test -count=1 .

fuzz: ## Run every fuzz target for FUZZTIME each.
	@scripts/fuzz.sh $(FUZZTIME)

bench: ## Run every benchmark; each prints the machine's limit beside its figure.
	$(GO) test -run '^$$' -bench . -benchtime $(BENCHTIME) -timeout 60m ./...

bench/once: ## Run every benchmark once, so that none rots.
	$(GO) test -run '^$$' -bench . -benchtime 1x -timeout 30m ./...

fmt: ## Format the code.
	$(TOOL) golangci-lint fmt

fmt/verify: ## Fail if something is not formatted.
	$(TOOL) golangci-lint fmt --diff

vet:
	$(GO) vet ./...

lint: ## Run the linters.
	$(TOOL) golangci-lint run --allow-parallel-runners ./...

tidy/verify: ## Fail if go.mod is not tidy.
	$(GO) mod tidy -diff

cross: ## Build for every system that is supported.
	@scripts/cross.sh

check: fmt/verify vet lint tidy/verify cross test/race test/crash ## All of it, before a change lands.
