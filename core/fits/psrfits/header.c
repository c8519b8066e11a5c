/* Reads the headers of PSRFITS: what the stream and its observation are. */
#include "config.h"
#include "core/fits/psrfits/read.h"
#include "core/kit/angle.h"
#include "core/kit/units.h"

#include <math.h>
#include <string.h>

#define MHZ 1e6
#define SECONDS_A_DAY 86400
#define MOST_MHZ 1e9
#define MOST_RATE 1e9
#define LEAST_RATE 1e-4
#define MOST_DAY 100000
/* Frequencies in single precision are wrong by as much of their value, and channels may lie off an
 * even grid by as much of their width. */
#define SINGLE 1e-6
#define UNEVEN 0.05

gboolean astro_psrfits_is(const AstroFitsHeader *primary)
{
  const char *type = "";
  return primary && astro_fits_get_string(primary, "FITSTYPE", &type) &&
         g_ascii_strncasecmp(type, "PSRFITS", strlen("PSRFITS")) == 0;
}

gboolean astro_psrfits_is_search(const AstroFitsHeader *primary)
{
  const char *mode = "";
  return astro_psrfits_is(primary) && astro_fits_get_string(primary, "OBS_MODE", &mode) &&
         g_str_has_prefix(mode, "SEARCH");
}

/* ---- the table ---- */

static gboolean get_count(const AstroPsrfitsReader *r, const char *key, gint64 most, guint64 *value,
                          GError **error)
{
  gint64 found = -1;
  if (!astro_fits_get_integer(r->table.header, key, &found))
    return astro_fits_wrong(r->file, error, "the table SUBINT has no %s, expected a whole number",
                            key);
  *value = (guint64)found;
  return (found >= 1 && found <= most) ||
         astro_fits_wrong(r->file, error,
                          "%s of SUBINT is %" G_GINT64_FORMAT ", expected 1 to %" G_GINT64_FORMAT,
                          key, found, most);
}

static gboolean find_column(const AstroPsrfitsReader *r, const char *name, guint64 values,
                            const AstroFitsColumn **column, GError **error)
{
  *column = NULL;
  for (guint i = 0; i < r->table.n_columns; i++)
    if (g_ascii_strcasecmp(r->table.columns[i].name, name) == 0)
      *column = &r->table.columns[i];
  if (!*column)
    return TRUE;
  return (astro_fits_column_is_number(*column) && (*column)->repeat == values) ||
         astro_fits_wrong(r->file, error,
                          "column %s of SUBINT has %" G_GUINT64_FORMAT
                          " values of type %c, expected %" G_GUINT64_FORMAT " numbers",
                          name, (*column)->repeat, (*column)->type, values);
}

/* Text of what a table lacks or has otherwise; NULL: nothing. */
static gboolean read_packing(AstroPsrfitsReader *r, guint64 bits, GError **error)
{
  static const struct {
    guint bits;
    char types[4];
  } kinds[] = { { 1, "BA" }, { 2, "BA" }, { 4, "BA" }, { 8, "BA" }, { 16, "I" }, { 32, "E" } };
  const AstroFitsColumn *data = NULL;
  gint64 is_signed = 0;
  double zero = 0;
  guint kind = 0;
  for (guint i = 0; i < r->table.n_columns; i++)
    if (g_ascii_strcasecmp(r->table.columns[i].name, "DATA") == 0)
      data = &r->table.columns[i];
  r->columns.data = data;
  if (!data)
    return astro_fits_wrong(r->file, error, "the table SUBINT has no column DATA");
  while (kind < G_N_ELEMENTS(kinds) && kinds[kind].bits != bits)
    kind++;
  if (kind == G_N_ELEMENTS(kinds))
    return astro_fits_wrong(
        r->file, error, "NBITS is %" G_GUINT64_FORMAT ", expected 1, 2, 4, 8, 16 or 32 (floats)",
        bits);
  if (!strchr(kinds[kind].types, data->type))
    return astro_fits_wrong(r->file, error,
                            "column DATA is of type %c, which does not hold the %u bits of NBITS",
                            data->type, kinds[kind].bits);
  if (data->scale != 1 || (bits < 8 && data->zero != 0) || !isfinite(data->zero))
    return astro_fits_wrong(r->file, error,
                            "column DATA has TSCAL %g and TZERO %g: expected the scale in DAT_SCL",
                            data->scale, data->zero);
  astro_fits_get_integer(r->table.header, "SIGNINT", &is_signed);
  astro_fits_get_double(r->table.header, "ZERO_OFF", &zero);
  r->packing = (AstroPsrfitsPacking){
    .bits = (guint)bits,
    /* With TZERO the bytes of signed integers are stored as unsigned ones. */
    .is_signed = is_signed == 1 && data->zero == 0,
    .shift = (float)(data->zero - zero),
  };
  return TRUE;
}

