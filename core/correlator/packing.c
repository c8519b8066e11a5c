/* Packs spectra into panels as a kernel reads them. */
#include "core/correlator/packing.h"

enum {
  LINE = 64,
  PACKED_STEPS = 64, /* per call of a kernel */
};

/* Panels of a pass that are packed one after another. */
typedef struct {
  const AstroCorrelatorPlan *plan;
  const AstroCorrelatorSamples *samples;
  guint8 *packed;      /* of the first panel */
  guint panel, end;    /* panels from, to */
  guint64 first, last; /* time steps from, to */
} Part;

/* Prefetches a part of some rows. */
static void fetch(const AstroCorrelatorRows *rows, gsize bytes, guint part, guint parts)
{
  const guint end = (guint)((guint64)rows->count * (part + 1) / parts);
  for (guint r = (guint)((guint64)rows->count * part / parts); r < end; r++)
    for (gsize b = 0; b < bytes; b += LINE)
      __builtin_prefetch(rows->first + r * rows->stride + b, 0, 3);
}

static guint packed_together(const AstroCorrelatorPlan *plan)
{
  return MAX(plan->kernel->packed_panels, 1);
}

/* Some time steps of adjacent panels. */
static AstroCorrelatorRows rows_of(const Part *part, guint panel, guint end_panel, guint64 step,
                                   guint64 end_step)
{
  const AstroCorrelatorPlan *plan = part->plan;
  return (AstroCorrelatorRows){
    .first = part->samples->first + step * part->samples->time + panel * PANEL * plan->sample_bytes,
    .stride = part->samples->time,
    .count = (guint)(end_step - step),
    .panels = end_panel - panel,
    .inputs = MIN(plan->inputs - (end_panel - 1) * PANEL, PANEL),
    .panel_stride = plan->panel_stride,
  };
}

static AstroCorrelatorMeasure measure_of(const AstroCorrelatorPlan *plan)
{
  return plan->kernel->measure[plan->from];
}

/* Packs in blocks of steps whose source lines stay in the L1 cache until every panel has read its
 * part of them. If a channel is one strip, the products have prefetched the lines already; if rows
 * are packed whole, the processor prefetches by itself. */
static void pack_part(const Part *part)
{
  const AstroCorrelatorPlan *plan = part->plan;
  const AstroCorrelatorKernel *kernel = plan->kernel;
  const AstroCorrelatorPack pack = kernel->pack[plan->from];
  const guint n = part->end - part->panel, at_once = MIN(packed_together(plan), n);
  const gboolean asked = plan->one_strip || at_once == plan->panels || measure_of(plan) != NULL;
  for (guint64 t = part->first; t < part->last; t += PACKED_STEPS) {
    const guint64 next = MIN(part->samples->count, t + PACKED_STEPS);
    const guint64 end_next = MIN(part->samples->count, next + PACKED_STEPS);
    const AstroCorrelatorRows then = rows_of(part, part->panel, part->end, next, end_next);
    guint8 *to = part->packed + (t - part->first) / kernel->samples * kernel->step_bytes;
    guint8 *traits = part->packed + plan->traits;
    for (guint p = 0; p < n; p += at_once) {
      const AstroCorrelatorRows rows =
          rows_of(part, part->panel + p, part->panel + MIN(p + at_once, n), t,
                  MIN(part->last, t + PACKED_STEPS));
      if (!asked)
        fetch(&then, n * PANEL * plan->sample_bytes, p / at_once, n / at_once);
      pack(to + p * plan->panel_stride, traits + p * plan->panel_stride, &rows);
    }
  }
}

static void measure_part(const Part *part)
{
  const AstroCorrelatorMeasure measure = measure_of(part->plan);
  guint8 *traits = part->packed + part->plan->traits;
  for (guint i = 0; i < part->end - part->panel; i++)
    memset(traits + i * part->plan->panel_stride, 0, part->plan->kernel->traits_bytes);
  if (measure) {
    const AstroCorrelatorRows rows = rows_of(part, part->panel, part->end, part->first, part->last);
    measure(traits, &rows);
  }
}

/* Panels that are measured first are packed in groups that stay in the second-level cache in
 * between. */
void astro_correlator_pack_panels(const AstroCorrelatorPlan *plan,
                                  const AstroCorrelatorSamples *samples, guint8 *packed,
                                  guint panel, guint end_panel, guint64 first, guint64 last)
{
  const guint at_once = measure_of(plan) ? packed_together(plan) : end_panel - panel;
  for (guint p = panel; p < end_panel; p += at_once) {
    const Part part = { .plan = plan,
                        .samples = samples,
                        .packed = packed + (p - panel) * plan->panel_stride,
                        .panel = p,
                        .end = MIN(p + at_once, end_panel),
                        .first = first,
                        .last = last };
    measure_part(&part);
    pack_part(&part);
  }
}
