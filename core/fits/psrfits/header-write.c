/* Writes the headers of PSRFITS, of any mode. */
#include "config.h"
#include "core/fits/psrfits/header-write.h"
#include "core/fits/cards.h"
#include "core/kit/units.h"

#include <math.h>
#include <string.h>

#define MHZ 1e6
#define MOST_NUMBERS (1u << 29)
#define NS_A_DAY (86400 * (guint64)GST_SECOND)
#define HEADER_VERSION "6.1"

/* ---- what the stream has to tell ---- */

static const AstroBeam *beam_of(const AstroFitsContents *contents)
{
  const AstroObservation *o = contents->observation;
  return astro_layout_find(&contents->stream.layout, ASTRO_AXIS_BEAM) >= 0 && o->n_beams == 1
             ? &o->beams[0]
             : NULL;
}

static gboolean check_products(const AstroPowerProducts *products,
                               const AstroObservation *observation, GError **error)
{
  AstroPsrfitsPols pols;
  guint order[ASTRO_PSRFITS_MAX_POLS];
  g_autofree char *text = astro_power_products_to_string(products);
  if (astro_psrfits_pol_type(products, observation, &pols, order))
    return TRUE;
  for (guint i = 0; i < products->n; i++)
    if (astro_power_is_square(products->names[i]))
      return astro_fits_refuse(error,
                               "found products %s, but PSRFITS has no squares: leave square=false, "
                               "or take them out with astroselect pols=",
                               text);
  return astro_fits_refuse(error,
                           "found products %s, but PSRFITS has I, XX:YY (RR:LL), coherence or "
                           "I:Q:U:V: choose them by products= of astropower, or with astroselect",
                           text);
}

static gboolean check_axes(const AstroLayout *layout, GError **error)
{
  for (guint i = 0; i < layout->n_axes; i++) {
    const AstroAxis axis = layout->axes[i];
    const char *name = astro_axis_name(axis);
    if (layout->extents[i] <= 1 || axis == ASTRO_AXIS_POL || axis == ASTRO_AXIS_CHANNEL ||
        axis == ASTRO_AXIS_PHASE)
      continue;
    return astro_fits_refuse(
        error,
        "found %" G_GUINT64_FORMAT " %ss, but a file of PSRFITS has one: "
        "choose it with astroselect %ss=%s",
        layout->extents[i], name, name,
        axis == ASTRO_AXIS_STATION ? ", or add stations up with astropower sum=station" : "");
  }
  return TRUE;
}

/* A row is put together in memory. */
static gboolean check_size(const AstroLayout *layout, GError **error)
{
  guint64 numbers = 1;
  for (guint i = 0; i < layout->n_axes; i++)
    numbers = MIN(numbers * MAX(layout->extents[i], 1), MOST_NUMBERS + 1);
  return numbers <= MOST_NUMBERS ||
         astro_fits_refuse(error,
                           "found more than %u values in a step of time, expected at most so many "
                           "in a row of PSRFITS",
                           MOST_NUMBERS);
}

/* The file has the place of the station. A sum of stations does not say how many they were. */
static gboolean check_station(const AstroFitsContents *contents, GError **error)
{
  const guint n = contents->observation->n_stations;
  return astro_layout_find(&contents->stream.layout, ASTRO_AXIS_STATION) < 0 || n <= 1 ||
         astro_fits_refuse(error,
                           "found %u stations in the observation, expected the one that the stream "
                           "is of: choose it with astroselect stations=",
                           n);
}

gboolean astro_psrfits_check(const AstroFitsContents *contents, const AstroPowerProducts *products,
                             GError **error)
{
  const AstroStream *s = &contents->stream;
  if (s->frequency == 0 || s->bandwidth == 0)
    return astro_fits_refuse(error, "caps have no fields \"frequency\" and \"bandwidth\", which "
                                    "PSRFITS records for each channel");
  if (s->rate_n == 0)
    return astro_fits_refuse(error, "caps have no field \"rate\", which PSRFITS records as the "
                                    "time of a sample");
  if (!contents->observation || !contents->observation->has_start)
    return astro_fits_refuse(error, "the start of the observation is not known, which PSRFITS "
                                    "records: put astroobserve start-time=... upstream");
  return check_axes(&s->layout, error) && check_size(&s->layout, error) &&
         check_station(contents, error) && check_products(products, contents->observation, error);
}

