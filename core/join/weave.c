/* Joins short rows of many streams by transposition. */
#include "config.h"
#include "core/join/weave.h"

#include <string.h>

#include "core/backend/threads.h"

#define WIDEST 16 /* bytes in a row for which there are kernels of transposition */
/* Rows of the table are at distances that do not fall on the same sets of a cache. */
#define PITCH_EXTRA ((gsize)192)

/* ---- whether it can be done ---- */

static gboolean is_power_of_two(gsize n)
{
  return (n & (n - 1)) == 0;
}

/* A piece of some steps in the middle of its buffer is in one place only if time is the slowest
 * axis. */
static gboolean is_whole(const AstroJoinAxes *axes, const AstroJoinArguments *arguments, guint i)
{
  const AstroJoinPiece *piece = &arguments->pieces[i];
  return piece->place == i * arguments->pieces[0].extent &&
         piece->extent == arguments->pieces[0].extent && piece->at == 0 &&
         piece->n == arguments->steps && (axes->time <= 0 || piece->steps == piece->n);
}

gboolean astro_join_find_weave(const AstroJoinAxes *axes, gsize bytes,
                               const AstroJoinArguments *arguments, const AstroBlock *in,
                               guint n_in, AstroJoinWeave *weave)
{
  const AstroLayout *shape = &axes->shape;
  guint64 per_step = 1;
  if (n_in < 2 || n_in > ASTRO_JOIN_WEAVE_MOST)
    return FALSE;
  weave->unit = bytes * arguments->pieces[0].extent;
  for (guint i = (guint)axes->axis + 1; i < shape->n_axes; i++)
    weave->unit *= shape->extents[i];
  if (weave->unit > WIDEST || !is_power_of_two(weave->unit))
    return FALSE;
  weave->n = n_in;
  weave->rows = 1;
  for (guint i = 0; i < (guint)axes->axis; i++) {
    weave->rows *= shape->extents[i];
    per_step *= (gint)i == axes->time ? 1 : shape->extents[i];
  }
  for (guint i = 0; i < n_in; i++) {
    const guint8 *data = in[i].data;
    if (!is_whole(axes, arguments, i))
      return FALSE;
    weave->from[i] = data ? data + arguments->pieces[i].first * per_step * weave->unit : NULL;
  }
  return arguments->pieces[0].extent * n_in == shape->extents[axes->axis];
}

/* ---- doing it ---- */

typedef struct {
  const AstroJoinWeave *weave;
  guint64 chunk; /* rows of a task */
  gsize pitch;
  guint32 *column_to;
} Work;

static void weave_chunk(gpointer data, guint64 task)
{
  const Work *work = data;
  const AstroJoinWeave *weave = work->weave;
  const gsize row = weave->n * weave->unit;
  const guint64 first = task * work->chunk, n = MIN(work->chunk, weave->rows - first);
  guint8 *box = astro_scratch_take(weave->scratch), *table = box + ASTRO_JOIN_WEAVE_BOX,
         *out = weave->out + first * row;
  for (guint i = 0; i < weave->n; i++)
    if (weave->from[i])
      weave->kernels->copy(table + i * work->pitch, weave->from[i] + first * weave->unit,
                           n * weave->unit);
    else
      memset(table + i * work->pitch, 0, n * weave->unit);
  const AstroTransposePlane plane = {
    .out = weave->past_caches ? box : out,
    .in = table,
    .column_to = work->column_to,
    .in_pitch = work->pitch,
    .rows = weave->n,
    .columns = n,
    .times = 1,
    .unit = weave->unit,
  };
  weave->kernels->transpose[__builtin_ctzl(weave->unit)](&plane);
  if (weave->past_caches) {
    weave->kernels->stream(out, box, n * row);
    weave->kernels->fence();
  }
  astro_scratch_give(weave->scratch, box);
}

void astro_join_weave(const AstroJoinWeave *weave, guint threads)
{
  G_STATIC_ASSERT(ASTRO_JOIN_WEAVE_SCRATCH >= 2 * ASTRO_JOIN_WEAVE_BOX +
                                                  ASTRO_JOIN_WEAVE_MOST * PITCH_EXTRA +
                                                  ASTRO_TRANSPOSE_SLACK);
  const gsize row = weave->n * weave->unit;
  Work work = { .weave = weave };
  work.chunk = MIN(ASTRO_JOIN_WEAVE_BOX / row, weave->rows);
  work.pitch = work.chunk * weave->unit + PITCH_EXTRA;
  work.column_to = g_new(guint32, work.chunk);
  for (guint64 i = 0; i < work.chunk; i++)
    work.column_to[i] = (guint32)(i * row);
  astro_parallel((weave->rows + work.chunk - 1) / work.chunk, threads, weave_chunk, &work);
  g_free(work.column_to);
}
