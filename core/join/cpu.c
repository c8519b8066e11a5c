/* The CPU backend. The block is divided into boxes that stay in a core's caches while all pieces
 * are copied to them: one index along the slower axes, a range of one axis, all of the faster ones.
 * A box is contiguous in the block. So if its rows are short it is made in scratch memory and then
 * written to the block past the caches, as writing through the caches would first read what is
 * overwritten. Rows of a few bytes are woven (weave.h). */
#include "config.h"
#include "core/join/weave.h"

#include <string.h>

#include "core/kit/copy-rows.h"
#include "core/backend/instance.h"
#include "core/backend/threads.h"

#define BOX_BYTES ((gsize)128 << 10) /* at most */
/* Larger blocks are no longer in the caches when they are read. */
#define PAST_CACHES ((gsize)4 << 20)
#define LONG_ROW 1024 /* bytes; longer rows are written past the caches directly */

typedef struct {
  AstroJoinConfig config;
  guint threads;
  AstroScratch *scratch; /* boxes */
  AstroScratch *weave;
} Join;

typedef enum { COPIES, STREAMS, STREAMS_BOXES } Way;

typedef struct {
  const AstroJoinArguments *arguments;
  const AstroBlock *in;
  guint n_in;
  guint8 *out;
  AstroJoinAxes axes;
  guint64 strides[ASTRO_MAX_AXES]; /* of the block, in bytes */
  gsize bytes;                     /* per sample */
  guint cut;                       /* the axis of which boxes have a range */
  guint64 range, ranges;           /* length of the range, and number of ranges */
  Way way;
  AstroScratch *scratch;
  const AstroTransposeKernels *kernels;
} Work;

typedef struct {
  guint64 first[ASTRO_MAX_AXES], n[ASTRO_MAX_AXES];
} Box;

/* Rows that are contiguous on both sides, with their distances there. */
typedef struct {
  guint n_axes;
  guint64 n[ASTRO_MAX_AXES], to[ASTRO_MAX_AXES], from[ASTRO_MAX_AXES];
  gsize bytes;
} Rows;

/* ---- rows ---- */

static void clear_line(guint8 *to, guint64 to_step, guint64 n, gsize bytes)
{
  for (; n; n--, to += to_step)
    memset(to, 0, bytes);
}

static void stream_line(const AstroTransposeKernels *kernels, guint8 *to, guint64 to_step,
                        const guint8 *from, guint64 from_step, guint64 n, gsize bytes)
{
  for (; n; n--, to += to_step, from += from_step)
    kernels->stream(to, from, bytes);
}

/* from: NULL for lost pieces; kernels: to write rows past the caches, or NULL. */
static void copy_rows(const Rows *rows, const AstroTransposeKernels *kernels, guint axis,
                      guint8 *to, const guint8 *from)
{
  if (rows->n_axes == 0 || axis + 1 == rows->n_axes) {
    const guint64 n = rows->n_axes ? rows->n[axis] : 1, step = rows->n_axes ? rows->to[axis] : 0;
    const guint64 from_step = rows->n_axes ? rows->from[axis] : 0;
    if (from && kernels)
      stream_line(kernels, to, step, from, from_step, n, rows->bytes);
    else if (from)
      astro_lines_copy(&(AstroLines){ to, from, step, from_step, n }, rows->bytes);
    else
      clear_line(to, step, n, rows->bytes);
    return;
  }
  for (guint64 i = 0; i < rows->n[axis]; i++)
    copy_rows(rows, kernels, axis + 1, to + i * rows->to[axis],
              from ? from + i * rows->from[axis] : NULL);
}

/* ---- boxes ---- */

/* to_box: where the box begins. */
static void copy_piece(const Work *work, const Box *box, guint number, guint8 *to_box)
{
  const AstroJoinPiece *piece = &work->arguments->pieces[number];
  const AstroJoinAxes *axes = &work->axes;
  guint64 strides[ASTRO_MAX_AXES], to_at = 0, from_at = 0;
  Rows rows = { .bytes = work->bytes };
  AstroLayout shape;
  guint64 n[ASTRO_MAX_AXES];

  astro_join_piece_shape(axes, piece, &shape);
  astro_layout_strides(&shape, strides);
  for (guint i = 0; i < shape.n_axes; i++) {
    guint64 to, from, length;
    astro_join_piece_range(axes, piece, i, &to, &from, &length);
    const guint64 first = MAX(to, box->first[i]), end = MIN(to + length, box->first[i] + box->n[i]);
    if (first >= end)
      return;
    strides[i] *= work->bytes;
    to_at += (first - box->first[i]) * work->strides[i];
    from_at += (first - to + from) * strides[i];
    n[i] = end - first;
  }
  guint inner = shape.n_axes;
  while (inner > 0 && rows.bytes == strides[inner - 1] && rows.bytes == work->strides[inner - 1])
    rows.bytes *= n[--inner];
  for (guint i = 0; i < inner; i++)
    if (n[i] > 1) {
      rows.n[rows.n_axes] = n[i];
      rows.to[rows.n_axes] = work->strides[i];
      rows.from[rows.n_axes++] = strides[i];
    }
  const guint8 *data = work->in[number].data;
  copy_rows(&rows, work->way == STREAMS ? work->kernels : NULL, 0, to_box + to_at,
            data ? data + from_at : NULL);
}

