# Everything here works from a fresh clone with nothing but Go, git and bash: tools are pinned in tools/go.mod, the control plane in
# tools/controlplane/go.mod, and both are built from their modules on first use.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# What to test: make test PKG=./garm/...
PKG ?= ./...
# What to pass on: make demo ARGS=--once, make test ARGS='-run TestPool -v'
ARGS ?=

# Programs, tests and tools that are compiled alike, without paths and without C, share what is compiled, in all clones on a machine.
export GOFLAGS := $(strip $(filter-out -trimpath,$(shell go env GOFLAGS)) -trimpath)
go := CGO_ENABLED=0 go

controlplane := tools/controlplane/build.sh
tool := $(go) tool -modfile=tools/go.mod
modules := . tools tools/controlplane tools/helm3 test/monitoring
chart := charts/garm-operator
generated := api config charts docs/kinds docs/reference

# The race detector needs a C compiler. In CI it is not optional: a machine without a compiler fails there. Two packages that only
# calculate, SQLite made from C and the cipher of password hashes, are left out of it: watching them takes most of the time. None
# that uses sync or generics may be left out, since the linker could take its unwatched copy of what others synchronize with. Unsafe
# pointers, of which the project has none, are not checked.
cc = $(shell command -v "$$(go env CC)" 2>/dev/null)
racing := -race -gcflags='all=-d=checkptr=0' -gcflags='modernc.org/sqlite/lib=-race=false' -gcflags='golang.org/x/crypto/blowfish=-race=false'
race = $(if $(filter true,$(CI)),$(racing),$(if $(and $(cc),$(filter 1,$(shell go env CGO_ENABLED))),$(racing)))

.PHONY: help
help: ## Show this help.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build the programs into bin/.
	$(go) build -o bin/ ./cmd/...

.PHONY: demo
demo: build ## Run the whole system with a simulated GitHub until Ctrl-C; ARGS=--once to run it once and exit.
	@assets=$$($(controlplane) etcd kube-apiserver) && KUBEBUILDER_ASSETS="$$assets" exec bin/garm-dev demo $(ARGS)

# How many packages are tested at once, and how many tests in each: they wait for servers and processes more than they calculate.
# The linter vets.
gotestsum := $(tool) gotestsum --format pkgname --format-hide-empty-pkg
side_by_side := -vet=off -p 4 -parallel 6 -timeout 30m

# The race detector need not wait at the end of each package for goroutines that are left.
hasty := GORACE=atexit_sleep_ms=0

# These try what is shipped: the programs, the definitions, the manifests, the documents. The race detector would see nothing of it,
# and slow the server that the programs' requests are counted at. What test/install runs of the operator in its own process, the other
# tests run under the detector.
shipped := /test/(api|arch|docs|e2e|install|scale)$$

# The programs that tests run are built once; tests of single packages build what they need. Go touches what it builds even if
# nothing has changed, and names the commit in it, and would then run again all tests that run it: they run copies without that name,
# which only a change replaces.
copies := bin/tests
built = $(if $(filter ./...,$(PKG)),TEST_PROGRAMS='$(CURDIR)/$(copies)')

.PHONY: test-copies
test-copies:
	@$(go) build -buildvcs=false -o bin/.tests/ ./cmd/... && mkdir -p $(copies) && install -C bin/.tests/garm* $(copies)

.PHONY: test
test: $(if $(filter ./...,$(PKG)),test-copies) ## Run the tests with a real API server; PKG=./garm/... for some of them.
	@assets=$$($(controlplane)) && KUBEBUILDER_ASSETS="$$assets" $(built) $(hasty) $(MAKE) --no-print-directory -j2 test-raced test-shipped

# Those that wait longest start first, so that they are not waited for at the end.
slow := /test/|/internal/dev/|/operator/inventory$$

.PHONY: test-raced
test-raced:
	@all=$$(go list $(PKG)); others=$$(grep -vE '$(shipped)' <<<"$$all" || true); \
	packages=$$(grep -E '$(slow)' <<<"$$others" || true; grep -vE '$(slow)' <<<"$$others" || true); \
	if [[ -n "$$packages" ]]; then $(gotestsum) --raw-command -- env $(if $(race),CGO_ENABLED=1) go test -json $(side_by_side) $(race) $(ARGS) $$packages; fi

# Those of test/monitoring have a module of their own, for Prometheus' engine. They read files outside it, of which Go does not see
# that they change.
.PHONY: test-shipped
test-shipped:
	@all=$$(go list $(PKG)); packages=$$(grep -E '$(shipped)' <<<"$$all" || true); \
	if [[ -n "$$packages" ]]; then $(gotestsum) -- $(side_by_side) $(ARGS) $$packages; fi
	@if [[ "$(PKG)" == ./... ]]; then $(gotestsum) --raw-command -- go -C test/monitoring test -json -timeout 30m -count=1 $(ARGS) ./...; fi

.PHONY: bench
bench: ## Measure the operator at scale: time to Ready, requests, writes, memory.
	@assets=$$($(controlplane)) && KUBEBUILDER_ASSETS="$$assets" \
		$(go) test -run '^$$' -bench . -benchtime 1x -timeout 30m $(ARGS) ./test/scale/...

