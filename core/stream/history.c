/* The history of a stream, in memory and in the observation event. */
#include "config.h"
#include "core/stream/history.h"

#include <math.h>
#include <string.h>

void astro_history_copy(AstroHistory *to, const AstroHistory *from)
{
  *to = *from;
  to->delays_centre = g_strdup(from->delays_centre);
  to->gains = g_strdup(from->gains);
  to->bandpass = g_strdup(from->bandpass);
  to->bandpass_left = g_strdup(from->bandpass_left);
  to->subtracted = g_strdup(from->subtracted);
  to->predicted = g_strdup(from->predicted);
  to->primary_beam = g_strdup(from->primary_beam);
}

void astro_history_clear(AstroHistory *history)
{
  g_free(history->delays_centre);
  g_free(history->gains);
  g_free(history->bandpass);
  g_free(history->bandpass_left);
  g_free(history->subtracted);
  g_free(history->predicted);
  g_free(history->primary_beam);
  memset(history, 0, sizeof *history);
}

void astro_history_set_text(char **field, const char *text)
{
  char *copy = g_strdup(text);
  g_free(*field);
  *field = copy;
}

AstroDelays astro_history_delays(const AstroHistory *history, AstroQuantity quantity)
{
  if (history->delays != ASTRO_DELAYS_UNTOLD)
    return history->delays;
  return quantity == ASTRO_QUANTITY_VOLTAGES || quantity == ASTRO_QUANTITY_SPECTRA
             ? ASTRO_DELAYS_IN
             : ASTRO_DELAYS_OUT;
}

double astro_history_jansky(const AstroHistory *history)
{
  return history->scale > 0 ? 1 / (history->scale * history->scale) : 0;
}

gboolean astro_history_is_jansky(const AstroHistory *done)
{
  return done && done->scale == 1;
}

const char *astro_history_image_unit(const AstroHistory *done, gboolean is_model)
{
  if (!astro_history_is_jansky(done))
    return is_model ? "arb./pixel" : "arb./beam";
  return is_model ? "Jy/pixel" : "Jy/beam";
}

/* ---- in the observation event ---- */

static const char *const delays_names[] = { [ASTRO_DELAYS_IN] = "in", [ASTRO_DELAYS_OUT] = "out" };

static const struct {
  const char *name, *expected;
  gsize offset;
  GType type;
} fields[] = {
#define FIELD(name, member, type, expected)                                                        \
  {                                                                                                \
    name, expected, G_STRUCT_OFFSET(AstroHistory, member), type                                    \
  }
  FIELD(ASTRO_HISTORY_DELAYS_CENTRE, delays_centre, G_TYPE_STRING, "a string, metres x,y,z"),
  FIELD("filter-bank", filter_bank, G_TYPE_BOOLEAN, "a boolean"),
  FIELD("sideband-turned", sideband_turned, G_TYPE_BOOLEAN, "a boolean"),
  FIELD("gains-undone", gains, G_TYPE_STRING, "a string, the calibration's checksum"),
  FIELD("bandpass-undone", bandpass, G_TYPE_STRING, "a string, the calibration's checksum"),
  FIELD("bandpass-left", bandpass_left, G_TYPE_STRING, "a string, the calibration's checksum"),
  FIELD("models-subtracted", subtracted, G_TYPE_STRING, "a string, checksums of models"),
  FIELD("model-predicted", predicted, G_TYPE_STRING, "a string, a model's checksum"),
  FIELD("primary-beam", primary_beam, G_TYPE_STRING, "a string, the beam in words"),
  FIELD("scale", scale, G_TYPE_DOUBLE, "a double, 0 to 1e18 steps per root of Jy"),
#undef FIELD
};

#define LARGEST_SCALE 1e18

static gboolean is_same(GType type, gconstpointer a, gconstpointer b)
{
  if (type == G_TYPE_BOOLEAN)
    return !*(const gboolean *)a == !*(const gboolean *)b;
  if (type == G_TYPE_DOUBLE)
    return *(const double *)a == *(const double *)b;
  return g_strcmp0(*(char *const *)a, *(char *const *)b) == 0;
}

