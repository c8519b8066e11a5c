/* The block of levels that is filled before a format writes it. */
#include "config.h"
#include "core/recorders/write-block.h"

#include <string.h>

#include "core/lib/transpose/plan.h"

static guint64 extent_of(const AstroRecordWriter *w, AstroAxis axis)
{
  return axis == ASTRO_AXIS_TIME      ? w->block.steps
         : axis == ASTRO_AXIS_STATION ? w->stations
         : axis == ASTRO_AXIS_POL     ? w->pols
                                      : w->channels;
}

static guint64 block_samples(const AstroRecordWriter *w)
{
  return w->block.steps * w->stations * w->pols * w->channels;
}

void astro_record_block_new(AstroRecordWriter *w)
{
  const AstroAxis *order = w->settings.kind->order;
  guint64 stride = 1;
  for (guint i = G_N_ELEMENTS(w->settings.kind->order); i-- > 0;) {
    w->block.strides[order[i]] = stride;
    stride *= extent_of(w, order[i]);
  }
  w->block.levels = g_malloc(block_samples(w) * w->sample_bytes);
}

/* Copies n steps of samples of so many bytes. Axes along which neither side jumps become one unit.
 */
static void copy_steps(const AstroRecordWriter *w, guint8 *to, const guint8 *from, gsize sample,
                       guint64 steps, guint64 at, guint64 n)
{
  const AstroLayout *layout = &w->stream.layout;
  AstroTransposeAxis axes[ASTRO_MAX_AXES];
  AstroLayout shape;
  guint64 strides[ASTRO_MAX_AXES];
  guint n_axes = 0;
  gsize unit = sample;
  astro_stream_shape(&w->stream, steps, &shape);
  astro_layout_strides(&shape, strides);
  for (guint i = layout->n_axes; i-- > 0;) {
    const AstroAxis axis = layout->axes[i];
    const guint64 extent = axis == ASTRO_AXIS_TIME ? n : shape.extents[i];
    const gsize in = strides[i] * sample, out = w->block.strides[axis] * sample;
    if (axis == ASTRO_AXIS_TIME) {
      from += at * in;
      to += w->block.filled * out;
    }
    if (extent == 1)
      continue;
    if (n_axes == 0 && in == unit && out == unit)
      unit *= extent;
    else
      axes[n_axes++] = (AstroTransposeAxis){ .extent = extent, .from = in, .to = out };
  }
  if (n_axes == 0)
    memcpy(to, from, unit);
  else
    astro_transpose_part(to, from, unit, axes, n_axes, 1);
}

/* From the first loss of a block on, each sample has a byte that says whether it is good. */
static void begin_loss(AstroRecordWriter *w)
{
  AstroRecordBlock *block = &w->block;
  if (block->has_loss)
    return;
  if (!block->good)
    block->good = g_malloc(block_samples(w));
  memset(block->good, 1, block_samples(w));
  block->has_loss = TRUE;
}

/* Visits each run of samples that lie together in n steps of the block from its filled ones on. */
static void for_each_run(AstroRecordWriter *w, guint64 n,
                         void (*visit)(AstroRecordWriter *w, guint64 first, guint64 n))
{
  const AstroAxis *order = w->settings.kind->order;
  const guint64 inner = w->block.strides[ASTRO_AXIS_TIME];
  guint64 outer = 1;
  for (guint i = 0; order[i] != ASTRO_AXIS_TIME; i++)
    outer *= extent_of(w, order[i]);
  for (guint64 o = 0; o < outer; o++)
    visit(w, (o * w->block.steps + w->block.filled) * inner, n * inner);
}

static void lose_run(AstroRecordWriter *w, guint64 first, guint64 n)
{
  memset(w->block.levels + first * w->sample_bytes, 0, n * w->sample_bytes);
  memset(w->block.good + first, 0, n);
}

static void clear_lost(AstroRecordWriter *w, guint64 first, guint64 n)
{
  for (guint64 i = first; i < first + n; i++)
    if (!w->block.good[i]) {
      memset(w->block.levels + i * w->sample_bytes, 0, w->sample_bytes);
      w->file.lost++;
    }
}

void astro_record_block_place(AstroRecordWriter *w, const guint8 *levels, const guint8 *mask,
                              guint64 steps, guint64 from, guint64 n)
{
  copy_steps(w, w->block.levels, levels, w->sample_bytes, steps, from, n);
  if (mask) {
    begin_loss(w);
    copy_steps(w, w->block.good, mask, 1, steps, from, n);
    for_each_run(w, n, clear_lost);
  }
  w->block.filled += n;
}

void astro_record_block_lose(AstroRecordWriter *w, guint64 n)
{
  begin_loss(w);
  for_each_run(w, n, lose_run);
  w->block.filled += n;
}

gint astro_record_block_mask(AstroRecordWriter *w, guint8 *mask, const AstroValidityMeta *counts,
                             guint64 steps, guint64 skip, GError **error)
{
  AstroValidityRun run;
  AstroLayout shape;
  guint64 strides[ASTRO_MAX_AXES];
  gboolean has_loss = FALSE, has_partial = FALSE;
  astro_stream_shape(&w->stream, steps, &shape);
  if (!astro_validity_check(counts, &shape, error))
    return -1;
  const guint64 n = astro_validity_n_counts(counts);
  for (guint64 i = 0; i < n; i++) {
    has_loss = has_loss || counts->counts[i] == 0;
    has_partial = has_partial || (counts->counts[i] > 0 && counts->counts[i] < counts->full);
  }
  if (!has_loss && !has_partial)
    return 0;
  astro_layout_strides(&shape, strides);
  const guint64 of_step = astro_layout_stride_of(&shape, strides, ASTRO_AXIS_TIME);
  astro_validity_run_init(&run, counts, &shape);
  while (astro_validity_next_run(&run)) {
    memset(mask + run.first, run.count > 0, run.length);
    if (run.count == 0 || run.count >= counts->full)
      continue;
    for (guint64 i = run.first; i < run.first + run.length; i++)
      w->partial += i / of_step % steps >= skip;
  }
  return has_loss;
}

gboolean astro_record_block_is_good(const AstroRecordBlock *block, guint64 first, guint64 n)
{
  return !block->has_loss || !memchr(block->good + first, 0, n);
}
