/* Reads the array, the channels and the products of a uvh5 file. */
#include <math.h>
#include <string.h>

#include "core/kit/units.h"
#include "core/stream/uvw.h"
#include "core/uvh5/reader.h"

#define MOST_ANTENNAS 65535
#define MOST_NUMBER 1e9
#define FEED_SLACK 0.1 /* sine of the angle by which a feed may be off north or east */
#define SAME_STEP 1e-3 /* of a channel's width: how far its frequency may be from a regular one */

/* ---- the array ---- */

void astro_uvh5_antennas_clear(AstroUvh5Antennas *antennas)
{
  g_clear_pointer(&antennas->numbers, g_free);
  g_clear_pointer(&antennas->names, g_strfreev);
  g_clear_pointer(&antennas->positions, g_free);
}

static gboolean read_location(AstroUvh5Reader *r, GError **error)
{
  const double centre[3] = { 0 };
  double latitude, longitude, altitude;
  g_autofree char *frame = astro_h5_text(&r->file, "Header/telescope_frame");
  if (frame && *frame && strcmp(frame, "itrs") != 0)
    return astro_h5_wrong(&r->file, error,
                          "Header/telescope_frame is \"%s\", expected itrs: the array has to be on "
                          "the Earth",
                          frame);
  if (!astro_h5_double(&r->file, "Header/latitude", &latitude) ||
      !astro_h5_double(&r->file, "Header/longitude", &longitude) ||
      !astro_h5_double(&r->file, "Header/altitude", &altitude))
    return astro_h5_wrong(&r->file, error,
                          "Header lacks latitude, longitude or altitude, the array's place, which "
                          "uvh5 has");
  if (!(fabs(latitude) <= 90) || !(fabs(longitude) <= 360) ||
      !(fabs(altitude) < ASTRO_OBSERVATION_MAX_METRES))
    return astro_h5_wrong(&r->file, error,
                          "the array is at latitude %g, longitude %g (Header), expected degrees, "
                          "and altitude %g, expected metres",
                          latitude, longitude, altitude);
  astro_geocentric_from_local(latitude * ASTRO_DEGREE, longitude * ASTRO_DEGREE, altitude, centre,
                              r->location);
  return TRUE;
}

static gboolean check_positions(AstroUvh5Reader *r, const AstroUvh5Antennas *antennas,
                                GError **error)
{
  for (guint64 i = 0; i < antennas->n; i++) {
    const double *at = &antennas->positions[3 * i];
    if (!(fabs((double)antennas->numbers[i]) < MOST_NUMBER))
      return astro_h5_wrong(&r->file, error,
                            "antenna \"%s\" has the number %" G_GINT64_FORMAT
                            " (Header/antenna_numbers), expected less than %g",
                            antennas->names[i], antennas->numbers[i], MOST_NUMBER);
    if (!(fabs(at[0]) + fabs(at[1]) + fabs(at[2]) < ASTRO_OBSERVATION_MAX_METRES))
      return astro_h5_wrong(&r->file, error,
                            "antenna \"%s\" is at (%g, %g, %g) m from the array's centre "
                            "(Header/antenna_positions)",
                            antennas->names[i], at[0], at[1], at[2]);
  }
  return TRUE;
}

gboolean astro_uvh5_read_antennas(AstroUvh5Reader *r, AstroUvh5Antennas *antennas, GError **error)
{
  *antennas = (AstroUvh5Antennas){ 0 };
  antennas->numbers = astro_h5_integers(&r->file, "Header/antenna_numbers", 0, &antennas->n, error);
  if (!antennas->numbers)
    return FALSE;
  if (antennas->n > MOST_ANTENNAS)
    return astro_h5_wrong(&r->file, error,
                          "there are %" G_GUINT64_FORMAT " antennas, expected at most %d",
                          antennas->n, MOST_ANTENNAS);
  antennas->names = astro_h5_texts(&r->file, "Header/antenna_names", antennas->n, error);
  if (!antennas->names)
    return FALSE;
  antennas->positions =
      astro_h5_doubles(&r->file, "Header/antenna_positions", 3 * antennas->n, NULL, error);
  return antennas->positions && read_location(r, error) && check_positions(r, antennas, error);
}

/* ---- channels ---- */

/* Other widths than the distance of channels would be another bandwidth. */
static double width_of(AstroUvh5Reader *r, double step)
{
  double width = 0;
  guint64 n;
  g_autofree double *widths = astro_h5_doubles(&r->file, "Header/channel_width", 0, &n, NULL);
  if (widths && fabs(widths[0]) > 0 && isfinite(widths[0]))
    width = fabs(widths[0]);
  if (step == 0)
    return width;
  if (width > 0 && fabs(width - step) > SAME_STEP * step)
    astro_uvh5_note(r,
                    "channels are %g Hz wide and %g Hz apart: they are taken to be as wide as "
                    "they are apart",
                    width, step);
  return step;
}

/* TRUE for a file whose windows have channels of their own. */
static gboolean is_flexible(const AstroUvh5Reader *r)
{
  return astro_h5_is_true(&r->file, "Header/flex_spw") ||
         astro_h5_has(&r->file, "Header/flex_spw_polarization_array");
}

