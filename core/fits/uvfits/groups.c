/* Reads the parameters, times and values of groups. */
#include "core/fits/uvfits/reader.h"
#include "core/kit/units.h"

#include <math.h>
#include <string.h>

#define JD_OF_MJD_ZERO 2400000.5
#define MANY_STATIONS 65536  /* from here on a baseline is 65536 + 2048 a1 + a2 */
#define NO_HUNDREDTHS 131072 /* from here on single precision has no hundredths */
/* Integration times are floats in seconds. If the spacing of frames is this close to one, the
 * spacing is used, as it is known more exactly. */
#define INTTIM_SLACK 1e-5
#define SAME_INTTIM 1e-3           /* relative difference allowed between groups */
#define LONGEST_IN_DAYS (1.0 / 24) /* days are considered up to an hour */
#define SAME_AS_STEP 0.01 /* tolerance between INTTIM in days and the time step, relative */
#define UNTOLD_NS 1000000000
#define FRAMES_TO_TELL 16 /* read to find the time step */

double astro_uvfits_parameter(const AstroUvfitsReader *r, AstroUvfitsParameter p)
{
  gint i = r->place[p];
  return r->parameters[i] * r->scale[i] + r->zero[i];
}

/* Nanoseconds since midnight of start_day. The zero, a Julian date, is subtracted separately: the
 * sum would be exact only to 40 microseconds. */
static double time_of(const AstroUvfitsReader *r)
{
  double days = 0, rest = 0;
  for (AstroUvfitsParameter p = DATE; p <= DATE_REST; p++)
    if (r->place[p] >= 0) {
      gint i = r->place[p];
      days += r->zero[i];
      rest += r->parameters[i] * r->scale[i];
    }
  days -= JD_OF_MJD_ZERO + r->start_day;
  return (days + rest) * ASTRO_NS_PER_DAY + r->antennas.seconds_to_utc * ASTRO_NS_PER_SECOND;
}

static gboolean find_station(const AstroUvfitsReader *r, guint64 group, double number,
                             guint *station, GError **error)
{
  gpointer found =
      fabs(number) < 1e6 ? g_hash_table_lookup(r->station_of, GINT_TO_POINTER((gint)number)) : NULL;
  if (!found)
    return astro_fits_wrong(
        r->file, error, "group %" G_GUINT64_FORMAT " has station %g, which is not in table AIPS AN",
        astro_uvfits_place(r, group) + 1, number);
  *station = GPOINTER_TO_UINT(found) - 1;
  return TRUE;
}

/* The subarray is in SUBARRAY, or in the hundredths of BASELINE as far as single precision has
 * them. */
static gboolean check_subarray(const AstroUvfitsReader *r, guint64 index, double baseline,
                               double subarray, GError **error)
{
  if (r->place[SUBARRAY] >= 0) {
    const double told = astro_uvfits_parameter(r, SUBARRAY);
    subarray = told == 0 && r->antennas.arrays == 1 ? 1 : told;
  } else if (baseline >= NO_HUNDREDTHS && r->header->bitpix == -32 && r->antennas.arrays > 1) {
    return astro_fits_wrong(
        r->file, error,
        "group %" G_GUINT64_FORMAT " has a BASELINE of %.0f, too large to tell to "
        "which of %u arrays (tables AIPS AN) it belongs, and no SUBARRAY: split "
        "the file by array first",
        astro_uvfits_place(r, index) + 1, baseline, r->antennas.arrays);
  }
  if (fabs(subarray - 1) < 0.5)
    return TRUE;
  return astro_fits_wrong(
      r->file, error,
      "group %" G_GUINT64_FORMAT
      " belongs to subarray %g, expected only one array: split the file by array first",
      astro_uvfits_place(r, index) + 1, subarray);
}

