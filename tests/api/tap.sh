# Sourced by the shell tests: one case a line of TAP, what it said as comments. The compiler is that of the build.
cases=0
check() { # check NAME COMMAND...: the command ends well
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
