#include "core/fits/uvfits-read.h"
#include "core/fits/uvfits.h"

#include <math.h>
#include <string.h>

#define JD_OF_MJD_ZERO 2400000.5
#define NS_PER_DAY 86400e9
#define NS_PER_SECOND 1e9
#define RADIANS (G_PI / 180.0)
#define MAX_PARAMETERS 64
#define MANY_STATIONS 65536 /* baselines from here on are 2048 a1 + a2 beyond it, as some write */
#define FULL_SCALE 65536.0  /* the count of the largest weight where weights are no counts */
/* Integration times are floats of seconds. Where frames follow each other at about that distance,
 * the distance, which is known better, is the integration time. */
#define INTTIM_SLACK 1e-5

typedef enum { COMPLEX, STOKES, FREQ, IF, RA, DEC, N_KNOWN_AXES } KnownAxis;
static const char *const axis_names[N_KNOWN_AXES] = {
  "COMPLEX", "STOKES", "FREQ", "IF", "RA", "DEC"
};

typedef struct {
  guint64 n;      /* 1 where the file has no such axis */
  guint64 stride; /* in values */
  double value, pixel, delta;
  gboolean found;
} Axis;

typedef enum {
  DATE,
  DATE_REST,
  BASELINE,
  ANTENNA1,
  ANTENNA2,
  SUBARRAY,
  INTTIM,
  SOURCE,
  FREQSEL,
  N_KNOWN_PARAMETERS
} KnownParameter;
static const char *const parameter_names[N_KNOWN_PARAMETERS] = {
  "DATE", "DATE", "BASELINE", "ANTENNA1", "ANTENNA2", "SUBARRAY", "INTTIM", "SOURCE", "FREQSEL"
};

/* What a group says of itself. */
typedef struct {
  gint64 middle_ns; /* since the observation's start */
  double seconds;   /* 0: not said */
  guint station[2]; /* indices into the stations */
} Group;

typedef struct {
  AstroFitsFile *file;
  const AstroFitsHeader *header; /* of the groups */
  Axis axes[N_KNOWN_AXES];
  guint n_parameters;
  gint place[N_KNOWN_PARAMETERS]; /* in a group; -1: not there */
  double scale[MAX_PARAMETERS], zero[MAX_PARAMETERS];
  guint64 n_groups, group_values;
  AstroUvfitsAntennas antennas;
  GHashTable *station_of; /* NOSTA to index + 1 */
  double first_source, first_setup;
  gint64 start_day; /* MJD */
  double start_ns;  /* into it */
  guint pols, channels;
  gint product_at[ASTRO_UVFITS_PRODUCTS]; /* on the STOKES axis; -1: not in the file */
  gboolean upside_down;                   /* frequencies fall along the axis */
  gint64 integration_ns;                  /* 0: not known */
  guint64 next;                           /* group, from 0 */
  gint64 last_ns;                         /* middle of the frame before */
  gboolean any_before;
  double weight_scale; /* 0: not chosen yet */
  guint32 full;
  double value_scale, value_zero;
  gboolean has_blank;
  gint64 blank;
  guint8 *raw; /* as in the file */
  double *parameters;
  float *values;
} Reader;

static gboolean wrong(const Reader *r, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);
static gboolean wrong(const Reader *r, GError **error, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *what = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_set_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_FORMAT, "%s: %s",
              astro_fits_file_name(r->file), what);
  return FALSE;
}

static gboolean recognises(const AstroFitsFile *file)
{
  return astro_fits_file_primary(file)->groups;
}

