/* Finds where buffers lie on the time axis of their stream. */
#include "config.h"
#include "elements/base/astrosteps.h"

#include "elements/base/astroincoming.h"

/* Steps and times are added and rounded as signed numbers: none may exceed this. */
#define FARTHEST (G_GUINT64_CONSTANT(1) << 62)

/* Nanoseconds that two rounded times may differ by. */
#define ROUNDING 2

/* If only PTS tells of a loss, the loss may differ from whole steps by one part in this many of a
 * step. */
#define WHOLE 8

void astro_steps_reset(AstroSteps *s)
{
  const gboolean counts_time = s->counts_time;
  const guint64 again = s->again;

  g_clear_pointer(&s->streams, g_hash_table_unref);
  *s = (AstroSteps){ .counts_time = counts_time, .again = again };
}

void astro_steps_begin(AstroSteps *s)
{
  s->again = 0;
  s->counts_time = TRUE;
}

static void begin_stream(AstroSteps *s, GstEvent *event)
{
  const char *id;

  gst_event_parse_stream_start(event, &id);
  if (!s->streams)
    s->streams = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  s->is_back = !g_hash_table_add(s->streams, g_strdup(id));
  s->is_anew |= !s->is_back;
  s->time.is_known = s->bytes.is_known = FALSE;
}

static gboolean begin_segment(AstroSteps *s, GstPad *sink, GstEvent *event)
{
  const GstSegment *segment;

  gst_event_parse_segment(event, &segment);
  s->retime = TRUE;
  if (astro_segment_is_known(sink, segment))
    return FALSE;
  s->counts_time = segment->format == GST_FORMAT_TIME;
  s->is_anew = TRUE;
  s->is_back = FALSE;
  return TRUE;
}

gboolean astro_steps_take_event(AstroSteps *s, GstPad *sink, GstEvent *event)
{
  switch (GST_EVENT_TYPE(event)) {
  case GST_EVENT_STREAM_START:
    if (astro_event_is_known(sink, event))
      return FALSE;
    begin_stream(s, event);
    return TRUE;
  case GST_EVENT_SEGMENT:
    return begin_segment(s, sink, event);
  case GST_EVENT_GAP:
    s->retime = TRUE;
    return FALSE;
  default:
    return FALSE;
  }
}

static GstClockTime since_epoch(const AstroSteps *s, GstClockTime time)
{
  return s->epoch > 0 && time < (guint64)s->epoch ? 0 : time - (guint64)s->epoch;
}

/* Rounds a time to whole steps: the rounded time, and the number of steps. */
static GstClockTime nearest_step(const AstroStream *stream, GstClockTime time, guint64 *step)
{
  *step = gst_util_uint64_scale_round(time, (guint64)stream->rate_n,
                                      GST_SECOND * (guint64)stream->rate_d);
  return astro_stream_time(stream, *step);
}

GstClockTime astro_steps_time(const AstroSteps *s, const AstroStream *stream, guint64 step)
{
  const GstClockTime since = astro_stream_time(stream, step);
  const guint64 early = s->epoch < 0 ? 0 - (guint64)s->epoch : 0;
  return early > since ? 0 : since + (guint64)s->epoch;
}

/* Times are rounded to a nanosecond. */
static void set_epoch(AstroSteps *s, const AstroStream *stream, guint64 step, GstClockTime time)
{
  const guint64 epoch = time - astro_stream_time(stream, step);
  const GstClockTimeDiff moves = (GstClockTimeDiff)(epoch - (guint64)s->epoch);
  if (moves < -1 || moves > 1)
    s->epoch = (GstClockTimeDiff)epoch;
}

void astro_steps_follow_rate(AstroSteps *s, const AstroStream *before, const AstroStream *stream)
{
  s->retime = TRUE;
  if (!s->is_started || before->rate_n == 0 || stream->rate_n == 0)
    return;
  if ((gint64)before->rate_n * stream->rate_d == (gint64)stream->rate_n * before->rate_d)
    return;
  const GstClockTime end = astro_stream_time(before, s->next) + (guint64)s->epoch;
  s->next = astro_stream_step_of_rate(before, s->next, stream);
  set_epoch(s, stream, s->next, end);
  s->time.is_known = FALSE;
  s->is_renumbered = TRUE;
}

/* ---- what a buffer says ---- */