gboolean astro_uvh5_read_band(AstroUvh5Reader *r, GError **error)
{
  guint64 n;
  gint64 windows = 1;
  astro_h5_integer(&r->file, "Header/Nspws", &windows);
  if (windows != 1 || is_flexible(r))
    return astro_h5_wrong(&r->file, error,
                          "it has %" G_GINT64_FORMAT
                          " spectral windows%s, expected one: pyuvdata's "
                          "UVData.select(spws=...) splits them",
                          windows, is_flexible(r) ? " (Header/flex_spw)" : "");
  g_autofree double *hertz = astro_h5_doubles(&r->file, "Header/freq_array", 0, &n, error);
  if (!hertz)
    return FALSE;
  if (n > G_MAXINT32)
    return astro_h5_wrong(&r->file, error, "there are %" G_GUINT64_FORMAT " channels", n);
  const double step = n > 1 ? (hertz[n - 1] - hertz[0]) / (double)(n - 1) : 0;
  for (guint64 i = 0; i < n; i++)
    if (!(fabs(hertz[i] - (hertz[0] + step * (double)i)) <= SAME_STEP * fabs(step)) ||
        !(hertz[i] > 0) || (n > 1 && step == 0))
      return astro_h5_wrong(&r->file, error,
                            "channel %" G_GUINT64_FORMAT " is at %.0f Hz (Header/freq_array), "
                            "expected channels as far apart as the others, %g Hz: pyuvdata's "
                            "UVData.select(freq_chans=...) splits a band with gaps",
                            i, hertz[i], step);
  const double width = width_of(r, fabs(step));
  if (!(width > 0))
    return astro_h5_wrong(&r->file, error,
                          "the width of the only channel is not known (Header/channel_width)");
  AstroStream *s = &r->contents.stream;
  r->channels = (guint)n;
  r->upside_down = step < 0;
  r->step_hertz = fabs(step);
  r->first_hertz = r->upside_down ? hertz[n - 1] : hertz[0];
  s->frequency = (hertz[0] + hertz[n - 1]) / 2;
  s->bandwidth = width * (double)n;
  return TRUE;
}

/* ---- products ---- */

/* Total intensity, or the products of one polarisation, become the only product of the stream. One
 * of a polarisation has one name in each basis. */
static gboolean read_only_product(AstroUvh5Reader *r, gint64 number, const char **basis)
{
  const gboolean circular = number == -1 || number == -2, linear = number == -5 || number == -6;
  if (number != 1 && !circular && !linear)
    return FALSE;
  *basis = astro_row_bases[number == 1 ? ASTRO_ROW_STOKES
                           : circular  ? ASTRO_ROW_CIRCULAR
                                       : ASTRO_ROW_LINEAR]
               .basis;
  r->pols = 1;
  r->place[0] = 0;
  if (number == -2 || number == -6)
    astro_uvh5_note(r, "its visibilities are %s, but will be called %s",
                    astro_row_products[1].name[circular], astro_row_products[0].name[circular]);
  return TRUE;
}

/* Since version 3.2 pyuvdata writes the angle of each antenna's feeds, from north through east, and
 * no orientation. */
static gboolean feeds_point_east(AstroUvh5Reader *r)
{
  guint64 n, feeds_x = 0, north = 0, east = 0;
  g_autofree double *angles = astro_h5_doubles(&r->file, "Header/feed_angle", 0, &n, NULL);
  g_auto(GStrv) feeds = angles ? astro_h5_texts(&r->file, "Header/feed_array", n, NULL) : NULL;
  for (guint64 i = 0; feeds && i < n; i++)
    if (g_ascii_strcasecmp(feeds[i], "x") == 0) {
      feeds_x++;
      north += fabs(sin(angles[i])) < FEED_SLACK;
      east += fabs(cos(angles[i])) < FEED_SLACK;
    }
  if (north < feeds_x && east < feeds_x)
    astro_uvh5_note(r,
                    "feeds X of %" G_GUINT64_FORMAT
                    " antennas point north, and of %" G_GUINT64_FORMAT
                    " east, of %" G_GUINT64_FORMAT " (Header/feed_angle): all are taken as north",
                    north, east, feeds_x);
  return feeds_x > 0 && east == feeds_x;
}

/* X points north in our streams. Where a file's X points east, its Y points north. */
static void read_orientation(AstroUvh5Reader *r, gboolean is_linear)
{
  g_autofree char *told = astro_h5_text(&r->file, "Header/x_orientation");
  const gboolean is_east = told ? astro_row_is_east(told) : is_linear && feeds_point_east(r);
  r->feed[0] = is_linear && is_east;
  r->feed[1] = 1 - r->feed[0];
}

gboolean astro_uvh5_read_products(AstroUvh5Reader *r, const char **basis, GError **error)
{
  guint64 n;
  g_autofree gint64 *numbers =
      astro_h5_integers(&r->file, "Header/polarization_array", 0, &n, error);
  if (!numbers)
    return FALSE;
  for (guint p = 0; p < ASTRO_ROW_PRODUCTS; p++)
    r->place[p] = -1;
  r->products = (guint)MIN(n, G_MAXUINT);
  r->feed[1] = 1;
  if (n == 1 && read_only_product(r, numbers[0], basis))
    return TRUE;
  const AstroRowBasis *of = &astro_row_bases[numbers[0] >= -4];
  for (guint64 i = 0; i < n; i++) {
    const gint64 at = (gint64)of->first - numbers[i];
    if (at < 0 || at >= ASTRO_ROW_PRODUCTS || r->place[at] >= 0)
      return astro_h5_wrong(&r->file, error,
                            "Header/polarization_array has %" G_GINT64_FORMAT
                            ", expected each once of -1 to -4 or of -5 to -8, or only Stokes I (1)",
                            numbers[i]);
    r->place[at] = (gint)i;
  }
  r->pols = 2;
  *basis = of->basis;
  read_orientation(r, of == &astro_row_bases[0]);
  return TRUE;
}
