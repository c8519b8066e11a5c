/* Runs a plan: boxes through their two stages, or pieces of long units straight through. */
#include "core/backend/threads.h"
#include "core/lib/transpose/plan.h"

#define STRIP_BYTES (32 * 1024) /* of the first stage that are filled and transposed at once */

/* Shared by the tasks of one run. */
typedef struct {
  const AstroTransposePlan *plan;
  const AstroTransposeKernels *kernels;
  guint8 *out;
  const guint8 *in;
} Run;

/* Each thread keeps its two stages, so that they stay in the caches of its core. */
typedef struct {
  gsize bytes;
  guint8 *data;
} Stages;

static void free_stages(gpointer data)
{
  Stages *stages = data;
  g_aligned_free(stages->data);
  g_free(stages);
}

static guint8 *thread_stages(gsize bytes)
{
  static GPrivate private = G_PRIVATE_INIT(free_stages);
  Stages *stages = g_private_get(&private);
  if (!stages) {
    stages = g_new0(Stages, 1);
    g_private_set(&private, stages);
  }
  if (stages->bytes < bytes) {
    g_aligned_free(stages->data);
    stages->data = g_aligned_alloc(1, bytes, 4096);
    stages->bytes = bytes;
  }
  return stages->data;
}

/* Loops over the rows of the first stage that a part of a box of that size fills. Returns the bytes
 * of a row. */
static gsize rows_of(const AstroTransposePlan *plan, const gsize *size, AstroTransposeLoops *rows)
{
  gsize bytes = plan->unit;
  *rows = (AstroTransposeLoops){ 0 };
  for (guint i = plan->n_axes; i-- > 0;) {
    const AstroTransposeAxis *axis = &plan->axes[i];
    if (axis->in_run)
      bytes *= size[i];
    else
      astro_transpose_add_loop(rows, size[i], axis->from, axis->stage_from);
  }
  return bytes;
}

static void copy_in(const Run *run, const gsize *size, guint8 *stage, const guint8 *in)
{
  AstroTransposeLoops rows;
  gsize bytes = rows_of(run->plan, size, &rows);
  do
    run->kernels->copy(stage, in, bytes);
  while (astro_transpose_next(&rows, &in, &stage));
}

void astro_transpose_next_row(AstroTransposeAhead *ahead)
{
  guint8 stage, *to = &stage; /* loops have two sides, but here the second does not matter */
  ahead->at = 0;
  if (!astro_transpose_next(&ahead->rows, &ahead->row, &to))
    ahead->row = NULL;
}

static void copy_out(const Run *run, const gsize *size, guint8 *out, const guint8 *stage)
{
  const AstroTransposePlan *plan = run->plan;
  AstroTransposeLoops rows = { 0 };
  gsize bytes = plan->unit;
  for (guint i = plan->n_axes; i-- > 0;) {
    guint which = plan->order[i];
    const AstroTransposeAxis *axis = &plan->axes[which];
    if (axis->out_run)
      bytes *= size[which];
    else
      astro_transpose_add_loop(&rows, size[which], axis->stage_to, axis->to);
  }
  do
    if (plan->past_caches)
      run->kernels->stream(out, stage, bytes);
    else
      run->kernels->copy(out, stage, bytes);
  while (astro_transpose_next(&rows, &stage, &out));
}

/* Transposes from stage to stage, plane by plane. The kernel repeats along one axis, loops go over
 * the rest. */