static gboolean offset_spans(GstBuffer *buffer, guint64 n)
{
  return GST_BUFFER_OFFSET_IS_VALID(buffer) && GST_BUFFER_OFFSET_END_IS_VALID(buffer) &&
         GST_BUFFER_OFFSET_END(buffer) - GST_BUFFER_OFFSET(buffer) == n;
}

typedef struct {
  gboolean has_step;  /* OFFSET counts steps */
  gboolean has_bytes; /* OFFSET counts bytes */
  gboolean has_time;
  gboolean is_retimed; /* PTS may have jumped by any part of a step */
} Said;

static Said look_at(const AstroSteps *s, const AstroStream *stream, GstBuffer *buffer, guint64 n)
{
  Said said = { 0 };
  if (s->counts_time)
    said.has_step = offset_spans(buffer, n) ||
                    (GST_BUFFER_OFFSET_IS_VALID(buffer) && !GST_BUFFER_OFFSET_END_IS_VALID(buffer));
  said.has_bytes = !said.has_step && offset_spans(buffer, gst_buffer_get_size(buffer));
  said.has_time = s->counts_time && stream->rate_n > 0 && GST_BUFFER_PTS_IS_VALID(buffer);
  said.is_retimed =
      said.has_time && (!s->is_started || s->retime || s->is_anew || GST_BUFFER_IS_DISCONT(buffer));
  return said;
}

gboolean astro_steps_count_once(const AstroStream *stream)
{
  return stream->quantity == ASTRO_QUANTITY_VOLTAGES ||
         stream->quantity == ASTRO_QUANTITY_SPECTRA ||
         stream->quantity == ASTRO_QUANTITY_VISIBILITIES ||
         stream->quantity == ASTRO_QUANTITY_POWER || stream->quantity == ASTRO_QUANTITY_PROFILE;
}

/* For most steps a rounded division shows that their time is in range. */
static gboolean is_timed(const AstroStream *stream, guint64 step)
{
  return stream->rate_n == 0 ||
         (double)step * stream->rate_d * GST_SECOND < (double)(FARTHEST / 2) * stream->rate_n ||
         astro_stream_time(stream, step) <= FARTHEST;
}

static gboolean check_range(const AstroStream *stream, GstBuffer *buffer, guint64 first, guint64 n,
                            GError **error)
{
  if (first <= FARTHEST && n <= FARTHEST &&
      (!GST_BUFFER_PTS_IS_VALID(buffer) || GST_BUFFER_PTS(buffer) <= FARTHEST) &&
      is_timed(stream, first + n))
    return TRUE;
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                             "a buffer's OFFSET or PTS makes %" G_GUINT64_FORMAT
                             " the first of its %" G_GUINT64_FORMAT
                             " steps: expected step numbers, and times in nanoseconds, up to 2^62",
                             first, n);
}

/* ---- what it said is compared ---- */

static double in_seconds(GstClockTime time)
{
  return (double)time / GST_SECOND;
}

static double in_steps(const AstroStream *stream, GstClockTimeDiff time)
{
  return (double)time / GST_SECOND * stream->rate_n / stream->rate_d;
}

/* How much later a time is than a step, counted from the last buffer that had both. */
static GstClockTimeDiff later(const AstroSteps *s, const AstroStream *stream, guint64 step,
                              GstClockTime time)
{
  const GstClockTimeDiff passed = (GstClockTimeDiff)(time - s->time.value);
  return step >= s->time.step
             ? passed - (GstClockTimeDiff)astro_stream_time(stream, step - s->time.step)
             : passed + (GstClockTimeDiff)astro_stream_time(stream, s->time.step - step);
}

/* Takes a new pair only if it agrees with the old one up to rounding: so rounding errors do not add
 * up, and a clock that drifts away from the samples shows. */
static void note_time(AstroSteps *s, const AstroStream *stream, const Said *said, guint64 step,
                      GstClockTime time)
{
  if (s->time.is_known && !said->is_retimed && ABS(later(s, stream, step, time)) > ROUNDING)
    return;
  s->time.is_known = TRUE;
  s->time.step = step;
  s->time.value = time;
}

