#!/bin/sh
# Searches a recording, or power such as a SIGPROC filterbank, for fast bursts, and tells the candidates:
#   search.sh voltages|power FILE CANDIDATES.csv [FROM:TO:STEP of dispersion measures]
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# = 3 ] || [ $# = 4 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
case $1 in
  voltages) detect="! astrochannelizer channels=256 ! astropower integration-time=0.001" ;;
  power) detect="! application/x-astro-power" ;;
  *) echo "search.sh: the first argument is $1, expected voltages or power" >&2; exit 2 ;;
esac
exec gst-launch-1.0 -m astroopen input="$2" $detect ! astrodedisperse dm="${4:-0:500:1}" ! \
  astrosearch location="$3" ! fakesink
