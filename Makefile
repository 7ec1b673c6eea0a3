# Everything a contributor needs: make check. CONTRIBUTING.md has the same commands without make.

GO      ?= go
export CGO_ENABLED ?= 0
SHELL   := /bin/bash

# Modules of their own: they, or their tests, need what the program does not.
NESTED := deploy/kubernetes release internal/test/parquettest/arrowgo

# Systems that wheels are built for: python/wheel.py has their tags.
PLATFORMS ?= linux-amd64 linux-arm64 darwin-amd64 darwin-arm64
DIST      ?= dist

.PHONY: all build native wheel python-page check test test-nested lint faults screenshots browse-full bench bench-once bench-packages fuzz fuzz-row man release release-check testdata clean

all: build

build: ## bin/ffconvert, one static binary
	$(GO) build -trimpath -o bin/ffconvert ./cmd/ffconvert

check: export FFCONVERT_LONG = 1
check: lint test bench-once ## what CI runs (.ci/run), which adds the race detector and a random order

lint: ## formatting, vet, staticcheck, and builds for the systems without Linux AIO
	@test -z "$$(gofmt -l .)" || { gofmt -l . ; echo 'run gofmt -w'; exit 1; }
	$(GO) vet ./...
	GOOS=darwin $(GO) vet ./...
	GOOS=windows $(GO) build -o /dev/null ./cmd/ffconvert
	GOOS=windows $(GO) vet ./aio ./record ./encode ./verify ./packed ./shard/... ./dataset/... ./internal/findings ./internal/check ./export ./loader/...
	$(GO) tool staticcheck ./...
	$(GO) tool staticcheck -tags bench,fuzz ./internal/bench ./internal/fuzz ./internal/browse
	staticcheck=$$($(GO) tool -n staticcheck) && for m in $(NESTED); do \
		(cd $$m && $(GO) vet ./... && $$staticcheck ./...) || exit; \
	done

test: ## the whole suite; at its end the tests that were skipped, with reasons. TESTFLAGS=-short, or -race
	$(GO) tool gotestsum ./... $(TESTFLAGS)

test-nested: ## the modules of their own, which run the program
	gotestsum=$$($(GO) tool -n gotestsum) && for m in $(filter-out internal/test/parquettest/arrowgo,$(NESTED)); do (cd $$m && $$gotestsum ./... -count=1 $(TESTFLAGS)) || exit; done

faults: ## the fault table at its full size, a line a row; REPORT=docs/reliability.md keeps it
	@$(GO) run ./internal/faults/table $(if $(REPORT),-report $(REPORT))

screenshots: ## the pictures of docs/browse.md
	FFCONVERT_SCREENSHOTS=$(abspath docs/images) $(GO) test -count=1 -run '^TestScreenshots$$' ./internal/browse

browse-full: ## the pages of browse at their full size: a grid of 10,000 thumbnails, a text of 1 GiB
	FFCONVERT_BROWSE_FULL=1 $(GO) test -count=1 -v -run 'TestScroll|TestHostile' ./internal/browse

fuzz: ## every fuzz target for FUZZTIME, 30s by default, a line each
	@set -o pipefail; $(GO) test -tags fuzz -count=1 -timeout 0 -v -run '^TestAll$$' ./internal/fuzz \
		| grep --line-buffered -Ev '^(=== |--- PASS|PASS|ok )' | sed -u 's/^ *run_test.go:[0-9]*: //'

fuzz-row: ## the ten targets of row F1, as that row of the fault table
	@out=$$($(GO) test -tags fuzz -count=1 -timeout 0 -v -run '^TestRowF1$$' ./internal/fuzz); status=$$?; \
	[ $$status = 0 ] || echo "$$out" >&2; \
	echo "$$out" | sed -n 's/^ *run_test.go:[0-9]*: \(F1 .*\)/\1/p'; exit $$status

# The page is that of a whole run at its full size. REPORT names another place for it.
bench: ## the table of speed and memory, into docs/performance.md; ROW=S5 prints one row
	FFCONVERT_BENCH_REPORT=$(abspath $(or $(REPORT),$(if $(ROW)$(FFCONVERT_BENCH_BYTES),,docs/performance.md))) \
	$(GO) test -tags bench -count=1 -timeout 60m -v -run '^Test($(or $(ROW),.*))$$' ./internal/bench

bench-once: ## every benchmark of the packages once, at a small size
	@out=$$($(GO) test -vet=off -short -run '^$$' -bench . -benchtime 1x \
		$$(grep -rl --include='*_test.go' '^func Benchmark' . | xargs -n 1 dirname | sort -u) 2>&1) || { echo "$$out"; exit 1; }

bench-packages: ## the benchmarks of each package
	$(GO) test -run '^$$' -bench . ./...

native: ## python/ffconvert/libffconvert.so, the native helper of this machine: Python in this tree reads faster
	python/native/build.sh $$($(GO) env GOOS)-$$($(GO) env GOARCH) python/ffconvert/libffconvert.so

wheel: ## DIST/*.whl for each of PLATFORMS: the Python package with the program and the native helper, built without a network
	for p in $(PLATFORMS); do \
		CGO_ENABLED=0 GOOS=$${p%-*} GOARCH=$${p#*-} $(GO) build -trimpath -o $(DIST)/$$p/ffconvert ./cmd/ffconvert && \
		case $$p in linux-*) python/native/build.sh $$p $(DIST)/$$p/libffconvert.so && native="--native $(DIST)/$$p/libffconvert.so" ;; *) native= ;; esac && \
		python3 python/wheel.py $(DIST)/$$p/ffconvert $$p $(DIST) $$native || exit; \
	done

python-page: ## docs/python.md, the names of the Python package, by its docstrings
	python3 python/api.py >docs/python.md

release: ## DIST/: archives, packages, wheels, checksums and contents of VERSION=v0.1.0, of the commit that is checked out
	$(GO) -C release run . -version '$(VERSION)' -out '$(abspath $(DIST))'

release-check: ## makes a release of all systems twice, once with nothing compiled beforehand, and compares them: docs/releases.md
	cd release && FFCONVERT_RELEASE_FULL=1 $(GO) test -count=1 -timeout 60m -v ./made

man: build ## manual pages in bin/man
	bin/ffconvert man bin/man

testdata: ## draw the small datasets again
	sh testdata/generate.sh

clean:
	rm -rf bin dist
