#!/bin/sh
# Adds grids, or histograms of pairs, that runs of their own left in files of astrofitssink:
#   add.sh OUT.fits FILE FILE...    (OUT has the sum, for astrofitssrc again)
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
