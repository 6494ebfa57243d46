#!/usr/bin/env bash
# Builds etcd and kube-apiserver from their Go modules and prints the directory that holds them, nothing else, on standard output.
#
# The result lies in a cache outside the checkout, keyed by version and platform, so that it is built once a machine and version.
# KUBEBUILDER_ASSETS, when set, names a directory to use instead.
set -euo pipefail

say() { echo "controlplane: $*" >&2; }

complete() { [[ -x "$1/etcd" && -x "$1/kube-apiserver" ]]; }

if [[ -n "${KUBEBUILDER_ASSETS:-}" ]]; then
	if ! complete "$KUBEBUILDER_ASSETS"; then
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

if complete "$dir"; then
	echo "$dir"
	exit 0
fi

mkdir -p "$cache"
# Two makes at once build once. Without flock (macOS) both build, and the rename below keeps the result whole.
if command -v flock >/dev/null; then
	exec 9>"$dir.lock"
	flock -n 9 || { say "waiting for the build of another process"; flock 9; }
	if complete "$dir"; then
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

say "building kube-apiserver $kubernetes and etcd $etcd into $dir"
say "the first time this takes 5 to 15 minutes on two cores and up to 2.4 GiB of memory; afterwards it is cached"

minor=${kubernetes#v*.}
version=k8s.io/component-base/version
CGO_ENABLED=0 GOWORK=off go build -v -trimpath \
	-ldflags "-s -w -X $version.gitVersion=$kubernetes -X $version.gitMajor=1 -X $version.gitMinor=${minor%%.*}" \
	-o "$tmp/" tool >"$tmp/build.log" 2>&1 &
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

rm "$tmp/build.log"
# go build names a program after the last element of its import path.
mv "$tmp/server" "$tmp/etcd"
chmod 755 "$tmp"
rm -rf "$dir"
mv "$tmp" "$dir"
say "done after $((SECONDS - started)) s"
echo "$dir"
