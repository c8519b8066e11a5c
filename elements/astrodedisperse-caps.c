/* Caps of astrodedisperse. */
#include "config.h"
#include "elements/astrodedisperse-caps.h"

#include <string.h>

#include "elements/base/astrointegration.h"

/* The fields of power that both sides have in common. */
static GstStructure *copy_common(const GstStructure *from)
{
  static const char *const fields[] = { "pols",      "products",  "stations", "beams",
                                        "frequency", "bandwidth", "rate" };
  GstStructure *to = gst_structure_new("application/x-astro-power", "format", G_TYPE_STRING,
                                       astro_format_name(ASTRO_FORMAT_F32LE), NULL);
  for (guint i = 0; i < G_N_ELEMENTS(fields); i++)
    astro_integration_copy_field(to, from, fields[i]);
  return to;
}

/* With and without axis dm. Time is slowest, so that buffers can follow each other in a file. */
static const char *const layouts[][2] = {
  { "time:pol:channel", "time:dm:pol:channel" },
  { "time:station:pol:channel", "time:station:dm:pol:channel" },
  { "time:beam:pol:channel", "time:beam:dm:pol:channel" },
};

static void set_layout(GstStructure *to, const GstStructure *from, gboolean has_dms)
{
  const char *in = gst_structure_get_string(from, "layout");
  const guint which = in && strstr(in, "station") ? 1 : in && strstr(in, "beam") ? 2 : 0;
  GValue list = G_VALUE_INIT;
  if (in) {
    gst_structure_set(to, "layout", G_TYPE_STRING, layouts[which][has_dms], NULL);
    return;
  }
  g_value_init(&list, GST_TYPE_LIST);
  for (guint i = 0; i < G_N_ELEMENTS(layouts); i++)
    astro_name_append(&list, layouts[i][has_dms]);
  gst_structure_take_value(to, "layout", &list);
}

static gboolean is_power(const GstStructure *s)
{
  return gst_structure_has_name(s, "application/x-astro-power");
}

static GstStructure *power_of(const GstStructure *power, guint dms)
{
  GstStructure *to = copy_common(power);
  gst_structure_set(to, "channels", G_TYPE_INT, 1, NULL);
  if (dms == 0)
    return to;
  set_layout(to, power, dms > 1);
  if (dms > 1)
    gst_structure_set(to, "dms", G_TYPE_INT, (gint)dms, NULL);
  return to;
}

GstStructure *astro_dedisperse_to_output(const GstStructure *in, guint dms)
{
  if (is_power(in))
    return power_of(in, dms);
  GstStructure *to = gst_structure_copy(in);
  gst_structure_set(to, "format", G_TYPE_STRING, astro_format_name(ASTRO_FORMAT_CF32LE), NULL);
  return to;
}

/* Other formats reach the stage, so that it can say why it refuses them. */
GstStructure *astro_dedisperse_to_input(const GstStructure *out)
{
  if (is_power(out))
    return copy_common(out);
  GstStructure *to = gst_structure_copy(out);
  gst_structure_remove_field(to, "format");
  return to;
}
