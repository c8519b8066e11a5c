/* Decides whether files make one stream, and describes it. */
#include "core/lib/rows/join.h"

#include <math.h>
#include <string.h>

#include "core/kit/units.h"
#include "core/stream/history.h"

#define SAME_RADIANS 1e-9
#define SAME_CHANNEL 1e-3 /* of a channel's width */

#define refuse(error, ...) astro_fail(error, ASTRO_ROWS_ERROR, ASTRO_ROWS_ERROR_FORMAT, __VA_ARGS__)

static gboolean check_centre(const AstroRowFile *a, const AstroRowFile *b, GError **error)
{
  const AstroObservation *one = a->contents->observation, *two = b->contents->observation;
  const double ra = remainder(two->phase_ra - one->phase_ra, 2 * G_PI) * cos(one->phase_dec),
               apart = hypot(ra, two->phase_dec - one->phase_dec);
  if (one->has_phase_centre != two->has_phase_centre)
    return refuse(error, "%s has %s phase centre, and %s has %s: expected the same", a->name,
                  one->has_phase_centre ? "a" : "no", b->name, two->has_phase_centre ? "a" : "no");
  return apart <= SAME_RADIANS ||
         refuse(error,
                "the phase centres of %s and %s are %.3g arcsec apart, expected the same: field= "
                "chooses one of several, and astrophaseshift turns a stream to another",
                a->name, b->name, apart * ASTRO_DEGREES * 3600);
}

static gboolean check_band(const AstroRowFile *a, const AstroRowFile *b, GError **error)
{
  const AstroStream *one = &a->contents->stream, *two = &b->contents->stream;
  const guint64 channels = astro_stream_extent(one, ASTRO_AXIS_CHANNEL),
                others = astro_stream_extent(two, ASTRO_AXIS_CHANNEL);
  const double close = SAME_CHANNEL * one->bandwidth / (double)channels;
  return (channels == others && fabs(one->frequency - two->frequency) <= close &&
          fabs(one->bandwidth - two->bandwidth) <= close) ||
         refuse(error,
                "%s has %" G_GUINT64_FORMAT " channels of %.9g MHz about %.9g MHz, and %s has "
                "%" G_GUINT64_FORMAT " of %.9g MHz about %.9g MHz: expected one band",
                a->name, channels, one->bandwidth / (double)channels / 1e6, one->frequency / 1e6,
                b->name, others, two->bandwidth / (double)others / 1e6, two->frequency / 1e6);
}

static gboolean check_products(const AstroRowFile *a, const AstroRowFile *b, GError **error)
{
  const guint64 one = astro_stream_extent(&a->contents->stream, ASTRO_AXIS_POL),
                two = astro_stream_extent(&b->contents->stream, ASTRO_AXIS_POL);
  const char *basis = a->contents->observation->basis, *other = b->contents->observation->basis;
  return (one == two && strcmp(basis, other) == 0) ||
         refuse(error,
                "%s has %" G_GUINT64_FORMAT " %s polarisation%s, and %s %" G_GUINT64_FORMAT
                " %s: expected the same",
                a->name, one, basis, one == 1 ? "" : "s", b->name, two, other);
}

static gboolean check_history(const AstroRowFile *a, const AstroRowFile *b, GError **error)
{
  const AstroObservation *one = a->contents->observation, *two = b->contents->observation;
  const char *field =
      astro_history_find_difference(&one->done, &two->done, ASTRO_QUANTITY_VISIBILITIES);
  if (field)
    return refuse(error, "%s and %s differ in what was done to them (%s), expected the same",
                  a->name, b->name, field);
  return (one->uvw_metres > 0) == (two->uvw_metres > 0) ||
         refuse(error,
                "(u,v,w) of %s are those of the file, and of %s they are not: uvw=file or "
                "uvw=table says which to use for all",
                one->uvw_metres > 0 ? a->name : b->name, one->uvw_metres > 0 ? b->name : a->name);
}

/* Days of UTC have one length where the Earth orientation is not known; else the stream's clock
 * runs through leap seconds, of which the table of the Earth knows. */
