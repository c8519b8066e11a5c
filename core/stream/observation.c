/* The observation and its event. */
#include "config.h"
#include "core/stream/observation.h"
#include "core/stream/stream.h"

#include <math.h>
#include <string.h>

#include "core/stream/beam-event.h"
#include "core/stream/dms-event.h"

#define MJD_OF_UNIX_EPOCH 40587

AstroObservation *astro_observation_new(guint n_stations)
{
  AstroObservation *observation = g_new0(AstroObservation, 1);
  observation->ref_count = 1;
  observation->telescope = g_strdup("gst-astro");
  observation->basis = g_strdup("linear");
  observation->n_stations = n_stations;
  observation->names = g_new0(char *, (gsize)n_stations + 1);
  observation->positions = g_new0(double, 3 * (gsize)n_stations);
  for (guint i = 0; i < n_stations; i++)
    observation->names[i] = g_strdup_printf("A%03u", i + 1);
  return observation;
}

AstroObservation *astro_observation_copy(const AstroObservation *observation)
{
  AstroObservation *copy = g_memdup2(observation, sizeof *observation);
  copy->ref_count = 1;
  copy->telescope = g_strdup(observation->telescope);
  copy->names = g_strdupv(observation->names);
  copy->positions = g_memdup2(observation->positions, 3 * observation->n_stations * sizeof(double));
  copy->basis = g_strdup(observation->basis);
  astro_history_copy(&copy->done, &observation->done);
  copy->earth = observation->earth ? astro_earth_ref(observation->earth) : NULL;
  astro_beams_copy(copy, observation);
  copy->dms = g_memdup2(observation->dms, observation->n_dms * sizeof *observation->dms);
  return copy;
}

static void take_array(AstroObservation *to, const AstroObservation *from)
{
  to->telescope = from->telescope;
  to->n_stations = from->n_stations;
  to->names = from->names;
  to->positions = from->positions;
}

void astro_observation_swap_array(AstroObservation *a, AstroObservation *b)
{
  const AstroObservation was = *a;
  take_array(a, b);
  take_array(b, &was);
}

AstroObservation *astro_observation_ref(AstroObservation *observation)
{
  g_atomic_int_inc(&observation->ref_count);
  return observation;
}

void astro_observation_unref(AstroObservation *observation)
{
  if (!g_atomic_int_dec_and_test(&observation->ref_count))
    return;
  g_free(observation->telescope);
  g_strfreev(observation->names);
  g_free(observation->positions);
  g_free(observation->basis);
  astro_history_clear(&observation->done);
  g_clear_pointer(&observation->earth, astro_earth_unref);
  astro_observation_clear_beams(observation);
  g_free(observation->dms);
  g_free(observation);
}

/* GDateTime takes seconds of 60 and more as 59. */
static gboolean has_60_seconds(const char *iso8601)
{
  const char *time = iso8601 + strcspn(iso8601, "Tt ");
  const gsize length = *time ? strspn(time + 1, "0123456789:") : 0;
  return length >= 6 && time[length - 1] >= '6';
}

/* GDateTime keeps microseconds but we need nanoseconds: the fraction is parsed here. It is cut
 * after nine digits, as GDateTime may round longer ones up to the next second. */
static char *cut_fraction(const char *iso8601, guint64 *ns)
{
  const char *point = strpbrk(iso8601, ".,"), *digit = point ? point + 1 : "";
  *ns = 0;
  for (guint64 place = GST_SECOND / 10; place && g_ascii_isdigit(*digit); place /= 10)
    *ns += place * (guint64)(*digit++ - '0');
  return point ? g_strdup_printf("%.*s%s", (int)(digit - iso8601), iso8601,
                                 digit + strspn(digit, "0123456789"))
               : g_strdup(iso8601);
}

