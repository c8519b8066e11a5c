/* Reads tables of gains as streams, an interval a buffer. */
#include "config.h"
#include "core/fits/gains/stream.h"

#include <math.h>

#include "core/fits/gains/gains.h"
#include "core/kit/units.h"
#include "core/lib/gains/caps.h"

/* A buffer has its time in ns, in 64 bits. */
#define MOST_SECONDS 1e9

typedef struct {
  AstroGains *gains;
  AstroStream stream;
  guint next;
} Reader;

static gboolean recognises(const AstroFitsFile *file)
{
  return astro_fits_gains_is_in(file);
}

static const AstroGainsInterval *interval_of(const Reader *r, guint i)
{
  return &g_array_index(r->gains->intervals, AstroGainsInterval, i);
}

static guint64 to_ns(double seconds)
{
  return (guint64)llround(seconds * ASTRO_NS_PER_SECOND);
}

static gboolean next_interval(gpointer reader, guint64 *steps, gboolean *end, GError **error)
{
  const Reader *r = reader;
  (void)error;
  *steps = 1;
  *end = r->next == r->gains->intervals->len;
  return !*end;
}

static gboolean read_interval(gpointer reader, AstroFitsFrame *frame, gboolean *end, GError **error)
{
  Reader *r = reader;
  guint64 steps;
  if (!next_interval(reader, &steps, end, error))
    return FALSE;
  const AstroGainsInterval *interval = interval_of(r, r->next);
  AstroValidityMeta *validity = astro_buffer_add_validity(frame->buffer, &r->stream.layout, 1);
  validity->slowest_first = TRUE;
  astro_gains_fill_interval(r->gains, r->next, frame->data, validity->counts);
  GST_BUFFER_OFFSET(frame->buffer) = r->next;
  GST_BUFFER_OFFSET_END(frame->buffer) = r->next + 1;
  GST_BUFFER_PTS(frame->buffer) = to_ns(interval->begin);
  GST_BUFFER_DURATION(frame->buffer) = to_ns(interval->end) - GST_BUFFER_PTS(frame->buffer);
  r->next++;
  return TRUE;
}

static void close_reader(gpointer reader)
{
  Reader *r = reader;
  g_clear_pointer(&r->gains, astro_gains_free);
  g_free(r);
}

static AstroObservation *observation_of(const AstroGains *gains)
{
  AstroObservation *o = astro_observation_new(gains->stations);
  for (guint i = 0; i < gains->stations; i++) {
    g_free(o->names[i]);
    o->names[i] = g_utf8_make_valid(gains->names[i], -1);
  }
  if (gains->basis) {
    g_free(o->basis);
    o->basis = g_strdup(gains->basis);
  }
  o->has_start = TRUE;
  o->start_mjd = gains->start_mjd;
  o->start_ns = gains->start_ns;
  return o;
}

/* Times of a stream begin at the start of its observation. */
static gboolean check_times(const Reader *r, const AstroFitsFile *file, GError **error)
{
  const double first = interval_of(r, 0)->begin,
               last = interval_of(r, r->gains->intervals->len - 1)->end;
  return (first >= 0 && last <= MOST_SECONDS) ||
         astro_fits_wrong(file, error,
                          "table GAINS has intervals from %g to %g s, expected times from 0 to %g "
                          "s for a stream of them",
                          first, last, MOST_SECONDS);
}

static gboolean describe(Reader *r, const AstroFitsFile *file, AstroFitsContents *contents,
                         GError **error)
{
  if (!check_times(r, file, error))
    return FALSE;
  contents->caps = astro_gains_to_caps(r->gains, error);
  if (!contents->caps || !astro_stream_from_caps(&contents->stream, contents->caps, error)) {
    g_prefix_error(error, "%s: ", astro_fits_file_name(file));
    return FALSE;
  }
  r->stream = contents->stream;
  contents->stations = r->gains->stations;
  contents->observation = observation_of(r->gains);
  contents->duration_ns = to_ns(interval_of(r, r->gains->intervals->len - 1)->end);
  contents->is_blocks = TRUE;
  return TRUE;
}

static gpointer open_reader(AstroFitsFile *file, const AstroFitsOptions *options,
                            AstroFitsContents *contents, GError **error)
{
  Reader *r = g_new0(Reader, 1);
  (void)options;
  r->gains = astro_fits_gains_read_from(file, error);
  if (r->gains && describe(r, file, contents, error))
    return r;
  close_reader(r);
  return NULL;
}

const AstroFitsReaderKind astro_gains_reader = {
  "a table of gains",
  "application/x-astro-gains, format = (string) CF64LE, layout = (string) station:channel:pol",
  recognises,
  open_reader,
  next_interval,
  read_interval,
  close_reader,
};
