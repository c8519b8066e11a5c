#!/bin/sh
# The (u,v) grid of a UVFITS file, its planes in w one after the other, to a file of complex numbers; prints
# how many visibilities were used, and what was left out:
#   grid.sh IN.uvfits OUT SIZE CELL    (pixels a side and arcsec a pixel of the image that it is for)
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# = 4 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
gst-launch-1.0 -m astrofitssrc location="$1" ! astrogridder size="$3" cell="$4" ! filesink location="$2" |
  grep -E 'astro-gridder,|ERROR|WARNING'
