/* Divides a correlation on the CPU into tasks. */
#include "core/correlator/plan.h"

enum {
  STRIP = 4,  /* products per strip, whose tiles fit in the second-level cache too */
  SQUARE = 8, /* panels per side: tiles of a square and a pass of its panels fit in the second-level
                 cache */
  SHARED = 16, /* from this many panels on, threads that share a channel gain more than they wait */
  TASKS = 4,   /* number wanted per thread, so that all end at about the same time */
};
#define PACKED_BYTES ((gsize)16 << 20) /* of a channel, or a quarter of its sums */
#define SHARED_BYTES ((gsize)64 << 20) /* of channels that threads share */

/* Number of strips in the rows of panels that start with `row`. */
static guint strips_of_row(const AstroCorrelatorPlan *plan, guint row)
{
  const guint width = plan->columns * plan->products;
  const guint end = MIN(row + plan->rows, plan->panels);
  return (end + width - 1) / width;
}

gboolean astro_correlator_plan_strip(const AstroCorrelatorPlan *plan, guint64 number,
                                     AstroCorrelatorStrip *strip)
{
  const guint width = plan->columns * plan->products;
  for (gint64 row = (plan->panels - 1) / plan->rows * plan->rows; row >= 0; row -= plan->rows) {
    const guint end = MIN((guint)row + plan->rows, plan->panels);
    const guint n = strips_of_row(plan, (guint)row);
    if (number < n) {
      guint column = (guint)number * width;
      *strip = (AstroCorrelatorStrip){ (guint)row, MIN(plan->rows, plan->panels - (guint)row),
                                       column, MIN(column + width, end) };
      return TRUE;
    }
    number -= n;
  }
  return FALSE;
}

/* Whether threads that take whole channels are busy for three quarters of the time. */
static gboolean enough_channels(guint channels, guint threads)
{
  const guint rounds = (channels + threads - 1) / threads;
  return 4 * (guint64)channels >= 3 * (guint64)rounds * threads;
}

static void count_strips(AstroCorrelatorPlan *plan)
{
  plan->strips = 0;
  for (guint row = 0; row < plan->panels; row += plan->rows)
    plan->strips += strips_of_row(plan, row);
}

/* Products of a channel that one thread handles alone, but that is more than one strip. */
static void cut_channel(AstroCorrelatorPlan *plan)
{
  const guint wide = MAX(plan->kernel->wide, 1);
  plan->rows = SQUARE;
  plan->columns = SQUARE * wide;
  plan->products = wide == 1 ? STRIP : 1;
  count_strips(plan);
}

/* Products of channels that threads share: the largest that make enough tasks for each thread. */
static void cut_shared(AstroCorrelatorPlan *plan, guint channels, guint threads)
{
  const gsize packed = astro_correlator_packed_bytes(plan);
  plan->shared = (guint)CLAMP(SHARED_BYTES / packed, 1, channels);
  cut_channel(plan);
  plan->products = 1;
  count_strips(plan);
  while (plan->strips * plan->shared < TASKS * threads && plan->columns > 1) {
    if (plan->columns == plan->rows)
      plan->rows /= 2;
    plan->columns /= 2;
    count_strips(plan);
  }
}

void astro_correlator_plan(AstroCorrelatorPlan *plan, const AstroCorrelatorConfig *config,
                           guint threads)
{
  const AstroCorrelatorKernel *kernel = astro_correlator_kernel(config);
  gsize channel_sums = astro_correlator_channel_sums(config) * 2 * sizeof(gint64);

  *plan = (AstroCorrelatorPlan){ .kernel = kernel,
                                 .from = config->from,
                                 .shared = 1,
                                 .sample_bytes = astro_format_info(config->from)->bytes };
  plan->inputs = config->stations * config->pols;
  plan->panels = (plan->inputs + PANEL - 1) / PANEL;
  plan->by_channel = plan->panels < SHARED || enough_channels(config->channels, threads);
  plan->one_strip = plan->by_channel && plan->panels <= kernel->one_strip_panels;
  plan->pass = plan->one_strip ? kernel->one_strip_pass : kernel->pass;
  plan->traits = plan->pass / kernel->samples * kernel->step_bytes;
  plan->panel_stride = plan->traits + kernel->traits_bytes + kernel->panel_gap;

  gsize pass_bytes = plan->panels * plan->panel_stride;
  gsize passes = MAX(PACKED_BYTES, channel_sums / 4) / pass_bytes;
  plan->span = (guint)CLAMP(passes, 1, kernel->span / plan->pass) * plan->pass;
  plan->by_channel &= plan->one_strip || plan->span / plan->pass * pass_bytes <= PACKED_BYTES;
  plan->packed_passes = plan->span / plan->pass;
  if (plan->one_strip) {
    plan->rows = plan->columns = plan->panels;
    plan->products = plan->strips = 1;
    plan->span = kernel->span;
    plan->packed_passes = 1;
  } else if (plan->by_channel) {
    cut_channel(plan);
  } else {
    cut_shared(plan, config->channels, threads);
  }
}
