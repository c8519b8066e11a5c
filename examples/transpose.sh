#!/bin/sh
# Transposes samples as receivers send them to one time series for each receiver:
#   transpose.sh IN OUT STATIONS     (CI8, two polarisations, time:station:pol)
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# = 3 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
exec gst-launch-1.0 -q filesrc location="$1" blocksize=$((8192 * 4 * $3)) ! \
  "application/x-astro-voltages,format=CI8,layout=time:station:pol,stations=$3,pols=2" ! \
  astrotranspose ! "application/x-astro-voltages,layout=station:pol:time" ! filesink location="$2"