static gboolean check_data(const AstroPsrfitsReader *r, GError **error)
{
  guint64 numbers, bits;
  const guint64 has = astro_fits_column_bytes(r->columns.data);
  if (!g_uint64_checked_mul(&numbers, r->block, (guint64)r->channels * r->pols.products.n) ||
      !g_uint64_checked_mul(&bits, numbers, r->packing.bits) || bits > G_MAXUINT64 - 7)
    bits = G_MAXUINT64 - 7;
  return has == (bits + 7) / 8 ||
         astro_fits_wrong(
             r->file, error,
             "a row of DATA has %" G_GUINT64_FORMAT " bytes, expected %" G_GUINT64_FORMAT
             " for NSBLK=%" G_GUINT64_FORMAT ", NPOL=%u, NCHAN=%u and NBITS=%u",
             has, (bits + 7) / 8, r->block, r->pols.products.n, r->channels, r->packing.bits);
}

static gboolean read_pols(AstroPsrfitsReader *r, guint64 n, AstroFitsContents *contents,
                          GError **error)
{
  const AstroFitsHeader *primary = astro_fits_file_primary(r->file);
  const char *type = "", *receiver = "";
  gint64 hand = 1, phase = 0;
  astro_fits_get_string(r->table.header, "POL_TYPE", &type);
  astro_fits_get_string(primary, "FD_POLN", &receiver);
  astro_fits_get_integer(primary, "FD_HAND", &hand);
  astro_fits_get_integer(primary, "BE_PHASE", &phase);
  const gboolean is_circular = g_ascii_strncasecmp(receiver, "CIRC", 4) == 0;
  if (!*type && n == 1)
    type = "AA+BB";
  if (!astro_psrfits_pols_of(&r->pols, type, (guint)n, is_circular, (gint)CLAMP(hand, -1, 1),
                             (gint)CLAMP(phase, -1, 1)))
    return astro_fits_wrong(r->file, error,
                            "POL_TYPE is \"%s\" with NPOL=%" G_GUINT64_FORMAT
                            ", expected AA+BB, INTEN, AA or BB with 1, AABB with 2, or AABBCRCI or "
                            "IQUV with 4",
                            type, n);
  if (g_str_equal(type, "AABBCRCI") && phase == 0)
    astro_fits_contents_note(contents, astro_fits_file_name(r->file),
                             "BE_PHASE does not tell the sign of CI, which is taken as standard");
  return TRUE;
}

/* ---- rate and band ---- */

/* The best fraction whose terms fit caps. */
static gboolean to_fraction(double value, gint *n, gint *d)
{
  guint64 before[2] = { 0, 1 }, now[2] = { 1, 0 };
  double left = value;
  while (TRUE) {
    const double whole = floor(left);
    const double next_n = whole * (double)now[0] + (double)before[0],
                 next_d = whole * (double)now[1] + (double)before[1];
    if (next_n > G_MAXINT || next_d > G_MAXINT)
      break;
    before[0] = now[0], before[1] = now[1];
    now[0] = (guint64)next_n, now[1] = (guint64)next_d;
    if (fabs((double)now[0] / (double)now[1] - value) <= 1e-15 * value || left == whole)
      break;
    left = 1 / (left - whole);
  }
  *n = (gint)now[0];
  *d = (gint)now[1];
  return now[0] > 0 && now[1] > 0;
}

static gboolean read_rate(AstroPsrfitsReader *r, GError **error)
{
  double interval = 0;
  if (!astro_fits_get_double(r->table.header, "TBIN", &interval) || !(interval > 0) ||
      1 / interval > MOST_RATE || 1 / interval < LEAST_RATE ||
      !to_fraction(1 / interval, &r->stream.rate_n, &r->stream.rate_d))
    return astro_fits_wrong(
        r->file, error, "TBIN of SUBINT is %g, expected the seconds from one sample to the next",
        interval);
  r->rate = (double)r->stream.rate_n / r->stream.rate_d;
  return TRUE;
}

