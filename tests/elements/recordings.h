/* Recordings made byte by byte, as their specifications have them, and what astrorecordsrc makes of
 * them. */
#pragma once

#include <glib/gstdio.h>
#include <math.h>

#include "core/stream/observation.h"
#include "core/stream/stream.h"
#include "core/stream/validity.h"
#include "tests/elements/elements.h"

/* ---- bytes of files ---- */

static inline void recording_word(GByteArray *bytes, guint32 word)
{
  const guint32 little = GUINT32_TO_LE(word);
  g_byte_array_append(bytes, (const guint8 *)&little, 4);
}

/* 2020-02-02T02:02:02, in an epoch that began at 2020-01-01. */
#define RECORDING_EPOCH 40u
#define RECORDING_SECOND ((guint32)(32 * 86400 + 2 * 3600 + 2 * 60 + 2))
#define RECORDING_MJD 58881
#define RECORDING_NS ((guint64)7322 * GST_SECOND)

typedef struct {
  guint second; /* since RECORDING_SECOND */
  guint number, thread, station, bits, log_channels;
  gboolean is_complex, is_invalid, is_legacy;
  guint claimed_khz; /* in extended data of version 1; 0: there are none */
} RecordingVdif;

static inline void recording_vdif(GByteArray *bytes, const RecordingVdif *v, const guint8 *payload,
                                  gsize n)
{
  const guint header = v->is_legacy ? 16 : 32;
  recording_word(bytes, (v->is_invalid ? 1u << 31 : 0) | (v->is_legacy ? 1u << 30 : 0) |
                            (RECORDING_SECOND + v->second));
  recording_word(bytes, RECORDING_EPOCH << 24 | v->number);
  recording_word(bytes, v->log_channels << 24 | (guint32)(header + n) / 8);
  recording_word(bytes, (v->is_complex ? 1u << 31 : 0) | (v->bits - 1) << 26 | v->thread << 16 |
                            v->station);
  for (guint i = 16; i < header; i += 4)
    recording_word(bytes, v->claimed_khz == 0 || i > 20 ? 0
                          : i == 16                     ? 1u << 24 | v->claimed_khz
                                                        : 0xacabfeed);
  g_byte_array_append(bytes, payload, (guint)n);
}

/* Header lines of DADA, filled up with zeros. */
static inline void recording_dada(GByteArray *bytes, const char *lines)
{
  const guint from = bytes->len;
  g_byte_array_append(bytes, (const guint8 *)lines, (guint)strlen(lines));
  g_byte_array_set_size(bytes, from + 4096);
  memset(bytes->data + from + strlen(lines), 0, 4096 - strlen(lines));
}

/* Cards of GUPPI from lines "KEY value". */
static inline void recording_guppi(GByteArray *bytes, const char *lines, gboolean is_direct)
{
  const guint from = bytes->len;
  g_auto(GStrv) all = g_strsplit(lines, "\n", -1);
  for (guint i = 0; all[i] && *all[i]; i++) {
    g_auto(GStrv) parts = g_strsplit(all[i], " ", 2);
    g_autofree char *text = g_strdup_printf("%-8s= %s", parts[0], parts[1]);
    g_autofree char *card = g_strdup_printf("%-80s", text);
    g_byte_array_append(bytes, (const guint8 *)card, 80);
  }
  g_autofree char *end = g_strdup_printf("%-80s", "END");
  g_byte_array_append(bytes, (const guint8 *)end, 80);
  while (is_direct && (bytes->len - from) % 512)
    g_byte_array_append(bytes, (const guint8 *)"\0", 1);
}

static inline guint32 recording_digits(guint value, guint n)
{
  guint32 word = 0;
  for (guint i = 0; i < n; i++, value /= 10)
    word |= value % 10 << 4 * i;
  return word;
}

static inline void recording_mark5b(GByteArray *bytes, guint day, guint second, guint number,
                                    const guint8 *payload)
{
  recording_word(bytes, 0xabaddeed);
  recording_word(bytes, number);
  recording_word(bytes, recording_digits(day, 3) << 20 | recording_digits(second, 5));
  recording_word(bytes, 0);
  g_byte_array_append(bytes, payload, 10000);
}

static inline char *recording_save(GByteArray *bytes, const char *name)
{
  char *path = g_build_filename(g_get_tmp_dir(), name, NULL);
  g_assert_true(g_file_set_contents(path, (const char *)bytes->data, (gssize)bytes->len, NULL));
  g_byte_array_unref(bytes);
  return path;
}

