# Sourced by the shell tests: prints a line of TAP for each case, and its output as comments. $CC is the build's
# compiler.
cases=0
check() { # check NAME COMMAND...: the case passes if the command succeeds
  name=$1
  shift
  cases=$((cases + 1))
  if "$@" >"$scratch/said" 2>&1; then
    echo "ok $cases $name"
  else
    sed 's/^/# /' "$scratch/said"
    echo "not ok $cases $name"
  fi
}
skip() { # skip NAME WHY
  cases=$((cases + 1))
  echo "ok $cases $1 # SKIP $2"
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