.PHONY: generate
generate: ## Generate deep copies and custom resource definitions from api/, the roles, what the chart takes from config/ and the reference pages.
	$(tool) controller-gen object crd paths=./api/... output:crd:dir=config/crd/bases
	$(go) run ./internal/dev/reference
	$(go) run ./internal/dev/rolegen config
	rm -rf $(chart)/files && mkdir -p $(chart)/files/{crds,rbac,webhook}
	cp config/crd/bases/*.yaml $(chart)/files/crds/
	cp config/rbac/*_role.yaml config/rbac/user_roles.yaml $(chart)/files/rbac/
	cp config/rbac/manager-role/role.yaml $(chart)/files/rbac/manager_role.yaml
	cp config/rbac/all-namespaces/cluster_role.yaml $(chart)/files/rbac/manager_cluster_role.yaml
	cp config/components/metrics-secure/roles.yaml $(chart)/files/rbac/metrics_roles.yaml
	cp config/webhook/{manifests,conversion,service}.yaml $(chart)/files/webhook/

.PHONY: fmt
fmt: ## Format the Go files.
	$(tool) gofumpt -w $$(git ls-files --cached --others --exclude-standard '*.go')

.PHONY: lint
lint: ## Lint the Go files.
	$(tool) golangci-lint run ./...

.PHONY: verify
verify: verify-generate verify-tidy verify-format verify-chart lint ## Check generated files, modules, format, chart and lint.

.PHONY: verify-generate
verify-generate:
	@before=$$(mktemp -d); trap 'rm -rf "$$before"' EXIT; \
	tar -cf - $(generated) | tar -xf - -C "$$before"; \
	$(MAKE) -s generate; \
	for dir in $(generated); do \
		diff -ru "$$before/$$dir" "$$dir" || { echo "verify: $$dir was not up to date; commit what \"make generate\" made" >&2; exit 1; }; \
	done

.PHONY: verify-tidy
verify-tidy:
	@for module in $(modules); do \
		go -C $$module mod tidy -diff || { echo "verify: run \"go mod tidy\" in $$module" >&2; exit 1; }; \
	done

.PHONY: verify-format
verify-format:
	@files=$$($(tool) gofumpt -l $$(git ls-files --cached --others --exclude-standard '*.go')) && \
	if [[ -n "$$files" ]]; then printf 'verify: run "make fmt", these are not formatted:\n%s\n' "$$files" >&2; exit 1; fi

# Helm 4 renders the chart in the tests, with the same values; Helm 3 has to agree to the letter. Both lint it strictly.
values := test/install/testdata/values

.PHONY: verify-chart
verify-chart:
	@dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	$(go) -C tools build -o "$$dir/helm4" ./release && $(go) -C tools/helm3 build -o "$$dir/helm3" .; \
	for file in $(values)/*.yaml; do \
		for helm in helm3 helm4; do \
			"$$dir/$$helm" lint $(chart) garm-operator-system $$file && \
			"$$dir/$$helm" template $(chart) garm-operator-system $$file > "$$dir/$$helm.yaml" || { echo "verify: $$helm refuses $(chart) with $$file" >&2; exit 1; }; \
		done; \
		diff -u "$$dir/helm3.yaml" "$$dir/helm4.yaml" || { echo "verify: Helm 3 and Helm 4 render $(chart) differently with $$file" >&2; exit 1; }; \
	done

.PHONY: vulncheck
vulncheck: ## Look for known vulnerabilities; needs the network.
	$(tool) govulncheck ./...

.PHONY: controlplane
controlplane: ## Build etcd, kube-apiserver and kube-controller-manager if need be and print their directory.
	@$(controlplane)

# What a release is made of is the same for the same commit: built without paths, with the time of the commit.
architectures := amd64 arm64
commit_time = $(shell TZ=UTC git log -1 --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ)
release = $(CURDIR)/dist/.build/release

.PHONY: release
release: ## Make the files of a release in dist/: make release VERSION=v1.2.3.
	@[[ "$(VERSION)" =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$$ ]] || { echo 'release: give a version, such as make release VERSION=v1.2.3' >&2; exit 1; }
	rm -rf dist && mkdir -p dist/.build
	for arch in $(architectures); do \
		GOOS=linux GOARCH=$$arch $(go) build -ldflags '-s -w' -o dist/.build/linux_$$arch/ ./cmd/garm-operator ./cmd/garm; \
	done
	$(go) -C tools build -o $(release) ./release
	$(release) manifests config $(VERSION) dist
	mkdir dist/.build/monitoring && cp -R config/prometheus config/grafana config/kube-state-metrics dist/.build/monitoring/
	$(release) archive $(commit_time) dist/garm-operator_monitoring.tar.gz dist/.build/monitoring
	$(release) package charts/garm-operator $(VERSION) $(commit_time) dist
	$(release) sbom . $(VERSION) $(commit_time) dist/.build/linux_*/* > dist/garm-operator.bom.spdx
	$(release) licenses . dist/.build/linux_*/* > dist/3RD_PARTY_LICENSES.txt
	$(release) images $(VERSION) $(commit_time) dist/.build/oci $(foreach arch,$(architectures),$(arch)=dist/.build/linux_$(arch)/garm-operator)
	$(release) archive $(commit_time) dist/garm-operator_oci.tar dist/.build/oci
	for arch in $(architectures); do \
		name=$$([[ $$arch == amd64 ]] && echo x86_64 || echo $$arch); \
		for program in garm-operator garm; do \
			$(release) archive $(commit_time) dist/$${program}_Linux_$$name.tar.gz dist/.build/linux_$$arch/$$program LICENSE README.md dist/3RD_PARTY_LICENSES.txt; \
		done; \
	done
	rm -rf dist/.build
	cd dist && sha256sum * > checksums.txt

.PHONY: clean
clean: ## Remove what was built; the cached control plane stays.
	rm -rf bin dist
