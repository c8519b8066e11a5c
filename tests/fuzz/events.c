/* Events as other programs may make them: observations with fields of any type, summaries of
 * histograms of any size; and start times in any text. The first byte chooses among these. */
#include "core/stream/histogram-summary.h"
#include "core/stream/observation.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  gst_init(NULL, NULL);
  return 0;
}

static void check(gboolean right)
{
  if (!right)
    abort();
}

typedef struct {
  const guint8 *at, *end;
} Input;

/* Takes this many bytes, zeros past the end. */
static void take(Input *in, gpointer to, gsize bytes)
{
  const gsize had = MIN(bytes, (gsize)(in->end - in->at));
  memset(to, 0, bytes);
  memcpy(to, in->at, had);
  in->at += had;
}

static guint8 take_byte(Input *in)
{
  guint8 byte;
  take(in, &byte, 1);
  return byte;
}

static void take_value(Input *in, guint8 kind, GValue *value)
{
  char text[4] = "";
  gint32 number;
  guint64 large;
  double real;

  switch (kind % 4) {
  case 0:
    take(in, text, 3);
    g_value_init(value, G_TYPE_STRING);
    g_value_set_string(value, *text ? text : NULL);
    break;
  case 1:
    take(in, &number, sizeof number);
    g_value_init(value, G_TYPE_INT);
    g_value_set_int(value, number);
    break;
  case 2:
    take(in, &large, sizeof large);
    g_value_init(value, G_TYPE_UINT64);
    g_value_set_uint64(value, large);
    break;
  default:
    take(in, &real, sizeof real);
    g_value_init(value, G_TYPE_DOUBLE);
    g_value_set_double(value, real);
  }
}

static void take_array(Input *in, GValue *array)
{
  const guint8 n = take_byte(in) % 16, kind = take_byte(in);
  g_value_init(array, GST_TYPE_ARRAY);
  for (guint i = 0; i < n; i++) {
    GValue one = G_VALUE_INIT;
    take_value(in, kind, &one);
    gst_value_array_append_and_take_value(array, &one);
  }
}

static GstStructure *take_structure(Input *in)
{
  static const char *const names[] = { "stations",
                                       "positions",
                                       "telescope",
                                       "basis",
                                       "phase-ra",
                                       "phase-dec",
                                       "start-mjd",
                                       "start-ns",
                                       "delays",
                                       "filter-bank",
                                       "gains-undone",
                                       "scale",
                                       "earth-orientation",
                                       "earth-orientation-mjd",
                                       "earth-orientation-days",
                                       "beams",
                                       "beam-kinds",
                                       "beam-frames",
                                       "beam-directions" };
  GstStructure *s = gst_structure_new_empty(ASTRO_OBSERVATION_EVENT);
  while (in->at < in->end) {
    const char *name = names[take_byte(in) % G_N_ELEMENTS(names)];
    const guint8 kind = take_byte(in) % 5;
    GValue value = G_VALUE_INIT;
    if (kind < 4)
      take_value(in, kind, &value);
    else
      take_array(in, &value);
    gst_structure_take_value(s, name, &value);
  }
  return s;
}

/* An observation that was accepted can be written to an event and read again. */
static void take_observation(Input in)
{
  g_autoptr(GstEvent) event =
      gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, take_structure(&in));
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroObservation) o = astro_observation_from_event(event, &error);
  check(!o == !!error);
  if (!o)
    return;
  g_autofree char *start = astro_observation_get_start(o);
  g_autoptr(GstEvent) said = astro_observation_to_event(o);
  g_autoptr(AstroObservation) again = astro_observation_from_event(said, NULL);
  check(again && again->n_stations == o->n_stations && again->start_ns == o->start_ns);
}

/* A start time that was accepted is formatted as one that is accepted, too. */
static void take_time(const char *text)
{
  g_autoptr(AstroObservation) o = astro_observation_new(1), again = astro_observation_new(1);
  g_autoptr(GError) error = NULL;
  const gboolean good = astro_observation_set_start(o, text, &error);
  check(good == !error);
  if (!good)
    return;
  g_autofree char *told = astro_observation_get_start(o);
  check(told && astro_observation_set_start(again, told, NULL));
  check(o->start_mjd == again->start_mjd && o->start_ns == again->start_ns);
}

/* Two bytes are numbers, one is the length of the edges. The others are the pairs and, with many
 * kinds, the counts. */
static void take_summary(const guint8 *data, gsize size)
{
  if (size < 3)
    return;
  const guint kinds = data[0] % 16, regions = data[1];
  const gsize n = MIN(data[2], size - 3);
  g_autoptr(GBytes) edges = g_bytes_new(data + 3, n);
  g_autoptr(GBytes) pairs = g_bytes_new(data + 3 + n, size - 3 - n);
  GstStructure *s =
      gst_structure_new(ASTRO_SUMMARY_EVENT, "kinds", G_TYPE_UINT, kinds, "regions", G_TYPE_UINT,
                        regions, "edges", G_TYPE_BYTES, edges, "pairs", G_TYPE_BYTES, pairs, NULL);
  if (data[0] >= 16)
    gst_structure_set(s, "counts", G_TYPE_BYTES, pairs, NULL);
  g_autoptr(GstEvent) event = gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, s);
  g_autoptr(GError) error = NULL;
  AstroSummary summary = { 0 };
  const gboolean good = astro_summary_from_event(&summary, event, &error);
  check(good == !error);
  if (good)
    gst_event_unref(astro_summary_to_event(&summary));
  astro_summary_clear(&summary);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  if (size == 0)
    return 0;
  g_autofree char *text = g_strndup((const char *)data + 1, size - 1);
  switch (data[0] % 3) {
  case 0:
    take_observation((Input){ data + 1, data + size });
    break;
  case 1:
    take_time(text);
    break;
  default:
    take_summary(data + 1, size - 1);
  }
  return 0;
}
