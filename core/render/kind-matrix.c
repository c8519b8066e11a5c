/* Visibilities as two matrices of stations, amplitude and phase. */
#include "core/render/visibilities.h"
#include "core/kit/units.h"

#include <math.h>

#define MOST_WITH_VALUES 8 /* stations */

typedef AstroRenderVisibilities Kind;

static void add_panel(const Kind *k, const AstroRenderInput *in, const char *what,
                      gboolean is_angle, GArray *panels)
{
  double n = k->stations;
  AstroPanel panel = { .title = g_strdup_printf("%s %s", what, k->product_name),
                       .is_square = TRUE,
                       .is_angle = is_angle,
                       .skip_diagonal = !is_angle && k->stations > 1,
                       .says_values = k->stations <= MOST_WITH_VALUES,
                       .unit = is_angle ? "degrees" : NULL,
                       .width = k->stations,
                       .height = k->stations };
  char *const *names = astro_render_visibilities_names(k, in);
  panel.x = (AstroPanelAxis){ g_strdup("Station"), -0.5,           n - 0.5,
                              .whole = TRUE,       .names = names, .n_names = k->stations };
  panel.y = (AstroPanelAxis){ g_strdup("Station"), n - 0.5,        -0.5,
                              .whole = TRUE,       .names = names, .n_names = k->stations };
  g_array_append_val(panels, panel);
}

static gpointer open_kind(const AstroRenderInput *in, GArray *panels, GError **error)
{
  Kind *k = g_new0(Kind, 1);
  if (!astro_render_visibilities_open(k, in, error)) {
    g_free(k);
    return NULL;
  }
  add_panel(k, in, "Amplitude", FALSE, panels);
  add_panel(k, in, "Phase", TRUE, panels);
  return k;
}

static void take(gpointer kind, gconstpointer data, guint64 steps, const AstroRenderMoment *moment,
                 AstroPanel *panels)
{
  Kind *k = kind;
  const AstroRenderIntegration shown = astro_render_integration(k, data, steps, steps - 1, moment);
  const guint64 first = k->channel < 0 ? 0 : (guint64)k->channel;
  const guint64 channels = k->channel < 0 ? k->channels : 1;
  for (guint i = 0; i < k->stations; i++)
    for (guint j = 0; j < k->stations; j++) {
      double mean[2];
      /* V_ji of p and q is the conjugate of V_ij of q and p. */
      astro_render_visibilities_mean(k, &shown, first, channels,
                                     astro_render_baseline(MAX(i, j), MIN(i, j)), k->product[i < j],
                                     k->product[i >= j], mean);
      gsize at = (gsize)i * k->stations + j;
      panels[0].own[at] = (float)hypot(mean[0], mean[1]);
      panels[1].own[at] = (float)(atan2(i < j ? -mean[1] : mean[1], mean[0]) * ASTRO_DEGREES);
    }
}

const AstroRenderKind astro_render_matrix = {
  ASTRO_QUANTITY_VISIBILITIES,
  ASTRO_VIEW_MATRIX,
  ASTRO_RENDER_VISIBILITIES,
  open_kind,
  take,
  g_free,
  TRUE,
};
