#!/usr/bin/env bash
# Builds etcd, kube-apiserver and kube-controller-manager, or only those that are named as arguments, from their Go modules and prints
# the directory that holds them, nothing else, on standard output.
#
# The result lies in a cache outside the checkout, keyed by version and platform, so that it is built once a machine and version. What
# an older cache lacks is added to it.
# KUBEBUILDER_ASSETS, when set, names a directory to use instead; there kube-controller-manager is optional.
set -euo pipefail

say() { echo "controlplane: $*" >&2; }

programs=("$@")
((${#programs[@]})) || programs=(etcd kube-apiserver kube-controller-manager)

# The programs that a directory lacks.
missing() {
	local program
	for program in "${programs[@]}"; do
		[[ -x "$1/$program" ]] || echo "$program"
	done
}

if [[ -n "${KUBEBUILDER_ASSETS:-}" ]]; then
	if missing "$KUBEBUILDER_ASSETS" | grep -qv controller-manager; then
		say "KUBEBUILDER_ASSETS=$KUBEBUILDER_ASSETS holds no etcd and kube-apiserver; unset it to have them built"
		exit 1
	fi
	echo "$KUBEBUILDER_ASSETS"
	exit 0
fi

cd "$(dirname "${BASH_SOURCE[0]}")"

# The version of a module that go.mod requires; the tool block names modules too, without one.
required() { awk -v module="$1" '$1 == module && NF > 1 { print $2; found = 1; exit } END { exit !found }' go.mod; }

kubernetes=$(required k8s.io/kubernetes)
etcd=$(required go.etcd.io/etcd/server/v3)
cache="${XDG_CACHE_HOME:-$HOME/.cache}/garm-operator/controlplane"
dir="$cache/k8s-${kubernetes}_etcd-${etcd}_$(go env GOOS)-$(go env GOARCH)"

if [[ -z "$(missing "$dir")" ]]; then
	echo "$dir"
	exit 0
fi

mkdir -p "$cache"
# Two makes at once build once. Without flock (macOS) both build, and the rename below keeps the result whole.
if command -v flock >/dev/null; then
	exec 9>"$dir.lock"
	flock -n 9 || { say "waiting for the build of another process"; flock 9; }
	if [[ -z "$(missing "$dir")" ]]; then
		echo "$dir"
		exit 0
	fi
fi

tmp=$(mktemp -d "$dir.XXXXXX")
builder=
cleanup() {
	[[ -z "$builder" ]] || kill "$builder" 2>/dev/null || true
	rm -rf "$tmp"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# go build names a program after the last element of its import path, which for etcd is server.
packages=()
for program in $(missing "$dir"); do
	case "$program" in
	etcd) packages+=(go.etcd.io/etcd/server/v3) ;;
	*) packages+=("k8s.io/kubernetes/cmd/$program") ;;
	esac
done

say "building ${packages[*]} (Kubernetes $kubernetes, etcd $etcd) into $dir"
say "for all, the first time takes 5 to 20 minutes on two cores and up to 2.4 GiB of memory; for kube-controller-manager alone, 2 to 6;" \
	"afterwards it is cached"

minor=${kubernetes#v*.}
version=k8s.io/component-base/version
CGO_ENABLED=0 GOWORK=off go build -v -trimpath \
	-ldflags "-s -w -X $version.gitVersion=$kubernetes -X $version.gitMajor=1 -X $version.gitMinor=${minor%%.*}" \
	-o "$tmp/" "${packages[@]}" >"$tmp/build.log" 2>&1 &
builder=$!

started=$SECONDS
while kill -0 "$builder" 2>/dev/null; do
	sleep 1
	passed=$((SECONDS - started))
	if ((passed % 15 == 0)); then
		say "still building: $(wc -l <"$tmp/build.log") packages done after ${passed} s"
	fi
done
if ! wait "$builder"; then
	builder=
	say "the build failed; its last lines:"
	tail -n 20 "$tmp/build.log" >&2
	exit 1
fi
builder=

if [[ -e "$tmp/server" ]]; then mv "$tmp/server" "$tmp/etcd"; fi
mkdir -p "$dir"
# Each program appears whole, and the directory counts as complete once the last is there. Those that run already are left alone.
for program in "${programs[@]}"; do
	if [[ -e "$tmp/$program" ]]; then mv "$tmp/$program" "$dir/$program"; fi
done
say "done after $((SECONDS - started)) s"
echo "$dir"