gboolean astro_observation_set_start(AstroObservation *observation, const char *iso8601,
                                     GError **error)
{
  g_autoptr(GTimeZone) utc = g_time_zone_new_utc();
  guint64 ns;
  g_autofree char *cut = cut_fraction(iso8601, &ns);
  g_autoptr(GDateTime) time = g_date_time_new_from_iso8601(cut, utc);

  if (!time || g_date_time_get_utc_offset(time) != 0)
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "time \"%s\" is not of the form 2026-11-20T12:00:00[.fraction][Z] (UTC)", iso8601);
  if (has_60_seconds(iso8601))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "time \"%s\" has 60 seconds or more, expected 0 to 59: leap "
                               "seconds are not counted here",
                               iso8601);
  gint64 unix_seconds = g_date_time_to_unix(time);
  gint64 day = unix_seconds / 86400 - (unix_seconds % 86400 < 0);
  observation->start_mjd = (gint32)(day + MJD_OF_UNIX_EPOCH);
  observation->start_ns = (guint64)(unix_seconds - day * 86400) * GST_SECOND + ns;
  observation->has_start = TRUE;
  return TRUE;
}

char *astro_observation_get_start(const AstroObservation *observation)
{
  return astro_observation_get_time(observation, 0);
}

char *astro_observation_get_time(const AstroObservation *observation, guint64 ns_since_start)
{
  if (!observation->has_start)
    return NULL;
  const guint64 ns = observation->start_ns + ns_since_start;
  gint64 unix_seconds =
      ((gint64)observation->start_mjd - MJD_OF_UNIX_EPOCH) * 86400 + (gint64)(ns / GST_SECOND);
  g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(unix_seconds);
  if (!time)
    return NULL;
  g_autofree char *seconds = g_date_time_format(time, "%Y-%m-%dT%H:%M:%S");
  return g_strdup_printf("%s.%09" G_GUINT64_FORMAT "Z", seconds, ns % GST_SECOND);
}

char *astro_observation_tell_time(const AstroObservation *observation, guint64 ns_since_start)
{
  g_autofree char *exact = astro_observation_get_time(observation, ns_since_start);
  if (!exact)
    return NULL;
  gsize length = strlen(exact) - 1;
  while (exact[length - 1] == '0')
    length--;
  return g_strdup_printf("%.*sZ", (int)(exact[length - 1] == '.' ? length - 1 : length), exact);
}

/* Numbers are sent as arrays in the event's structure, so that any tool can print them. */
static void set_doubles(GstStructure *s, const char *field, const double *values, gsize n)
{
  GValue array = G_VALUE_INIT, one = G_VALUE_INIT;
  g_value_init(&array, GST_TYPE_ARRAY);
  g_value_init(&one, G_TYPE_DOUBLE);
  for (gsize i = 0; i < n; i++) {
    g_value_set_double(&one, values[i]);
    gst_value_array_append_value(&array, &one);
  }
  gst_structure_take_value(s, field, &array);
}

static void set_strings(GstStructure *s, const char *field, char **values, guint n)
{
  GValue array = G_VALUE_INIT;
  g_value_init(&array, GST_TYPE_ARRAY);
  for (guint i = 0; i < n; i++) {
    GValue one = G_VALUE_INIT;
    g_value_init(&one, G_TYPE_STRING);
    g_value_set_string(&one, values[i]);
    gst_value_array_append_and_take_value(&array, &one);
  }
  gst_structure_take_value(s, field, &array);
}

#define EARTH_VALUES 3 /* per day: the fields of AstroEarthDay */

static void set_earth(GstStructure *s, const AstroEarth *earth)
{
  G_STATIC_ASSERT(sizeof(AstroEarthDay) == EARTH_VALUES * sizeof(double));
  gst_structure_set(s, "earth-orientation", G_TYPE_STRING, earth->name, NULL);
  if (earth->n == 0)
    return;
  gst_structure_set(s, "earth-orientation-mjd", G_TYPE_INT, earth->first_mjd, NULL);
  set_doubles(s, "earth-orientation-days", &earth->days->pole_x, EARTH_VALUES * (gsize)earth->n);
}

GstEvent *astro_observation_to_event(const AstroObservation *o)
{
  GstStructure *s = gst_structure_new(ASTRO_OBSERVATION_EVENT, "telescope", G_TYPE_STRING,
                                      o->telescope, "basis", G_TYPE_STRING, o->basis, NULL);
  set_strings(s, "stations", o->names, o->n_stations);
  set_doubles(s, "positions", o->positions, 3 * (gsize)o->n_stations);
  if (o->has_phase_centre)
    gst_structure_set(s, "phase-ra", G_TYPE_DOUBLE, o->phase_ra, "phase-dec", G_TYPE_DOUBLE,
                      o->phase_dec, NULL);
  if (o->has_start)
    gst_structure_set(s, "start-mjd", G_TYPE_INT, o->start_mjd, "start-ns", G_TYPE_UINT64,
                      o->start_ns, NULL);
  if (o->uvw_metres > 0)
    gst_structure_set(s, "uvw-metres", G_TYPE_DOUBLE, o->uvw_metres, NULL);
  astro_history_to_structure(&o->done, s);
  if (o->earth)
    set_earth(s, o->earth);
  astro_beams_to_structure(o, s);
  astro_dms_to_structure(o, s);
  return gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, s);
}

