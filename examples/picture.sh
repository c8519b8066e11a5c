#!/bin/sh
# A FITS image (of a cube the mean of its channels) as PNG; properties of astrorender may follow:
#   picture.sh IN.fits OUT.png [percent=99.5 colormap=inferno scaling=exact theme=light ...]
set -eu
[ $# -ge 2 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
in=$1 out=$2
shift 2
exec gst-launch-1.0 -q astrofitssrc location="$in" ! astrorender "$@" ! pngenc snapshot=true ! filesink location="$out"
