#!/bin/sh
# Writes the (u,v) grid of a UVFITS file to a file of complex numbers, its w-planes one after the other, and prints
# how many visibilities were used and how many were left out:
#   grid.sh IN.uvfits OUT SIZE CELL    (pixels a side and arcsec a pixel of the image to be made from it)
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# = 4 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
gst-launch-1.0 -m astrofitssrc location="$1" ! astrogridder size="$3" cell="$4" ! filesink location="$2" |
  grep -E 'astro-gridder,|ERROR|WARNING'
