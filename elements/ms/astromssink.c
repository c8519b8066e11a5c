/**
 * SECTION:element-astromssink
 *
 * Writes visibilities as a Measurement Set, for CASA, WSClean and other programs on casacore.
 *
 * The set has one spectral window, one field and the columns DATA, FLAG, WEIGHT, WEIGHT_SPECTRUM,
 * SIGMA and UVW. A row is one baseline of an integration, autocorrelations included. Its weights
 * are the counts of good samples (WEIGHT their mean over the channels), and values without any are
 * flagged. A baseline that the file of the source has no row of gets none, if the buffers of the
 * source come here as they are or through astroselect. ANTENNA1 is the lower number, and UVW is
 * antenna 1 minus antenna 2, as in sets made from UVFITS by casacore: values times exp(-2 pi i (u l
 * + v m + w (n - 1))) add up at a source.
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
 * With column the set must be there, and the stream goes back to it: values to CORRECTED_DATA or
 * MODEL_DATA, which are added where they are missing, or to DATA; or flags to FLAG, where the
 * stream has no good values. The stream needs the stations, channels and times of the set, as
 * astromssrc gives them. Values without good samples leave those of the set as they are, as do
 * integrations that do not come; what was written before an error stays.
 *
 * An element message "astro-file" describes the finished set as astrofitssink does for
 * visibilities.
 *
 * |[
 * gst-launch-1.0 astrovissrc stations=16 num-buffers=60 ! astromssink location=sky.ms
 * gst-launch-1.0 astromssrc location=sky.ms ! astroflag ! astromssink location=sky.ms column=FLAG
 * ]|
 */
#include "elements/ms/astromssink.h"

#include "core/sets/sets.h"
#include "elements/base/astrostage.h"

typedef struct {
  AstroRowSink parent;
  char *column; /* property */
} AstroMsSink;
typedef AstroRowSinkClass AstroMsSinkClass;

G_DEFINE_TYPE(AstroMsSink, astro_ms_sink, GST_TYPE_BASE_SINK)
GST_ELEMENT_REGISTER_DEFINE(astromssink, "astromssink", GST_RANK_NONE, ASTRO_TYPE_MS_SINK)

static const AstroField fields[] = {
  ASTRO_ROW_SINK_FIELDS("Path of the Measurement Set, a folder, made as NAME.part and renamed when "
                        "it is complete"),
  ASTRO_TEXT(AstroMsSink, column, "column", "Column",
             "Write back to this column of a set that exists: CORRECTED_DATA, MODEL_DATA, DATA or "
             "FLAG (unset: make a new set)",
             NULL),
  { 0 },
};

/* One of both. */
typedef struct {
  AstroSetWriter *writer;
  AstroSetUpdate *update;
} Output;

static gpointer open(AstroRowSink *sink, const char *location, GError **error)
{
  g_autofree char *column = astro_fields_copy_text(sink, &((AstroMsSink *)sink)->column);
  Output output = { 0 };
  if (astro_field_given(column))
    output.update = astro_set_update_new(location, column, error);
  else
    output.writer = astro_set_writer_new(location, error);
  return output.writer || output.update ? g_memdup2(&output, sizeof output) : NULL;
}

static gboolean begin(gpointer data, const AstroStream *stream, guint stations,
                      AstroObservation *observation, GError **error)
{
  const Output *output = data;
  return output->update
             ? astro_set_update_begin(output->update, stream, stations, observation, error)
             : astro_set_writer_begin(output->writer, stream, stations, observation, error);
}

static gboolean write(gpointer data, const AstroRowFrames *frames, AstroRowTally *tally,
                      GError **error)
{
  const Output *output = data;
  return output->update ? astro_set_update_write(output->update, frames, tally, error)
                        : astro_set_writer_write(output->writer, frames, tally, error);
}

static gboolean finish(gpointer data, GError **error)
{
  g_autofree Output *output = data;
  return output->update ? astro_set_update_finish(output->update, error)
                        : astro_set_writer_finish(output->writer, error);
}

static void discard(gpointer data)
{
  g_autofree Output *output = data;
  g_clear_pointer(&output->update, astro_set_update_discard);
  g_clear_pointer(&output->writer, astro_set_writer_discard);
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
  astro_row_sink_init(&self->parent);
}

static void astro_ms_sink_class_init(AstroMsSinkClass *class)
{
  astro_row_sink_install(class, &set, ASTRO_SET_CAPS, fields);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(class), "Measurement Set sink", "Sink/File",
      "Writes visibilities as a Measurement Set for CASA, WSClean and other programs on casacore",
      ASTRO_AUTHOR);
}