static void fill_box(gpointer data, guint64 task)
{
  const Work *work = data;
  const AstroLayout *shape = &work->axes.shape;
  guint64 number = task / work->ranges;
  Box box;
  for (guint i = 0; i < shape->n_axes; i++) {
    box.first[i] = 0;
    box.n[i] = shape->extents[i];
  }
  box.first[work->cut] = task % work->ranges * work->range;
  box.n[work->cut] = MIN(work->range, shape->extents[work->cut] - box.first[work->cut]);
  for (guint i = work->cut; i-- > 0; number /= shape->extents[i]) {
    box.first[i] = number % shape->extents[i];
    box.n[i] = 1;
  }
  guint8 *to = work->out;
  for (guint i = 0; i < shape->n_axes; i++)
    to += box.first[i] * work->strides[i];
  guint8 *aside = work->way == STREAMS_BOXES ? astro_scratch_take(work->scratch) : NULL;
  for (guint i = 0; i < work->n_in; i++)
    copy_piece(work, &box, i, aside ? aside : to);
  if (aside) {
    work->kernels->stream(to, aside, box.n[work->cut] * work->strides[work->cut]);
    astro_scratch_give(work->scratch, aside);
  }
  if (work->way != COPIES)
    work->kernels->fence();
}

static Way find_way(const Work *work, gsize bytes)
{
  if (bytes < PAST_CACHES)
    return COPIES;
  for (guint i = 0; i < work->n_in; i++)
    if (work->arguments->pieces[i].extent * work->strides[work->axes.axis] < LONG_ROW)
      return STREAMS_BOXES;
  return STREAMS;
}

static guint64 cut_boxes(Work *work)
{
  const AstroLayout *shape = &work->axes.shape;
  guint64 slower = 1;
  while (work->cut + 1 < shape->n_axes && work->strides[work->cut] > BOX_BYTES)
    slower *= shape->extents[work->cut++];
  work->range = MAX(BOX_BYTES / work->strides[work->cut], 1);
  work->ranges = (shape->extents[work->cut] + work->range - 1) / work->range;
  return slower * work->ranges;
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer data, AstroResult *result, GError **error)
{
  const Join *self = instance;
  Work work = {
    .arguments = data, .in = in, .n_in = n_in, .bytes = astro_stream_sample_bytes(&self->config.out)
  };
  if (!astro_join_check(&self->config, in, n_in, out, n_out, data, error))
    return FALSE;
  work.out = out->data;
  astro_join_axes(&self->config, work.arguments->steps, &work.axes);
  astro_layout_strides(&work.axes.shape, work.strides);
  for (guint i = 0; i < work.axes.shape.n_axes; i++)
    work.strides[i] *= work.bytes;
  work.scratch = self->scratch;
  work.kernels = astro_transpose_kernels();
  work.way = find_way(&work, out->bytes);
  AstroJoinWeave weave = { .kernels = work.kernels,
                           .scratch = self->weave,
                           .past_caches = work.way != COPIES,
                           .out = out->data };
  if (astro_join_find_weave(&work.axes, work.bytes, data, in, n_in, &weave)) {
    astro_join_weave(&weave, self->threads);
    return TRUE;
  }
  const guint64 boxes = cut_boxes(&work);
  astro_parallel(boxes, self->threads, fill_box, &work);
  return TRUE;
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  Join *self = astro_instance_new(&astro_join_cpu, sizeof *self, config, error);
  if (!self)
    return NULL;
  self->threads = place->threads;
  self->scratch = astro_scratch_new(BOX_BYTES);
  self->weave = astro_scratch_new(ASTRO_JOIN_WEAVE_SCRATCH);
  *variant = astro_transpose_kernels()->variant.name;
  return self;
}

static void destroy(gpointer instance)
{
  Join *self = instance;
  astro_scratch_free(self->scratch);
  astro_scratch_free(self->weave);
  g_free(self);
}

const AstroBackend astro_join_cpu = {
  .stage = "join",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroJoinConfig),
  .shape = astro_join_shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};

const AstroBackend *const astro_join_backends[] = { &astro_join_cpu, &astro_join_reference, NULL };
