#!/bin/sh
# Generates the Go code of the protos, tests the package and builds the example, with what Debian has:
#
#   apt-get install golang-go golang-google-grpc-dev golang-google-protobuf-dev \
#     golang-google-genproto-dev protobuf-compiler protoc-gen-go protoc-gen-go-grpc
#
# Usage: build.sh DIRECTORY   - a workspace that is made there, with bin/save-and-ask at the end
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
protos=$here/../../protos
mkdir -p "${1:?name a directory to build in}"
place=$(CDPATH='' cd -- "$1" && pwd)
module=example.com/graft

# The protos name no go_package: the import path belongs to whoever generates.
files=$(cd "$protos" && find graft/memory -name '*.proto' | sort)
mapped=
for file in $files; do
  mapped="$mapped,M$file=$module/memory/v1;memoryv1"
done
mkdir -p "$place/src/$module"
# shellcheck disable=SC2086 # one argument for each file
protoc -I "$protos" --go_out="$place/src" --go_opt="${mapped#,}" \
  --go-grpc_out="$place/src" --go-grpc_opt="${mapped#,}" $files
cp -R "$here/graft" "$here/examples" "$place/src/$module/"

# Debian keeps Go libraries as sources in one tree, which modules do not read.
export GO111MODULE=off GOPATH="$place:/usr/share/gocode" GOFLAGS=-p=2
export GOCACHE="${GOCACHE:-$place/cache}"
cd "$place/src/$module"
unformatted=$(gofmt -l graft examples)
test -z "$unformatted" || { echo "not formatted: $unformatted" >&2; exit 1; }
go vet ./graft ./examples/...
go test ./graft
mkdir -p "$place/bin"
go build -o "$place/bin/save-and-ask" ./examples/save-and-ask