/* ---- the primary header ---- */

/* Declinations have a sign; right ascensions of 24 hours are 0. */
static char *sixtieths(double value, gboolean has_sign, guint decimals)
{
  const double unit = pow(10, decimals);
  const double rounded = rint(fabs(value) * 3600 * unit) / unit;
  const double seconds = has_sign ? rounded : fmod(rounded, 24 * 3600);
  const guint whole = (guint)floor(seconds / 3600),
              minutes = (guint)floor((seconds - whole * 3600.0) / 60);
  char text[G_ASCII_DTOSTR_BUF_SIZE], format[8];
  g_snprintf(format, sizeof format, "%%.%uf", decimals);
  const double rest = seconds - whole * 3600.0 - minutes * 60.0;
  g_ascii_formatd(text, sizeof text, format, fabs(rest));
  return g_strdup_printf("%s%02u:%02u:%s%s",
                         value < 0  ? "-"
                         : has_sign ? "+"
                                    : "",
                         whole, minutes, rest < 10 ? "0" : "", text);
}

/* Where a tied-array beam looks that is given by its distance from the phase centre. */
static void from_centre(const AstroObservation *o, double l, double m, double *ra, double *dec)
{
  const double n = sqrt(MAX(1 - l * l - m * m, 0));
  *dec = asin(CLAMP(m * cos(o->phase_dec) + n * sin(o->phase_dec), -1, 1));
  *ra = o->phase_ra + atan2(l, n * cos(o->phase_dec) - m * sin(o->phase_dec));
}

static gboolean find_direction(const AstroObservation *o, const AstroBeam *beam, double *ra,
                               double *dec)
{
  *ra = o->phase_ra;
  *dec = o->phase_dec;
  if (!beam)
    return o->has_phase_centre;
  if (beam->frame == ASTRO_BEAM_RADEC) {
    *ra = beam->x;
    *dec = beam->y;
    return TRUE;
  }
  if (beam->frame != ASTRO_BEAM_LM || beam->kind == ASTRO_BEAM_FIXED || !o->has_phase_centre)
    return FALSE;
  from_centre(o, beam->x, beam->y, ra, dec);
  return TRUE;
}

static void put_direction(GString *header, const AstroPsrfitsAbout *about, const AstroBeam *beam)
{
  double ra, dec;
  const gboolean is_known = find_direction(about->observation, beam, &ra, &dec);
  const double hours = fmod(ra * ASTRO_DEGREES + 360, 360) / 15;
  g_autofree char *right = is_known ? sixtieths(hours, FALSE, 6) : g_strdup("");
  g_autofree char *up = is_known ? sixtieths(dec * ASTRO_DEGREES, TRUE, 5) : g_strdup("");
  astro_fits_put_string(header, "SRC_NAME", is_known ? "field" : "unknown", "source or scan");
  astro_fits_put_string(header, "COORD_MD", is_known ? "J2000" : "", "coordinates");
  astro_fits_put_double(header, "EQUINOX", 2000, "equinox of coordinates");
  astro_fits_put_string(header, "RA", right, "right ascension (hh:mm:ss)");
  astro_fits_put_string(header, "DEC", up, "declination (-dd:mm:ss)");
  astro_fits_put_string(header, "STT_CRD1", right, "at the start");
  astro_fits_put_string(header, "STT_CRD2", up, "at the start");
  astro_fits_put_string(header, "STP_CRD1", right, "at the end");
  astro_fits_put_string(header, "STP_CRD2", up, "at the end");
  astro_fits_put_string(header, "TRK_MODE", is_known ? "TRACK" : "", "whether it is followed");
  astro_fits_put_double(header, "BMAJ", 0, "[deg] beam major axis, 0: unknown");
  astro_fits_put_double(header, "BMIN", 0, "[deg] beam minor axis, 0: unknown");
  astro_fits_put_double(header, "BPA", 0, "[deg] beam position angle");
}

