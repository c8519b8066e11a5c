#!/bin/sh
# Makes visibilities from a file of VDIF frames, as recorders write them, of complex samples:
#   packets.sh IN.vdif STATION,STATION,... SAMPLES-A-SECOND HZ POSITIONS RA,DEC OUT.uvfits
# Two polarisations, as threads 0 and 1 of each station; stations are numbers or codes of two letters, in the
# order of POSITIONS, a file of lines x y z in metres. Frames that are missing lower the weights.
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# = 7 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
exec gst-launch-1.0 filesrc location="$1" ! \
  astrodepay packet=vdif stations="$2" pols=2 rate="$3" frequency="$4" bandwidth="$3" ! \
  astroobserve array="$5" phase-centre="$6" ! astroconvert ! \
  astrodelay ! astrochannelizer channels=64 ! astrotranspose ! astrocorrelator integration=1000 ! \
  astrofitssink location="$7"