static gboolean check_offset(const AstroSteps *s, const AstroStream *stream, GstBuffer *buffer,
                             GError **error)
{
  const GstClockTimeDiff one = (GstClockTimeDiff)astro_stream_time(stream, 1);
  const GstClockTimeDiff off = later(s, stream, GST_BUFFER_OFFSET(buffer), GST_BUFFER_PTS(buffer));

  if (ABS(off) < MAX(one - ROUNDING, 2 * ROUNDING))
    return TRUE;
  return astro_stream_refuse(
      error, ASTRO_STREAM_ERROR_SIZE,
      "OFFSET and PTS contradict each other: a buffer with OFFSET %" G_GUINT64_FORMAT
      " has PTS %.9f s, which is %.6g steps %s than its OFFSET says, counted from step "
      "%" G_GUINT64_FORMAT
      " at %.9f s. OFFSET must count time steps at the caps' rate of %d/%d (not bytes or buffers), "
      "with OFFSET_END, or not be set; PTS must be the time of the samples, or not be set",
      GST_BUFFER_OFFSET(buffer), in_seconds(GST_BUFFER_PTS(buffer)), ABS(in_steps(stream, off)),
      off > 0 ? "later" : "earlier", s->time.step, in_seconds(s->time.value), stream->rate_n,
      stream->rate_d);
}

static gboolean refuse_arrival(const AstroStream *stream, GstClockTime time, GstClockTime due,
                               GError **error)
{
  const GstClockTimeDiff off = (GstClockTimeDiff)(time - due);
  return astro_stream_refuse(
      error, ASTRO_STREAM_ERROR_SIZE,
      "a buffer has PTS %.9f s where %.9f s is due, %.6g steps %s: no whole number of steps. "
      "Sources that stamp times of arrival (udpsrc, do-timestamp=true) do that, and say neither "
      "when samples were taken nor what was lost. Expected OFFSET and OFFSET_END that count time "
      "steps, or PTS of the samples, or a stream without times, from a file or a pipe (filesrc, "
      "fdsrc)",
      in_seconds(time), in_seconds(due), ABS(in_steps(stream, off)), off > 0 ? "later" : "earlier");
}

/* Whether a time is off by whole steps, and by how many. */
static gboolean is_whole(const AstroStream *stream, GstClockTimeDiff off, guint64 *jump)
{
  const GstClockTime distance = (GstClockTime)ABS(off);
  const GstClockTime rounded = nearest_step(stream, distance, jump);
  const GstClockTime rest = MAX(distance, rounded) - MIN(distance, rounded);
  return rest <= MAX(astro_stream_time(stream, 1) / WHOLE, ROUNDING);
}

/* Live sources set DTS and PTS to the time of arrival; samples have no decoding time. */
static gboolean looks_stamped(GstBuffer *buffer)
{
  return GST_BUFFER_DTS_IS_VALID(buffer) && GST_BUFFER_DTS(buffer) == GST_BUFFER_PTS(buffer);
}

/* first: the step where a buffer begins; due: where one that follows on would begin; back: how many
 * steps earlier than due it begins, which may be before step 0. */
typedef struct {
  guint64 first, due, back;
} Found;

/* Finds a buffer that begins a stream, or comes after a loss. */
static gboolean find_anew(AstroSteps *s, const AstroStream *stream, GstBuffer *buffer, Found *found,
                          GError **error)
{
  const GstClockTime time = GST_BUFFER_PTS(buffer);
  const gboolean follows = s->is_started && !s->is_anew;
  guint64 jump;

  if (!follows && looks_stamped(buffer)) {
    const GstClockTime whole = nearest_step(stream, time, &jump);
    if (MAX(time, whole) - MIN(time, whole) > ROUNDING)
      return refuse_arrival(stream, time, 0, error);
  }
  nearest_step(stream, since_epoch(s, time), &found->first);
  const GstClockTime due = astro_steps_time(s, stream, s->next);
  if (!follows || found->first >= s->next ||
      is_whole(stream, (GstClockTimeDiff)(time - due), &jump))
    return TRUE;
  return refuse_arrival(stream, time, due, error);
}

/* A source that knows how long the steps take does not stamp times of arrival. */
static gboolean knows_duration(const AstroStream *stream, GstBuffer *buffer, guint64 n)
{
  const GstClockTimeDiff longer =
      (GstClockTimeDiff)(GST_BUFFER_DURATION(buffer) - astro_stream_time(stream, n));
  return GST_BUFFER_DURATION_IS_VALID(buffer) &&
         (GstClockTime)ABS(longer) <= MAX(astro_stream_time(stream, 1) / WHOLE, ROUNDING);
}

