#!/bin/sh
# Stokes parameters of voltages in a file that astrofitssink wrote, one value a second for each of 64 channels:
#   stokes.sh VOLTAGES.fits STOKES.fits [SECONDS]
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# = 2 ] || [ $# = 3 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
exec gst-launch-1.0 -q astrofitssrc location="$1" ! astrochannelizer channels=64 ! \
  astropower products=I:Q:U:V integration-time="${3:-1}" ! astrofitssink location="$2"
