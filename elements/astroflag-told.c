/* The message of astroflag. */
#include "config.h"
#include "elements/astroflag-told.h"

#define WORST 5 /* channels that are told */

void astro_flag_told_reset(AstroFlagTold *told, GstElement *element, guint channels)
{
  GST_OBJECT_LOCK(element);
  g_free(told->tally.channels);
  *told = (AstroFlagTold){ .channels = channels };
  told->tally.channels = channels ? g_new0(guint64, channels) : NULL;
  GST_OBJECT_UNLOCK(element);
}

void astro_flag_told_add(AstroFlagTold *told, GstElement *element, const guint8 *flags,
                         guint64 rows, guint64 units)
{
  GST_OBJECT_LOCK(element);
  astro_flag_tally(&told->tally, flags, rows, units, told->channels);
  GST_OBJECT_UNLOCK(element);
}

/* The channels with the most flagged values, most first. */
static guint find_worst(const AstroFlagTold *told, guint worst[WORST])
{
  guint n = 0;
  for (guint c = 0; c < told->channels; c++) {
    guint at = n;
    while (at > 0 && told->tally.channels[worst[at - 1]] < told->tally.channels[c])
      at--;
    if (told->tally.channels[c] == 0 || at == WORST)
      continue;
    n = MIN(n + 1, WORST);
    for (guint i = n - 1; i > at; i--)
      worst[i] = worst[i - 1];
    worst[at] = c;
  }
  return n;
}

/* Arrays worst-channels and worst-values: which they are, and how many of their values are flagged.
 */
static void add_worst(const AstroFlagTold *told, GstStructure *to)
{
  guint worst[WORST];
  const guint n = find_worst(told, worst);
  GValue channels = G_VALUE_INIT, values = G_VALUE_INIT, value = G_VALUE_INIT;
  gst_value_array_init(&channels, n);
  gst_value_array_init(&values, n);
  for (guint i = 0; i < n; i++) {
    g_value_init(&value, G_TYPE_UINT);
    g_value_set_uint(&value, worst[i]);
    gst_value_array_append_and_take_value(&channels, &value);
    value = (GValue)G_VALUE_INIT;
    g_value_init(&value, G_TYPE_UINT64);
    g_value_set_uint64(&value, told->tally.channels[worst[i]]);
    gst_value_array_append_and_take_value(&values, &value);
    value = (GValue)G_VALUE_INIT;
  }
  gst_structure_take_value(to, "worst-channels", &channels);
  gst_structure_take_value(to, "worst-values", &values);
}

void astro_flag_told_fill(const AstroFlagTold *told, GstElement *element, GstStructure *to)
{
  GST_OBJECT_LOCK(element);
  const AstroFlagTally *tally = &told->tally;
  gst_structure_set(to, "judged-values", G_TYPE_UINT64, tally->judged, "flagged-values",
                    G_TYPE_UINT64, tally->flagged, "flagged-percent", G_TYPE_DOUBLE,
                    tally->judged ? 100. * (double)tally->flagged / (double)tally->judged : 0.,
                    "coarse-values", G_TYPE_UINT64, tally->coarse, NULL);
  add_worst(told, to);
  GST_OBJECT_UNLOCK(element);
}

void astro_flag_told_post(AstroFlagTold *told, GstElement *element, gboolean ends)
{
  const gint64 now = g_get_monotonic_time();
  GST_OBJECT_LOCK(element);
  const gboolean is_due =
      ends ? told->tally.judged > 0
           : told->tally.flagged > told->told && now - told->told_at >= G_USEC_PER_SEC;
  if (is_due) {
    told->told_at = now;
    told->told = told->tally.flagged;
  }
  GST_OBJECT_UNLOCK(element);
  if (!is_due)
    return;
  GstStructure *said = gst_structure_new_empty("flagged");
  astro_flag_told_fill(told, element, said);
  gst_element_post_message(element, gst_message_new_element(GST_OBJECT(element), said));
}
