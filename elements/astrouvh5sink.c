/**
 * SECTION:element-astrouvh5sink
 *
 * Writes visibilities to HDF5 as pyuvdata reads them (uvh5, version 1.2).
 *
 * A row is one baseline of an integration, autocorrelations included, with antenna 1 the lower
 * number and (u,v,w) of antenna 2 minus antenna 1. nsamples are the counts of good samples; values
 * without any are flagged. A baseline that the file of the source has no row of gets none, if the
 * buffers of the source come here as they are or through astroselect. Where the delays of the phase
 * centre have not been taken out, the file says that the array tracked nothing (cat_type
 * unprojected), and (u,v,w) are east, north and up.
 *
 * (u,v,w) are computed with the Earth orientation of the stream, or of an IERS file
 * (earth-orientation), and the file records it for its first day. An integration that was written
 * already is left out, with a warning. One from another stream or segment, at a time that the file
 * already has, is an error. Times are Julian dates, exact to 40 microseconds; the start is exact.
 *
 * The file is made as location.part, and gets its name at EOS, and also when the pipeline stops
 * without one (Ctrl-C, an error upstream). If writing itself failed, no file appears under the
 * name.
 *
 * An element message "astro-file" describes the finished file as astrofitssink does for
 * visibilities.
 *
 * |[
 * gst-launch-1.0 astrovissrc stations=16 num-buffers=60 ! astrouvh5sink location=sky.uvh5
 * ]|
 */
#include "elements/astrouvh5sink.h"

#include "core/uvh5/write.h"
#include "elements/base/astrostage.h"

typedef AstroRowSink AstroUvh5Sink;
typedef AstroRowSinkClass AstroUvh5SinkClass;

G_DEFINE_TYPE(AstroUvh5Sink, astro_uvh5_sink, GST_TYPE_BASE_SINK)
GST_ELEMENT_REGISTER_DEFINE(astrouvh5sink, "astrouvh5sink", GST_RANK_NONE, ASTRO_TYPE_UVH5_SINK)

static const AstroField fields[] = {
  ASTRO_ROW_SINK_FIELDS(
      "Path of the uvh5 file, written as NAME.part and renamed when it is complete"),
  { 0 },
};

static gpointer open(AstroRowSink *sink, const char *location, GError **error)
{
  return astro_uvh5_writer_new(location, error);
}

static gboolean begin(gpointer writer, const AstroStream *stream, guint stations,
                      AstroObservation *observation, GError **error)
{
  return astro_uvh5_writer_begin(writer, stream, stations, observation, error);
}

static gboolean write(gpointer writer, const AstroRowFrames *frames, AstroRowTally *tally,
                      GError **error)
{
  return astro_uvh5_writer_write(writer, frames, tally, error);
}

static gboolean finish(gpointer writer, GError **error)
{
  return astro_uvh5_writer_finish(writer, error);
}

static void discard(gpointer writer)
{
  astro_uvh5_writer_discard(writer);
}

static const AstroRowSinkKind uvh5 = {
  .format = "uvh5",
  .has_delays = TRUE,
  .open = open,
  .begin = begin,
  .write = write,
  .finish = finish,
  .discard = discard,
};

static void astro_uvh5_sink_init(AstroUvh5Sink *self)
{
  astro_row_sink_init(self);
}

static void astro_uvh5_sink_class_init(AstroUvh5SinkClass *class)
{
  astro_row_sink_install(class, &uvh5, ASTRO_UVH5_SINK_CAPS, fields);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(class), "uvh5 file sink", "Sink/File",
      "Writes visibilities to HDF5 (uvh5) for pyuvdata and the programs built on it", ASTRO_AUTHOR);
}
