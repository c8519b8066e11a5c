#!/bin/sh
# Tied-array beams of voltages in a file (graph voltages or record makes one), as spectra in another file:
#   beams.sh IN.fits BEAMS CHANNELS OUT.fits
# BEAMS are directions, "l,m;l,m" or "ra,dec;ra,dec", or a file of them: gst-inspect-1.0 astrobeamform. In the place of
# astrofitssink, astropower detects them.
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# = 4 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
exec gst-launch-1.0 -e astrofitssrc location="$1" ! astrodelay ! astrochannelizer channels="$3" ! astrotranspose ! \
  astrobeamform beams="$2" ! astrofitssink location="$4"