/* Axes others than ours may be there with a length of 1. */
static gboolean read_axes(Reader *r, GError **error)
{
  for (guint k = 0; k < N_KNOWN_AXES; k++)
    r->axes[k] = (Axis){ .n = 1, .pixel = 1, .delta = 1 };
  r->group_values = 1;
  for (guint i = 1; i < r->header->n_axes; i++) {
    guint64 length = r->header->axes[i];
    const char *type = "";
    gint known = -1;
    astro_fits_get_string_n(r->header, "CTYPE", i + 1, &type);
    for (guint k = 0; k < N_KNOWN_AXES; k++)
      if (g_str_equal(type, axis_names[k]))
        known = k;
    if (length < 1 || (known < 0 && length > 1))
      return wrong(r, error,
                   "axis %d is \"%s\" with %" G_GUINT64_FORMAT
                   " values, expected COMPLEX, STOKES, FREQ, IF, RA or DEC "
                   "with at least one, or another with one",
                   i + 1, type, length);
    if (known >= 0) {
      Axis *axis = &r->axes[known];
      if (axis->found)
        return wrong(r, error, "axis %d is \"%s\" for the second time", i + 1, type);
      axis->found = TRUE;
      axis->n = length;
      axis->stride = r->group_values;
      astro_fits_get_double_n(r->header, "CRVAL", i + 1, &axis->value);
      astro_fits_get_double_n(r->header, "CRPIX", i + 1, &axis->pixel);
      astro_fits_get_double_n(r->header, "CDELT", i + 1, &axis->delta);
    }
    if (r->group_values > G_MAXINT32 / length)
      return wrong(r, error, "a group has more than %d values", G_MAXINT32);
    r->group_values *= length;
  }

  const Axis *a = r->axes;
  if (!a[COMPLEX].found || a[COMPLEX].n < 2 || a[COMPLEX].n > 3)
    return wrong(r, error,
                 "axis COMPLEX has %" G_GUINT64_FORMAT " values, expected 2 or 3 (re, im, weight)",
                 a[COMPLEX].found ? a[COMPLEX].n : 0);
  if (!a[FREQ].found || !(a[FREQ].value > 0) || a[FREQ].delta == 0)
    return wrong(r, error, "axis FREQ is missing or has value %g and step %g, expected Hz",
                 a[FREQ].value, a[FREQ].delta);
  if (a[RA].n != 1 || a[DEC].n != 1)
    return wrong(r, error,
                 "axes RA and DEC have %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT
                 " values, expected one each",
                 a[RA].n, a[DEC].n);
  return TRUE;
}

static gboolean read_parameters(Reader *r, GError **error)
{
  if (r->header->n_parameters < 1 || r->header->n_parameters > MAX_PARAMETERS ||
      r->header->n_groups < 1)
    return wrong(r, error,
                 "PCOUNT %" G_GUINT64_FORMAT " and GCOUNT %" G_GUINT64_FORMAT
                 ", expected 1 to %d parameters and a group",
                 r->header->n_parameters, r->header->n_groups, MAX_PARAMETERS);
  r->n_parameters = r->header->n_parameters;
  r->n_groups = r->header->n_groups;

  for (guint k = 0; k < N_KNOWN_PARAMETERS; k++)
    r->place[k] = -1;
  for (guint i = 0; i < r->n_parameters; i++) {
    const char *type = "";
    r->scale[i] = 1;
    astro_fits_get_string_n(r->header, "PTYPE", i + 1, &type);
    astro_fits_get_double_n(r->header, "PSCAL", i + 1, &r->scale[i]);
    astro_fits_get_double_n(r->header, "PZERO", i + 1, &r->zero[i]);
    for (guint k = 0; k < N_KNOWN_PARAMETERS; k++)
      if (r->place[k] < 0 && g_str_equal(type, parameter_names[k])) {
        r->place[k] = i;
        break;
      }
  }
  if (r->place[DATE] < 0)
    return wrong(r, error, "no parameter DATE");
  if (r->place[BASELINE] < 0 && (r->place[ANTENNA1] < 0 || r->place[ANTENNA2] < 0))
    return wrong(r, error, "neither a parameter BASELINE nor ANTENNA1 and ANTENNA2");
  return TRUE;
}

