/* Detected power, read from a file that a graph has written. */
#pragma once

#include "core/stream/power.h"
#include "core/stream/validity.h"
#include "tests/graphs/program.h"

#include <gst/gst.h>

typedef struct {
  AstroStream stream;
  AstroPowerProducts products;
  GArray *values; /* double, [step][station or beam][product][channel] */
  guint64 steps;  /* of whole integrations */
} Power;

static inline void power_clear(Power *power)
{
  g_array_unref(power->values);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Power, power_clear)

/* Integrations that the beginning or the end of the stream cut short are left out. */
static inline void power_add_buffer(GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer data)
{
  Power *power = data;
  const AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
  GstMapInfo map;
  guint64 steps;
  if (!power->values->len) {
    g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
    g_assert_true(astro_power_from_caps(&power->stream, &power->products, caps, NULL));
  }
  g_assert_true(astro_stream_steps(&power->stream, gst_buffer_get_size(buffer), &steps, NULL));
  g_assert_nonnull(meta);
  const gsize values = astro_stream_step_bytes(&power->stream) / sizeof(float);
  AstroLayout shape;
  astro_stream_shape(&power->stream, steps, &shape);
  g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
  for (guint64 t = 0; t < steps; t++) {
    const guint64 index[ASTRO_MAX_AXES] = { t };
    if (astro_validity_at(meta, &shape, index) < meta->full)
      continue;
    for (gsize i = 0; i < values; i++) {
      const double value = (double)((const float *)(gpointer)map.data)[t * values + i];
      g_array_append_val(power->values, value);
    }
    power->steps++;
  }
  gst_buffer_unmap(buffer, &map);
}

static inline Power read_power(const char *name)
{
  g_autofree char *path = in_folder(name);
  g_autofree char *line =
      g_strdup_printf("astrofitssrc location=%s ! fakesink name=sink signal-handoffs=true", path);
  Power power = { .values = g_array_new(FALSE, FALSE, sizeof(double)) };
  g_autoptr(GstElement) pipeline = gst_parse_launch(line, NULL);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  g_signal_connect(sink, "handoff", G_CALLBACK(power_add_buffer), &power);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_autoptr(GstMessage) message =
      gst_bus_timed_pop_filtered(bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_true(message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return power;
}

/* The mean over all integrations of a product of a station or beam in a channel. */
static inline double mean_of(const Power *power, guint station, guint product, guint channel)
{
  const guint64 channels = astro_stream_extent(&power->stream, ASTRO_AXIS_CHANNEL),
                stations = astro_stream_extent(&power->stream, ASTRO_AXIS_STATION) *
                           astro_stream_extent(&power->stream, ASTRO_AXIS_BEAM);
  double sum = 0;
  for (guint64 t = 0; t < power->steps; t++)
    sum += g_array_index(power->values, double,
                         ((t * stations + station) * power->products.n + product) * channels +
                             channel);
  return sum / (double)power->steps;
}
