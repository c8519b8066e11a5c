#!/bin/sh
# Profiles of a pulsar by its ephemeris (a .par file), from a recording of voltages, a minute each:
#   fold.sh RECORDING EPHEMERIS.par STATIONS.txt PROFILES.fits
# STATIONS.txt has the telescope's place, x y z in metres (geocentric), for the way to the barycentre.
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# = 4 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
exec gst-launch-1.0 -q astroopen input="$1" ! astroobserve array="$3" ! astrochannelizer channels=256 ! \
  astropower products=I:Q:U:V integration-time=0.0005 ! astrofold ephemeris="$2" bins=256 interval=60 ! \
  astrofitssink location="$4"
