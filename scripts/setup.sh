#!/usr/bin/env bash
# setup.sh <group>...: installs the missing packages of these groups of packages.txt. The group build also installs the
# npm packages of ui. The group npm installs those of tests/e2e, tests/ui and tests/compat/short; with the group bench
# also those of bench, and with the group compat also those of tests/compat/full. Prints nothing and returns at once if
# nothing is missing.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

readonly LOG=$LOGS/setup.log
readonly ATTEMPTS=6

# retry <what> <command...>: runs a command up to ATTEMPTS times, with growing pauses, because registries answer 429 at
# times.
retry() {
  local what=$1 attempt pause=5
  shift
  for ((attempt = 1; ; attempt++)); do
    if "$@" >>"$LOG" 2>&1; then return 0; fi
    if ((attempt == ATTEMPTS)); then break; fi
    say "  $what: attempt $attempt of $ATTEMPTS failed, next one in ${pause} s"
    sleep "$pause"
    pause=$((pause * 2))
  done
  tail -n 40 "$LOG" >&2
  fail "$what failed $ATTEMPTS times; the whole output is in $LOG"
}

wanted_packages() {
  local group package
  while read -r group package; do
    case " $* " in *" $group "*) ;; *) continue ;; esac
    if [[ $package == nodejs || $package == npm ]] && command -v npm >/dev/null; then continue; fi
    printf '%s\n' "$package"
  done < <(sed 's/#.*//' scripts/packages.txt)
}

missing_packages() {
  local wanted installed
  wanted=$(wanted_packages "$@" | sort -u)
  if [[ -z $wanted ]]; then return; fi
  command -v dpkg-query >/dev/null ||
    fail "this is not Debian: install what scripts/packages.txt lists, then use the cmake presets"
  # shellcheck disable=SC2086
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null |
    sed -n 's/^installed //p' | sort -u) || true
  comm -23 <(printf '%s\n' "$wanted") <(printf '%s\n' "$installed")
}

as_root() {
  if ((EUID == 0)); then "$@"; else sudo -- "$@"; fi
}

apt() { as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@"; }

# Keeps packages from starting services while they are installed: `make bench` and the tests run nginx, PostgreSQL and
# Redis themselves.
readonly POLICY=/usr/sbin/policy-rc.d
forbid_services() {
  if [[ -e $POLICY ]]; then return; fi
  trap 'as_root rm -f "$POLICY"' EXIT
  printf '#!/bin/sh\nexit 101\n' | as_root tee "$POLICY" >/dev/null
  as_root chmod +x "$POLICY"
}
allow_services() {
  if [[ $(trap -p EXIT) ]]; then as_root rm -f "$POLICY"; fi
  trap - EXIT
}

install_debian_packages() {
  if ((EUID != 0)) && ! command -v sudo >/dev/null; then
    fail "missing packages, and neither root nor sudo to install them: $*"
  fi
  say "Installing $# Debian packages: $*"
  retry "reading the package lists" apt update
  forbid_services
  retry "installing packages" apt install -y --no-install-recommends "$@"
  allow_services
  if [[ " $* " == *" nginx-light "* ]] && command -v systemctl >/dev/null; then
    as_root systemctl disable nginx >>"$LOG" 2>&1 || true
  fi
}

npm_ci() { (cd "$1" && npm ci --ignore-scripts --no-audit --no-fund); }

# install_npm_packages <folder>: runs npm ci, unless the last one was for the same package.json and lock file.
install_npm_packages() {
  local folder=$1 state
  local stamp=$folder/node_modules/.installed
  state=$(cat "$folder/package.json" "$folder/package-lock.json" | sha256sum)
  if [[ -f $stamp && $(<"$stamp") == "$state" ]]; then return; fi
  say "Installing the npm packages of $folder"
  retry "npm ci" npm_ci "$folder"
  [[ $folder == ui || -x $(node_path) ]] || fail "npm installed no Node for $(uname -m); see optionalDependencies in tests/e2e/package.json"
  printf '%s\n' "$state" >"$stamp"
}

readonly groups=("$@")
started=$SECONDS
: >"$LOG"
missing=$(missing_packages "$@")
# shellcheck disable=SC2086
if [[ $missing ]]; then install_debian_packages $missing; fi
wants() { case " ${groups[*]} " in *" $1 "*) ;; *) return 1 ;; esac }
if wants build; then install_npm_packages ui; fi
if wants npm; then
  install_npm_packages tests/e2e
  install_npm_packages tests/compat/short
  install_npm_packages tests/ui
fi
if wants npm && wants bench; then install_npm_packages bench; fi
if wants npm && wants compat; then install_npm_packages tests/compat/full; fi
if [[ -s $LOG ]]; then say "Ready after $((SECONDS - started)) s"; fi
