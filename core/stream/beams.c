/* Beams of an observation, in memory and in its event. */
#include "config.h"
#include "core/stream/beams.h"

#include <math.h>
#include <string.h>

#include "core/stream/beam-event.h"
#include "core/stream/observation.h"

static const char *const kinds[ASTRO_N_BEAM_KINDS] = {
  [ASTRO_BEAM_TIED] = "tied",
  [ASTRO_BEAM_INCOHERENT] = "incoherent",
  [ASTRO_BEAM_FIXED] = "fixed",
};

static const char *const frames[ASTRO_N_BEAM_FRAMES] = {
  [ASTRO_BEAM_UNTOLD] = "untold",
  [ASTRO_BEAM_RADEC] = "radec",
  [ASTRO_BEAM_LM] = "lm",
};

const char *astro_beam_kind_name(AstroBeamKind kind)
{
  return (guint)kind < ASTRO_N_BEAM_KINDS ? kinds[kind] : "unknown";
}

const char *astro_beam_frame_name(AstroBeamFrame frame)
{
  return (guint)frame < ASTRO_N_BEAM_FRAMES ? frames[frame] : "unknown";
}

#define DEGREES (180 / G_PI)

char *astro_beam_describe(const AstroBeam *beam)
{
  const char *kind = astro_beam_kind_name(beam->kind);
  if (beam->frame == ASTRO_BEAM_RADEC)
    return g_strdup_printf("%s, %s, at ra %.9g dec %.9g degrees", beam->name, kind,
                           beam->x * DEGREES, beam->y * DEGREES);
  if (beam->frame == ASTRO_BEAM_LM)
    return g_strdup_printf("%s, %s, at l %.9g m %.9g", beam->name, kind, beam->x, beam->y);
  return g_strdup_printf("%s, %s, in an unknown direction", beam->name, kind);
}

#define SAME_DIRECTION 1e-12

gboolean astro_beam_is_alike(const AstroBeam *a, const AstroBeam *b)
{
  if (a->kind != b->kind || a->frame != b->frame)
    return FALSE;
  const double period = a->frame == ASTRO_BEAM_RADEC ? 2 * G_PI : G_MAXDOUBLE;
  return a->frame == ASTRO_BEAM_UNTOLD || (fabs(remainder(a->x - b->x, period)) <= SAME_DIRECTION &&
                                           fabs(a->y - b->y) <= SAME_DIRECTION);
}

/* ---- of an observation ---- */

static gboolean check_direction(const char *name, AstroBeamFrame frame, double x, double y,
                                GError **error)
{
  if (frame == ASTRO_BEAM_RADEC && !(fabs(x) <= 6.2832 && fabs(y) <= 1.5708))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "beam %s: right ascension and declination are %g and %g, expected "
                               "radians, -2 pi to 2 pi and -pi / 2 to pi / 2",
                               name, x, y);
  return frame != ASTRO_BEAM_LM || x * x + y * y <= 1 ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "beam %s: l and m are %g and %g, expected direction cosines, whose "
                             "squares add up to at most 1",
                             name, x, y);
}

gboolean astro_observation_add_beam(AstroObservation *observation, const char *name,
                                    AstroBeamKind kind, AstroBeamFrame frame, double x, double y,
                                    GError **error)
{
  if (!name || !*name)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS, "beam %u has no name",
                               observation->n_beams);
  if ((guint)kind >= ASTRO_N_BEAM_KINDS || (guint)frame >= ASTRO_N_BEAM_FRAMES)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "beam %s: there is no kind %d or no frame %d of a direction", name,
                               (gint)kind, (gint)frame);
  if (!check_direction(name, frame, x, y, error))
    return FALSE;
  const gboolean is_known = frame != ASTRO_BEAM_UNTOLD;
  const guint n = observation->n_beams++;
  observation->beams = g_renew(AstroBeam, observation->beams, observation->n_beams);
  observation->beams[n] =
      (AstroBeam){ g_strdup(name), kind, frame, is_known ? x : 0, is_known ? y : 0 };
  return TRUE;
}

void astro_observation_clear_beams(AstroObservation *observation)
{
  for (guint i = 0; i < observation->n_beams; i++)
    g_free(observation->beams[i].name);
  g_clear_pointer(&observation->beams, g_free);
  observation->n_beams = 0;
}

gint astro_observation_find_beam(const AstroObservation *observation, const char *name)
{
  for (guint i = 0; i < observation->n_beams; i++)
    if (strcmp(observation->beams[i].name, name) == 0)
      return (gint)i;
  return -1;
}

void astro_beams_copy(AstroObservation *to, const AstroObservation *from)
{
  to->beams = g_memdup2(from->beams, from->n_beams * sizeof *from->beams);
  to->n_beams = from->n_beams;
  for (guint i = 0; i < to->n_beams; i++)
    to->beams[i].name = g_strdup(from->beams[i].name);
}

/* ---- in the event ---- */

static void append_text(GValue *array, const char *text)
{
  GValue one = G_VALUE_INIT;
  g_value_init(&one, G_TYPE_STRING);
  g_value_set_string(&one, text);
  gst_value_array_append_and_take_value(array, &one);
}

static void append_number(GValue *array, double number)
{
  GValue one = G_VALUE_INIT;
  g_value_init(&one, G_TYPE_DOUBLE);
  g_value_set_double(&one, number);
  gst_value_array_append_and_take_value(array, &one);
}

