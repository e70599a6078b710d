# Targets for people; .ci/run does the same on a fresh machine.
GO ?= go
SHARED ?= ../shared
CHROMIUM ?= chromium
FLOOR = --floor fixtures/conform-floor.json

.PHONY: help build test lint race conform floor docs pictures bench cross ci clean

help: ## what there is
	@sed -n 's/^\([a-z]*\):.*## /\1	/p' $(MAKEFILE_LIST)

build: ## one static binary in bin/
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/skilltrace ./cmd/skilltrace

test: ## all tests; those that need the recordings skip without them
	$(GO) test ./...

lint: ## format, vet, staticcheck, tidy module
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) mod tidy -diff

race: ## the tests under the race detector; needs a C compiler
	CGO_ENABLED=1 $(GO) test -race ./...

conform: build ## agreement with the recordings, against the checked-in floor
	bin/skilltrace conform $(SHARED)/conformance $(FLOOR)

floor: build ## raise the floor to what agrees now
	bin/skilltrace conform $(SHARED)/conformance $(FLOOR) --write-floor

docs: ## what is generated of the documentation, but for the pictures
	$(GO) run ./cmd/skilltrace rules --reference --output docs/rules.md
	$(GO) test ./cmd/skilltrace -run 'TestReadme|TestCommandsPage|TestFormatsPage' -update

pictures: build ## the pictures of docs/tour.md; needs Chromium
	TZ=UTC bin/skilltrace replay latest --config-dir fixtures/compact --output bin/session.html
	TZ=UTC bin/skilltrace cost --config-dir fixtures/compact --output bin/cost.html
	for page in session,945 cost,675; do \
	  $(CHROMIUM) --headless --no-sandbox --hide-scrollbars --window-size=1100,$${page#*,} \
	    --screenshot=docs/pictures/$${page%,*}.png file://$(CURDIR)/bin/$${page%,*}.html || exit 1; \
	done

bench: ## speed and allocations
	$(GO) test -run '^$$' -bench . -benchmem ./...

cross: ## binaries for all systems in dist/
	for os in linux darwin windows; do for arch in amd64 arm64; do \
	  CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch $(GO) build -trimpath -o dist/skilltrace-$$os-$$arch ./cmd/skilltrace || exit 1; \
	done; done

ci: ## all that must hold
	.ci/run

clean: ## remove what was built
	rm -rf bin dist
