#!/bin/sh
# Shows a simulated array's spectra as a waterfall in the browser, in real time, at http://127.0.0.1:8080/
#   waterfall.sh [CHANNELS]
set -eu
. "$(dirname "$0")/find-elements.sh"
exec gst-launch-1.0 astroskysrc stations=8 sky=0.01,0.02,5 noise=1 duration=3600 ! \
  astrochannelizer channels="${1:-128}" ! astrorender ! jpegenc ! astrohttpsink sync=true
