#!/bin/sh
# Makes spectra from voltages by a plain Fourier transform of N samples, and voltages from these again:
#   spectrum.sh IN OUT STATIONS N    (CF32LE, two polarisations, time:station:pol; writes OUT and OUT.back)
set -eu
. "$(dirname "$0")/find-elements.sh"
[ $# = 4 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
exec gst-launch-1.0 filesrc location="$1" blocksize=$((4096 * 16 * $3)) ! \
  "application/x-astro-voltages,format=CF32LE,layout=time:station:pol,stations=$3,pols=2" ! \
  astrofft length="$4" ! tee name=spectra ! queue ! filesink location="$2" \
  spectra. ! queue ! astrofft direction=inverse ! filesink location="$2.back"
