/* The fast backend: medians by selection, boxcars as differences of running sums. */
#include "config.h"
#include "core/search/check.h"
#include "core/search/series.h"

#include <math.h>

static inline void swap(double *a, double *b)
{
  const double c = *a;
  *a = *b;
  *b = c;
}

/* Moves the k-th smallest value to its place, none before it being larger and none after it
 * smaller. */
static void select_value(double *values, gint n, gint k)
{
  gint low = 0, high = n - 1;
  while (low < high) {
    /* The median of three keeps sorted values from taking quadratic time. */
    const gint middle = low + (high - low) / 2;
    if (values[middle] < values[low])
      swap(&values[middle], &values[low]);
    if (values[high] < values[low])
      swap(&values[high], &values[low]);
    if (values[high] < values[middle])
      swap(&values[high], &values[middle]);
    const double pivot = values[middle];
    gint i = low, j = high;
    while (i <= j) {
      while (values[i] < pivot)
        i++;
      while (values[j] > pivot)
        j--;
      if (i <= j)
        swap(&values[i++], &values[j--]);
    }
    if (k <= j)
      high = j;
    else if (k >= i)
      low = i;
    else
      return;
  }
}

#define SAMPLE 64 /* values that show where the median lies */
#define AROUND 14 /* of them, on either side of it: more than three standard deviations */
#define FEW 512   /* values: selecting at once is faster */

/* The middle value, or for an even number the mean of the two. The values near it are found in one
 * pass without branches, and only among these is selected. near has room for n values. */
static double median(double *values, guint n, double *near)
{
  double sample[SAMPLE], low, high;
  guint below = 0, kept = 0;
  gint k = (gint)(n / 2);
  if (n > FEW) {
    for (guint i = 0; i < SAMPLE; i++)
      sample[i] = values[(guint64)i * n / SAMPLE];
    select_value(sample, SAMPLE, SAMPLE / 2 - AROUND);
    low = sample[SAMPLE / 2 - AROUND];
    select_value(sample, SAMPLE, SAMPLE / 2 + AROUND);
    high = sample[SAMPLE / 2 + AROUND];
    for (guint i = 0; i < n; i++) {
      near[kept] = values[i];
      kept += values[i] >= low && values[i] <= high;
      below += values[i] < low;
    }
    /* The two values in the middle are among them, but where the sample was an odd one. */
    if (below < n / 2 && below + kept > n / 2) {
      values = near;
      k -= (gint)below;
    } else {
      kept = n;
    }
  } else {
    kept = n;
  }
  select_value(values, (gint)kept, k);
  if (n % 2)
    return values[k];
  double before = values[0];
  for (gint i = 1; i < k; i++)
    before = MAX(before, values[i]);
  return (before + values[k]) / 2;
}

/* Distances from a value in units of the noise that the weight of each allows. */
static void find_distances(const float *x, const float *w, guint n, double middle,
                           double *distances)
{
  for (guint i = 0; i < n; i++)
    distances[i] = fabs((double)x[i] - middle);
  for (guint i = 0; w && i < n; i++)
    distances[i] *= sqrt((double)w[i]);
}

static gboolean measure(const float *x, const float *w, guint n, double *scratch, double *baseline,
                        double *noise)
{
  double *distances = scratch, *values = scratch + n, *near = scratch + 2 * (gsize)n;
  guint good = 0, kept = 0;
  gboolean is_whole = TRUE;
  double sum = 0, weights = 0, squares = 0;

  for (guint i = 0; i < n; i++) {
    values[good] = (double)x[i];
    good += w[i] > 0;
    is_whole &= w[i] >= 1;
  }
  if (good < ASTRO_SEARCH_LEAST_GOOD)
    return FALSE;
  const double middle = median(values, good, near);
  find_distances(x, is_whole ? NULL : w, n, middle, distances);
  good = 0;
  for (guint i = 0; i < n; i++) {
    values[good] = distances[i];
    good += w[i] > 0;
  }
  const double most = ASTRO_SEARCH_CLIP * ASTRO_SEARCH_MAD * median(values, good, near);
  for (guint i = 0; i < n; i++) {
    const double weight = distances[i] <= most ? (double)w[i] : 0;
    sum += weight * (double)x[i];
    weights += weight;
    kept += weight > 0;
  }
  *baseline = sum / weights;
  for (guint i = 0; i < n; i++) {
    const double weight = distances[i] <= most ? (double)w[i] : 0;
    squares += weight * ((double)x[i] - *baseline) * ((double)x[i] - *baseline);
  }
  *noise = sqrt(squares / kept / ASTRO_SEARCH_CLIPPED);
  return most > 0 && *noise > 0;
}

static void scan(const double *z, const double *v, guint origin, guint from, guint to,
                 const AstroSearchConfig *config, double *scratch, double *best, guint32 *which)
{
  double *sums = scratch, *weights = scratch + to + 1;
  gboolean is_whole = TRUE;

  sums[0] = weights[0] = 0;
  for (guint i = 0; i < to; i++) {
    sums[i + 1] = sums[i] + z[i];
    weights[i + 1] = weights[i] + v[i];
    is_whole &= v[i] >= 1;
  }
  for (guint i = 0; i < to - from; i++) {
    best[i] = 0;
    which[i] = 0;
  }
  for (guint k = 0; k < config->n_widths; k++) {
    const guint width = config->widths[k], begin = MAX(from, origin + width - 1);
    const double scale = 1 / sqrt((double)width);
    for (guint end = begin; end < to; end++) {
      const double sum = sums[end + 1] - sums[end + 1 - width],
                   weight = is_whole ? width : weights[end + 1] - weights[end + 1 - width],
                   snr = is_whole                ? sum * scale
                         : weight >= width / 2.0 ? sum / sqrt(weight)
                                                 : 0;
      if (snr > best[end - from]) {
        best[end - from] = snr;
        which[end - from] = width;
      }
    }
  }
}

static const AstroSearchMethod method = { "sums", measure, scan };

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (variant)
    *variant = method.variant;
  return astro_search_create(config, &method, place->threads, error);
}

const AstroBackend astro_search_cpu = {
  .stage = "search",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroSearchConfig),
  .shape = astro_search_shape,
  .create = create,
  .submit = astro_search_submit,
  .destroy = astro_search_destroy,
};

const AstroBackend *const astro_search_backends[] = { &astro_search_cpu, &astro_search_reference,
                                                      NULL };
