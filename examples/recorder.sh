#!/bin/sh
# Makes visibilities from a recording of several stations (VDIF, DADA):
#   recorder.sh FILES POSITIONS RA,DEC HZ OUT.uvfits [PROPERTY=VALUE...]
# FILES is a name or a pattern in quotes, POSITIONS a file of lines x y z [name] in metres, in the order of the
# stations, HZ the centre of the band. VDIF may need threads=station, and rate=32e6 if it is within a second.
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# -ge 5 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
files=$1 positions=$2 centre=$3 frequency=$4 out=$5
shift 5
exec gst-launch-1.0 -q astrorecordsrc location="$files" array="$positions" frequency="$frequency" "$@" ! \
  astroobserve phase-centre="$centre" ! astroconvert ! astrodelay ! astrochannelizer channels=64 ! astrotranspose ! \
  astrocorrelator integration=1000 ! astrofitssink location="$out"
