/* Arrays of stations: presets, and files of positions. */
#include "config.h"
#include "core/lib/sky/array.h"
#include "core/stream/uvw.h"
#include "core/kit/units.h"

#include <math.h>
#include <string.h>

#define GOLDEN_ANGLE (G_PI * (3 - sqrt(5)))

/* Sets east and north of station i of n, metres. */
typedef void (*Place)(guint i, guint n, double enu[3]);

/* A sunflower pattern: uniform over a disc of 1 km, and no two baselines are the same. */
static void place_disc(guint i, guint n, double enu[3])
{
  double radius = 500 * sqrt((i + 0.5) / n), angle = i * GOLDEN_ANGLE;
  enu[0] = radius * sin(angle);
  enu[1] = radius * cos(angle);
}

/* Three arms of 1.95 km, spaced by the power law of the VLA (configuration C). */
static void place_vla(guint i, guint n, double enu[3])
{
  static const double azimuths[3] = { 355 * ASTRO_DEGREE, 115 * ASTRO_DEGREE, 236 * ASTRO_DEGREE };
  guint on_arm = (n + 2) / 3;
  double radius = 1950 * pow((i / 3 + 1.0) / on_arm, 1.716);
  enu[0] = radius * sin(azimuths[i % 3]);
  enu[1] = radius * cos(azimuths[i % 3]);
}

/* Half of the stations are within 1.5 km, the others on a spiral out to 60 km. */
static void place_lofar(guint i, guint n, double enu[3])
{
  guint core = (n + 1) / 2;
  double radius =
      i < core ? 1500 * sqrt((i + 0.5) / core) : 1500 * pow(40, (i - core + 1.0) / (n - core));
  double angle = i * GOLDEN_ANGLE;
  enu[0] = radius * sin(angle);
  enu[1] = radius * cos(angle);
}

static const struct {
  const char *name;
  double latitude, longitude, height;
  Place place;
} presets[] = {
  { "disc", -30.7126, 21.4432, 1050, place_disc },
  { "vla-like", 34.0788, -107.6177, 2115, place_vla },
  { "lofar-like", 52.9153, 6.8698, 50, place_lofar },
};

const char *const astro_array_presets[] = { "disc", "vla-like", "lofar-like", NULL };

static AstroObservation *from_preset(guint preset, guint n, const AstroSite *site)
{
  AstroObservation *observation = astro_observation_new(n);
  AstroSite own = { presets[preset].latitude * ASTRO_DEGREE,
                    presets[preset].longitude * ASTRO_DEGREE };
  if (!site)
    site = &own;
  g_free(observation->telescope);
  observation->telescope = g_strdup(presets[preset].name);
  for (guint i = 0; i < n; i++) {
    double enu[3] = { 0, 0, 0 };
    presets[preset].place(i, n, enu);
    astro_geocentric_from_local(site->latitude, site->longitude, presets[preset].height, enu,
                                &observation->positions[3 * i]);
  }
  return observation;
}

/* Nobody observes from there. Metres east, north and up that are mistaken for geocentric ones are
 * inside; geocentric ones mistaken for metres east, north and up are outside, though nobody has
 * stations that far from a site. */
static gboolean is_within_an_earth(const double xyz[3])
{
  return sqrt(xyz[0] * xyz[0] + xyz[1] * xyz[1] + xyz[2] * xyz[2]) < 6.3e6;
}

static gboolean read_station(const AstroLines *lines, char **fields, const AstroSite *site,
                             double xyz[3], GError **error)
{
  guint n = g_strv_length(fields);
  double read[3];
  if (n < 3 || n > 4) {
    astro_lines_error(lines, error,
                      "%u fields found, expected x y z in metres and optionally a name", n);
    return FALSE;
  }
  for (guint i = 0; i < 3; i++)
    if (!astro_number_parse(fields[i], &read[i]) || fabs(read[i]) > 1e9) {
      astro_lines_error(lines, error, "%c is \"%s\", expected metres", "xyz"[i], fields[i]);
      return FALSE;
    }
  if (site && !is_within_an_earth(read)) {
    astro_lines_error(lines, error,
                      "(%s, %s, %s) cannot be metres east, north and up: unset latitude and "
                      "longitude, and remove a site from the file, if these are geocentric",
                      fields[0], fields[1], fields[2]);
    return FALSE;
  }
  if (site)
    astro_geocentric_from_local(site->latitude, site->longitude, site->height, read, xyz);
  else
    memcpy(xyz, read, sizeof read);
  if (is_within_an_earth(xyz)) {
    astro_lines_error(lines, error,
                      "(%s, %s, %s) is inside the Earth: set latitude and longitude, or begin "
                      "the file with a line \"site latitude longitude\", if these are metres "
                      "east, north and up",
                      fields[0], fields[1], fields[2]);
    return FALSE;
  }
  return TRUE;
}

static gboolean is_site(char **fields)
{
  return strcmp(fields[0], "site") == 0;
}

