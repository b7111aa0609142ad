#!/bin/sh
# Sets up what olpick needs on a Debian machine (12 or newer), then shows it or tests it:
#
#   ./setup.sh demo                 installs olpick into .venv and runs "olpick demo"
#   ./setup.sh test [tox options]   runs all checks, or those asked for: ./setup.sh test -e py311 -- -x
#
# As root, or with a sudo that asks no password, it installs missing Debian packages; else it says which they are.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -eu
unset CDPATH

llvm=22
runtime_packages="clang-$llvm clang-tools-$llvm llvm-$llvm llvm-$llvm-dev lld-$llvm libomp-$llvm-dev liboffload-$llvm liboffload-$llvm-dev"
checks=lint,type,native,py,conformance,pkg

say() { printf 'setup: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# step WHAT COMMAND...: one line when it works, all its output and status 1 when not.
step() {
  what=$1
  shift
  if "$@" >"$scratch/log" 2>&1 </dev/null; then
    say "$what: done"
  else
    cat "$scratch/log" >&2
    say "$what: failed"
    return 1
  fi
}

# The first Python that is new enough and can make virtual environments.
find_python() {
  for python in python3 python3.14 python3.13 python3.12 python3.11; do
    "$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && return 0
  done
  return 1
}

has_compiler() {
  printf '#include <stdio.h>\nint main(void) { return 0; }\n' >"$scratch/probe.c"
  gcc "$scratch/probe.c" -o "$scratch/probe" 2>"$scratch/gcc"
}

has_package() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }
is_available() { LC_ALL=C apt-cache policy "$1" 2>/dev/null | grep -q 'Candidate: [^(]'; }
apt() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120 "$@"; }

install() {
  # shellcheck disable=SC2086 # a list of words
  step "packages$1" apt install --no-install-recommends $1
}

# Sets needed (nothing works without) and wanted (the runtime: demo and tests run real programs with it), lists with a
# blank before each word.
find_missing() {
  needed=''
  wanted=''
  find_python || needed=' python3 python3-venv'
  has_compiler || needed="$needed gcc libc6-dev"
  [ -e /etc/ssl/certs/ca-certificates.crt ] || needed="$needed ca-certificates"
  for package in $runtime_packages; do
    has_package "$package" || wanted="$wanted $package"
  done
}

install_packages() {
  find_missing
  [ -n "$needed$wanted" ] || return 0
  if ! command -v apt-get >/dev/null; then
    say "no apt-get on this machine; what Debian calls these is needed:$needed$wanted"
    return 0
  fi
  if [ "$(id -u)" -eq 0 ]; then
    as_root=''
  elif sudo -n true 2>/dev/null; then
    as_root='sudo -n'
  else
    say "not root, and no sudo without a password; to install what is missing, have root run:"
    say "  apt-get update && apt-get install --no-install-recommends$needed$wanted"
    return 0
  fi
  step 'package lists' apt update || say 'going on with the lists that are here'
  if [ -n "$needed" ]; then
    install "$needed" || exit 1
  fi
  available=''
  for package in $wanted; do
    if is_available "$package"; then available="$available $package"; else say "$package is not in this machine's package sources"; fi
  done
  if [ -n "$available" ]; then
    install "$available" || true
  fi
}

# Where set-up could not bring everything: what is left undone, or that it cannot go on.
check_machine() {
  find_missing
  case $needed in
  *python3*)
    found=$(python3 --version 2>/dev/null) || found='no python3'
    die "olpick needs Python 3.11 or newer with venv and ensurepip (Debian: python3 python3-venv); found: $found"
    ;;
  *gcc*)
    cat "$scratch/gcc" >&2
    die 'olpick needs a C compiler and the C library headers (Debian: gcc libc6-dev)'
    ;;
  esac
  [ -z "$wanted" ] || say "going on without$wanted: decisions can be shown, but programs of the LLVM $llvm runtime may not build or run"
}

identity() { "$1" -c 'import sys; print(sys.version, sys.base_prefix)' 2>/dev/null; }

make_environment() {
  if [ "$(identity .venv/bin/python)" = "$(identity "$python")" ] && .venv/bin/python -m pip --version >/dev/null 2>&1; then
    return 0
  fi
  rm -rf .venv
  step "virtual environment .venv of $("$python" --version)" "$python" -m venv .venv
}

pip_install() { step "pip install $1" .venv/bin/python -m pip install --disable-pip-version-check "$1"; }

case ${1-} in
demo | test) command=$1 ;;
*)
  echo 'usage: ./setup.sh demo | ./setup.sh test [tox options]' >&2
  exit 2
  ;;
esac
shift

cd -- "$(dirname -- "$0")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

install_packages
check_machine
make_environment
if [ "$command" = demo ]; then
  pip_install .
  .venv/bin/olpick demo "$@"
else
  if [ -n "${CI:-}" ]; then
    export OLPICK_TEST_REQUIRE_RUNTIME=1 # a test that finds no runtime fails, it does not skip
  fi
  pip_install 'tox>=4.22'
  [ $# -gt 0 ] || set -- -e "$checks"
  .venv/bin/python -m tox run "$@"
fi