/* Finds a buffer in mid-stream. */
static gboolean find_by_time(AstroSteps *s, const AstroStream *stream, GstBuffer *buffer, guint64 n,
                             Said *said, Found *found, GError **error)
{
  const GstClockTime time = GST_BUFFER_PTS(buffer), one = astro_stream_time(stream, 1);
  const GstClockTimeDiff off = later(s, stream, s->next, time);
  guint64 jump;

  found->first = s->next;
  if ((GstClockTime)ABS(off) <= MAX(one / 2, ROUNDING))
    return TRUE;
  if (!is_whole(stream, off, &jump)) {
    said->is_retimed = off > 0 && knows_duration(stream, buffer, n);
    if (!said->is_retimed)
      return refuse_arrival(stream, time, time - (GstClockTime)off, error);
  }
  if (off > 0)
    found->first = s->next + jump;
  else
    found->back = jump;
  return TRUE;
}

static gboolean find_by_bytes(AstroSteps *s, const AstroStream *stream, GstBuffer *buffer,
                              Found *found, GError **error)
{
  const gsize step = astro_stream_step_bytes(stream);
  const guint64 at = GST_BUFFER_OFFSET(buffer), due = s->bytes.value;
  const guint64 distance = MAX(at, due) - MIN(at, due);

  found->first = s->bytes.step;
  if (distance % step != 0)
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_SIZE,
        "a buffer begins at byte %" G_GUINT64_FORMAT " where %" G_GUINT64_FORMAT
        " is due, which is no whole number of steps of %" G_GSIZE_FORMAT
        " bytes: astroobserve after the source cuts bytes into steps, and knows what is missing",
        at, due, step);
  if (at > due)
    found->first += distance / step;
  else
    found->back = distance / step;
  return TRUE;
}

/* After a change of rate OFFSET may count from anywhere; where the stream is then follows from PTS
 * alone. */
static gboolean find_renumbered(AstroSteps *s, const AstroStream *stream, GstBuffer *buffer,
                                const Said *said, Found *found)
{
  guint64 step;

  found->first = GST_BUFFER_OFFSET(buffer);
  s->is_anew |= !said->has_time;
  if (!said->has_time)
    return TRUE;
  nearest_step(stream, since_epoch(s, GST_BUFFER_PTS(buffer)), &step);
  found->back = step < s->next ? s->next - step : 0;
  found->due = found->first + found->back;
  return TRUE;
}

gboolean astro_steps_check_alone(const AstroSteps *s, GError **error)
{
  return !s->is_back ||
         astro_stream_refuse(
             error, ASTRO_STREAM_ERROR_SIZE,
             "a stream came back after another had taken its place, and its buffers do not say "
             "which steps they hold: streams of several sources are mixed (by funnel, for "
             "instance). Expected one stream, or OFFSET and OFFSET_END that count time steps");
}

/* Steps had been timed from the epoch, if no buffer had a time yet. */
static void anchor_time(AstroSteps *s)
{
  if (s->time.is_known)
    return;
  s->time.is_known = TRUE;
  s->time.step = 0;
  s->time.value = (guint64)s->epoch;
}

static gboolean find(AstroSteps *s, const AstroStream *stream, GstBuffer *buffer, guint64 n,
                     Said *said, Found *found, GError **error)
{
  const gboolean is_strict = astro_steps_count_once(stream) && s->is_started && !s->is_anew;

  *found = (Found){ .first = s->next, .due = s->next };
  if (said->has_time && is_strict)
    anchor_time(s);
  if (said->has_step && is_strict && s->is_renumbered)
    return find_renumbered(s, stream, buffer, said, found);
  if (said->has_step) {
    found->first = GST_BUFFER_OFFSET(buffer);
    return !said->has_time || !is_strict || check_offset(s, stream, buffer, error);
  }
  if (said->is_retimed)
    return find_anew(s, stream, buffer, found, error);
  if (said->has_time && is_strict)
    return find_by_time(s, stream, buffer, n, said, found, error);
  if (said->has_bytes && is_strict && s->bytes.is_known)
    return find_by_bytes(s, stream, buffer, found, error);
  return !is_strict || astro_steps_check_alone(s, error);
}