void astro_uvfits_station_numbers(const AstroUvfitsReader *r, double number[2], double *baseline,
                                  double *subarray)
{
  *baseline = 0;
  *subarray = 1;
  if (r->place[BASELINE] < 0) {
    number[0] = astro_uvfits_parameter(r, ANTENNA1);
    number[1] = astro_uvfits_parameter(r, ANTENNA2);
    return;
  }
  *baseline = astro_uvfits_parameter(r, BASELINE);
  double whole = floor(*baseline + 0.001);
  guint64 base = 256, code = whole >= 0 && whole < G_MAXUINT32 ? (guint64)whole : 0;
  *subarray = 1 + round((*baseline - whole) * 100);
  if (code >= MANY_STATIONS) {
    base = 2048;
    code -= MANY_STATIONS;
  }
  number[0] = code / base;
  number[1] = code % base;
}

static gboolean read_stations(const AstroUvfitsReader *r, guint64 index, AstroUvfitsGroup *group,
                              GError **error)
{
  double number[2], subarray, baseline;
  astro_uvfits_station_numbers(r, number, &baseline, &subarray);
  return check_subarray(r, index, baseline, subarray, error) &&
         find_station(r, index, number[0], &group->station[0], error) &&
         find_station(r, index, number[1], &group->station[1], error);
}

static gboolean check_same(const AstroUvfitsReader *r, guint64 index, AstroUvfitsParameter p,
                           double first, GError **error)
{
  if (r->place[p] < 0 || astro_uvfits_parameter(r, p) == first)
    return TRUE;
  return astro_fits_wrong(r->file, error,
                          "group %" G_GUINT64_FORMAT
                          " has %s %g but the first group has %g: split the file first",
                          astro_uvfits_place(r, index) + 1, astro_uvfits_parameters[p].name,
                          astro_uvfits_parameter(r, p), first);
}

/* Numbers as stored in the file, valid until the next are fetched; NULL on an error. */
static const guint8 *fetch(AstroUvfitsReader *r, guint64 index, guint64 first, guint64 n,
                           GError **error)
{
  guint64 width = ABS(r->header->bitpix) / 8;
  return astro_fits_file_look(
      r->file,
      r->header->data +
          (astro_uvfits_place(r, index) * (r->n_parameters + r->group_values) + first) * width,
      n * width, r->raw, error);
}

static gboolean fetch_parameters(AstroUvfitsReader *r, guint64 index, GError **error)
{
  const guint8 *raw = fetch(r, index, 0, r->n_parameters, error);
  for (guint i = 0; raw && i < r->n_parameters; i++)
    r->parameters[i] = astro_fits_value(raw, r->header->bitpix, i, NULL);
  return raw != NULL;
}

gboolean astro_uvfits_read_time(AstroUvfitsReader *r, guint64 index, double *time, GError **error)
{
  if (!fetch_parameters(r, index, error))
    return FALSE;
  *time = time_of(r);
  return TRUE;
}

gboolean astro_uvfits_read_group(AstroUvfitsReader *r, guint64 index, AstroUvfitsGroup *group,
                                 GError **error)
{
  if (!fetch_parameters(r, index, error))
    return FALSE;
  double middle = time_of(r) - r->start_ns;
  if (!(fabs(middle) < 1e18))
    return astro_fits_wrong(r->file, error,
                            "group %" G_GUINT64_FORMAT
                            " has a DATE %g days from the first, expected a Julian date",
                            astro_uvfits_place(r, index) + 1, middle / ASTRO_NS_PER_DAY);
  group->middle_ns = llround(middle);
  group->seconds = r->place[INTTIM] < 0 ? 0 : astro_uvfits_parameter(r, INTTIM);
  if (r->lengths_are_days)
    group->seconds *= ASTRO_NS_PER_DAY / ASTRO_NS_PER_SECOND;
  if (!(group->seconds > 0 && group->seconds < 1e6))
    group->seconds = 0;
  return check_same(r, index, SOURCE, r->first_source, error) &&
         check_same(r, index, FREQSEL, r->first_setup, error) &&
         read_stations(r, index, group, error);
}

/* Groups of one frame have the same time, apart from rounding of a float of days. If short
 * baselines are averaged over longer times, as in some files, their middles differ by half an
 * integration. */
gboolean astro_uvfits_same_time(const AstroUvfitsReader *r, gint64 a, gint64 b)
{
  gint64 slack = r->integration_ns ? r->integration_ns / 4 : 1000000;
  return ABS(a - b) < slack;
}