/* A file cut short is better said at once than in the middle. */
static gboolean check_size(const Reader *r, GError **error)
{
  guint64 there = astro_fits_file_bytes(r->file);
  there -= MIN(there, r->header->data);
  if (r->header->bytes <= there)
    return TRUE;
  return wrong(r, error,
               "cut short: the header tells of %" G_GUINT64_FORMAT " groups of %" G_GUINT64_FORMAT
               " values and the file ends after %" G_GUINT64_FORMAT " bytes of them",
               r->n_groups, r->n_parameters + r->group_values, there);
}

/* Several IFs are channels that follow each other where their frequencies do. */
static gboolean check_ifs(Reader *r, GError **error)
{
  const AstroFitsHeader *header = astro_fits_file_find_table(r->file, "AIPS FQ");
  const AstroFitsColumn *column = NULL;
  const Axis *freq = &r->axes[FREQ];
  AstroFitsTable table;
  gboolean good = TRUE;
  guint64 n = r->axes[IF].n;

  if (n == 1)
    return TRUE;
  if (header && !astro_fits_table_open(&table, r->file, header, error))
    return FALSE;
  if (header)
    column = astro_fits_table_find(&table, "IF FREQ", FALSE, n);
  if (!column || table.n_rows < 1) {
    good = wrong(
        r, error,
        "%" G_GUINT64_FORMAT " IFs and no table AIPS FQ with as many values of \"IF FREQ\"", n);
  } else if ((good = astro_fits_table_read(&table, 0, error))) {
    double first = astro_fits_table_number(&table, column, 0);
    for (guint64 i = 1; i < n && good; i++) {
      double expected = first + i * (freq->n * freq->delta);
      double found = astro_fits_table_number(&table, column, i);
      if (!(fabs(found - expected) <= 1e-3 * fabs(freq->delta)))
        good = wrong(r, error,
                     "IF %" G_GUINT64_FORMAT
                     " begins %.0f Hz from the reference, expected %.0f Hz, where "
                     "the IF before it ends: IFs with gaps cannot be one band",
                     i + 1, found, expected);
    }
    r->axes[FREQ].value += first;
  }
  if (header)
    astro_fits_table_clear(&table);
  return good;
}

static gboolean read_products(Reader *r, const AstroUvfitsBasis **basis, GError **error)
{
  const Axis *a = &r->axes[STOKES];
  double first = a->value + (1 - a->pixel) * a->delta;

  *basis = &astro_uvfits_bases[first < 0 && first > -4.5];
  for (guint p = 0; p < ASTRO_UVFITS_PRODUCTS; p++)
    r->product_at[p] = -1;
  r->pols = 1;
  /* One parallel hand alone, whichever, or total intensity is what a single receiver sees. */
  if (!a->found ||
      (a->n == 1 && (first == 1 || first == -1 || first == -2 || first == -5 || first == -6))) {
    r->product_at[0] = 0;
    return TRUE;
  }
  for (guint64 s = 0; s < a->n; s++) {
    double product = (*basis)->first - (first + s * a->delta);
    if (!(product >= 0 && product < ASTRO_UVFITS_PRODUCTS) || product != floor(product))
      return wrong(r, error,
                   "axis STOKES has the value %g, expected correlations (-1 to -4 or -5 to -8), or "
                   "Stokes I (1) alone",
                   first + s * a->delta);
    r->product_at[(guint)product] = s;
  }
  r->pols = 2;
  return TRUE;
}

static gboolean read_station_numbers(Reader *r, GError **error)
{
  if (!astro_uvfits_read_antennas(r->file, &r->antennas, error))
    return FALSE;
  r->station_of = g_hash_table_new(NULL, NULL);
  for (guint i = 0; i < r->antennas.n; i++)
    if (!g_hash_table_insert(r->station_of, GINT_TO_POINTER(r->antennas.numbers[i]),
                             GUINT_TO_POINTER(i + 1)))
      return wrong(r, error, "table AIPS AN names station number %d twice", r->antennas.numbers[i]);
  return TRUE;
}

static double get(const Reader *r, KnownParameter p)
{
  gint i = r->place[p];
  return r->parameters[i] * r->scale[i] + r->zero[i];
}

/* Nanoseconds since start_day's midnight. The zero, a Julian date, is taken off by itself: the sum
 * would be good to 40 microseconds only. */