static gboolean read_from_primary(const AstroPsrfitsReader *r, double *centre, double *step)
{
  const AstroFitsHeader *primary = astro_fits_file_primary(r->file);
  double width = 0;
  *centre = *step = 0;
  astro_fits_get_double(primary, "OBSFREQ", centre);
  astro_fits_get_double(primary, "OBSBW", &width);
  *step = width / r->channels;
  return *centre > 0 && width != 0;
}

static gboolean check_even(const AstroPsrfitsReader *r, double first, double step, GError **error)
{
  for (guint c = 0; c < r->channels; c++) {
    const double found = astro_fits_table_number(&r->table, r->columns.frequencies, c);
    const double expected = first + c * step;
    if (!(fabs(found - expected) <= MAX(UNEVEN * fabs(step), SINGLE * fabs(expected))))
      return astro_fits_wrong(r->file, error,
                              "channel %u of DAT_FREQ is at %.9g MHz, expected %.9g MHz: channels "
                              "that are not evenly spaced are not read",
                              c, found, expected);
  }
  return TRUE;
}

/* Frequencies in single precision give the width of a channel badly, which CHAN_BW has as well. */
static gboolean read_frequencies(AstroPsrfitsReader *r, double *centre, double *step,
                                 GError **error)
{
  const AstroFitsColumn *column = r->columns.frequencies;
  const guint n = r->channels;
  double width = 0;
  if (!astro_fits_table_read(&r->table, 0, error))
    return FALSE;
  const double first = astro_fits_table_number(&r->table, column, 0),
               last = astro_fits_table_number(&r->table, column, n - 1);
  const gboolean has_width =
      astro_fits_get_double(r->table.header, "CHAN_BW", &width) && width != 0;
  *centre = (first + last) / 2;
  *step = n > 1 ? (last - first) / (n - 1) : has_width ? width : 0;
  if (!(first > 0 && last > 0 && first < MOST_MHZ && last < MOST_MHZ) || (n > 1 && *step == 0))
    return astro_fits_wrong(r->file, error,
                            "DAT_FREQ goes from %g to %g MHz in %u channels, expected frequencies "
                            "that rise or fall",
                            first, last, n);
  const double doubt = SINGLE * MAX(first, last) / n;
  if (has_width && fabs(fabs(width) - fabs(*step)) <= doubt)
    *step = copysign(width, *step);
  return check_even(r, *centre - *step * (n - 1) / 2, *step, error);
}

static gboolean read_band(AstroPsrfitsReader *r, GError **error)
{
  double centre, step;
  const gboolean is_told = r->columns.frequencies && r->table.n_rows > 0
                               ? read_frequencies(r, &centre, &step, error)
                               : read_from_primary(r, &centre, &step) ||
                                     astro_fits_wrong(r->file, error,
                                                      "neither DAT_FREQ nor OBSFREQ and OBSBW tell "
                                                      "the frequencies of channels");
  if (!is_told)
    return FALSE;
  r->is_turned = step < 0;
  r->stream.frequency = centre * MHZ;
  r->stream.bandwidth = fabs(step) * r->channels * MHZ;
  return (centre > 0 && centre < MOST_MHZ && fabs(step) * r->channels < MOST_MHZ) ||
         astro_fits_wrong(r->file, error, "a band of %g MHz around %g MHz, expected less than %g",
                          step * r->channels, centre, MOST_MHZ);
}

/* ---- the observation ---- */

static void read_telescope(const AstroPsrfitsReader *r, AstroObservation *o)
{
  const AstroFitsHeader *primary = astro_fits_file_primary(r->file);
  static const char *const keys[] = { "ANT_X", "ANT_Y", "ANT_Z" };
  const char *name = "";
  astro_fits_get_string(primary, "TELESCOP", &name);
  if (*name) {
    g_free(o->telescope);
    o->telescope = g_utf8_make_valid(name, -1);
  }
  if (r->pols.is_circular) {
    g_free(o->basis);
    o->basis = g_strdup("circular");
  }
  for (guint k = 0; o->n_stations && k < G_N_ELEMENTS(keys); k++)
    astro_fits_get_double(primary, keys[k], &o->positions[k]);
}