gint64 astro_uvfits_length(const AstroUvfitsReader *r, const AstroUvfitsGroup *group)
{
  const gint64 own = llround(group->seconds * ASTRO_NS_PER_SECOND);
  return own > 0 && own < r->integration_ns - r->integration_ns / 1000 ? own : r->integration_ns;
}

/* The shortest time between consecutive frames among the first frames, since there may be pauses;
 * 0: there is only one frame. *other_seconds is a different INTTIM among these groups; 0: there is
 * none. */
static gboolean find_step(AstroUvfitsReader *r, const AstroUvfitsGroup *first, gint64 *step,
                          double *other_seconds, GError **error)
{
  AstroUvfitsGroup group;
  gint64 before = first->middle_ns;
  guint frames = 1;
  *step = 0;
  *other_seconds = 0;
  for (guint64 i = 1; i < r->n_groups && frames < FRAMES_TO_TELL; i++) {
    if (!astro_uvfits_read_group(r, i, &group, error))
      return FALSE;
    if (group.seconds > 0 && fabs(group.seconds - first->seconds) > SAME_INTTIM * first->seconds)
      *other_seconds = group.seconds;
    if (astro_uvfits_same_time(r, group.middle_ns, before))
      continue;
    gint64 found = group.middle_ns - before;
    *step = *step && found > 0 ? MIN(*step, found) : MAX(*step, found);
    before = group.middle_ns;
    frames++;
  }
  return TRUE;
}

/* No frame may begin before time zero. If groups have no integration time, the start was set to the
 * first group's middle. */
static void move_start(AstroUvfitsReader *r, AstroObservation *o, gint64 first_ns)
{
  gint64 too_early = r->integration_ns / 2 - first_ns;
  if (too_early <= ASTRO_UVFITS_NS_OF_ROUNDING)
    return;
  for (; (gint64)o->start_ns < too_early; o->start_mjd--)
    o->start_ns += (guint64)ASTRO_NS_PER_DAY;
  o->start_ns -= too_early;
  r->start_day = o->start_mjd;
  r->start_ns = o->start_ns;
}

/* Integration times are in seconds, but some programs write days, numbers 86400 times too small.
 * The next integration shows this, as it begins where such a time, taken as days, ends; if there is
 * none, a note is added. */
static void find_unit_of_lengths(AstroUvfitsReader *r, AstroUvfitsGroup *first, gint64 step,
                                 double *other_seconds, AstroFitsContents *contents)
{
  const char *file = astro_fits_file_name(r->file);
  const double told = first->seconds, per_day = ASTRO_NS_PER_DAY / ASTRO_NS_PER_SECOND,
               days_ns = told * ASTRO_NS_PER_DAY;
  if (!(told > 0) || told > LONGEST_IN_DAYS)
    return;
  if (step > 0 && fabs(days_ns - step) <= step * SAME_AS_STEP) {
    r->lengths_are_days = TRUE;
    first->seconds *= per_day;
    *other_seconds *= per_day;
    astro_fits_contents_note(contents, file,
                             "integration times (INTTIM) of %g, %g s apart, must be days: "
                             "they are taken as %g s",
                             told, step / ASTRO_NS_PER_SECOND, first->seconds);
  } else if (step == 0 || days_ns < step) {
    astro_fits_contents_note(contents, file,
                             "integration times (INTTIM) of %g are taken as seconds, as they "
                             "should be; were they days, they would be %g s",
                             told, told * per_day);
  }
}