static double time_of(const Reader *r)
{
  double days = 0, rest = 0;
  for (KnownParameter p = DATE; p <= DATE_REST; p++)
    if (r->place[p] >= 0) {
      gint i = r->place[p];
      days += r->zero[i];
      rest += r->parameters[i] * r->scale[i];
    }
  days -= JD_OF_MJD_ZERO + r->start_day;
  return (days + rest) * NS_PER_DAY + r->antennas.seconds_to_utc * NS_PER_SECOND;
}

static gboolean find_station(const Reader *r, guint64 group, double number, guint *station,
                             GError **error)
{
  gpointer found =
      fabs(number) < 1e6 ? g_hash_table_lookup(r->station_of, GINT_TO_POINTER((gint)number)) : NULL;
  if (!found)
    return wrong(r, error,
                 "group %" G_GUINT64_FORMAT " is of station %g, which table AIPS AN does not have",
                 group + 1, number);
  *station = GPOINTER_TO_UINT(found) - 1;
  return TRUE;
}

static gboolean read_stations(const Reader *r, guint64 index, Group *group, GError **error)
{
  double number[2], subarray = 1;
  if (r->place[BASELINE] >= 0) {
    double baseline = get(r, BASELINE), whole = floor(baseline + 0.001);
    guint64 base = 256, code = whole >= 0 && whole < G_MAXUINT32 ? (guint64)whole : 0;
    subarray = 1 + round((baseline - whole) * 100);
    if (code >= MANY_STATIONS) {
      base = 2048;
      code -= MANY_STATIONS;
    }
    number[0] = code / base;
    number[1] = code % base;
  } else {
    number[0] = get(r, ANTENNA1);
    number[1] = get(r, ANTENNA2);
    if (r->place[SUBARRAY] >= 0)
      subarray = get(r, SUBARRAY);
  }
  if (!(fabs(subarray - 1) < 0.5))
    return wrong(r, error, "group %" G_GUINT64_FORMAT " is of subarray %g, expected one array only",
                 index + 1, subarray);
  return find_station(r, index, number[0], &group->station[0], error) &&
         find_station(r, index, number[1], &group->station[1], error);
}

static gboolean check_same(const Reader *r, guint64 index, KnownParameter p, double first,
                           GError **error)
{
  if (r->place[p] < 0 || get(r, p) == first)
    return TRUE;
  return wrong(r, error,
               "group %" G_GUINT64_FORMAT " is of %s %g and the first of %g: split the file first",
               index + 1, parameter_names[p], get(r, p), first);
}

static gboolean fetch(Reader *r, guint64 index, guint64 first, guint64 n, GError **error)
{
  guint64 width = ABS(r->header->bitpix) / 8;
  return astro_fits_file_read(
      r->file, r->header->data + (index * (r->n_parameters + r->group_values) + first) * width,
      r->raw, n * width, error);
}

static gboolean fetch_parameters(Reader *r, guint64 index, GError **error)
{
  if (!fetch(r, index, 0, r->n_parameters, error))
    return FALSE;
  for (guint i = 0; i < r->n_parameters; i++)
    r->parameters[i] = astro_fits_value(r->raw, r->header->bitpix, i, NULL);
  return TRUE;
}

static gboolean read_group(Reader *r, guint64 index, Group *group, GError **error)
{
  if (!fetch_parameters(r, index, error))
    return FALSE;
  double middle = time_of(r) - r->start_ns;
  if (!(fabs(middle) < 1e18))
    return wrong(r, error,
                 "group %" G_GUINT64_FORMAT
                 " has a DATE %g days from the first, expected a Julian date",
                 index + 1, middle / NS_PER_DAY);
  group->middle_ns = llround(middle);
  group->seconds = r->place[INTTIM] < 0 ? 0 : get(r, INTTIM);
  if (!(group->seconds > 0 && group->seconds < 1e6))
    group->seconds = 0;
  return check_same(r, index, SOURCE, r->first_source, error) &&
         check_same(r, index, FREQSEL, r->first_setup, error) &&
         read_stations(r, index, group, error);
}

