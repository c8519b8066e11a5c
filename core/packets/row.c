/* Assembles the samples of a packet from buffers of any length. */
#include "config.h"
#include "core/packets/row.h"

#include <string.h>

struct _AstroRow {
  AstroSender *sender;
  AstroStream stream;
  AstroRowTime time;
  gpointer user;
  guint64 steps; /* in a row */
  gsize bytes;
  guint8 *samples, *is_good;
  guint64 begin, filled; /* in steps; filled is 0 if no row has begun */
};

AstroRow *astro_row_new(AstroSender *sender, const AstroStream *stream, AstroRowTime time,
                        gpointer user)
{
  AstroRow *row = g_new0(AstroRow, 1);
  row->sender = sender;
  row->stream = *stream;
  row->time = time;
  row->user = user;
  row->steps = astro_sender_steps(sender);
  row->bytes = astro_stream_step_bytes(stream) * row->steps;
  row->samples = g_malloc(row->bytes);
  row->is_good = g_malloc(astro_sender_streams(sender));
  return row;
}

void astro_row_free(AstroRow *row)
{
  g_free(row->samples);
  g_free(row->is_good);
  g_free(row);
}

void astro_row_reset(AstroRow *row)
{
  row->filled = 0;
}

static gboolean send_row(AstroRow *row, GError **error)
{
  const GstClockTime time = row->time(row->user, row->begin + row->steps);
  row->filled = 0;
  return astro_sender_send(row->sender, row->begin, row->samples, row->is_good, time, error);
}

static void spoil(AstroRow *row)
{
  memset(row->is_good, 0, astro_sender_streams(row->sender));
}

gboolean astro_row_finish(AstroRow *row, GError **error)
{
  if (row->filled == 0)
    return TRUE;
  spoil(row);
  return send_row(row, error);
}

static void begin_row(AstroRow *row, guint64 begin)
{
  row->begin = begin;
  memset(row->samples, 0, row->bytes);
  memset(row->is_good, 1, astro_sender_streams(row->sender));
}

/* Time may be any of the axes: each index of slower axes is copied separately. */
static void copy_steps(AstroRow *row, const guint8 *from, guint64 steps, guint64 at, guint64 n,
                       guint64 into)
{
  const AstroLayout *layout = &row->stream.layout;
  gsize inner = astro_stream_sample_bytes(&row->stream);
  guint64 outer = 1;
  gboolean is_inner = FALSE;
  for (guint i = 0; i < layout->n_axes; i++) {
    if (layout->axes[i] == ASTRO_AXIS_TIME)
      is_inner = TRUE;
    else if (is_inner)
      inner *= layout->extents[i];
    else
      outer *= layout->extents[i];
  }
  for (guint64 i = 0; i < outer; i++)
    memcpy(row->samples + (i * row->steps + into) * inner, from + (i * steps + at) * inner,
           n * inner);
}

/* Whether all counts within the bounds are above 0. */
static gboolean counts_all(const AstroValidityMeta *counts, const AstroLayout *shape,
                           const guint64 *from, const guint64 *to)
{
  AstroValidityAxis axes[ASTRO_MAX_AXES];
  guint64 index[ASTRO_MAX_AXES];
  astro_validity_axes(counts, shape, axes);
  memcpy(index, from, sizeof index);
  for (;;) {
    guint64 at = 0;
    for (guint i = 0; i < shape->n_axes; i++)
      at += index[i] / axes[i].group * axes[i].stride;
    if (counts->counts[at] == 0)
      return FALSE;
    guint i = shape->n_axes;
    for (; i > 0; i--) {
      /* Samples that share a count need only one look. */
      const guint64 group = axes[i - 1].stride ? axes[i - 1].group : G_MAXINT32;
      index[i - 1] = (index[i - 1] / group + 1) * group;
      if (index[i - 1] < to[i - 1])
        break;
      index[i - 1] = from[i - 1];
    }
    if (i == 0)
      return TRUE;
  }
}

static void mark(AstroRow *row, const AstroValidityMeta *counts, guint64 steps, guint64 at,
                 guint64 n)
{
  AstroLayout shape;
  astro_stream_shape(&row->stream, steps, &shape);
  for (guint stream = 0; stream < astro_sender_streams(row->sender); stream++) {
    const AstroSenderPart part = astro_sender_part(row->sender, stream);
    guint64 from[ASTRO_MAX_AXES] = { 0 }, to[ASTRO_MAX_AXES] = { 0 };
    for (guint i = 0; i < shape.n_axes; i++) {
      const AstroAxis axis = shape.axes[i];
      from[i] = axis == ASTRO_AXIS_TIME      ? at
                : axis == ASTRO_AXIS_STATION ? part.station
                : axis == ASTRO_AXIS_POL     ? part.pol
                                             : part.channel;
      to[i] = from[i] + (axis == ASTRO_AXIS_TIME      ? n
                         : axis == ASTRO_AXIS_STATION ? part.stations
                         : axis == ASTRO_AXIS_POL     ? part.pols
                                                      : part.channels);
    }
    if (row->is_good[stream] && !counts_all(counts, &shape, from, to))
      row->is_good[stream] = 0;
  }
}

/* The step at which the row with this step begins. If that is before the stream's step 0, it is
 * negative and wraps, as do sums with it. */
static guint64 row_of(const AstroRow *row, guint64 step)
{
  const guint64 next = astro_sender_next(row->sender, step);
  return next == step ? step : next - row->steps;
}

gboolean astro_row_add(AstroRow *row, const guint8 *samples, guint64 steps, guint64 skip,
                       guint64 first, const AstroValidityMeta *counts, gboolean is_gap,
                       GError **error)
{
  for (guint64 at = skip; at < steps;) {
    const guint64 step = first + at, begin = row_of(row, step), into = step - begin;
    const guint64 n = MIN(row->steps - into, steps - at);
    if (row->filled && (row->begin != begin || row->filled != into)) {
      if (row->begin != begin && !astro_row_finish(row, error))
        return FALSE;
      spoil(row);
    }
    if (row->filled == 0) {
      begin_row(row, begin);
      if (into > 0)
        spoil(row);
    }
    copy_steps(row, samples, steps, at, n, into);
    if (is_gap)
      spoil(row);
    else if (counts && counts->counts)
      mark(row, counts, steps, at, n);
    row->filled = into + n;
    at += n;
    if (row->filled == row->steps && !send_row(row, error))
      return FALSE;
  }
  return TRUE;
}
