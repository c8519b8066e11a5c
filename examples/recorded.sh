#!/bin/sh
# Makes visibilities from voltages that were recorded separately, each file written by astrofitssink:
#   recorded.sh OUT.uvfits AXIS CHANNELS FILE...    (AXIS: station for receivers, pol for polarisations)
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# -ge 4 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
out=$1 axis=$2 channels=$3
shift 3
for file; do
  shift
  set -- "$@" astrofitssrc "location=$file" ! join.
done
exec gst-launch-1.0 -q astrojoin name=join axis="$axis" ! astrodelay ! astrochannelizer channels="$channels" ! \
  astrotranspose ! astrocorrelator integration=100 ! astrofitssink location="$out" "$@"
