#!/bin/sh
# Correlates voltages of a polarised source with a spectral line beside it, as a UVFITS file:
#   polarised.sh OUT.uvfits [BASIS [RFI]]    (BASIS: linear or circular; RFI: frequency,power;... in Hz and Jy)
# RFI="150.2e6,5,stations=0-3,period=0.1,on=0.01;random,1,count=3,width=2e4" is a tone and three bands.
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# -ge 1 ] && [ $# -le 3 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
exec gst-launch-1.0 -q astroskysrc stations=16 noise=10 duration=1 basis="${2:-linear}" ${3:+rfi="$3"} \
  sky="0,0,5,q=1.5,u=-1,v=0.3,rm=25;0.004,0.003,0,line=150.1e6:1e5:20" ! \
  application/x-astro-voltages,format=CI8 ! astrodelay ! astrochannelizer channels=64 ! astrotranspose ! \
  astrocorrelator integration=5000 ! astrofitssink location="$1"
