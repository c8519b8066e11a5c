#!/bin/sh
# Converts floating-point samples to 4 bits, scaled by the first block; -m prints how many were clipped:
#   requantise.sh IN OUT STATIONS    (CF32LE in, CI4 out, two polarisations, time:station:pol)
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# = 3 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
exec gst-launch-1.0 -m filesrc location="$1" blocksize=$((8192 * 16 * $3)) ! \
  "application/x-astro-voltages,format=CF32LE,layout=time:station:pol,stations=$3,pols=2" ! \
  astroconvert scale=auto ! "application/x-astro-voltages,format=CI4" ! filesink location="$2"
