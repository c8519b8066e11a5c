/* Common to all pictures of visibilities: the product and channels that are shown, and means of the
 * good samples. */
#pragma once

#include "core/render/panel.h"

G_BEGIN_DECLS

#define ASTRO_RENDER_VISIBILITIES                                                                  \
  "application/x-astro-visibilities, format = (string) { CF32LE, CI32LE }, layout = (string) "     \
  "channel:baseline:pol:pol"

typedef struct {
  AstroStream stream;
  guint64 channels, baselines;
  guint pols, stations;
  guint product[2]; /* polarisations of the two stations */
  gint channel;     /* -1: the mean of all */
  const char *product_name;
} AstroRenderVisibilities;

gboolean astro_render_visibilities_open(AstroRenderVisibilities *v, const AstroRenderInput *in,
                                        GError **error);

/* Names of all stations, not owned; NULL: they have none. */
char *const *astro_render_visibilities_names(const AstroRenderVisibilities *v,
                                             const AstroRenderInput *in);

/* An integration of a buffer, and its losses. */
typedef struct {
  gconstpointer data; /* of this integration */
  guint64 number;     /* index in the buffer */
  AstroLayout shape;  /* of the buffer */
  const AstroRenderMoment *moment;
} AstroRenderIntegration;

/* data: of the first integration in the buffer; steps: the number of integrations in it. */
AstroRenderIntegration astro_render_integration(const AstroRenderVisibilities *v,
                                                gconstpointer data, guint64 steps, guint64 number,
                                                const AstroRenderMoment *moment);

/* The mean over channels of station i's polarisation p with station j's q, j <= i, weighted by the
 * number of good samples, as sums of samples already are. NaN if there are none. */
void astro_render_visibilities_mean(const AstroRenderVisibilities *v,
                                    const AstroRenderIntegration *shown, guint64 first,
                                    guint64 channels, guint64 baseline, guint p, guint q,
                                    double mean[2]);

static inline guint64 astro_render_baseline(guint i, guint j)
{
  return (guint64)i * (i + 1) / 2 + j;
}

G_END_DECLS
