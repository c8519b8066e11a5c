#!/bin/sh
# Cuts the voltages around a moment out of a recording or another file, and writes them as VDIF:
#   ring.sh VOLTAGES TIME DUMP.vdif [SECONDS]
# TIME is UTC, as 2026-11-20T12:00:00.25, or seconds since the start; SECONDS before and after it are written.
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# = 3 ] || [ $# = 4 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
exec gst-launch-1.0 -q astroopen input="$1" ! astroring seconds="${4:-0.1}" before="${4:-0.1}" after="${4:-0.1}" \
  trigger-at="$2" ! astrorecordsink format=vdif location="$3"