/* The position on the Earth, if the file has one that is possible. */
static gboolean has_place(const AstroFitsHeader *primary)
{
  double x = 0, y = 0, z = 0;
  const gboolean is_told = astro_fits_get_double(primary, "ANT_X", &x) &&
                           astro_fits_get_double(primary, "ANT_Y", &y) &&
                           astro_fits_get_double(primary, "ANT_Z", &z);
  const double radius = sqrt(x * x + y * y + z * z);
  return is_told && radius > 1e6 && radius < 1e8;
}

static const char *why_no_direction(const AstroFitsHeader *primary, double *ra, double *dec)
{
  const char *mode = "J2000", *track = "TRACK", *text_ra = "", *text_dec = "";
  double equinox = 2000;
  astro_fits_get_string(primary, "COORD_MD", &mode);
  astro_fits_get_string(primary, "TRK_MODE", &track);
  astro_fits_get_string(primary, "RA", &text_ra);
  astro_fits_get_string(primary, "DEC", &text_dec);
  astro_fits_get_double(primary, "EQUINOX", &equinox);
  if (*mode && g_ascii_strcasecmp(mode, "J2000") != 0)
    return "COORD_MD is not J2000";
  if (equinox != 2000 && equinox != 0)
    return "EQUINOX is not 2000";
  if (*track && g_ascii_strcasecmp(track, "TRACK") != 0)
    return "TRK_MODE is not TRACK";
  if (!*text_ra || !*text_dec)
    return "";
  return astro_sixtieths_parse(text_ra, TRUE, ra) && astro_sixtieths_parse(text_dec, FALSE, dec) &&
                 fabs(*dec) <= 90
             ? NULL
             : "RA and DEC are not as 13:31:08.3 and +30:30:33";
}

static void read_direction(const AstroPsrfitsReader *r, AstroObservation *o,
                           AstroFitsContents *contents)
{
  double ra = 0, dec = 0;
  const char *why = why_no_direction(astro_fits_file_primary(r->file), &ra, &dec);
  if (why && *why)
    astro_fits_contents_note(contents, astro_fits_file_name(r->file),
                             "%s, so the direction on the sky is left out", why);
  if (why)
    return;
  o->has_phase_centre = TRUE;
  o->phase_ra = ra / ASTRO_DEGREES;
  o->phase_dec = dec / ASTRO_DEGREES;
}

static gboolean read_start(const AstroPsrfitsReader *r, AstroObservation *o, GError **error)
{
  const AstroFitsHeader *primary = astro_fits_file_primary(r->file);
  gint64 day = 0, second = 0;
  double part = 0;
  if (!astro_fits_get_integer(primary, "STT_IMJD", &day) || day == 0)
    return TRUE;
  astro_fits_get_integer(primary, "STT_SMJD", &second);
  astro_fits_get_double(primary, "STT_OFFS", &part);
  if (day < 1 || day > MOST_DAY || second < 0 || second > SECONDS_A_DAY || !(part > -1 && part < 2))
    return astro_fits_wrong(r->file, error,
                            "the start is day %" G_GINT64_FORMAT ", second %" G_GINT64_FORMAT
                            " and %g s (STT_IMJD, STT_SMJD, STT_OFFS), which is no time",
                            day, second, part);
  const gint64 ns = second * (gint64)GST_SECOND + llrint(part * ASTRO_NS_PER_SECOND);
  const gint64 a_day = SECONDS_A_DAY * (gint64)GST_SECOND;
  o->has_start = TRUE;
  o->start_mjd = (gint32)(day + (ns < 0 ? -1 : ns / a_day));
  o->start_ns = (guint64)(ns < 0 ? ns + a_day : ns % a_day);
  return TRUE;
}

/* Always FALSE. */
static gboolean name_file(const AstroPsrfitsReader *r, GError **error)
{
  g_prefix_error(error, "%s: ", astro_fits_file_name(r->file));
  return FALSE;
}