/* The fields of the event: what each has of every beam. */
enum { NAMES, KINDS, FRAMES, DIRECTIONS, N_FIELDS };
static const struct {
  const char *name;
  GType type;
  guint per_beam;
} fields[N_FIELDS] = {
  [NAMES] = { "beams", G_TYPE_STRING, 1 },
  [KINDS] = { "beam-kinds", G_TYPE_STRING, 1 },
  [FRAMES] = { "beam-frames", G_TYPE_STRING, 1 },
  [DIRECTIONS] = { "beam-directions", G_TYPE_DOUBLE, 2 },
};

void astro_beams_to_structure(const AstroObservation *observation, GstStructure *s)
{
  GValue arrays[N_FIELDS] = { G_VALUE_INIT, G_VALUE_INIT, G_VALUE_INIT, G_VALUE_INIT };
  if (observation->n_beams == 0)
    return;
  for (guint k = 0; k < N_FIELDS; k++)
    g_value_init(&arrays[k], GST_TYPE_ARRAY);
  for (guint i = 0; i < observation->n_beams; i++) {
    const AstroBeam *beam = &observation->beams[i];
    append_text(&arrays[NAMES], beam->name);
    append_text(&arrays[KINDS], kinds[beam->kind]);
    append_text(&arrays[FRAMES], frames[beam->frame]);
    append_number(&arrays[DIRECTIONS], beam->x);
    append_number(&arrays[DIRECTIONS], beam->y);
  }
  for (guint k = 0; k < N_FIELDS; k++)
    gst_structure_take_value(s, fields[k].name, &arrays[k]);
}

static gboolean check_values(const GValue *array, guint k, GError **error)
{
  for (guint i = 0; i < gst_value_array_get_size(array); i++) {
    const GValue *one = gst_value_array_get_value(array, i);
    if (!G_VALUE_HOLDS(one, fields[k].type) ||
        (fields[k].type == G_TYPE_STRING && !g_value_get_string(one)))
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "observation event: %s[%u] is not a %s", fields[k].name, i,
                                 fields[k].type == G_TYPE_STRING ? "string" : "double");
  }
  return TRUE;
}

/* Sets *n to the number of beams, 0 if there are none. All fields are there, or none is. */
static gboolean find_fields(const GstStructure *s, const GValue *arrays[N_FIELDS], guint *n,
                            GError **error)
{
  guint found = 0;
  *n = 0;
  for (guint k = 0; k < N_FIELDS; k++)
    found += (arrays[k] = gst_structure_get_value(s, fields[k].name)) != NULL;
  if (found == 0)
    return TRUE;
  for (guint k = 0; k < N_FIELDS; k++) {
    const gboolean is_array = arrays[k] && GST_VALUE_HOLDS_ARRAY(arrays[k]);
    if (is_array && k == NAMES)
      *n = gst_value_array_get_size(arrays[k]);
    const guint expected = *n * fields[k].per_beam;
    if (!is_array || gst_value_array_get_size(arrays[k]) != expected)
      return astro_stream_refuse(
          error, ASTRO_STREAM_ERROR_CAPS,
          "observation event: field \"%s\" is %s, expected an array of %u %ss for %u beams",
          fields[k].name, arrays[k] ? "of another type or length" : "missing", expected,
          fields[k].type == G_TYPE_STRING ? "string" : "double", *n);
    if (!check_values(arrays[k], k, error))
      return FALSE;
  }
  return TRUE;
}

/* The index of the name in the array; -1 and an error if it is not there. */
static gint read_name(const GValue *array, guint i, guint k, const char *const *names, guint n,
                      GError **error)
{
  const char *name = g_value_get_string(gst_value_array_get_value(array, i));
  for (guint j = 0; j < n; j++)
    if (strcmp(name, names[j]) == 0)
      return (gint)j;
  g_autoptr(GString) expected = g_string_new(names[0]);
  for (guint j = 1; j < n; j++)
    g_string_append_printf(expected, "%s%s", j + 1 < n ? ", " : " or ", names[j]);
  astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                      "observation event: %s[%u] is \"%s\", expected %s", fields[k].name, i, name,
                      expected->str);
  return -1;
}

static double number_of(const GValue *array, guint i)
{
  return g_value_get_double(gst_value_array_get_value(array, i));
}

gboolean astro_beams_from_structure(AstroObservation *observation, const GstStructure *s,
                                    GError **error)
{
  const GValue *arrays[N_FIELDS];
  guint n;
  if (!find_fields(s, arrays, &n, error))
    return FALSE;
  for (guint i = 0; i < n; i++) {
    const gint kind = read_name(arrays[KINDS], i, KINDS, kinds, ASTRO_N_BEAM_KINDS, error);
    if (kind < 0)
      return FALSE;
    const gint frame = read_name(arrays[FRAMES], i, FRAMES, frames, ASTRO_N_BEAM_FRAMES, error);
    const char *name = g_value_get_string(gst_value_array_get_value(arrays[NAMES], i));
    if (frame < 0 ||
        !astro_observation_add_beam(observation, name, (AstroBeamKind)kind, (AstroBeamFrame)frame,
                                    number_of(arrays[DIRECTIONS], 2 * i),
                                    number_of(arrays[DIRECTIONS], 2 * i + 1), error))
      return FALSE;
  }
  return TRUE;
}