static void transpose_box(const Run *run, const gsize *size, guint8 *to, const guint8 *from,
                          AstroTransposeAhead *ahead)
{
  const AstroTransposePlan *plan = run->plan;
  AstroTransposeLoops rest = { 0 };
  AstroTransposePlane plane = {
    .out = to,
    .in = from,
    .column_to = plan->column_to,
    .in_pitch = plan->axes[plan->order[plan->n_axes - 1]].stage_from,
    .rows = 1,
    .columns = 1,
    .times = 1,
    .unit = plan->unit,
    .ahead = ahead,
  };
  for (guint i = plan->n_axes; i-- > 0;) {
    const AstroTransposeAxis *axis = &plan->axes[i];
    if (axis->in_rows)
      plane.rows *= size[i];
    else if (axis->in_columns)
      plane.columns *= size[i];
    else
      astro_transpose_add_loop(&rest, size[i], axis->stage_from, axis->stage_to);
  }
  if (rest.n) {
    plane.times = rest.steps[0];
    plane.in_step = rest.from[0];
    plane.out_step = rest.to[0];
    rest.steps[0] = 1;
  }
  gboolean vector_unit = plan->unit <= 16 && !(plan->unit & (plan->unit - 1));
  void (*kernel)(const AstroTransposePlane *) =
      vector_unit ? run->kernels->transpose[__builtin_ctzl(plan->unit)] : run->kernels->rearrange;
  do
    kernel(&plane);
  while (astro_transpose_next(&rest, &plane.in, &plane.out));
}

/* A box goes through the first stage in strips of its rows, which stay in or near the innermost
 * cache: all steps of the faster axes, some steps of one axis, and one step of the slower axes. */
typedef struct {
  gsize step[ASTRO_MAX_AXES];
  gsize n;
} Strips;

static Strips cut_strips(const AstroTransposePlan *plan, const gsize *size)
{
  Strips strips = { .n = 1 };
  gsize rows = 1;
  gboolean cut = FALSE;
  for (guint i = plan->n_axes; i-- > 0;) {
    guint which = plan->order[i];
    gsize *step = &strips.step[which];
    *step = size[which];
    if (plan->axes[which].in_run)
      continue;
    gsize fit = STRIP_BYTES / (rows * plan->row_bytes);
    if (cut) {
      *step = 1;
    } else if (fit < size[which]) {
      gsize grain = astro_transpose_grain(rows * plan->unit);
      *step = MIN(size[which], MAX(grain, fit - fit % grain));
      cut = *step < size[which];
    }
    rows *= size[which];
    strips.n *= (size[which] + *step - 1) / *step;
  }
  return strips;
}

/* Finds the size of a strip, and moves from and to from the beginning of the box to that of the
 * strip. */
static void find_strip(const AstroTransposePlan *plan, const Strips *strips, const gsize *size,
                       gsize strip, gsize *strip_size, const guint8 **from, guint8 **to)
{
  for (guint i = plan->n_axes; i-- > 0;) {
    guint which = plan->order[i];
    const AstroTransposeAxis *axis = &plan->axes[which];
    gsize along = (size[which] + strips->step[which] - 1) / strips->step[which];
    gsize start = strip % along * strips->step[which];
    strip /= along;
    strip_size[which] = MIN(strips->step[which], size[which] - start);
    *from += start * axis->from;
    *to += start * axis->stage_to;
  }
}

/* Fills the second stage, strip by strip. */
static void transpose_strips(const Run *run, const gsize *size, guint8 *stage_out, guint8 *stage_in,
                             const guint8 *in)
{
  const AstroTransposePlan *plan = run->plan;
  const Strips strips = cut_strips(plan, size);
  gsize sizes[2][ASTRO_MAX_AXES]; /* of this strip and the next, alternating */
  const guint8 *from = in;
  guint8 *to = stage_out;

  find_strip(plan, &strips, size, 0, sizes[0], &from, &to);
  for (gsize strip = 0; strip < strips.n; strip++) {
    const gsize *here = sizes[strip % 2];
    gsize *next = sizes[(strip + 1) % 2];
    AstroTransposeAhead ahead = { .row = NULL };
    const guint8 *next_from = in;
    guint8 *next_to = stage_out;
    if (strip + 1 < strips.n)
      find_strip(plan, &strips, size, strip + 1, next, &next_from, &next_to);
    if (strip + 1 < strips.n && plan->fetches) {
      ahead.row = next_from;
      ahead.row_bytes = rows_of(plan, next, &ahead.rows);
    }
    copy_in(run, here, stage_in, from);
    transpose_box(run, here, to, stage_in, &ahead);
    from = next_from;
    to = next_to;
  }
}

