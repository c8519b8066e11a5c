#!/bin/sh
# Makes one image from the visibilities of several nights, which are gridded separately and added:
#   nights.sh OUT.fits PIXELS CELL IN.uvfits...    (pixels a side, arcsec a pixel; one phase centre)
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# -ge 4 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
out=$1 grid="astrogridder size=$2 cell=$3 algorithm=wprojection"
shift 3
for file; do
  shift
  # shellcheck disable=SC2086
  set -- "$@" astrofitssrc "location=$file" ! $grid ! sum.
done
exec gst-launch-1.0 -q astroadd name=sum ! astrofft ! astroimage ! astrofitssink location="$out" "$@"
