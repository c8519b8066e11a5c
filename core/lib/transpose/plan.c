/* Cuts a block into boxes, and lays out their stages. */
#include "core/lib/transpose/plan.h"
#include <string.h>

#define LINE 64
#define TASK_BYTES (1024 * 1024)
#define MIN_STAGE_BYTES (896 * 1024)
#define BOXES 16      /* at least, in a block, so that all threads have some */
#define ROW_UNITS 256 /* a row of the first stage that is this long takes no further axis */
#define LONG_UNIT 512 /* units of this many bytes gain nothing from stages */
#define CACHES_BYTES (8 * 1024 * 1024)

static const gsize run_bytes[] = { 4096, 2048, 1024, 512, 256, 128, 64 };

const AstroTransposeMemory astro_transpose_near_cache = { 2304 * 1024, TRUE };
const AstroTransposeMemory astro_transpose_far_cache = { MIN_STAGE_BYTES, FALSE };

static gsize greatest_common_divisor(gsize a, gsize b)
{
  return b ? greatest_common_divisor(b, a % b) : a;
}

gsize astro_transpose_grain(gsize bytes)
{
  return LINE / greatest_common_divisor(LINE, bytes);
}

/* Equal parts of about the steps needed, each a whole number of cache lines if few steps make one.
 */
static gsize block_steps(guint64 extent, gsize step_bytes, gsize needed)
{
  if (extent <= needed)
    return extent;
  gsize parts = (extent + needed - 1) / needed, steps = (extent + parts - 1) / parts;
  gsize grain = astro_transpose_grain(step_bytes);
  if (grain < needed)
    steps = (steps + grain - 1) / grain * grain;
  return MIN(extent, steps);
}

/* Grows the box along axes, the last one first, until its run is that long. */
static void grow(AstroTransposePlan *plan, const guint *axes, gsize bytes)
{
  gsize run = plan->unit;
  for (guint i = plan->n_axes; i-- > 0 && run < bytes;) {
    AstroTransposeAxis *axis = &plan->axes[axes[i]];
    gsize steps = block_steps(axis->extent, run, (bytes + run - 1) / run);
    axis->block = MAX(axis->block, steps);
    if (axis->block < axis->extent)
      return;
    run *= axis->block;
  }
}

/* The next odd number of cache lines. */
static gsize row_pitch(gsize bytes)
{
  return ((bytes + LINE - 1) / LINE | 1) * LINE;
}

/* The first stage holds runs of the input, one a row, with the rows in the output's order; the
 * second holds runs of the output, with the rows in the input's order. So the runs of one are the
 * rows of the other, if the axes allow it, and one call of a kernel transposes the whole box. */
static void lay_out_stages(AstroTransposePlan *plan, const guint *natural)
{
  guint n = plan->n_axes;
  gsize from = plan->unit, to = plan->unit; /* length of the runs so far */
  gboolean in_run = TRUE, out_run = TRUE;
  for (guint i = n; i-- > 0;) {
    AstroTransposeAxis *a = &plan->axes[natural[i]], *b = &plan->axes[plan->order[i]];
    a->in_run = in_run && a->from == from && (from == plan->unit || from < ROW_UNITS * plan->unit);
    if (a->in_run) {
      a->stage_from = from;
      from *= a->block;
    }
    in_run = a->in_run && a->block == a->extent;
    b->out_run = out_run && b->to == to;
    if (b->out_run) {
      b->stage_to = to;
      to *= b->block;
    }
    out_run = b->out_run && b->block == b->extent;
  }
  from = row_pitch(from);
  plan->row_bytes = from;
  to = row_pitch(to);
  for (guint i = n; i-- > 0;) {
    AstroTransposeAxis *a = &plan->axes[natural[i]], *b = &plan->axes[plan->order[i]];
    if (!b->in_run) {
      b->stage_from = from;
      from *= b->block;
    }
    if (!a->out_run) {
      a->stage_to = to;
      to *= a->block;
    }
  }
  plan->stage_in_bytes = from + ASTRO_TRANSPOSE_SLACK;
  plan->stage_out_bytes = to;
}

/* The kernel transposes planes. Their rows are the output's innermost axis, with the axes that
 * follow it evenly in both stages; their columns are the input's innermost axes. Axes of few steps
 * are thus joined into many columns, of which boxes at the edge use only the first. */
static void choose_planes(AstroTransposePlan *plan)
{
  gsize from = plan->axes[plan->order[plan->n_axes - 1]].stage_from, columns = 1;
  for (guint i = plan->n_axes; i-- > 0;) {
    AstroTransposeAxis *axis = &plan->axes[plan->order[i]];
    if (!axis->out_run || axis->stage_from != from)
      break;
    axis->in_rows = TRUE;
    from *= axis->block;
  }
  for (guint i = plan->n_axes; i-- > 0;) {
    AstroTransposeAxis *axis = &plan->axes[i];
    if (!axis->in_run || axis->in_rows || columns * axis->block > ASTRO_TRANSPOSE_MAX_COLUMNS)
      break;
    axis->in_columns = TRUE;
    for (gsize c = columns; c < columns * axis->block; c++)
      plan->column_to[c] = plan->column_to[c - columns] + axis->stage_to;
    columns *= axis->block;
  }
}

