#!/usr/bin/env bash
# run.sh: installs the release build under a new prefix, builds the project in this folder against it with each
# compiler, and lets the project's client call its server.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/../../scripts/lib.sh"

readonly PREFIX=$PWD/build/install-test/prefix
passed=0
failed=0
server=

stop_server() {
  if [[ $server ]]; then kill "$server" 2>/dev/null && wait "$server" 2>/dev/null; fi
  server=
}
trap stop_server EXIT

check() {
  local what=$1
  shift
  say "-- $what"
  if "$@"; then
    passed=$((passed + 1))
    say "ok      $what"
  else
    failed=$((failed + 1))
    say "FAILED  $what"
    return 1
  fi
}

install_release() {
  rm -rf "$PREFIX"
  mkdir -p "$PREFIX"
  cmake --install build/release --prefix "$PREFIX" || return
  if [[ -z $(find "$PREFIX" -name 'proteus*onfig.cmake' -print -quit) ]]; then
    say "the installation has no CMake package"
    return 1
  fi
}

# The outside project sees only the prefix, so this fails if a header is not installed.
compile() {
  rm -rf "$2"
  cmake -S tests/install -B "$2" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$1" -DCMAKE_PREFIX_PATH="$PREFIX" &&
    cmake --build "$2" --parallel "$(jobs)"
}

converse() {
  local folder=$1 url='' answer tries
  "$folder/outside_server" >"$folder/server.out" 2>"$folder/server.err" &
  server=$!
  for ((tries = 0; tries < 100; tries++)); do
    url=$(sed -n 's/^listening on //p' "$folder/server.out")
    if [[ $url ]] || ! kill -0 "$server" 2>/dev/null; then break; fi
    sleep 0.1
  done
  if [[ -z $url ]]; then
    cat "$folder/server.out" "$folder/server.err"
    say "the server did not say where it listens"
    stop_server
    return 1
  fi
  answer=$(timeout 20 "$folder/outside_client" "$url" 2>&1) || true
  stop_server
  say "$answer"
  grep -qxF 'add(40, 2) = 42' <<<"$answer"
}

if check "the release build installs" install_release; then
  for compiler in clang++-19 g++-12; do
    folder=build/install-test/$compiler
    if check "an outside project compiles with $compiler" compile "$compiler" "$folder"; then
      check "its client calls its server ($compiler)" converse "$folder" || true
    fi
  done
fi
say "$passed passed, $failed failed"
((failed == 0 && passed > 0))