gboolean astro_uvfits_read_times(AstroUvfitsReader *r, AstroFitsContents *contents, GError **error)
{
  AstroUvfitsGroup first, last;
  gint64 step;
  double other_seconds;

  if (!astro_uvfits_read_group(r, 0, &first, error))
    return FALSE;
  r->integration_ns = llround(first.seconds * ASTRO_NS_PER_SECOND);
  if (!find_step(r, &first, &step, &other_seconds, error))
    return FALSE;
  find_unit_of_lengths(r, &first, step, &other_seconds, contents);
  r->integration_ns = llround(first.seconds * ASTRO_NS_PER_SECOND);
  if (step > 0 && (first.seconds == 0 ||
                   fabs(step - first.seconds * ASTRO_NS_PER_SECOND) <= step * INTTIM_SLACK + 1))
    r->integration_ns = step;
  if (r->integration_ns == 0) { /* one frame, of which only the middle matters */
    r->integration_ns = UNTOLD_NS;
    astro_fits_contents_note(contents, astro_fits_file_name(r->file),
                             "one integration of unknown length (no INTTIM): taken as "
                             "%g s",
                             UNTOLD_NS / ASTRO_NS_PER_SECOND);
  }
  if (first.seconds > 0 && other_seconds > first.seconds)
    astro_fits_contents_note(contents, astro_fits_file_name(r->file),
                             "groups have integration times of %g s and %g s (INTTIM): all are "
                             "taken as %g s",
                             first.seconds, other_seconds, r->integration_ns / ASTRO_NS_PER_SECOND);
  move_start(r, contents->observation, first.middle_ns);
  if (!astro_uvfits_read_group(r, 0, &first, error) ||
      !astro_uvfits_read_group(r, r->n_groups - 1, &last, error))
    return FALSE;
  if (last.middle_ns < first.middle_ns)
    return astro_fits_wrong(r->file, error,
                            "the last group is %g s before the first: sort the file by time first",
                            (first.middle_ns - last.middle_ns) / ASTRO_NS_PER_SECOND);
  const gint64 length = astro_uvfits_length(r, &last);
  contents->step_ns = r->integration_ns;
  contents->duration_ns = last.middle_ns + (length - length / 2);
  return TRUE;
}

/* The start is DATE-OBS if that has a time of day and is not after the first integration, as in
 * files that begin with lost data; else the begin of the first integration. */
gboolean astro_uvfits_read_start(AstroUvfitsReader *r, AstroObservation *o, GError **error)
{
  g_autoptr(AstroObservation) told = astro_observation_new(0);
  const char *date = "";
  double first;

  if (!fetch_parameters(r, 0, error))
    return FALSE;
  /* The day comes from the first group: whole days are split off before a double has to hold
   * nanoseconds. */
  r->start_day = 0;
  first = time_of(r);
  if (!(first >= 0 && first < ASTRO_UVFITS_DAYS * ASTRO_NS_PER_DAY))
    return astro_fits_wrong(
        r->file, error,
        "the first group's DATE is MJD %g, expected a Julian date from " ASTRO_UVFITS_YEARS,
        first / ASTRO_NS_PER_DAY);
  r->start_day = (gint64)floor(first / ASTRO_NS_PER_DAY);
  first = time_of(r);
  if (r->place[INTTIM] >= 0 && astro_uvfits_parameter(r, INTTIM) > 0 &&
      astro_uvfits_parameter(r, INTTIM) < 1e6)
    first -= llround(astro_uvfits_parameter(r, INTTIM) * ASTRO_NS_PER_SECOND) / 2;
  first = MAX(round(first), 0);

  o->has_start = TRUE;
  o->start_mjd = r->start_day;
  o->start_ns = first;
  if (astro_fits_get_string(r->header, "DATE-OBS", &date) && strchr(date, 'T') &&
      astro_observation_set_start(told, date, NULL)) {
    double before =
        (r->start_day - told->start_mjd) * ASTRO_NS_PER_DAY + first - (double)told->start_ns;
    if (before > -ASTRO_UVFITS_NS_OF_ROUNDING && before < ASTRO_NS_PER_DAY) {
      o->start_mjd = told->start_mjd;
      o->start_ns = told->start_ns;
    }
  }
  r->start_day = o->start_mjd;
  r->start_ns = o->start_ns;
  r->first_source = r->place[SOURCE] < 0 ? 0 : astro_uvfits_parameter(r, SOURCE);
  r->first_setup = r->place[FREQSEL] < 0 ? 0 : astro_uvfits_parameter(r, FREQSEL);
  return TRUE;
}

gboolean astro_uvfits_read_values(AstroUvfitsReader *r, guint64 index, GError **error)
{
  const guint8 *raw = fetch(r, index, r->n_parameters, r->group_values, error);
  if (!raw)
    return FALSE;
  astro_fits_floats(raw, r->header->bitpix, r->group_values, r->has_blank ? &r->blank : NULL,
                    r->value_scale, r->value_zero, r->values);
  return TRUE;
}