static void find_time(AstroRowFile *file, const AstroObservation *o)
{
  const AstroObservation *own = file->contents->observation;
  file->later_ns = (gint64)(own->start_mjd - o->start_mjd) * (gint64)ASTRO_NS_PER_DAY +
                   (gint64)own->start_ns - (gint64)o->start_ns;
  if (o->earth && o->earth->n > 0) {
    const gint32 last = (gint32)o->earth->n - 1;
    const gint32 from = CLAMP(o->start_mjd - o->earth->first_mjd, 0, last),
                 to = CLAMP(own->start_mjd - o->earth->first_mjd, 0, last);
    file->later_ns += (gint64)(o->earth->leaps[to] - o->earth->leaps[from]) * ASTRO_NS_PER_SECOND;
  }
}

/* Rounding in files' times is far below a tenth of an integration. */
static gboolean check_times(const AstroRowFile *a, const AstroRowFile *b, GError **error)
{
  const gint64 end = a->later_ns + (gint64)a->contents->duration_ns,
               begin = b->later_ns + (gint64)b->contents->begin_ns;
  if (begin >= end - (gint64)(a->contents->step_ns / 10))
    return TRUE;
  g_autofree char *one = astro_observation_tell_time(a->contents->observation,
                                                     a->contents->duration_ns),
                  *two =
                      astro_observation_tell_time(b->contents->observation, b->contents->begin_ns);
  return refuse(error,
                "%s ends at %s, and %s begins at %s: files of one stream follow each other in "
                "time",
                a->name, one ? one : "no time", b->name, two ? two : "no time");
}

static void append(char **text, const char *more)
{
  char *before = *text;
  *text =
      before && more ? g_strdup_printf("%s; %s", before, more) : g_strdup(before ? before : more);
  g_free(before);
}

static gboolean describe_stream(const AstroRowFile *files, guint n, AstroRowContents *joined,
                                GError **error)
{
  const AstroRowFile *last = &files[n - 1];
  AstroStream *s = &joined->stream;
  const guint64 stations = joined->observation->n_stations,
                baselines = stations * (stations + 1) / 2;
  guint64 bytes;
  *s = files[0].contents->stream;
  const guint64 pols = astro_stream_extent(s, ASTRO_AXIS_POL);
  for (guint i = 0; i < s->layout.n_axes; i++)
    if (s->layout.axes[i] == ASTRO_AXIS_BASELINE)
      s->layout.extents[i] = baselines;
  if (baselines > G_MAXINT32 ||
      !g_uint64_checked_mul(&bytes, baselines * astro_stream_extent(s, ASTRO_AXIS_CHANNEL),
                            8 * pols * pols) ||
      bytes > G_MAXSSIZE)
    return refuse(error,
                  "the files together have %" G_GUINT64_FORMAT " stations, too many for one "
                  "integration",
                  stations);
  joined->stations = (guint)stations;
  joined->begin_ns = files[0].contents->begin_ns;
  joined->duration_ns = (guint64)last->later_ns + last->contents->duration_ns;
  /* Shorter integrations say how long they are; the stream's step is that of the longest. */
  for (guint i = 0; i < n; i++) {
    const AstroRowContents *c = files[i].contents;
    if (c->step_ns > joined->step_ns) {
      joined->step_ns = c->step_ns;
      s->rate_n = c->stream.rate_n;
      s->rate_d = c->stream.rate_d;
    }
    append(&joined->note, c->note);
    append(&joined->told, c->told);
    joined->observation->uvw_metres =
        MAX(joined->observation->uvw_metres, c->observation->uvw_metres);
  }
  return TRUE;
}

gboolean astro_row_files_join(AstroRowFile *files, guint n, AstroRowContents *joined,
                              GError **error)
{
  joined->observation = astro_observation_copy(files[0].contents->observation);
  for (guint i = 1; i < n; i++)
    if (!check_centre(&files[0], &files[i], error) || !check_band(&files[0], &files[i], error) ||
        !check_products(&files[0], &files[i], error) || !check_history(&files[0], &files[i], error))
      return FALSE;
  if (!astro_row_files_join_earth(files, n, joined->observation, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    find_time(&files[i], joined->observation);
  for (guint i = 1; i < n; i++)
    if (!check_times(&files[i - 1], &files[i], error))
      return FALSE;
  astro_row_files_number(files, n, joined->observation);
  return describe_stream(files, n, joined, error);
}
