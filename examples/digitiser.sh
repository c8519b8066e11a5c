#!/bin/sh
# Makes visibilities from real 8-bit samples, as from digitisers without a mixer to zero frequency:
#   ... | digitiser.sh STATIONS SAMPLES-A-SECOND HZ POSITIONS RA,DEC START OUT.uvfits
# I8 samples, two polarisations, time:station:pol; HZ is the centre of the band, whose width is half the sample rate;
# POSITIONS and START as in voltages.sh.
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# = 7 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
exec gst-launch-1.0 -e fdsrc ! \
  "application/x-astro-voltages,format=I8,layout=time:station:pol,stations=$1,pols=2,rate=$2/1,frequency=(double)$3,bandwidth=(double)$(($2 / 2))" ! \
  astroobserve array="$4" phase-centre="$5" start-time="$6" ! \
  astrodelay ! astrochannelizer channels=64 ! astrotranspose ! astrocorrelator integration=1000 ! \
  astrofitssink location="$7"