/* Groups of one frame have one time, give or take what a float of days loses. */
static gboolean same_time(const Reader *r, gint64 a, gint64 b)
{
  gint64 slack = r->integration_ns ? r->integration_ns / 2 : 1000000;
  return ABS(a - b) < slack;
}

/* Sets the integration time, and the duration from the first frame to the last. */
static gboolean read_times(Reader *r, AstroFitsContents *contents, GError **error)
{
  Group first, group, last;
  gint64 step = 0;

  if (!read_group(r, 0, &first, error))
    return FALSE;
  r->integration_ns = llround(first.seconds * NS_PER_SECOND);
  for (guint64 i = 1; i < r->n_groups && step == 0; i++) {
    if (!read_group(r, i, &group, error))
      return FALSE;
    if (!same_time(r, group.middle_ns, first.middle_ns))
      step = group.middle_ns - first.middle_ns;
  }
  if (!read_group(r, r->n_groups - 1, &last, error))
    return FALSE;
  if (step > 0 &&
      (first.seconds == 0 || fabs(step - first.seconds * NS_PER_SECOND) <= step * INTTIM_SLACK + 1))
    r->integration_ns = step;
  if (last.middle_ns < first.middle_ns)
    return wrong(r, error, "the last group is %g s before the first: sort the file by time first",
                 (first.middle_ns - last.middle_ns) / NS_PER_SECOND);
  contents->duration_ns = last.middle_ns + (r->integration_ns - r->integration_ns / 2);
  return TRUE;
}

/* DATE-OBS where it tells the time of day and lies at or before the first integration, as in files
 * that begin with lost data; else the first integration's begin. */
static gboolean read_start(Reader *r, AstroObservation *o, GError **error)
{
  g_autoptr(AstroObservation) told = astro_observation_new(0);
  const char *date = "";
  double first;

  if (!fetch_parameters(r, 0, error))
    return FALSE;
  /* Found from the first group: whole days before any double is asked to hold nanoseconds. */
  r->start_day = 0;
  first = time_of(r);
  if (!(first >= 0 && first < 1e5 * NS_PER_DAY))
    return wrong(r, error,
                 "the first group's DATE is MJD %g, expected a Julian date of 1858 to 2132",
                 first / NS_PER_DAY);
  r->start_day = (gint64)floor(first / NS_PER_DAY);
  first = time_of(r);
  if (r->place[INTTIM] >= 0 && get(r, INTTIM) > 0 && get(r, INTTIM) < 1e6)
    first -= llround(get(r, INTTIM) * NS_PER_SECOND) / 2;
  first = MAX(round(first), 0);

  o->has_start = TRUE;
  o->start_mjd = r->start_day;
  o->start_ns = first;
  if (astro_fits_get_string(r->header, "DATE-OBS", &date) && strchr(date, 'T') &&
      astro_observation_set_start(told, date, NULL)) {
    double before = (r->start_day - told->start_mjd) * NS_PER_DAY + first - (double)told->start_ns;
    /* Integration times are rounded in the file: the first may seem to begin a bit too early. */
    if (before > -1e6 && before < NS_PER_DAY) {
      o->start_mjd = told->start_mjd;
      o->start_ns = told->start_ns;
    }
  }
  r->start_day = o->start_mjd;
  r->start_ns = o->start_ns;
  return TRUE;
}

