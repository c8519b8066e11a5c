/* The reference backend: medians by sorting, each boxcar added up by itself. */
#include "config.h"
#include "core/backend/count.h"
#include "core/search/check.h"
#include "core/search/series.h"

#include <math.h>
#include <stdlib.h>

static int by_value(gconstpointer a, gconstpointer b)
{
  const double *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

static double median(double *values, guint n)
{
  qsort(values, n, sizeof *values, by_value);
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static gboolean measure(const float *x, const float *w, guint n, double *scratch, double *baseline,
                        double *noise)
{
  guint good = 0, kept = 0;
  double sum = 0, weights = 0, squares = 0;

  for (guint i = 0; i < n; i++)
    if (w[i] > 0)
      scratch[good++] = (double)x[i];
  if (good < ASTRO_SEARCH_LEAST_GOOD)
    return FALSE;
  const double middle = median(scratch, good);
  good = 0;
  for (guint i = 0; i < n; i++)
    if (w[i] > 0)
      scratch[good++] = sqrt((double)w[i]) * fabs((double)x[i] - middle);
  const double most = ASTRO_SEARCH_CLIP * ASTRO_SEARCH_MAD * median(scratch, good);
  for (guint i = 0; i < n; i++)
    if (w[i] > 0 && sqrt((double)w[i]) * fabs((double)x[i] - middle) <= most) {
      sum += (double)w[i] * (double)x[i];
      weights += (double)w[i];
      kept++;
    }
  *baseline = sum / weights;
  for (guint i = 0; i < n; i++)
    if (w[i] > 0 && sqrt((double)w[i]) * fabs((double)x[i] - middle) <= most)
      squares += (double)w[i] * ((double)x[i] - *baseline) * ((double)x[i] - *baseline);
  *noise = sqrt(squares / kept / ASTRO_SEARCH_CLIPPED);
  return most > 0 && *noise > 0;
}

static void scan(const double *z, const double *v, guint origin, guint from, guint to,
                 const AstroSearchConfig *config, double *scratch, double *best, guint32 *which)
{
  (void)scratch;
  for (guint end = from; end < to; end++) {
    best[end - from] = 0;
    which[end - from] = 0;
    for (guint k = 0; k < config->n_widths; k++) {
      const guint width = config->widths[k];
      double sum = 0, weight = 0;
      if (end + 1 < origin + width)
        break;
      for (guint i = end + 1 - width; i <= end; i++) {
        sum += z[i];
        weight += v[i];
      }
      ASTRO_COUNT(2 * width + 1); /* both sums, and their quotient */
      const double snr = sum / sqrt(weight);
      if (weight >= width / 2.0 && snr > best[end - from]) {
        best[end - from] = snr;
        which[end - from] = width;
      }
    }
  }
}

static const AstroSearchMethod method = { "double", measure, scan };

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  (void)place;
  if (variant)
    *variant = method.variant;
  return astro_search_create(config, &method, 1, error);
}

const AstroBackend astro_search_reference = {
  .stage = "search",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroSearchConfig),
  .shape = astro_search_shape,
  .create = create,
  .submit = astro_search_submit,
  .destroy = astro_search_destroy,
};