static void box_task(gpointer data, guint64 task)
{
  const Run *run = data;
  const AstroTransposePlan *plan = run->plan;
  guint8 *stage_in = thread_stages(plan->stage_in_bytes + plan->stage_out_bytes);
  guint8 *stage_out = stage_in + plan->stage_in_bytes;
  guint64 box = task * plan->boxes_per_task;
  guint64 end = MIN(plan->boxes, box + plan->boxes_per_task);

  for (; box < end; box++) {
    guint64 rest = box;
    gsize size[ASTRO_MAX_AXES];
    const guint8 *in = run->in;
    guint8 *out = run->out;
    /* The output's innermost axis comes first, so that boxes that share a cache line of the output
     * follow each other. */
    for (guint i = plan->n_axes; i-- > 0;) {
      guint which = plan->order[i];
      const AstroTransposeAxis *axis = &plan->axes[which];
      gsize start = rest % axis->boxes * axis->block;
      rest /= axis->boxes;
      size[which] = MIN(axis->block, axis->extent - start);
      in += start * axis->from;
      out += start * axis->to;
    }
    transpose_strips(run, size, stage_out, stage_in, in);
    copy_out(run, size, out, stage_out);
  }
  run->kernels->fence();
}

/* Copies long units straight from the input to the output, in the output's order. */
static void piece_task(gpointer data, guint64 task)
{
  const Run *run = data;
  const AstroTransposePlan *plan = run->plan;
  gsize pieces_per_unit = (plan->unit + plan->piece_bytes - 1) / plan->piece_bytes;
  guint64 piece = task * plan->pieces_per_task;
  guint64 end = MIN(plan->pieces, piece + plan->pieces_per_task);

  for (; piece < end; piece++) {
    gsize start = piece % pieces_per_unit * plan->piece_bytes;
    gsize bytes = MIN(plan->piece_bytes, plan->unit - start);
    guint64 rest = piece / pieces_per_unit;
    const guint8 *in = run->in + start;
    guint8 *out = run->out + start;
    for (guint i = plan->n_axes; i-- > 0;) {
      const AstroTransposeAxis *axis = &plan->axes[plan->order[i]];
      in += rest % axis->extent * axis->from;
      out += rest % axis->extent * axis->to;
      rest /= axis->extent;
    }
    if (plan->past_caches)
      run->kernels->stream(out, in, bytes);
    else
      run->kernels->copy(out, in, bytes);
  }
  run->kernels->fence();
}

void astro_transpose_run(const AstroTransposePlan *plan, const AstroTransposeKernels *kernels,
                         guint threads, gpointer out, gconstpointer in)
{
  Run run = { plan, kernels, out, in };
  if (plan->boxes)
    astro_parallel((plan->boxes + plan->boxes_per_task - 1) / plan->boxes_per_task, threads,
                   box_task, &run);
  else
    astro_parallel((plan->pieces + plan->pieces_per_task - 1) / plan->pieces_per_task, threads,
                   piece_task, &run);
}

void astro_transpose_part(gpointer out, gconstpointer in, gsize unit,
                          const AstroTransposeAxis *axes, guint n, guint threads)
{
  AstroTransposePlan plan;
  astro_transpose_plan_part(&plan, NULL, unit, axes, n);
  astro_transpose_run(&plan, astro_transpose_kernels(), threads, out, in);
}

const AstroTransposeKernels *astro_transpose_kernels(void)
{
  static const AstroTransposeKernels *const variants[] = ASTRO_KERNELS(astro_transpose_kernels);
  return ASTRO_KERNELS_PICK(variants);
}