static void cut_boxes(AstroTransposePlan *plan, gsize bytes, gsize most)
{
  const gsize stage_bytes = CLAMP(bytes / BOXES, MIN_STAGE_BYTES, most);
  guint natural[ASTRO_MAX_AXES];
  for (guint i = 0; i < plan->n_axes; i++)
    natural[i] = i;
  for (guint t = 0; t < G_N_ELEMENTS(run_bytes); t++) {
    for (guint i = 0; i < plan->n_axes; i++)
      plan->axes[i].block = 1;
    grow(plan, natural, run_bytes[t]);
    grow(plan, plan->order, run_bytes[t]);
    lay_out_stages(plan, natural);
    if (plan->stage_in_bytes <= stage_bytes && plan->stage_out_bytes <= stage_bytes)
      break;
  }
  choose_planes(plan);
  gsize box_bytes = plan->unit;
  plan->boxes = 1;
  for (guint i = 0; i < plan->n_axes; i++) {
    AstroTransposeAxis *axis = &plan->axes[i];
    axis->boxes = (axis->extent + axis->block - 1) / axis->block;
    plan->boxes *= axis->boxes;
    box_bytes *= axis->block;
  }
  plan->boxes_per_task = MAX(1, TASK_BYTES / box_bytes);
}

/* Sorts the axes, slowest of the input first, and joins those that are neighbours on both sides. */
static void take_axes(AstroTransposePlan *plan, const AstroTransposeAxis *axes, guint n)
{
  for (guint i = 0; i < n; i++) {
    guint at = plan->n_axes;
    if (axes[i].extent == 1)
      continue;
    for (; at > 0 && plan->axes[at - 1].from < axes[i].from; at--)
      plan->axes[at] = plan->axes[at - 1];
    plan->axes[at] = axes[i];
    plan->n_axes++;
  }
  for (guint i = plan->n_axes; i-- > 1;) {
    AstroTransposeAxis *outer = &plan->axes[i - 1], *inner = &plan->axes[i];
    if (outer->from != inner->from * inner->extent || outer->to != inner->to * inner->extent)
      continue;
    inner->extent *= outer->extent;
    plan->n_axes--;
    memmove(outer, inner, (plan->n_axes - (i - 1)) * sizeof *outer);
  }
}

/* Sorts the axes by their steps in the output, slowest first. */
static void sort_order(AstroTransposePlan *plan)
{
  for (guint i = 0; i < plan->n_axes; i++) {
    guint at = i;
    for (; at > 0 && plan->axes[plan->order[at - 1]].to < plan->axes[i].to; at--)
      plan->order[at] = plan->order[at - 1];
    plan->order[at] = i;
  }
}

void astro_transpose_plan_part(AstroTransposePlan *plan, const AstroTransposeMemory *memory,
                               gsize unit, const AstroTransposeAxis *axes, guint n)
{
  if (!memory)
    memory =
        astro_cpu_third_cache_is_near() ? &astro_transpose_near_cache : &astro_transpose_far_cache;
  *plan = (AstroTransposePlan){ .unit = unit, .fetches = memory->fetches };
  take_axes(plan, axes, n);
  const AstroTransposeAxis *last = plan->n_axes ? &plan->axes[plan->n_axes - 1] : NULL;
  if (last && last->from == unit && last->to == unit) {
    plan->unit *= last->extent;
    plan->n_axes--;
  }
  sort_order(plan);
  gsize units = 1;
  for (guint i = 0; i < plan->n_axes; i++)
    units *= plan->axes[i].extent;
  plan->past_caches = units * plan->unit >= CACHES_BYTES;

  if (plan->n_axes && plan->unit < LONG_UNIT) {
    cut_boxes(plan, units * plan->unit, memory->stage_bytes);
    return;
  }
  gsize pieces_per_unit = (plan->unit + TASK_BYTES - 1) / TASK_BYTES;
  plan->piece_bytes = MIN(plan->unit, TASK_BYTES);
  plan->pieces = units * pieces_per_unit;
  plan->pieces_per_task = MAX(1, TASK_BYTES / plan->piece_bytes);
}

void astro_transpose_plan(AstroTransposePlan *plan, const AstroTransposeMemory *memory,
                          const AstroTransposeConfig *config)
{
  AstroTransposeAxis axes[ASTRO_MAX_AXES] = { 0 };
  gsize from = config->sample_bytes, to = config->sample_bytes;
  for (guint i = config->n_axes; i-- > 0;) {
    AstroTransposeAxis *a = &axes[i], *b = &axes[config->order[i]];
    a->extent = config->extents[i];
    a->from = from;
    from *= a->extent;
    b->to = to;
    to *= config->extents[config->order[i]];
  }
  astro_transpose_plan_part(plan, memory, config->sample_bytes, axes, config->n_axes);
}
