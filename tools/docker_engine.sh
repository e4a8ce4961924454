#!/usr/bin/env bash
# Start a Docker engine of its own for the tests, or stop it and take away what it left.
#
#   tools/docker_engine.sh start   prints the variables to export; safe to run again
#   tools/docker_engine.sh stop
#
# For Debian, as root, where no engine answers. Where no container registry can be reached, the base
# image that the Dockerfiles name is made by debootstrap from the mirror that apt uses already, and
# bears its name in this engine alone. Compose and buildx come from the next Debian where this one
# has them too old. Everything lies in $GRAFT_DOCKER_DIR.
set -euo pipefail

DIRECTORY="${GRAFT_DOCKER_DIR:-/tmp/graft-docker}"
SUITE=trixie
BASE=python:3.13.9-slim-trixie
SOCKET="unix://$DIRECTORY/docker.sock"
export DOCKER_HOST="$SOCKET" DOCKER_CONFIG="$DIRECTORY/config"

say() { printf '%s\n' "$*" >&2; }

need() {
  [ "$(id -u)" -eq 0 ] || { say "An engine can be started by root alone; start one and set DOCKER_HOST."; exit 1; }
  command -v apt-get > /dev/null || { say "This recipe is for Debian; start an engine and set DOCKER_HOST."; exit 1; }
}

packages() {
  if ! command -v dockerd > /dev/null || ! command -v debootstrap > /dev/null; then
    say "Installing docker.io and debootstrap"
    apt-get update -qq >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq docker.io debootstrap > /dev/null
  fi
}

mirror() {
  apt-get indextargets --format '$(REPO_URI)' 'Label: Debian' 'Created-By: Packages' \
    | head -n 1
}

plugins() {
  [ ! -x "$DOCKER_CONFIG/cli-plugins/docker-compose" ] || return 0
  say "Fetching compose and buildx"
  local apt="$DIRECTORY/apt"
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$DOCKER_CONFIG/cli-plugins"
  chmod 755 "$DIRECTORY" "$apt"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(mirror) $SUITE main" \
    > "$apt/sources.list"
  local options=(-o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=-
    -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root)
  apt-get "${options[@]}" update -qq >&2
  (
    cd "$apt"
    apt-get "${options[@]}" download -qq docker-compose docker-buildx >&2
    for file in ./*.deb; do dpkg -x "$file" files; done
  )
  find "$apt/files" -type f -name 'docker-*' -size +5M \
    -exec cp {} "$DOCKER_CONFIG/cli-plugins/" \;
}

engine() {
  docker version > /dev/null 2>&1 && return 0
  say "Starting an engine at $SOCKET"
  # A firewall is changed by an engine that starts; `stop` puts this back.
  iptables -S FORWARD 2> /dev/null | head -n 1 > "$DIRECTORY/forward" || true
  setsid dockerd --data-root "$DIRECTORY/data" --exec-root "$DIRECTORY/exec" \
    --pidfile "$DIRECTORY/dockerd.pid" --host "$SOCKET" \
    < /dev/null > "$DIRECTORY/dockerd.log" 2>&1 &
  for _ in $(seq 120); do
    docker version > /dev/null 2>&1 && return 0
    sleep 0.5
  done
  tail -n 5 "$DIRECTORY/dockerd.log" >&2
  say "The engine did not start; its log is $DIRECTORY/dockerd.log"
  exit 1
}

base() {
  docker image inspect "$BASE" > /dev/null 2>&1 && return 0
  docker pull --quiet "$BASE" > /dev/null 2>&1 && return 0
  if [ ! -f "$DIRECTORY/base.tar" ]; then
    say "Making the base image (three to five minutes)"
    rm -rf "$DIRECTORY/root"
    debootstrap --variant=minbase \
      --include=python3,python3-venv,python3-pip,ca-certificates,libgomp1,libstdc++6 \
      "$SUITE" "$DIRECTORY/root" "$(mirror)" > "$DIRECTORY/debootstrap.log" 2>&1 \
      || { tail -n 5 "$DIRECTORY/debootstrap.log" >&2; exit 1; }
    tar -C "$DIRECTORY/root" --exclude=./var/cache/apt/archives/* -c . > "$DIRECTORY/base.tar.part"
    mv "$DIRECTORY/base.tar.part" "$DIRECTORY/base.tar"
    rm -rf "$DIRECTORY/root"
  fi
  docker import - "$BASE" < "$DIRECTORY/base.tar" > /dev/null
}

stop() {
  if [ -f "$DIRECTORY/dockerd.pid" ]; then
    local pid
    pid=$(cat "$DIRECTORY/dockerd.pid")
    kill "$pid" 2> /dev/null || true
    for _ in $(seq 60); do kill -0 "$pid" 2> /dev/null || break; sleep 0.5; done
  fi
  local table chain
  for table in filter nat; do
    iptables -t "$table" -S 2> /dev/null | grep -- ' DOCKER\|-i docker0\|-o docker0\|172\.1[78]\.' \
      | grep '^-A' | sed 's/^-A/-D/' | while read -r rule; do
        eval "iptables -t $table $rule" || true
      done
    for chain in $(iptables -t "$table" -S 2> /dev/null | sed -n 's/^-N \(DOCKER.*\)/\1/p'); do
      iptables -t "$table" -F "$chain" || true
    done
    for chain in $(iptables -t "$table" -S 2> /dev/null | sed -n 's/^-N \(DOCKER.*\)/\1/p'); do
      iptables -t "$table" -X "$chain" || true
    done
  done
  if [ -s "$DIRECTORY/forward" ]; then
    eval "iptables $(cat "$DIRECTORY/forward")"
  fi
  ip link del docker0 2> /dev/null || true
  say "Stopped. What it made is kept for the next time in $DIRECTORY; remove it to have the room back."
}

case "${1:-}" in
  start)
    need
    mkdir -p "$DIRECTORY"
    packages
    plugins
    engine
    base
    echo "export DOCKER_HOST=$DOCKER_HOST DOCKER_CONFIG=$DOCKER_CONFIG"
    ;;
  stop) stop ;;
  *) say "usage: tools/docker_engine.sh start|stop"; exit 2 ;;
esac