/* Files of several sources keep places in a table; one that was split off may still do so. */
static gboolean read_source(Reader *r, double source, double *ra, double *dec, GError **error)
{
  const AstroFitsHeader *header = astro_fits_file_find_table(r->file, "AIPS SU");
  AstroFitsTable table;
  gboolean found = FALSE;

  if (header && !astro_fits_table_open(&table, r->file, header, error))
    return FALSE;
  if (header) {
    const AstroFitsColumn *id = astro_fits_table_find(&table, "ID. NO.", FALSE, 1);
    const AstroFitsColumn *ra_column = astro_fits_table_find(&table, "RAEPO", FALSE, 1);
    const AstroFitsColumn *dec_column = astro_fits_table_find(&table, "DECEPO", FALSE, 1);
    guint64 rows = id && ra_column && dec_column ? table.n_rows : 0;
    for (guint64 row = 0; row < rows && !found && astro_fits_table_read(&table, row, NULL); row++)
      if ((found = astro_fits_table_number(&table, id, 0) == source)) {
        *ra = astro_fits_table_number(&table, ra_column, 0);
        *dec = astro_fits_table_number(&table, dec_column, 0);
      }
    astro_fits_table_clear(&table);
  }
  return found ||
         wrong(r, error, "groups are of source %g and no row of a table AIPS SU tells its place",
               source);
}

static gboolean read_phase_centre(Reader *r, AstroObservation *o, GError **error)
{
  double ra = r->axes[RA].value, dec = r->axes[DEC].value, equinox = 2000;
  if (!astro_fits_get_double(r->header, "EQUINOX", &equinox))
    astro_fits_get_double(r->header, "EPOCH", &equinox);
  if (equinox != 2000)
    return wrong(r, error, "EQUINOX is %g, expected 2000", equinox);
  if (r->place[SOURCE] >= 0 && r->first_source > 0 &&
      (!r->axes[RA].found || (ra == 0 && dec == 0)) &&
      !read_source(r, r->first_source, &ra, &dec, error))
    return FALSE;
  if (!(fabs(dec) <= 90) || !(fabs(ra) <= 360))
    return wrong(r, error, "the phase centre is at RA %g and declination %g degrees", ra, dec);
  o->has_phase_centre = TRUE;
  o->phase_ra = ra * RADIANS;
  o->phase_dec = dec * RADIANS;
  return TRUE;
}

static AstroObservation *new_observation(const Reader *r, const AstroUvfitsBasis *basis)
{
  AstroObservation *o = astro_observation_new(r->antennas.n);
  const char *telescope = "";
  if (!astro_fits_get_string(r->header, "TELESCOP", &telescope) || !telescope[0])
    telescope = r->antennas.array;
  g_free(o->telescope);
  o->telescope = g_utf8_make_valid(telescope[0] ? telescope : "unknown", -1);
  g_free(o->basis);
  o->basis = g_strdup(basis->basis);
  memcpy(o->positions, r->antennas.positions, 3 * r->antennas.n * sizeof *o->positions);
  for (guint i = 0; i < r->antennas.n; i++) {
    g_free(o->names[i]);
    o->names[i] = g_strdup(r->antennas.names[i]);
  }
  return o;
}

static gboolean describe(Reader *r, AstroFitsContents *contents, GError **error)
{
  const Axis *freq = &r->axes[FREQ];
  AstroStream *s = &contents->stream;
  guint64 channels = freq->n * r->axes[IF].n, stations = r->antennas.n,
          baselines = stations * (stations + 1) / 2, bytes;
  double width = fabs(freq->delta), first = freq->value + (1 - freq->pixel) * freq->delta,
         middle = first + (channels - 1) * 0.5 * freq->delta;

  if (channels > G_MAXINT32 || baselines > G_MAXINT32 ||
      !g_uint64_checked_mul(&bytes, channels * baselines, 8 * r->pols * r->pols) ||
      bytes > G_MAXSSIZE)
    return wrong(r, error,
                 "%" G_GUINT64_FORMAT " stations and %" G_GUINT64_FORMAT
                 " channels are more than one integration can have",
                 stations, channels);
  if (!(middle > 0))
    return wrong(r, error, "the middle of the band is at %g Hz, expected a positive frequency",
                 middle);
  r->upside_down = freq->delta < 0;
  r->channels = channels;
  contents->stations = stations;
  s->quantity = ASTRO_QUANTITY_VISIBILITIES;
  s->format = ASTRO_FORMAT_CF32LE;
  s->layout =
      (AstroLayout){ 4,
                     { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_BASELINE, ASTRO_AXIS_POL, ASTRO_AXIS_POL },
                     { channels, baselines, r->pols, r->pols } };
  s->frequency = middle;
  s->bandwidth = width * channels;
  s->rate_d = 1;
  if (r->integration_ns)
    gst_util_double_to_fraction(NS_PER_SECOND / r->integration_ns, &s->rate_n, &s->rate_d);
  return TRUE;
}

