#!/bin/sh
# Keeps the visibilities of some stations of a file:
#   subset.sh IN.uvfits OUT.uvfits STATIONS    (0-3,7,NAME: numbers from 0, ranges and names)
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# = 3 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
exec gst-launch-1.0 -q astrofitssrc location="$1" ! astroselect stations="$3" ! \
  astrofitssink location="$2"
