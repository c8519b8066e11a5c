#!/bin/sh
# Makes an image around a place other than the phase centre of the visibilities:
#   shift.sh IN.uvfits RA,DEC OUT.fits PIXELS CELL    (degrees or 13:31:08.3,+30:30:33; arcsec a pixel)
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# = 5 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
exec gst-launch-1.0 -m astrofitssrc location="$1" ! astrophaseshift centre="$2" ! \
  astrogridder size="$4" cell="$5" ! astrofft ! astroimage ! astrofitssink location="$3"