static void close_reader(gpointer reader)
{
  Reader *r = reader;
  astro_uvfits_antennas_clear(&r->antennas);
  g_clear_pointer(&r->station_of, g_hash_table_unref);
  g_free(r->parameters);
  g_free(r->values);
  g_free(r->raw);
  g_free(r);
}

static gpointer open_reader(AstroFitsFile *file, AstroFitsContents *contents, GError **error)
{
  const AstroUvfitsBasis *basis = NULL;
  Reader *r = g_new0(Reader, 1);
  r->file = file;
  r->header = astro_fits_file_primary(file);
  if (!read_axes(r, error) || !read_parameters(r, error) || !check_size(r, error) ||
      !read_products(r, &basis, error) || !check_ifs(r, error) || !read_station_numbers(r, error))
    goto failed;

  /* The file has that many bytes for a group: see check_size. */
  r->parameters = g_new(double, r->n_parameters);
  r->values = g_new(float, r->group_values);
  r->raw = g_malloc(MAX(r->n_parameters, r->group_values) * (ABS(r->header->bitpix) / 8));
  r->value_scale = 1;
  astro_fits_get_double(r->header, "BSCALE", &r->value_scale);
  astro_fits_get_double(r->header, "BZERO", &r->value_zero);
  r->has_blank = astro_fits_get_integer(r->header, "BLANK", &r->blank);
  contents->observation = new_observation(r, basis);
  if (!read_start(r, contents->observation, error))
    goto failed;
  r->first_source = r->place[SOURCE] < 0 ? 0 : get(r, SOURCE);
  r->first_setup = r->place[FREQSEL] < 0 ? 0 : get(r, FREQSEL);
  if (!read_times(r, contents, error) || !read_phase_centre(r, contents->observation, error) ||
      !describe(r, contents, error))
    goto failed;
  return r;

failed:
  close_reader(r);
  return NULL;
}

/* Weights of our files are counts already. Others may be small fractions: the largest of the first
 * group that has any is then given a large count, so that few of their digits are lost. */
static void choose_weight_scale(Reader *r)
{
  double largest = 0;
  gboolean whole = TRUE;
  for (guint64 i = 2; r->axes[COMPLEX].n == 3 && i < r->group_values; i += 3) {
    double weight = r->values[i];
    if (!(weight > 0 && isfinite(weight)))
      continue;
    whole = whole && weight == floor(weight) && weight < G_MAXUINT32;
    largest = MAX(largest, weight);
  }
  if (largest > 0 || r->axes[COMPLEX].n == 2)
    r->weight_scale = whole ? 1 : FULL_SCALE / largest;
}

static guint32 count_of(const Reader *r, const float *value, guint64 stride)
{
  double weight = r->axes[COMPLEX].n == 3 ? value[2 * stride] : 1;
  if (!isfinite(value[0]) || !isfinite(value[stride]) || !(weight > 0))
    return 0;
  weight = round(weight * r->weight_scale);
  return weight < 1 ? 1 : weight < G_MAXUINT32 ? (guint32)weight : G_MAXUINT32;
}

