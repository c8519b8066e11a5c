#!/bin/sh
# Makes visibilities from voltages in a file of astrofitssink, with a correlator for each half of the band:
#   bands.sh IN.fits OUT.uvfits CHANNELS    (an even number, over the whole band)
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# = 3 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
half=$(($3 / 2))
exec gst-launch-1.0 -q astrojoin name=join axis=channel ! astrofitssink location="$2" \
  astrofitssrc location="$1" ! astrodelay ! astrochannelizer channels="$3" ! tee name=band \
  band. ! queue ! astroselect channels=0-$((half - 1)) ! astrotranspose ! astrocorrelator integration=100 ! join.sink_0 \
  band. ! queue ! astroselect channels=$half- ! astrotranspose ! astrocorrelator integration=100 ! join.sink_1
