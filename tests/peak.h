/* Measures how much memory a line of elements takes from visibilities to images, in a process of
 * its own: the largest resident set while it runs, less what the process held once all elements had
 * been made and nothing had begun (the program, libraries and plugins). */
#pragma once

#include <gst/gst.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  guint64 peak;         /* bytes above what is subtracted */
  guint64 grid, image;  /* bytes of their largest buffers */
  guint64 visibilities; /* number gridded, one of each product */
  guint64 values;       /* their bytes in the grid's format */
  guint64 places;       /* bytes of u, v, w of each visibility in the same precision */
  GstCaps *grid_caps;
} Peak;

/* A line of /proc/self/status, in bytes; 0 if it cannot be read. */
static inline guint64 peak_status(const char *name)
{
  g_autofree char *text = NULL;
  if (!g_file_get_contents("/proc/self/status", &text, NULL, NULL))
    return 0;
  const char *line = strstr(text, name);
  return line ? g_ascii_strtoull(line + strlen(name), NULL, 10) << 10 : 0;
}

static inline GstPadProbeReturn peak_largest(GstPad *pad, GstPadProbeInfo *info, gpointer largest)
{
  const guint64 bytes = gst_buffer_get_size(GST_PAD_PROBE_INFO_BUFFER(info));
  *(guint64 *)largest = MAX(*(guint64 *)largest, bytes);
  return GST_PAD_PROBE_OK;
}

static inline GstPad *peak_pad(GstElement *pipeline, const char *name)
{
  g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), name);
  return gst_element_get_static_pad(element, "src");
}

static inline void peak_watch(GstElement *pipeline, const char *name, guint64 *largest)
{
  g_autoptr(GstPad) pad = peak_pad(pipeline, name);
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, peak_largest, largest, NULL);
}

/* Handles a message. FALSE: it was EOS. An error is fatal. */
static inline gboolean peak_message(GstBus *bus, Peak *peak)
{
  g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(
      bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT);
  const GstStructure *said = gst_message_get_structure(message);
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    g_autoptr(GError) error = NULL;
    gst_message_parse_error(message, &error, NULL);
    g_error("%s: %s", GST_MESSAGE_SRC_NAME(message), error->message);
  }
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT &&
      gst_structure_has_name(said, "astro-gridder"))
    gst_structure_get_uint64(said, "used", &peak->visibilities);
  return GST_MESSAGE_TYPE(message) != GST_MESSAGE_EOS;
}

/* Runs a line with elements named gridder and image. */
static inline void peak_run(const char *line, Peak *peak)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GstElement) pipeline = gst_parse_launch(line, &error);
  if (!pipeline || error)
    g_error("%s: %s", line, error->message);
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  g_autoptr(GstPad) grids = peak_pad(pipeline, "gridder");
  memset(peak, 0, sizeof *peak);
  peak_watch(pipeline, "gridder", &peak->grid);
  peak_watch(pipeline, "image", &peak->image);
  gst_element_set_state(pipeline, GST_STATE_READY);
  const guint64 before = peak_status("VmHWM:");
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  while (peak_message(bus, peak))
    ;
  peak->peak = peak_status("VmHWM:") - before;
  peak->grid_caps = gst_pad_get_current_caps(grids);
  const GstStructure *caps = gst_caps_get_structure(peak->grid_caps, 0);
  const gboolean is_double = !g_strcmp0(gst_structure_get_string(caps, "format"), "CF64LE");
  gint products = 1;
  gst_structure_get_int(caps, "pols", &products);
  peak->values = peak->visibilities * (is_double ? 16 : 8);
  peak->places = peak->visibilities / (guint)products * 3 * (is_double ? 8 : 4);
  gst_element_set_state(pipeline, GST_STATE_NULL);
}
