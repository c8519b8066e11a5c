#!/bin/sh
# Images visibilities, cleans them once, and images what is left of them without CLEAN's model:
#   residual.sh IN.uvfits MODEL.fits RESIDUAL.fits PIXELS CELL    (arcsec a pixel)
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# = 5 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
gst-launch-1.0 -m astrofitssrc location="$1" ! astrogridder size="$4" cell="$5" ! astrofft ! \
  astroimage stokes=I ! astroclean output=model ! astrofitssink location="$2"
exec gst-launch-1.0 -m astrofitssrc location="$1" ! astrodegridder model="$2" subtract=true ! \
  astrogridder size="$4" cell="$5" ! astrofft ! astroimage stokes=I ! astrofitssink location="$3"
