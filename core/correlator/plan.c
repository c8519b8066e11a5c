#include "core/correlator/plan.h"

enum {
  STRIP = 4,         /* squares, whose tiles fit the second cache too */
  SQUARE = 8,        /* panels on a side: tiles and a pass of panels of it fit the second cache */
  MANY_CHANNELS = 8, /* from here on a task is a channel */
};
#define PACKED_BYTES ((gsize)16 << 20) /* of a channel, or a quarter of its sums */

/* Of the rows of panels from one square's first row on. */
static guint strips_of_row(const AstroCorrelatorPlan *plan, guint row)
{
  const guint width = plan->square * plan->strip_squares;
  const guint end = MIN(row + plan->square, plan->panels);
  return (end + width - 1) / width;
}

gboolean astro_correlator_plan_strip(const AstroCorrelatorPlan *plan, guint64 number,
                                     AstroCorrelatorStrip *strip)
{
  const guint width = plan->square * plan->strip_squares;
  for (gint64 row = (plan->panels - 1) / plan->square * plan->square; row >= 0;
       row -= plan->square) {
    const guint end = MIN((guint)row + plan->square, plan->panels);
    const guint n = strips_of_row(plan, (guint)row);
    if (number < n) {
      guint column = (guint)number * width;
      *strip = (AstroCorrelatorStrip){ (guint)row, MIN(plan->square, plan->panels - (guint)row),
                                       column, MIN(column + width, end) };
      return TRUE;
    }
    number -= n;
  }
  return FALSE;
}

void astro_correlator_plan(AstroCorrelatorPlan *plan, const AstroCorrelatorConfig *config)
{
  const AstroCorrelatorKernel *kernel = astro_correlator_kernel(config->from, config->integration);
  gsize channel_sums = astro_correlator_channel_sums(config) * 2 * sizeof(gint64);

  *plan = (AstroCorrelatorPlan){ .kernel = kernel,
                                 .sample_bytes = astro_format_info(config->from)->bytes };
  plan->inputs = config->stations * config->pols;
  plan->panels = (plan->inputs + PANEL - 1) / PANEL;
  plan->by_channel = config->channels >= MANY_CHANNELS;
  plan->one_strip = plan->by_channel && plan->panels <= kernel->one_strip_panels;
  plan->pass = plan->one_strip ? kernel->one_strip_pass : kernel->pass;
  plan->notes = plan->pass / kernel->samples * kernel->step_bytes;
  plan->panel_stride = plan->notes + kernel->notes_bytes + kernel->panel_gap;

  gsize pass_bytes = plan->panels * plan->panel_stride;
  gsize passes = MAX(PACKED_BYTES, channel_sums / 4) / pass_bytes;
  plan->span = (guint)CLAMP(passes, 1, kernel->span / plan->pass) * plan->pass;
  plan->by_channel &= plan->one_strip || plan->span / plan->pass * pass_bytes <= PACKED_BYTES;
  plan->packed_passes = plan->span / plan->pass;
  plan->square = SQUARE;
  if (!plan->by_channel) {
    plan->square = CLAMP(plan->panels / 4, 1, SQUARE);
  } else if (plan->one_strip) {
    plan->square = plan->panels;
    plan->span = kernel->span;
    plan->packed_passes = 1;
  }

  plan->strip_squares = plan->by_channel && !plan->one_strip ? STRIP : 1;
  for (guint row = 0; row < plan->panels; row += plan->square)
    plan->strips += strips_of_row(plan, row);
}