/* The middle of the stations. */
static void put_place(GString *header, const AstroObservation *o)
{
  static const char *const keys[] = { "ANT_X", "ANT_Y", "ANT_Z" };
  for (guint k = 0; k < G_N_ELEMENTS(keys); k++) {
    double sum = 0;
    for (guint i = 0; i < o->n_stations; i++)
      sum += o->positions[3 * i + k];
    astro_fits_put_double(header, keys[k], o->n_stations ? sum / o->n_stations : 0,
                          "[m] ITRF; all 0: unknown");
  }
}

static void put_start(GString *header, const AstroObservation *o, guint64 start)
{
  const guint64 ns = o->start_ns + start;
  const guint64 of_day = ns % NS_A_DAY;
  g_autofree char *time = astro_observation_get_time(o, start);
  /* No Z, and microseconds. */
  g_autofree char *date = g_strndup(time ? time : "", strlen("2000-01-01T00:00:00.000000"));
  astro_fits_put_string(header, "DATE-OBS", date, "UTC of the first sample");
  astro_fits_put_integer(header, "STT_IMJD", o->start_mjd + (gint64)(ns / NS_A_DAY),
                         "UTC day of the start");
  astro_fits_put_integer(header, "STT_SMJD", (gint64)(of_day / GST_SECOND), "[s] since its 0h");
  astro_fits_put_double(header, "STT_OFFS", (double)(of_day % GST_SECOND) / ASTRO_NS_PER_SECOND,
                        "[s] more");
  astro_fits_put_double(header, "STT_LST", 0, "[s] not computed");
}

void astro_psrfits_put_primary(GString *header, const AstroPsrfitsAbout *about, guint64 start)
{
  const AstroObservation *o = about->observation;
  const AstroStream *s = about->stream;
  const AstroFitsContents contents = { .stream = *s, .observation = (AstroObservation *)o };
  const AstroBeam *beam = beam_of(&contents);
  astro_fits_put_logical(header, "SIMPLE", TRUE, "conforms to FITS");
  astro_fits_put_integer(header, "BITPIX", 8, "");
  astro_fits_put_integer(header, "NAXIS", 0, "a table follows");
  astro_fits_put_logical(header, "EXTEND", TRUE, "");
  astro_fits_put_string(header, "HDRVER", HEADER_VERSION, "version of PSRFITS");
  astro_fits_put_string(header, "FITSTYPE", "PSRFITS", "FITS of pulsar data");
  astro_fits_put_string(header, "OBSERVER", "unknown", "");
  astro_fits_put_string(header, "PROJID", "unknown", "");
  astro_fits_put_string(header, "TELESCOP", o->telescope, "");
  put_place(header, o);
  astro_fits_put_string(header, "FRONTEND", "unknown", "");
  astro_fits_put_string(header, "IBEAM", beam ? beam->name : "", "name of the beam");
  astro_fits_put_integer(header, "NRCVR", 2, "polarisations of the receiver");
  astro_fits_put_string(header, "FD_POLN", about->is_circular ? "CIRC" : "LIN", "receiver");
  astro_fits_put_integer(header, "FD_HAND", 1, "+1: A and B are X and Y, or L and R");
  astro_fits_put_double(header, "FD_SANG", 0, "[deg]");
  astro_fits_put_double(header, "FD_XYPH", 0, "[deg]");
  astro_fits_put_string(header, "BACKEND", "gst-astro", "");
  astro_fits_put_string(header, "BECONFIG", "", "");
  astro_fits_put_integer(header, "BE_PHASE", 1, "+1: CR + i CI is <conj(A) B>");
  astro_fits_put_integer(header, "BE_DCC", 0, "");
  astro_fits_put_double(header, "BE_DELAY", 0, "[s]");
  astro_fits_put_double(header, "TCYCLE", 0, "[s]");
  astro_fits_put_string(header, "OBS_MODE", about->mode, "");
  astro_fits_put_double(header, "OBSFREQ", s->frequency / MHZ, "[MHz] middle of the band");
  astro_fits_put_double(header, "OBSBW", s->bandwidth / MHZ, "[MHz] width of the band");
  astro_fits_put_integer(header, "OBSNCHAN", (gint64)astro_stream_extent(s, ASTRO_AXIS_CHANNEL),
                         "channels");
  astro_fits_put_string(header, "PNT_ID", "", "");
  put_direction(header, about, beam);
  astro_fits_put_double(header, "SCANLEN", 0, "[s] not planned");
  astro_fits_put_string(header, "FD_MODE", "FA", "the feed's angle is constant");
  astro_fits_put_double(header, "FA_REQ", 0, "[deg]");
  astro_fits_put_string(header, "CAL_MODE", "OFF", "no calibration signal");
  astro_fits_put_double(header, "CAL_FREQ", 0, "[Hz]");
  astro_fits_put_double(header, "CAL_DCYC", 0, "");
  astro_fits_put_double(header, "CAL_PHS", 0, "");
  astro_fits_put_integer(header, "CAL_NPHS", 0, "");
  put_start(header, o, start);
}

