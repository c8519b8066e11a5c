#!/bin/sh
# Joins the samples of several receivers, in one file each, and writes them as one stream:
#   receivers.sh OUT RATE STATIONS FILE...    (CI8, two polarisations, time:station:pol, STATIONS in each file)
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# -ge 4 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
out=$1 caps="application/x-astro-voltages,format=CI8,layout=time:station:pol,stations=$3,pols=2,rate=$2/1"
bytes=$((8192 * 4 * $3))
shift 3
for file; do
  shift
  set -- "$@" filesrc "location=$file" "blocksize=$bytes" ! "$caps" ! join.
done
exec gst-launch-1.0 -q astrojoin name=join axis=station ! filesink location="$out" "$@"
