#!/bin/sh
# Predicts six hours of visibilities of a sky, as a UVFITS file; NOISE in Jy; a tenth of all data is lost:
#   predict.sh SKY OUT.uvfits [NOISE]    (SKY: l,m,flux;l,m,flux or a file of ra dec flux)
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# = 2 ] || [ $# = 3 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
exec gst-launch-1.0 -m astrovissrc sky="$1" stations=44 start-time=2026-11-20T09:00:00 duration=21600 \
  integration=60 noise="${3:-0}" loss=0.1 ! astrofitssink location="$2"