static gboolean read_site(const AstroLines *lines, char **fields, gboolean is_late, AstroSite *site,
                          GError **error)
{
  static const struct {
    const char *name, *unit;
    double largest;
  } numbers[] = { { "latitude", "degrees", 90 },
                  { "longitude", "degrees", 360 },
                  { "height", "metres", 1e6 } };
  const guint n = g_strv_length(fields) - 1;
  double read[G_N_ELEMENTS(numbers)] = { 0 };

  if (is_late) {
    astro_lines_error(lines, error, "found a site, expected it once and before all stations");
    return FALSE;
  }
  if (n < 2 || n > G_N_ELEMENTS(numbers)) {
    astro_lines_error(lines, error,
                      "%u numbers of a site found, expected latitude and longitude in degrees and "
                      "optionally height in metres",
                      n);
    return FALSE;
  }
  for (guint i = 0; i < n; i++)
    if (!astro_number_parse(fields[i + 1], &read[i]) || fabs(read[i]) > numbers[i].largest) {
      astro_lines_error(lines, error, "%s is \"%s\", expected a number within %g %s",
                        numbers[i].name, fields[i + 1], numbers[i].largest, numbers[i].unit);
      return FALSE;
    }
  *site = (AstroSite){ read[0] * ASTRO_DEGREE, read[1] * ASTRO_DEGREE, read[2] };
  return TRUE;
}

AstroObservation *astro_array_from_lines(AstroLines *lines, guint n_stations, const AstroSite *site,
                                         GError **error)
{
  g_autoptr(GArray) positions = g_array_new(FALSE, FALSE, 3 * sizeof(double));
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  AstroSite own;
  gboolean has_own = FALSE;
  char **read;
  while ((read = astro_lines_next(lines))) {
    g_auto(GStrv) fields = read;
    double xyz[3];
    if (is_site(fields)) {
      if (!read_site(lines, fields, has_own || positions->len, &own, error))
        return NULL;
      has_own = TRUE;
      site = site ? site : &own;
      continue;
    }
    if (!read_station(lines, fields, site, xyz, error))
      return NULL;
    if (positions->len == ASTRO_ARRAY_MAX_STATIONS) {
      astro_lines_error(lines, error, "more than %d stations", ASTRO_ARRAY_MAX_STATIONS);
      return NULL;
    }
    g_array_append_vals(positions, xyz, 1);
    g_ptr_array_add(names, g_strdup(fields[3]));
  }
  if (positions->len == 0 || (n_stations && n_stations != positions->len)) {
    /* A simulation can have any number of stations; the user's own voltages have a fixed one. */
    g_autofree char *cure =
        positions->len ? g_strdup_printf(": set stations=%u, the number in the file, or, in a "
                                         "simulation, 0 for all of them",
                                         positions->len)
                       : g_strdup("");
    g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                "%s: %u stations found, expected %u%s", lines->name, positions->len,
                MAX(n_stations, 1), cure);
    return NULL;
  }
  AstroObservation *observation = astro_observation_new(positions->len);
  memcpy(observation->positions, positions->data, positions->len * 3 * sizeof(double));
  for (guint i = 0; i < positions->len; i++)
    if (names->pdata[i]) {
      g_free(observation->names[i]);
      observation->names[i] = g_steal_pointer(&names->pdata[i]);
    }
  return observation;
}

AstroObservation *astro_array_new(const char *array, guint n_stations, const AstroSite *site,
                                  GError **error)
{
  AstroLines lines;
  if (n_stations > ASTRO_ARRAY_MAX_STATIONS) {
    g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE, "stations=%u, expected at most %d",
                n_stations, ASTRO_ARRAY_MAX_STATIONS);
    return NULL;
  }
  for (guint i = 0; i < G_N_ELEMENTS(presets); i++)
    if (strcmp(array, presets[i].name) == 0)
      return from_preset(i, n_stations ? n_stations : ASTRO_ARRAY_STATIONS, site);
  if (!g_file_test(array, G_FILE_TEST_EXISTS)) {
    g_autofree char *known = g_strjoinv(", ", (char **)astro_array_presets);
    g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_FILE,
                "array \"%s\" is neither a file nor one of %s", array, known);
    return NULL;
  }
  if (!astro_lines_open(&lines, array, error))
    return NULL;
  AstroObservation *observation = astro_array_from_lines(&lines, n_stations, site, error);
  astro_lines_clear(&lines);
  return observation;
}

void astro_array_centre(const AstroObservation *observation, double centre[3])
{
  for (guint k = 0; k < 3; k++) {
    centre[k] = 0;
    for (guint i = 0; i < observation->n_stations; i++)
      centre[k] += observation->positions[3 * i + k] / observation->n_stations;
  }
}

double *astro_array_seconds(const AstroObservation *observation)
{
  const guint n = 3 * observation->n_stations;
  double centre[3], *seconds = g_new(double, n);
  astro_array_centre(observation, centre);
  for (guint i = 0; i < n; i++)
    seconds[i] = (observation->positions[i] - centre[i % 3]) / ASTRO_LIGHT_SPEED;
  return seconds;
}

double astro_array_reach(const double *seconds, guint n_stations)
{
  double farthest = 0;
  for (guint i = 0; i < n_stations; i++) {
    const double *p = &seconds[3 * i];
    farthest = MAX(farthest, sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]));
  }
  return farthest;
}