/* DM is that of dispersion between channels that was taken out, relative to REFFREQ. */
static gboolean read_dispersion(const AstroPsrfitsReader *r, AstroObservation *o,
                                AstroFitsContents *contents, GError **error)
{
  double dm = 0, frequency = 0;
  if (!astro_fits_get_double(r->table.header, "DM", &dm) || dm == 0)
    return TRUE;
  if (astro_fits_get_double(r->table.header, "REFFREQ", &frequency) && frequency > 0)
    return astro_observation_set_dms(o, &dm, 1, frequency * MHZ, error) || name_file(r, error);
  astro_fits_contents_note(contents, astro_fits_file_name(r->file),
                           "dispersion of DM %g was taken out, but REFFREQ does not tell at which "
                           "frequency pulses kept their time: the stream does not say so",
                           dm);
  return TRUE;
}

static gboolean read_beam(AstroPsrfitsReader *r, AstroObservation *o, GError **error)
{
  const char *name = g_hash_table_lookup(astro_fits_file_primary(r->file)->values, "IBEAM");
  name = name && name[0] == '\'' ? name + 1 : name;
  if (!name || !*name || g_str_equal(name, "0"))
    return TRUE;
  r->stream.layout.axes[r->stream.layout.n_axes] = ASTRO_AXIS_BEAM;
  r->stream.layout.extents[r->stream.layout.n_axes++] = 1;
  g_autofree char *valid = g_utf8_make_valid(name, -1);
  return astro_observation_add_beam(o, valid, ASTRO_BEAM_TIED,
                                    o->has_phase_centre ? ASTRO_BEAM_RADEC : ASTRO_BEAM_UNTOLD,
                                    o->phase_ra, o->phase_dec, error) ||
         name_file(r, error);
}

static gboolean read_observation(AstroPsrfitsReader *r, AstroFitsContents *contents, GError **error)
{
  const AstroFitsHeader *primary = astro_fits_file_primary(r->file);
  contents->observation = astro_observation_new(has_place(primary) ? 1 : 0);
  read_telescope(r, contents->observation);
  read_direction(r, contents->observation, contents);
  return read_start(r, contents->observation, error) &&
         read_dispersion(r, contents->observation, contents, error) &&
         read_beam(r, contents->observation, error);
}

static void add_axis(AstroLayout *layout, AstroAxis axis, guint64 extent)
{
  layout->axes[layout->n_axes] = axis;
  layout->extents[layout->n_axes++] = extent;
}

gboolean astro_psrfits_read_header(AstroPsrfitsReader *r, AstroFitsContents *contents,
                                   GError **error)
{
  const AstroFitsHeader *subint = astro_fits_file_find_table(r->file, "SUBINT");
  guint64 channels = 0, pols = 0, bits = 0;
  if (!subint)
    return astro_fits_wrong(r->file, error,
                            "PSRFITS without a table SUBINT, which holds its samples");
  if (!astro_fits_table_open(&r->table, r->file, subint, error) ||
      !get_count(r, "NCHAN", G_MAXINT, &channels, error) ||
      !get_count(r, "NPOL", ASTRO_PSRFITS_MAX_POLS, &pols, error) ||
      !get_count(r, "NBITS", 32, &bits, error) ||
      !get_count(r, "NSBLK", G_MAXINT, &r->block, error))
    return FALSE;
  r->channels = (guint)channels;
  if (!read_packing(r, bits, error) || !read_pols(r, pols, contents, error) ||
      !check_data(r, error) ||
      !find_column(r, "DAT_FREQ", channels, &r->columns.frequencies, error) ||
      !find_column(r, "DAT_WTS", channels, &r->columns.weights, error) ||
      !find_column(r, "DAT_OFFS", channels * pols, &r->columns.offsets, error) ||
      !find_column(r, "DAT_SCL", channels * pols, &r->columns.scales, error) ||
      !find_column(r, "OFFS_SUB", 1, &r->columns.times, error))
    return FALSE;
  r->stream.quantity = ASTRO_QUANTITY_POWER;
  r->stream.format = ASTRO_FORMAT_F32LE;
  add_axis(&r->stream.layout, ASTRO_AXIS_TIME, 0);
  if (!read_rate(r, error) || !read_band(r, error) || !read_observation(r, contents, error))
    return FALSE;
  add_axis(&r->stream.layout, ASTRO_AXIS_POL, pols);
  add_axis(&r->stream.layout, ASTRO_AXIS_CHANNEL, channels);
  return TRUE;
}
