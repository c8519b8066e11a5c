/* Visibilities as spectra: the power of each station over frequency, in dB. */
#include "core/render/ticks.h"
#include "core/render/visibilities.h"

#include <math.h>

/* Powers farther below the largest are rounding errors, and would only lengthen the axis. */
#define MOST_DB 160

typedef AstroRenderVisibilities Kind;

static gpointer open_kind(const AstroRenderInput *in, GArray *panels, GError **error)
{
  Kind *k = g_new0(Kind, 1);
  if (!astro_render_visibilities_open(k, in, error)) {
    g_free(k);
    return NULL;
  }
  const double low = in->stream.frequency - in->stream.bandwidth / 2;
  char *const *names = astro_render_visibilities_names(k, in);
  AstroPanel panel = {
    .title = k->stations > 1
                 ? g_strdup_printf("Stations, %s", k->product_name)
                 : g_strdup_printf("Station %s, %s", names ? names[0] : "0", k->product_name),
    .is_curves = TRUE,
    .names = names,
    .width = (guint)k->channels,
    .height = k->stations,
  };
  if (in->stream.frequency > 0)
    panel.x = (AstroPanelAxis){ g_strdup("Frequency (MHz)"), low / 1e6,
                                (low + in->stream.bandwidth) / 1e6 };
  else
    panel.x =
        (AstroPanelAxis){ g_strdup("Channel"), -0.5, (double)k->channels - 0.5, .whole = TRUE };
  panel.y = (AstroPanelAxis){ g_strdup("Power (dB)"), 0, 1 };
  g_array_append_val(panels, panel);
  return k;
}

static void take(gpointer kind, gconstpointer data, guint64 steps, const AstroRenderMoment *moment,
                 AstroPanel *panels)
{
  Kind *k = kind;
  const AstroRenderIntegration shown = astro_render_integration(k, data, steps, steps - 1, moment);
  double least = INFINITY, most = -INFINITY;
  for (guint i = 0; i < k->stations; i++)
    for (guint64 c = 0; c < k->channels; c++) {
      double mean[2];
      astro_render_visibilities_mean(k, &shown, c, 1, astro_render_baseline(i, i), k->product[0],
                                     k->product[1], mean);
      const double power = 10 * log10(hypot(mean[0], mean[1]));
      panels[0].own[i * k->channels + c] = (float)power;
      if (isfinite(power)) {
        least = fmin(least, power);
        most = fmax(most, power);
      }
    }
  if (most >= least)
    astro_axis_around(&panels[0].y, fmax(least, most - MOST_DB), most);
}

const AstroRenderKind astro_render_spectrum = {
  ASTRO_QUANTITY_VISIBILITIES,
  ASTRO_VIEW_SPECTRUM,
  ASTRO_RENDER_VISIBILITIES,
  open_kind,
  take,
  g_free,
  TRUE,
};
