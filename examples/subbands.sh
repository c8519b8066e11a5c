#!/bin/sh
# A second filter bank: voltages of a simulated sky become 8 subbands, as stations with filter banks of their own send
# them, and each subband is split into 16 channels:
#   subbands.sh OUT.uvfits
# For subbands in files put filesrc and their caps (application/x-astro-spectra) before the second filter bank.
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# = 1 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
exec gst-launch-1.0 -e astroskysrc stations=6 duration=0.1 ! astrodelay ! \
  astrochannelizer channels=8 ! astrochannelizer channels=16 ! \
  astrotranspose ! astrocorrelator integration=50 ! astrofitssink location="$1"
