/**
 * SECTION:element-astromssink
 *
 * Writes visibilities as a Measurement Set, for CASA, WSClean and other programs on casacore.
 *
 * The set has one spectral window, one field and the columns DATA, FLAG, WEIGHT, WEIGHT_SPECTRUM,
 * SIGMA and UVW. A row is one baseline of an integration, autocorrelations included. Its weights
 * are the counts of good samples (WEIGHT their mean over the channels), and values without any are
 * flagged. ANTENNA1 is the lower number, and UVW is antenna 1 minus antenna 2, as in sets made from
 * UVFITS by casacore: values times exp(-2 pi i (u l + v m + w (n - 1))) add up at a source.
 *
 * (u,v,w) are computed with the Earth orientation of the stream, or of an IERS file
 * (earth-orientation), and a keyword of the set records it. An integration that was written already
 * is left out, with a warning. One from another stream or segment, at a time that the set already
 * has, is an error. casacore rounds times to a microsecond.
 *
 * The set is made as location.part, and gets its name at EOS, and also when the pipeline stops
 * without one (Ctrl-C, an error upstream). If writing itself failed, no set appears under the name.
 * A set that was there before is replaced only then; a folder that is no set is never replaced.
 *
 * An element message "astro-file" describes the finished set as astrofitssink does for
 * visibilities.
 *
 * |[
 * gst-launch-1.0 astrovissrc stations=16 num-buffers=60 ! astromssink location=sky.ms
 * ]|
 */
#include "elements/ms/astromssink.h"

#include "core/sets/sets.h"
#include "elements/base/astrostage.h"

typedef AstroRowSink AstroMsSink;
typedef AstroRowSinkClass AstroMsSinkClass;

G_DEFINE_TYPE(AstroMsSink, astro_ms_sink, GST_TYPE_BASE_SINK)
GST_ELEMENT_REGISTER_DEFINE(astromssink, "astromssink", GST_RANK_NONE, ASTRO_TYPE_MS_SINK)

static const AstroField fields[] = {
  ASTRO_ROW_SINK_FIELDS("Path of the Measurement Set, a folder, made as NAME.part and renamed when "
                        "it is complete"),
  { 0 },
};

static gpointer open(const char *location, GError **error)
{
  return astro_set_writer_new(location, error);
}

static gboolean begin(gpointer writer, const AstroStream *stream, guint stations,
                      AstroObservation *observation, GError **error)
{
  return astro_set_writer_begin(writer, stream, stations, observation, error);
}

static gboolean write(gpointer writer, const AstroRowFrames *frames, AstroRowTally *tally,
                      GError **error)
{
  return astro_set_writer_write(writer, frames, tally, error);
}

static gboolean finish(gpointer writer, GError **error)
{
  return astro_set_writer_finish(writer, error);
}

static void discard(gpointer writer)
{
  astro_set_writer_discard(writer);
}

static const AstroRowSinkKind set = {
  .format = "Measurement Set",
  .open = open,
  .begin = begin,
  .write = write,
  .finish = finish,
  .discard = discard,
};

static void astro_ms_sink_init(AstroMsSink *self)
{
  astro_row_sink_init(self);
}

static void astro_ms_sink_class_init(AstroMsSinkClass *class)
{
  astro_row_sink_install(class, &set, ASTRO_SET_CAPS, fields);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(class), "Measurement Set sink", "Sink/File",
      "Writes visibilities as a Measurement Set for CASA, WSClean and other programs on casacore",
      ASTRO_AUTHOR);
}