/* ---- and kept ---- */

static gboolean refuse_mixed(const AstroSteps *s, guint64 first, GError **error)
{
  return astro_stream_refuse(
      error, ASTRO_STREAM_ERROR_SIZE,
      "step %" G_GUINT64_FORMAT " came where %" G_GUINT64_FORMAT
      " is due, in a stream that came back after another had taken its place: streams of several "
      "sources are mixed (by funnel, for instance). Expected one stream for each chain of elements",
      first, s->next);
}

static void keep(AstroSteps *s, const AstroStream *stream, GstBuffer *buffer, const Said *said,
                 guint64 first, guint64 n, gboolean is_whole)
{
  s->next = first + n;
  if (said->is_retimed)
    set_epoch(s, stream, first, GST_BUFFER_PTS(buffer));
  if (said->is_retimed || (said->has_time && is_whole))
    note_time(s, stream, said, first, GST_BUFFER_PTS(buffer));
  s->bytes.is_known = said->has_bytes;
  s->bytes.step = s->next;
  s->bytes.value = GST_BUFFER_OFFSET_END(buffer);
  s->is_started = TRUE;
  s->retime = s->is_anew = s->is_renumbered = FALSE;
}

gboolean astro_steps_find(AstroSteps *s, const AstroStream *stream, GstBuffer *buffer, guint64 n,
                          AstroStepsPlace *place, GError **error)
{
  Said said = look_at(s, stream, buffer, n);
  Found found;

  if (!check_range(stream, buffer, said.has_step ? GST_BUFFER_OFFSET(buffer) : 0, n, error) ||
      !find(s, stream, buffer, n, &said, &found, error) ||
      !check_range(stream, buffer, found.first, n, error))
    return FALSE;
  const gboolean follows = s->is_started && !s->is_anew;
  if (astro_steps_count_once(stream) && follows && found.first < found.due && !found.back)
    found.back = found.due - found.first;
  const guint64 again = MIN(found.back, n);
  if (again && s->is_back)
    return refuse_mixed(s, found.first, error);
  s->again += again;
  *place = (AstroStepsPlace){ .again = again };
  if (again == n)
    return TRUE;
  /* The steps that came before are cut off, and the rest follows on. */
  const guint64 first = again ? found.due - again : found.first;
  place->first = first + again;
  place->is_cut =
      !again && (GST_BUFFER_IS_DISCONT(buffer) || (s->is_started && first != found.due));
  keep(s, stream, buffer, &said, first, n, again == 0);
  return TRUE;
}

char *astro_steps_describe_again(const AstroSteps *s, const AstroStepsPlace *place)
{
  return g_strdup_printf("%" G_GUINT64_FORMAT " steps before step %" G_GUINT64_FORMAT
                         " came again, or late, and are left out: each step counts once. Further "
                         "ones are only counted",
                         place->again, s->next);
}

/* ---- streams that pass ---- */

static gboolean is_live(GstPad *sink)
{
  GstQuery *query = gst_query_new_latency();
  gboolean live = FALSE;

  if (gst_pad_peer_query(sink, query))
    gst_query_parse_latency(query, &live, NULL, NULL);
  gst_query_unref(query);
  return live;
}

gboolean astro_check_times_of_samples(GstPad *sink, const AstroStream *stream, GstBuffer *buffer,
                                      GError **error)
{
  const guint64 n = gst_buffer_get_size(buffer) / astro_stream_step_bytes(stream);
  const GstClockTime time = GST_BUFFER_PTS(buffer);
  guint64 step;

  if (!astro_steps_count_once(stream) || stream->rate_n == 0 || offset_spans(buffer, n))
    return TRUE;
  if (GST_CLOCK_TIME_IS_VALID(time) && time <= FARTHEST) {
    const GstClockTime whole = nearest_step(stream, time, &step);
    return MAX(time, whole) - MIN(time, whole) <= ROUNDING || knows_duration(stream, buffer, n) ||
           refuse_arrival(stream, time, whole, error);
  }
  return !is_live(sink) ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                             "buffers of a live source say neither which steps they hold nor when "
                             "these were taken (udpsrc): a loss would shift everything that "
                             "follows. Expected OFFSET and OFFSET_END that count time steps, or "
                             "PTS of the samples, or bytes from a file or a pipe (filesrc, fdsrc)");
}
