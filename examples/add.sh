#!/bin/sh
# Adds grids, or histograms of pairs, that separate runs wrote to files with astrofitssink:
#   add.sh OUT.fits FILE FILE...    (OUT holds the sum, to be read with astrofitssrc)
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# -ge 3 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
out=$1
shift
for file; do
  shift
  set -- "$@" astrofitssrc "location=$file" ! sum.
done
exec gst-launch-1.0 -q astroadd name=sum ! astrofitssink location="$out" "$@"
