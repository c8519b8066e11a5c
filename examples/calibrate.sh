#!/bin/sh
# Solves the gains of stations on a calibrator, and divides them out of the visibilities of a target.
# calibrate.sh CALIBRATOR.uvfits FLUX TARGET.uvfits OUT.uvfits: FLUX is that of the calibrator, which was
# the phase centre, in Jy. One solution of all of its time holds at all times (interval=0).
set -e
[ $# -eq 4 ] || { echo "usage: $0 CALIBRATOR.uvfits FLUX TARGET.uvfits OUT.uvfits" >&2; exit 2; }
gains=${4%.uvfits}.gains.fits
gst-launch-1.0 -m astrofitssrc location="$1" ! \
  astrocalibrate mode=solve sky="0,0,$2" type=gain interval=0 location="$gains" ! fakesink
gst-launch-1.0 astrofitssrc location="$3" ! \
  astrocalibrate mode=apply location="$gains" ! astrofitssink location="$4"
