#include "core/backend/threads.h"
#include "core/transpose/plan.h"

#define STRIP_BYTES (64 * 1024) /* rows of the first stage that are filled and turned at once */

/* Nested loops over two sides at once; the first is the innermost. */
typedef struct {
  guint n;
  gsize steps[ASTRO_MAX_AXES], from[ASTRO_MAX_AXES], to[ASTRO_MAX_AXES];
  gsize at[ASTRO_MAX_AXES];
} Loops;

static void add_loop(Loops *loops, gsize steps, gsize from, gsize to)
{
  guint last = loops->n - 1;
  if (steps == 1)
    return;
  if (loops->n && from == loops->from[last] * loops->steps[last] &&
      to == loops->to[last] * loops->steps[last]) {
    loops->steps[last] *= steps;
    return;
  }
  loops->steps[loops->n] = steps;
  loops->from[loops->n] = from;
  loops->to[loops->n] = to;
  loops->at[loops->n++] = 0;
}

/* Moves both sides to the next turn; FALSE after the last. */
static gboolean turn(Loops *loops, const guint8 **from, guint8 **to)
{
  for (guint i = 0; i < loops->n; i++) {
    *from += loops->from[i];
    *to += loops->to[i];
    if (++loops->at[i] < loops->steps[i])
      return TRUE;
    *from -= loops->from[i] * loops->steps[i];
    *to -= loops->to[i] * loops->steps[i];
    loops->at[i] = 0;
  }
  return FALSE;
}

/* What the tasks of one run share. */
typedef struct {
  const AstroTransposePlan *plan;
  const AstroTransposeKernels *kernels;
  guint8 *out;
  const guint8 *in;
} Run;

/* Each thread keeps its two stages, so that they stay in its core's cache from task to task. */
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

static void copy_in(const Run *run, const gsize *size, guint8 *stage, const guint8 *in)
{
  const AstroTransposePlan *plan = run->plan;
  Loops rows = { 0 };
  gsize bytes = plan->unit;
  for (guint i = plan->n_axes; i-- > 0;) {
    const AstroTransposeAxis *axis = &plan->axes[i];
    if (axis->in_run)
      bytes *= size[i];
    else
      add_loop(&rows, size[i], axis->from, axis->stage_from);
  }
  do
    run->kernels->copy(stage, in, bytes);
  while (turn(&rows, &in, &stage));
}

static void copy_out(const Run *run, const gsize *size, guint8 *out, const guint8 *stage)
{
  const AstroTransposePlan *plan = run->plan;
  Loops rows = { 0 };
  gsize bytes = plan->unit;
  for (guint i = plan->n_axes; i-- > 0;) {
    guint which = plan->order[i];
    const AstroTransposeAxis *axis = &plan->axes[which];
    if (axis->out_run)
      bytes *= size[which];
    else
      add_loop(&rows, size[which], axis->stage_to, axis->to);
  }
  do
    if (plan->past_caches)
      run->kernels->stream(out, stage, bytes);
    else
      run->kernels->copy(out, stage, bytes);
  while (turn(&rows, &stage, &out));
}

/* From stage to stage, plane by plane: the kernel repeats along one axis, loops go over the rest.
 */
static void turn_box(const Run *run, const gsize *size, guint8 *to, const guint8 *from)
{
  const AstroTransposePlan *plan = run->plan;
  Loops rest = { 0 };
  AstroTransposePlane plane = {
    .out = to,
    .in = from,
    .column_to = plan->column_to,
    .in_pitch = plan->axes[plan->order[plan->n_axes - 1]].stage_from,
    .rows = 1,
    .columns = 1,
    .times = 1,
    .unit = plan->unit,
  };
  for (guint i = plan->n_axes; i-- > 0;) {
    const AstroTransposeAxis *axis = &plan->axes[i];
    if (axis->in_rows)
      plane.rows *= size[i];
    else if (axis->in_columns)
      plane.columns *= size[i];
    else
      add_loop(&rest, size[i], axis->stage_from, axis->stage_to);
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
  while (turn(&rest, &plane.in, &plane.out));
}

/* Fills the second stage. The box goes through the first in strips of its rows, which stay in or
 * near the innermost cache: whole rows of the faster axes, some steps of one, single steps of the
 * slower. */
static void turn_strips(const Run *run, const gsize *size, guint8 *stage_out, guint8 *stage_in,
                        const guint8 *in)
{
  const AstroTransposePlan *plan = run->plan;
  gsize step[ASTRO_MAX_AXES], strips = 1, rows = 1;
  gboolean cut = FALSE;
  for (guint i = plan->n_axes; i-- > 0;) {
    guint which = plan->order[i];
    step[which] = size[which];
    if (plan->axes[which].in_run)
      continue;
    gsize fit = STRIP_BYTES / (rows * plan->row_bytes);
    if (cut) {
      step[which] = 1;
    } else if (fit < size[which]) {
      gsize grain = astro_transpose_grain(rows * plan->unit);
      step[which] = MIN(size[which], MAX(grain, fit - fit % grain));
      cut = TRUE;
    }
    rows *= size[which];
    strips *= (size[which] + step[which] - 1) / step[which];
  }
  for (gsize strip = 0; strip < strips; strip++) {
    gsize rest = strip, strip_size[ASTRO_MAX_AXES];
    const guint8 *from = in;
    guint8 *to = stage_out;
    for (guint i = plan->n_axes; i-- > 0;) {
      guint which = plan->order[i];
      const AstroTransposeAxis *axis = &plan->axes[which];
      gsize along = (size[which] + step[which] - 1) / step[which];
      gsize start = rest % along * step[which];
      rest /= along;
      strip_size[which] = MIN(step[which], size[which] - start);
      from += start * axis->from;
      to += start * axis->stage_to;
    }
    copy_in(run, strip_size, stage_in, from);
    turn_box(run, strip_size, to, stage_in);
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
    /* The output's innermost axis first: boxes that share a line of the output follow each other.
     */
    for (guint i = plan->n_axes; i-- > 0;) {
      guint which = plan->order[i];
      const AstroTransposeAxis *axis = &plan->axes[which];
      gsize start = rest % axis->boxes * axis->block;
      rest /= axis->boxes;
      size[which] = MIN(axis->block, axis->extent - start);
      in += start * axis->from;
      out += start * axis->to;
    }
    turn_strips(run, size, stage_out, stage_in, in);
    copy_out(run, size, out, stage_out);
  }
  run->kernels->fence();
}

/* Long units go straight from the input to the output, in the output's order. */
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
  astro_transpose_plan_part(&plan, unit, axes, n);
  astro_transpose_run(&plan, astro_transpose_kernels(), threads, out, in);
}
