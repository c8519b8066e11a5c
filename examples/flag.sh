#!/bin/sh
# Visibilities in a file that astrofitssink wrote, with interference flagged: a weight of 0.
#   flag.sh VISIBILITIES.uvfits FLAGGED.uvfits [THRESHOLD]
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# = 2 ] || [ $# = 3 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
exec gst-launch-1.0 -q astrofitssrc location="$1" ! astroflag method=threshold threshold="${3:-5}" ! \
  astrofitssink location="$2"
