/* Reads the weights of stations. */
#include "config.h"
#include "core/beamform/weights.h"

#include <math.h>
#include <string.h>

#include "core/kit/units.h"

#define LARGEST 1e15 /* so that sums stay within single precision */

typedef struct {
  const AstroLines *lines;
  const AstroObservation *observation;
  const guint *index;
  guint n, channels;
  float *weights;
} Reader;

static gboolean read_channels(const Reader *reader, const char *text, guint *first, guint *last,
                              GError **error)
{
  char *end = NULL;
  *first = 0;
  *last = reader->channels - 1;
  if (strcmp(text, "*") == 0)
    return TRUE;
  guint64 from = g_ascii_strtoull(text, &end, 10), to = from;
  const gboolean is_range = g_ascii_isdigit(*text) && *end == '-' && g_ascii_isdigit(end[1]);
  if (is_range)
    to = g_ascii_strtoull(end + 1, &end, 10);
  if (!g_ascii_isdigit(*text) || *end || from > to || to > *last) {
    astro_lines_error(reader->lines, error,
                      "channels \"%s\", expected a number or a range FIRST-LAST from 0 to %u, or *",
                      text, *last);
    return FALSE;
  }
  *first = (guint)from;
  *last = (guint)to;
  return TRUE;
}

/* Whether the observation has the station. One that is there and takes no part is passed over. */
static gboolean check_station(const Reader *reader, const char *name, GError **error)
{
  const guint stations = reader->observation->n_stations;
  if (strcmp(name, "*") == 0)
    return TRUE;
  for (guint i = 0; i < stations; i++)
    if (strcmp(name, reader->observation->names[i]) == 0)
      return TRUE;
  astro_lines_error(
      reader->lines, error, "there is no station \"%s\", expected one of %u from %s to %s, or *",
      name, stations, reader->observation->names[0], reader->observation->names[stations - 1]);
  return FALSE;
}

static gboolean read_line(const Reader *reader, char **fields, GError **error)
{
  const guint n = g_strv_length(fields);
  double amplitude, degrees = 0;
  guint first, last;
  if (n < 3 || n > 4 || !astro_number_parse(fields[2], &amplitude) ||
      (n == 4 && !astro_number_parse(fields[3], &degrees))) {
    g_autofree char *found = g_strjoinv(" ", fields);
    astro_lines_error(reader->lines, error,
                      "found \"%s\", expected STATION CHANNELS AMPLITUDE [DEGREES]", found);
    return FALSE;
  }
  if (!(amplitude >= 0 && amplitude <= LARGEST)) {
    astro_lines_error(reader->lines, error, "amplitude %s, expected 0 to %g", fields[2], LARGEST);
    return FALSE;
  }
  if (!check_station(reader, fields[0], error) ||
      !read_channels(reader, fields[1], &first, &last, error))
    return FALSE;
  const float weight[2] = { (float)(amplitude * cos(degrees * ASTRO_DEGREE)),
                            (float)(amplitude * sin(degrees * ASTRO_DEGREE)) };
  for (guint i = 0; i < reader->n; i++) {
    if (*fields[0] != '*' && strcmp(fields[0], reader->observation->names[reader->index[i]]) != 0)
      continue;
    for (guint channel = first; channel <= last; channel++)
      memcpy(reader->weights + 2 * ((gsize)channel * reader->n + i), weight, sizeof weight);
  }
  return TRUE;
}

static gboolean check_left(const Reader *reader, GError **error)
{
  for (guint channel = 0; channel < reader->channels; channel++) {
    gboolean any = FALSE;
    for (gsize i = 0; i < 2 * (gsize)reader->n; i++)
      any |= reader->weights[2 * (gsize)channel * reader->n + i] != 0;
    if (any)
      continue;
    g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                "%s: all stations that take part have weight 0 in channel %u, so that nothing is "
                "left of it: expected a weight there; astroselect channels= leaves channels out",
                reader->lines->name, channel);
    return FALSE;
  }
  return TRUE;
}

float *astro_beamform_weights_from_lines(AstroLines *lines, const AstroObservation *observation,
                                         const guint *index, guint n, guint channels,
                                         GError **error)
{
  const gsize values = (gsize)channels * n;
  g_autofree float *weights = g_try_new0(float, 2 * values);
  const Reader reader = { lines, observation, index, n, channels, weights };
  char **read;
  if (!weights) {
    g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                "%s: no memory for weights of %u stations in %u channels", lines->name, n,
                channels);
    return NULL;
  }
  for (gsize i = 0; i < values; i++)
    weights[2 * i] = 1;
  while ((read = astro_lines_next(lines))) {
    g_auto(GStrv) fields = read;
    if (!read_line(&reader, fields, error))
      return NULL;
  }
  return check_left(&reader, error) ? g_steal_pointer(&weights) : NULL;
}

float *astro_beamform_weights_read(const char *path, const AstroObservation *observation,
                                   const guint *index, guint n, guint channels, GError **error)
{
  AstroLines lines;
  if (!astro_lines_open(&lines, path, error))
    return NULL;
  float *weights =
      astro_beamform_weights_from_lines(&lines, observation, index, n, channels, error);
  astro_lines_clear(&lines);
  return weights;
}
