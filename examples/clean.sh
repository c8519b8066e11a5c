#!/bin/sh
# Makes a cleaned image from visibilities in a UVFITS file, with its model and residual:
#   clean.sh IN.uvfits OUT.fits SIZE CELL [THRESHOLD]
# (SIZE in pixels a side, twice the field that has sources; CELL in arcsec a pixel; THRESHOLD in Jy/beam)
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# -ge 4 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
exec gst-launch-1.0 -m astrofitssrc location="$1" ! astrogridder size="$3" cell="$4" ! astrofft ! \
  astroimage ! astroclean iterations=10000 threshold="${5:-0}" output=all ! \
  astrofitssink location="$2"
