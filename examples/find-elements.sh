# Sourced by the examples that call gst-launch-1.0. --help prints the lines at their top. If GStreamer does not
# find our elements by itself, they are looked for beside gst-astro, built or installed.
case ${1-} in
  -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit 0 ;;
esac
if ! gst-inspect-1.0 --exists astrogridder 2>/dev/null; then
  program=$(command -v gst-astro) || program=$(dirname "$0")/../gst-astro
  [ -e "$program" ] || program=$(dirname "$0")/../../../bin/gst-astro
  place=$(dirname "$(readlink -f "$program")")/..
  for folder in "$place"/elements/.libs "$place"/lib/gstreamer-1.0 "$place"/lib/*/gstreamer-1.0; do
    [ -e "$folder/libgstastro.so" ] || continue
    # GST_PLUGIN_PATH_1_0 overrides GST_PLUGIN_PATH if it is set.
    export GST_PLUGIN_PATH="$folder${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}"
    [ -z "${GST_PLUGIN_PATH_1_0-}" ] || export GST_PLUGIN_PATH_1_0="$folder:$GST_PLUGIN_PATH_1_0"
    break
  done
fi