/* ---- tables ---- */

static guint bytes_of(char type)
{
  return type == 'D' ? 8 : type == 'E' ? 4 : type == 'J' ? 4 : type == 'I' ? 2 : 1;
}

guint64 astro_psrfits_put_table(GString *header, const char *name, const AstroPsrfitsField *fields,
                                guint n_fields, guint64 n_rows)
{
  guint64 row = 0;
  for (guint f = 0; f < n_fields; f++)
    row += fields[f].repeat * bytes_of(fields[f].type);
  astro_fits_put_string(header, "XTENSION", "BINTABLE", "binary table");
  astro_fits_put_integer(header, "BITPIX", 8, "");
  astro_fits_put_integer(header, "NAXIS", 2, "rows of bytes");
  astro_fits_put_integer(header, "NAXIS1", (gint64)row, "bytes of a row");
  astro_fits_put_integer(header, "NAXIS2", (gint64)n_rows, "rows");
  astro_fits_put_integer(header, "PCOUNT", 0, "");
  astro_fits_put_integer(header, "GCOUNT", 1, "");
  astro_fits_put_integer(header, "TFIELDS", n_fields, "columns");
  astro_fits_put_string(header, "EXTNAME", name, "");
  for (guint f = 0; f < n_fields; f++) {
    g_autofree char *form =
        g_strdup_printf("%" G_GUINT64_FORMAT "%c", fields[f].repeat, fields[f].type);
    astro_fits_put_string_n(header, "TTYPE", f + 1, fields[f].name, "");
    astro_fits_put_string_n(header, "TFORM", f + 1, form, "");
    if (fields[f].unit)
      astro_fits_put_string_n(header, "TUNIT", f + 1, fields[f].unit, "");
  }
  return row;
}

void astro_psrfits_put_double(GByteArray *row, double value)
{
  guint64 bits;
  memcpy(&bits, &value, sizeof bits);
  bits = GUINT64_TO_BE(bits);
  g_byte_array_append(row, (const guint8 *)&bits, sizeof bits);
}

void astro_psrfits_put_floats(GByteArray *row, const float *values, guint64 n)
{
  const guint at = row->len;
  g_byte_array_set_size(row, (guint)(at + n * sizeof *values));
  guint8 *to = row->data + at;
  for (guint64 i = 0; i < n; i++) {
    guint32 bits;
    memcpy(&bits, &values[i], sizeof bits);
    bits = GUINT32_TO_BE(bits);
    memcpy(to + i * sizeof bits, &bits, sizeof bits);
  }
}

void astro_psrfits_put_frequencies(GByteArray *row, const AstroStream *stream, guint channels)
{
  for (guint c = 0; c < channels; c++)
    astro_psrfits_put_double(
        row, astro_channel_frequency(stream->frequency, stream->bandwidth, channels, c) / MHZ);
}
