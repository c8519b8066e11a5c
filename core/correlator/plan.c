#include "core/correlator/plan.h"

enum {
  STRIP = 4,  /* products, whose tiles fit the second cache too */
  SQUARE = 8, /* panels on a side: tiles and a pass of panels of it fit the second cache */
};
#define PACKED_BYTES ((gsize)16 << 20) /* of a channel, or a quarter of its sums */

/* Of the rows of panels from one product's first row on. */
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

/* Whether threads that take whole channels are at work for three quarters of the time. */
static gboolean enough_channels(guint channels, guint threads)
{
  const guint rounds = (channels + threads - 1) / threads;
  return 4 * (guint64)channels >= 3 * (guint64)rounds * threads;
}

/* Products of a channel that is not one strip. */
static void cut_channel(AstroCorrelatorPlan *plan)
{
  const guint wide = MAX(plan->kernel->wide, 1);
  plan->rows = plan->by_channel ? SQUARE : CLAMP(plan->panels / 4, 1, SQUARE);
  plan->columns = plan->rows * wide;
  plan->products = plan->by_channel && wide == 1 ? STRIP : 1;
}

void astro_correlator_plan(AstroCorrelatorPlan *plan, const AstroCorrelatorConfig *config,
                           guint threads)
{
  const AstroCorrelatorKernel *kernel = astro_correlator_kernel(config->from, config->integration);
  gsize channel_sums = astro_correlator_channel_sums(config) * 2 * sizeof(gint64);

  *plan = (AstroCorrelatorPlan){ .kernel = kernel,
                                 .sample_bytes = astro_format_info(config->from)->bytes };
  plan->inputs = config->stations * config->pols;
  plan->panels = (plan->inputs + PANEL - 1) / PANEL;
  plan->by_channel = enough_channels(config->channels, threads);
  plan->one_strip = plan->by_channel && plan->panels <= kernel->one_strip_panels;
  plan->pass = plan->one_strip ? kernel->one_strip_pass : kernel->pass;
  plan->notes = plan->pass / kernel->samples * kernel->step_bytes;
  plan->panel_stride = plan->notes + kernel->notes_bytes + kernel->panel_gap;

  gsize pass_bytes = plan->panels * plan->panel_stride;
  gsize passes = MAX(PACKED_BYTES, channel_sums / 4) / pass_bytes;
  plan->span = (guint)CLAMP(passes, 1, kernel->span / plan->pass) * plan->pass;
  plan->by_channel &= plan->one_strip || plan->span / plan->pass * pass_bytes <= PACKED_BYTES;
  plan->packed_passes = plan->span / plan->pass;
  if (plan->one_strip) {
    plan->rows = plan->columns = plan->panels;
    plan->products = 1;
    plan->span = kernel->span;
    plan->packed_passes = 1;
  } else {
    cut_channel(plan);
  }
  for (guint row = 0; row < plan->panels; row += plan->rows)
    plan->strips += strips_of_row(plan, row);
}