/* A keyword of SIGPROC with its value: of a number of bytes, or none. */
static inline void recording_sigproc(GByteArray *bytes, const char *name, gconstpointer value,
                                     gsize n)
{
  recording_word(bytes, (guint32)strlen(name));
  g_byte_array_append(bytes, (const guint8 *)name, (guint)strlen(name));
  if (n)
    g_byte_array_append(bytes, value, (guint)n);
}

static inline void recording_sigproc_whole(GByteArray *bytes, const char *name, gint32 value)
{
  const gint32 little = GINT32_TO_LE(value);
  recording_sigproc(bytes, name, &little, sizeof little);
}

static inline void recording_sigproc_real(GByteArray *bytes, const char *name, double value)
{
  guint64 little;
  memcpy(&little, &value, sizeof little);
  little = GUINT64_TO_LE(little);
  recording_sigproc(bytes, name, &little, sizeof little);
}

/* ---- what is read ---- */

typedef struct {
  GstElement *pipeline;
  AstroStream stream;
  AstroObservation *observation;
  GPtrArray *buffers;
  char *error;
  GString *warnings;
  GstStructure *file; /* what an astrorecordsink said of its last file */
  gboolean is_over;
} Recorded;

static inline void recorded_take(Recorded *r, GstSample *sample, GstElement *sink)
{
  if (r->buffers->len == 0) {
    g_autoptr(GstPad) pad = gst_element_get_static_pad(sink, "sink");
    GstEvent *event = gst_pad_get_sticky_event(pad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, 0);
    g_assert_true(astro_stream_from_caps(&r->stream, gst_sample_get_caps(sample), NULL));
    g_assert_nonnull(event);
    r->observation = astro_observation_from_event(event, NULL);
    g_assert_nonnull(r->observation);
    gst_event_unref(event);
  }
  g_ptr_array_add(r->buffers, gst_buffer_ref(gst_sample_get_buffer(sample)));
  gst_sample_unref(sample);
}

static inline void recorded_messages(Recorded *r)
{
  g_autoptr(GstBus) bus = gst_element_get_bus(r->pipeline);
  GstMessage *message;
  while ((message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING |
                                                  GST_MESSAGE_ELEMENT | GST_MESSAGE_EOS))) {
    GError *said = NULL;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS) {
      r->is_over = TRUE;
    } else if (gst_message_has_name(message, "astro-file")) {
      g_clear_pointer(&r->file, gst_structure_free);
      r->file = gst_structure_copy(gst_message_get_structure(message));
    } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING) {
      gst_message_parse_warning(message, &said, NULL);
      g_string_append_printf(r->warnings, "%s\n", said->message);
    } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
      gst_message_parse_error(message, &said, NULL);
      if (!r->error)
        r->error = g_strdup(said->message);
    }
    g_clear_error(&said);
    gst_message_unref(message);
  }
}

static inline void recorded_clear(Recorded *r)
{
  if (r->observation)
    astro_observation_unref(r->observation);
  g_ptr_array_unref(r->buffers);
  g_string_free(r->warnings, TRUE);
  g_clear_pointer(&r->file, gst_structure_free);
  g_free(r->error);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Recorded, recorded_clear)

/* Takes all that comes to the appsink "sink" of a line; from: seconds to which it seeks first, if
 * above 0. */
static inline Recorded recorded_run(const char *line, double from)
{
  Recorded r = { .buffers = g_ptr_array_new_with_free_func((GDestroyNotify)gst_buffer_unref),
                 .warnings = g_string_new(NULL) };
  r.pipeline = gst_parse_launch(line, NULL);
  g_assert_nonnull(r.pipeline);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(r.pipeline), "sink");
  gst_element_set_state(r.pipeline, from > 0 ? GST_STATE_PAUSED : GST_STATE_PLAYING);
  if (from > 0) {
    gst_element_get_state(r.pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
    g_assert_true(gst_element_seek_simple(r.pipeline, GST_FORMAT_TIME,
                                          GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE,
                                          (gint64)(from * GST_SECOND)));
    gst_element_set_state(r.pipeline, GST_STATE_PLAYING);
  }
  for (;;) {
    GstSample *sample = NULL;
    g_signal_emit_by_name(sink, "try-pull-sample", GST_SECOND, &sample);
    recorded_messages(&r);
    if (sample)
      recorded_take(&r, sample, sink);
    else if (r.error || r.is_over)
      break;
    else
      g_usleep(1000); /* another sink is not at its end yet */
  }
  recorded_messages(&r);
  gst_element_set_state(r.pipeline, GST_STATE_NULL);
  gst_clear_object(&r.pipeline);
  return r;
}

