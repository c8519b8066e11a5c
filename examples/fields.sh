#!/bin/sh
# Makes images around two places from one file of visibilities, in one run:
#   fields.sh IN.uvfits PIXELS CELL RA,DEC OUT.fits RA,DEC OUT.fits    (arcsec a pixel; degrees or 13:31:08.3,+30:30:33)
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# = 7 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
image="astrogridder size=$2 cell=$3 ! astrofft ! astroimage ! astrofitssink"
# shellcheck disable=SC2086
exec gst-launch-1.0 -q astrofitssrc location="$1" ! tee name=all \
  all. ! queue ! astrophaseshift centre="$4" ! $image location="$5" \
  all. ! queue ! astrophaseshift centre="$6" ! $image location="$7"
