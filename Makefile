# Targets for people; .ci/run does the same on a fresh machine.
GO ?= go
SHARED ?= ../shared

.PHONY: build test lint conform floor docs bench cross clean

build: ## one static binary in bin/
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/skilltrace ./cmd/skilltrace

test:
	$(GO) test ./...

lint:
	test -z "$$(gofmt -l .)"
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) mod tidy -diff

conform: build ## agreement with the recordings, against the checked-in floor
	./bin/skilltrace conform $(SHARED)/conformance --floor fixtures/conform-floor.json

floor: build ## raise the floor to what matches now
	./bin/skilltrace conform $(SHARED)/conformance --floor fixtures/conform-floor.json --write-floor

docs: ## the rule reference, from the rule tables
	$(GO) run ./cmd/skilltrace rules --format markdown > docs/rules.md

bench:
	$(GO) test -run '^$$' -bench . -benchtime 1s ./jsonl ./replay ./skills ./budget

cross:
	for os in linux darwin windows; do for arch in amd64 arm64; do \
	  CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch $(GO) build -trimpath -o dist/skilltrace-$$os-$$arch ./cmd/skilltrace || exit 1; \
	done; done

clean:
	rm -rf bin dist