/* Reads all. */
static inline Recorded recorded_read_from(const char *location, const char *settings, double from)
{
  g_autofree char *line = g_strdup_printf(
      "astrorecordsrc name=src location=%s %s ! appsink name=sink sync=false", location, settings);
  return recorded_run(line, from);
}

static inline Recorded recorded_read(const char *location, const char *settings)
{
  Recorded r = recorded_read_from(location, settings, 0);
  if (r.error)
    g_error("%s is refused: %s", location, r.error);
  return r;
}

static inline void recorded_refused(const char *location, const char *settings, const char *says)
{
  g_auto(Recorded) r = recorded_read_from(location, settings, 0);
  test_says(r.error, says);
}

static inline gint recorded_component(const AstroFormatInfo *info, const guint8 *sample, guint part)
{
  if (info->is_float)
    return (gint)((const float *)(gconstpointer)sample)[part];
  return info->bytes / (info->is_complex ? 2 : 1) == 2
             ? ((const gint16 *)(gconstpointer)sample)[part]
             : ((const gint8 *)sample)[part];
}

/* A sample: which one, its parts, and whether it counts. */
typedef struct {
  guint64 step;
  guint channel, station, pol;
} RecordedAt;

static inline gboolean recorded_get(const Recorded *r, RecordedAt at, gint *real, gint *imaginary)
{
  for (guint i = 0; i < r->buffers->len; i++) {
    GstBuffer *buffer = r->buffers->pdata[i];
    const guint64 first = GST_BUFFER_OFFSET(buffer), end = GST_BUFFER_OFFSET_END(buffer);
    AstroLayout shape;
    guint64 strides[ASTRO_MAX_AXES], index[ASTRO_MAX_AXES] = { 0 }, sample = 0;
    GstMapInfo map;
    if (at.step < first || at.step >= end)
      continue;
    astro_stream_shape(&r->stream, end - first, &shape);
    astro_layout_strides(&shape, strides);
    for (guint k = 0; k < shape.n_axes; k++) {
      const AstroAxis axis = shape.axes[k];
      index[k] = axis == ASTRO_AXIS_TIME      ? at.step - first
                 : axis == ASTRO_AXIS_CHANNEL ? at.channel
                 : axis == ASTRO_AXIS_STATION ? at.station
                 : axis == ASTRO_AXIS_BEAM    ? at.station
                                              : at.pol;
      g_assert_cmpuint(index[k], <, shape.extents[k]);
      sample += index[k] * strides[k];
    }
    const AstroFormatInfo *info = astro_format_info(r->stream.format);
    const AstroValidityMeta *counts = astro_buffer_get_validity(buffer);
    g_assert_nonnull(counts);
    g_assert_true(astro_validity_check(counts, &shape, NULL));
    g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
    g_assert_cmpuint(map.size, ==, astro_layout_samples(&shape) * info->bytes);
    *real = recorded_component(info, map.data + sample * info->bytes, 0);
    *imaginary =
        info->is_complex ? recorded_component(info, map.data + sample * info->bytes, 1) : 0;
    gst_buffer_unmap(buffer, &map);
    return astro_validity_at(counts, &shape, index) > 0;
  }
  return FALSE;
}

/* The real part of a sample that is there. */
static inline gint recorded_value(const Recorded *r, guint64 step, guint channel, guint station,
                                  guint pol)
{
  gint real, imaginary;
  const RecordedAt at = { step, channel, station, pol };
  if (!recorded_get(r, at, &real, &imaginary))
    g_error("sample %" G_GUINT64_FORMAT " of channel %u, station %u, pol %u is lost", step, channel,
            station, pol);
  return real;
}

static inline gint recorded_imaginary(const Recorded *r, guint64 step, guint channel, guint pol)
{
  gint real, imaginary;
  const RecordedAt at = { step, channel, 0, pol };
  g_assert_true(recorded_get(r, at, &real, &imaginary));
  return imaginary;
}

/* Whether a sample is a zero with count 0. */
static inline void recorded_is_lost(const Recorded *r, guint64 step, guint station, guint pol)
{
  gint real = 1, imaginary = 1;
  const RecordedAt at = { step, 0, station, pol };
  g_assert_false(recorded_get(r, at, &real, &imaginary));
  g_assert_cmpint(real, ==, 0);
  g_assert_cmpint(imaginary, ==, 0);
}

static inline guint64 recorded_end(const Recorded *r)
{
  return GST_BUFFER_OFFSET_END((GstBuffer *)r->buffers->pdata[r->buffers->len - 1]);
}
