#!/bin/sh
# Writes a recording in another format, or packets of VDIF as a recording, in files of a minute each:
#   recordings.sh IN OUT FORMAT [PROPERTY=VALUE...]
# IN is what astroopen takes: a name, a pattern in quotes, or udp://:PORT?packet=vdif&stations=0,1&pols=2&rate=1000000,
# until Ctrl-C. FORMAT is vdif, dada, guppi or sigproc; properties are those of astrorecordsink, as bits=2. OUT gets the
# time of a file's first sample before its ending.
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# -ge 3 ] || { sed -n '2,6s/^# //p' "$0" >&2; exit 2; }
in=$1 out=$2 format=$3
shift 3
exec gst-launch-1.0 -q -e astroopen input="$in" ! queue max-size-buffers=64 max-size-bytes=0 max-size-time=0 ! \
  astrorecordsink format="$format" max-file-duration=60000000000 location="$out" "$@"