gboolean astro_event_is_observation(GstEvent *event)
{
  return GST_EVENT_TYPE(event) == GST_EVENT_CUSTOM_DOWNSTREAM_STICKY &&
         gst_event_has_name(event, ASTRO_OBSERVATION_EVENT);
}

static const GValue *get_array(const GstStructure *s, const char *field, guint n, GError **error)
{
  const GValue *array = gst_structure_get_value(s, field);
  if (array && GST_VALUE_HOLDS_ARRAY(array) && (n == 0 || gst_value_array_get_size(array) == n))
    return array;
  g_autofree char *size = n ? g_strdup_printf(" of %u values", n) : g_strdup("");
  astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                      "observation event: field \"%s\" is %s, expected an array%s", field,
                      array ? "of another type or length" : "missing", size);
  return NULL;
}

static gboolean get_doubles(const GstStructure *s, const char *field, double *values, guint n,
                            GError **error)
{
  const GValue *array = get_array(s, field, n, error);
  if (!array)
    return FALSE;
  for (guint i = 0; i < n; i++) {
    const GValue *value = gst_value_array_get_value(array, i);
    if (!G_VALUE_HOLDS_DOUBLE(value) || !isfinite(g_value_get_double(value)))
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "observation event: %s[%u] is not a finite double", field, i);
    values[i] = g_value_get_double(value);
  }
  return TRUE;
}

static gboolean get_names(const GstStructure *s, AstroObservation *o, GError **error)
{
  const GValue *array = get_array(s, "stations", o->n_stations, error);
  for (guint i = 0; array && i < o->n_stations; i++) {
    const GValue *value = gst_value_array_get_value(array, i);
    if (!G_VALUE_HOLDS_STRING(value) || !g_value_get_string(value))
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "observation event: stations[%u] is not a string", i);
    g_free(o->names[i]);
    o->names[i] = g_value_dup_string(value);
  }
  return array != NULL;
}

static gboolean get_positions(const GstStructure *s, AstroObservation *o, GError **error)
{
  if (!get_doubles(s, "positions", o->positions, 3 * o->n_stations, error))
    return FALSE;
  for (guint i = 0; i < 3 * o->n_stations; i++)
    if (fabs(o->positions[i]) > ASTRO_OBSERVATION_MAX_METRES)
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "observation event: station %s is at %g m, expected at most "
                                 "%g m from the geocentre along each axis",
                                 o->names[i / 3], o->positions[i], ASTRO_OBSERVATION_MAX_METRES);
  return TRUE;
}

/* A name without days means that UT1 is taken as UTC. */
static gboolean get_earth(const GstStructure *s, AstroObservation *o, GError **error)
{
  const char *name = gst_structure_get_string(s, "earth-orientation");
  const GValue *array = NULL;
  gint first_mjd;
  if (name && !gst_structure_get_int(s, "earth-orientation-mjd", &first_mjd)) {
    o->earth = astro_earth_new_none();
    return TRUE;
  }
  if (name && !(array = get_array(s, "earth-orientation-days", 0, error)))
    return FALSE;
  if (!name)
    return TRUE;
  const guint n = gst_value_array_get_size(array) / EARTH_VALUES;
  g_autofree double *values = g_new(double, EARTH_VALUES *(gsize)n);
  if (!get_doubles(s, "earth-orientation-days", values, EARTH_VALUES * n, error))
    return FALSE;
  o->earth = astro_earth_new(name, first_mjd, (const AstroEarthDay *)values, n, error);
  return o->earth != NULL;
}

static void replace_string(const GstStructure *s, const char *field, char **text)
{
  const char *value = gst_structure_get_string(s, field);
  if (value) {
    g_free(*text);
    *text = g_strdup(value);
  }
}

