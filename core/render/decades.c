/* Axes in whole decades. */
#include "core/render/decades.h"

#include <math.h>

#define AS_GOOD_AS_WHOLE 1e-6 /* of a decade: edges of bins are rounded */

typedef struct {
  double least, most;
} Range;

static void include(double value, Range *range)
{
  if (!(value > 0) || isinf(value))
    return;
  range->least = fmin(range->least, value);
  range->most = fmax(range->most, value);
}

static void set_axis(AstroPanelAxis *axis, const Range *range)
{
  const gboolean any = range->least <= range->most;
  axis->from = any ? pow(10, floor(log10(range->least) + AS_GOOD_AS_WHOLE)) : 1;
  axis->to = any ? pow(10, ceil(log10(range->most) - AS_GOOD_AS_WHOLE)) : 10;
  if (axis->to <= axis->from)
    axis->to = axis->from * 10;
}

void astro_panel_span_decades(AstroPanel *panel, const char *label)
{
  Range x = { INFINITY, -INFINITY }, y = { INFINITY, -INFINITY };
  gboolean any_below = FALSE;
  for (guint i = 0; i < panel->n_points; i++) {
    const AstroPanelPoint *p = &panel->points[i];
    if (!(p->x > 0) || !isfinite(p->x) || !isfinite(p->y) || p->y == 0)
      continue;
    any_below = any_below || p->y < 0;
    include(p->x, &x);
    include(p->x_low, &x);
    include(p->x_high, &x);
    include(fabs(p->y), &y);
    include(fabs(p->y) + p->error, &y);
  }
  g_free(panel->y.label);
  panel->y.label = g_strdup_printf(any_below ? "%s, hollow if below 0" : "%s", label);
  set_axis(&panel->x, &x);
  set_axis(&panel->y, &y);
}
