#!/bin/sh
# Makes visibilities from your own voltages, as they come from a pipe or a socket:
#   ... | voltages.sh STATIONS SAMPLES-A-SECOND HZ POSITIONS RA,DEC START OUT.uvfits
# CI8 samples, two polarisations, time:station:pol; POSITIONS as described by
# `gst-inspect-1.0 astroobserve`; START as 2026-11-20T12:00:00
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# = 7 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
exec gst-launch-1.0 -e fdsrc ! \
  "application/x-astro-voltages,format=CI8,layout=time:station:pol,stations=$1,pols=2,rate=$2/1,frequency=(double)$3,bandwidth=(double)$2" ! \
  astroobserve array="$4" phase-centre="$5" start-time="$6" ! \
  astrodelay ! astrochannelizer channels=64 ! astrotranspose ! astrocorrelator integration=1000 ! \
  astrofitssink location="$7"
