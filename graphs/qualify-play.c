/* Plays pipelines to their end, and keeps what comes out of them. */
#include "graphs/qualify-play.h"
#include "core/stream/validity.h"

#define PATIENCE (60 * GST_SECOND)

static char *wait(GstElement *pipeline, const AstroQualifyPlay *play)
{
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  for (;;) {
    g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(
        bus, PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT);
    if (!message)
      return g_strdup("nothing happened for a minute");
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS)
      return NULL;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
      g_autoptr(GError) error = NULL;
      gst_message_parse_error(message, &error, NULL);
      return g_strdup(error->message);
    }
    if (play->hear)
      play->hear(message, play->data);
  }
}

char *astro_qualify_play(const char *line, const AstroQualifyPlay *play)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GstElement) pipeline =
      gst_parse_launch_full(line, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  if (!pipeline)
    return g_strdup(error->message);
  gst_object_ref_sink(pipeline);
  if (play->probe) {
    g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), play->element);
    g_autoptr(GstPad) pad = gst_element_get_static_pad(element, play->pad);
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, play->probe, play->data, NULL);
  }
  if (play->start)
    play->start(pipeline, play->data);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  char *trouble = wait(pipeline, play);
  if (play->end)
    play->end(pipeline, play->data);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return trouble;
}

/* ---- what comes out ---- */

void astro_qualify_output_clear(AstroQualifyOutput *output)
{
  g_byte_array_unref(output->values);
  g_array_unref(output->counts);
  g_array_unref(output->told);
}

static void keep_counts(AstroQualifyOutput *output, GstBuffer *buffer)
{
  const AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
  if (meta && meta->counts)
    g_array_append_vals(output->counts, meta->counts, (guint)astro_validity_n_counts(meta));
}

static GstPadProbeReturn keep(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  AstroQualifyOutput *output = data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
  AstroStream stream;
  GstMapInfo map;
  if (caps && astro_stream_from_caps(&stream, caps, NULL))
    output->format = stream.format;
  if (gst_buffer_map(buffer, &map, GST_MAP_READ)) {
    g_byte_array_append(output->values, map.data, (guint)map.size);
    gst_buffer_unmap(buffer, &map);
  }
  keep_counts(output, buffer);
  return GST_PAD_PROBE_OK;
}

static void hear(GstMessage *message, gpointer data)
{
  static const char *const fields[] = { "index", "steps" };
  AstroQualifyOutput *output = data;
  const GstStructure *s = gst_message_get_structure(message);
  double snr = 0;
  if (!gst_structure_has_name(s, "candidate"))
    return;
  for (guint i = 0; i < G_N_ELEMENTS(fields); i++) {
    guint64 whole = 0;
    gst_structure_get_uint64(s, fields[i], &whole);
    const double value = (double)whole;
    g_array_append_val(output->told, value);
  }
  gst_structure_get_double(s, "snr", &snr);
  g_array_append_val(output->told, snr);
}

char *astro_qualify_collect(const char *line, AstroQualifyOutput *output)
{
  const AstroQualifyPlay play = {
    .element = "end", .pad = "sink", .probe = keep, .hear = hear, .data = output
  };
  *output = (AstroQualifyOutput){ .values = g_byte_array_new(),
                                  .counts = g_array_new(FALSE, FALSE, sizeof(guint32)),
                                  .told = g_array_new(FALSE, FALSE, sizeof(double)) };
  return astro_qualify_play(line, &play);
}