/* Puts a group's values in their places of a frame. */
static void place_values(Reader *r, const Group *group, AstroFitsFrame *frame)
{
  guint a1 = group->station[0], a2 = group->station[1], i = MAX(a1, a2), j = MIN(a1, a2);
  guint64 baselines = (guint64)r->antennas.n * (r->antennas.n + 1) / 2,
          baseline = (guint64)i * (i + 1) / 2 + j, stride = r->axes[COMPLEX].stride,
          per_if = r->axes[FREQ].n;
  gboolean turned = a1 <= a2; /* the pair (j, i), whose conjugate is ours */
  float sign = turned ? -1 : 1;

  for (guint64 c = 0; c < r->channels; c++) {
    guint64 from = c % per_if * r->axes[FREQ].stride + c / per_if * r->axes[IF].stride;
    guint64 to =
        ((r->upside_down ? r->channels - 1 - c : c) * baselines + baseline) * r->pols * r->pols;
    for (guint p = 0; p < ASTRO_UVFITS_PRODUCTS; p++) {
      const guint8 *pols = astro_uvfits_products[p].pols;
      if (r->product_at[p] < 0)
        continue;
      const float *value = r->values + from + r->product_at[p] * r->axes[STOKES].stride;
      guint64 at = to + pols[turned] * r->pols + pols[!turned];
      guint32 count = count_of(r, value, stride);
      frame->counts[at] = count;
      r->full = MAX(r->full, count);
      ((float *)frame->data)[2 * at] = count ? value[0] : 0;
      ((float *)frame->data)[2 * at + 1] = count ? sign * value[stride] : 0;
    }
  }
}

static gboolean fetch_values(Reader *r, guint64 index, GError **error)
{
  if (!fetch(r, index, r->n_parameters, r->group_values, error))
    return FALSE;
  for (guint64 i = 0; i < r->group_values; i++) {
    double value = astro_fits_value(r->raw, r->header->bitpix, i, r->has_blank ? &r->blank : NULL);
    r->values[i] = (float)(value * r->value_scale + r->value_zero);
  }
  return TRUE;
}

static gboolean read_frame(gpointer reader, AstroFitsFrame *frame, gboolean *end, GError **error)
{
  Reader *r = reader;
  guint64 stations = r->antennas.n,
          samples = r->channels * (stations * (stations + 1) / 2) * r->pols * r->pols;
  Group first, group;

  if (r->next == r->n_groups) {
    *end = TRUE;
    return FALSE;
  }
  if (!read_group(r, r->next, &first, error))
    return FALSE;
  if (r->any_before && first.middle_ns < r->last_ns)
    return wrong(r, error,
                 "group %" G_GUINT64_FORMAT
                 " is %g s before the one before it: sort the file by time "
                 "first",
                 r->next + 1, (r->last_ns - first.middle_ns) / NS_PER_SECOND);
  memset(frame->data, 0, samples * 2 * sizeof(float));
  memset(frame->counts, 0, samples * sizeof *frame->counts);

  g_autofree guint8 *seen = g_malloc0(stations * (stations + 1) / 2);
  group = first;
  do {
    guint i = MAX(group.station[0], group.station[1]), j = MIN(group.station[0], group.station[1]);
    if (seen[(guint64)i * (i + 1) / 2 + j]++)
      return wrong(r, error,
                   "group %" G_GUINT64_FORMAT
                   " is the second of stations %d and %d in one integration",
                   r->next + 1, r->antennas.numbers[j], r->antennas.numbers[i]);
    if (!fetch_values(r, r->next, error))
      return FALSE;
    if (r->weight_scale == 0)
      choose_weight_scale(r);
    place_values(r, &group, frame);
    if (++r->next < r->n_groups && !read_group(r, r->next, &group, error))
      return FALSE;
  } while (r->next < r->n_groups && same_time(r, group.middle_ns, first.middle_ns));

  r->any_before = TRUE;
  r->last_ns = first.middle_ns;
  frame->full = MAX(r->full, 1);
  frame->duration_ns = r->integration_ns;
  frame->start_ns = first.middle_ns - r->integration_ns / 2;
  return TRUE;
}

const AstroFitsReaderKind astro_uvfits_reader = {
  "UVFITS",
  "application/x-astro-visibilities, format = (string) CF32LE, "
  "layout = (string) channel:baseline:pol:pol, channels = (int) [ 1, MAX ], "
  "baselines = (int) [ 1, MAX ], pols = (int) [ 1, 2 ]",
  recognises,
  open_reader,
  read_frame,
  close_reader,
};