static double number_of(const GValue *value)
{
  GValue number = G_VALUE_INIT;
  g_value_init(&number, G_TYPE_DOUBLE);
  g_value_transform(value, &number);
  return g_value_get_double(&number);
}

static gboolean refuse_field(const char *field, const GValue *value, const char *expected,
                             GError **error)
{
  g_autofree char *found = value ? gst_value_serialize(value) : NULL;
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "observation event: field \"%s\" is %s%s%s, expected %s", field,
                             value ? G_VALUE_TYPE_NAME(value) : "missing", found ? " " : "",
                             found ? found : "", expected);
}

/* Fields may be missing; but a field of the wrong type, as applications and scripts make them, must
 * not be taken as missing without a word. The two fields of a pair need each other. */
static gboolean check_fields(const GstStructure *s, GError **error)
{
  static const struct {
    const char *field, *other;
    GType type;
    double low, high;
    const char *expected;
  } fields[] = {
    { "telescope", NULL, G_TYPE_STRING, 0, 0, "a string" },
    { "basis", NULL, G_TYPE_STRING, 0, 0, "a string" },
    { "phase-ra", "phase-dec", G_TYPE_DOUBLE, -6.2832, 6.2832, "a double, -2 pi to 2 pi radians" },
    { "phase-dec", "phase-ra", G_TYPE_DOUBLE, -1.5708, 1.5708,
      "a double, -pi / 2 to pi / 2 radians" },
    { "start-mjd", "start-ns", G_TYPE_INT, -678575, 2973483, "an int, a day of years 1 to 9999" },
    { "start-ns", "start-mjd", G_TYPE_UINT64, 0, 86401e9, "a guint64, nanoseconds into the day" },
    { "uvw-metres", NULL, G_TYPE_DOUBLE, 0, ASTRO_OBSERVATION_MAX_METRES,
      "a double, metres of the longest (u,v,w) in the buffers" },
    { "earth-orientation", "earth-orientation-mjd", G_TYPE_STRING, 0, 0, "a string" },
    { "earth-orientation-mjd", "earth-orientation-days", G_TYPE_INT, -678575, 2973483,
      "an int, a day of years 1 to 9999" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(fields); i++) {
    const GValue *value = gst_structure_get_value(s, fields[i].field);
    const gboolean wanted = fields[i].other && gst_structure_has_field(s, fields[i].other);
    const gboolean is_text = fields[i].type == G_TYPE_STRING;
    if (value ? !G_VALUE_HOLDS(value, fields[i].type) : wanted)
      return refuse_field(fields[i].field, value, fields[i].expected, error);
    if (value && !is_text &&
        !(number_of(value) >= fields[i].low && number_of(value) <= fields[i].high))
      return refuse_field(fields[i].field, value, fields[i].expected, error);
  }
  return TRUE;
}

AstroObservation *astro_observation_from_event(GstEvent *event, GError **error)
{
  const GstStructure *s = gst_event_get_structure(event);
  if (!astro_event_is_observation(event)) {
    astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                        "an event %s, expected " ASTRO_OBSERVATION_EVENT,
                        s ? gst_structure_get_name(s) : GST_EVENT_TYPE_NAME(event));
    return NULL;
  }
  const GValue *stations = get_array(s, "stations", 0, error);
  if (!stations || !check_fields(s, error))
    return NULL;

  g_autoptr(AstroObservation) o = astro_observation_new(gst_value_array_get_size(stations));
  if (!get_names(s, o, error) || !get_positions(s, o, error))
    return NULL;
  replace_string(s, "telescope", &o->telescope);
  replace_string(s, "basis", &o->basis);
  o->has_phase_centre = gst_structure_get_double(s, "phase-ra", &o->phase_ra) &&
                        gst_structure_get_double(s, "phase-dec", &o->phase_dec);
  o->has_start = gst_structure_get_int(s, "start-mjd", &o->start_mjd) &&
                 gst_structure_get_uint64(s, "start-ns", &o->start_ns);
  gst_structure_get_double(s, "uvw-metres", &o->uvw_metres);
  if (!astro_history_from_structure(&o->done, s, error) || !get_earth(s, o, error) ||
      !astro_beams_from_structure(o, s, error) || !astro_dms_from_structure(o, s, error))
    return NULL;
  return g_steal_pointer(&o);
}
