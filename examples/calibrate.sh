#!/bin/sh
# Solves the gains of stations on a calibrator, and divides them out of the visibilities of a target:
#   calibrate.sh CALIBRATOR.uvfits FLUX TARGET.uvfits OUT.uvfits    (FLUX of the calibrator at the phase centre, Jy)
# One solution of all of the calibrator's time holds at all times (interval=0). Gains go to OUT.gains.fits.
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# = 4 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
gains=${4%.uvfits}.gains.fits
gst-launch-1.0 -m astrofitssrc location="$1" ! \
  astrocalibrate mode=solve sky="0,0,$2" type=gain interval=0 location="$gains" ! fakesink
gst-launch-1.0 astrofitssrc location="$3" ! \
  astrocalibrate mode=apply location="$gains" ! astrofitssink location="$4"