const char *astro_history_find_difference(const AstroHistory *a, const AstroHistory *b,
                                          AstroQuantity quantity)
{
  if (astro_history_delays(a, quantity) != astro_history_delays(b, quantity))
    return "delays";
  /* Products of two stations have no centre. */
  const gboolean has_centre =
      quantity == ASTRO_QUANTITY_VOLTAGES || quantity == ASTRO_QUANTITY_SPECTRA;
  for (guint i = 0; i < G_N_ELEMENTS(fields); i++)
    if ((has_centre || !g_str_equal(fields[i].name, ASTRO_HISTORY_DELAYS_CENTRE)) &&
        !is_same(fields[i].type, G_STRUCT_MEMBER_P(a, fields[i].offset),
                 G_STRUCT_MEMBER_P(b, fields[i].offset)))
      return fields[i].name;
  return NULL;
}

void astro_history_to_structure(const AstroHistory *history, GstStructure *s)
{
  if (history->delays != ASTRO_DELAYS_UNTOLD)
    gst_structure_set(s, "delays", G_TYPE_STRING, delays_names[history->delays], NULL);
  for (guint i = 0; i < G_N_ELEMENTS(fields); i++) {
    gconstpointer member = G_STRUCT_MEMBER_P(history, fields[i].offset);
    const char *name = fields[i].name;
    if (fields[i].type == G_TYPE_BOOLEAN)
      gst_structure_set(s, name, G_TYPE_BOOLEAN, *(const gboolean *)member, NULL);
    else if (fields[i].type == G_TYPE_DOUBLE)
      gst_structure_set(s, name, G_TYPE_DOUBLE, *(const double *)member, NULL);
    else if (*(char *const *)member)
      gst_structure_set(s, name, G_TYPE_STRING, *(char *const *)member, NULL);
  }
}

static gboolean refuse(const char *field, const GValue *value, const char *expected, GError **error)
{
  g_autofree char *found = gst_value_serialize(value);
  return astro_stream_refuse(
      error, ASTRO_STREAM_ERROR_CAPS, "observation event: field \"%s\" is %s%s%s, expected %s",
      field, G_VALUE_TYPE_NAME(value), found ? " " : "", found ? found : "", expected);
}

static gboolean read_delays(AstroHistory *history, const GstStructure *s, GError **error)
{
  const GValue *value = gst_structure_get_value(s, "delays");
  const char *text = value && G_VALUE_HOLDS_STRING(value) ? g_value_get_string(value) : NULL;
  if (!value)
    return TRUE;
  for (guint i = ASTRO_DELAYS_IN; text && i < G_N_ELEMENTS(delays_names); i++)
    if (strcmp(text, delays_names[i]) == 0)
      history->delays = (AstroDelays)i;
  return history->delays != ASTRO_DELAYS_UNTOLD ||
         refuse("delays", value, "a string, \"in\" or \"out\"", error);
}

/* An empty text means none, as NULL does in the struct. */
static gboolean read_field(gpointer member, const GValue *value)
{
  if (G_VALUE_HOLDS_BOOLEAN(value)) {
    *(gboolean *)member = g_value_get_boolean(value);
    return TRUE;
  }
  if (G_VALUE_HOLDS_STRING(value)) {
    const char *text = g_value_get_string(value);
    *(char **)member = text && *text ? g_strdup(text) : NULL;
    return TRUE;
  }
  const double number = g_value_get_double(value);
  *(double *)member = number;
  return number >= 0 && number <= LARGEST_SCALE;
}

gboolean astro_history_from_structure(AstroHistory *history, const GstStructure *s, GError **error)
{
  if (!read_delays(history, s, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS(fields); i++) {
    const GValue *value = gst_structure_get_value(s, fields[i].name);
    if (value && (!G_VALUE_HOLDS(value, fields[i].type) ||
                  !read_field(G_STRUCT_MEMBER_P(history, fields[i].offset), value)))
      return refuse(fields[i].name, value, fields[i].expected, error);
  }
  return TRUE;
}
