#!/bin/sh
# Draws a FITS image (for a cube the mean of its channels) as PNG; properties of astrorender may follow:
#   picture.sh IN.fits OUT.png [percent=99.5 colormap=inferno scaling=exact theme=light ...]
set -eu
[ $# -ge 2 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
program=$(command -v gst-astro) || program=$(dirname "$0")/../gst-astro
[ -x "$program" ] && [ ! -d "$program" ] || { echo "picture.sh: gst-astro is not on PATH, nor above this folder: ./bootstrap or make install makes it" >&2; exit 1; }
in=$1 out=$2 properties=
shift 2
for property; do
  case $property in
    *=*) properties="$properties ${property%%=*}=\"${property#*=}\"" ;;
    *) echo "picture.sh: $property: expected a property of astrorender as NAME=VALUE" >&2; exit 2 ;;
  esac
done
exec "$program" run --quiet - in="$in" out="$out" <<END
@in "" "the image"
@out "" "the picture"
astrofitssrc location=\${in} ! astrorender$properties ! pngenc snapshot=true ! filesink location=\${out}
END
